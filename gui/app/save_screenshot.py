"""Saves a screenshot of the window once its content is complete."""

import time
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from engine import FileUse, MemorySearchResult, SessionSummary
from gui.agent_edits.panel import EditsPanel
from gui.conversation.panel import ConversationPanel
from gui.diagnostics.panel import DiagnosticsPanel
from gui.quick_search import QuickWindow
from gui.sessions.panel import SessionsPanel
from gui.viewer.base_viewer import BaseViewer
from gui.window.main_window import MainWindow

_POLL_MS = 50
_TIMEOUT_SECONDS = 120
_INDEX_SECONDS = 60
"""How long to wait for the index: many sessions take minutes, and the window shows how far they are."""
_ROUNDS = 2
"""The first search loads the model; the second one's answer by meaning comes before anything was selected."""
_MIN_POLLS = 3
"""Number of successive checks without a change, so that layouts, elisions and late signals settle."""
_FIRST_RUN = ("first-run", "sources")
_SMALL_WINDOWS = ("engine", "workspaces", "about", "licences", "crash", "quick", "guide")


class Screenshot(QObject):
    """Waits until the index, the results and the file are shown, saves a picture, then emits `finished`.

    Signals: finished: empty, or one sentence that says why there is no picture.
    """

    finished = Signal(str)

    def __init__(self, window: MainWindow, quick: QuickWindow, view: str, query: str, path: Path) -> None:
        super().__init__(window)
        self._window = window
        self._quick = quick
        self._view = view
        self._query = query
        self._path = path
        self._rounds = 0
        self._requested_file = self._shown_file = ""
        self._chunk_requested = self._compared = False
        self._complete_polls = 0
        self._started = time.monotonic()
        QApplication.setCursorFlashTime(0)  # no picture depends on whether the text cursor is shown just then
        window.search.preview.selected.connect(self._record_requested)
        window.viewer.file_shown.connect(self._record_shown)
        made = window.views.made
        made.when(SessionsPanel, lambda sessions: sessions.session_selected.connect(self._record_session))
        made.when(EditsPanel, lambda edits: edits.edit_selected.connect(self._record_edit))
        made.when(ConversationPanel, lambda conversation: conversation.session_shown.connect(self._record_shown))
        self._timer = QTimer(self, interval=_POLL_MS)
        self._timer.timeout.connect(self._poll)
        self._timer.start()

    @Slot(object, object)
    def _record_requested(self, result: MemorySearchResult, _query: str) -> None:
        self._requested_file = result.path

    @Slot(object)
    def _record_session(self, summary: SessionSummary | None) -> None:
        self._requested_file = summary.path if summary else ""

    @Slot(object)
    def _record_edit(self, use: FileUse | None) -> None:
        self._requested_file = use.session if use else ""

    @Slot(str)
    def _record_shown(self, name: str) -> None:
        self._shown_file = name

    @Slot()
    def _poll(self) -> None:
        window = self._window
        if window.pages.currentWidget() is window.message:
            self._end(window.message.text)
            return
        if self._at_first_run and self._view not in _FIRST_RUN and (self._query or self._view != "search"):
            self._end("No folder is open: add --workspace DIR.")
            return
        waiting_for = self._missing()
        self._complete_polls = 0 if waiting_for else self._complete_polls + 1
        if self._complete_polls >= _MIN_POLLS:
            if self._save():
                return
            waiting_for = "the text"
        if self._seconds > _TIMEOUT_SECONDS:
            self._end(f"The picture was not taken: after {_TIMEOUT_SECONDS} s it still waited for {waiting_for}.")

    @property
    def _seconds(self) -> float:
        """How long the picture has been waited for."""
        return time.monotonic() - self._started

    @property
    def _at_first_run(self) -> bool:
        """Whether the first-run pages are shown, which happens if no folder is open."""
        return self._view in _FIRST_RUN or self._window.pages.currentWidget() is self._window.first_run

    def _missing(self) -> str:
        """Return the name of the content that is not shown yet; empty when it is complete."""
        window = self._window
        if self._at_first_run:
            return "" if window.first_run.ready else "the search results"
        if unfinished := self._missing_of_index():
            return unfinished
        if self._view in _SMALL_WINDOWS or self._view.startswith("settings"):
            return self._missing_of_small_window()
        return self._missing_of_views()

    def _missing_of_index(self) -> str:
        """Return the part of the index that is not complete yet, or empty if that takes too long."""
        workspace = self._window.workspace
        status = workspace.status
        if status is not None and self._seconds > _INDEX_SECONDS:
            return ""
        if status is None or status.last_sync is None or status.syncing is not None:
            return "the index"
        if workspace.is_updating or workspace.feed.busy:
            return "the index"  # the status is from before the sync: a shorter one may have come first
        due = status.pending_vectors and status.provider != "none" and status.awaiting_approval is None
        return "the embedding" if due and not status.last_sync.error else ""

    def _missing_of_small_window(self) -> str:
        """Return the parts that a separate small window does not show yet."""
        window = self._window
        if self._view == "quick":
            return self._missing_of_quick()
        if self._view == "workspaces":
            return "" if window.spaces.ready else "the workspaces"
        if self._view in ("about", "licences"):
            return "" if window.about.ready else "the installed packages"
        if self._view == "guide":
            guide = window.guide.dialog
            return "" if guide is not None and guide.ready else "the guide"
        if self._view == "crash":
            return "" if QApplication.activeModalWidget() is not None else "the report"
        dialog = window.settings.dialog
        return "" if dialog is not None and dialog.isVisible() and dialog.ready else "the settings"

    def _missing_of_views(self) -> str:
        """Return the parts that the current view does not show yet."""
        window = self._window
        panel = window.views.panel
        if panel.busy:
            return "the results"
        if not self._query and window.search.start.busy:
            return "the start page"
        if self._view == "remember" and window.views.sessions.view.has_rows:
            return "" if window.remember.controller.ready else "the note"
        if self._query and self._rounds < _ROUNDS:
            self._rounds += 1
            panel.search("")
            panel.search(self._query)
            return "the results"
        diagnostics = window.dock.made.get(DiagnosticsPanel)
        if diagnostics is not None and diagnostics.isVisible() and diagnostics.busy:
            return "the diagnostics"
        if self._view == "duplicates" and not self._compared and window.views.index.duplicates.outdated:
            self._compared = True  # once: the index may change all the time
            window.views.index.duplicates.compare()
            return "the duplicates"
        if window.views.specs[window.views.current].full_width:
            return "the contents of the view" if window.views.panel_of(window.views.current).busy else ""
        if window.viewer.busy:
            return "the chunks"
        if isinstance(reader := window.views.readers.currentWidget(), BaseViewer) and reader.find_in_text.hits.busy:
            return "the hits"
        if self._view == "chunks" and window.viewer.name and not (self._chunk_requested or window.viewer.shows_chunk):
            self._chunk_requested = True
            window.viewer.show_chunk()  # the repeated search has opened the file again
            return "the chunks"
        return "" if self._requested_file in ("", self._shown_file) else "the file"

    def _missing_of_quick(self) -> str:
        panel = self._quick.panel
        if panel.busy:
            return "the results"
        if self._query and self._rounds < _ROUNDS:
            self._rounds += 1
            panel.begin(self._query)
            return "the results"
        return "" if self._quick.isVisible() else "the quick search"

    def _save(self) -> bool:
        """Save the picture; returns False if a text in it is incomplete."""
        own = {"quick": self._quick, "guide": self._window.guide.dialog}
        target = QApplication.activeModalWidget() or own.get(self._view) or self._window
        picture = target.grab()
        reader = self._window.views.readers.currentWidget()
        if target is self._window and isinstance(reader, BaseViewer) and reader.isVisible() and not reader.painted:
            self._complete_polls = 0  # a frame has little time, and a busy machine leaves lines to the next one
            return False
        picture.save(str(self._path), "PNG")
        self._end("" if self._path.exists() else f"The picture could not be written to {self._path}.")
        return True

    def _end(self, problem: str) -> None:
        self._timer.stop()
        self.finished.emit(problem)
