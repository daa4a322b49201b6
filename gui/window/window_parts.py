"""Declares the parts of the main window, for its menu and its keyboard, which the window itself imports."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMainWindow

from gui.controllers.about import AboutWay
from gui.controllers.folders import FolderWay
from gui.controllers.guide import GuideWay
from gui.controllers.navigation import Navigation
from gui.controllers.panel_actions import Errands
from gui.controllers.search import SearchWay
from gui.controllers.settings import SettingsWay
from gui.controllers.sharing import Sharing
from gui.controllers.workspaces import SpacesWay
from gui.core.notices import Notices
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.search.panel import SearchPanel
from gui.shell.dock import Dock
from gui.shell.frame import Frame
from gui.shell.views import Views
from gui.sources.first_run_panel import FirstRunPanel
from gui.widgets.sync_bar import SyncBar


class WindowParts(QMainWindow):
    """A main window with these parts, all of which its constructor makes."""

    closing = Signal()
    quit_wanted = Signal()
    """Quit the program, not only close the window."""
    quick_wanted = Signal()
    """Open the quick search."""
    palette_wanted = Signal()
    """Open the command palette."""
    part_wanted = Signal(int)
    """Move the focus to the next (1) or the previous (-1) part of the window."""

    workspace: Workspace
    state: WindowState
    frame: Frame
    views: Views
    dock: Dock
    search: SearchPanel
    first_run: FirstRunPanel
    banner: Notices
    sync_bar: SyncBar
    about: AboutWay
    errands: Errands
    folders: FolderWay
    guide: GuideWay
    navigation: Navigation
    search_way: SearchWay
    settings: SettingsWay
    sharing: Sharing
    spaces: SpacesWay

    def quit(self) -> None:
        """Close for good, also where a closed window keeps running in the tray."""
        self.quit_wanted.emit()
        self.close()
