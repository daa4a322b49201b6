"""The vector half of the index: a table of sqlite-vec answers or the matrix, as the settings and the size want it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import apsw

from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.records import Probe
from engine.settings.options import VectorSettings
from engine.store.index import IndexStore
from engine.store.matrix_engine import MatrixEngine
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors

if TYPE_CHECKING:
    from engine.store.matrix_block import Codes
    from engine.store.vec0 import VecState
    from engine.store.vec0_engine import Vec0Engine

_STEPS_BETWEEN_LOOKS = 2000
"""Of SQLite's virtual machine; some tens of microseconds."""
_COMPARED_IN_5_MS = 2_600_000
_OVERHEAD = 300
"""The vector half of a search, with exact re-scoring, takes 5 ms in a table of 3,200 x 512, 2,400 x 768 and 1,450 x
1536 (benchmark `crossover`): so many dimensions altogether, if each row counts for 300 more than it has."""
_RETURN_SHARE = 0.8
"""An index must shrink to this share of the limit before it gets a table again, or it would switch at every note."""

EngineName = Literal["numpy", "sqlite-vec"]


@dataclass(frozen=True)
class EngineChoice:
    """What compares vectors now, and why."""

    engine: EngineName
    reason: str
    """One sentence."""
    switches_at: int | None
    """Chunks from which the other engine would be chosen: more than these of sqlite-vec, at most these of numpy."""


class VectorIndex:
    """Finds the chunks nearest to a vector. Thread-safe."""

    def __init__(self, store: IndexStore, settings: VectorSettings) -> None:
        self._store = store
        self._path = settings.extension_path or None
        self._chosen = settings.engine
        self._matrix = MatrixEngine(store.files)
        self._probed: VecState | None = None

    @cached_property
    def _table(self) -> "Vec0Engine":
        from engine.store.vec0_engine import Vec0Engine

        return Vec0Engine(self._store, self._path)

    @property
    def extension(self) -> "VecState | None":
        """What is known of sqlite-vec; None before anyone tried to load it."""
        return (self._table.state if "_table" in vars(self) else None) or self._probed

    @property
    def table_broken(self) -> bool:
        """Whether SQLite refused to work with the table, so that the matrix answers until the next sync."""
        return "_table" in vars(self) and self._table.broken

    def probe(self) -> Probe:
        """Try to load sqlite-vec, into a separate connection."""
        from engine.store import vec0

        connection = apsw.Connection(":memory:")
        try:
            self._probed = vec0.load_extension(connection, self._path)
        finally:
            connection.close()
        if self._probed.available and "_table" in vars(self):
            self._table.state = None  # it may have failed before
        return Probe(ok=self._probed.available, error=self._probed.error or "")

    # --- which engine -----------------------------------------------------------------------------------------------

    def choice(self, snapshot: Snapshot, model: StoredModel | None) -> EngineChoice:
        """The engine that searches of this snapshot use. Tries to load sqlite-vec if the table is enabled."""
        limit = None if model is None or self._chosen != "auto" else self._limit(snapshot, model)
        if model is None or not self.wants_table(snapshot, model):
            if limit is None:
                return EngineChoice("numpy", tr("Chosen in the settings.") if self._chosen == "numpy" else "", None)
            more = tr(
                "Automatic: numpy is faster for so many passages; at {count:,} or fewer, sqlite-vec takes over.",
                count=limit,
            )
            return EngineChoice("numpy", more, limit)
        if self._table.answers(snapshot, model):
            if limit is None:
                return EngineChoice("sqlite-vec", tr("Chosen in the settings."), None)
            few = tr(
                "Automatic: sqlite-vec searches up to {count:,} passages within 5 ms; above that, numpy takes over.",
                count=limit,
            )
            return EngineChoice("sqlite-vec", few, limit)
        if not self._table.usable(snapshot.connection):
            return EngineChoice("numpy", tr("sqlite-vec can't be loaded, so vectors are compared in memory."), None)
        return EngineChoice("numpy", tr("The next update fills the table of sqlite-vec."), limit)

    def wants_table(self, snapshot: Snapshot, model: StoredModel) -> bool:
        """Whether the settings, or by `auto` the size of the index, ask for the table of sqlite-vec."""
        from engine.store.vec0 import MOST_DIMENSIONS

        if self._chosen == "numpy" or model.dims > MOST_DIMENSIONS:
            return False
        return self._chosen == "sqlite-vec" or snapshot.chunk_count() <= self._limit(snapshot, model)

    @staticmethod
    def _limit(snapshot: Snapshot, model: StoredModel) -> int:
        """Most chunks for which `auto` uses the table; fewer before there is one."""
        share = 1 if snapshot.meta("vec0") is not None else _RETURN_SHARE
        return int(share * _COMPARED_IN_5_MS / (model.dims + _OVERHEAD))

    # --- searching --------------------------------------------------------------------------------------------------

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
        """Ids (m,) and near cosines (m,) of the nearest chunks, best first, m <= k; `allowed` restricts them."""
        if self._chosen != "numpy":
            found = self._table.search(snapshot, model, query, k, allowed)
            if found is not None:
                return found
        return self._matrix.search(snapshot, model, query, k, allowed=allowed, cancel=cancel)

    def rows(self, snapshot: Snapshot, model: StoredModel) -> int:
        """How many chunks can be compared with a vector now. Cheap right after a search."""
        if self._uses_table(snapshot, model):
            return snapshot.chunk_count() - snapshot.pending_vectors(model)
        return self._matrix.in_step(snapshot, model).rows

    def all_codes(self, snapshot: Snapshot, model: StoredModel) -> "list[tuple[Ids, Codes, Vectors]]":
        """Every vector, quantised and part by part: chunk ids (n,), codes (n, dims), scales (n,).

        Chunks that the snapshot does not hold may be among them.
        """
        parts = self._matrix.in_step(snapshot, model).parts()
        if self._uses_table(snapshot, model):
            self._matrix.forget()  # searches do not need it
        return parts

    def _uses_table(self, snapshot: Snapshot, model: StoredModel) -> bool:
        return self._chosen != "numpy" and self._table.answers(snapshot, model)

    # --- following the index ----------------------------------------------------------------------------------------

    def changed(
        self,
        before: int,
        model: StoredModel | None,
        *,
        added: tuple[Sequence[int], Vectors] | None = None,
        new: Sequence[int] = (),
        removed: Sequence[int] = (),
    ) -> None:
        """Apply the last commit of this process, which began at stamp `before`.

        `added` are vectors of `model`; `new` are chunks whose text may have had a vector before. An engine that was not
        at `before` is skipped, as is a table that the index has outgrown.
        """
        with self._store.read() as snapshot:
            self._matrix.changed(snapshot, before, model, added=added, new=new, removed=removed)
            if self._chosen == "numpy" or model is None:
                return
            follows = self._table.in_step(snapshot, model, before) and self.wants_table(snapshot, model)
        if follows:
            import numpy as np

            added = added or ((), np.empty((0, model.dims), np.float32))
            self._table.changed(before, model, added, new, removed)

    def settle(self, model: StoredModel, cancel: CancelToken | None = None) -> None:
        """After a sync, outside any transaction: update the engine that searches use, and save it for the next start.

        An unused table still answers until `discard_unused`. Raises `Cancelled`; the next sync does the rest.
        """
        with self._store.read(cancel) as snapshot:
            wanted = self.wants_table(snapshot, model)
        if wanted and self._table.settle(model, cancel):
            self._matrix.discard()
            return
        with self._store.read(cancel) as snapshot, _stopping(snapshot.connection, cancel):
            worth_saving = self._matrix.worth_saving(snapshot, model)
        if worth_saving:
            self._save(model, cancel)

    def forget(self) -> None:
        """Drop copies outside the database after vectors were deleted from it."""
        self._matrix.discard()

    def rewrite(self, model: StoredModel, cancel: CancelToken | None = None) -> None:
        """Write the saved matrix again from the vectors in the database. Raises `Cancelled`."""
        self._matrix.discard()
        self._save(model, cancel)

    def _save(self, model: StoredModel, cancel: CancelToken | None) -> None:
        # Not within the read: a repair of the index holds the writer and waits for the readers. Nobody else writes now.
        self._store.make_durable()
        with self._store.read(cancel) as snapshot, _stopping(snapshot.connection, cancel):
            self._matrix.save(snapshot, model)

    # --- the table --------------------------------------------------------------------------------------------------

    def table_problem(self, snapshot: Snapshot, model: StoredModel | None) -> str:
        """What is wrong with the table of sqlite-vec, one sentence; empty where nothing is, or none is needed."""
        from engine.store import vec0

        there = vec0.has_table(snapshot.connection)
        if model is None:
            return tr("An unused table takes up space.") if there and self._chosen == "numpy" else ""
        if not self.wants_table(snapshot, model):
            return tr("An unused table takes up space.") if there else ""
        if self._chosen == "auto" and not self._table.in_step(snapshot, model):
            return ""  # the matrix answers as well until the next update
        if not there:
            return tr("It is not there yet: vectors are compared in memory.")
        return self._table.problem(snapshot, model)

    def refill_table(self, model: StoredModel | None, cancel: CancelToken | None = None) -> None:
        """Make the table of sqlite-vec again, or drop an unused one; only for the holder of the lock."""
        with self._store.read(cancel) as snapshot:
            wanted = model is not None and self.wants_table(snapshot, model)
        if model is not None and wanted:
            self._table.refill(model, cancel)
        else:
            self.discard_unused(model)

    def discard_unused(self, model: StoredModel | None) -> None:
        """Drop the table of sqlite-vec where the settings or the size of the index want the other engine."""
        if model is None and self._chosen != "numpy":
            return  # a model may be chosen again
        from engine.store import vec0

        with self._store.read() as snapshot:
            if not vec0.has_table(snapshot.connection):
                return
            if model is not None and self.wants_table(snapshot, model):
                return
        self._table.discard()


@contextmanager
def _stopping(connection: apsw.Connection, cancel: CancelToken | None) -> Iterator[None]:
    """Stop every statement once cancelled: an interrupt alone would miss statements that begin after it."""
    if cancel is None:
        yield
        return
    connection.set_progress_handler(lambda: cancel.cancelled, _STEPS_BETWEEN_LOOKS)
    try:
        yield
    finally:
        connection.set_progress_handler(None)
