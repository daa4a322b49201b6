"""Prepares the notes of a sync: a few in this process, many in other processes, so that this one stays responsive."""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.corpus.folder_walk import FoundFile
from engine.corpus.note_reader import NoteText, Unreadable
from engine.indexing.crashing_files import CrashRecord
from engine.indexing.note_preparation import prepare
from engine.records import FileIssue
from engine.settings.options import ChunkingSettings
from engine.store.writer import NewFile

if TYPE_CHECKING:
    from engine.indexing.preparation_worker import Worker

_WORTHWHILE = 2_000_000
"""Total size of notes in bytes from which other processes are started; starting each takes some 0.4 s of processor
time.
"""
_MOST_PROCESSES = 3
_MOST_WAITING = 16
"""Most notes queued for one process."""
_MOST_TEXT = 4_000_000
"""Most characters of all queued notes together; a longer note is queued alone."""


class NotePreparation:
    """Turns notes into database rows, in the order in which they are put; a context manager for use on one thread.

    If another process dies or fails, its notes are prepared in this one.
    """

    def __init__(self, chunking: ChunkingSettings, crashes: CrashRecord, token: CancelToken, size: int) -> None:
        """`size`: total bytes of all notes to prepare at most."""
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

    def put(self, file: FoundFile, note: NoteText) -> Iterator[NewFile | FileIssue]:
        """Queue a note; yields the rows or the issue of each note that is ready. Raises `Cancelled` while waiting."""
        self._crashes.finish_reading()  # it waits: if the process is killed now, that is not due to this note
        worker = min((w for w in self._workers if w.ready()), key=lambda w: w.waiting, default=None)
        if worker is not None and not worker.send(file, note, self._chunking):
            worker = None
        self._waiting.append(_Waiting(file, note, worker))
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
                return prepare(waiting.file, waiting.note, self._chunking)
        except Unreadable as problem:
            return problem.issue


@dataclass(frozen=True)
class _Waiting:
    """A queued note, and the process that prepares it."""

    file: FoundFile
    note: NoteText
    worker: "Worker | None"
    """None if the note is prepared in this process."""

    def is_ready(self) -> bool:
        return self.worker is None or self.worker.has_answer()


def _start_workers() -> "list[Worker]":
    from engine.indexing.preparation_worker import Worker  # multiprocessing takes 10 ms to import

    return [Worker() for _ in range(max(1, min(_MOST_PROCESSES, os.cpu_count() or 1)))]
