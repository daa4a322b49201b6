"""Shows the states of opening a workspace: progress, success, failure."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from engine import tr
from gui.controllers.folders import FolderController
from gui.core.capabilities import Capabilities
from gui.core.window_context import WindowContext
from gui.core.workspace import Opened, OpenFailure
from gui.diagnostics.panel import DiagnosticsPanel
from gui.settings.broken_settings import BrokenSettings
from gui.shell.frame import Frame
from gui.shell.views import Views
from gui.widgets.message import Action


class WorkspaceController(QObject):
    """Hands the memory to the parts that read from it, and takes it from them before it is closed."""

    another_folder_wanted = Signal()

    def __init__(
        self,
        context: WindowContext,
        frame: Frame,
        views: Views,
        diagnostics: DiagnosticsPanel,
        folders: FolderController,
        capabilities: Capabilities,
        aside: BrokenSettings,
    ) -> None:
        super().__init__(context.window)
        workspace = self._workspace = context.workspace
        self._frame = frame
        self._banner = context.notices
        self._views = views
        self._diagnostics = diagnostics
        self._folders = folders
        self._capabilities = capabilities
        self._state = context.state
        self._places = context.paths
        self._aside = aside
        self._window = context.window
        self._before: Path | None = None
        """The folder that was open last."""
        workspace.opening.connect(self._show_opening)
        workspace.opened.connect(self._show_opened)
        workspace.settings_changed.connect(self._take_settings)
        workspace.failed.connect(self._show_failure)
        workspace.closed.connect(self.show_closed)

    @Slot(object)
    def _show_opening(self, folder: Path) -> None:
        self._banner.clear()
        self._frame.show_page(self._frame.panes)
        self._frame.sync_bar.show_nothing(tr("Opening {folder}…", folder=folder.name or folder))
        self._window.setWindowTitle(tr("{folder} – Mnemoscope", folder=folder.name or folder))

    @Slot(object)
    def _show_opened(self, opened: Opened) -> None:
        self._before = opened.folder
        self._state.remember(opened.folder)
        self._capabilities.begin(opened.lacks)
        self._views.set_manager(opened.everywhere)
        self._take_settings(opened)
        self._diagnostics.set_manager(opened.manager)
        if self._frame.pages.currentWidget() is self._frame.panes:
            self._views.focus_box()
        reason = self._folders.take_first_sync()
        if reason is not None and (reason != "session-start" or opened.settings.sync.on_session_start):
            self._workspace.sync(reason)

    @Slot(object)
    def _take_settings(self, opened: Opened) -> None:
        self._views.viewer.external.editor_command = opened.settings.window.editor

    @Slot()
    def show_closed(self) -> None:
        """Nothing reads from the memory any more."""
        self._views.set_manager(None)
        self._diagnostics.set_manager(None)

    @Slot(object)
    def _show_failure(self, failure: OpenFailure) -> None:
        self._frame.sync_bar.show_status(None)
        again = Action(tr("Try again"), partial(self._folders.open, failure.folder))
        if failure.in_settings:
            self.show_settings_problem(failure.sentence, again)
            return
        actions = [again, Action(tr("Choose another folder…"), self.another_folder_wanted.emit)]
        before = self._before
        if before is not None and before != failure.folder:
            name = before.name or str(before)
            actions.append(Action(tr("Back to {folder}", folder=name), partial(self._folders.open, before)))
        self._frame.message.say(tr("{folder} cannot be opened", folder=failure.folder.name), failure.sentence, *actions)
        self._frame.show_page(self._frame.message)

    def show_settings_problem(self, sentence: str, again: Action) -> None:
        """Instead of everything else: nothing can be opened before the settings file is right again, or set aside."""
        edit = Action(tr("Open the settings file"), self._places.open_settings)
        aside = self._aside.action(again.run)
        self._frame.message.say(tr("The settings cannot be used"), sentence, again, edit, aside)
        self._frame.show_page(self._frame.message)
