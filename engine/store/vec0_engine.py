"""The sqlite-vec engine: keeps the `chunks_vec` table in step with the vectors and searches it.

`meta.vec0` records the scale, model, generation and stamp of the table; if the index is in any other state, the matrix
engine handles the search.
"""

import logging
import re
import threading
from collections.abc import Iterator, Sequence

import apsw

from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.store import vec0
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors, decode

log = logging.getLogger(__name__)

_ROWS_AT_ONCE = 1024
_FEW = 512
"""For this many chunks or fewer, reading the stored vectors is faster than searching the table."""


class Vec0Engine:
    """Searches and updates the table of sqlite-vec. Thread-safe.

    Never raises for a missing extension or a broken table; `state` holds the error.
    """

    def __init__(self, store: IndexStore, path: str | None) -> None:
        self._store = store
        self._path = path
        self._lock = threading.Lock()
        self.broken = False
        """Whether SQLite failed to use the table; the next sync recreates it."""
        self.state: vec0.VecState | None = None
        """None before the first use."""

    def usable(self, connection: apsw.Connection) -> bool:
        """Load the extension into this connection, unless it is loaded already or failed to load before."""
        with self._lock:
            if self.state is not None and not self.state.available:
                return False
            if not _loaded(connection):
                self.state = vec0.load_extension(connection, self._path)
            return self.state is None or self.state.available

    def in_step(self, snapshot: Snapshot, model: StoredModel, stamp: int | None = None) -> bool:
        """Whether the table matches this snapshot, or `stamp` of this generation."""
        scale = _scale(snapshot, model)
        return scale is not None and snapshot.meta("vec0") == _moment(snapshot, model, scale, stamp) and not self.broken

    def answers(self, snapshot: Snapshot, model: StoredModel) -> bool:
        """Whether searches of this snapshot use the table."""
        return self.in_step(snapshot, model) and self.usable(snapshot.connection)

    def search(
        self, snapshot: Snapshot, model: StoredModel, query: Vectors, k: int, allowed: Sequence[int] | None
    ) -> tuple[Ids, Vectors] | None:
        """Ids (m,) and approximate cosines (m,), best first; None if the table cannot be used."""
        scale = _scale(snapshot, model)
        if scale is None or not self.answers(snapshot, model):
            return None
        if allowed is not None and len(allowed) <= max(k, _FEW):
            return _exact(snapshot, model, query, k, allowed)
        if k > vec0.MOST_NEIGHBOURS:
            return None
        try:
            return vec0.nearest(snapshot.connection, query, k, scale, allowed=allowed)
        except apsw.SQLError as error:
            self._note_broken(error)
            return None

    def changed(
        self,
        before: int,
        model: StoredModel,
        added: tuple[Sequence[int], Vectors],
        new: Sequence[int],
        removed: Sequence[int],
    ) -> None:
        """Apply the last commit of this process, which began at stamp `before`; see `VectorIndex.changed`."""
        try:
            with self._store.write() as writer:
                scale = _scale(writer, model)
                if scale is None or not self.in_step(writer, model, before) or not self.usable(writer.connection):
                    return
                known = _stored(writer, model, new)
                if not all(vec0.fits(_longest(vectors), scale) for _, vectors in (known, added) if len(vectors)):
                    return  # the next `settle` changes the scale
                vec0.delete_rows(writer.connection, removed)
                vec0.insert_rows(writer.connection, *added, scale)
                vec0.insert_rows(writer.connection, *known, scale)
                writer.set_meta("vec0", _moment(writer, model, scale))
        except apsw.SQLError as error:
            self._note_broken(error)

    def settle(self, model: StoredModel, cancel: CancelToken | None) -> bool:
        """Update the table to all chunks that now have a vector, whatever its state; committed in steps.

        The caller must hold the index lock, so that the vectors do not change meanwhile. Returns False if the table is
        not usable.
        """
        with self._store.read(cancel) as snapshot:
            if self.in_step(snapshot, model):
                return self.usable(snapshot.connection)
        try:
            if self.broken:
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
            wanted, scale = writer.vector_chunk_ids(model.id), _scale(writer, model)
            present = set() if scale is None else set(vec0.stored_ids(writer.connection))
        missing = [id_ for id_ in wanted if id_ not in present]
        longest = self._longest_of(model, missing, cancel)
        if scale is None or not vec0.fits(longest, scale):
            scale = vec0.finest_scale(max(longest, self._longest_of(model, sorted(present), cancel)), model.dims)
        with self._store.write() as writer:
            if vec0.has_table(writer.connection) and scale != _scale(writer, model):
                vec0.drop_table(writer.connection)  # codes depend on the scale
            if vec0.ready_table(writer.connection, model.dims):
                present, missing = set(), wanted
            writer.set_meta("vec0", f"{_kind(model, scale)} is being filled")  # no search uses this state
            vec0.delete_rows(writer.connection, present.difference(wanted))
        for group in _groups(missing, cancel):
            with self._store.write() as writer:
                vec0.insert_rows(writer.connection, *_stored(writer, model, group), scale)
        with self._store.write() as writer:
            writer.set_meta("vec0", _moment(writer, model, scale))
        return True

    def _longest_of(self, model: StoredModel, chunks: Sequence[int], cancel: CancelToken | None) -> float:
        longest = 0.0
        for group in _groups(chunks, cancel):
            with self._store.read(cancel) as snapshot:
                longest = max(longest, _longest(_stored(snapshot, model, group)[1]))
        return longest

    def problem(self, snapshot: Snapshot, model: StoredModel) -> str:
        """Describe a problem of an existing table in one sentence; empty if there is none."""
        if not self.in_step(snapshot, model):
            return tr("It is not in step with the vectors: they are compared in memory.")
        if vec0.stored_ids(snapshot.connection) != snapshot.vector_chunk_ids(model.id):
            return tr("It has other rows than the passages with a vector.")
        if vec0.mostly_holes(snapshot.connection):
            return tr("Most of its space is left over from removed vectors.")
        return ""

    def refill(self, model: StoredModel, cancel: CancelToken | None) -> None:
        """Recreate the table, as `settle` does."""
        self.broken = True
        self.settle(model, cancel)

    def discard(self) -> None:
        """Drop the table, which requires the extension."""
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
        self.broken = False

    def _note_broken(self, error: apsw.SQLError) -> None:
        log.warning("The table of sqlite-vec cannot be used: %s", error)
        self.broken = True


def _groups(chunks: Sequence[int], cancel: CancelToken | None) -> Iterator[Sequence[int]]:
    for start in range(0, len(chunks), _ROWS_AT_ONCE):
        if cancel is not None:
            cancel.checkpoint()
        yield chunks[start : start + _ROWS_AT_ONCE]


def _stored(snapshot: Snapshot, model: StoredModel, chunks: Sequence[int]) -> tuple[list[int], Vectors]:
    """Ids and vectors (n, dims) of the chunks among these that have a vector."""
    rows = list(snapshot.vectors(model.id, chunks))
    return [id_ for id_, _ in rows], decode([vector for _, vector in rows], model.dims).astype("float32")


def _longest(vectors: Vectors) -> float:
    """The longest finite component."""
    import numpy as np

    return float(np.abs(vectors, where=np.isfinite(vectors), out=np.zeros_like(vectors)).max(initial=0))


def _exact(snapshot: Snapshot, model: StoredModel, query: Vectors, k: int, ids: Sequence[int]) -> tuple[Ids, Vectors]:
    """Search a few chunks exactly, using their stored vectors."""
    import numpy as np

    from engine.store.matrix_scan import best_first

    found, vectors = _stored(snapshot, model, ids)
    return best_first(np.array(found, np.int64), vectors @ query, k)


def _moment(snapshot: Snapshot, model: StoredModel, scale: int, stamp: int | None = None) -> str:
    at = snapshot.stamp if stamp is None else stamp
    return f"{_kind(model, scale)} generation {snapshot.generation}, stamp {at}"


def _kind(model: StoredModel, scale: int) -> str:
    return f"int8 of {scale}, model {model.id},"


def _scale(snapshot: Snapshot, model: StoredModel) -> int | None:
    """Scale of the table's codes; None if there is no table or it is of another model."""
    found = re.match(r"int8 of (\d+), model (\d+),", str(snapshot.meta("vec0")))
    return int(found[1]) if found is not None and int(found[2]) == model.id else None


def _loaded(connection: apsw.Connection) -> bool:
    try:
        connection.execute("SELECT vec_version()")
    except apsw.SQLError:
        return False
    return True
