"""Notifies the user of session notes written by an agent, just now or while no window was open."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from engine import MemoryProviderStatus, MemorySearchManager, NoteError, WrittenNote, locate_untouched, tr, tr_count
from gui.core.jobs import Jobs, JobSlot
from gui.core.notices import Notices
from gui.core.workspace import Opened, Workspace
from gui.remember.controller import Trash
from gui.widgets.message import Action

_KEY = "agent-notes"
_GIVES_WAY = frozenset({"provider", "remembered", "ranking", "saved-search"})
"""What may be talked over: it is also seen elsewhere, or has been read by now."""


class NewNoteNotice(QObject):
    """Waits until there is no more urgent message. Without an answer it is shown again at the next start.

    Signals: open_wanted: the note with this stable name, at a line.
    """

    open_wanted = Signal(str, object)

    def __init__(self, workspace: Workspace, banner: Notices, jobs: Jobs, trash: Trash, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._banner = banner
        self._jobs = jobs
        self._trash = trash
        self._job = JobSlot(self)
        self._opened: Opened | None = None
        self._begins = False
        self._told: tuple[WrittenNote, ...] = ()
        self._waiting: tuple[WrittenNote, ...] = ()
        """Notes that the user has not answered to."""
        workspace.opened.connect(self._begin)
        workspace.closed.connect(self._end)
        workspace.feed.status_changed.connect(self._hear)
        banner.cleared.connect(self._take_turn)

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
    def _begin(self, opened: Opened) -> None:
        self._opened, self._told, self._waiting, self._begins = opened, (), (), True

    @Slot()
    def _end(self) -> None:
        self._job.cancel()
        self._opened, self._waiting, self._begins = None, (), False

    @Slot(object)
    def _hear(self, status: MemoryProviderStatus | None) -> None:
        """The first record may have other problems to show first."""
        if self._begins and status is not None:
            self._begins = False
            self.look()

    def _fail(self, sentence: str) -> None:
        self._job.done()
        self._banner.complain(sentence)

    def _tell(self, opened: Opened, notes: tuple[WrittenNote, ...]) -> None:
        self._job.done()
        if opened is self._opened and notes != self._told:
            self._told = self._waiting = notes
            self._say()

    @Slot(str)
    def _take_turn(self, matter: str) -> None:
        """The banner is free, or the user has dismissed its message about notes."""
        if matter == _KEY:
            self._waiting = ()
        else:
            self._say()

    def _say(self) -> None:
        opened, notes = self._opened, self._waiting
        if opened is None or not notes:
            self._banner.clear(_KEY)
            return
        if self._banner.text and self._banner.matter not in {_KEY, *_GIVES_WAY}:
            return
        newest = notes[0]
        actions = [self._action(tr("Open"), opened, notes, partial(self.open_wanted.emit, newest.path, None))]
        if len(notes) == 1:
            actions.append(self._action(tr("Move to trash"), opened, notes, partial(self._trash.take, opened, newest)))
        sentence = tr_count(
            "An agent wrote {note}.",
            "Agents wrote {count} notes of sessions, the last one {note}.",
            len(notes),
            note=newest.path,
        )
        actions.append(self._action(tr("Keep"), opened, notes, lambda: None))
        self._banner.say(sentence, "working", *actions, key=_KEY)

    def _action(self, words: str, opened: Opened, notes: tuple[WrittenNote, ...], run: Callable[[], object]) -> Action:
        paths = tuple(note.path for note in notes)

        def answer() -> None:
            self._jobs.write(lambda _: opened.manager.unseen_notes.seen(paths), lambda _: None, self._banner.complain)
            run()

        return Action(words, answer)


def _unseen(manager: MemorySearchManager, folder: Path) -> tuple[WrittenNote, ...]:
    """Notes that the user has not seen: a changed or deleted note was seen."""
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
