"""Tells the person of notes that an agent had written, be it just now or while no window was open."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from engine import MemorySearchManager, NoteError, WrittenNote, locate_untouched
from gui.job_slot import JobSlot
from gui.jobs import Jobs
from gui.notices import Notices
from gui.remember.trash import Trash
from gui.widgets.message import Action
from gui.workspace import Opened, Workspace

_KEY = "agent-notes"


class UnseenNews(QObject):
    """What is told stays unseen until the person has answered; it is told again at the next start.

    Signals:
        open_wanted: the note with this stable name, at a line.
    """

    open_wanted = Signal(str, object)

    def __init__(self, workspace: Workspace, banner: Notices, jobs: Jobs, trash: Trash, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._banner = banner
        self._jobs = jobs
        self._trash = trash
        self._job = JobSlot(self)
        self._told: tuple[WrittenNote, ...] = ()
        workspace.opened.connect(self._begin)
        workspace.closed.connect(self._job.cancel)

    @Slot()
    def look(self) -> None:
        """The index has changed: there may be a new one."""
        opened = self._workspace.current
        if opened is not None:
            self._job.put(
                self._jobs.read(
                    lambda _: _unseen(opened.manager, opened.folder), partial(self._tell, opened), self._fail
                )
            )

    @Slot(object)
    def _begin(self, _: Opened) -> None:
        self._told = ()
        self.look()

    def _fail(self, sentence: str) -> None:
        self._job.done()
        self._banner.complain(sentence)

    def _tell(self, opened: Opened, notes: tuple[WrittenNote, ...]) -> None:
        self._job.done()
        if notes == self._told:
            return
        self._told = notes
        if not notes:
            self._banner.clear(_KEY)
            return
        newest = notes[0]
        actions = [self._action("Open", opened, notes, partial(self.open_wanted.emit, newest.path, None))]
        if len(notes) == 1:
            sentence = f"An agent wrote {newest.path}."
            actions.append(self._action("Move to trash", opened, notes, partial(self._trash.take, opened, newest)))
        else:
            sentence = f"Agents wrote {len(notes)} notes of sessions, the last one {newest.path}."
        actions.append(self._action("Keep", opened, notes, lambda: None))
        self._banner.say(sentence, "working", *actions, key=_KEY)

    def _action(self, words: str, opened: Opened, notes: tuple[WrittenNote, ...], run: Callable[[], object]) -> Action:
        paths = tuple(note.path for note in notes)

        def answer() -> None:
            self._jobs.write(lambda _: opened.manager.unseen_notes.seen(paths), lambda _: None, self._banner.complain)
            run()

        return Action(words, answer)


def _unseen(manager: MemorySearchManager, folder: Path) -> tuple[WrittenNote, ...]:
    """Those of which the person knows nothing yet: who has changed one, or removed it, has seen it."""
    waiting, known = [], []
    for note in manager.unseen_notes.all():
        try:
            locate_untouched(folder, note)
            waiting.append(note)
        except NoteError:
            known.append(note.path)
    if known:
        manager.unseen_notes.seen(tuple(known))
    return tuple(waiting)
