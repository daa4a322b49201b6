"""The frame of the window, from top to bottom: header, banner, one of three pages, sync bar; next to them, the dock."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QPushButton, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from gui.core.window_banner import WindowBanner
from gui.core.window_state import WindowState
from gui.shell.dock import Dock
from gui.shell.header_bar import HeaderBar
from gui.shell.views import Views
from gui.sources.first_run_panel import FirstRunPanel
from gui.style.stylesheet import character_width
from gui.widgets.labels import line
from gui.widgets.message_banner import MessagePage
from gui.widgets.right_to_left import correct_margins
from gui.widgets.sync_bar import SyncBar

_VIEWER_CHARACTERS = 62
_LIST_CHARACTERS = 36
_DOCK_CHARACTERS = 36
_FEWEST_CHARACTERS = 102
"""Minimum width of results, viewer and dock side by side, in characters."""
_WIDE_CHARACTERS = 200
"""A wider window gives a quarter of its further width to the results: the text would not use it."""
_MOST_RESULTS = 0.45
"""Most of the width that the results may take if the window is too narrow for their chosen width."""


class Panes(QSplitter):
    """The panes of the window side by side: results, viewer, dock; or a page that replaces results and viewer.

    Widths are in logical pixels; the viewer takes the rest.

    Signals: dock_shown: whether the dock is visible now.
    """

    dock_shown = Signal(bool)

    def __init__(self, results: QWidget, viewer: QWidget, whole: QWidget, dock: QWidget) -> None:
        """`whole`: the widget that replaces results and viewer after `show_whole(True)`."""
        super().__init__(Qt.Orientation.Horizontal)
        self._results, self._viewer, self._whole, self._dock = results, viewer, whole, dock
        self._requested = False
        self._forced = self._covered = self._whole_requested = False
        self._widths = (400, 330)
        for pane in (results, viewer, whole, dock):
            self.addWidget(pane)
        whole.hide()
        self.setHandleWidth(1)
        correct_margins(self)
        self.setChildrenCollapsible(False)
        self.setStretchFactor(0, 0)
        self.setStretchFactor(1, 1)
        self.setStretchFactor(2, 1)
        self.setStretchFactor(3, 0)
        self.splitterMoved.connect(self._remember)

    def restore(self, results_width: int, dock_width: int, *, dock_requested: bool) -> None:
        """Restore the pane widths of an earlier run."""
        self._widths = (max(results_width, 120), max(dock_width, 120))
        self._requested = dock_requested
        self._fold()
        self._spread()

    @property
    def dock_requested(self) -> bool:
        """Whether the user opened the dock, even if there is no room for it now."""
        return self._requested

    @property
    def widths(self) -> tuple[int, int]:
        """The widths of results and dock that the user chose."""
        return self._widths

    @Slot()
    def toggle_dock(self) -> None:
        self.show_dock(self._dock.isHidden())

    def show_dock(self, on: bool) -> None:
        """Show or hide the dock at the user's request; it then stays even in a narrow window."""
        self._requested = self._forced = on
        self._fold()

    def show_whole(self, on: bool) -> None:
        """Show the widget that replaces results and viewer, or these again."""
        self._whole_requested = on
        self._fold()

    def _fold(self) -> None:
        letter = character_width()
        fits_dock = self.width() >= letter * (_LIST_CHARACTERS + _VIEWER_CHARACTERS + _DOCK_CHARACTERS)
        shown = self._requested and (fits_dock or self._forced)
        self._covered = shown and self.width() < letter * _FEWEST_CHARACTERS
        moved = shown == self._dock.isHidden()
        parts = {
            self._results: not self._whole_requested,
            self._viewer: not (self._whole_requested or self._covered),
            self._whole: self._whole_requested,
            self._dock: shown,
        }
        if any(part.isHidden() == visible for part, visible in parts.items()):
            for part, visible in parts.items():
                part.setVisible(visible)
            self._spread()
        if moved:
            self.dock_shown.emit(shown)

    def show_viewer(self) -> None:
        """Close the dock if it covers the viewer, in a narrow window."""
        if self._covered:
            self.show_dock(False)

    def _spread(self) -> None:
        results, dock = self._widths[0] + self._growth, self._widths[1]
        if self._dock.isHidden():
            dock = 0
        elif self._covered:
            dock = self.width() // 2
            results = self.width() - dock
        results = min(results, int((self.width() - dock) * (1 if self._covered else _MOST_RESULTS)))
        rest = max(1, self.width() - results - dock)
        self.setSizes([0, 0, results + rest, dock] if self._whole_requested else [results, rest, 0, dock])

    @property
    def _growth(self) -> int:
        """Pixels added to the width of the results that the user chose, in a wide window."""
        return max(0, self.width() - character_width() * _WIDE_CHARACTERS) // 4

    @Slot()
    def _remember(self) -> None:
        if self._covered:
            return  # while a page covers the panes, their widths are not the user's
        results, _, _, dock = self.sizes()
        self._widths = (
            self._widths[0] if self._whole_requested else max(120, results - self._growth),
            self._widths[1] if self._dock.isHidden() else dock,
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()
        self._spread()


def _is_enter(event: QKeyEvent) -> bool:
    """Whether Enter was pressed alone, and not only held."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat() and not modifiers


class Frame(QWidget):
    """The window's content: creates header, panes, message page and sync bar, and lays them out."""

    def __init__(self, views: Views, dock: Dock, first_run: FirstRunPanel, banner: WindowBanner) -> None:
        super().__init__()
        self.header = HeaderBar({name: views.with_box(name).header for name in views.specs})
        self.panes = Panes(views.lists, views.readers, views.wholes, dock)
        self.message = MessagePage()
        self.sync_bar = SyncBar()
        self.views, self.dock = views, dock
        self._first_run = first_run
        self.pages = QStackedWidget()
        for page in (self.panes, first_run, self.message):
            self.pages.addWidget(page)
        self.pages.setMinimumHeight(1)  # in a low window a long message in the banner has priority over them
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(line())
        column.addWidget(banner)
        column.addWidget(self.pages, 1)
        self._footer = line()
        column.addWidget(self._footer)
        column.addWidget(self.sync_bar)
        self.header.dock_button.clicked.connect(self.panes.toggle_dock)
        self.panes.dock_shown.connect(self.header.dock_button.setChecked)
        self.panes.dock_shown.connect(dock.note_shown)
        dock.requested.connect(self.panes.show_dock)
        dock.left.connect(views.focus_list)
        self.sync_bar.diagnostics_requested.connect(dock.toggle_diagnostics)
        self.header.view_requested.connect(views.switch)
        views.switched.connect(self._show_view)
        views.content_known.connect(self.header.offer)

    @Slot(str)
    def _show_view(self, view: str) -> None:
        self.header.show_view(view)
        if self.dock.explains and view != "search":
            self.panes.show_dock(False)
        self.panes.show_whole(self.views.specs[view].whole)

    def show_page(self, page: QWidget) -> None:
        """Show the panes, the message page or the first start."""
        self.header.show_working(page is self.panes)
        self.pages.setCurrentWidget(page)
        for part in (self._footer, self.sync_bar):
            part.setVisible(page is not self._first_run)
        if page is self.message:
            self.message.take_focus()

    def restore(self, state: WindowState) -> None:
        """Restore the widths and buttons of an earlier run."""
        self.panes.restore(state.list_width, state.dock_width, dock_requested=state.dock_shown)
        self.header.dock_button.setChecked(not self.dock.isHidden())
        for view in state.offered_views:
            self.header.offer(view, True)

    def update_state(self, state: WindowState) -> None:
        """Put the widths of list and dock, whether the dock is shown, and the views with a button into the state."""
        state.offered_views = self.header.offered
        state.list_width, state.dock_width = self.panes.widths
        state.dock_shown = self.panes.dock_requested and not self.dock.explains

    def keyPressEvent(self, event: QKeyEvent) -> None:
        focused = QApplication.focusWidget()
        if event.key() == Qt.Key.Key_Escape and self.pages.currentWidget() is self.panes:
            self.views.focus_box()  # from a filter, a message, the bar below: widgets without their own way back
        elif _is_enter(event) and isinstance(focused, QPushButton):
            focused.click()  # outside of dialogs, Qt lets only Space press buttons
        else:
            super().keyPressEvent(event)
