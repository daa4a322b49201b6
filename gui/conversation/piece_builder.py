"""Makes one piece of a conversation and lays it out, in steps of some milliseconds at most.

On the GUI thread alone: to lay out or hand over a document takes a lock of Qt's while a pool thread holds Python's.
A window that disconnects a signal at that moment holds the former and waits for the latter: both stood still for ever.
"""

from collections.abc import Generator
from dataclasses import dataclass

from PySide6.QtGui import QTextBlockFormat, QTextCursor, QTextDocument, QTextOption

from gui.conversation.code_colours import colour_block
from gui.conversation.entries import Conversation
from gui.viewer.markdown_page import PageStyle, blocks, inline_code, is_code, page_steps, quote_level
from gui.widgets.plain_text import SealedDocument

_PLAIN_LINE_HEIGHT = 125
_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value


@dataclass(frozen=True)
class PieceStyle:
    """What a piece is laid out for; one that was laid out for another is old."""

    page: PageStyle
    width: int
    """Of the column of prose, in pixels."""
    plain_width: int
    """Of what stands in a box."""
    key: tuple[object, ...]
    """Equal for equal fonts, colours and widths."""


@dataclass(frozen=True)
class PieceLayout:
    document: QTextDocument
    height: float
    key: tuple[object, ...]
    texts: tuple[str, ...]
    """Of its blocks."""
    tops: tuple[float, ...]
    """Where the blocks begin."""
    grounded: frozenset[int]
    """The blocks behind which something is drawn: code and quotes."""


def piece_steps(conversation: Conversation, piece: int, style: PieceStyle) -> Generator[None, None, PieceLayout]:
    """The piece for this style; whoever runs the steps may do something else in between, or stop."""
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
    """Without the room below its last paragraph, which the row has itself; a box round code keeps it."""
    last = document.lastBlock()
    if not is_code(last):
        look = QTextBlockFormat()
        look.setBottomMargin(0)
        QTextCursor(last).mergeBlockFormat(look)


def _plain_document(text: str, style: PageStyle) -> QTextDocument:
    """Lines in the fixed font, as they are."""
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
