"""Lays pieces of a conversation out in short turns of the loop, as many as someone may soon look at.

On the GUI thread alone: to lay out or hand over a document takes a lock of Qt's while a pool thread holds Python's.
A window that disconnects a signal at that moment holds the former and waits for the latter: both stood still for ever.
"""

import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QTextBlockFormat, QTextCursor, QTextDocument, QTextOption

from engine import CancelToken
from gui.sessions.code_colours import colour_code
from gui.sessions.conversation_text import Conversation
from gui.viewer.page import PageStyle, blocks, build_page, inline_code, is_code, quote_level

_KEPT = 160
"""Pieces; some screens of them."""
_TURN = 0.006
"""Seconds that one turn of the loop lays out."""
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
class LaidPiece:
    document: QTextDocument
    height: float
    key: tuple[object, ...]
    texts: tuple[str, ...]
    """Of its blocks."""
    tops: tuple[float, ...]
    """Where the blocks begin."""
    grounded: frozenset[int]
    """The blocks behind which something is drawn: code and quotes."""


class PieceDocuments(QObject):
    """Documents by number of piece; what is asked for last comes first.

    Signals:
        arrived: more pieces are laid out.
    """

    arrived = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._conversation: Conversation | None = None
        self._kept: OrderedDict[int, LaidPiece] = OrderedDict()
        self._wanted: Sequence[int] = ()
        self._style: PieceStyle | None = None
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._lay_some_out)

    def set_conversation(self, conversation: Conversation | None) -> None:
        """Forget everything."""
        self._conversation = conversation
        self._kept.clear()
        self._turn.stop()
        self._wanted = ()

    def grow(self, conversation: Conversation, same: int) -> None:
        """The first `same` pieces are what they were."""
        self._conversation = conversation
        self._kept = OrderedDict((piece, laid) for piece, laid in self._kept.items() if piece < same)
        self._wanted = ()

    def set_style(self, style: PieceStyle) -> None:
        """Old pieces are shown until they are laid out anew."""
        self._style = style

    def of(self, piece: int) -> LaidPiece | None:
        return self._kept.get(piece)

    def want(self, pieces: Iterable[int]) -> None:
        """Lay these out, in this order, in the place of what was wanted before."""
        self._wanted = [piece for piece in pieces if self._is_old(piece)]
        self._go_on()

    def _is_old(self, piece: int) -> bool:
        laid = self._kept.get(piece)
        if laid is not None:
            self._kept.move_to_end(piece)
        return laid is None or self._style is None or laid.key != self._style.key

    def _go_on(self) -> None:
        if self._wanted and self._conversation is not None and self._style is not None:
            self._turn.start()

    def _lay_some_out(self) -> None:
        conversation, style = self._conversation, self._style
        if conversation is None or style is None:
            return
        until = time.perf_counter() + _TURN
        waiting = list(self._wanted)
        while waiting and time.perf_counter() < until:
            piece = waiting.pop(0)
            self._kept[piece] = _laid_out(conversation, piece, style)
            self._kept.move_to_end(piece)
        self._wanted = waiting
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        self._go_on()
        self.arrived.emit()


def _laid_out(conversation: Conversation, piece: int, style: PieceStyle) -> LaidPiece:
    if conversation.is_markdown(piece):
        document = build_page([conversation.markdown(piece)], style.page, CancelToken()).document
        width = style.width
    else:
        document = _plain_document(conversation.source(piece), style.page)
        width = style.plain_width
    colour_code(document, style.page.colours)
    option = QTextOption(document.defaultTextOption())
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    _end_tightly(document)
    document.setTextWidth(width)
    height = document.size().height()
    all_blocks = list(blocks(document))
    layout = document.documentLayout()
    return LaidPiece(
        document,
        height,
        style.key,
        tuple(block.text() for block in all_blocks),
        tuple(layout.blockBoundingRect(block).top() for block in all_blocks),
        frozenset(
            number
            for number, block in enumerate(all_blocks)
            if is_code(block) or quote_level(block) or inline_code(block)
        ),
    )


def _end_tightly(document: QTextDocument) -> None:
    """Without the room below its last paragraph, which the row has itself; a box round code keeps it."""
    last = document.lastBlock()
    if not is_code(last):
        look = QTextBlockFormat()
        look.setBottomMargin(0)
        QTextCursor(last).mergeBlockFormat(look)


def _plain_document(text: str, style: PageStyle) -> QTextDocument:
    """Lines in the fixed font, as they are."""
    document = QTextDocument()
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
