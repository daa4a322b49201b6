"""The hits in a text that may have been searched only in part, and their marks in scroll bar and lines."""

import re
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from PySide6.QtCore import QObject, QRectF, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QScrollBar, QStyle, QStyleOptionSlider, QWidget

from engine import tr
from gui.core.jobs import Job, Jobs
from gui.style.theme import tokens
from gui.text.plain_text import utf16_ranges
from gui.text.right_to_left import mirror
from gui.viewer.text_lines import TextPosition

BLOCK = 256
"""Lines that are searched together."""

_FINE_BLOCKS = 2_000

Finder = Callable[[str], Sequence[tuple[int, int]]]
"""Returns the matching ranges of one line, in code points."""


class Hit(NamedTuple):
    """A match in a line: the index of the line, and start and end in UTF-16 units."""

    line: int
    start: int
    end: int

    @property
    def position(self) -> TextPosition:
        return self.line, self.start


class Step(NamedTuple):
    """The next hit, and whether the search wrapped around the end (or the start) of the text to reach it."""

    hit: Hit
    wrapped: bool


@dataclass(frozen=True)
class UnsearchedBlock:
    """A block of lines that may contain the next hit, but has not been searched."""

    block: int


class MatchMap:
    """List of the hits in a text, and which parts of the text have been searched so far."""

    def __init__(self, line_count: int) -> None:
        self.block_count = -(-line_count // BLOCK)
        self._blocks: dict[int, tuple[Hit, ...]] = {}
        self._lines: dict[int, tuple[int, ...]] = {}
        """The lines with hits of each block."""
        self.count = 0

    @property
    def complete(self) -> bool:
        return len(self._blocks) == self.block_count

    def has_block(self, block: int) -> bool:
        return block in self._blocks

    def add(self, block: int, hits: Sequence[Hit]) -> None:
        self.count += len(hits) - len(self._blocks.get(block, ()))
        self._blocks[block] = tuple(hits)
        self._lines[block] = tuple(dict.fromkeys(hit.line for hit in hits))

    def lines(self) -> Iterator[int]:
        """Yield the lines with hits, unordered, to draw ticks; one per block in a long text."""
        most = 1 if self.block_count > _FINE_BLOCKS else None
        return chain.from_iterable(lines[:most] for lines in self._lines.values())

    def rank(self, hit: Hit) -> int:
        """Return the number of known hits before this one."""
        home = block_of(hit.line)
        before = sum(len(hits) for block, hits in self._blocks.items() if block < home)
        return before + bisect_left(self._blocks.get(home, ()), hit)

    def step(self, position: TextPosition, *, forward: bool) -> Step | UnsearchedBlock | None:
        """Return the first hit after `position` (or, not `forward`, before it), wrapping around; None if there is none.

        Returns `UnsearchedBlock` if a block has to be searched first.
        """
        if not self.block_count:
            return None
        home = min(block_of(position[0]), self.block_count - 1)
        for distance in range(self.block_count + 1):
            block = (home + distance if forward else home - distance) % self.block_count
            hits = self._blocks.get(block)
            if hits is None:
                return UnsearchedBlock(block)
            wrapped = block < home if forward else block > home
            if distance == 0:
                starts = [hit.position for hit in hits]
                hits = hits[bisect_right(starts, position) :] if forward else hits[: bisect_left(starts, position)]
            if hits:
                return Step(hits[0 if forward else -1], wrapped or distance == self.block_count)
        return None


def block_of(line: int) -> int:
    return (line - 1) // BLOCK


# --- Finders of the query's words, and of the text in the find bar ---------------------------------------------------


def query_finder(query: str, language: str) -> Finder:
    """Return a function that finds a query's words in a text as the index matches them: in any case, accent and ending.

    Phrases are found whole, and the file and command names of operators; excluded words and other operators are not
    found.
    """
    from engine import highlight_ranges, parse_query  # brings the analysis, which an empty window does not need

    parsed = parse_query(query)
    return lambda text: highlight_ranges(text, parsed, (language,))


def names_tool_calls(query: str) -> bool:
    """Return whether a query has only operators for files or commands of tool calls, and no words."""
    if "file:" not in query.casefold() and "command:" not in query.casefold():
        return False
    from engine import parse_query

    parsed = parse_query(query)
    return (
        bool(parsed.values_of_required("file") or parsed.values_of_required("command")) and not parsed.free_text.strip()
    )


def plain_finder(needle: str) -> Finder:
    """Return a function that finds the typed characters in a text, ignoring case."""
    pattern = re.compile(re.escape(needle), re.IGNORECASE)
    return lambda text: [match.span() for match in pattern.finditer(text)]


# --- The marks of the hits in the scroll bar and in the lines --------------------------------------------------------

Ranges = list[tuple[int, int]]

_MAX_CACHED = 2_000
_LONG_LINE = 2_000
"""Lines with at least this many characters are searched in the background, since that may take 0.1 s."""
_TICK_HEIGHT = 3
_TICK_INSET = 3
_HANDLE_OPACITY = 60
_HELD_OPACITY = 110


class MatchScrollBar(QScrollBar):
    """A scroll bar with a tick for each line with a hit, and a band next to the highlighted part of the text."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Position in the file"))
        self._length = 1
        self._lines: frozenset[int] = frozenset()
        self._highlight: tuple[int, int] | None = None

    def set_length(self, lines: int) -> None:
        """Set the number of lines that the scroll bar's height represents."""
        if lines != self._length:
            self._length = max(1, lines)
            self.update()

    def set_ticks(self, lines: Iterable[int]) -> None:
        found = frozenset(lines)
        if found != self._lines:
            self._lines = found
            self.update()

    def set_highlight(self, lines: tuple[int, int] | None) -> None:
        self._highlight = lines
        self.update()

    def y_of(self, line: int) -> int:
        """Return the vertical position of a line on the scroll bar."""
        return (line - 1) * self.height() // self._length

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        mirror(painter, self.rect(), self.layoutDirection())
        painter.fillRect(self.rect(), colours.base)
        painter.fillRect(0, 0, 1, self.height(), colours.line)
        if self._highlight is not None:
            first, last = self._highlight
            top = self.y_of(first)
            painter.fillRect(1, top, 2, max(2, self.y_of(last + 1) - top), colours.accent)
        self._paint_handle(painter, colours.muted)
        painter.setPen(QPen(colours.mark_tick, 1))
        painter.setBrush(colours.mark)
        right = self.width() - 1 - 2 * _TICK_INSET
        for y in sorted({self.y_of(line) for line in self._lines}):
            painter.drawRect(_TICK_INSET + 1, min(y, self.height() - _TICK_HEIGHT - 1), right, _TICK_HEIGHT - 1)

    def _paint_handle(self, painter: QPainter, colour: QColor) -> None:
        if self.minimum() == self.maximum():
            return
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        control = QStyle.ComplexControl.CC_ScrollBar
        handle = self.style().subControlRect(control, option, QStyle.SubControl.SC_ScrollBarSlider, self)
        faded = QColor(colour)
        faded.setAlpha(_HELD_OPACITY if self.isSliderDown() or self.underMouse() else _HANDLE_OPACITY)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(0, 0, 0, 0)))
        painter.setBrush(faded)
        painter.drawRoundedRect(QRectF(handle).adjusted(4, 1, -2, -1), 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


class MatchMarks(QObject):
    """A cache of the ranges to highlight, by line, in UTF-16 units; a line is searched when it is first painted.

    Signals:
        found: the ranges of a line that had none yet have arrived.
    """

    found = Signal()

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._finder: Finder | None = None
        self._cached: OrderedDict[int, Ranges] = OrderedDict()
        self._line_jobs: dict[int, Job] = {}

    def set_finder(self, finder: Finder | None) -> None:
        self._finder = finder
        self.forget()

    def forget(self) -> None:
        """Drop all cached ranges, since the text changed."""
        for job in self._line_jobs.values():
            job.cancel()
        self._line_jobs.clear()
        self._cached.clear()

    def is_searched(self, line: int) -> bool:
        return self._finder is None or line in self._cached

    def ranges_in(self, line: int, text: str) -> Ranges:
        """Return the ranges to highlight in a line; a long line is searched in the background, and `found` follows."""
        finder = self._finder
        if finder is None:
            return []
        if line not in self._cached:
            if len(text) > _LONG_LINE:
                if line not in self._line_jobs:
                    self._line_jobs[line] = self._jobs.read(
                        lambda _: utf16_ranges(text, finder(text)), lambda ranges: self._add_ranges(line, ranges)
                    )
                return []
            self._cache(line, utf16_ranges(text, finder(text)))
        return self._cached[line]

    def _add_ranges(self, line: int, ranges: Ranges) -> None:
        self._line_jobs.pop(line, None)
        self._cache(line, ranges)
        self.found.emit()

    def _cache(self, line: int, ranges: Ranges) -> None:
        self._cached[line] = ranges
        if len(self._cached) > _MAX_CACHED:
            self._cached.popitem(last=False)
