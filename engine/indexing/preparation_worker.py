"""A process that prepares notes for a sync, and its client.

It reads no file and writes none: texts come through a pipe, rows go back through it, in the order of the texts. It ends
when the pipe closes, which also happens when the program dies.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import PARSER_FAULTS
from engine.corpus.folder_walk import FoundFile
from engine.corpus.note_reader import NoteText
from engine.indexing.note_preparation import prepare
from engine.settings.options import ChunkingSettings
from engine.store.writer import NewChunk, NewFile

_READY = b""
"""First message of the process: all imports are done."""
_FAILED = b""
"""Answer for a note that cannot be prepared: the program tries it, too, and reports the error."""
_NICENESS = 5
"""Lower priority, so that the window and searches stay fast."""


_POLL = 0.05
"""Seconds between checks of the cancel token."""


class _Unprepared(msgspec.Struct, frozen=True):
    """Message to the process: a note to prepare."""

    file: FoundFile
    note: NoteText
    chunking: ChunkingSettings


class _PreparedNote(NewFile, frozen=True, kw_only=True):
    """Message from the process: the database rows of a note."""

    chunks: tuple[NewChunk, ...]


class Worker:
    """Starts a process that prepares notes, and communicates with it."""

    def __init__(self) -> None:
        self.waiting = 0
        """Number of notes sent whose rows have not been received."""
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

    def send(self, file: FoundFile, note: NoteText, chunking: ChunkingSettings) -> bool:
        """Send a note to the process; returns False if that is not possible."""
        try:
            self._pipe.send_bytes(msgspec.msgpack.encode(_Unprepared(file, note, chunking)))
        except OSError:
            self._alive = False
            return False
        except UnicodeEncodeError:  # a name with bytes that are no text
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


def serve(pipe: Connection) -> None:
    """Main function of the process: answer each `_Unprepared` with its rows, as msgpack, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the program, which then closes the pipe
    waiting: SimpleQueue[bytes | None] = SimpleQueue()
    # The program must be able to send while a long answer waits for it.
    Thread(target=_receive, args=(pipe, waiting), daemon=True).start()
    with contextlib.suppress(OSError):
        pipe.send_bytes(_READY)
        for message in iter(waiting.get, None):
            request = msgspec.msgpack.decode(message, type=_Unprepared)
            try:
                answer = msgspec.msgpack.encode(prepare(request.file, request.note, request.chunking))
            except PARSER_FAULTS:
                answer = _FAILED
            pipe.send_bytes(answer)


def _receive(pipe: Connection, waiting: "SimpleQueue[bytes | None]") -> None:
    for message in _messages(pipe):
        waiting.put(message)
    waiting.put(None)


def _messages(pipe: Connection) -> Iterator[bytes]:
    with contextlib.suppress(EOFError, OSError):
        while True:
            yield pipe.recv_bytes()
