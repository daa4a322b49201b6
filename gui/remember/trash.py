"""Undoes writing a note: moves it to the trash, only if it is unchanged since."""

from pathlib import Path

from PySide6.QtCore import QFile

from engine import NoteError, WrittenNote, locate_untouched, tr
from gui.core.jobs import Jobs
from gui.core.notices import Notices
from gui.core.workspace import Opened, Workspace


class Trash:
    """Moves notes written by this program to the trash."""

    def __init__(self, workspace: Workspace, banner: Notices, jobs: Jobs) -> None:
        self._workspace = workspace
        self._banner = banner
        self._jobs = jobs

    def take(self, opened: Opened, note: WrittenNote, folder: Path | None = None) -> None:
        """Move it there, and show a message. `folder`: of its workspace, if that is not the one that was open."""

        def tell(_: object) -> None:
            self._banner.say(tr("{note} is in the trash.", note=note.path), "off", key="remembered")
            if self._workspace.current is opened and folder is None:
                self._workspace.sync("watch")

        self._jobs.write(lambda _: _move(folder or opened.folder, note), tell, self._banner.complain)


def _move(folder: Path, note: WrittenNote) -> None:
    if not QFile(str(locate_untouched(folder, note))).moveToTrash():
        raise NoteError(tr("{note} cannot be moved to the trash: remove it in the file manager.", note=note.path))
