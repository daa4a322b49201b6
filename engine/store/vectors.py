"""Vector search of the index: uses sqlite-vec or the matrix, depending on the settings and the size."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import apsw
import msgspec

from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.settings.search_settings import VectorSettings
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors

if TYPE_CHECKING:
    from engine.records import Probe
    from engine.store.sqlite_vec_engine import ExtensionState, Vec0Engine
    from engine.store.vector_matrix_blocks import Codes
    from engine.store.vector_matrix_engine import MatrixEngine

_STEPS_BETWEEN_CHECKS = 2000
"""Instructions of SQLite's virtual machine between checks for a cancel; some tens of microseconds."""
_COMPARED_IN_5_MS = 2_600_000
_OVERHEAD = 300
"""A vector search with exact rescoring takes 5 ms in a table of 3,200 x 512, 2,400 x 768 and 1,450 x 1536 (benchmark
`crossover`). These have this number of components in total, if 300 are added to the dimensions of each row."""
_RETURN_SHARE = 0.8
"""An index must shrink to this share of the limit to get a table again, or it would switch with every note."""

EngineName = Literal["numpy", "sqlite-vec"]


class EngineChoice(msgspec.Struct, frozen=True):
    """The engine that compares vectors, and the reason for its choice."""

    engine: EngineName
    reason: str
    """One sentence, or empty."""
    switches_at: int | None
    """Number of chunks at which the engine changes: sqlite-vec is used up to it, numpy above."""


class VectorIndex:
    """Finds the chunks nearest to a vector. Thread-safe."""

    def __init__(self, store: IndexStore, settings: VectorSettings) -> None:
        self._store = store
        self._path = settings.extension_path or None
        self._chosen = settings.engine
        self._probed: ExtensionState | None = None

    @cached_property
    def _matrix(self) -> "MatrixEngine":
        from engine.store.vector_matrix_engine import MatrixEngine

        return MatrixEngine(self._store.files)

    @cached_property
    def _table(self) -> "Vec0Engine":
        from engine.store.sqlite_vec_engine import Vec0Engine

        return Vec0Engine(self._store, self._path)

    @property
    def extension(self) -> "ExtensionState | None":
        """Status of sqlite-vec; None before the first attempt to load it."""
        return (self._table.state if "_table" in vars(self) else None) or self._probed

    @property
    def table_broken(self) -> bool:
        """Whether SQLite failed to use the table, so that searches use the matrix until the next sync."""
        return "_table" in vars(self) and self._table.broken

    def probe(self) -> "Probe":
        """Try to load sqlite-vec into a separate connection."""
        from engine.records import Probe
        from engine.store import sqlite_vec_engine

        with closing(apsw.Connection(":memory:")) as connection:
            self._probed = sqlite_vec_engine.load_extension(connection, self._path)
        if self._probed.available and "_table" in vars(self):
            self._table.state = None  # loading may have failed before
        return Probe(ok=self._probed.available, error=self._probed.error or "")

    # --- engine selection -------------------------------------------------------------------------------------------

    def choice(self, snapshot: Snapshot, model: StoredModel | None) -> EngineChoice:
        """Return the engine that searches of this snapshot use. Tries to load sqlite-vec if its table is required."""
        # A wrong path is reported before there are vectors to compare.
        if model is None and self._path and self._chosen != "numpy" and not self._table.usable(snapshot.connection):
            return self._without_extension()
        limit = None if model is None or self._chosen != "auto" else self._limit(snapshot, model)
        if model is None or not self.prefers_table(snapshot, model):
            if limit is None:
                return EngineChoice("numpy", tr("Chosen in the settings.") if self._chosen == "numpy" else "", None)
            more = tr(
                "Automatic: numpy is faster for this many passages; at {count:,} or fewer, sqlite-vec takes over.",
                count=limit,
            )
            return EngineChoice("numpy", more, limit)
        if self._table.can_search(snapshot, model):
            if limit is None:
                return EngineChoice("sqlite-vec", tr("Chosen in the settings."), None)
            few = tr(
                "Automatic: sqlite-vec searches up to {count:,} passages within 5 ms; above that, numpy takes over.",
                count=limit,
            )
            return EngineChoice("sqlite-vec", few, limit)
        if not self._table.usable(snapshot.connection):
            return self._without_extension()
        return EngineChoice("numpy", tr("The next update fills the table of sqlite-vec."), limit)

    @staticmethod
    def _without_extension() -> EngineChoice:
        return EngineChoice("numpy", tr("sqlite-vec can't be loaded, so vectors are compared in memory."), None)

    def prefers_table(self, snapshot: Snapshot, model: StoredModel) -> bool:
        """Whether the settings, or with `auto` the index size, select the table of sqlite-vec."""
        from engine.store.sqlite_vec_engine import MAX_DIMENSIONS

        if self._chosen == "numpy" or model.dims > MAX_DIMENSIONS:
            return False
        return self._chosen == "sqlite-vec" or snapshot.chunk_count() <= self._limit(snapshot, model)

    @staticmethod
    def _limit(snapshot: Snapshot, model: StoredModel) -> int:
        """Return the highest number of chunks for which `auto` uses the table; lower before there is a table."""
        share = 1 if snapshot.meta("vec0") is not None else _RETURN_SHARE
        return int(share * _COMPARED_IN_5_MS / (model.dims + _OVERHEAD))

    # --- search -----------------------------------------------------------------------------------------------------

    def search(
        self,
        snapshot: Snapshot,
        model: StoredModel,
        query: Vectors,
        k: int,
        *,
        allowed: Sequence[int] | None = None,
        cancel: CancelToken | None = None,
    ) -> tuple[Ids, Vectors]:
        """Return ids (m,) and approximate cosines (m,) of the nearest chunks, best first, m <= k."""
        snapshot = snapshot.unrestricted or snapshot  # the engines have the vectors of all files, limited by `allowed`
        if self._chosen != "numpy":
            match = self._table.search(snapshot, model, query, k, allowed, cancel)
            if match is not None:
                return match
        return self._matrix.search(snapshot, model, query, k, allowed=allowed, cancel=cancel)

    def rows(self, snapshot: Snapshot, model: StoredModel) -> int:
        """Return the number of chunks that can be searched by vector. Cheap right after a search."""
        if snapshot.hidden or self._uses_table(snapshot, model):
            return snapshot.chunk_count() - snapshot.pending_vectors(model)
        return self._matrix.matrix_of(snapshot, model).rows

    def all_codes(
        self, snapshot: Snapshot, model: StoredModel, cancel: CancelToken | None = None
    ) -> "list[tuple[Ids, Codes, Vectors]]":
        """Return all quantised vectors in parts: chunk ids (n,), codes (n, dims), scales (n,).

        May include chunks that are not in the snapshot.
        """
        parts = self._matrix.matrix_of(snapshot, model, cancel).parts()
        if self._uses_table(snapshot, model):
            self._matrix.free_memory()  # searches do not need it
        return parts

    def _uses_table(self, snapshot: Snapshot, model: StoredModel) -> bool:
        return self._chosen != "numpy" and self._table.can_search(snapshot, model)

    # --- updates ----------------------------------------------------------------------------------------------------

    def apply_commit(
        self,
        before: int,
        model: StoredModel | None,
        *,
        added: tuple[Sequence[int], Vectors] | None = None,
        new: Sequence[int] = (),
        removed: Sequence[int] = (),
    ) -> None:
        """Apply the last commit of this process, which began at stamp `before`, to the vectors outside the database.

        `added` are vectors of `model`; `new` are chunks whose text may already have a cached vector. An engine that was
        not at `before` is left unchanged, and so is a table that the index has outgrown.
        """
        with self._store.read() as snapshot:
            self._matrix.apply_commit(snapshot, before, model, added=added, new=new, removed=removed)
            if self._chosen == "numpy" or model is None:
                return
            follows = self._table.matches(snapshot, model, before) and self.prefers_table(snapshot, model)
        if follows:
            import numpy as np

            added = added or ((), np.empty((0, model.dims), np.float32))
            self._table.apply_commit(before, model, added, new, removed)

    def update_engine(self, model: StoredModel, cancel: CancelToken | None = None, *, load: bool = True) -> None:
        """Update the engine that searches use, and save it for the next start.

        Call this after a sync, outside any transaction. A table that is no longer selected is still searched until
        `discard_unused`. `load`: read a matrix into memory even if its file is up to date, since this process will
        search it. Raises `Cancelled`; the next sync does the remaining work.
        """
        with self._store.read(cancel) as snapshot:
            preferred = self.prefers_table(snapshot, model)
        if preferred and self._table.update(model, cancel):
            self._matrix.discard()
            return
        with self._store.read(cancel) as snapshot, _stopping(snapshot.connection, cancel):
            if not load and self._matrix.is_saved(snapshot, model):
                return
            worth_saving = self._matrix.worth_saving(snapshot, model, cancel)
        if worth_saving:
            self._save(model, cancel)

    def discard_copies(self) -> None:
        """Discard the copies of vectors outside the database, after vectors were deleted."""
        self._matrix.discard()

    def rewrite(self, model: StoredModel, cancel: CancelToken | None = None) -> None:
        """Rewrite the saved matrix from the vectors in the database. Raises `Cancelled`."""
        self._matrix.discard()
        self._save(model, cancel)

    def _save(self, model: StoredModel, cancel: CancelToken | None) -> None:
        # Not inside the read: an index repair holds the writer and waits for readers. The lock keeps other writers out.
        self._store.make_durable()
        with self._store.read(cancel) as snapshot, _stopping(snapshot.connection, cancel):
            self._matrix.save(snapshot, model)

    # --- the sqlite-vec table ---------------------------------------------------------------------------------------

    def table_problem(self, snapshot: Snapshot, model: StoredModel | None) -> str:
        """Return the fault of the sqlite-vec table as a sentence; empty if it has none or is not needed."""
        from engine.store import sqlite_vec_engine

        there = sqlite_vec_engine.has_table(snapshot.connection)
        if model is None:
            return tr("An unused vector table takes up space.") if there and self._chosen == "numpy" else ""
        if not self.prefers_table(snapshot, model):
            return tr("An unused vector table takes up space.") if there else ""
        if self._chosen == "auto" and not self._table.matches(snapshot, model):
            return ""  # searches use the matrix until the next update
        if not there:
            return tr("The vector table does not exist yet, so vectors are compared in memory.")
        return self._table.problem(snapshot, model)

    def refill_table(self, model: StoredModel | None, cancel: CancelToken | None = None) -> None:
        """Recreate the table of sqlite-vec, or drop an unused one. The caller must hold the writer lock."""
        with self._store.read(cancel) as snapshot:
            preferred = model is not None and self.prefers_table(snapshot, model)
        if model is not None and preferred:
            self._table.refill(model, cancel)
        else:
            self.discard_unused(model)

    def discard_unused(self, model: StoredModel | None) -> None:
        """Drop the table of sqlite-vec if the settings or the index size select the other engine."""
        if model is None and self._chosen != "numpy":
            return  # a model may be selected again
        from engine.store import sqlite_vec_engine

        with self._store.read() as snapshot:
            if not sqlite_vec_engine.has_table(snapshot.connection):
                return
            if model is not None and self.prefers_table(snapshot, model):
                return
        self._table.discard()


@contextmanager
def _stopping(connection: apsw.Connection, cancel: CancelToken | None) -> Iterator[None]:
    """Abort every SQL statement after a cancel; an interrupt alone would miss statements that start later."""
    if cancel is None:
        yield
        return
    connection.set_progress_handler(lambda: cancel.cancelled, _STEPS_BETWEEN_CHECKS)
    try:
        yield
    finally:
        connection.set_progress_handler(None)
