"""The index view: chips at the top switch between its pages."""

import importlib
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QWidget

from engine import MemoryProviderStatus, MemorySearchManager, tr
from gui.core.capabilities import TITLES, capabilities, why_missing
from gui.core.jobs import Jobs, JobSlot
from gui.core.view_spec import ViewPanel, named_class
from gui.index.attention_items import Attention
from gui.index.base_page import IndexPage
from gui.search.query import Answer
from gui.widgets.accessibility import insert_after, stops
from gui.widgets.form_controls import Chip
from gui.widgets.layouts import PageStack, column_of, row_of
from gui.widgets.message_banner import MessagePage

if TYPE_CHECKING:
    from gui.index.duplicates.page import DuplicatesPage
    from gui.index.map.panel import MapPanel
    from gui.index.overview import OverviewPage

PageName = Literal["overview", "map", "duplicates", "health"]
_Maker = Callable[[Jobs, QWidget], IndexPage]

_GUTTER = 16
_COUNTED_BY_OVERVIEW: tuple[PageName, ...] = ("health", "duplicates")
"""Pages whose attention items the overview shows."""
_AFTER_OVERVIEW_MS = 50
"""Pause before such a page is made, so that the overview is painted first."""


_CLASSES: Mapping[PageName, str] = {
    "overview": "gui.index.overview:OverviewPage",
    "map": "gui.index.map.panel:MapPanel",
    "duplicates": "gui.index.duplicates.page:DuplicatesPage",
    "health": "gui.index.health_page:HealthPage",
}


def _delete_all(pages: dict[PageName, IndexPage]) -> None:
    for page in pages.values():
        page.deleteLater()


class IndexPanel(QWidget, ViewPanel):
    """The pages of the index view, or the reason why the index can't be inspected.

    Together, the pages have a third of the window's widgets, so each is made when it is first shown; the pages that the
    overview counts follow. The import of a page, its creation and its display are separate turns of the event loop.
    numpy, which the map needs, is imported on a pool thread.

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

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.body = self
        self.answer: Answer | None = None
        """The query in the box with its answer; None without a query."""
        self.page: PageName = "overview"
        """The name of the shown page."""
        self.chips: dict[PageName, Chip] = {}
        self._jobs = jobs
        self._pages: dict[PageName, IndexPage] = {}
        """The pages that can be shown."""
        self._created_pages: dict[PageName, IndexPage] = {}
        """A page that was made, but has no place in the window yet."""
        self.destroyed.connect(partial(_delete_all, self._created_pages))
        self._makers: dict[PageName, _Maker] = {}
        """The pages whose modules are imported."""
        self._attention: dict[PageName, tuple[Attention, ...]] = {}
        """The attention items of each page."""
        self._status: MemoryProviderStatus | None = None
        self._next_page = QTimer(self, singleShot=True)
        self._next_page.timeout.connect(self._make_next)
        self._numpy_job = JobSlot(self, jobs)
        self._group = QButtonGroup(self)
        self._bar = QWidget(self)
        self._row = row_of(spacing=8, margins=(_GUTTER, 10, _GUTTER, 0), parent=self._bar)
        self._add_chip("overview", tr("Overview"))
        self._add_chip("map", tr("Map"))
        self._add_chip("duplicates", tr("Duplicates"))
        self._add_chip("health", tr("Health"))
        self._row.addStretch(1)
        self._stack = PageStack(self)
        self._message_page = MessagePage(self)
        column_of(self._bar, (self._stack, 1), (self._message_page, 1), spacing=0, parent=self)
        self._manager: MemorySearchManager | None = None
        self.setAccessibleName(tr("Index"))
        self.show_page("overview")
        capabilities().changed.connect(self._follow_features)
        self._follow_features()

    def _add_chip(self, name: PageName, title: str) -> None:
        chip = self.chips[name] = Chip(title)
        chip.clicked.connect(lambda _=False: self.show_page(name))
        self._group.addButton(chip)
        self._row.addWidget(chip)

    def _page(self, name: PageName) -> IndexPage:
        """Return a page, which is made when first needed."""
        if name in self._pages:
            return self._pages[name]
        self._make(name)
        page = self._pages[name] = self._created_pages.pop(name)  # stored before one of its signals asks for it
        page.complete()
        page.action_requested.connect(self._act)
        page.open_requested.connect(self.open_requested)
        page.left.connect(self.left)
        page.attention_changed.connect(partial(self._show_attention, name))
        self._stack.addWidget(page)
        insert_after(self.chips["health"], stops(page))
        if name == self.page:
            self._stack.setCurrentWidget(page)
        page.set_manager(self._manager)
        page.show_answer(self.answer)
        page.show_status(self._status)
        if name == "overview":
            for other, items in self._attention.items():
                self.overview.attention.show_rows(other, items)
        return page

    def _load(self, name: PageName) -> None:
        if name not in self._makers:
            self._makers[name] = named_class(_CLASSES[name])

    def _make(self, name: PageName) -> None:
        self._load(name)
        if name not in self._created_pages:
            # Inside the window from the start: Qt applies the style sheet again to all widgets of a part that it gets.
            self._created_pages[name] = self._makers[name](self._jobs, self._stack)

    @property
    def _next_missing_page(self) -> PageName | None:
        """The page to make next while the pages are visible; None if none is needed."""
        needed = (self.page, *(_COUNTED_BY_OVERVIEW if self.page == "overview" else ()))
        return next((name for name in needed if name not in self._pages), None)

    @Slot()
    def _make_next(self) -> None:
        """Take the next step towards a page: import its module, make it, in two steps if it is large, or show it."""
        name = self._next_missing_page
        if name in self._created_pages:
            if not self._created_pages[name].complete():
                self._page(name)
        elif name in self._makers:
            self._make(name)
        elif name is not None:
            self._import("map" if name == "overview" and "map" not in self._makers else name)
        self._show_current()

    def _import(self, name: PageName) -> None:
        """Import the module of a page, or first numpy, which takes several turns."""
        if name == "map" and "numpy" not in sys.modules:
            numpy = self._jobs.read(lambda _: importlib.import_module("numpy"), self._continue)
            self._numpy_job.replace(numpy)
        else:
            self._load(name)

    @Slot(object)
    def _continue(self, _numpy: object) -> None:
        self._show_current()

    def _show_attention(self, name: PageName, items: tuple[Attention, ...]) -> None:
        self._attention[name] = items
        if "overview" in self._pages:
            self.overview.attention.show_rows(name, items)

    @property
    def overview(self) -> "OverviewPage":
        return cast("OverviewPage", self._page("overview"))

    @property
    def map(self) -> "MapPanel":
        return cast("MapPanel", self._page("map"))

    @property
    def duplicates(self) -> "DuplicatesPage":
        return cast("DuplicatesPage", self._page("duplicates"))

    @property
    def busy(self) -> bool:
        """Whether the shown page is still reading."""
        page = self._pages.get(self.page)
        return self._next_page.isActive() or self._numpy_job.busy if page is None else page.busy

    @Slot(str)
    def show_page(self, name: PageName) -> None:
        """Bring a page to the front."""
        self.page = name
        self.chips[name].setChecked(True)
        self._show_current()

    def open_page(self, name: str) -> None:
        self.show_page(cast("PageName", "overview" if name == "index" else name))

    def _show_current(self, *, hiding: bool = False) -> None:
        """Show the current page, which may have to be made, and notify all whether the overview is visible."""
        visible = self._stack.isVisible() and not hiding
        if self.page in self._pages:
            self._stack.setCurrentWidget(self._pages[self.page])
        for page in self._pages.values():
            page.show_overview(visible and self.page == "overview")
        missing = self._next_missing_page
        if visible and missing is not None and not self._numpy_job.busy:
            self._next_page.start(0 if missing == self.page else _AFTER_OVERVIEW_MS)
        else:
            self._next_page.stop()

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
        for page in self._pages.values():
            page.show_status(status)

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory whose index is shown, None for none; reopening a folder reads its index again, too."""
        self._manager = manager
        for page in self._pages.values():
            page.set_manager(manager)

    @Slot()
    def _follow_features(self) -> None:
        """Update whether the index can be inspected; some backends don't support it."""
        reason, title = why_missing("insight"), TITLES["insight"]
        self._message_page.show_message(tr(title), tr(reason), (tr("Choose another engine…"), self._choose_engine))
        self._message_page.setVisible(bool(reason))
        for part in (self._bar, self._stack):
            part.setVisible(not reason)
        self.set_manager(self._manager)
        self._show_current()

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
            self._message_page.take_focus()
            return
        self._page(self.page).take_focus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_current()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._show_current(hiding=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
