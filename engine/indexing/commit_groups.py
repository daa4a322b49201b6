"""Commits the results of a sync's stages: text changes in groups, vectors as they arrive."""

import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from engine.corpus.documents import NOT_NOTES
from engine.indexing.stage_data import StageWork
from engine.records import FileIssue, Source
from engine.store.index import KEYWORDS_TO_PURGE
from engine.store.vector_encoding import StoredModel, Vectors, encode
from engine.store.writer import Writer

Change = Callable[[Writer], tuple[list[int], list[int]]]
"""Function that applies one change inside a transaction; returns the ids of (new, removed) chunks."""

_CHANGES_PER_COMMIT = 100
_SECONDS_PER_COMMIT = 1.0
_FIRST_COMMIT_SECONDS = 0.15
_PAUSE_BETWEEN_COMMITS = 0.02
_SECONDS_WRITING = 0.1
"""Time from which the remaining changes are left to another commit, so that other writers don't wait."""


class TextOutcome(msgspec.Struct):
    """Counts the files and chunks that the text stage has processed."""

    files_seen: int = 0
    files_indexed: int = 0
    files_removed: int = 0
    chunks_indexed: int = 0
    chunks_removed: int = 0
    failed: list[FileIssue] = msgspec.field(default_factory=list)
    skipped: list[FileIssue] = msgspec.field(default_factory=list)
    unreachable: dict[Source, set[str]] = msgspec.field(default_factory=lambda: {"memory": set(), "sessions": set()})
    """Stable names of folders and files that could not be checked; nothing below them was checked either."""

    @property
    def changed(self) -> bool:
        return bool(self.files_indexed or self.files_removed)

    def report(self, issues: Iterable[FileIssue]) -> None:
        """Add files that were not indexed: those that aren't notes are skipped, the others have failed."""
        for issue in issues:
            (self.skipped if issue.rule == NOT_NOTES else self.failed).append(issue)

    def add(self, later: "TextOutcome") -> None:
        """Add the counts of a later pass over the same files: those of its work are added, all others replaced."""
        self.files_seen = later.files_seen
        self.files_indexed += later.files_indexed
        self.files_removed += later.files_removed
        self.chunks_indexed += later.chunks_indexed
        self.chunks_removed += later.chunks_removed
        self.failed, self.skipped, self.unreachable = later.failed, later.skipped, later.unreachable


class Commits:
    """Collects the changes of one pass over one generation, and commits them in groups."""

    def __init__(self, work: StageWork, outcome: TextOutcome, after_commit: Callable[[], None]) -> None:
        """`after_commit` is called once all collected changes are committed."""
        self._after_commit = after_commit
        self._store = work.context.store
        self._vectors = work.context.vectors
        self._committed = work.context.committed
        self._crashes = work.context.crashes
        self._model = work.model
        self._tables = work.tables
        self._outcome = outcome
        self._waiting: list[tuple[Change, int, int]] = []
        self._begun = 0.0
        """Time of the first collected change."""
        self._last = 0.0
        self._count = 0

    def add(self, change: Change, *, indexed: int = 0, removed: int = 0) -> None:
        """Add a change that indexes or removes this number of files; commit once enough are collected."""
        if not self._waiting:
            self._begun = time.monotonic()
        self._waiting.append((change, indexed, removed))
        # The first commit comes early, so that a new index can be searched soon.
        seconds = _SECONDS_PER_COMMIT if self._outcome.chunks_indexed else _FIRST_COMMIT_SECONDS
        if len(self._waiting) >= _CHANGES_PER_COMMIT or time.monotonic() - self._begun >= seconds:
            self.flush()

    def flush(self) -> None:
        """Commit the collected changes. Raises `Cancelled` after all of them."""
        self._crashes.finish_reading()
        if not self._waiting:
            return
        while self._waiting:
            self._flush_some()
        self._after_commit()

    def _flush_some(self) -> None:
        """Commit the first of the collected changes, as many as are written in a short time."""
        if self._count:
            # Reading and chunking the next files gives other writers time; if that was too short, wait.
            time.sleep(max(0.0, _PAUSE_BETWEEN_COMMITS - (time.monotonic() - self._last)))
        changes, self._waiting = self._waiting, []
        new: list[int] = []
        gone: list[int] = []
        with self._store.write(self._tables) as writer:
            end, done = time.monotonic() + _SECONDS_WRITING, 0
            for change, _, _ in changes:
                added, removed = change(writer)
                new += added
                gone += removed
                done += 1
                if time.monotonic() >= end:
                    break
            changes, later = changes[:done], changes[done:]
            if any(removed for _, _, removed in changes):
                writer.set_meta(KEYWORDS_TO_PURGE, 1)
            before = writer.stamp
            if self._tables is None:  # a generation that isn't published yet has no stamp
                writer.advance_stamp()
        if self._tables is None:
            self._vectors.apply_commit(before, self._model, new=new, removed=gone)
        self._waiting = later
        outcome = self._outcome
        outcome.files_indexed += sum(indexed for _, indexed, _ in changes)
        outcome.files_removed += sum(removed for _, _, removed in changes)
        outcome.chunks_indexed += len(new)
        outcome.chunks_removed += len(gone)
        self._committed()
        self._count += 1
        self._last = time.monotonic()


class VectorStorage:
    """Stores vectors of one model in one generation, and makes them available to searches."""

    def __init__(self, work: StageWork, model: StoredModel) -> None:
        self._store = work.context.store
        self._vectors = work.context.vectors
        self._committed = work.context.committed
        self._tables = work.tables
        self._meter = work.meter
        self._model = model

    def save(self, hashes: Sequence[bytes], vectors: Vectors, *, made: bool = True) -> None:
        """Store the vectors (n, dims) of distinct texts, given by their hashes, in one transaction.

        `made`: the vectors were made by this sync, not copied.
        """
        with self._store.write(self._tables) as writer:
            writer.store_vectors(self._model.id, zip(hashes, encode(vectors), strict=True))
            before = writer.stamp
            if self._tables is None:
                row_of = {hash_: row for row, hash_ in enumerate(hashes)}
                chunks = writer.chunks_of_hashes(list(row_of))
                writer.advance_stamp()
        if self._tables is None:
            rows = vectors[[row_of[hash_] for _, hash_ in chunks]]
            self._vectors.apply_commit(before, self._model, added=([id_ for id_, _ in chunks], rows))
        if made:
            self._meter.embedded += len(hashes)
        else:
            self._meter.reused += len(hashes)
        self._committed()
