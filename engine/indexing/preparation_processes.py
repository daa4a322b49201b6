"""Shares the work of a sync with other processes if there is much of it, so that this one stays responsive.

Notes are prepared there: texts come through a pipe, rows go back through it, in the order of the texts. Other work is
shared by `shared_work`. The other processes write no file. Each ends when its pipe closes, which also happens when the
program dies.
"""

import contextlib
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

import msgspec

from engine.base import ChildProcess
from engine.base.cancellation import CancelToken
from engine.base.errors import PARSER_FAULTS
from engine.corpus.folder_walk import FoundFile
from engine.corpus.note_reader import NoteText, Unreadable
from engine.indexing.crashing_files import CrashRecord
from engine.indexing.note_preparation import ChunkRows, StoredNote, prepare
from engine.records import FileIssue
from engine.settings.options import ChunkingSettings
from engine.store.writer import NewChunk, NewFile

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_WORTHWHILE = 2_000_000
"""Total size of notes in bytes from which other processes are started; starting each takes some 0.4 s of processor
time.
"""
_MAX_PROCESSES = 3
_MAX_WAITING = 16
"""Maximum number of notes queued for one process."""
_MAX_TEXT = 4_000_000
"""Maximum number of characters of all queued notes together; a longer note is prepared in this process."""
_READY = b""
"""First message of the process: all imports are done."""
_FAILED = b""
"""Answer for a note that cannot be prepared, or other work: the program tries it, too, and reports the error."""
_NICENESS = 5
"""Lower priority, so that the window and searches stay fast."""
_POLL = 0.05
"""Seconds between checks of the cancel token."""
_AHEAD = 2
"""Maximum number of parts of shared work that wait in one process: more than one, so that it never waits for the
next."""

_Part = TypeVar("_Part")
_Result = TypeVar("_Result")


class NotePreparation:
    """Turns notes into database rows, in the order in which they are put; a context manager for use on one thread.

    If another process dies or fails, its notes are prepared in this one.
    """

    def __init__(self, chunking: ChunkingSettings, crashes: CrashRecord, token: CancelToken, size: int) -> None:
        """`size`: total bytes of all notes to prepare at most."""
        self._chunking = chunking
        self._crashes = crashes
        self._token = token
        self._waiting: deque[_QueuedNote] = deque()
        self._text = 0
        self._workers = _start_workers(_prepared, os.cpu_count() or 1) if size >= _WORTHWHILE else []

    def __enter__(self) -> "NotePreparation":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end()

    def submit(
        self, file: FoundFile, note: NoteText, stored: StoredNote | None = None
    ) -> Iterator[NewFile | FileIssue]:
        """Queue a note; yields the rows or the issue of each note that is ready. Raises `Cancelled` while waiting.

        `stored`: what the index has of the note, see `prepare`.
        """
        self._crashes.finish_reading()  # it waits: if the process is killed now, that is not due to this note
        workers = self._workers if len(note.text) <= _MAX_TEXT else []
        worker = min((w for w in workers if w.ready()), key=lambda w: w.waiting, default=None)
        if worker is not None and not worker.send(_NoteToPrepare(file, note, self._chunking, stored)):
            worker = None
        self._waiting.append(_QueuedNote(file, note, stored, worker))
        self._text += len(note.text)
        while self._waiting and (self._is_full() or self._waiting[0].is_ready()):
            yield self._next()

    def remaining(self) -> Iterator[NewFile | FileIssue]:
        """Yield the rows of all notes that are still queued. Raises `Cancelled`."""
        while self._waiting:
            yield self._next()

    def _is_full(self) -> bool:
        return len(self._waiting) > _MAX_WAITING * len(self._workers) or self._text > _MAX_TEXT

    def _next(self) -> NewFile | FileIssue:
        waiting = self._waiting.popleft()
        self._text -= len(waiting.note.text)
        if waiting.worker is not None and (prepared := waiting.worker.receive(self._token)):
            self._crashes.end_reading(waiting.file)
            return msgspec.msgpack.decode(prepared, type=PreparedFile)
        try:
            with self._crashes.reading(waiting.file):
                many = ChunkRows(self._crashes.folder, self._token) if len(waiting.note.text) > _MAX_TEXT else None
                return prepare(waiting.file, waiting.note, self._chunking, waiting.stored, many)
        except Unreadable as problem:
            return problem.issue


@dataclass(frozen=True)
class _QueuedNote:
    """A queued note, and the process that prepares it."""

    file: FoundFile
    note: NoteText
    stored: StoredNote | None
    worker: "_Worker | None"
    """None if the note is prepared in this process."""

    def is_ready(self) -> bool:
        return self.worker is None or self.worker.has_answer()


def shared_work(
    parts: Sequence[_Part],
    here: Callable[[_Part], _Result],
    there: Callable[[bytes], bytes],
    decode: Callable[[bytes], _Result],
    token: CancelToken,
) -> Generator[_Result]:
    """Yield the result of each part, in their order: from `here`, and from `there` in other processes.

    `there` is a function of a module that gets a part as msgpack; `decode` reads what it returns. Parts for which it
    fails are for `here`, too. Raises `Cancelled` while waiting, and the errors of `here`.
    """
    waiting = deque(enumerate(parts))
    sent = {worker: deque[tuple[int, _Part]]() for worker in _start_workers(there, (os.cpu_count() or 1) - 1)}
    done: dict[int, _Result] = {}
    following = 0
    try:
        while following < len(parts):
            for worker, of_worker in sent.items():
                while waiting and len(of_worker) < _AHEAD and worker.ready() and worker.send(waiting[0][1]):
                    of_worker.append(waiting.popleft())
                if of_worker and (worker.has_answer() or not waiting):
                    number, part = of_worker.popleft()
                    answer = worker.receive(token)
                    done[number] = decode(answer) if answer else here(part)
            if waiting:
                number, part = waiting.popleft()
                done[number] = here(part)
            while following in done:
                yield done.pop(following)
                following += 1
    finally:
        for worker in sent:
            worker.end()


def _start_workers(answer: Callable[[bytes], bytes], most: int) -> "list[_Worker]":
    """Start the other processes; fewer, or none, if the system refuses them because one of its limits is reached."""
    workers: list[_Worker] = []
    with contextlib.suppress(OSError):
        workers.extend(_Worker(answer) for _ in range(min(_MAX_PROCESSES, most)))
    return workers


class _NoteToPrepare(msgspec.Struct, frozen=True):
    """Message to the process: a note to prepare."""

    file: FoundFile
    note: NoteText
    chunking: ChunkingSettings
    stored: StoredNote | None


class PreparedFile(NewFile, frozen=True, kw_only=True):
    """Message from the process: the database rows of a file."""

    chunks: tuple[NewChunk, ...]


class _Worker(ChildProcess):
    """Starts a process that answers messages, and communicates with it."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        """`answer`: a function of a module, called in the process."""
        self.waiting = 0
        """Number of messages sent whose answers have not been received."""
        super().__init__(serve, answer, name="mnemoscope-index")
        if sys.platform != "win32":  # here, since its imports take most of a second, while a new user searches
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid or 0, os.nice(0) + _NICENESS)
        self._ready = False
        self._alive = True

    def ready(self) -> bool:
        """Whether the process has started; until then, messages would wait for its start."""
        if self._alive and not self._ready and self._has_message():
            self._ready = self._received() is not None
        return self._alive and self._ready

    def send(self, message: object) -> bool:
        """Send a message to the process, as msgpack; returns False if that is not possible."""
        try:
            self._pipe.send_bytes(msgspec.msgpack.encode(message))
        except OSError:
            self._alive = False
            return False
        except UnicodeEncodeError:  # a name that isn't valid UTF-8
            return False
        self.waiting += 1
        return True

    def has_answer(self) -> bool:
        """Whether `receive` returns without waiting."""
        return not self._alive or self._has_message()

    def receive(self, token: CancelToken) -> bytes | None:
        """Wait for the next answer: empty if the process failed, None if it has died. Raises `Cancelled`."""
        self.waiting -= 1
        while self._alive and not self._has_message(_POLL):
            token.checkpoint()
        return self._received()

    def _has_message(self, seconds: float = 0.0) -> bool:
        """Whether there is something to receive, perhaps that the process has died, which Windows raises here."""
        try:
            return self._pipe.poll(seconds)
        except OSError:
            return True

    def _received(self) -> bytes | None:
        if self._alive:
            try:
                return self._pipe.recv_bytes()
            except (EOFError, OSError):
                self._alive = False
        return None


def _prepared(message: bytes) -> bytes:
    """Return the rows of a `_NoteToPrepare`."""
    request = msgspec.msgpack.decode(message, type=_NoteToPrepare)
    return msgspec.msgpack.encode(prepare(request.file, request.note, request.chunking, request.stored))


def serve(pipe: "Connection", answer: Callable[[bytes], bytes]) -> None:
    """Main function of the process: answer each message until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the program, which then closes the pipe
    waiting: SimpleQueue[bytes | None] = SimpleQueue()
    # The program must be able to send while a long answer waits for it.
    Thread(target=_receive, args=(pipe, waiting), daemon=True).start()
    with contextlib.suppress(OSError):
        pipe.send_bytes(_READY)
        for message in iter(waiting.get, None):
            try:
                answered = answer(message)
            except PARSER_FAULTS:
                answered = _FAILED
            pipe.send_bytes(answered)


def _receive(pipe: "Connection", waiting: "SimpleQueue[bytes | None]") -> None:
    for message in _messages(pipe):
        waiting.put(message)
    waiting.put(None)


def _messages(pipe: "Connection") -> Iterator[bytes]:
    with contextlib.suppress(EOFError, OSError):
        while True:
            yield pipe.recv_bytes()
