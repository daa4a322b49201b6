"""The sqlite-vec engine: keeps the table `chunks_vec` in step with the vectors and searches it.

`meta.vec0` records the scale, model, generation and stamp of the table; if the index is in any other state, the matrix
engine handles the search.

The table has int8 codes, searched inside SQLite. They are compared by Euclidean distance, which orders unit vectors as
the cosine does. This is the fastest of vec0's combinations: 10,000 x 512 take 5 ms, float32 takes 7 ms, and cosine
distance 8 to 9 ms with either type. Four times as many candidates contained the 50 nearest in every case measured.
"""

import importlib.util
import json
import math
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken, checkpoint, start_call
from engine.base.language import tr
from engine.store.index import IndexStore
from engine.store.index_schema import discard_table
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors, decode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = lazy_logger(__name__)

_ROWS_PER_BATCH = 1024
_FEW = 512
"""For this many chunks or fewer, reading the stored vectors is faster than searching the table."""

LOAD_SECONDS = 30.0
_ENTRY_POINT = "sqlite3_vec_init"
MAX_NEIGHBOURS = 4096
"""Limit of vec0 for the number of results."""
MAX_DIMENSIONS = 8192
"""Limit of vec0 for the length of vectors."""
_TABLE = "chunks_vec"
_MAX_CODE = 127
_REACH = 8
"""Finest resolution: codes cover components of at least this many standard deviations of a unit vector."""
_HEADROOM = 0.8
"""Share of the codes' range used initially; later vectors may have longer components."""

_MIN_COSINE = -2.0
"""Limit below which a result is a zero vector: cosines of unit vectors are at least -1, the codes of a zero vector
yield far less.
"""


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
        self.state: ExtensionState | None = None
        """None before the first use."""

    def usable(self, connection: apsw.Connection) -> bool:
        """Return whether the connection can use the table; loads the extension, unless that failed before."""
        with self._lock:
            if self.state is not None and not self.state.available:
                return False
            if not _loaded(connection):
                self.state = load_extension(connection, self._path)
            return self.state is None or self.state.available

    def matches(self, snapshot: Snapshot, model: StoredModel, stamp: int | None = None) -> bool:
        """Whether the table matches this snapshot, or an earlier `stamp` of the same generation."""
        scale = _scale(snapshot, model)
        return (
            scale is not None
            and snapshot.meta("vec0") == _table_state(snapshot, model, scale, stamp)
            and not self.broken
        )

    def can_search(self, snapshot: Snapshot, model: StoredModel) -> bool:
        """Whether searches of this snapshot use the table."""
        return self.matches(snapshot, model) and self.usable(snapshot.connection)

    def search(
        self,
        snapshot: Snapshot,
        model: StoredModel,
        query: Vectors,
        k: int,
        allowed: Sequence[int] | None,
        cancel: CancelToken | None,
    ) -> tuple[Ids, Vectors] | None:
        """Return ids (m,) and approximate cosines (m,) of the nearest chunks, best first. Raises `Cancelled`.

        None if the table can't be used.
        """
        scale = _scale(snapshot, model)
        if scale is None or not self.can_search(snapshot, model):
            return None
        if allowed is not None and len(allowed) <= max(k, _FEW):
            return _exact(snapshot, model, query, k, allowed)
        if k > MAX_NEIGHBOURS:
            return None
        try:
            return nearest(snapshot.connection, query, k, scale, allowed=allowed)
        except apsw.SQLError as error:
            checkpoint(cancel)  # vec0 reports an interrupt as an error of its own
            self._mark_broken(error)
            return None

    def apply_commit(
        self,
        before: int,
        model: StoredModel,
        added: tuple[Sequence[int], Vectors],
        new: Sequence[int],
        removed: Sequence[int],
    ) -> None:
        """Apply the last commit of this process, which began at stamp `before`; see `VectorIndex.apply_commit`."""
        try:
            with self._store.write() as writer:
                scale = _scale(writer, model)
                if scale is None or not self.matches(writer, model, before) or not self.usable(writer.connection):
                    return
                known = _stored(writer, model, new)
                if not all(fits(_largest_component(vectors), scale) for _, vectors in (known, added) if len(vectors)):
                    return  # the next `update` changes the scale
                delete_rows(writer.connection, removed)
                insert_rows(writer.connection, *added, scale)
                insert_rows(writer.connection, *known, scale)
                writer.set_meta("vec0", _table_state(writer, model, scale))
        except apsw.SQLError as error:
            self._mark_broken(error)

    def update(self, model: StoredModel, cancel: CancelToken | None) -> bool:
        """Update the table to all chunks that now have a vector, whatever its state; committed in steps.

        The caller must hold the index lock, so that the vectors do not change meanwhile. Returns False if the table is
        not usable.
        """
        with self._store.read(cancel) as snapshot:
            if self.matches(snapshot, model):
                return self.usable(snapshot.connection)
        try:
            if self.broken:
                self._drop()
            return self._fill(model, cancel)
        except apsw.SQLError as error:
            self._mark_broken(error)
            problem = tr("The table of sqlite-vec cannot be filled: {reason}.", reason=str(error))
            self.state = ExtensionState(False, None if self.state is None else self.state.path, problem)
            return False

    def _fill(self, model: StoredModel, cancel: CancelToken | None) -> bool:
        with self._store.write() as writer:
            if not self.usable(writer.connection):
                return False
            expected, scale = writer.vector_chunk_ids(model.id), _scale(writer, model)
            present = set() if scale is None else set(stored_ids(writer.connection))
        missing = [id_ for id_ in expected if id_ not in present]
        largest = self._largest_component_of(model, missing, cancel)
        if scale is None or not fits(largest, scale):
            scale = finest_scale(max(largest, self._largest_component_of(model, sorted(present), cancel)), model.dims)
        with self._store.write() as writer:
            if has_table(writer.connection) and scale != _scale(writer, model):
                drop_table(writer.connection)  # the table's int8 values depend on the scale
            if ensure_table(writer.connection, model.dims):
                present, missing = set(), expected
            writer.set_meta("vec0", f"{_kind(model, scale)} is being filled")  # no search uses this state
            delete_rows(writer.connection, present.difference(expected))
        for group in _groups(missing, cancel):
            with self._store.write() as writer:
                insert_rows(writer.connection, *_stored(writer, model, group), scale)
        with self._store.write() as writer:
            writer.set_meta("vec0", _table_state(writer, model, scale))
        return True

    def _largest_component_of(self, model: StoredModel, chunks: Sequence[int], cancel: CancelToken | None) -> float:
        largest = 0.0
        for group in _groups(chunks, cancel):
            with self._store.read(cancel) as snapshot:
                largest = max(largest, _largest_component(_stored(snapshot, model, group)[1]))
        return largest

    def problem(self, snapshot: Snapshot, model: StoredModel) -> str:
        """Return the fault of an existing table as a sentence; empty if it has none."""
        if not self.matches(snapshot, model):
            return tr("The vector table doesn't match the stored vectors, so vectors are compared in memory.")
        if stored_ids(snapshot.connection) != snapshot.vector_chunk_ids(model.id):
            return tr("The rows of the vector table don't match the passages that have a vector.")
        if mostly_empty(snapshot.connection):
            return tr("Most space in the vector table is left over from removed vectors.")
        return ""

    def refill(self, model: StoredModel, cancel: CancelToken | None) -> None:
        """Drop the sqlite-vec table and fill it again from the stored vectors."""
        self.broken = True
        self.update(model, cancel)

    def discard(self) -> None:
        """Drop the table, which requires the extension."""
        if self.state is None or self.state.available:
            try:
                self._drop()
            except apsw.SQLError as error:
                self._mark_broken(error)

    def _drop(self) -> None:
        with self._store.write() as writer:
            if has_table(writer.connection) and self.usable(writer.connection):
                drop_table(writer.connection)
            writer.set_meta("vec0", None)
        self.broken = False

    def _mark_broken(self, error: apsw.SQLError) -> None:
        log.warning("The table of sqlite-vec cannot be used: %s", error)
        self.broken = True


def _groups(chunks: Sequence[int], cancel: CancelToken | None) -> Iterator[Sequence[int]]:
    for start in range(0, len(chunks), _ROWS_PER_BATCH):
        checkpoint(cancel)
        yield chunks[start : start + _ROWS_PER_BATCH]


def _stored(snapshot: Snapshot, model: StoredModel, chunks: Sequence[int]) -> tuple[list[int], Vectors]:
    """Return the ids and vectors (n, dims) of these chunks, leaving out chunks without a vector."""
    rows = list(snapshot.vectors(model.id, model.dims, chunks))
    return [id_ for id_, _ in rows], decode([vector for _, vector in rows], model.dims)


def _largest_component(vectors: Vectors) -> float:
    """Return the largest absolute value of all finite components."""
    import numpy as np

    return float(np.abs(vectors, where=np.isfinite(vectors), out=np.zeros_like(vectors)).max(initial=0))


def _exact(snapshot: Snapshot, model: StoredModel, query: Vectors, k: int, ids: Sequence[int]) -> tuple[Ids, Vectors]:
    """Search a few chunks exactly, using their stored vectors."""
    import numpy as np

    from engine.store.vector_matrix import best_first

    found, vectors = _stored(snapshot, model, ids)
    return best_first(np.array(found, np.int64), vectors @ query, k)


def _table_state(snapshot: Snapshot, model: StoredModel, scale: int, stamp: int | None = None) -> str:
    at = snapshot.stamp if stamp is None else stamp
    return f"{_kind(model, scale)} generation {snapshot.generation}, stamp {at}"


def _kind(model: StoredModel, scale: int) -> str:
    return f"int8 of {scale}, model {model.id},"


def _scale(snapshot: Snapshot, model: StoredModel) -> int | None:
    """Return the scale of the table's codes; None if there is no table or it is of another model."""
    match = re.match(r"int8 of (\d+), model (\d+),", str(snapshot.meta("vec0")))
    return int(match[1]) if match is not None and int(match[2]) == model.id else None


def _loaded(connection: apsw.Connection) -> bool:
    try:
        connection.execute("SELECT vec_version()")
    except apsw.SQLError:
        return False
    return True


@dataclass(frozen=True)
class ExtensionState:
    """Whether sqlite-vec could be loaded, from where, and why not."""

    available: bool
    path: str | None
    """Path of the library that was tried; None if there is none."""
    error: str | None
    """Why it can't be used, in one sentence; None if it can."""


def load_extension(connection: apsw.Connection, path: str | None = None) -> ExtensionState:
    """Load sqlite-vec into a connection, from the Python package or from `path`. Never raises; waits at most 30 s.

    A library on a dead network drive blocks indefinitely, and a thread inside it can't be stopped. Therefore a separate
    call first loads `path` into a connection of its own; only after that succeeds, with the library in memory, is it
    loaded into the caller's connection. A blocked call is abandoned. The package's library is on the same drive as
    the program, so it needs no trial.
    """
    if path is None:
        path = _package_path()
        if path is None:
            return ExtensionState(False, None, tr("The package sqlite-vec is not installed."))
        error = _load(connection, path)
        return ExtensionState(error is None, path, error)
    trial = start_call(lambda: _load_alone(path), "mnemoscope-sqlite-vec")
    try:
        error = trial.result(LOAD_SECONDS) or _load(connection, path)
    except TimeoutError:
        trial.cancel()
        error = tr(
            "Loading sqlite-vec from {file} took more than {seconds:.0f} seconds.", file=path, seconds=LOAD_SECONDS
        )
    return ExtensionState(error is None, path, error)


def ensure_table(connection: apsw.Connection, dims: int) -> bool:
    """Ensure that `chunks_vec` exists with this many dimensions; return True if it was just created and is empty.

    A table that is mostly holes is recreated as well: vec0 fills only its last chunk of rows, so the space of rows
    removed from other chunks is reused neither by new rows nor by VACUUM.
    """
    existing = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (_TABLE,)).get
    if existing is not None:
        declared = re.search(r"int8\[(\d+)\]", str(existing))
        if declared and int(declared[1]) == dims and not mostly_empty(connection):
            return False
        drop_table(connection)
    connection.execute(f"CREATE VIRTUAL TABLE {_TABLE} USING vec0(embedding int8[{dims}])")
    return True


def has_table(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (_TABLE,)).fetchone() is not None


def drop_table(connection: apsw.Connection) -> None:
    """Drop `chunks_vec`; its vectors are first renamed, to be deleted later in steps."""
    vectors = f"{_TABLE}_vector_chunks00"
    discard_table(connection, vectors)
    connection.execute(f"CREATE TABLE {vectors} (rowid PRIMARY KEY, vectors BLOB)")  # vec0 expects it
    connection.execute(f"DROP TABLE {_TABLE}")


def stored_ids(connection: apsw.Connection) -> list[int]:
    """Return the ids of all rows of the table, ascending."""
    return [row[0] for row in connection.execute(f"SELECT rowid FROM {_TABLE}_rowids ORDER BY rowid")]


def finest_scale(largest: float, dims: int) -> int:
    """Return the factor from vector components to codes, given the largest component; larger ones give finer codes."""
    return max(
        1,
        min(int(_MAX_CODE * math.sqrt(dims) / _REACH), int(_HEADROOM * _MAX_CODE / largest) if largest else _MAX_CODE),
    )


def fits(largest: float, scale: int) -> bool:
    """Whether components of up to `largest` fit the code range with this scale."""
    return largest * scale < _MAX_CODE + 1


def insert_rows(
    connection: apsw.Connection,
    ids: Iterable[int],
    vectors: "NDArray[np.float32] | NDArray[np.float16]",
    scale: int,
) -> None:
    """Insert vectors (n, dims) into the table under chunk ids, replacing rows with the same ids."""
    ids = list(ids)
    delete_rows(connection, ids)
    rows = zip(ids, (row.tobytes() for row in _codes(vectors, scale)), strict=True)
    connection.executemany(f"INSERT INTO {_TABLE} (rowid, embedding) VALUES (?, vec_int8(?))", rows)


def delete_rows(connection: apsw.Connection, ids: Iterable[int]) -> None:
    """Delete the vectors of these chunks from the table of sqlite-vec."""
    connection.executemany(f"DELETE FROM {_TABLE} WHERE rowid = ?", ((id_,) for id_ in ids))


def nearest(
    connection: apsw.Connection,
    query: "NDArray[np.float32]",
    k: int,
    scale: int,
    *,
    allowed: Iterable[int] | None = None,
) -> tuple["NDArray[np.int64]", "NDArray[np.float32]"]:
    """Return ids (m,) and approximate cosines (m,) of the rows nearest to the query (dims,), best first, m <= min(k,
    4096).

    `scale` is that of the rows; `allowed` limits the search to these ids. Zero vectors are never found.
    """
    import numpy as np

    # All rows have the same length, so scaling the query down keeps its neighbours, while clipping it would not.
    fitting = min(float(scale), _MAX_CODE / max(float(np.abs(query).max()), 1e-6))
    sql = f"SELECT rowid, distance FROM {_TABLE} WHERE embedding MATCH vec_int8(?) AND k = ?"
    bindings: list[bytes | int | str] = [_codes(query[None, :], fitting)[0].tobytes(), max(0, min(k, MAX_NEIGHBOURS))]
    if allowed is not None:
        sql += " AND rowid IN (SELECT value FROM json_each(?))"
        bindings.append(json.dumps(list(allowed)))
    rows = list(connection.execute(sql, bindings))
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    squares = np.array([row[1] for row in rows], dtype=np.float64) ** 2
    cosines = ((scale**2 + fitting**2 - squares) / (2 * scale * fitting)).astype(np.float32)
    known = cosines >= _MIN_COSINE
    return ids[known], cosines[known]


def _codes(vectors: "NDArray[np.float32] | NDArray[np.float16]", scale: float) -> "NDArray[np.int8]":
    """Return the int8 codes of unit vectors, (n, dims).

    A zero vector has no direction; it gets codes that are further from every query than those of any other vector.
    """
    import numpy as np

    floats = vectors.astype(np.float32)
    directed = np.isfinite(floats).all(axis=1) & floats.any(axis=1)
    floats[~directed] = -np.inf
    codes: NDArray[np.int8] = np.rint(np.clip(floats * np.float32(scale), -_MAX_CODE, _MAX_CODE)).astype(np.int8)
    return codes


def _package_path() -> str | None:
    """Return the path of the package's library, found without importing the package, which would import numpy."""
    spec = importlib.util.find_spec("sqlite_vec")
    return None if spec is None or spec.origin is None else str(Path(spec.origin).with_name("vec0"))


def _load_alone(path: str) -> str | None:
    with closing(apsw.Connection(":memory:")) as connection:
        return _load(connection, path)


def _load(connection: apsw.Connection, path: str) -> str | None:
    """Load the library; returns an error message or None."""
    # Unlike `enable_load_extension`, this leaves the SQL function load_extension() disabled.
    before = connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, -1)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1)
    try:
        connection.load_extension(path, _ENTRY_POINT)
    except apsw.Error as error:
        reason = str(error).removeprefix("ExtensionLoadingError: ").rstrip(".")
        with suppress(OSError):  # a folder without read permission
            if not Path(path).exists() and not list(Path(path).parent.glob(f"{Path(path).name}.*")):
                reason = tr("there is no such file")
        return tr("sqlite-vec could not be loaded from {file}: {reason}.", file=path, reason=reason)
    finally:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, before)
    return None


def mostly_empty(connection: apsw.Connection) -> bool:
    """Whether more than half of the table's slots for rows are empty."""
    rows = connection.execute(f"SELECT count(*) FROM {_TABLE}_rowids").get
    # Slots come in chunks of 1,024; less than two chunks of holes are not worth the work.
    slots = connection.execute(f"SELECT total(size) FROM {_TABLE}_chunks").get
    return bool(slots - rows > max(2048, slots / 2))
