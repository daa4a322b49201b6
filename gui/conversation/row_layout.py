"""Sizes of rows and of their parts in logical pixels, computed from the font scale and the width of the view.

Texts near the view become documents that are laid out in steps of a few milliseconds, and cached. On the GUI thread
alone: laying out or moving a document to another thread takes a lock of Qt's while a pool thread holds Python's. A
window that disconnects a signal at that moment holds the former and waits for the latter: a deadlock.
"""

import time
from collections import OrderedDict
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QObject, QRect, QTimer, Signal
from PySide6.QtGui import (
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)

from gui.conversation.display_entries import Conversation
from gui.conversation.row_folding import GROUP, MORE, SUMMARY, Row, Rows
from gui.text.plain_text import SealedDocument
from gui.viewer.code_colours import code_steps, colour_steps
from gui.viewer.markdown_page import PageStyle, blocks, inline_code, is_code, page_steps, quote_level

_PLAIN_LINE_HEIGHT = 125
_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value


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
    image_links: bool = True
    """Whether the names of images are links."""


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
    with_background: frozenset[int]
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
        page = yield from page_steps([conversation.markdown(piece, image_links=style.image_links)], style.page)
        document, width = page.document, style.width
    else:
        document, width = _plain_document(conversation.source(piece), style.page), style.plain_width
        yield
    plain_diff = conversation.is_diff(piece) and not conversation.is_markdown(piece)
    codes = [(0, ("diff", document.toPlainText()))] if plain_diff else (yield from code_steps(document))
    yield from colour_steps(document, codes, style.page.colours)
    option = QTextOption(document.defaultTextOption())
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    _end_tightly(document)
    yield
    document.setTextWidth(width)
    height = document.size().height()  # lays out the whole piece in one step, since it is short
    yield
    layout = document.documentLayout()
    texts: list[str] = []
    tops: list[float] = []
    with_background: list[int] = []
    for number, block in enumerate(blocks(document)):
        texts.append(block.text())
        tops.append(layout.blockBoundingRect(block).top())
        if is_code(block) or quote_level(block) or inline_code(block):
            with_background.append(number)
        yield
    return PieceLayout(document, height, style.key, tuple(texts), tuple(tops), frozenset(with_background))


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


_WIDEST = 760
_SIDE = 32
_INDENT = 12
_DATE = 40
_NAME = 26
_GAP_OF_SPEAKERS = 14
_GAP = 6
_SUMMARY_HEIGHT = 30
_MORE_HEIGHT = 30
_BUBBLE_PAD = (10, 5)
_PLAIN_PAD = 8
_PAUSE = 300
"""Seconds after which the time is repeated for the same speaker."""
_GUESSED_LETTER = 7.2
_GUESSED_ROW = 20

CACHED = 160
"""Maximum number of cached pieces: a few screens."""
TURN_SECONDS = 0.006
"""Seconds for laying out in one turn of the event loop; a step that has begun is finished."""


class Head(NamedTuple):
    """The heading above a row: the date of a new day, and the speaker."""

    day: int
    names: bool
    height: int


@dataclass(frozen=True)
class Measures:
    """Widths and margins of the rows for one width of the view and one font scale."""

    scale: float
    left: int
    width: int
    """Width of the text column in pixels."""

    @classmethod
    def of(cls, view_width: int, scale: float) -> "Measures":
        side = min(round(_SIDE * scale), view_width // 12)
        width = max(120, min(round(_WIDEST * scale), view_width - 2 * side))
        return cls(scale, max(side, (view_width - width) // 2), width)

    def px(self, pixels: float) -> int:
        return round(pixels * self.scale)

    def column(self, top: int, height: int) -> QRect:
        """Return the rectangle of the text column with this top and height."""
        return QRect(self.left, top, self.width, height)

    @property
    def indent(self) -> int:
        return self.px(_INDENT)

    @property
    def text_width(self) -> int:
        return self.width - 2 * self.indent

    @property
    def plain_width(self) -> int:
        return self.text_width - 2 * self.indent


class PieceDocuments(QObject):
    """Lays out the documents of pieces in the background of the event loop, and caches them by piece number.

    Needs a conversation and a style. A document of an older style is returned until it is laid out again.

    Signals: arrived: more pieces are laid out.
    """

    arrived = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._conversation: Conversation | None = None
        self._cache: OrderedDict[int, PieceLayout] = OrderedDict()
        self._requested: list[int] = []
        self._making: tuple[int, Generator[None, None, PieceLayout]] | None = None
        """The piece in progress, and the generator of its remaining steps."""
        self._style: PieceStyle | None = None
        self._next_step = QTimer(self, singleShot=True, interval=0)
        self._next_step.timeout.connect(self._lay_some_out)

    def set_conversation(self, conversation: Conversation | None) -> None:
        """Drop all documents, and lay out pieces of this conversation; None stops."""
        self._conversation = conversation
        self._cache.clear()
        self._next_step.stop()
        self._requested, self._making = [], None

    def grow(self, conversation: Conversation, same: int) -> None:
        """Replace the conversation by a later state of it; documents of its first `same` pieces, which are unchanged,
        stay.
        """
        self._conversation = conversation
        self._cache = OrderedDict((piece, laid) for piece, laid in self._cache.items() if piece < same)
        self._requested, self._making = [], None

    def set_style(self, style: PieceStyle) -> None:
        """Set fonts, colours and widths for documents that are laid out from now on."""
        if self._style is None or self._style.key != style.key:
            self._making = None
        self._style = style

    def layout_of(self, piece: int) -> PieceLayout | None:
        """Return the document of a piece; None if it is not laid out."""
        return self._cache.get(piece)

    def request(self, pieces: Iterable[int]) -> None:
        """Lay out these pieces in this order, instead of those requested before; one in progress is completed first."""
        self._requested = [piece for piece in pieces if self._is_outdated(piece)]
        if self._making is not None:
            begun = self._making[0]
            if begun in self._requested:
                self._requested.remove(begun)
                self._requested.insert(0, begun)
            else:
                self._making = None
        self._continue()

    def _is_outdated(self, piece: int) -> bool:
        laid = self._cache.get(piece)
        if laid is not None:
            self._cache.move_to_end(piece)
        return laid is None or self._style is None or laid.key != self._style.key

    def _continue(self) -> None:
        if self._requested and self._conversation is not None and self._style is not None:
            self._next_step.start()

    def _lay_some_out(self) -> None:
        until = time.perf_counter() + TURN_SECONDS
        arrived = False
        while self._requested:
            laid = self._step()
            if laid is not None:
                arrived = True
                self._cache[self._requested[0]] = laid
                self._cache.move_to_end(self._requested.pop(0))
            if time.perf_counter() >= until:
                break
        while len(self._cache) > CACHED:
            self._cache.popitem(last=False)
        self._continue()
        if arrived:
            self.arrived.emit()

    def _step(self) -> PieceLayout | None:
        """Continue laying out the first requested piece; returns its layout once that is complete, else None."""
        conversation, style = self._conversation, self._style
        assert conversation is not None
        assert style is not None
        if self._making is None:
            self._making = self._requested[0], piece_steps(conversation, self._requested[0], style)
        try:
            next(self._making[1])
        except StopIteration as end:
            self._making = None
            laid: PieceLayout = end.value
            return laid
        return None


class RowLayout:
    """Sizes of the rows of one conversation for one width of the view.

    A new one is made when the conversation, the width or the font changes. Heights of pieces that `documents` has not
    laid out yet are estimates. All attributes are read-only.
    """

    def __init__(self, conversation: Conversation, rows: Rows, documents: PieceDocuments, measures: Measures) -> None:
        self.conversation = conversation
        self.rows = rows
        self.documents = documents
        self.measures = measures

    @property
    def count(self) -> int:
        """Number of rows in the conversation."""
        return len(self.rows.rows)

    def piece_of(self, row: Row) -> int | None:
        """The number of the piece that a row shows; None for a group, a summary and "Show all"."""
        return (
            None if row.slot in (GROUP, SUMMARY, MORE) else self.conversation.entries[row.entry].first_piece + row.slot
        )

    def document_of(self, row: Row) -> PieceLayout | None:
        """Return the laid-out text of a row; None while there is none, and for rows without a piece."""
        piece = self.piece_of(row)
        return None if piece is None else self.documents.layout_of(piece)

    def head(self, position: int) -> Head:
        """Return the heading above the row at this position."""
        rows, entries = self.rows.rows, self.conversation.entries
        row = rows[position]
        before = rows[position - 1] if position else None
        px = self.measures.px
        if before is not None and before.entry == row.entry:
            return Head(0, False, px(_GAP) if before.slot == GROUP else 0)
        entry = entries[row.entry]
        if before is None:
            day, names = entry.day, True
        else:
            last = entries[before.entry]
            day = entry.day if entry.day != last.day else 0
            paused = entry.time is not None and last.time is not None and entry.time - last.time >= _PAUSE
            names = bool(day) or paused or entry.speaker != last.speaker
        height = px(_GAP)
        if day or names:
            height = px(_DATE) * bool(day) + px(_GAP_OF_SPEAKERS) * (not day) + px(_NAME) * names
        return Head(day, names, height)

    def pads(self, row: Row) -> tuple[int, int]:
        """Return the padding in pixels above and below the text of a row, inside its box."""
        entry = self.conversation.entries[row.entry]
        px = self.measures.px
        if entry.kind == "user":
            return px(_BUBBLE_PAD[0]) * (row.slot == 0), px(_BUBBLE_PAD[1]) * (row.slot == entry.piece_count - 1)
        if entry.kind == "speech":
            return (px(2), px(4)) if row.slot == 0 else (0, px(4))
        part_starts = entry.first_piece + row.slot in entry.clamped
        box_ends = entry.kind == "tool" and self.ends_part(row)
        return px(_PLAIN_PAD) * part_starts, px(4) + px(_PLAIN_PAD // 2) * box_ends

    def ends_part(self, row: Row) -> bool:
        """Whether the box of a tool's input or output ends with this row."""
        entry = self.conversation.entries[row.entry]
        next_piece = entry.first_piece + row.slot + 1
        ends = row.slot == entry.piece_count - 1 or next_piece in entry.clamped
        return ends or self.rows.fold(row.entry) == "clamped"

    def body_height(self, row: Row) -> int:
        """Return the height of a row without its heading."""
        px = self.measures.px
        if row.slot in (GROUP, SUMMARY):
            return px(_SUMMARY_HEIGHT)
        if row.slot == MORE:
            return px(_MORE_HEIGHT)
        piece = self.piece_of(row)
        assert piece is not None
        laid = self.documents.layout_of(piece)
        return sum(self.pads(row)) + (round(laid.height) if laid is not None else self._guess(piece))

    def height(self, position: int) -> int:
        """Return the height of the row at this position, with its heading."""
        row = self.rows.rows[position]
        return self.head(position).height + self.body_height(row)

    def _guess(self, piece: int) -> int:
        """Estimate the height of a piece from its numbers of characters and lines."""
        part = self.conversation.pieces[piece]
        text = self.conversation.text(part.message)
        columns = max(10, self.measures.text_width / (_GUESSED_LETTER * self.measures.scale))
        lines = text.count("\n", part.start, part.end) + 1 + (part.end - part.start) / columns / 2
        return round(lines * self.measures.px(_GUESSED_ROW))

    def text_left(self, row: Row) -> int:
        """Return the distance of a row's text from the left edge of the view."""
        plain = self.conversation.entries[row.entry].kind == "tool"
        return self.measures.left + self.measures.indent * (2 if plain else 1)
