"""The index view: chips at the top switch between its pages."""

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from engine import MemoryProviderStatus, MemorySearchManager, tr
from gui.commands.commands import COPY_TABLE, TURN_CHART
from gui.commands.keymap import keymap
from gui.core.capabilities import TITLES, MissingFeatures
from gui.core.jobs import Jobs
from gui.core.view_spec import ViewPanel
from gui.index.base_page import IndexPage
from gui.search.query import Answer
from gui.widgets.accessibility import insert_after, stops
from gui.widgets.form_controls import Chip
from gui.widgets.message_banner import Action, MessagePage

if TYPE_CHECKING:
    from gui.index.duplicates.page import DuplicatesPage
    from gui.index.health_page import HealthPage
    from gui.index.map.panel import MapPanel
    from gui.index.overview import OverviewPage

PageName = Literal["overview", "map", "duplicates", "health"]

_GUTTER = 16


class _Pages(NamedTuple):
    """The pages; each field is the name of one."""

    overview: "OverviewPage"
    map: "MapPanel"
    duplicates: "DuplicatesPage"
    health: "HealthPage"

    def named(self, name: PageName) -> IndexPage:
        return cast("IndexPage", getattr(self, name))


class IndexPanel(QWidget, ViewPanel):
    """The pages of the index view, or the reason why the index can't be inspected.

    The pages are made when the view is first shown: they have a third of the window's widgets.

    Signals:
        open_requested: as `IndexPage.open_requested`.
        action_requested: `sync`, `rebuild`, `embed`, `settings` or `engine`, which the window runs.
        files_requested: show the table of `failed` or `skipped` files.
        left: the user pressed Escape; move the focus to the search box.
    """

    open_requested = Signal(str, object)
    action_requested = Signal(str)
    files_requested = Signal(str)
    left = Signal()

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self.body = self
        self.answer: Answer | None = None
        """The query in the box with its answer; None without a query."""
        self.page: PageName = "overview"
        """The name of the shown page."""
        self.chips: dict[PageName, Chip] = {}
        self._jobs = jobs
        self._made: _Pages | None = None
        self._status: MemoryProviderStatus | None = None
        self._group = QButtonGroup(self)
        self._bar = QWidget()
        self._row = QHBoxLayout(self._bar)
        self._row.setContentsMargins(_GUTTER, 10, _GUTTER, 0)
        self._row.setSpacing(8)
        self._add_chip("overview", tr("Overview"))
        self._add_chip("map", tr("Map"))
        self._add_chip("duplicates", tr("Duplicates"))
        self._add_chip("health", tr("Health"))
        self._row.addStretch(1)
        self._stack = QStackedWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._bar)
        column.addWidget(self._stack, 1)
        self._message_page = MessagePage()
        column.addWidget(self._message_page, 1)
        self._manager: MemorySearchManager | None = None
        self.setAccessibleName(tr("Index"))
        for command in (TURN_CHART, COPY_TABLE):  # of pages that don't exist yet, for the list of keys
            keymap().declare(command)
        self.show_page("overview")
        self.show_unsupported({})

    def _add_chip(self, name: PageName, title: str) -> None:
        chip = self.chips[name] = Chip(title)
        chip.clicked.connect(lambda _=False: self.show_page(name))
        self._group.addButton(chip)
        self._row.addWidget(chip)

    @property
    def _pages(self) -> _Pages:
        """The pages, which are made when first needed."""
        return self._made or self._make_pages()

    def _make_pages(self) -> _Pages:
        from gui.index.duplicates.page import DuplicatesPage
        from gui.index.health_page import HealthPage
        from gui.index.map.panel import MapPanel
        from gui.index.overview import OverviewPage

        jobs = self._jobs
        pages = _Pages(OverviewPage(jobs), MapPanel(jobs, whole=True), DuplicatesPage(jobs), HealthPage(jobs))
        self._made = pages  # before any of their signals asks for them
        for part in pages[:3]:
            part.action_requested.connect(self._act)
        for name, page in pages._asdict().items():
            page.open_requested.connect(self.open_requested)
            page.left.connect(self.left)
            page.attention_changed.connect(partial(pages.overview.show_attention, name))
            self._stack.addWidget(page)
            page.set_manager(self._manager)
            page.show_answer(self.answer)
        insert_after(self.chips["health"], [stop for page in pages for stop in stops(page)])
        pages.overview.show_status(self._status)
        pages.health.show_status(self._status)
        self._stack.setCurrentWidget(pages.named(self.page))
        return pages

    @property
    def overview(self) -> "OverviewPage":
        return self._pages.overview

    @property
    def map(self) -> "MapPanel":
        return self._pages.map

    @property
    def duplicates(self) -> "DuplicatesPage":
        return self._pages.duplicates

    @property
    def busy(self) -> bool:
        """Whether the shown page is still reading."""
        return self._made is not None and self._made.named(self.page).busy

    @Slot(str)
    def show_page(self, name: PageName) -> None:
        """Bring a page to the front."""
        self.page = name
        self.chips[name].setChecked(True)
        if self._made is not None:
            self._stack.setCurrentWidget(self._made.named(name))
        self._show_overview(self.isVisible() and name == "overview")

    def open_page(self, name: str) -> None:
        self.show_page(cast("PageName", "overview" if name == "index" else name))

    def _show_overview(self, shown: bool) -> None:
        """Notify the pages whether the overview is visible."""
        if self._made is not None:
            self._made.duplicates.show_overview(shown)
            self._made.health.show_overview(shown)

    @Slot(str)
    def _act(self, action: str) -> None:
        """Run the action of an attention item: show a page or a table, or emit a request to the window."""
        page = next((name for name in self.chips if name == action), None)
        if page is not None:
            self.show_page(page)
        elif action in ("failed", "skipped"):
            self.files_requested.emit(action)
        else:
            self.action_requested.emit(action)

    @Slot(object)
    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Update the index view from a new status record."""
        self._status = status
        if self._made is not None:
            self._made.overview.show_status(status)
            self._made.health.show_status(status)

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Set the memory whose index is shown; None for none."""
        self._manager = manager
        for page in self._made or ():
            page.set_manager(manager)

    def show_unsupported(self, unsupported: MissingFeatures) -> None:
        """Update whether the index can be inspected; some backends don't support it."""
        reason, title = unsupported.get("insight", ""), TITLES["insight"]
        self._message_page.show_message(
            tr(title), tr(reason), Action(tr("Choose another engine…"), self._choose_engine)
        )
        self._message_page.setVisible(bool(reason))
        for part in (self._bar, self._stack):
            part.setVisible(not reason)
        self.set_manager(self._manager)
        self._show_pages()

    def _show_pages(self) -> None:
        """Make the pages if they are visible."""
        if self._stack.isVisible():
            if self._made is None:
                self._make_pages()
            self._show_overview(self.page == "overview")

    @Slot()
    def _choose_engine(self) -> None:
        self.action_requested.emit("engine")

    @Slot()
    def refresh(self) -> None:
        """Read the shown page again after a change of the index, others when they are shown."""
        for page in self._made or ():
            page.refresh()

    @Slot(object)
    def show_answer(self, answer: Answer | None) -> None:
        """Show the answer of the current query, None without a query."""
        self.answer = answer
        for page in self._made or ():
            page.show_answer(answer)

    def focus_list(self) -> None:
        """Give the keyboard focus to the shown page."""
        if self._stack.isHidden():
            self._message_page.take_focus()
            return
        self._pages.named(self.page).take_focus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_pages()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._show_overview(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
