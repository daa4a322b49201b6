"""Prepares the notes of a sync: a few in this process, many in others, so that this one stays responsive."""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.corpus.folder_walk import FoundFile
from engine.corpus.note_reader import NoteText
from engine.indexing.crash_record import CrashRecord
from engine.indexing.note_preparation import prepare
from engine.settings.options import ChunkingSettings
from engine.store.writer import NewFile

if TYPE_CHECKING:
    from engine.indexing.preparation_worker import Worker

_WORTHWHILE = 2_000_000
"""Bytes of notes from which other processes are started: each takes some .4 s of processor time to start."""
_MOST_PROCESSES = 3
_MOST_WAITING = 16
"""Notes that wait for one process."""
_MOST_TEXT = 4_000_000
"""Characters of all notes that wait; a longer note waits alone."""


class NotePreparation:
    """Turns notes into rows, in the order in which they come; use it as a context manager, on one thread.

    If another process dies, its notes are prepared here.
    """

    def __init__(self, chunking: ChunkingSettings, crashes: CrashRecord, token: CancelToken, size: int) -> None:
        """`size`: bytes of all notes that may come."""
        self._chunking = chunking
        self._crashes = crashes
        self._token = token
        self._waiting: deque[_Waiting] = deque()
        self._text = 0
        self._workers = _start_workers() if size >= _WORTHWHILE else []

    def __enter__(self) -> "NotePreparation":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end()

    def put(self, file: FoundFile, note: NoteText) -> Iterator[NewFile]:
        """Take a note; yields the rows that are ready. Raises `Cancelled` while it waits."""
        worker = min((w for w in self._workers if w.ready()), key=lambda w: w.waiting, default=None)
        if worker is not None and not worker.send(file, note, self._chunking):
            worker = None
        self._waiting.append(_Waiting(file, note, worker))
        self._text += len(note.text)
        while self._waiting and (self._is_full() or self._waiting[0].is_ready()):
            yield self._next()

    def rest(self) -> Iterator[NewFile]:
        """Yield the rows of all notes that still wait. Raises `Cancelled`."""
        while self._waiting:
            yield self._next()

    def _is_full(self) -> bool:
        return len(self._waiting) > _MOST_WAITING * len(self._workers) or self._text > _MOST_TEXT

    def _next(self) -> NewFile:
        waiting = self._waiting.popleft()
        self._text -= len(waiting.note.text)
        if waiting.worker is not None and (prepared := waiting.worker.receive(self._token)) is not None:
            return prepared
        with self._crashes.reading(waiting.file):
            return prepare(waiting.file, waiting.note, self._chunking)


@dataclass(frozen=True)
class _Waiting:
    """A note whose rows are not handed on yet."""

    file: FoundFile
    note: NoteText
    worker: "Worker | None"
    """None: it is prepared in this process."""

    def is_ready(self) -> bool:
        return self.worker is None or self.worker.has_answer()


def _start_workers() -> "list[Worker]":
    from engine.indexing.preparation_worker import Worker  # multiprocessing takes 10 ms to import

    return [Worker() for _ in range(max(1, min(_MOST_PROCESSES, os.cpu_count() or 1)))]
