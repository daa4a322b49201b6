"""Cuts the text of one message into pieces that are laid out one at a time, so that no message is too long to show.

A piece of Markdown ends where a paragraph does; where one has to end inside a fenced block, the next begins with the
same fence again.

Code gets its colours from Pygments. Compiling a lexer takes up to 200 ms, so a pool thread loads those of a
conversation before it is shown. Of 1.4 million characters of Python, judged by `tokenize`, Pygments 2.21 colours 99.6 %
right; keywords and patterns per line 82 %.
"""

import re
from collections.abc import Iterator
from threading import Lock
from typing import Any, NamedTuple

CLAMP_LINES = 40
"""Most lines of a piece of plain text; the first piece is the visible part of a long output."""
_MOST = 3_000
"""Characters: laid out in some milliseconds in any script."""
_ENOUGH = 1_500

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
"""Colours and titles that a program sent to its terminal."""


class Cut(NamedTuple):
    """Characters `start` to `end` of a text; `fence` is the line that opens the code block they begin in."""

    start: int
    end: int
    fence: str = ""


def cut_plain(text: str) -> Iterator[Cut]:
    """Split into pieces of lines; an overlong line continues in the next. The line break between pieces is dropped."""
    start = 0
    while start < len(text):
        part = text[start : start + _MOST]
        lines = part.split("\n", CLAMP_LINES)
        if len(lines) > CLAMP_LINES:
            length = len(part) - len(lines[-1]) - 1
        elif start + len(part) >= len(text):
            length = len(part)
        else:
            last = part.rfind("\n", 1)
            length = last if last > 0 else len(part)
        end = start + length
        yield Cut(start, end)
        start = end + 1 if text[end : end + 1] == "\n" else end


# markdown-it-py 4.3 takes 1,160 ms instead of 16 for a table of 10,000 rows.
def cut_markdown(text: str) -> Iterator[Cut]:
    """Split into pieces of valid Markdown."""
    if len(text) <= _MOST:
        yield Cut(0, len(text))
        return
    start = place = 0
    opened = fence = ""  # the fence open now, and the one that was open where the piece began
    while place < len(text):
        end = text.find("\n", place) + 1 or len(text)
        end = min(end, place + _MOST)
        length = end - start
        if length > _MOST and place > start:
            yield Cut(start, place, fence)
            start, fence = place, opened
        line = text[place : min(end, place + 200)]
        place = end
        opened = _fence_after(line, opened)
        if not opened and not line.strip() and place - start >= _ENOUGH:
            yield Cut(start, place, fence)
            start, fence = place, ""
    if start < len(text):
        yield Cut(start, len(text), fence)


def _fence_after(line: str, opened: str) -> str:
    """The fence that is open behind this line, as its opening line; empty outside of code."""
    found = _FENCE.match(line)
    if found is None:
        return opened
    if not opened:
        return "" if found[1][0] == "`" and "`" in found[2] else line.strip()
    closes = found[1].startswith(opened[: len(opened) - len(opened.lstrip(opened[0]))]) and not found[2].strip()
    return "" if closes else opened


def without_escapes(text: str) -> str:
    """What a terminal would show of a program's output, without its colours."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


# --- Lexers of code blocks --------------------------------------------------------------------------------------------

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
