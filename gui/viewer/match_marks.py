"""Marks the hits in a text: ticks in the scroll bar, and highlighted ranges in the visible lines."""

from collections import OrderedDict
from collections.abc import Iterable

from PySide6.QtCore import QObject, QRectF, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QScrollBar, QStyle, QStyleOptionSlider, QWidget

from engine import tr
from gui.core.jobs import Job, Jobs
from gui.style.theme import tokens
from gui.viewer.match_list import Finder
from gui.widgets.plain_text import utf16_ranges
from gui.widgets.right_to_left import mirror

Ranges = list[tuple[int, int]]

_MOST_CACHED = 2_000
_LONG_LINE = 2_000
"""Lines with at least so many characters are searched in the background, since that may take 0.1 s."""
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
        self._sought: dict[int, Job] = {}

    def set_finder(self, finder: Finder | None) -> None:
        self._finder = finder
        self.forget()

    def forget(self) -> None:
        """Drop all cached ranges, since the text changed."""
        for job in self._sought.values():
            job.cancel()
        self._sought.clear()
        self._cached.clear()

    def known(self, line: int) -> bool:
        return self._finder is None or line in self._cached

    def of(self, line: int, text: str) -> Ranges:
        """Return the ranges to highlight in a line; a long line is searched in the background, and `found` follows."""
        finder = self._finder
        if finder is None:
            return []
        if line not in self._cached:
            if len(text) > _LONG_LINE:
                if line not in self._sought:
                    self._sought[line] = self._jobs.read(
                        lambda _: utf16_ranges(text, finder(text)), lambda ranges: self._arrive(line, ranges)
                    )
                return []
            self._cache(line, utf16_ranges(text, finder(text)))
        return self._cached[line]

    def _arrive(self, line: int, ranges: Ranges) -> None:
        self._sought.pop(line, None)
        self._cache(line, ranges)
        self.found.emit()

    def _cache(self, line: int, ranges: Ranges) -> None:
        self._cached[line] = ranges
        if len(self._cached) > _MOST_CACHED:
            self._cached.popitem(last=False)
