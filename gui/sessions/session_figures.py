"""A calendar above the session list: one square per day, larger and stronger for more sessions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import accumulate

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen

from engine import tr
from gui.core.session_criteria import ANY_TIME, Criteria
from gui.sessions.rows import filter_test
from gui.sessions.session_catalog import Entry, SessionCatalog
from gui.style.theme import Tokens
from gui.text.formatting import short_date, short_month_and_year, weekday_and_date
from gui.text.session_texts import session_count
from gui.widgets.accessibility import Part
from gui.widgets.charts.chart import Chart, Mark, Series, figure_cell

_WEEKS = 53
_WEEK = 7
_CELL = 10
"""Pixels of a day at font scale 1, with its gap."""
_GAP = 2
EDGE = 3
"""Pixels between the days and the frame around them, which must not cover the outline of a chosen day."""
_LEVELS = 4
_FAINTEST = 0.35
_LONG_AGO = 180
"""Days without a session after which the calendar ends with the last one instead of today."""
_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -_WEEK, Qt.Key.Key_Right: _WEEK}


@dataclass(frozen=True)
class SessionDays:
    """The number of sessions on each day of a year. A session counts on each day on which it has a message."""

    first: date
    """The first day, a Monday."""
    counts: tuple[int, ...] = ()

    def day(self, index: int) -> date:
        return self.first + timedelta(days=index)


def count_days(catalogue: SessionCatalog, criteria: Criteria, today: date) -> SessionDays:
    """Count the sessions of each day that pass all filters except the one for time; empty if none does."""
    chosen = filter_test(replace(criteria, period=ANY_TIME), today)
    entries = [entry for entry in catalogue.orders["newest"] if entry.last_day and (chosen is None or chosen(entry))]
    if not entries:
        return SessionDays(today)
    newest = min(today, entries[0].last_day or today)
    last = today if (today - newest).days <= _LONG_AGO else newest
    first = last - timedelta(days=last.weekday() + (_WEEKS - 1) * _WEEK)
    return SessionDays(first, _counted(entries, first, (last - first).days + 1))


def _counted(entries: Sequence[Entry], first: date, days: int) -> tuple[int, ...]:
    """Return the number of sessions on each of `days` days from `first` on."""
    changes = [0] * (days + 1)
    begin = first.toordinal()

    def add(start: int, end: int, sessions: int) -> None:
        if start <= end and end >= 0 and start < days:
            changes[max(0, start)] += sessions
            changes[min(end, days - 1) + 1] -= sessions

    for (first_day, last_day), sessions in Counter((entry.first_day, entry.last_day) for entry in entries).items():
        assert last_day is not None
        end = last_day.toordinal() - begin
        add(end if first_day is None else min(first_day.toordinal() - begin, end), end, sessions)
    for entry in entries:
        for pause_first, pause_last in entry.pauses:
            add(pause_first.toordinal() - begin, pause_last.toordinal() - begin, -1)
    return tuple(accumulate(changes[:-1]))


def _series(days: SessionDays) -> Series:
    marks = tuple(_mark(days.day(index), count) for index, count in enumerate(days.counts))
    busy = sum(count > 0 for count in days.counts)
    summary = tr("Sessions on {days:,} days of the last year.", days=busy) if marks else ""
    return Series(marks, summary, idle_label="" if marks else tr("No session with a date."))


def _mark(day: date, count: int) -> Mark:
    sessions = session_count(count)
    return Mark(
        parts=(float(count),),
        caption=f"{short_date(day)}: {sessions}",
        row=((day.isoformat(), day.toordinal()), figure_cell(count)),
        detail=f"{weekday_and_date(day)}: {sessions}",
    )


class SessionCalendar(Chart):
    """A widget with a square for each day. Weeks are columns, the latest at the right; as many are shown as fit.

    Signals: day_chosen: list the sessions of this date only; emitted by a click or Enter.
    """

    day_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(tr("Calendar of sessions"), _WEEK * _CELL - _GAP + 2 * EDGE)
        self._days = SessionDays(date.min)
        self._most = 1
        self._listed: date | None = None
        self._spoken: tuple[object, list[Part]] = (None, [])
        """The parts for a screen reader, which asks often, and what they were made for."""
        self.opened.connect(self._open)

    def show_days(self, days: SessionDays, listed: date | None) -> None:
        """Show the number of sessions of each day. `listed`: the only day that the list shows, or None."""
        if (days, listed) == (self._days, self._listed):
            return
        self._days, self._listed = days, listed
        self._most = max(days.counts, default=1) or 1
        self.show_series(_series(days))
        self.update()

    def _open(self, mark: Mark) -> None:
        self.day_chosen.emit(date.fromordinal(int(mark.row[0][1])))

    def spoken_parts(self) -> list[Part]:
        """Return the visible days with sessions, for screen readers."""
        state = (self._days, self.size())
        if self._spoken[0] != state:
            visible = range(self._hidden, len(self.series.marks))
            days = ((self.series.marks[index], index) for index in visible if self._days.counts[index])
            parts = [
                Part(mark.detail, self._mirrored(self.rect_of_mark(index)).toAlignedRect()) for mark, index in days
            ]
            self._spoken = state, parts
        return self._spoken[1]

    # --- geometry ---------------------------------------------------------------------------------------------------

    @property
    def _hidden(self) -> int:
        """The number of days at the start that are not shown, since their weeks don't fit."""
        weeks = -(-len(self.series.marks) // _WEEK)
        return max(0, weeks - int((self.plot().width() + _GAP) // self._scaled(_CELL))) * _WEEK

    def choose(self, index: int) -> None:
        """Select a day by its index; instead of a hidden day, the first visible one."""
        super().choose(max(index, self._hidden))

    def plot(self) -> QRectF:
        return self.focus_frame().adjusted(EDGE, EDGE, -EDGE, -EDGE)

    def focus_frame(self) -> QRectF:
        return super().plot()

    def mark_at(self, position: QPointF) -> int | None:
        cell, inside = self._scaled(_CELL), position - self.plot().topLeft()
        week, weekday = int(inside.x() // cell), int(inside.y() // cell)
        index = self._hidden + week * _WEEK + weekday
        return index if inside.x() >= 0 and 0 <= weekday < _WEEK and index < len(self.series.marks) else None

    def rect_of_mark(self, index: int) -> QRectF:
        hidden = self._hidden
        return self._square(index - hidden) if index >= hidden else QRectF()

    def _square(self, position: int) -> QRectF:
        """Return the rectangle of a visible day by its position among these."""
        week, weekday = divmod(position, _WEEK)
        cell, side = self._scaled(_CELL), self._scaled(_CELL - _GAP)
        return QRectF(self.plot().left() + week * cell, self.plot().top() + weekday * cell, side, side)

    def footer(self) -> tuple[str, str]:
        if self.mark() or not self.series.marks:
            return super().footer()
        last = self._days.day(len(self._days.counts) - 1)
        return short_month_and_year(self._days.day(self._hidden)), short_month_and_year(last)

    # --- painting ---------------------------------------------------------------------------------------------------

    def paint_marks(self, painter: QPainter, colours: Tokens) -> None:
        hidden = self._hidden
        for index in range(hidden, len(self.series.marks)):
            self._paint_day(painter, colours, index, self._square(index - hidden))

    def _paint_day(self, painter: QPainter, colours: Tokens, index: int, rect: QRectF) -> None:
        """Paint the square of a day; more sessions make it larger too, since colour alone must not distinguish days."""
        count = self._days.counts[index]
        level = -(-_LEVELS * count // self._most)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours.line)
        painter.drawRoundedRect(rect, 2, 2)
        if level:
            ink = QColor(colours.accent)
            ink.setAlphaF(_FAINTEST + (1 - _FAINTEST) * level / _LEVELS)
            inset = rect.width() * (_LEVELS - level) / (4 * _LEVELS)
            painter.setBrush(ink)
            painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), 2, 2)
        if index == self.chosen or self._days.day(index) == self._listed:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colours.text if index == self.chosen else colours.accent, 1.5))
            painter.drawRoundedRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5), 2, 2)

    # --- events -----------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle arrow keys: Up and Down move by a day, Left and Right by a week."""
        step = _STEPS.get(Qt.Key(event.key()))
        last = len(self.series.marks) - 1
        if step is None or last < 0 or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
            return
        if self.isRightToLeft() and abs(step) == _WEEK:
            step = -step
        begin = self.chosen if self.chosen is not None else last - step
        self.choose(min(begin + step, last))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self._mark_under(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index is not None:
            self._open(self.series.marks[index])

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ignore the second click: the first one has chosen the day."""
