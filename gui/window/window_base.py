"""Declares the parts of the main window for modules that the window imports, such as its menu and keyboard."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMainWindow

from gui.controllers.folders import FolderController
from gui.controllers.help import AboutController, GuideController
from gui.controllers.navigation import Navigation
from gui.controllers.panel_requests import PanelActions, SearchSettingsController
from gui.controllers.settings import SettingsController
from gui.controllers.sharing import SharingFeatures
from gui.controllers.workspaces import WorkspacesController
from gui.core.window_banner import WindowBanner
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.search.panel import SearchPanel
from gui.shell.dock import Dock
from gui.shell.frame import Frame
from gui.shell.views import Views
from gui.sources.first_run_panel import FirstRunPanel
from gui.widgets.sync_bar import SyncBar


class MainWindowBase(QMainWindow):
    """Base class of the main window, with the attributes that its constructor sets."""

    shown = Signal()
    closing = Signal()
    quit_requested = Signal()
    """Quit the program, not only close the window."""
    quick_requested = Signal()
    """Open the quick search."""
    palette_requested = Signal()
    """Open the command palette."""
    pane_requested = Signal(int)
    """Move the focus to the next (1) or the previous (-1) part of the window."""

    workspace: Workspace
    state: WindowState
    frame: Frame
    views: Views
    dock: Dock
    search: SearchPanel
    first_run: FirstRunPanel
    banner: WindowBanner
    sync_bar: SyncBar
    about: AboutController
    panel_actions: PanelActions
    folders: FolderController
    guide: GuideController
    navigation: Navigation
    search_settings: SearchSettingsController
    settings: SettingsController
    sharing: SharingFeatures
    spaces: WorkspacesController

    def bring_to_front(self) -> None:
        """Show the window, also if it was hidden or minimized, and focus it."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def quit(self) -> None:
        """Exit the program, even if closing the window would keep it in the tray."""
        self.quit_requested.emit()
        self.close()
