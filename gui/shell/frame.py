"""What the window shows, from top to bottom: header, banner, one of three pages, the sync bar."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gui.core.notices import Notices
from gui.core.window_state import WindowState
from gui.shell.dock import Dock
from gui.shell.header import HeaderBar
from gui.shell.panes import Panes
from gui.shell.views import ViewName, Views
from gui.sources.first_run_panel import FirstRunPanel
from gui.widgets.labels import line
from gui.widgets.message import MessagePage
from gui.widgets.sync_bar import SyncBar


class Frame(QWidget):
    """Puts the parts in their places. The views, their boxes and the dock belong to the panes alone."""

    def __init__(self, views: Views, dock: Dock, first_run: FirstRunPanel, banner: Notices) -> None:
        super().__init__()
        self.header = HeaderBar(
            {
                "search": views.search.header,
                "sessions": views.sessions.header,
                "index": views.search.header,
                "facts": views.facts.header,
            }
        )
        self.panes = Panes(views.lists, views.readers, views.wholes, dock)
        self.message = MessagePage()
        self.sync_bar = SyncBar()
        self._views = views
        self._first_run = first_run
        self._dock = dock
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
        dock.wanted.connect(self.panes.show_dock)
        dock.left.connect(views.focus_list)
        self.header.view_wanted.connect(views.switch)
        views.switched.connect(self._show_view)

    @Slot(str)
    def _show_view(self, view: ViewName) -> None:
        self.header.show_view(view)
        self.panes.show_whole(view in ("index", "facts"))

    def show_page(self, page: QWidget) -> None:
        """One of the three."""
        self.header.show_working(page is self.panes)
        self.pages.setCurrentWidget(page)
        for part in (self._footer, self.sync_bar):
            part.setVisible(page is not self._first_run)
        if page is self.message:
            self.message.take_focus()

    def restore(self, state: WindowState) -> None:
        """Take up the widths of an earlier run."""
        self.panes.restore(state.list_width, state.dock_width, dock_wanted=state.dock_shown)
        self.header.dock_button.setChecked(not self._dock.isHidden())

    def keep(self, state: WindowState) -> None:
        """Write them down for the next one."""
        state.list_width, state.dock_width = self.panes.widths
        state.dock_shown = self.panes.dock_wanted

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.pages.currentWidget() is self.panes:
            self._views.focus_box()  # from a filter, a message, the bar below: widgets without their own way back
        else:
            super().keyPressEvent(event)
