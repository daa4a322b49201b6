"""Opens what the user chose in the quick search."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot

from engine import tr
from gui.core.jobs import Jobs
from gui.core.workspace import Opened, OpenFailure, Workspace
from gui.quick_search import Chosen, QuickPanel, QuickWindow
from gui.search.query_builder import SearchViewState
from gui.search.saved_search_cache import to_record
from gui.window.main_window import MainWindow


class QuickSearchController(QObject):
    """Connects the quick search with the open memory."""

    def __init__(self, window: MainWindow, workspace: Workspace, jobs: Jobs) -> None:
        super().__init__(window)
        self._window = window
        self.panel = QuickPanel(jobs)
        self.quick = QuickWindow(self.panel)
        workspace.opening.connect(self._show_opening)
        workspace.opened.connect(self._handle_opened)
        workspace.failed.connect(self._show_failure)
        workspace.closed.connect(self._handle_closed)
        workspace.feed.status_changed.connect(self.panel.show_status)
        self.panel.chosen.connect(self._go_to)
        self.panel.window_requested.connect(self._show_window)
        window.destroyed.connect(self.quick.deleteLater)
        if workspace.current is not None:
            self._handle_opened(workspace.current)

    @Slot(object)
    def _handle_opened(self, opened: Opened) -> None:
        self.panel.set_manager(opened.manager)

    @Slot()
    def _handle_closed(self) -> None:
        self.panel.set_manager(None)

    @Slot(object)
    def _show_opening(self, folder: Path) -> None:
        self.panel.show_reason(
            tr("Opening {folder}…", folder=folder.name or folder), tr("The search starts in a moment.")
        )

    @Slot(object)
    def _show_failure(self, failure: OpenFailure) -> None:
        self.panel.show_reason(tr("{folder} cannot be opened", folder=failure.folder.name), failure.sentence)

    @Slot()
    def _show_window(self) -> None:
        self.quick.hide()
        self._window.bring_to_front()

    @Slot(object)
    def _go_to(self, chosen: Chosen) -> None:
        self._show_window()
        window, query = self._window, chosen.query
        window.views.switch("search")
        search = window.views.search
        search.controller.return_to(SearchViewState(query.subject, "relevance", query.max_results, chosen.position))
        search.controller.saved_searches.note(to_record(query))
        if chosen.result is None:
            search.focus_list()
        else:
            search.skip_preview()  # the window's answer may be newer, and have another result at this position
            search.result_activated.emit(chosen.result, chosen.words)
