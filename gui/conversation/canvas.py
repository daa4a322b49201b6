"""Paints what is in view of a conversation, with its marks."""

import time

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from engine import tr, tr_count
from gui.conversation.entries import Conversation
from gui.conversation.row_painter import Decoration, RowPainter
from gui.conversation.rows import MORE, SUMMARY, Row, Rows
from gui.conversation.scroll_area import ConversationScroll
from gui.conversation.wording import summary
from gui.core.jobs import Jobs
from gui.style.theme import tokens
from gui.viewer.match_marks import MatchMarks, Ranges

_FRAME_BUDGET = 0.004
"""Seconds for looking for marks before the rest of them waits for the next frame."""
_AHEAD = 24
"""Rows before and behind the view that are laid out too."""
_BLOCKS = 1 << 12
"""More than a piece has blocks, so that each block has a number of its own for the marks."""


class ConversationCanvas(ConversationScroll):
    """Rows with marks, and what stands out among them."""

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._marks, self._found = MatchMarks(jobs, self), MatchMarks(jobs, self)
        for marks in (self._marks, self._found):
            marks.found.connect(self.viewport().update)
        self._framed: tuple[int, int] | None = None

    def set_conversation(self, conversation: Conversation | None, rows: Rows | None) -> None:
        self._forget_marks()
        self._framed = None
        super().set_conversation(conversation, rows)

    def grow(self, conversation: Conversation, rows: Rows, same: int) -> None:
        self._forget_marks()
        if self._framed is not None and self._framed[0] >= same:
            self._framed = None
        super().grow(conversation, rows, same)

    def _forget_marks(self) -> None:
        self._marks.forget()
        self._found.forget()

    def _ranges(self, marks: MatchMarks, piece: int, until: float) -> "_Budgeted":
        return _Budgeted(marks, piece * _BLOCKS, until)

    def _current_entry(self) -> int | None:
        """The entry that the keys are about."""
        return None

    def _selected(self, _piece: int, _length: int) -> tuple[int, int] | None:
        """The selected positions in a piece."""
        return None

    def paintEvent(self, event: QPaintEvent) -> None:
        layout, rows, conversation = self._layout, self._rows, self._conversation
        if layout is None or rows is None or conversation is None:
            return
        painter = QPainter(self.viewport())
        area, direction = self.viewport().rect(), self.layoutDirection()
        pen = RowPainter(painter, tokens(self.palette()), layout.measures, area, direction)
        until = time.perf_counter() + _FRAME_BUDGET
        late = False
        wanted: list[int] = []
        positions = [position for position, _ in self._visible()]
        for position, above in self._visible():
            row = rows.rows[position]
            entry = conversation.entries[row.entry]
            head, height = layout.head(position), layout.body_height(row)
            pen.head(head, above, entry.speaker, entry.time)
            top = above + head.height
            if row.entry == self._current_entry():
                pen.current(top, height)
            folded = rows.fold(row.entry)
            if row.slot == SUMMARY:
                words = summary(conversation, entry)
                hit = folded == "folded" and bool(self._hit_entries[row.entry])
                pen.summary(top, height, words, folded=folded == "folded", hit=hit)
            elif row.slot == MORE:
                pen.more(top, height, _fold_words(entry.longest, all_shown=folded == "all"))
            else:
                piece = entry.first_piece + row.slot
                wanted.append(piece)
                late |= self._paint_piece(pen, row, piece, top, height, until)
        painter.end()
        wanted += self._near(positions)
        self._documents.want(wanted)
        if late:
            self.viewport().update()

    def _paint_piece(self, pen: RowPainter, row: Row, piece: int, top: int, height: int, until: float) -> bool:
        """Returns whether marks are missing that the next frame has to look for."""
        assert self._layout is not None
        assert self._conversation is not None
        entry = self._conversation.entries[row.entry]
        if entry.kind == "user":
            pen.bubble(top, height, first=row.slot == 0, last=row.slot == entry.piece_count - 1)
        elif entry.kind == "tool":
            follows = piece + 1 in entry.clamped or row.slot == entry.piece_count - 1
            alone = self._rows is not None and self._rows.fold(row.entry) == "clamped"
            pen.output(top, height, first=piece in entry.clamped, last=follows or alone)
        left = self._layout.text_left(row)
        laid = self._documents.of(piece)
        top += self._layout.pads(row)[0]
        if laid is None:
            pen.waiting(left, top)
            return False
        marks, found = self._ranges(self._marks, piece, until), self._ranges(self._found, piece, until)
        framed = None
        if self._framed is not None and self._framed[0] == piece:
            framed = self._block_of_hit(laid, self._framed[1])
        selected = self._selected(piece, laid.document.characterCount() - 1)
        pen.piece(laid, left, top, self.palette(), Decoration(marks, found, framed, selected))
        return marks.late or found.late

    def _near(self, positions: list[int]) -> list[int]:
        """Pieces that come into view next."""
        if not positions or self._rows is None or self._layout is None:
            return []
        after = range(positions[-1] + 1, min(self._count, positions[-1] + 1 + _AHEAD))
        before = range(positions[0] - 1, max(-1, positions[0] - 1 - _AHEAD), -1)
        pieces = (self._layout.piece_of(self._rows.rows[position]) for position in (*after, *before))
        return [piece for piece in pieces if piece is not None]


def _fold_words(lines: int, *, all_shown: bool) -> str:
    return tr("Show less") if all_shown else tr_count("Show all {count:,} line", "Show all {count:,} lines", lines)


class _Budgeted:
    """The marks of the blocks of one piece, as far as there is time in this frame."""

    def __init__(self, marks: MatchMarks, first: int, until: float) -> None:
        self._marks = marks
        self._first = first
        self._until = until
        self.late = False

    def __call__(self, block: int, text: str) -> Ranges:
        key = self._first + block
        if not self._marks.known(key) and time.perf_counter() > self._until:
            self.late = True
            return []
        return self._marks.of(key, text)
