"""Creates one piece of a conversation and lays it out, in steps of some milliseconds at most.

On the GUI thread alone: laying out or moving a document to another thread takes a lock of Qt's while a pool thread
holds Python's. A window that disconnects a signal at that moment holds the former and waits for the latter: a deadlock.
"""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cache

from PySide6.QtGui import (
    QBrush,
    QColor,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
)

from gui.conversation.entries import Conversation
from gui.style.theme import Tokens
from gui.viewer.markdown_page import PageStyle, blocks, inline_code, is_code, page_steps, quote_level
from gui.widgets.plain_text import SealedDocument

_PLAIN_LINE_HEIGHT = 125
_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
_LANGUAGE = QTextFormat.Property.BlockCodeLanguage.value
_MOST_LINE = 1_000
"""Longest line, in characters, that is coloured; colours of a longer one are useless."""

_KEYWORDS = frozenset(
    """
    abstract alignas and as assert async await begin bool boolean break byte case catch char class const constexpr
    continue crate debugger def default defer del delete do done double elif else elsif end enum except explicit export
    extends extern false False fi final finally float fn for foreach from func function global go goto if impl
    implements import in include inline instanceof int interface is lambda let local long loop match mod module move mut
    mutable namespace new nil None nonlocal not null nullptr of operator or override package pass private protected pub
    public raise readonly ref register require return self short signed sizeof static struct super switch template then
    this throw throws trait true True try type typedef typeof undefined union unless unsafe unsigned until use using var
    virtual void volatile when where while with yield
    """.split()
)
_SQL = frozenset(
    """
    add all alter and as asc begin between by case check column commit constraint create cross default delete desc
    distinct drop else end exists foreign from full group having if in index inner insert into is join key left like
    limit not null offset on or order outer primary references returning right rollback select set table then union
    unique update using values view when where with
    """.split()
)
_HASH = frozenset("python py sh bash shell zsh fish console ruby rb perl yaml yml toml make makefile r".split())
_DASHES = frozenset("sql sqlite postgres psql lua haskell hs".split())
_PLAIN = frozenset("text txt plain markdown md log output".split())
_STRING = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`"


@cache
def _lexer(comment: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<comment>{comment})|(?P<string>{_STRING})|(?P<word>[^\W\d]\w*)")


def _comment_of(language: str) -> str:
    if language in _HASH:
        return r"(?:^|(?<=\s))#.*"
    if language in _DASHES:
        return r"--.*"
    return r"//.*|/\*.*?(?:\*/|$)"


def colour_block(block: QTextBlock, colours: Tokens) -> None:
    """Colour a line of a code block; other blocks stay unchanged."""
    if is_code(block):
        language = str(block.blockFormat().property(_LANGUAGE) or "").strip().lower()
        cursor = QTextCursor(block)
        for start, end, colour in _inks(block.text()[:_MOST_LINE], language, colours):
            _colour(cursor, block, start, end, colour)


def _inks(text: str, language: str, colours: Tokens) -> Iterator[tuple[int, int, QColor]]:
    """Parts of one line with their colours."""
    if not language or language in _PLAIN:
        return
    if language in ("diff", "patch"):
        if text[:1] in ("+", "-", "@"):
            yield 0, len(text), {"+": colours.fine, "-": colours.degraded, "@": colours.muted}[text[0]]
        return
    sql = language in _DASHES
    for found in _lexer(_comment_of(language)).finditer(text):
        if found.lastgroup == "comment":
            yield *found.span(), colours.muted
        elif found.lastgroup == "string":
            yield *found.span(), colours.fine
        elif found[0] in _KEYWORDS or (sql and found[0].lower() in _SQL):
            yield *found.span(), colours.working


def _colour(cursor: QTextCursor, block: QTextBlock, start: int, end: int, colour: QColor) -> None:
    look = QTextCharFormat()
    look.setForeground(QBrush(colour))
    cursor.setPosition(block.position() + start)
    cursor.setPosition(block.position() + end, QTextCursor.MoveMode.KeepAnchor)
    cursor.mergeCharFormat(look)


@dataclass(frozen=True)
class PieceStyle:
    """Layout parameters of a piece; a change makes it outdated."""

    page: PageStyle
    width: int
    """Of the column of prose, in pixels."""
    plain_width: int
    """Width inside a box."""
    key: tuple[object, ...]
    """Equal for equal fonts, colours and widths."""


@dataclass(frozen=True)
class PieceLayout:
    """A piece that is laid out."""

    document: QTextDocument
    height: float
    key: tuple[object, ...]
    texts: tuple[str, ...]
    """Of its blocks."""
    tops: tuple[float, ...]
    """Where the blocks begin."""
    grounded: frozenset[int]
    """The blocks behind which something is drawn: code and quotes."""

    def line_top(self, number: int, position: int) -> float:
        """Top of the line with this position (in UTF-16 units) of a block."""
        block = self.document.findBlockByNumber(number)
        line = block.layout().lineForTextPosition(position)
        top = self.document.documentLayout().blockBoundingRect(block).top()
        return top + (line.y() if line.isValid() else 0)


def piece_steps(conversation: Conversation, piece: int, style: PieceStyle) -> Generator[None, None, PieceLayout]:
    """Yield after each step of laying out the piece, so that the caller can interleave other work, or stop."""
    if conversation.is_markdown(piece):
        page = yield from page_steps([conversation.markdown(piece)], style.page)
        document, width = page.document, style.width
    else:
        document, width = _plain_document(conversation.source(piece), style.page), style.plain_width
        yield
    for block in blocks(document):
        colour_block(block, style.page.colours)
        yield
    option = QTextOption(document.defaultTextOption())
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    _end_tightly(document)
    yield
    document.setTextWidth(width)
    height = document.size().height()  # lays all of it out, in one go: a piece is short
    yield
    layout = document.documentLayout()
    texts: list[str] = []
    tops: list[float] = []
    grounded: list[int] = []
    for number, block in enumerate(blocks(document)):
        texts.append(block.text())
        tops.append(layout.blockBoundingRect(block).top())
        if is_code(block) or quote_level(block) or inline_code(block):
            grounded.append(number)
        yield
    return PieceLayout(document, height, style.key, tuple(texts), tuple(tops), frozenset(grounded))


def _end_tightly(document: QTextDocument) -> None:
    """Remove the space below its last paragraph, which the row already has; a code box keeps it."""
    last = document.lastBlock()
    if not is_code(last):
        look = QTextBlockFormat()
        look.setBottomMargin(0)
        QTextCursor(last).mergeBlockFormat(look)


def _plain_document(text: str, style: PageStyle) -> QTextDocument:
    """Lines in the fixed font, unchanged."""
    document = SealedDocument()
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0)
    document.setDefaultFont(style.fixed)
    document.setPlainText(text)
    look = QTextBlockFormat()
    look.setLineHeight(_PLAIN_LINE_HEIGHT, _PROPORTIONAL)
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    cursor.mergeBlockFormat(look)
    return document
