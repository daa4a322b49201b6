"""What the window has for notes of sessions, and how it hears of the rest of the window."""

from PySide6.QtWidgets import QWidget

from gui.controllers.open_result import ResultOpener
from gui.core.jobs import Jobs
from gui.core.notices import Notices
from gui.core.status_events import StatusEvents
from gui.core.workspace import Workspace
from gui.remember.controller import RememberController
from gui.remember.new_note_notice import NewNoteNotice
from gui.remember.trash import Trash
from gui.shell.views import Views


class RememberFeatures:
    """Connects them by their signals: a session that is to be remembered, a note that is to be read, a new index."""

    def __init__(
        self,
        workspace: Workspace,
        views: Views,
        ways: ResultOpener,
        banner: Notices,
        news: StatusEvents,
        jobs: Jobs,
        window: QWidget,
    ) -> None:
        trash = Trash(workspace, banner, jobs)
        self.way = RememberController(workspace, banner, jobs, trash, window)
        self.unseen = NewNoteNotice(workspace, banner, jobs, trash, window)
        views.sessions.remember_wanted.connect(self.way.remember)
        views.conversation.remember_wanted.connect(self.way.remember)
        news.changed.connect(self.unseen.look)
        self.way.open_wanted.connect(ways.read_place)
        self.unseen.open_wanted.connect(ways.read_place)
