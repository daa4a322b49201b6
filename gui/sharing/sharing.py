"""All ways by which what is found here goes elsewhere: links, drags, exports."""

from PySide6.QtWidgets import QWidget

from gui.folder_way import FolderWay
from gui.jobs import Jobs
from gui.notices import Notices
from gui.sharing.dragging import Dragging
from gui.sharing.exporting import Exports
from gui.sharing.links import Links
from gui.views import Views
from gui.ways import Ways
from gui.window_state import WindowState
from gui.workspace import Workspace


class Sharing:
    """What the window makes by one line."""

    def __init__(
        self,
        workspace: Workspace,
        views: Views,
        folders: FolderWay,
        ways: Ways,
        banner: Notices,
        jobs: Jobs,
        state: WindowState,
        window: QWidget,
    ) -> None:
        self.links = Links(workspace, views, folders, ways, banner, jobs, state, window)
        self.exports = Exports(workspace, views.search, views.viewer.elsewhere, banner, jobs, window)
        self.dragging = Dragging(workspace, views, banner, jobs, window)

    def close(self) -> None:
        """The program ends: nothing that was made for others stays."""
        self.dragging.close()
