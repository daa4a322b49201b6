"""Prepares the notes of a sync: a few in this process, many in other processes, so that this one stays responsive.

The other processes read no file and write none: texts come through a pipe, rows go back through it, in the order of the
texts. Each ends when its pipe closes, which also happens when the program dies.
"""

import contextlib
import os
import signal
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

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
_MOST_PROCESSES = 3
_MOST_WAITING = 16
"""Most notes queued for one process."""
_MOST_TEXT = 4_000_000
"""Most characters of all queued notes together; a longer note is prepared in this process."""
_READY = b""
"""First message of the process: all imports are done."""
_FAILED = b""
"""Answer for a note that cannot be prepared: the program tries it, too, and reports the error."""
_NICENESS = 5
"""Lower priority, so that the window and searches stay fast."""
_POLL = 0.05
"""Seconds between checks of the cancel token."""


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
        self._workers = _start_workers() if size >= _WORTHWHILE else []

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
        workers = self._workers if len(note.text) <= _MOST_TEXT else []
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
        return len(self._waiting) > _MOST_WAITING * len(self._workers) or self._text > _MOST_TEXT

    def _next(self) -> NewFile | FileIssue:
        waiting = self._waiting.popleft()
        self._text -= len(waiting.note.text)
        if waiting.worker is not None and (prepared := waiting.worker.receive(self._token)) is not None:
            self._crashes.end_reading(waiting.file)
            return prepared
        try:
            with self._crashes.reading(waiting.file):
                many = ChunkRows(self._crashes.folder, self._token) if len(waiting.note.text) > _MOST_TEXT else None
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


def _start_workers() -> "list[_Worker]":
    """Start the other processes; fewer, or none, if the system refuses them because one of its limits is reached."""
    workers: list[_Worker] = []
    with contextlib.suppress(OSError):
        workers.extend(_Worker() for _ in range(max(1, min(_MOST_PROCESSES, os.cpu_count() or 1))))
    return workers


class _NoteToPrepare(msgspec.Struct, frozen=True):
    """Message to the process: a note to prepare."""

    file: FoundFile
    note: NoteText
    chunking: ChunkingSettings
    stored: StoredNote | None


class _PreparedNote(NewFile, frozen=True, kw_only=True):
    """Message from the process: the database rows of a note."""

    chunks: tuple[NewChunk, ...]


class _Worker:
    """Starts a process that prepares notes, and communicates with it."""

    def __init__(self) -> None:
        self.waiting = 0
        """Number of notes sent whose rows have not been received."""
        import multiprocessing  # takes 10 ms

        context = multiprocessing.get_context("spawn")  # a copy of a process with threads may hang
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other,), name="mnemoscope-notes", daemon=True)
        self._process.start()
        if sys.platform != "win32":  # here, since its imports take most of a second, while a new user searches
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid or 0, os.nice(0) + _NICENESS)
        other.close()
        self._ready = False
        self._alive = True

    def ready(self) -> bool:
        """Whether the process has started; until then, notes would wait for its start."""
        if self._alive and not self._ready and self._pipe.poll():
            self._ready = self._received() is not None
        return self._alive and self._ready

    def send(self, note: _NoteToPrepare) -> bool:
        """Send a note to the process; returns False if that is not possible."""
        try:
            self._pipe.send_bytes(msgspec.msgpack.encode(note))
        except OSError:
            self._alive = False
            return False
        except UnicodeEncodeError:  # a name that isn't valid UTF-8
            return False
        self.waiting += 1
        return True

    def has_answer(self) -> bool:
        """Whether `receive` returns without waiting."""
        return not self._alive or self._pipe.poll()

    def receive(self, token: CancelToken) -> NewFile | None:
        """Wait for the rows of the note sent first; None if the process has died or failed. Raises `Cancelled`."""
        self.waiting -= 1
        while self._alive and not self._pipe.poll(_POLL):
            token.checkpoint()
        message = self._received()
        return msgspec.msgpack.decode(message, type=_PreparedNote) if message else None

    def end(self) -> None:
        """Stop the process that prepares notes."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._pipe.close()

    def _received(self) -> bytes | None:
        if self._alive:
            try:
                return self._pipe.recv_bytes()
            except (EOFError, OSError):
                self._alive = False
        return None


def serve(pipe: "Connection") -> None:
    """Main function of the process: answer each `_NoteToPrepare` with its rows, as msgpack, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the program, which then closes the pipe
    waiting: SimpleQueue[bytes | None] = SimpleQueue()
    # The program must be able to send while a long answer waits for it.
    Thread(target=_receive, args=(pipe, waiting), daemon=True).start()
    with contextlib.suppress(OSError):
        pipe.send_bytes(_READY)
        for message in iter(waiting.get, None):
            request = msgspec.msgpack.decode(message, type=_NoteToPrepare)
            try:
                rows = prepare(request.file, request.note, request.chunking, request.stored)
                answer = msgspec.msgpack.encode(rows)
            except PARSER_FAULTS:
                answer = _FAILED
            pipe.send_bytes(answer)


def _receive(pipe: "Connection", waiting: "SimpleQueue[bytes | None]") -> None:
    for message in _messages(pipe):
        waiting.put(message)
    waiting.put(None)


def _messages(pipe: "Connection") -> Iterator[bytes]:
    with contextlib.suppress(EOFError, OSError):
        while True:
            yield pipe.recv_bytes()
