"""The figures of listed sessions: a calendar above the list, with one square per day that is larger and stronger for
more sessions, and a table of time, messages, tokens and cost by project."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from itertools import accumulate
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QMouseEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QDialog, QWidget

from engine import SessionStats, SessionSummary, StatsKey, StatsRow, marked, number, tr, tr_count
from gui.commands.commands import COPY_TABLE, key_action
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.core.session_criteria import ANY_TIME, Criteria
from gui.sessions.rows import filter_test
from gui.sessions.session_catalog import Entry, SessionCatalog
from gui.style.stylesheet import font_scale, scaled
from gui.style.theme import Tokens
from gui.text.formatting import (
    cost_text,
    sent_and_received,
    sessions_text,
    short_date,
    short_month_and_year,
    short_path,
    usage_lines,
    weekday_and_date,
)
from gui.text.session_texts import agent_name, message_count, work_time
from gui.widgets.accessibility import Part
from gui.widgets.charts.chart import Chart, Mark, Series, figure_cell, tab_separated
from gui.widgets.form_controls import ComboBox
from gui.widgets.labels import label
from gui.widgets.layouts import column_of, row_of
from gui.widgets.table import Column, RecordsTable

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
    sessions = sessions_text(count)
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
        """The parts for a screen reader, which requests them often, and the state they were made for."""
        self._picture: tuple[object, QPixmap] = (None, QPixmap())
        """The squares of all days, and the state they were painted for: painting hundreds takes 5 ms each time."""
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
        state = (self._days, self.size(), font_scale(), self.devicePixelRatio(), colours)
        if self._picture[0] != state:
            self._picture = state, self._paint_days(colours)
        painter.drawPixmap(0, 0, self._picture[1])
        listed = None if self._listed is None else (self._listed - self._days.first).days
        for index, colour in ((listed, colours.accent), (self.chosen, colours.text)):
            if index is not None and self._hidden <= index < len(self.series.marks):
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(colour, 1.5))
                painter.drawRoundedRect(self.rect_of_mark(index).adjusted(-0.5, -0.5, 0.5, 0.5), 2, 2)

    def _paint_days(self, colours: Tokens) -> QPixmap:
        picture = QPixmap(self.size() * self.devicePixelRatio())
        picture.setDevicePixelRatio(self.devicePixelRatio())
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        hidden, square, cell = self._hidden, self._square(0), self._scaled(_CELL)
        for index in range(hidden, len(self.series.marks)):
            week, weekday = divmod(index - hidden, _WEEK)
            self._paint_day(painter, colours, index, square.translated(week * cell, weekday * cell))
        painter.end()
        return picture

    def _paint_day(self, painter: QPainter, colours: Tokens, index: int, rect: QRectF) -> None:
        """Paint the square of a day; more sessions make it larger too, since colour alone must not distinguish days."""
        count = self._days.counts[index]
        level = -(-_LEVELS * count // self._most)
        painter.setBrush(colours.line)
        painter.drawRoundedRect(rect, 2, 2)
        if level:
            colour = QColor(colours.accent)
            colour.setAlphaF(_FAINTEST + (1 - _FAINTEST) * level / _LEVELS)
            inset = rect.width() * (_LEVELS - level) / (4 * _LEVELS)
            painter.setBrush(colour)
            painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), 2, 2)

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


# --- The table -------------------------------------------------------------------------------------------------------

_GROUPS: dict[StatsKey, str] = {
    "project": marked("By project"),
    "agent": marked("By agent"),
    "model": marked("By model"),
    "machine": marked("By machine"),
    "day": marked("By day"),
}
_WIDTH, _HEIGHT = 1020, 480
_COST = 7
"""Number of the column with the cost."""


class FiguresDialog(JobOwner, QDialog):
    """A table of the sums over sessions, by project or another property.

    Signals: chosen: only the sessions of a row should be listed; has the property and its value.
    """

    chosen = Signal(str, str)

    def __init__(self, jobs: Jobs, sessions: Sequence[SessionSummary], prices: str, parent: QWidget | None) -> None:
        """`prices`: path of the user's list of prices, or empty."""
        super().__init__(parent)
        self.setWindowTitle(tr("Figures of the listed sessions"))
        self._sessions, self._prices = sessions, prices
        self._key: StatsKey = "project"
        """The property by which the rows are grouped."""
        self._job = JobSlot(self, jobs)
        self._groups = ComboBox(tr("Group of sessions"))
        for key, words in _GROUPS.items():
            self._groups.addItem(tr(words), key)
        self._groups.currentIndexChanged.connect(self._read)
        self._total = label("", "strong", wrap=True)
        self._notes = label("", "meta", wrap=True)
        self.table = RecordsTable[StatsRow](self._columns(), self._tip)
        self.table.setAccessibleName(self.windowTitle())
        self.table.setTextElideMode(Qt.TextElideMode.ElideLeft)  # the last folder of a project identifies it best
        self.table.sortByColumn(_COST, Qt.SortOrder.DescendingOrder)
        self.table.opened.connect(self._choose)
        key_action(self.table, COPY_TABLE).triggered.connect(self._copy)
        head = row_of((self._total, 1), self._groups, spacing=8)
        column_of(head, (self.table, 1), self._notes, spacing=10, margins=(16, 14, 16, 14), parent=self)
        self.resize(scaled(_WIDTH), scaled(_HEIGHT))  # Qt limits a preferred size on a small screen
        self.table.setFocus()
        self._read()

    def _columns(self) -> tuple[Column[StatsRow], ...]:
        return (
            Column[StatsRow](tr("Name"), 0, self._order, lambda row: self._name(row.name)),
            _figures(tr("Sessions"), 9, lambda row: row.sessions),
            _figures(tr("Messages"), 10, lambda row: row.messages),
            _figures(tr("Active time"), 13, lambda row: row.seconds, lambda row: work_time(row.seconds)),
            _figures(tr("Sent"), 13, _sent),
            _figures(tr("Cached"), 13, lambda row: row.usage.cache_read_tokens),
            _figures(tr("Received"), 11, lambda row: row.usage.output_tokens),
            _figures(tr("Cost"), 15, lambda row: row.usage.cost, lambda row: cost_text(row.usage)),
        )

    def _order(self, row: StatsRow) -> str:
        return row.name if self._key == "day" else self._name(row.name)

    def _name(self, name: str) -> str:
        if not name:
            return tr("this machine") if self._key == "machine" else tr("unknown")
        if self._key == "day":
            return short_date(date.fromisoformat(name))
        return agent_name(name) if self._key == "agent" else short_path(name, str(Path.home()))

    def _tip(self, row: StatsRow) -> str:
        return "\n".join((self._name(row.name), *usage_lines(row.usage), _without_tokens(row)))

    @Slot()
    def _read(self) -> None:
        sessions, prices = self._sessions, self._prices
        key: StatsKey = self._groups.currentData()

        def work(_token: object) -> SessionStats:
            from engine import prices_or_default, session_stats

            return session_stats(sessions, prices_or_default(prices), key)

        self._job.read(work, partial(self._show, key), self._notes.setText)

    def _show(self, key: StatsKey, stats: SessionStats) -> None:
        self._key = key
        self.table.show_records(stats.rows)
        self.table.viewport().update()  # equal rows of another group may have other names
        self._total.setText(" · ".join(filter(None, _total(stats.total))))
        notes = [_without_tokens(stats.total)]
        if stats.unpriced:
            notes.append(tr("No price is known for {models}.", models=", ".join(stats.unpriced)))
        days = [_day(found) for found in sorted(source.date for source in stats.prices if source.date)]
        if days and stats.total.usage.cost is not None:
            notes.append(
                tr("Costs are as recorded, else by list prices of {first} to {last}.", first=days[0], last=days[-1])
            )
        self._notes.setText(" ".join(filter(None, notes)))

    @Slot(object)
    def _choose(self, row: StatsRow) -> None:
        if row.name:
            self.chosen.emit(self._key, row.name)
            self.accept()

    @Slot()
    def _copy(self) -> None:
        """Copy the table as tab-separated text for a spreadsheet."""
        model = self.table.model()
        columns = range(model.columnCount())
        titles = [model.headerData(column, Qt.Orientation.Horizontal) for column in columns]
        rows = ([model.index(row, column).data() for column in columns] for row in range(model.rowCount()))
        QGuiApplication.clipboard().setText(tab_separated(titles, rows))


def _day(text: str) -> str:
    """Return the day of a price list as words; its text if the user has written something else than a date."""
    try:
        return short_date(date.fromisoformat(text))
    except ValueError:
        return text


def _figures(
    title: str,
    characters: int,
    value: Callable[[StatsRow], float | None],
    text: Callable[[StatsRow], str] | None = None,
) -> Column[StatsRow]:
    """Return a column of numbers. An unknown one sorts below all others; `text`: how another one is shown."""

    def order(row: StatsRow) -> float:
        return -1 if (found := value(row)) is None else found

    def shown(row: StatsRow) -> str:
        if (found := value(row)) is None:
            return tr("unknown")
        return text(row) if text and found else number(int(found))

    return Column[StatsRow](title, characters, order, shown, figures=True)


def _sent(row: StatsRow) -> int | None:
    """Return the number of tokens sent, including those from the cache; None if it is unknown."""
    usage = row.usage
    counts = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _total(row: StatsRow) -> Sequence[str]:
    return (
        sessions_text(row.sessions),
        message_count(row.messages),
        work_time(row.seconds),
        sent_and_received(row.usage),
        cost_text(row.usage),
    )


def _without_tokens(row: StatsRow) -> str:
    """Return a sentence with the number of sessions that record no tokens; empty if all do."""
    if not row.without_usage:
        return ""
    return tr_count("{count:,} session records no tokens.", "{count:,} sessions record no tokens.", row.without_usage)
