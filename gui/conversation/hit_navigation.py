"""Hits in a conversation: highlights of the words of the query and of the find bar, and going to the next hit."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from gui.conversation.display_entries import Conversation
from gui.conversation.row_folding import Row
from gui.conversation.row_layout import PieceLayout
from gui.conversation.scroller import ABOVE, ConversationScroller, ScrollTarget
from gui.core.jobs import Jobs
from gui.text.plain_text import utf16_ranges
from gui.viewer.match_list import Finder, Hit, MatchMap, MatchMarks, Ranges, Step
from gui.viewer.text_lines import TextPosition

_BLOCKS = 1 << 12
"""More than the blocks of any piece: the factor that gives each block a unique number."""

BlockRanges = Callable[[int, str], Ranges]
"""Returns the highlighted ranges (UTF-16 units) of a block, given its number and text."""


@dataclass(frozen=True)
class ConversationLines:
    """Implements `Lines` for searches in a conversation: its pieces as lines, counted from 1. Any thread."""

    conversation: Conversation

    @property
    def line_count(self) -> int:
        return len(self.conversation.pieces)

    def lines(self, first: int, last: int) -> Sequence[str]:
        numbers = range(max(1, first), min(last, self.line_count) + 1)
        return [self.conversation.searchable(number - 1) for number in numbers]


class SearchTime:
    """The time that one frame has for searching blocks. Painting doesn't use it up, so each frame searches some."""

    def __init__(self, seconds: float) -> None:
        self._seconds_left = seconds
        self.is_incomplete = False
        """Whether ranges are missing because time ran out; the next frame has to look for them."""

    def ranges(self, marks: MatchMarks, key: int, text: str) -> Ranges:
        """Return the ranges of a block in `marks`; none if it would have to be searched and the time is used up."""
        if marks.is_searched(key):
            return marks.ranges_in(key, text)
        if self._seconds_left <= 0:
            self.is_incomplete = True
            return []
        began = time.perf_counter()
        ranges = marks.ranges_in(key, text)
        self._seconds_left -= time.perf_counter() - began
        return ranges


class Highlights(QObject):
    """Stores the highlights of a conversation: words in texts, entries with hits, and the hit with a frame.

    Signals: changed: the highlights have to be repainted.
    """

    changed = Signal()

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._marks, self._found = MatchMarks(jobs, self), MatchMarks(jobs, self)
        for marks in (self._marks, self._found):
            marks.found.connect(self.changed)
        self._finders: tuple[Finder | None, Finder | None] = None, None
        self.framed: tuple[int, int] | None = None
        """The hit that was stepped to: its piece, and its number among the hits of the piece, from 0."""
        self.entries = bytearray()
        """One byte per entry: 1 if it has a hit."""

    def reset(self, entry_count: int) -> None:
        """Prepare for another conversation; the finders stay."""
        self._forget_ranges()
        self.framed = None
        self.entries = bytearray(entry_count)

    def grow(self, entry_count: int, same: int) -> None:
        """Prepare for a later state of the conversation, whose first `same` pieces are unchanged."""
        self._forget_ranges()
        if self.framed is not None and self.framed[0] >= same:
            self.framed = None
        self.entries = self.entries[:entry_count].ljust(entry_count, b"\0")

    def _forget_ranges(self) -> None:
        self._marks.forget()
        self._found.forget()

    def set_finders(self, marks: Finder | None, found: Finder | None) -> None:
        """Set the finders of the query's words (`marks`) and of the find bar (`found`); removes the frame."""
        self._finders = marks, found
        self._marks.set_finder(marks)
        self._found.set_finder(found)
        self.frame(None)

    def frame(self, hit: tuple[int, int] | None) -> None:
        """Set the hit that is painted with a frame (in the form of `framed`); None for none."""
        self.framed = hit
        self.changed.emit()

    @property
    def finder(self) -> Finder | None:
        """The finder whose hits the next and previous keys go to: the find bar's, or else the query's."""
        return self._finders[1] or self._finders[0]

    def of_piece(self, piece: int, search_time: SearchTime) -> tuple[BlockRanges, BlockRanges]:
        """Return two functions that find highlights in a piece: of the query and of the find bar.

        They share the time limit `search_time`.
        """
        first = piece * _BLOCKS
        return (
            lambda block, text: search_time.ranges(self._marks, first + block, text),
            lambda block, text: search_time.ranges(self._found, first + block, text),
        )

    def find_in(self, laid: PieceLayout, rank: int) -> tuple[int, int, int] | None:
        """Return the block, start and end of hit number `rank` in a piece; of the last one if there are fewer, None
        if none."""
        hit = None
        if self.finder is not None:
            for number, text in enumerate(laid.texts):
                for start, end in utf16_ranges(text, self.finder(text)):
                    hit = number, start, end
                    if not rank:
                        return hit
                    rank -= 1
        return hit


class ConversationHits(QObject):
    """Goes to hits in a conversation; implements the `MatchView` of a `MatchNavigator`, with pieces as lines from 1.

    Signals:
        entries_changed: other entries have hits (`Highlights.entries`).
        shown: a hit was brought into view (its entry).
    """

    entries_changed = Signal()
    shown = Signal(int)

    def __init__(self, highlights: Highlights, scroller: ConversationScroller, parent: QObject) -> None:
        super().__init__(parent)
        self._highlights = highlights
        self._scroller = scroller
        self._stepped_to: Hit | None = None
        self._known: MatchMap | None = None

    def reset(self) -> None:
        """Forget the hits of the conversation."""
        self._stepped_to = self._known = None

    # --- MatchView ------------------------------------------------------------------------------------------------

    def position(self) -> TextPosition:
        if self._stepped_to is not None and self.level(self._stepped_to) is not None:
            return self._stepped_to.position
        layout, top = self._scroller.layout, self._scroller.top_row
        if layout is None or top is None:
            return 1, -1
        entry = layout.conversation.entries[top.row.entry]
        return entry.first_piece + (top.row.slot if 0 <= top.row.slot < entry.piece_count else 0) + 1, -1

    def level(self, hit: Hit) -> float | None:
        layout = self._scroller.layout
        for position, row, top in self._scroller.visible():
            if layout is not None and layout.piece_of(row) == hit.line - 1:
                y = top + layout.head(position).height + self._top_in(row, self._rank(hit))
                height = self._scroller.view_height
                return y / height if 0 <= y < height - ABOVE else None
        return None

    def set_finders(self, marks: Finder | None, found: Finder | None) -> None:
        self._stepped_to = None
        self._highlights.set_finders(marks, found)

    def show_hit(self, hit: Hit | None, *, stays: bool = True) -> None:
        """Frame a hit and scroll to it; `stays`: unless it is in view. None frames none."""
        self._stepped_to, layout = hit, self._scroller.layout
        if hit is None or layout is None:
            self._highlights.frame(None)
            return
        in_view, rank, piece = stays and self.level(hit) is not None, self._rank(hit), hit.line - 1
        self._highlights.frame((piece, rank))
        position = self._unfold(piece)
        self.shown.emit(layout.conversation.entry_of_piece[piece])
        if not in_view:
            row = layout.rows.rows[position]
            self._scroller.go_to(ScrollTarget(row, within=lambda row: self._top_in(row, rank)))

    def show_hits(self, marks: MatchMap, found: MatchMap | None) -> None:
        layout = self._scroller.layout
        if layout is None:
            return
        self._known = marks if found is None else found
        flags = bytearray(len(layout.conversation.entries))
        for line in self._known.lines():
            flags[layout.conversation.entry_of_piece[line - 1]] = 1
        before, self._highlights.entries = self._highlights.entries, flags
        self.entries_changed.emit()
        ranges = [(row.entry, layout.rows.after(position)) for position, row, _ in self._scroller.visible()]
        if any(before[first:after] != flags[first:after] for first, after in ranges):
            self._highlights.changed.emit()  # the line of a group or a folded entry shows whether it has a hit

    # --- folded hits ----------------------------------------------------------------------------------------------

    def first_in_fold(self, number: int) -> Hit | None:
        """The first hit in a folded entry or a closed group, if it is known."""
        layout = self._scroller.layout
        fold = "" if layout is None else layout.rows.fold(number)
        if layout is None or self._known is None or fold not in ("folded", "grouped"):
            return None
        last = layout.rows.group(number)[-1] if fold == "grouped" else number
        begin, after = layout.conversation.entries[number].first_piece, layout.conversation.entries[last].after_piece
        step = self._known.step((begin + 1, -1), forward=True)
        return step.hit if isinstance(step, Step) and begin < step.hit.line <= after else None

    def _unfold(self, piece: int) -> int:
        """Unfold the entry of a piece, and its group, as far as necessary; returns the position of the piece's row."""
        layout = self._scroller.layout
        assert layout is not None
        count = layout.count
        position = layout.rows.reveal(piece)
        if layout.count != count:
            self._scroller.update_rows()
        return position

    def _rank(self, hit: Hit) -> int:
        """Return the number of a hit among the hits of its piece, from 0."""
        finder, layout = self._highlights.finder, self._scroller.layout
        if finder is None or layout is None:
            return 0
        ranges = finder(layout.conversation.searchable(hit.line - 1))
        return sum(start < hit.start for start, _ in ranges)

    def _top_in(self, row: Row, rank: int) -> int:
        """Return the pixels from the top of a row's body to hit number `rank`; 0 while the row is not laid out."""
        layout = self._scroller.layout
        laid = layout.document_of(row) if layout is not None else None
        found = self._highlights.find_in(laid, rank) if laid is not None else None
        if layout is None or laid is None or found is None:
            return 0
        return layout.pads(row)[0] + round(laid.line_top(found[0], found[1]))
