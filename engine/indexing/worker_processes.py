"""Divides the work of a large sync between this process and others, so that this one stays responsive.

`NotePreparation` sends the texts of notes through pipes and receives their rows; `run_in_processes` is for other work.
Results come in the order of the work. The processes write no file. Each ends when its pipe closes, which also happens
when the program dies.
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

_MIN_BYTES = 2_000_000
"""Total size of notes in bytes from which other processes are started; starting each takes some 0.4 s of processor
time.
"""
_MAX_PROCESSES = 3
_MAX_QUEUED = 16
"""Maximum number of notes queued for one process."""
_MAX_CHARACTERS = 4_000_000
"""Maximum number of characters of all queued notes together; a longer note is prepared in this process."""
_READY = b""
"""First message of the process: all imports are done."""
_FAILED = b""
"""Answer of a worker that failed: the program repeats the work itself, and reports the error."""
_NICENESS = 5
"""Lower priority, so that the window and searches stay fast."""
_POLL = 0.05
"""Seconds between checks of the cancel token."""
_PARTS_AHEAD = 2
"""Maximum number of parts that one worker process has at a time: more than one, so that it never waits for the next."""

_Part = TypeVar("_Part")
_Result = TypeVar("_Result")


class NotePreparation:
    """Turns notes into database rows, in the order of `submit`; a context manager for use on one thread.

    If another process dies or fails, its notes are prepared in this one.
    """

    def __init__(self, chunking: ChunkingSettings, crashes: CrashRecord, token: CancelToken, size: int) -> None:
        """`size`: maximum total size of all notes, in bytes."""
        self._chunking = chunking
        self._crashes = crashes
        self._token = token
        self._queue: deque[_QueuedNote] = deque()
        self._characters = 0
        self._workers = _start_workers(_prepare_in_worker, os.cpu_count() or 1) if size >= _MIN_BYTES else []

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
        workers = self._workers if len(note.text) <= _MAX_CHARACTERS else []
        worker = min((w for w in workers if w.ready()), key=lambda w: w.unanswered, default=None)
        if worker is not None and not worker.send(_NoteToPrepare(file, note, self._chunking, stored)):
            worker = None
        self._queue.append(_QueuedNote(file, note, stored, worker))
        self._characters += len(note.text)
        while self._queue and (self._is_full() or self._queue[0].is_ready()):
            yield self._next()

    def remaining(self) -> Iterator[NewFile | FileIssue]:
        """Yield the rows of all notes that are still queued. Raises `Cancelled`."""
        while self._queue:
            yield self._next()

    def _is_full(self) -> bool:
        return len(self._queue) > _MAX_QUEUED * len(self._workers) or self._characters > _MAX_CHARACTERS

    def _next(self) -> NewFile | FileIssue:
        queued = self._queue.popleft()
        self._characters -= len(queued.note.text)
        if queued.worker is not None and (prepared := queued.worker.receive(self._token)):
            self._crashes.end_reading(queued.file)
            return msgspec.msgpack.decode(prepared, type=PreparedFile)
        try:
            with self._crashes.reading(queued.file):
                is_long = len(queued.note.text) > _MAX_CHARACTERS
                buffer = ChunkRows(self._crashes.folder, self._token) if is_long else None
                return prepare(queued.file, queued.note, self._chunking, queued.stored, buffer)
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


def run_in_processes(
    parts: Sequence[_Part],
    run: Callable[[_Part], _Result],
    run_in_worker: Callable[[bytes], bytes],
    decode: Callable[[bytes], _Result],
    token: CancelToken,
) -> Generator[_Result]:
    """Yield the results of all parts in order, computed by `run` in this process and `run_in_worker` in others.

    `run_in_worker`: a function of a module that takes a part as msgpack; `decode` reads what it returns. If it fails
    for a part, `run` is called instead. Raises `Cancelled` while waiting, and the errors of `run`.
    """
    waiting = deque(enumerate(parts))
    sent = {worker: deque[tuple[int, _Part]]() for worker in _start_workers(run_in_worker, (os.cpu_count() or 1) - 1)}
    done: dict[int, _Result] = {}
    next_number = 0
    try:
        while next_number < len(parts):
            for worker, parts_sent in sent.items():
                while waiting and len(parts_sent) < _PARTS_AHEAD and worker.ready() and worker.send(waiting[0][1]):
                    parts_sent.append(waiting.popleft())
                if parts_sent and (worker.has_answer() or not waiting):
                    number, part = parts_sent.popleft()
                    answer = worker.receive(token)
                    done[number] = decode(answer) if answer else run(part)
            if waiting:
                number, part = waiting.popleft()
                done[number] = run(part)
            while next_number in done:
                yield done.pop(next_number)
                next_number += 1
    finally:
        for worker in sent:
            worker.end()


def _start_workers(answer: Callable[[bytes], bytes], most: int) -> "list[_Worker]":
    """Start at most `most` other processes; fewer, or none, if a limit of the system is reached."""
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
        self.unanswered = 0
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
        self.unanswered += 1
        return True

    def has_answer(self) -> bool:
        """Whether `receive` returns without waiting."""
        return not self._alive or self._has_message()

    def receive(self, token: CancelToken) -> bytes | None:
        """Wait for the next answer: empty if the process failed, None if it has died. Raises `Cancelled`."""
        self.unanswered -= 1
        while self._alive and not self._has_message(_POLL):
            token.checkpoint()
        return self._received()

    def _has_message(self, seconds: float = 0.0) -> bool:
        """Whether `recv_bytes` returns or raises without waiting; on Windows, polling a dead process raises."""
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


def _prepare_in_worker(message: bytes) -> bytes:
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
