"""The sqlite-vec engine: keeps the `chunks_vec` table in step with the vectors, and searches in it.

`meta.vec0` says of which model, generation and stamp the table is; a search in any other state of the index is left to
the matrix engine.
"""

import logging
import threading
from collections.abc import Sequence

import apsw

from engine.control import CancelToken
from engine.language import tr
from engine.store import vec0
from engine.store.coding import Ids, StoredModel, Vectors, decode
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot

log = logging.getLogger(__name__)

_ROWS_AT_ONCE = 1024
_FEW = 512
"""The stored vectors of so few chunks are read faster than the table is searched."""


class Vec0Engine:
    """Thread-safe. Never raises for a missing extension or a broken table: `state` says what is wrong."""

    def __init__(self, store: IndexStore, path: str | None) -> None:
        self._store = store
        self._path = path
        self._lock = threading.Lock()
        self._broken = False
        """Whether SQLite refused to work with the table; the next sync makes it again."""
        self.state: vec0.VecState | None = None
        """None before it was first needed."""

    def usable(self, connection: apsw.Connection) -> bool:
        """Load the extension into this connection, unless it is there already or known not to load."""
        with self._lock:
            if self.state is not None and not self.state.available:
                return False
            if not _loaded(connection):
                self.state = vec0.load_extension(connection, self._path)
            return self.state is None or self.state.available

    def in_step(self, snapshot: Snapshot, model: StoredModel, stamp: int | None = None) -> bool:
        """Whether the table is of this snapshot, or of this generation's `stamp`."""
        return snapshot.meta("vec0") == _moment(snapshot, model, stamp) and not self._broken

    def answers(self, snapshot: Snapshot, model: StoredModel) -> bool:
        """Whether searches of this snapshot use the table."""
        return self.in_step(snapshot, model) and self.usable(snapshot.connection)

    def search(
        self, snapshot: Snapshot, model: StoredModel, query: Vectors, k: int, allowed: Sequence[int] | None
    ) -> tuple[Ids, Vectors] | None:
        """Ids (m,) and near cosines (m,), best first; None where the table cannot answer."""
        if not self.answers(snapshot, model):
            return None
        if allowed is not None and len(allowed) <= max(k, _FEW):
            return _exact(snapshot, model, query, k, allowed)
        if k > vec0.MOST_NEIGHBOURS:
            return None
        try:
            return vec0.nearest(snapshot.connection, query, k, allowed=allowed)
        except apsw.SQLError as error:
            self._note_broken(error)
            return None

    def changed(
        self,
        before: int,
        model: StoredModel,
        added: tuple[Sequence[int], Vectors] | None,
        new: Sequence[int],
        removed: Sequence[int],
    ) -> None:
        """Follow the last commit of this process, which began at stamp `before`; see `VectorIndex.changed`."""
        try:
            with self._store.write() as writer:
                if not self.in_step(writer, model, before) or not self.usable(writer.connection):
                    return
                vec0.delete_rows(writer.connection, removed)
                if added is not None:
                    vec0.insert_rows(writer.connection, *added)
                _insert(writer, model, new)
                writer.set_meta("vec0", _moment(writer, model))
        except apsw.SQLError as error:
            self._note_broken(error)

    def settle(self, model: StoredModel, cancel: CancelToken | None) -> bool:
        """Bring the table to the chunks that have a vector now, whatever it held; committed in steps.

        Only whoever holds the index's lock may call this: the vectors must not change meanwhile. False where it cannot
        be used.
        """
        with self._store.read(cancel) as snapshot:
            if self.in_step(snapshot, model):
                return self.usable(snapshot.connection)
        try:
            if self._broken:
                self._drop()
            return self._fill(model, cancel)
        except apsw.SQLError as error:
            self._note_broken(error)
            problem = tr("The table of sqlite-vec cannot be filled: {reason}.", reason=str(error))
            self.state = vec0.VecState(False, None if self.state is None else self.state.path, problem)
            return False

    def _fill(self, model: StoredModel, cancel: CancelToken | None) -> bool:
        with self._store.write() as writer:
            if not self.usable(writer.connection):
                return False
            if vec0.has_table(writer.connection) and not _is_of(writer.meta("vec0"), model):
                vec0.drop_table(writer.connection)  # the same chunks have other vectors in it
            vec0.ready_table(writer.connection, model.dims)
            writer.set_meta("vec0", f"{_model(model)} is being filled")  # of no moment that anybody looks for
            present = set(vec0.stored_ids(writer.connection))
            wanted = writer.vector_chunk_ids(model.id)
            vec0.delete_rows(writer.connection, present.difference(wanted))
        missing = [id_ for id_ in wanted if id_ not in present]
        for start in range(0, len(missing), _ROWS_AT_ONCE):
            if cancel is not None:
                cancel.checkpoint()
            with self._store.write() as writer:
                _insert(writer, model, missing[start : start + _ROWS_AT_ONCE])
        with self._store.write() as writer:
            writer.set_meta("vec0", _moment(writer, model))
        return True

    def problem(self, snapshot: Snapshot, model: StoredModel) -> str:
        """What is wrong with a table that is there, one sentence; empty where nothing is."""
        if not self.in_step(snapshot, model):
            return tr("It is not in step with the vectors: they are compared in memory.")
        if vec0.stored_ids(snapshot.connection) != snapshot.vector_chunk_ids(model.id):
            return tr("It has other rows than the chunks with a vector.")
        return tr("It is mostly holes that removed vectors left.") if vec0.mostly_holes(snapshot.connection) else ""

    def refill(self, model: StoredModel, cancel: CancelToken | None) -> None:
        """Make the table again, as `settle` does."""
        self._broken = True
        self.settle(model, cancel)

    def discard(self) -> None:
        """Drop the table, which needs the extension's help."""
        if self.state is None or self.state.available:
            try:
                self._drop()
            except apsw.SQLError as error:
                self._note_broken(error)

    def _drop(self) -> None:
        with self._store.write() as writer:
            if vec0.has_table(writer.connection) and self.usable(writer.connection):
                vec0.drop_table(writer.connection)
            writer.set_meta("vec0", None)
        self._broken = False

    def _note_broken(self, error: apsw.SQLError) -> None:
        log.warning("The table of sqlite-vec cannot be used: %s", error)
        self._broken = True


def _insert(writer: Snapshot, model: StoredModel, chunks: Sequence[int]) -> None:
    """Insert those of these chunks that have a vector."""
    rows = list(writer.vectors(model.id, chunks))
    vec0.insert_rows(writer.connection, [id_ for id_, _ in rows], decode([vector for _, vector in rows], model.dims))


def _exact(snapshot: Snapshot, model: StoredModel, query: Vectors, k: int, ids: Sequence[int]) -> tuple[Ids, Vectors]:
    """The best of a few chunks, from their stored vectors."""
    import numpy as np

    from engine.store.matrix_scan import best_first

    rows = list(snapshot.vectors(model.id, ids))
    if not rows:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    cosines = decode([vector for _, vector in rows], model.dims).astype(np.float32) @ query
    return best_first(np.array([id_ for id_, _ in rows], np.int64), cosines, k)


def _moment(snapshot: Snapshot, model: StoredModel, stamp: int | None = None) -> str:
    at = snapshot.stamp if stamp is None else stamp
    return f"{_model(model)} generation {snapshot.generation}, stamp {at}"


def _model(model: StoredModel) -> str:
    return f"int8, model {model.id},"


def _is_of(meta: object, model: StoredModel) -> bool:
    return isinstance(meta, str) and meta.startswith(_model(model))


def _loaded(connection: apsw.Connection) -> bool:
    try:
        connection.execute("SELECT vec_version()")
    except apsw.SQLError:
        return False
    return True
