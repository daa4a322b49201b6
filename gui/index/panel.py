"""The index view: chips at the top switch between its pages."""

from functools import partial
from itertools import pairwise
from typing import Literal, cast

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from engine import MemoryProviderStatus, MemorySearchManager, tr
from gui.core.capabilities import TITLES, MissingFeatures
from gui.core.jobs import Jobs
from gui.core.view_spec import ViewPanel
from gui.index.base_page import IndexPage
from gui.index.duplicates.page import DuplicatesPage
from gui.index.health_page import HealthPage
from gui.index.map.panel import MapPanel
from gui.index.overview import OverviewPage
from gui.search.query import Answer
from gui.widgets.form_controls import Chip
from gui.widgets.message_banner import Action, MessagePage

PageName = Literal["overview", "map", "duplicates", "health"]

_GUTTER = 16


class IndexPanel(QWidget, ViewPanel):
    """The pages of the index view, or the reason why the index can't be inspected.

    Signals: open_requested: as `IndexPage.open_requested`. action_requested: `sync`, `rebuild`, `embed`, `settings` or
    `engine`, which the window runs. files_requested: show the table of `failed` or `skipped` files. left: the user
    pressed Escape; move the focus to the search box.
    """

    open_requested = Signal(str, object)
    action_requested = Signal(str)
    files_requested = Signal(str)
    left = Signal()

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.body = self
        self.answer: Answer | None = None
        """The query in the box with its answer; None without a query."""
        self._pages: dict[PageName, IndexPage] = {}
        self.chips: dict[PageName, Chip] = {}
        self._group = QButtonGroup(self)
        self._bar = QWidget()
        self._row = QHBoxLayout(self._bar)
        self._row.setContentsMargins(_GUTTER, 10, _GUTTER, 0)
        self._row.setSpacing(8)
        self._row.addStretch(1)
        self._stack = QStackedWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._bar)
        column.addWidget(self._stack, 1)
        self._lack = MessagePage()
        column.addWidget(self._lack, 1)
        self._manager: MemorySearchManager | None = None
        self.overview = OverviewPage(jobs)
        self.overview.action_requested.connect(self._act)
        self._add("overview", tr("Overview"), self.overview)
        self.map = MapPanel(jobs, whole=True)
        self.map.action_requested.connect(self._act)
        self._add("map", tr("Map"), self.map)
        self.duplicates = DuplicatesPage(jobs)
        self.duplicates.action_requested.connect(self._act)
        self._add("duplicates", tr("Duplicates"), self.duplicates)
        self._health = HealthPage(jobs)
        self._add("health", tr("Health"), self._health)
        self.setAccessibleName(tr("Index"))
        for before, after in pairwise(self.chips.values()):
            QWidget.setTabOrder(before, after)  # one was made after the other's page
        self.show_page("overview")
        self.show_unsupported({})

    def _add(self, name: PageName, title: str, page: IndexPage) -> None:
        page.open_requested.connect(self.open_requested)
        page.left.connect(self.left)
        page.attention_changed.connect(partial(self.overview.show_attention, name))
        chip = Chip(title)
        chip.clicked.connect(lambda _=False: self.show_page(name))
        self._group.addButton(chip)
        self._row.insertWidget(len(self.chips), chip)
        self.chips[name], self._pages[name] = chip, page
        self._stack.addWidget(page)

    @property
    def page(self) -> PageName:
        """The name of the shown page."""
        return next(name for name, page in self._pages.items() if page is self._stack.currentWidget())

    @property
    def busy(self) -> bool:
        """Whether the shown page is still reading."""
        return self._pages[self.page].busy

    @Slot(str)
    def show_page(self, name: PageName) -> None:
        """Bring a page to the front."""
        self.chips[name].setChecked(True)
        self._stack.setCurrentWidget(self._pages[name])
        self._show_overview(self.isVisible() and name == "overview")

    def open_page(self, name: str) -> None:
        self.show_page(cast("PageName", "overview" if name == "index" else name))

    def _show_overview(self, shown: bool) -> None:
        """Notify the pages whether the overview is visible."""
        self.duplicates.show_overview(shown)
        self._health.show_overview(shown)

    @Slot(str)
    def _act(self, action: str) -> None:
        """Run the action of an attention item: show a page or a table, or emit a request to the window."""
        page = next((name for name in self._pages if name == action), None)
        if page is not None:
            self.show_page(page)
        elif action in ("failed", "skipped"):
            self.files_requested.emit(action)
        else:
            self.action_requested.emit(action)

    @Slot(object)
    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Update the index view from a new status record."""
        self.overview.show_status(status)

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Set the memory whose index is shown; None for none."""
        self._manager = manager
        for page in self._pages.values():
            page.set_manager(manager)

    def show_unsupported(self, unsupported: MissingFeatures) -> None:
        """Update whether the index can be inspected; some backends don't support it."""
        reason, title = unsupported.get("insight", ""), TITLES["insight"]
        self._lack.show_message(tr(title), tr(reason), Action(tr("Choose another engine…"), self._choose_engine))
        self._lack.setVisible(bool(reason))
        for part in (self._bar, self._stack):
            part.setVisible(not reason)
        self.set_manager(self._manager)

    @Slot()
    def _choose_engine(self) -> None:
        self.action_requested.emit("engine")

    @Slot()
    def refresh(self) -> None:
        """Read the shown page again after a change of the index, others when they are shown."""
        for page in self._pages.values():
            page.refresh()

    @Slot(object)
    def show_answer(self, answer: Answer | None) -> None:
        """Show the answer of the current query, None without a query."""
        self.answer = answer
        for page in self._pages.values():
            page.show_answer(answer)

    def focus_list(self) -> None:
        """Give the keyboard focus to the shown page."""
        if self._stack.isHidden():
            self._lack.take_focus()
            return
        self._pages[self.page].take_focus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_overview(self.page == "overview")

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._show_overview(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
