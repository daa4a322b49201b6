"""The overview page of the index: figures, charts, and items that need attention."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QWidget

from engine import (
    CancelToken,
    IndexInsight,
    IndexOverview,
    MemoryProviderStatus,
    MemorySearchManager,
    StoredSync,
    number,
    tr,
    tr_count,
)
from gui.core.jobs import Jobs
from gui.index import chart_data
from gui.index.attention_items import Attention, AttentionCard, attention_of
from gui.index.base_page import IndexPage
from gui.index.chart_data import THROUGHPUT_COLUMNS, Throughput
from gui.index.folder_tree import FolderCard
from gui.index.map.panel import MapPanel
from gui.index.overview_cards import NOTHING, FigureCard, figures
from gui.search.query import Answer
from gui.style.stylesheet import character_width, scaled
from gui.style.typography import Resized
from gui.text.formatting import duration, exact, spent_text
from gui.text.status_texts import REASON_WORDS
from gui.widgets.accessibility import insert_after, stops
from gui.widgets.charts.bars import BarChart, ShareChart, SparkChart
from gui.widgets.charts.chart import ChartCard, Mark, Series
from gui.widgets.charts.sync_history import SYNC_COLUMNS, outcome_of, sync_series
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import VerticalScrollArea, column_of, open_dialog, row_of
from gui.widgets.table import IssuesTable

_CARD_CHARACTERS = 33
"""Characters of a card's longest line."""
_ACROSS = (4, 2)
"""Possible numbers of figures per row."""
_AGAIN = "count-again"
_GROUPS = ("overview", "status", "duplicates", "health")
"""The sources of attention rows, in order."""
_MIN_CHARACTERS = 112
_LEFT, _RIGHT = 8, 5
"""Shares of the width of both columns."""
_GAP = 12
_GUTTER = 16
_WIDTH, _AROUND = 460, 80


def show_sync(sync: StoredSync, parent: QWidget) -> QDialog:
    """Open a dialog with the details of a sync and its failed files."""
    content = QWidget()
    content.setMinimumWidth(min(scaled(_WIDTH), parent.window().width() - _AROUND))
    grid = QGridLayout()
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(1, 1)
    for row, (name, value) in enumerate(_details(sync)):
        grid.addWidget(label(name, "muted"), row, 0)
        grid.addWidget(label(breakable(value), wrap=True), row, 1)
    column = column_of(grid, spacing=10, parent=content)
    if sync.failed:
        failed = tr_count("{count:,} file failed.", "{count:,} files failed.", sync.files_failed)
        if sync.files_failed > len(sync.failed):
            failed += " " + tr("The first {count} are listed.", count=len(sync.failed))
        column.addWidget(label(failed, "section", wrap=True))
        table = IssuesTable()
        table.setAccessibleName(tr("Files that failed"))
        table.show_records(sync.failed)
        column.addWidget(table)
        column.addWidget(table.detail)
    return open_dialog(tr("Update details"), content, parent)


def _details(sync: StoredSync) -> list[tuple[str, str]]:
    vectors = tr("{embedded:,} embedded, reused not recorded", embedded=sync.vectors_embedded)
    if sync.vectors_reused is not None:
        vectors = tr(
            "{embedded:,} embedded, {reused:,} reused", embedded=sync.vectors_embedded, reused=sync.vectors_reused
        )
    files = tr("{indexed:,} indexed, {removed:,} removed", indexed=sync.files_indexed, removed=sync.files_removed)
    details = [
        (tr("Started"), exact(sync.started)),
        (tr("Reason"), tr(REASON_WORDS[sync.reason])),
        (tr("Duration"), duration(sync.seconds)),
        (tr("Files"), files),
        (tr("Passages"), number(sync.chunks_indexed)),
        (tr("Vectors"), vectors),
        (tr("Cost"), spent_text(sync.tokens, sync.cost)),
        (tr("Outcome"), outcome_of(sync)),
    ]
    return [(name, value) for name, value in details if value]


class TwoColumns(Resized, VerticalScrollArea):
    """A scrolling page with cards in two columns below the widget `above`, which has the whole width.

    Signals:
        folded: whether there is one column now.
    """

    folded = Signal(bool)

    def __init__(self, above: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._left: tuple[QWidget, ...] = ()
        self._right: tuple[QWidget, ...] = ()
        self._stacked: tuple[QWidget, ...] = ()
        self._narrow: bool | None = None
        self._single = True  # until the owner knows how much content there is
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._columns = column_of(None, spacing=_GAP), column_of(None, spacing=_GAP)
        self._sides = sides = row_of(*zip(self._columns, (_LEFT, _RIGHT), strict=True), spacing=_GAP)
        self.page = QWidget()
        column_of(above, sides, None, spacing=_GAP, margins=(_GUTTER, 12, _GUTTER, _GUTTER), parent=self.page)
        self.setWidget(self.page)

    def set_cards(self, left: Sequence[QWidget], right: Sequence[QWidget], stacked: Sequence[QWidget]) -> None:
        """Show these cards, which may be children of `page`; `stacked`: all, in the order of a single column."""
        self._left, self._right, self._stacked = tuple(left), tuple(right), tuple(stacked)
        self.fit()

    def set_single(self, single: bool) -> None:
        """Use one column at any width, if there is too little content for two."""
        self._single = single
        self.fit()

    def fit(self) -> None:
        characters = self.width() // character_width()
        narrow = self._single or characters < _MIN_CHARACTERS
        if narrow == self._narrow or not self._stacked:
            return
        self._narrow = narrow
        for widget in self._stacked:
            # Not by takeAt: an item that still lives would keep the next one from hearing of changes of size.
            for column in self._columns:
                column.removeWidget(widget)
        left, right = (self._stacked, ()) if narrow else (self._left, self._right)
        for column, widgets in zip(self._columns, (left, right), strict=True):
            for index, widget in enumerate(widgets):
                column.insertWidget(index, widget)  # above the empty space at the end
        every = stops(self)  # once, since it walks along the tab order of the window
        first, *others = (stop for card in (*left, *right) for stop in every if card is stop or card.isAncestorOf(stop))
        insert_after(first, others)
        self._sides.setStretch(1, 0 if narrow else _RIGHT)
        self._sides.setSpacing(0 if narrow else _GAP)
        self.folded.emit(narrow)


@dataclass(frozen=True)
class _Counted:
    """The counts of the overview with their chart data, prepared off the GUI thread since it takes long."""

    overview: IndexOverview
    sizes: Series
    disk: Series
    times: Series
    syncs: Series


class OverviewPage(Resized, IndexPage):
    """The overview page. Fast-changing values come from the status; others are counted when the index has changed."""

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(jobs, parent)
        self._status: MemoryProviderStatus | None = None
        self._overview: IndexOverview | None = None
        self._throughput = Throughput()
        self._figures = [FigureCard() for _ in NOTHING]
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        self._across = 0
        self._charts: tuple[QWidget, ...] = ()
        above = QWidget()
        above.setLayout(self._grid)
        # From the outside in: Qt applies the style sheet again to all widgets of a part that gets another parent.
        self._columns = TwoColumns(above, self)
        column_of(self._columns, parent=self)
        self.folders = FolderCard()
        self.syncs = ChartCard(
            tr("Recent updates"),
            BarChart(tr("Recent updates"), 72, bar_width=9),
            SYNC_COLUMNS,
            tr("Every update of the index will be listed here."),
            newest_first=True,
        )
        self.speed = ChartCard(
            tr("Throughput"),
            SparkChart(tr("Throughput"), 56),
            THROUGHPUT_COLUMNS,
            tr("This chart is drawn while an update runs."),
            newest_first=True,
        )
        self.sizes = ChartCard(
            tr("Passage sizes"),
            BarChart(tr("Passage sizes"), 116),
            chart_data.SIZE_COLUMNS,
            tr("There is no passage yet."),
        )
        self.attention = AttentionCard(_GROUPS)
        self.disk = ChartCard(
            tr("On disk"),
            ShareChart(tr("On disk"), 8),
            chart_data.DISK_COLUMNS,
            tr("The index takes no disk space yet."),
        )
        self.times = ChartCard(
            tr("Files over time"),
            BarChart(tr("Files over time"), 88),
            chart_data.TIME_COLUMNS,
            tr("There is no file yet."),
        )
        self.attention.action_requested.connect(self._act)
        self.syncs.chart.opened.connect(self._show_sync)

    def complete(self) -> bool:
        """Make the map, and arrange the cards in two columns below the figures, in another order if only one fits."""
        if self._charts:
            return False
        self.map = MapPanel(self.jobs, self._columns.page, whole=False)
        self.map.open_requested.connect(self.open_requested)
        self.map.action_requested.connect(self.action_requested)
        self._charts = (self.folders, self.syncs, self.speed, self.sizes, self.disk, self.times)
        self._columns.set_cards(
            (self.map, self.folders, self.syncs),
            (self.sizes, self.attention, self.disk, self.times, self.speed),
            (self.attention, self.map, self.folders, self.sizes, self.syncs, self.speed, self.disk, self.times),
        )
        self.fit()
        self.clear()
        return True

    # --- the map ----------------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        return super().busy or (self.map.busy and self.map.isVisible())

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self.map.set_manager(manager)
        super().set_manager(manager)

    @Slot()
    def refresh(self) -> None:
        self.map.refresh()
        super().refresh()

    def show_answer(self, answer: Answer | None) -> None:
        self.map.show_answer(answer)

    def take_focus(self) -> None:
        if self.map.isVisible():
            self.map.take_focus()  # not its controls: an arrow key would change the colouring
        else:
            super().take_focus()

    # --- counts -----------------------------------------------------------------------------------------------------

    def read(self, insight: IndexInsight, cancel: CancelToken) -> _Counted:
        counted = insight.overview(cancel)
        return _Counted(
            counted,
            chart_data.size_series(counted.sizes),
            chart_data.disk_series(counted.disk),
            chart_data.time_series(counted.months),
            sync_series(counted.syncs),
        )

    def show_read(self, counted: _Counted) -> None:
        self._overview = counted.overview
        self.attention.show_rows("overview", ())
        self.folders.show_folders(counted.overview.folders)
        self.sizes.show_series(counted.sizes)
        self.disk.show_series(counted.disk)
        self.times.show_series(counted.times, tr("notes by last change, sessions by start"))
        self.syncs.show_series(counted.syncs)
        self._show_live()

    def show_problem(self, sentence: str) -> None:
        again = Attention("", "degraded", tr("The index statistics can't be read"), sentence, (tr("Try again"), _AGAIN))
        self.attention.show_rows("overview", (again,))

    def clear(self) -> None:
        self._overview = None
        self._status = None
        self._throughput.clear()
        for card, figure in zip(self._figures, NOTHING, strict=True):
            card.show_figure(figure)
        self.attention.show_rows("status", ())
        for chart in (self.map, *self._charts):
            chart.hide()

    # --- live values ------------------------------------------------------------------------------------------------

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Update the values that come from the status; painted only while visible."""
        self._status = status
        self._throughput.update_status(status, time.time())
        if self.isVisible():
            self._show_live()

    def _show_live(self) -> None:
        status = self._status
        if status is None:
            return
        for card, figure in zip(self._figures, figures(status, self._overview), strict=True):
            card.show_figure(figure)
        self.attention.show_rows("status", attention_of(status))
        self.speed.show_series(self._throughput.series(), self._throughput.now())
        has_charts = bool(status.files) and self._overview is not None
        self._columns.set_single(not has_charts)
        for chart in (self.map, *self._charts):
            chart.setVisible(has_charts)

    @Slot(str)
    def _act(self, action: str) -> None:
        if action == _AGAIN:
            self.refresh()
        else:
            self.action_requested.emit(action)

    @Slot(object)
    def _show_sync(self, mark: Mark) -> None:
        if self._overview is not None:
            show_sync(self._overview.syncs[self.syncs.chart.series.marks.index(mark)], self.window())

    # --- paths ------------------------------------------------------------------------------------------------------

    def fit(self) -> None:
        characters = self.width() // character_width()
        across = next((many for many in _ACROSS if characters >= many * _CARD_CHARACTERS), _ACROSS[-1])
        if across == self._across:
            return
        for index in range(self._across):
            self._grid.setColumnStretch(index, 0)
        self._across = across
        for index, card in enumerate(self._figures):
            self._grid.addWidget(card, index // across, index % across)
        for index in range(across):
            self._grid.setColumnStretch(index, 1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_live()
