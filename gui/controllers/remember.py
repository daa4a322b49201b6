"""Creates and connects the controls for session notes."""

from gui.controllers.open_result import ResultOpener
from gui.core.status_events import StatusEvents
from gui.core.window_context import WindowContext
from gui.remember.controller import NewNoteNotice, RememberController, Trash
from gui.shell.views import Views


class RememberFeatures:
    """Connects the controls by signals: a session to save as a note, a note to open, a changed index."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        opener: ResultOpener,
        news: StatusEvents,
    ) -> None:
        workspace, banner, jobs = context.workspace, context.notices, context.jobs
        trash = Trash(workspace, banner, jobs)
        self.controller = RememberController(workspace, banner, jobs, trash, context.window)
        self.unseen = NewNoteNotice(workspace, banner, jobs, trash, context.window)
        views.sessions.remember_requested.connect(self.controller.remember)
        views.conversation.remember_requested.connect(self.controller.remember)
        news.changed.connect(self.unseen.look)
        self.controller.open_requested.connect(opener.open_path)
        self.unseen.open_requested.connect(opener.open_path)
