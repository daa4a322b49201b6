"""The sqlite-vec engine: keeps the `chunks_vec` table in step with the vectors, and searches in it.

`meta.vec0` says of which model, generation and stamp the table is; a search that finds another moment there leaves the
question to the matrix engine.
"""

import threading
from collections.abc import Sequence

import apsw

from engine.control import CancelToken
from engine.language import tr
from engine.store import vec0
from engine.store.coding import Ids, StoredModel, Vectors, decode
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot

_ROWS_AT_ONCE = 1024


class Vec0Engine:
    """Thread-safe. Never raises for a missing extension: `state` says what is wrong."""

    def __init__(self, store: IndexStore, path: str | None) -> None:
        self._store = store
        self._path = path
        self._lock = threading.Lock()
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

    def search(
        self, snapshot: Snapshot, model: StoredModel, query: Vectors, k: int, allowed: Sequence[int] | None
    ) -> tuple[Ids, Vectors] | None:
        """Ids (m,) and exact cosines (m,), best first; None when the table is not of this moment."""
        if snapshot.meta("vec0") != _moment(snapshot, model) or not self.usable(snapshot.connection):
            return None
        return vec0.nearest(snapshot.connection, query, k, allowed=allowed)

    def changed(
        self,
        before: int,
        model: StoredModel | None,
        added: tuple[Sequence[int], Vectors] | None,
        removed: Sequence[int],
    ) -> None:
        """Follow one commit of this process that began at stamp `before`."""
        if model is None:
            return
        with self._store.write() as writer:
            if writer.meta("vec0") != _moment(writer, model, before) or not self.usable(writer.connection):
                return
            vec0.delete_rows(writer.connection, removed)
            if added is not None:
                vec0.insert_rows(writer.connection, *added)
            writer.set_meta("vec0", _moment(writer, model))

    def settle(self, model: StoredModel, cancel: CancelToken | None) -> None:
        """Bring the table to the chunks that have a vector now, whatever it held; committed in steps.

        Only whoever holds the index's lock may call this: the vectors must not change meanwhile.
        """
        with self._store.write() as writer:
            if writer.meta("vec0") == _moment(writer, model) or not self.usable(writer.connection):
                return
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
                rows = list(writer.vectors(model.id, missing[start : start + _ROWS_AT_ONCE]))
                vectors = decode([vector for _, vector in rows], model.dims)
                vec0.insert_rows(writer.connection, [id_ for id_, _ in rows], vectors)
        with self._store.write() as writer:
            writer.set_meta("vec0", _moment(writer, model))

    def problem(self, snapshot: Snapshot, model: StoredModel) -> str:
        """What is wrong with a table that is there, one sentence; empty where nothing is."""
        if snapshot.meta("vec0") != _moment(snapshot, model):
            return tr("It is not in step with the vectors: they are compared in memory.")
        if vec0.stored_ids(snapshot.connection) != snapshot.vector_chunk_ids(model.id):
            return tr("It has other rows than the chunks with a vector.")
        return tr("It is mostly holes that removed vectors left.") if vec0.mostly_holes(snapshot.connection) else ""

    def refill(self, model: StoredModel, cancel: CancelToken | None) -> None:
        """Make the table anew, as `settle` does."""
        with self._store.write() as writer:
            writer.set_meta("vec0", None)
            if vec0.has_table(writer.connection) and self.usable(writer.connection):
                vec0.drop_table(writer.connection)
        self.settle(model, cancel)


def _moment(snapshot: Snapshot, model: StoredModel, stamp: int | None = None) -> str:
    at = snapshot.stamp if stamp is None else stamp
    return f"{_model(model)} generation {snapshot.generation}, stamp {at}"


def _model(model: StoredModel) -> str:
    return f"model {model.id},"


def _is_of(meta: object, model: StoredModel) -> bool:
    return isinstance(meta, str) and meta.startswith(_model(model))


def _loaded(connection: apsw.Connection) -> bool:
    return any(name == "vec_version" for name, *_ in connection.execute("SELECT name FROM pragma_function_list"))
