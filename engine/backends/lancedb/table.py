"""The shared table: opening and testing it, and one version of it with its files, word frequencies and queries."""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.backends.lancedb import table_schema
from engine.backends.lancedb.error_messages import (
    Conflict,
    NotIndexed,
    TableExists,
    TableMissing,
    TableReplaced,
    TableTooNew,
    described,
)
from engine.backends.lancedb.event_loop import Answer, AsyncBridge, load_lancedb
from engine.backends.lancedb.table_location import TableLocation, find_table
from engine.backends.lancedb.table_schema import Row, SharedFile, read_files, read_rows, sql_all_of, sql_one_of
from engine.base import lazy_logger
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed
from engine.base.language import tr, tr_count
from engine.settings import Settings
from engine.store.index_paths import usable_index_files
from engine.store.vector_encoding import Vectors

if TYPE_CHECKING:
    import pyarrow as pa


log = lazy_logger(__name__)

_REFRESH_SECONDS = 1.0
"""Maximum time by which an answer may be behind commits of other machines."""
_MAX_DIGITS = 9
_NO_PROBLEM = (TableMissing, TableReplaced, TableExists, NotIndexed, Conflict)
"""Errors that are not stored as the table's problem, since the caller handles them."""

TableCall = Callable[..., Any]

_PASSAGES = f"ordinal > {table_schema.FILE_ROW}"
_FILES = f"ordinal = {table_schema.FILE_ROW}"
_PROBES = 40
"""Partitions of the vector index that are searched, of about two hundred."""


class TableView:
    """Reads one version of the shared table. Thread-safe; caches the rows that it has read."""

    def __init__(self, version: int, table: Any, schema: "pa.Schema", call: TableCall) -> None:
        self.version = version
        self.number = table_schema.number_of(schema)
        self._table = table
        self._call = call
        self._lock = threading.Lock()
        self._files: dict[str, SharedFile] | None = None
        self._counts: dict[tuple[str, str], int] = {}
        """Number of passages by condition and token."""
        self._vectors: dict[str, int] = {}
        """Number of vectors by condition."""
        field = schema.field("vector") if "vector" in schema.names else None
        self.dims: int | None = None if field is None else field.type.list_size
        self.model = None if field is None else table_schema.model_of(field)
        """The model of its vectors; None before the first."""

    def files(self, cancel: CancelToken | None = None) -> Mapping[str, SharedFile]:
        """Return the rows of all files of the table, by their keys."""
        with self._lock:
            if self._files is None:
                query = self._table.query().where(_FILES).select(list(table_schema.CATALOG_COLUMNS))
                self._files = {file.key: file for file in read_files(self._call(query.to_arrow(), cancel))}
            return self._files

    @cached_property
    def passages(self) -> int:
        """Number of passages in the table."""
        return sum(file.passages for file in self.files().values())

    @cached_property
    def words(self) -> int:
        """Number of tokens in all passages of the table."""
        return sum(file.words for file in self.files().values())

    @property
    def complete(self) -> bool:
        """Whether its files and the number of its vectors are cached."""
        return self._files is not None and ("" in self._vectors or self.dims is None)

    def vectors(self, condition: str = "") -> int:
        """Number of passages that satisfy a condition and have a vector."""
        if self.dims is None:
            return 0
        if condition not in self._vectors:
            self._vectors[condition] = int(self._call(self._table.count_rows(_embedded(condition))))
        return self._vectors[condition]

    def count(self, tokens: Sequence[str], condition: str = "", cancel: CancelToken | None = None) -> list[int]:
        """Number of passages that satisfy a condition and contain each of these prefixed tokens."""
        unknown = list(dict.fromkeys(token for token in tokens if (condition, token) not in self._counts))
        if unknown:
            most = max(1, self.passages)
            try:
                counts = self._call(_together([self._matching(token, condition, most) for token in unknown]), cancel)
            except NotIndexed:
                return [0] * len(tokens)
            self._counts.update(((condition, token), len(rows)) for token, rows in zip(unknown, counts, strict=True))
        return [self._counts[condition, token] for token in tokens]

    def _matching(self, token: str, condition: str, most: int) -> "Coroutine[Any, Any, pa.Table]":
        query = self._table.query().nearest_to_text(match(token)).select(["_score"]).limit(most)
        return (query.where(_passages_where(condition)) if condition else query).to_arrow()  # type: ignore[no-any-return]

    def by_keywords(self, query: Any, limit: int, condition: str, cancel: CancelToken | None) -> list[Row]:
        """Return the best matches of a full-text query, by LanceDB's own ranking."""
        search = self._table.query().nearest_to_text(query).where(_passages_where(condition))
        try:
            return self._rows(search.select([*self._columns(), "_score"]).limit(limit), cancel)
        except NotIndexed:
            return []

    def by_vector(self, vector: Vectors, limit: int, condition: str, cancel: CancelToken | None) -> list[Row]:
        """Return the passages nearest to a unit vector (dims,), by cosine."""
        search = self._table.query().nearest_to(vector).column("vector").distance_type("cosine").nprobes(_PROBES)
        search = search.where(_embedded(condition))
        return self._rows(search.select([*self._columns(), "_distance"]).limit(limit), cancel)

    def where(self, condition: str, cancel: CancelToken | None = None) -> list[Row]:
        """Return all passages that satisfy a condition, unordered."""
        return self._rows(self._table.query().where(_passages_where(condition)).select(self._columns()), cancel)

    def vectors_of(self, hashes: Sequence[bytes], cancel: CancelToken) -> dict[bytes, bytes]:
        """Return the vectors of the given texts that have one, by the hashes of the texts."""
        condition = _embedded(sql_one_of("text_hash", (hash_.hex() for hash_ in hashes)))
        query = self._table.query().where(condition).select(["text_hash", "vector"])
        table = self._call(query.to_arrow(), cancel)
        pairs = zip(table.column("text_hash").to_pylist(), table_schema.read_vectors(table), strict=True)
        return {bytes.fromhex(hash_): vector for hash_, vector in pairs if vector is not None}

    def without_vector(self, cancel: CancelToken) -> list[tuple[str, bytes]]:
        """Return (id, hash of the text) of the passages without a vector."""
        query = self._table.query().where(_passages_where("vector IS NULL")).select(["id", "text_hash"])
        table = self._call(query.to_arrow(), cancel)
        pairs = zip(table.column("id").to_pylist(), table.column("text_hash").to_pylist(), strict=True)
        return [(id_, bytes.fromhex(hash_)) for id_, hash_ in pairs]

    def _columns(self) -> list[str]:
        return (
            [*table_schema.PASSAGE_COLUMNS, "vector"] if self.dims is not None else list(table_schema.PASSAGE_COLUMNS)
        )

    def _rows(self, query: Any, cancel: CancelToken | None) -> list[Row]:
        return list(read_rows(self._call(query.to_arrow(), cancel)))


class SharedTable:
    """The connection to the shared table, opened on first use. Thread-safe."""

    def __init__(self, find: Callable[[CancelToken | None], TableLocation]) -> None:
        """`find` returns its location; it may read the keychain."""
        self._find = find
        self._bridge = AsyncBridge()
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._location: TableLocation | None = None
        self._database: Any = None
        self._view: TableView | None = None
        self._looked = -math.inf
        self.problem: str | None = None
        """Why the last access failed, one sentence; None if it succeeded."""

    def location(self, cancel: CancelToken | None = None) -> TableLocation:
        """The table's location. Raises the errors of `find_table`."""
        if self._location is None:
            self._location = self._find(cancel)
        return self._location

    # --- reading --------------------------------------------------------------------------------------------------

    def view(self, cancel: CancelToken | None = None, *, fresh: bool = False) -> TableView:
        """The current table, or that of a second ago unless `fresh`; a new object only if it has changed.

        Raises `TableMissing`, `TableUnavailable`, `TableTooNew`, `Cancelled`, `Closed`.
        """
        with self._lock:
            if self._view is not None and not fresh and time.monotonic() - self._looked < _REFRESH_SECONDS:
                return self._view
            try:
                return self._open_view(cancel)
            except TableReplaced:
                self._reconnect()
                return self._open_view(cancel)
            except TableMissing:
                self._view = None
                raise

    def read(self, work: Callable[[TableView], Answer], cancel: CancelToken | None = None) -> Answer:
        """Return the result of `work` for the current table, or that of a second ago. Raises as `view`."""
        return self.with_retry(lambda: work(self.view(cancel)))

    def with_retry(self, work: Callable[[], Answer]) -> Answer:
        """Retry if another machine has deleted the rows that are being read.

        That machine may have recreated the table, or have a fast clock and cleaned up data in use.
        """
        try:
            return work()
        except TableReplaced:
            self.reconnect()
            return work()

    def reconnect(self) -> None:
        """Close the connection to the table and open it again."""
        with self._lock:
            self._reconnect()

    def _reconnect(self) -> None:
        self._database = self._view = None

    def changed(self) -> None:
        """Note a commit of this machine, which the next view must include."""
        self._looked = -math.inf

    def last_read(self) -> TableView | None:
        """Return the last version of the table that was read."""
        return self._view

    def _open_view(self, cancel: CancelToken | None) -> TableView:
        database, name = self.connected(cancel), self.location().table
        # Reopening takes no longer, and an open table doesn't notice that another replaced it, with lower versions.
        table = self.call(database.open_table(name), cancel)
        version, schema = self.call(table.version(), cancel), self.checked(self.call(table.schema(), cancel))
        if self._view is None or (self._view.version, self._view.number) != (version, table_schema.number_of(schema)):
            self.call(table.checkout(version), cancel)
            self._view = TableView(version, table, schema, self.call)
        self._looked = time.monotonic()
        return self._view

    @staticmethod
    def checked(schema: "pa.Schema") -> "pa.Schema":
        """Return the view; raises `TableTooNew` if the table is not for this program."""
        version = (schema.metadata or {}).get(table_schema.VERSION_KEY)
        if version is None:
            raise TableTooNew(
                tr("The LanceDB table was not made by Mnemoscope: choose another name for lancedb.table.")
            )
        if not version.isdigit() or len(version) > _MAX_DIGITS or int(version) > table_schema.SCHEMA_VERSION:
            raise TableTooNew(
                tr(
                    "The LanceDB table was made by a newer version of Mnemoscope: update it here, or choose another "
                    "name for lancedb.table."
                )
            )
        return schema

    def call(
        self, work: Coroutine[Any, Any, Answer], cancel: CancelToken | None = None, *, seconds: float | None = None
    ) -> Answer:
        """Call LanceDB with a timeout. Raises its errors as sentences, `Cancelled`, `Closed`."""
        try:
            answer = self._bridge.run(work, seconds=seconds or self.location().seconds, cancel=cancel)
        except (Cancelled, Closed):
            raise
        except Exception as error:
            problem = described(error, self.location().address)
            if not isinstance(problem, _NO_PROBLEM):
                self.problem = str(problem)
                log.warning("The LanceDB table cannot be used: %s (%s)", type(problem).__name__, type(error).__name__)
            raise problem from None  # the original error may contain texts that must not be logged
        self.problem = None
        return answer

    def connected(self, cancel: CancelToken | None) -> Any:
        """Return the table's database. Raises the errors of `view`."""
        with self._connecting:
            if self._database is None:
                self._database = self._connect(cancel)
            return self._database

    def _connect(self, cancel: CancelToken | None) -> Any:
        lancedb, location = load_lancedb(), self.location(cancel)
        options: dict[str, Any] = {"storage_options": dict(location.options)} if location.options else {}
        if location.api_key:
            options["api_key"] = location.api_key
        return self.call(lancedb.connect_async(location.uri, **options), cancel)

    def close(self) -> None:
        """Cancel running calls and release everything. Can be called twice."""
        self._bridge.close()
        self._database = self._view = None


def try_out(workspace: Path, settings: Settings, cancel: CancelToken | None) -> str:
    """Test whether a workspace can use LanceDB, without creating a table; see `try_backend`."""
    folder = usable_index_files(workspace, settings.store.path).folder
    table = SharedTable(lambda token: find_table(workspace, settings, folder, cancel=token))
    try:
        view = table.view(cancel)
        files = view.files(cancel)
        passages = view.passages
    except TableMissing:
        return tr("LanceDB works. The first update creates the table {table}.", table=table.location().address)
    finally:
        table.close()
    machines = {holder for file in files.values() for holder in file.holders}
    return tr(
        "LanceDB works. The table {table} contains {passages} of {files} from {machines}.",
        table=table.location().address,
        passages=tr_count("{count:,} passage", "{count:,} passages", passages),
        files=tr_count("{count:,} file", "{count:,} files", len(files)),
        machines=tr_count("{count:,} machine", "{count:,} machines", len(machines)),
    )


def _passages_where(condition: str) -> str:
    return sql_all_of([_PASSAGES, condition]) if condition else _PASSAGES


def _embedded(condition: str) -> str:
    return _passages_where(sql_all_of([condition, "vector IS NOT NULL"]) if condition else "vector IS NOT NULL")


def match(tokens: str) -> Any:
    """Return a full-text query for any of these prefixed tokens."""
    import lancedb.query

    make: Any = lancedb.query.MatchQuery  # its type stub omits the defaults of the other arguments
    return make(tokens, "terms")


async def _together(work: "Sequence[Coroutine[Any, Any, pa.Table]]") -> "list[pa.Table]":

    return list(await asyncio.gather(*work))
