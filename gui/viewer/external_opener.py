"""Opens files of the open memory in other programs, for any part of the window."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from engine import CancelToken, MemorySearchManager, tr
from gui.core.jobs import Jobs
from gui.viewer.external_programs import open_in_editor, reveal_in_file_manager


class ExternalOpener(QObject):
    """Uses stable names; current paths are resolved when needed, off this thread.

    Attributes: manager: the memory of the files; without one nothing happens. editor_command: the setting
    `window.editor`.

    Signals: failed: one sentence. editor_failed: one sentence, and the name and the line that did not open in an
    editor.
    """

    failed = Signal(str)
    editor_failed = Signal(str, str, int)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self.manager: MemorySearchManager | None = None
        self.editor_command = ""

    def edit(self, name: str, line: int) -> None:
        """Open a file in the editor, at a line."""
        manager, command = self.manager, self.editor_command
        if manager is None:
            return

        def report(problem: str) -> None:
            if problem:
                self.editor_failed.emit(problem, name, line)

        self._jobs.read(lambda _: open_in_editor(manager.locate(name), line, command), report, self.failed.emit)

    def reveal(self, name: str) -> None:
        """Show a file in the file manager."""
        self.locate(name, self.reveal_place)

    def reveal_place(self, place: Path) -> None:
        """Show what need not be a file of the memory."""
        if place.parent.is_dir():
            reveal_in_file_manager(place, self)
        else:
            self.failed.emit(tr("{name} is no single file that could be shown.", name=place.name))

    def locate(self, name: str, act: Callable[[Path], None]) -> None:
        """Call `act` with where the file is now, since that looks at the disk, or tell why it is not there."""
        manager = self.manager
        if manager is None:
            return

        def find(_: CancelToken) -> Path:
            return manager.locate(name)

        self._jobs.read(find, act, self.failed.emit)
