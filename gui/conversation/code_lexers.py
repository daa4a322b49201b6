"""Lexers of Pygments for the code blocks of a conversation.

Compiling a lexer takes up to 200 ms, so a pool thread loads those of a conversation before it is shown. Of 1.4 million
characters of Python, judged by `tokenize`, Pygments 2.21 colours 99.6 % right; keywords and patterns per line 82 %.
"""

import re
from threading import Lock
from typing import Any

LANGUAGES = tuple(
    """
    bash batch c cmake console cpp css csharp dart diff docker elixir erlang fish go graphql haskell html java
    javascript json jsx kotlin less lua make nginx objective-c perl php powershell protobuf pycon python ruby
    rust scala scss splus sql sqlite3 swift terraform toml tsx typescript vue xml yaml zig
    """.split()
)
"""Pygments' main names of the languages with colours; a bundle has no other lexers."""
_ALSO_CALLED = {"h": "c", "json5": "json", "jsonc": "json", "kt": "kotlin", "patch": "diff"} | dict.fromkeys(
    ("postgres", "postgresql", "psql", "sqlite"), "sql"
)
"""PostgreSQL's own lexer is replaced because it loads others on the GUI thread."""
_OPENING = re.compile(r"^[ \t>]*(?:[-*+] +)?(?:`{3,}|~{3,})[ \t]*([\w+#-]+)", re.MULTILINE)
_lexers: dict[str, Any] = {}
"""By the language's name in the text; None without colours."""
_loading = Lock()


def lexer_of(language: str) -> Any:
    """The lexer if it is loaded, else None."""
    return _lexers.get(language)


def load_lexers(text: str) -> None:
    """Load the lexers of all code blocks in a Markdown text. Not for the GUI thread."""
    if "```" not in text and "~~~" not in text:
        return
    for language in {found.lower() for found in _OPENING.findall(text)} - _lexers.keys():
        with _loading:
            _lexers[language] = _load(language)


def _load(language: str) -> Any:
    from pygments.lexers import get_all_lexers, get_lexer_by_name

    language = _ALSO_CALLED.get(language, language)
    for _, names, _, _ in get_all_lexers(plugins=False):
        if language in names and names[0] in LANGUAGES:
            return get_lexer_by_name(language)
    return None
