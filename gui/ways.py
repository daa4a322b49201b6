"""The ways from a result to its file: into the viewer, the editor and the file manager, and back to the results."""

from PySide6.QtCore import QObject, Slot

from engine import MemorySearchResult
from gui.diagnostics.panel import DiagnosticsPanel
from gui.panes import Panes
from gui.search.panel import SearchPanel
from gui.viewer.panel import ViewerPanel
from gui.workspace import Workspace


class Ways(QObject):
    """Connects the three panes by their signals; none of them knows another."""

    def __init__(
        self,
        workspace: Workspace,
        panes: Panes,
        search: SearchPanel,
        viewer: ViewerPanel,
        diagnostics: DiagnosticsPanel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._panes = panes
        self._viewer = viewer
        search.result_selected.connect(viewer.show_result)
        search.result_activated.connect(self._go_to)
        search.editor_requested.connect(self._edit)
        search.reveal_requested.connect(self._reveal)
        viewer.escape_pressed.connect(search.focus_results)
        diagnostics.reveal_requested.connect(self._reveal_issue)

    @Slot(object, object)
    def _go_to(self, result: MemorySearchResult, query: str) -> None:
        self._viewer.show_result(result, query)
        self._panes.show_viewer()
        self._viewer.setFocus()

    @Slot(object)
    def _edit(self, result: MemorySearchResult) -> None:
        self._viewer.elsewhere.edit(result.path, result.start_line)

    @Slot(object)
    def _reveal(self, result: MemorySearchResult) -> None:
        self._viewer.elsewhere.reveal(result.path)

    @Slot(str)
    def _reveal_issue(self, name: str) -> None:
        """A file that is not in the index, by its stable name or its absolute path."""
        if self._workspace.current is not None:
            self._viewer.elsewhere.reveal_place(self._workspace.current.folder / name)
