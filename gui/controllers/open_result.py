"""Opens a result or a session: in the viewer, the editor or the file manager, and returns to it."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot

from engine import FileUse, MemorySearchResult, PathState, SessionSummary
from gui.core.location import Location
from gui.core.workspace import Workspace
from gui.diagnostics.panel import DiagnosticsPanel
from gui.shell.frame import Panes
from gui.shell.views import Views


class ResultOpener(QObject):
    """Opens results in the viewer by connecting the panels' signals, so that the panels stay independent."""

    def __init__(
        self, workspace: Workspace, panes: Panes, views: Views, diagnostics: DiagnosticsPanel, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._panes = panes
        self._views = views
        self._external = views.viewer.external
        views.search.result_activated.connect(self._go_to)
        views.search.note_chosen.connect(lambda note: self.open_location(Location(note.path)))
        views.search.editor_requested.connect(self._edit)
        views.search.reveal_requested.connect(self._reveal)
        views.sessions.session_activated.connect(self._read)
        views.edits.edit_activated.connect(self._read_edit)
        views.index.open_requested.connect(self.open_path)
        for reader in (views.viewer, views.conversation):
            reader.location_chosen.connect(self.open_location)
        diagnostics.reveal_requested.connect(self._reveal_issue)
        diagnostics.open_requested.connect(self._open_path)

    @Slot(object, object)
    def _go_to(self, result: MemorySearchResult, query: str) -> None:
        self._views.switch("search")  # the query may come from the index view
        self._views.show_result(result, query)
        self._enter_reader()

    @Slot(object)
    def _read(self, summary: SessionSummary) -> None:
        self._views.show_session(summary)
        self._enter_reader()

    @Slot(object)
    def _read_edit(self, use: FileUse) -> None:
        self._views.show_edit(use)
        self._enter_reader()

    @Slot(str, object)
    def open_path(self, path: str, line: int | None) -> None:
        self.open_location(Location(path, line))

    @Slot(object)
    def open_location(self, location: Location) -> None:
        """Go to a location that isn't a result."""
        self._views.show_location(location)
        self._enter_reader()

    def _enter_reader(self) -> None:
        self._panes.show_viewer()
        self._views.focus_reader()

    @Slot(object)
    def _edit(self, result: MemorySearchResult) -> None:
        self._external.edit(result.path, result.start_line)

    @Slot(object)
    def _reveal(self, result: MemorySearchResult) -> None:
        self._external.reveal(result.path)

    @Slot(str)
    def _reveal_issue(self, name: str) -> None:
        """Show a file that isn't in the index in the file manager, by its stable name or absolute path."""
        if self._workspace.current is not None:
            self._external.reveal_place(self._workspace.current.folder / name)

    @Slot(object)
    def _open_path(self, state: PathState) -> None:
        """Opens a note in the editor; a transcript is only shown, since its file may contain secrets."""
        if state.source == "sessions":
            self._external.reveal_place(Path(state.file))
        else:
            self._external.edit(state.path, 1)
