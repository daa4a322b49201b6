"""Creates the document of one piece of a conversation and lays it out, in steps of a few milliseconds.

On the GUI thread alone: laying out or moving a document to another thread takes a lock of Qt's while a pool thread
holds Python's. A window that disconnects a signal at that moment holds the former and waits for the latter: a deadlock.
"""

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

from gui.conversation.display_entries import Conversation, lexer_of
from gui.style.theme import Tokens
from gui.viewer.markdown_page import PageStyle, blocks, inline_code, is_code, page_steps, quote_level
from gui.widgets.plain_text import SealedDocument, utf16_length

_PLAIN_LINE_HEIGHT = 125
_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
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


def colour_steps(document: QTextDocument, colours: Tokens) -> Iterator[None]:
    """Colour the code blocks whose Pygments lexers are loaded, yielding after each token."""
    cursor = QTextCursor(document)
    for first, language, text in _code_blocks(document):
        lexer = lexer_of(language)
        if lexer is None:
            continue
        for start, kind, part in lexer.get_tokens_unprocessed(text + "\n"):
            name, words = _colour_name(tuple(kind)), part.rstrip("\n")
            if name and text.startswith(words, start):  # the offsets of `console` are wrong for some texts
                begin = first + utf16_length(text[:start])
                cursor.setPosition(begin)
                cursor.setPosition(begin + utf16_length(words), QTextCursor.MoveMode.KeepAnchor)
                cursor.mergeCharFormat(_ink(getattr(colours, name)))
            yield


def _code_blocks(document: QTextDocument) -> Iterator[tuple[int, str, str]]:
    """Yield position, language and text of each code block; Qt splits a code block into one text block per line."""
    lines: list[QTextBlock] = []
    for block in [*blocks(document), QTextBlock()]:
        if lines and not (is_code(block) and _language(block) == _language(lines[0])):
            yield lines[0].position(), _language(lines[0]), "\n".join(line.text() for line in lines)
            lines = []
        if is_code(block):
            lines.append(block)


def _language(block: QTextBlock) -> str:
    return str(block.blockFormat().property(_LANGUAGE) or "").strip().lower()


@cache
def _colour_name(kind: tuple[str, ...]) -> str:
    return next((name for end in range(len(kind), 0, -1) if (name := _COLOURS.get(kind[:end]))), "")


def _ink(colour: QColor) -> QTextCharFormat:
    look = QTextCharFormat()
    look.setForeground(QBrush(colour))
    return look


@dataclass(frozen=True)
class PieceStyle:
    """The fonts, colours and widths with which a piece is laid out; a change makes existing layouts outdated."""

    page: PageStyle
    width: int
    """Width of the text column for prose, in pixels."""
    plain_width: int
    """Width of the text inside a tool's box, in pixels."""
    key: tuple[object, ...]
    """A value that is equal for equal fonts, colours and widths."""


@dataclass(frozen=True)
class PieceLayout:
    """The laid-out document of a piece."""

    document: QTextDocument
    height: float
    key: tuple[object, ...]
    texts: tuple[str, ...]
    """Texts of its blocks."""
    tops: tuple[float, ...]
    """Tops of its blocks, in pixels."""
    grounded: frozenset[int]
    """The blocks behind which something is drawn: code and quotes."""

    def line_top(self, number: int, position: int) -> float:
        """Return the top of the line that contains `position` (in UTF-16 units) in block `number`."""
        block = self.document.findBlockByNumber(number)
        line = block.layout().lineForTextPosition(position)
        top = self.document.documentLayout().blockBoundingRect(block).top()
        return top + (line.y() if line.isValid() else 0)


def piece_steps(conversation: Conversation, piece: int, style: PieceStyle) -> Generator[None, None, PieceLayout]:
    """Lay out a piece, yielding after each step so that the caller can do other work or stop; returns the layout."""
    if conversation.is_markdown(piece):
        page = yield from page_steps([conversation.markdown(piece)], style.page)
        document, width = page.document, style.width
    else:
        document, width = _plain_document(conversation.source(piece), style.page), style.plain_width
        yield
    yield from colour_steps(document, style.page.colours)
    option = QTextOption(document.defaultTextOption())
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    _end_tightly(document)
    yield
    document.setTextWidth(width)
    height = document.size().height()  # lays out the whole piece at once, which is short
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
    """Remove the space below the last paragraph, which the row adds itself; a code block keeps it."""
    last = document.lastBlock()
    if not is_code(last):
        look = QTextBlockFormat()
        look.setBottomMargin(0)
        QTextCursor(last).mergeBlockFormat(look)


def _plain_document(text: str, style: PageStyle) -> QTextDocument:
    """Return a document with the unchanged lines of a text in the fixed-width font."""
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
