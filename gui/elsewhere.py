"""Hands files of the open workspace to other programs, for whoever in the window asks."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from engine import MemorySearchResult
from gui.jobs import Jobs
from gui.viewer.external import open_in_editor, reveal_in_file_manager
from gui.workspace import Workspace


class Elsewhere(QObject):
    """Signals: `failed` with one sentence."""

    failed = Signal(str)

    def __init__(self, workspace: Workspace, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._jobs = jobs

    @Slot(object)
    def edit(self, result: MemorySearchResult) -> None:
        """Open a result's file in the editor, at its first line."""
        opened = self._workspace.current
        if opened is None:
            return

        def located(path: Path) -> None:
            problem = open_in_editor(path, result.start_line, opened.settings.window.editor)
            if problem:
                self.failed.emit(problem)

        self._jobs.read(lambda _: opened.manager.locate(result.path), located, self.failed.emit)

    @Slot(object)
    def reveal_result(self, result: MemorySearchResult) -> None:
        """Show a result's file in the file manager."""
        opened = self._workspace.current
        if opened is not None:
            self._jobs.read(lambda _: opened.manager.locate(result.path), self._reveal, self.failed.emit)

    @Slot(str)
    def reveal_issue(self, name: str) -> None:
        """Show a file that is not in the index, by its stable name or its absolute path."""
        opened = self._workspace.current
        if opened is None:
            return
        path = opened.folder / name
        if path.parent.is_dir():
            self._reveal(path)
        else:
            self.failed.emit(f"{name} is no single file that could be shown.")

    def _reveal(self, path: Path) -> None:
        reveal_in_file_manager(path, self)
