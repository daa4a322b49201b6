"""The vector half of the index: one engine answers, the one of the settings or, where that cannot, the matrix."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import apsw

from engine.control import CancelToken
from engine.language import tr
from engine.records import Probe
from engine.settings.options import VectorSettings
from engine.store.coding import Ids, StoredModel, Vectors
from engine.store.index import IndexStore
from engine.store.matrix_engine import MatrixEngine
from engine.store.snapshot import Snapshot

if TYPE_CHECKING:
    from engine.store.vec0 import VecState
    from engine.store.vec0_engine import Vec0Engine

if TYPE_CHECKING:
    from engine.store.matrix_block import Codes

_STEPS_BETWEEN_LOOKS = 2000
"""Of SQLite's virtual machine; some tens of microseconds."""

EngineName = Literal["numpy", "sqlite-vec"]


class VectorIndex:
    """Finds the chunks nearest to a vector. Thread-safe."""

    def __init__(self, store: IndexStore, settings: VectorSettings) -> None:
        self._store = store
        self._path = settings.extension_path or None
        self._matrix = MatrixEngine(store.files)
        self._vec0 = self._make_vec0() if settings.engine == "sqlite-vec" else None
        self._probed: VecState | None = None
        self._behind = False
        """Whether the last question came while the engine's own table was not in step, and the matrix stood in."""

    def _make_vec0(self) -> "Vec0Engine":
        from engine.store.vec0_engine import Vec0Engine

        return Vec0Engine(self._store, self._path)

    @property
    def engine(self) -> EngineName:
        """The engine that answers now."""
        return "sqlite-vec" if self._vec0_works and not self._behind else "numpy"

    @property
    def _vec0_works(self) -> bool:
        extension = self.extension
        return self._vec0 is not None and (extension is None or extension.available)

    @property
    def extension(self) -> "VecState | None":
        """What is known of sqlite-vec; None before anyone tried to load it."""
        return self._vec0.state if self._vec0 is not None and self._vec0.state is not None else self._probed

    def tried(self) -> "VecState | None":
        """The same, after a try to load it where the settings choose it and nobody has tried yet."""
        if self._vec0 is not None and self.extension is None:
            self.probe()
        return self.extension

    def probe(self) -> Probe:
        """Try to load sqlite-vec, into a connection of its own."""
        from engine.store import vec0

        connection = apsw.Connection(":memory:")
        try:
            self._probed = vec0.load_extension(connection, self._path)
        finally:
            connection.close()
        return Probe(ok=self._probed.available, error=self._probed.error or "")

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
        """Ids (m,) and cosines (m,) of the nearest chunks, best first, m <= k; `allowed` restricts them.

        The matrix's cosines are approximate.
        """
        if self._vec0 is not None:
            found = self._vec0.search(snapshot, model, query, k, allowed)
            self._behind = found is None
            if found is not None:
                return found
        return self._matrix.search(snapshot, model, query, k, allowed=allowed, cancel=cancel)

    def rows(self, snapshot: Snapshot, model: StoredModel) -> int:
        """How many chunks can be compared with a vector now. Cheap right after a search."""
        if self.engine == "numpy":
            return self._matrix.in_step(snapshot, model).rows
        return snapshot.chunk_count() - snapshot.pending_vectors(model)

    def all_codes(self, snapshot: Snapshot, model: StoredModel) -> "list[tuple[Ids, Codes, Vectors]]":
        """Every vector, quantised and part by part: chunk ids (n,), codes (n, dims), scales (n,).

        Chunks that the snapshot does not hold may be among them.
        """
        parts = self._matrix.in_step(snapshot, model).parts()
        if self._vec0_works and not self._behind:
            self._matrix.forget()  # chosen to save memory
        return parts

    def changed(
        self,
        before: int,
        after: int,
        model: StoredModel | None,
        *,
        added: tuple[Sequence[int], Vectors] | None = None,
        removed: Sequence[int] = (),
    ) -> None:
        """Follow one commit of this process that took the index from stamp `before` to `after`.

        An engine that was not at `before` is left alone: its next use brings it in step.
        """
        self._matrix.changed(before, after, model, added=added, removed=removed)
        if self._vec0 is not None:
            self._vec0.changed(before, model, added, removed)

    def settle(self, model: StoredModel, cancel: CancelToken | None = None) -> None:
        """After a sync, outside any transaction: keep what the next start would otherwise have to work out again.

        Raises `Cancelled`; what was not done is left to the next sync.
        """
        if self._vec0 is not None:
            self._vec0.settle(model, cancel)
        if self._vec0_works:
            # Chosen to save memory: what stood in while the table was filled is no longer needed.
            self._behind = False
            self._matrix.forget()
            return
        with self._store.read(cancel) as snapshot, _stopping(snapshot.connection, cancel):
            worth_saving = self._matrix.worth_saving(snapshot, model)
        if worth_saving:
            self._save(model, cancel)

    def forget(self) -> None:
        """Drop what stands outside the database after vectors were deleted from it."""
        self._matrix.discard()

    def rewrite(self, model: StoredModel, cancel: CancelToken | None = None) -> None:
        """Write the saved matrix anew from the vectors in the database. Raises `Cancelled`."""
        self._matrix.discard()
        self._save(model, cancel)

    def _save(self, model: StoredModel, cancel: CancelToken | None) -> None:
        # Not within the read: who mends the index holds the writer and waits for the readers. Nobody else writes now.
        self._store.make_durable()
        with self._store.read(cancel) as snapshot, _stopping(snapshot.connection, cancel):
            self._matrix.save(snapshot, model)

    def table_problem(self, snapshot: Snapshot, model: StoredModel | None) -> str:
        """What is wrong with the table of sqlite-vec, one sentence; empty where nothing is, or none is needed."""
        from engine.store import vec0

        if not vec0.has_table(snapshot.connection):
            return (
                ""
                if self._vec0 is None or model is None
                else tr("It is not there yet: vectors are compared in memory.")
            )
        if self._vec0 is None:
            return tr("A table that nobody uses any more takes room.")
        return "" if model is None else self._vec0.problem(snapshot, model)

    def refill_table(self, model: StoredModel | None, cancel: CancelToken | None = None) -> None:
        """Make the table of sqlite-vec anew, or drop it where nobody uses it; only for the holder of the lock."""
        if self._vec0 is None:
            self.discard_unused()
        elif model is not None:
            self._vec0.refill(model, cancel)

    def discard_unused(self) -> None:
        """Drop the table of sqlite-vec where the settings have gone back to the other engine."""
        if self._vec0 is not None:
            return
        from engine.store import vec0

        with self._store.read() as snapshot:
            if not vec0.has_table(snapshot.connection):
                return
        with self._store.write() as writer:
            # SQLite drops a table of an extension only with its help.
            if vec0.load_extension(writer.connection, self._path).available:
                vec0.drop_table(writer.connection)
                writer.set_meta("vec0", None)


@contextmanager
def _stopping(connection: apsw.Connection, cancel: CancelToken | None) -> Iterator[None]:
    """Let no statement go on once cancelled: an interrupt alone would miss what begins after it."""
    if cancel is None:
        yield
        return
    connection.set_progress_handler(lambda: cancel.cancelled, _STEPS_BETWEEN_LOOKS)
    try:
        yield
    finally:
        connection.set_progress_handler(None)
