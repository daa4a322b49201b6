"""The window: puts the panels in their places and lets them hear of each other."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QMenu

from engine import MemoryProviderStatus, SearchRemedy
from gui.appearance import Appearance
from gui.diagnostics.panel import DiagnosticsPanel
from gui.dock import Dock
from gui.explanation.panel import ExplanationPanel
from gui.explanation.way import ExplanationWay
from gui.first_run.panel import FirstRunPanel
from gui.folder_way import FolderWay
from gui.frame import Frame
from gui.index.panel import PageName
from gui.index_news import IndexNews
from gui.jobs import Jobs
from gui.lacking import Lacking
from gui.navigation import Navigation
from gui.notices import Notices
from gui.options import View
from gui.places import Places
from gui.remember.remembering import Remembering
from gui.search.panel import SearchPanel
from gui.search_way import SearchWay
from gui.settings.way import SettingsWay
from gui.sheets import show_about
from gui.views import ViewName, Views
from gui.ways import Ways
from gui.widgets.drop import dropped_folder
from gui.widgets.message import Action
from gui.window_menu import WindowMenu
from gui.window_state import WindowState
from gui.workspace import Opened, OpenFailure, Workspace

_PAGES: dict[View, PageName] = {"index": "overview", "map": "map", "duplicates": "duplicates", "health": "health"}
"""Views that are a page of the view into the index."""
_OTHER_VIEWS: dict[View, ViewName] = {"sessions": "sessions", "remember": "sessions", "facts": "facts"}
"""Views that are part of neither the index nor the search."""


class MainWindow(QMainWindow):
    """One window for one workspace at a time."""

    closing = Signal()

    def __init__(
        self,
        workspace: Workspace,
        jobs: Jobs,
        appearance: Appearance,
        state: WindowState,
        *,
        places: Places,
        remembers: bool = True,
    ) -> None:
        """`remembers`: whether a folder that is chosen becomes the one that the next start opens."""
        super().__init__()
        self.workspace = workspace
        self.state = state
        self._jobs = jobs
        self._appearance = appearance
        self._theme_before, self._scale_before = appearance.theme, appearance.font_scale
        self._places = places
        self._news = IndexNews(self)
        self._lacking = Lacking(self)
        self.setWindowTitle("Mnemoscope")
        self.setAcceptDrops(True)
        self.setMinimumSize(560, 360)

        self.search = SearchPanel(None, jobs, self)
        self.views = Views(jobs, self.search, self)
        self.sessions, self.viewer = self.views.sessions, self.views.viewer
        self.diagnostics = DiagnosticsPanel(None, jobs, places.config)
        self.first_run = FirstRunPanel(jobs, places.config, store_path=workspace.store_path)
        self.banner = Notices(workspace)
        self.explanation = ExplanationPanel()
        self.dock = Dock(self.diagnostics, self.explanation)
        self.frame = Frame(self.views, self.dock, self.first_run, self.banner)
        self.panes, self.pages, self.message = self.frame.panes, self.frame.pages, self.frame.message
        self.sync_bar = self.frame.sync_bar
        self.folders = FolderWay(
            workspace, self.first_run, self.frame, self.banner, jobs, places, remembers=remembers, parent=self
        )
        self.settings = SettingsWay(workspace, jobs, places.config, self)
        self.search_way = SearchWay(
            workspace, self.search, self.banner, jobs, places.config, remembers=remembers, parent=self
        )
        ExplanationWay(self.search, self.explanation, self.dock, self._remedy)
        self.navigation = Navigation(workspace, self.views, self)
        ways = Ways(workspace, self.panes, self.views, self.diagnostics, self)
        self.remembering = Remembering(workspace, self.views, ways, self.banner, self._news, jobs, self)
        self.setCentralWidget(self.frame)
        self.commands = WindowMenu(self, appearance)
        self.frame.header.menu_button.setMenu(self.commands.menu)
        self._connect()
        self._restore()

    def _connect(self) -> None:
        self.workspace.opening.connect(self._show_opening)
        self.workspace.opened.connect(self._show_opened)
        self.workspace.failed.connect(self._show_failure)
        self.workspace.closed.connect(self._show_closed)
        self.workspace.feed.status_changed.connect(self._lacking.hear)
        self.workspace.feed.status_changed.connect(self._show_status)
        for part in (self.views, self.explanation, self.diagnostics.why, self.commands, self.settings):
            self._lacking.changed.connect(part.show_lacks)
        self.search.workspace_menu_requested.connect(self._fill_workspace_menu)
        self.sessions.folder_wanted.connect(self.folders.add_sessions)
        self.sessions.engine_wanted.connect(partial(self._do, "engine"))
        self.diagnostics.action_requested.connect(self._do)
        self.views.index.action_requested.connect(self._do)
        self.views.index.files_requested.connect(self._show_files)
        self.search.body.missing_file_wanted.connect(self.ask_why)
        self.diagnostics.add_requested.connect(self.folders.add_extra_path)
        self.diagnostics.refresh_requested.connect(self.workspace.feed.refresh)
        self.sync_bar.pause.connect(self.workspace.pause)
        self.sync_bar.resume.connect(self.workspace.resume)
        self.sync_bar.cancel.connect(self.workspace.cancel)
        self.sync_bar.sync_now.connect(self.workspace.sync)
        self.sync_bar.failed_requested.connect(partial(self._show_files, "failed"))
        self._news.changed.connect(self.views.refresh)
        self._news.problem.connect(self.banner.tell_index_problem)
        self.banner.left.connect(self.views.focus_box)
        self._news.awaiting.connect(self.banner.ask_to_embed)
        self._news.provider_problem.connect(self.banner.tell_provider_problem)
        self._news.engine_replaced.connect(self.banner.tell_engine_replaced)
        self._news.synced.connect(self.banner.take_back_failed_sync)
        self.banner.settings_wanted.connect(self.settings.show)

    def _restore(self) -> None:
        self.resize(1280, 800)
        if self.state.geometry:
            self.restoreGeometry(self.state.geometry_bytes())
        self.frame.restore(self.state)
        self.viewer.wrap_action.setChecked(self.state.wrap)
        self.viewer.chunks_action.setChecked(self.state.chunk_borders)
        self.frame.show_page(self.panes)

    # --- the workspace ----------------------------------------------------------------------------------------------

    def show_view(self, view: View, query: str) -> None:
        """Arrange the panes for one of the views, and search."""
        if view == "sources":
            self.folders.choose_sessions()
            return
        if view in ("settings", "engine"):
            show = partial(self.settings.show_page, "engine") if view == "engine" else self.settings.show
            self.workspace.opened.connect(lambda _: show(), Qt.ConnectionType.SingleShotConnection)
            return
        page = _PAGES.get(view)
        self.views.switch("index" if page else _OTHER_VIEWS.get(view, "search"))
        if page is not None:
            self.views.index.show_page(page)
        if view == "explanation":
            self.dock.show_explanation()
        elif page or view in ("viewer", "chunks", "sessions", "remember", "facts", "diagnostics"):
            self.panes.show_dock(view == "diagnostics")
        if view == "remember":
            conversation = self.views.conversation
            conversation.session_shown.connect(conversation.remember, Qt.ConnectionType.SingleShotConnection)
        if view == "chunks":
            self.viewer.file_shown.connect(self.viewer.show_chunk, Qt.ConnectionType.SingleShotConnection)
        if query:
            self.views.panel.search(query)

    @Slot(object)
    def _show_opening(self, folder: Path) -> None:
        self.banner.clear()
        self.frame.show_page(self.panes)
        self.sync_bar.show_nothing(f"Opening {folder.name or folder}…")
        self.setWindowTitle(f"{folder.name or folder} – Mnemoscope")

    @Slot(object)
    def _show_opened(self, opened: Opened) -> None:
        self.state.remember(opened.folder)
        self._lacking.begin(opened.lacks)
        self.views.set_manager(opened.manager)
        self.viewer.elsewhere.editor_command = opened.settings.window.editor
        self.diagnostics.set_manager(opened.manager)
        if self.pages.currentWidget() is self.panes:
            self.views.focus_box()
        reason = self.folders.take_first_sync()
        if reason is not None and (reason != "session-start" or opened.settings.sync.on_session_start):
            self.workspace.sync(reason)

    @Slot()
    def _show_closed(self) -> None:
        self.views.set_manager(None)
        self.diagnostics.set_manager(None)

    @Slot(object)
    def _show_failure(self, failure: OpenFailure) -> None:
        self.sync_bar.show_status(None)
        again = Action("Try again", partial(self.folders.open, failure.folder))
        choose = Action("Choose another folder…", self.commands.choose.trigger)
        if failure.in_settings:
            self.show_settings_problem(failure.sentence, again)
            return
        self.message.say(f"{failure.folder.name} cannot be opened", failure.sentence, again, choose)
        self.frame.show_page(self.message)

    def show_settings_problem(self, sentence: str, *actions: Action) -> None:
        """Instead of everything else: nothing can be opened before the settings file is right again."""
        edit = Action("Open the settings file", self._places.open_settings)
        self.message.say("The settings cannot be used", sentence, *actions, edit)
        self.frame.show_page(self.message)

    # --- the index --------------------------------------------------------------------------------------------------

    @Slot(object)
    def _show_status(self, status: MemoryProviderStatus | None) -> None:
        self.sync_bar.show_status(status)
        self.diagnostics.show_status(status)
        self.views.index.show_status(status)
        self.commands.show_open(status is not None)
        self._news.hear(status)

    @Slot(str)
    def _do(self, action: str) -> None:
        status = self.workspace.status
        if action == "rebuild":
            self.banner.ask_rebuild()
        elif action in ("settings", "engine"):
            self.settings.show_page("engine" if action == "engine" else None)
        elif action == "try-again":
            self.workspace.try_again()
        elif action == "settings-file":
            self._places.open_settings()
        elif action == "embed":
            self.banner.ask_to_embed(None if status is None else status.awaiting)
        else:
            self.workspace.sync()

    @Slot(str)
    def _show_files(self, which: str) -> None:
        self.dock.show_diagnostics()
        self.diagnostics.show_files(which)

    @Slot()
    def ask_why(self) -> None:
        """Go to the field that says why a file is not found."""
        self.dock.show_diagnostics()
        self.diagnostics.ask_why()

    @Slot()
    def explain(self) -> None:
        """Show or hide where scores come from; in another view, go to the search for it."""
        if self.views.current == "search":
            self.dock.toggle_explanation()
        else:
            self.views.switch("search")
            self.dock.show_explanation()

    @Slot(object)
    def _remedy(self, remedy: SearchRemedy) -> None:
        """Do what would change an empty answer."""
        match remedy.name:
            case "folder":
                self.first_run.choose()
            case "add-sessions":
                self.folders.add_sessions()
            case "excluded":
                self.ask_why()
                self.diagnostics.why.ask(remedy.path)
            case _:
                self._do(remedy.name)

    @Slot(QMenu)
    def _fill_workspace_menu(self, menu: QMenu) -> None:
        current = str(self.workspace.current.folder) if self.workspace.current else ""
        for name in self.state.recent:
            action = menu.addAction(name)
            action.setCheckable(True)
            action.setChecked(name == current)
            action.setEnabled(name != current)
            action.triggered.connect(lambda _checked, folder=Path(name): self.folders.open(folder))
        menu.addSeparator()
        menu.addAction(self.commands.choose)

    def search_within(self) -> None:
        """Ask the next question among the results on show alone."""
        self.views.switch("search")
        self.search.search_within()

    def show_about(self) -> None:
        """What this program is, and where it keeps what."""
        show_about(self, self._places.listed(self.workspace.status))

    def shut_down(self, timeout_ms: int) -> bool:
        """Stop all work and close the memory; False when something did not stop in time. The window is gone by then."""
        self.workspace.feed.set_manager(None)
        self._show_closed()
        return self._jobs.shutdown(timeout_ms, last=self.workspace.close_all_now)

    # --- Qt ---------------------------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_folder(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        folder = dropped_folder(event.mimeData())
        if folder is not None:
            event.acceptProposedAction()
            self.folders.offer(folder)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        window = self.windowHandle()
        if window is not None:
            self.navigation.watch(window)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.state.set_geometry(self.saveGeometry())
        self.frame.keep(self.state)
        self.state.wrap = self.viewer.wrap_action.isChecked()
        self.state.chunk_borders = self.viewer.chunks_action.isChecked()
        # What was not changed here is left to the settings.
        if self._appearance.theme != self._theme_before:
            self.state.theme = self._appearance.theme
        if self._appearance.font_scale != self._scale_before:
            self.state.font_scale = self._appearance.font_scale
        self.closing.emit()
        super().closeEvent(event)
