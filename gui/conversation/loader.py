"""Reads one session in the background and makes it ready to be shown."""

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal

from engine import CancelToken, MemorySearchManager
from gui.conversation.entries import Conversation, prepare
from gui.conversation.rows import Rows
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.viewer.matches import Finder, Hit
from gui.viewer.search_terms import query_finder

_PATIENCE_MS = 200
_MOST_PIECES = 2_000
"""Pieces that are searched for the first hit in a session that was opened without a line."""


@dataclass(frozen=True)
class Wanted:
    """A request."""

    path: str
    line: int | None
    query: str
    reveal: bool = False
    message: str = ""
    """Id of a message, which counts before the line."""


@dataclass(frozen=True)
class Landing:
    """The target of a search result: an entry, and the first hit in it."""

    entry: int
    hit: Hit | None


@dataclass(frozen=True)
class OpenedSession:
    wanted: Wanted
    conversation: Conversation
    rows: Rows
    landing: Landing


class SessionLoader(QObject):
    """Loads one session at a time; the last request wins.

    Signals: opened: the session was read (OpenedSession). landed: the location in the open session was found (Wanted,
    Landing). failed: it can't be shown, one sentence. slow: it takes long enough for a message.
    """

    opened = Signal(object)
    landed = Signal(object, object)
    failed = Signal(str)
    slow = Signal()

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._job = JobSlot(self)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self.slow)

    def open(self, manager: MemorySearchManager, wanted: Wanted) -> None:
        """Read the session and find the place in it."""
        self.cancel()

        def work(token: CancelToken) -> OpenedSession:
            session = manager.read_session(wanted.path, reveal=wanted.reveal, cancel=token)
            conversation = prepare(session, token)
            there = _placed(wanted, conversation)
            return OpenedSession(there, conversation, Rows(conversation), _land(conversation, there, token))

        self._patience.start()
        self._job.put(self._jobs.read(work, self._deliver, self._fail))

    def land(self, conversation: Conversation, wanted: Wanted) -> None:
        """Find another location in the open session."""
        self.cancel()
        there = _placed(wanted, conversation)
        self._job.put(
            self._jobs.read(
                lambda token: _land(conversation, there, token), lambda found: self._tell_landing(there, found)
            )
        )

    def cancel(self) -> None:
        self._patience.stop()
        self._job.cancel()

    def _deliver(self, opened: OpenedSession) -> None:
        self._patience.stop()
        self._job.done()
        self.opened.emit(opened)

    def _tell_landing(self, wanted: Wanted, found: Landing) -> None:
        self._job.done()
        self.landed.emit(wanted, found)

    def _fail(self, sentence: str) -> None:
        self._patience.stop()
        self._job.done()
        self.failed.emit(sentence)


def _placed(wanted: Wanted, conversation: Conversation) -> Wanted:
    """With the current line of the message; unchanged if it no longer exists."""
    if not wanted.message:
        return wanted
    lines = (message.line for message in conversation.session.messages if message.id == wanted.message)
    return replace(wanted, line=next(lines, wanted.line))


def _land(conversation: Conversation, wanted: Wanted, token: CancelToken) -> Landing:
    finder = query_finder(wanted.query, conversation.language) if wanted.query.strip() else None
    return landing(conversation, wanted.line, finder, token)


def landing(conversation: Conversation, line: int | None, finder: Finder | None, token: CancelToken) -> Landing:
    """Find the first hit in this line of the transcript, or in all; without any, the line itself or the beginning.

    Any thread. Raises `Cancelled`.
    """
    if line is None:
        entry, pieces = 0, list(range(min(_MOST_PIECES, len(conversation.pieces))))
    else:
        entry, pieces = conversation.at_line(line)
    for piece in pieces if finder is not None else ():
        token.checkpoint()
        assert finder is not None
        found = finder(conversation.searchable(piece))
        if found:
            return Landing(conversation.entry_of_piece[piece], Hit(piece + 1, *found[0]))
    return Landing(entry, None)
