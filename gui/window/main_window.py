"""The main window: creates the panels and controllers and connects them."""

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog

import engine
from engine import CancelToken, MemoryProviderStatus, Settings, tr
from gui.controllers.folders import FolderController
from gui.controllers.help import AboutController, GuideController
from gui.controllers.navigation import Navigation, ResultOpener
from gui.controllers.panel_requests import PanelActions, RememberFeatures, SearchSettingsController
from gui.controllers.settings import AppearanceController, BrokenSettings, SettingsController
from gui.controllers.sharing import SharingFeatures
from gui.controllers.workspaces import WorkspaceController, WorkspacesController
from gui.core.capabilities import capabilities
from gui.core.jobs import Jobs
from gui.core.status_feed import StatusEvents, SyncAnnouncer
from gui.core.window_banner import WindowBanner
from gui.core.window_context import AppPaths, WindowContext
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.shell.dock import Dock
from gui.shell.frame import Frame
from gui.shell.views import Views
from gui.sources.first_run_panel import FirstRunPanel
from gui.sources.folder_rows import dropped_file, dropped_folder
from gui.style.appearance import Appearance
from gui.style.typography import LeastSize
from gui.text.status_texts import is_untouched
from gui.viewer.external_programs import editor_template
from gui.window.drafts import Drafts
from gui.window.keyboard import Keyboard
from gui.window.session_restore import SessionRestore
from gui.window.window_base import MainWindowBase
from gui.window.window_menu import WindowMenu


class EditorChoice(QObject):
    """Asks the user to choose an editor when a file could not be opened in one.

    Saves the chosen program as the setting `window.editor`, and opens the file again.
    """

    def __init__(
        self,
        context: WindowContext,
        views: Views,
    ) -> None:
        super().__init__(context.window)
        opener = views.viewer.external
        self._external = opener
        self._workspace = context.workspace
        self._banner = context.banner
        self._jobs = context.jobs
        self._config = context.paths.config
        self._window = context.window
        self._remembers = context.remembers
        opener.editor_failed.connect(self._offer_editor_choice)
        views.switched.connect(lambda _: self._banner.clear("editor"))  # the user does something else

    @Slot(str, str, int)
    def _offer_editor_choice(self, problem: str, name: str, line: int) -> None:
        choose = (tr("Choose an editor…"), partial(self._choose, name, line))
        self._banner.show_message(problem, "degraded", choose, key="editor")

    def _choose(self, name: str, line: int) -> None:
        program, _ = QFileDialog.getOpenFileName(self._window, tr("Choose an editor"), _programs())
        if not program:
            return
        command = self._external.editor_command = editor_template(Path(program))
        self._external.edit(name, line)
        if self._remembers:
            self._save(command)

    def _save(self, command: str) -> None:
        opened = self._workspace.current
        folder = None if opened is None else opened.folder

        def save(_: CancelToken) -> Settings:
            engine.save_setting("window.editor", command, config=self._config)
            return engine.load_settings(folder, config=self._config)

        def apply(settings: Settings) -> None:
            if folder is not None:
                self._workspace.apply_settings(settings, folder)

        self._jobs.save(save, apply, self._banner.show_error)


def _programs() -> str:
    """Return the folder in which this platform installs programs."""
    if sys.platform == "win32":
        return os.environ.get("PROGRAMFILES", "")
    return "/Applications" if sys.platform == "darwin" else "/usr/bin"


_STEP_MS = 700


class PanelPreloader(QObject):
    """Makes the panels of other views while nothing happens, so that the first visit of a view is as short as others.

    One at a time, the most visited first, once the index is up to date, no search runs and the user has stopped typing.
    """

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window
        views, dock = window.views, window.dock
        panels = [partial(window.frame.make_view, name) for name in views.specs]
        self._steps: list[Callable[[], object]] = [lambda: views.conversation, *panels, lambda: dock.diagnostics]
        self._timer = QTimer(self, interval=_STEP_MS)
        self._timer.timeout.connect(self._make_next)
        for begin in (window.workspace.opened, window.shown):  # a window in the tray has no panels until it is shown
            begin.connect(self._timer.start)
        window.search.box.text_changed.connect(self._wait)

    @Slot()
    def _wait(self) -> None:
        """Wait for a pause of typing: making a panel would delay the next character."""
        if self._timer.isActive():
            self._timer.start()

    @Slot()
    def _make_next(self) -> None:
        status = self._window.workspace.status
        if not self._steps or not self._window.isVisible():
            self._timer.stop()
        elif status is not None and status.syncing is None and not self._window.search.busy:
            self._steps.pop(0)()


class MainWindow(MainWindowBase):
    """The main window, which shows one workspace at a time."""

    def __init__(
        self,
        workspace: Workspace,
        jobs: Jobs,
        appearance: Appearance,
        state: WindowState,
        *,
        paths: AppPaths,
        remembers: bool = True,
    ) -> None:
        """`remembers`: whether settings and window state are saved; then the next start opens the last folder."""
        super().__init__()
        self.workspace = workspace
        self.state = state
        self._jobs = jobs
        self._status_events = StatusEvents(self)
        self._sync_announcer = SyncAnnouncer(self)
        self.setWindowTitle("Mnemoscope")
        self.setAcceptDrops(True)

        self.views = Views(jobs, self)
        self.search, self.viewer = self.views.search, self.views.viewer
        self.first_run = FirstRunPanel(jobs, paths.config, store_path=workspace.store_path)
        self.banner = WindowBanner(workspace)
        self.dock = Dock(jobs, paths.config)
        self.frame = Frame(self.views, self.dock, self.first_run, self.banner)
        self.panes, self.pages, self.message = self.frame.panes, self.frame.pages, self.frame.message
        self.sync_bar = self.frame.sync_bar
        self.context = context = WindowContext(self, workspace, jobs, self.banner, paths, state, remembers)
        self.folders = FolderController(context, self.first_run, self.frame)
        aside = BrokenSettings(context)
        self.settings = SettingsController(context, aside)
        self.appearance_controller = AppearanceController(context, appearance)
        self.about = AboutController(context)
        self.guide = GuideController(jobs, self.settings, self)
        self.search_settings = SearchSettingsController(context, self.search)
        self.panel_actions = PanelActions(context, self.views, self.dock, self.first_run, self.folders, self.settings)
        self.workspace_controller = WorkspaceController(context, self.frame, self.folders, aside)
        self.spaces = WorkspacesController(context, self.views, self.folders)
        self.navigation = Navigation(workspace, self.views, self)
        opener = ResultOpener(workspace, self.frame, self)
        EditorChoice(context, self.views)
        self.remember = RememberFeatures(context, self.views, opener, self._status_events)
        self.sharing = SharingFeatures(context, self.views, self.folders, opener)
        self.links = self.sharing.links
        self.setCentralWidget(self.frame)
        self.commands = WindowMenu(self, appearance)
        self.keyboard = Keyboard(self, self.commands.searches, jobs, paths.config)
        self.frame.header.menu_button.setMenu(self.commands.menu)
        LeastSize(self)  # after the actions, since each action sends events to the window
        self._connect()
        self._restore()
        if remembers:
            drafts = Drafts(context, self.views, self.remember.controller)
            self.closing.connect(drafts.write_now)
        self.session_restore = SessionRestore(context, self.views, self.frame)

    def _connect(self) -> None:
        self.workspace_controller.another_folder_requested.connect(self.first_run.choose)
        self.workspace.feed.status_changed.connect(capabilities().update_status)
        self.workspace.feed.status_changed.connect(self._show_status)
        self.sync_bar.pause.connect(self.workspace.pause)
        self.sync_bar.resume.connect(self.workspace.resume)
        self.sync_bar.cancel.connect(self.workspace.cancel)
        self.sync_bar.sync_now.connect(self.workspace.sync)
        self.sync_bar.failed_requested.connect(partial(self.panel_actions.show_files, "failed"))
        self._status_events.changed.connect(self.views.refresh)
        self._status_events.problem.connect(self.banner.show_index_problem)
        self._status_events.user_data.connect(self.banner.show_user_data)
        self.banner.left.connect(self.views.focus_box)
        self._status_events.awaiting.connect(self.banner.confirm_embedding)
        self._status_events.provider_problem.connect(self.banner.show_provider_problem)
        self._status_events.engine_replaced.connect(self.banner.show_engine_replaced)
        self._status_events.synced.connect(self.banner.remove_failed_sync)
        self.banner.settings_requested.connect(self.settings.show_provider)
        self.banner.engine_requested.connect(partial(self.settings.show_page, "engine"))

    def _restore(self) -> None:
        self.resize(1280, 800)
        if self.state.geometry:
            self.restoreGeometry(self.state.geometry_bytes())
        self.frame.restore(self.state)
        self.viewer.wrap_action.setChecked(self.state.wrap)
        self.viewer.choose_rendered(self.state.rendered)
        self.viewer.chunks_action.setChecked(self.state.chunk_borders)
        self.frame.show_page(self.panes)

    # --- the index --------------------------------------------------------------------------------------------------

    @Slot(object)
    def _show_status(self, status: MemoryProviderStatus | None) -> None:
        if not (self.workspace.is_updating and status is not None and is_untouched(status)):
            self.sync_bar.show_status(status)  # else it shows "Opening…" until the update reports
        self.views.show_status(status)
        if status is not None or not self.workspace.reopening:
            self.dock.show_status(status)
        self.commands.show_status(status)
        self._status_events.update_status(status)
        self._sync_announcer.update_status(status)

    def shut_down(self, timeout_ms: int) -> bool:
        """Stop all work and close the memory, after the window was closed; False if something did not stop in time."""
        self.workspace.feed.set_manager(None)
        self.workspace_controller.show_closed()
        ended = self._jobs.shutdown(timeout_ms, last=self.workspace.close_all_now)
        self.sharing.close()
        return ended

    # --- Qt ---------------------------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        data = event.mimeData()
        if event.source() is not None:  # a result of this program, which it already knows
            return
        if dropped_folder(data) or (self.workspace.current and dropped_file(data)):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        folder, file = dropped_folder(event.mimeData()), dropped_file(event.mimeData())
        if folder is not None:
            event.acceptProposedAction()
            self.folders.offer(folder)
        elif file is not None:
            event.acceptProposedAction()
            self.panel_actions.explain_file(str(file))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()
        window = self.windowHandle()
        if window is not None:
            self.navigation.watch(window)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.session_restore.write_now()
        self.appearance_controller.save()
        self.closing.emit()
        super().closeEvent(event)
