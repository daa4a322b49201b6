"""Colours the code blocks of a page by the tokens that Pygments finds in them.

Lexers are loaded, and the code of long pages is read, on a pool thread; only the colours are set on the GUI thread.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, islice
from threading import Lock
from typing import Any

from PySide6.QtGui import QBrush, QColor, QTextBlock, QTextCharFormat, QTextCursor, QTextDocument, QTextFormat

from engine import CancelToken
from gui.style.theme import Tokens
from gui.text.plain_text import utf16_length
from gui.viewer.markdown_page import blocks, is_code

LANGUAGES = tuple(
    """
    bash batch c clojure cmake common-lisp console cpp css csharp dart diff docker elixir emacs-lisp erlang fish go
    graphql haskell html ini java javascript json jsx kotlin less lua make nginx nixos objective-c perl php powershell
    protobuf pycon python ruby rust scala scheme scss splus sql sqlite3 swift terraform tex toml tsx typescript vim
    vue xml yaml zig
    """.split()
)
"""Pygments names of the languages that are coloured; the bundle includes only these lexers."""
_ALSO_CALLED = {
    "conf": "ini",
    "h": "c",
    "json5": "json",
    "jsonc": "json",
    "kt": "kotlin",
    "lisp": "common-lisp",
    "patch": "diff",
} | dict.fromkeys(("postgres", "postgresql", "psql", "sqlite"), "sql")
"""Other names of languages -> Pygments names. PostgreSQL's own lexer is replaced: it loads others when it is used."""
_COLOURS = {
    ("Comment",): "muted",
    ("Comment", "Preproc"): "working",
    ("Generic", "Deleted"): "degraded",
    ("Generic", "Heading"): "muted",
    ("Generic", "Inserted"): "fine",
    ("Generic", "Prompt"): "muted",
    ("Generic", "Subheading"): "muted",
    ("Keyword",): "working",
    ("Literal", "String"): "fine",
    ("Name", "Tag"): "working",
    ("Operator", "Word"): "working",
}
"""Colours of Pygments' token types and of the types below them."""
_LANGUAGE = QTextFormat.Property.BlockCodeLanguage.value
_OPENING = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(?:`{3,}|~{3,})[ \t]*([^\s`]+)[^`]*")
"""The line that opens a code block, perhaps in quotes and lists, with the first word behind the fence."""
_NAME = re.compile(r"\{?[.=]?([\w+#.-]*)")
"""The language in that word; R Markdown and Pandoc write it in braces, other programs options behind it."""
_MAX_CHARACTERS = 128 * 1024
"""Characters of code that are coloured on a page, which takes about a quarter of a second."""
_TOKENS_PER_EDIT = 20

_BLOCKS_PER_STEP = 200

Token = tuple[int, int, str]
"""Position and length of a token in its code, in UTF-16 units, and the name of its colour."""
Code = tuple[str, str]
"""Language and text of a code block."""
CodePosition = tuple[int, Code]
"""Position in its document, in UTF-16 units, and content of a code block."""

_lexers: dict[str, Any] = {}
"""Loaded lexers by the language's name in the text; None for a language without colours."""
_loading = Lock()


def load_lexers(text: str) -> None:
    """Load the Pygments lexers of all code blocks in a Markdown text. Not for the GUI thread."""
    if "```" in text or "~~~" in text:
        for line in text.split("\n"):
            if match := _OPENING.fullmatch(line):
                _loaded(_language_in(match[1]))


def lexer_of(language: str) -> Any:
    """Return the Pygments lexer of a language if it is loaded already, else None."""
    return _lexers.get(language)


def _loaded(language: str) -> Any:
    if language not in _lexers:
        with _loading:
            _lexers[language] = _load(language)
    return _lexers[language]


def _load(language: str) -> Any:
    from pygments.lexers import get_all_lexers, get_lexer_by_name

    language = _ALSO_CALLED.get(language, language)
    for _, names, _, _ in get_all_lexers(plugins=False):
        if language in names and names[0] in LANGUAGES:
            return get_lexer_by_name(language)
    return None


def coloured_code(codes: Iterable[Code], cancel: CancelToken) -> dict[Code, list[Token]]:
    """Return the coloured tokens of the code blocks of a page. Not for the GUI thread."""
    coloured: dict[Code, list[Token]] = {}
    characters_left = _MAX_CHARACTERS
    for code in codes:
        cancel.checkpoint()
        characters_left -= len(code[1])
        if characters_left >= 0 and code not in coloured and _loaded(code[0]) is not None:
            coloured[code] = list(tokens(*code))
    return coloured


def tokens(language: str, code: str) -> Iterator[Token]:
    """Yield the coloured tokens of code whose lexer is loaded."""
    lexer = lexer_of(language)
    passed = units = 0
    for start, kind, part in lexer.get_tokens_unprocessed(code + "\n") if lexer is not None else ():
        name, words = _colour_name(tuple(kind)), part.rstrip("\n")
        if name and start >= passed and code.startswith(words, start):  # the offsets of `console` are wrong for some
            units += utf16_length(code[passed:start])
            passed = start
            yield units, utf16_length(words), name


def code_steps(document: QTextDocument) -> Generator[None, None, list[CodePosition]]:
    """Find the code blocks that name a language, yielding after some blocks; Qt makes a text block of each line."""
    positions: list[CodePosition] = []
    lines: list[QTextBlock] = []
    for number, block in enumerate(chain(blocks(document), [QTextBlock()])):
        if lines and not (is_code(block) and _language(block) == _language(lines[0])):
            positions.append((lines[0].position(), (_language(lines[0]), "\n".join(line.text() for line in lines))))
            lines = []
        if is_code(block) and _language(block):
            lines.append(block)
        if number % _BLOCKS_PER_STEP == 0:
            yield
    return positions


def colour_steps(
    document: QTextDocument,
    codes: Iterable[CodePosition],
    colours: Tokens,
    known: Mapping[Code, Iterable[Token]] | None = None,
) -> Generator[None, None, None]:
    """Set the colours of the code blocks from `code_steps`, yielding after some tokens.

    `known`: the tokens from `coloured_code`; without it, code is read here by the lexers that are loaded.
    """
    cursor = QTextCursor(document)
    formats = {name: _char_format(getattr(colours, name)) for name in set(_COLOURS.values())}
    for first, code in codes:
        remaining = tokens(*code) if known is None else iter(known.get(code, ()))
        while edit := list(islice(remaining, _TOKENS_PER_EDIT)):
            cursor.beginEditBlock()
            for start, length, name in edit:
                cursor.setPosition(first + start)
                cursor.setPosition(first + start + length, QTextCursor.MoveMode.KeepAnchor)
                cursor.mergeCharFormat(formats[name])
            cursor.endEditBlock()
            yield
        yield


def _language(block: QTextBlock) -> str:
    return _language_in(str(block.blockFormat().property(_LANGUAGE) or "").strip())


def _language_in(word: str) -> str:
    """Return the name of the language in the first word behind a fence; empty if it has none."""
    match = _NAME.match(word)
    return match[1].lower() if match else ""


@cache
def _colour_name(kind: tuple[str, ...]) -> str:
    return next((name for end in range(len(kind), 0, -1) if (name := _COLOURS.get(kind[:end]))), "")


def _char_format(colour: QColor) -> QTextCharFormat:
    look = QTextCharFormat()
    look.setForeground(QBrush(colour))
    return look
