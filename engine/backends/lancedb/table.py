"""The table itself: opened where it is, read at one moment, written in whole commits that are tried again."""

import contextlib
import logging
import math
import random
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from engine.backends.lancedb import columns, sql
from engine.backends.lancedb.bridge import Bridge, load_lancedb
from engine.backends.lancedb.failures import Conflict, NotIndexed, TableExists, TableMissing, TableTooNew, told
from engine.backends.lancedb.place import Place
from engine.backends.lancedb.view import View
from engine.control import CancelToken
from engine.errors import Cancelled, Closed
from engine.store.models import ModelName

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_REFRESH_SECONDS = 1.0
"""How long an answer may be behind what other machines have committed."""
_WRITE_FACTOR = 6
"""Commits may take so many times as long as an answer: they carry data."""
_ATTEMPTS = 8
_LONGEST_WAIT = 4.0
_KEEP_VERSIONS = timedelta(hours=1)
"""Readers look at a version for seconds, and a slow one is still not cut off."""
_NO_PROBLEM = (TableMissing, TableExists, NotIndexed, Conflict)
"""What the one who asked deals with."""
_UNINDEXED = 500
"""Rows that LanceDB looks through one by one from which on they are worth an index."""
_VECTORS_TO_INDEX = 50_000
"""Below it comparing all is exact and takes tens of milliseconds."""


class SharedTable:
    """Thread-safe. Connects when it is first needed."""

    def __init__(self, find: Callable[[CancelToken | None], Place]) -> None:
        """`find` says where it is; it may ask the keychain."""
        self._find = find
        self._bridge = Bridge()
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._place: Place | None = None
        self._database: Any = None
        self._writer: Any = None
        self._probe: Any = None
        self._view: View | None = None
        self._looked = -math.inf
        self.conflicts = 0
        """How often a commit had to be tried again, beyond what LanceDB itself tries."""
        self.problem: str | None = None
        """Why it could last not be used, one sentence; None after it could."""

    def place(self, cancel: CancelToken | None = None) -> Place:
        """Raises as `find_place`."""
        if self._place is None:
            self._place = self._find(cancel)
        return self._place

    # --- reading --------------------------------------------------------------------------------------------------

    def view(self, cancel: CancelToken | None = None, *, fresh: bool = False) -> View:
        """The table as it is now, or was a second ago unless `fresh`; another one only where it has changed.

        Raises `TableMissing`, `TableUnavailable`, `TableTooNew`, `Cancelled`, `Closed`.
        """
        with self._lock:
            if self._view is not None and not fresh and time.monotonic() - self._looked < _REFRESH_SECONDS:
                return self._view
            return self._look(cancel)

    def known(self) -> View | None:
        """What was seen last; asks nobody."""
        return self._view

    def _look(self, cancel: CancelToken | None) -> View:
        database, name = self._connected(cancel), self.place().table
        if self._probe is None:
            self._probe = self.ask(database.open_table(name), cancel)
        else:
            self.ask(self._probe.checkout_latest(), cancel)
        version = self.ask(self._probe.version(), cancel)
        if self._view is None or self._view.version != version:
            pinned = self.ask(database.open_table(name), cancel)
            self.ask(pinned.checkout(version), cancel)
            self._view = View(version, pinned, self._checked(self.ask(pinned.schema(), cancel)), self.ask)
        self._looked = time.monotonic()
        return self._view

    @staticmethod
    def _checked(schema: "pa.Schema") -> "pa.Schema":
        version = (schema.metadata or {}).get(columns.VERSION_KEY)
        if version is None:
            raise TableTooNew("The LanceDB table was not made by Mnemoscope: choose another name for lancedb.table.")
        if not version.isdigit() or int(version) > columns.SCHEMA_VERSION:
            raise TableTooNew(
                "The LanceDB table was made by a newer version of Mnemoscope: update it here, or choose another name "
                "for lancedb.table."
            )
        return schema

    def ask(
        self, work: Coroutine[Any, Any, Answer], cancel: CancelToken | None = None, *, seconds: float | None = None
    ) -> Answer:
        """One answer of LanceDB within the limit. Raises its failures as sentences, `Cancelled`, `Closed`."""
        try:
            answer = self._bridge.run(work, seconds=seconds or self.place().seconds, cancel=cancel)
        except (Cancelled, Closed):
            raise
        except Exception as error:
            problem = told(error, self.place().shown)
            if not isinstance(problem, _NO_PROBLEM):
                self.problem = str(problem)
                log.warning("The LanceDB table cannot be used: %s (%s)", type(problem).__name__, type(error).__name__)
            raise problem from error
        self.problem = None
        return answer

    def _connected(self, cancel: CancelToken | None) -> Any:
        with self._connecting:
            if self._database is None:
                lancedb, place = load_lancedb(), self.place(cancel)
                options: dict[str, Any] = {"storage_options": dict(place.options)} if place.options else {}
                if place.api_key:
                    options["api_key"] = place.api_key
                self._database = self.ask(lancedb.connect_async(place.uri, **options), cancel)
            return self._database

    # --- writing --------------------------------------------------------------------------------------------------

    def create(self, dims: int | None, model: ModelName | None, cancel: CancelToken | None = None) -> None:
        """Make the table where there is none. Raises as `view`, `DiskFull`."""

        async def make(database: Any, name: str) -> None:
            table = await database.create_table(name, schema=columns.schema(dims, model))
            await _index_words(table)

        with contextlib.suppress(TableExists):  # another machine was first
            self.ask(make(self._connected(cancel), self.place().table), cancel)

    def put(
        self,
        rows: Sequence[dict[str, Any]],
        instead_of: Sequence[str],
        vectors: Mapping[str, bytes],
        cancel: CancelToken,
    ) -> None:
        """Put rows, whole files, in place of the files with these keys, in one commit.

        `vectors`: of texts, by the hash that their rows have; those of another model than the table's are not for it.
        """
        gone = sql.one_of("file", instead_of)
        again = any(row["file"] in instead_of for row in rows)

        async def commit(table: Any, schema: "pa.Schema") -> None:
            merge = table.merge_insert("id").when_not_matched_insert_all().when_not_matched_by_source_delete(gone)
            if again:
                merge = merge.when_matched_update_all()
            await merge.execute(columns.as_table(rows, vectors, schema), on_bad_vectors="null")

        self._commit(commit, cancel)

    def set_vectors(self, ids: Sequence[str], vectors: Sequence[bytes], cancel: CancelToken) -> None:
        """Give rows their vectors (little-endian float16) in one commit; rows that have gone are left out."""
        import pyarrow as pa

        async def commit(table: Any, schema: "pa.Schema") -> None:
            kind = schema.field("vector")
            column = columns.vector_column(vectors, kind.type.list_size)
            data = pa.table([pa.array(ids), column], schema=pa.schema([schema.field("id"), kind]))
            await table.merge_insert("id").when_matched_update_all().execute(data)

        self._commit(commit, cancel)

    def add_vector_column(self, dims: int, model: ModelName, cancel: CancelToken) -> None:
        async def commit(table: Any, schema: "pa.Schema") -> None:
            if "vector" not in schema.names:
                await table.add_columns(columns.vector_field(dims, model))

        self._commit(commit, cancel)

    def change_holders(self, condition: str, expression: str, cancel: CancelToken) -> None:
        """Set the holders of the files that satisfy a condition to an expression over what they are at the commit."""

        async def commit(table: Any, _: "pa.Schema") -> None:
            await table.update(where=condition, updates_sql={"holders": expression})

        self._commit(commit, cancel)

    def delete(self, condition: str, cancel: CancelToken) -> None:
        async def commit(table: Any, _: "pa.Schema") -> None:
            await table.delete(condition)

        self._commit(commit, cancel)

    def tidy(self, cancel: CancelToken) -> None:
        """Bring the indexes in step where that is worth it, and drop what no reader looks at any more."""

        async def work(table: Any, schema: "pa.Schema") -> None:
            indexes = {index.columns[0]: index.name for index in await table.list_indices()}
            if "terms" not in indexes:
                await _index_words(table)
            stats = await table.index_stats(indexes["terms"]) if "terms" in indexes else None
            bare = "vector" in schema.names and "vector" not in indexes
            if bare and await table.count_rows("vector IS NOT NULL") >= _VECTORS_TO_INDEX:
                await _index_vectors(table)
            if stats is not None and stats.num_unindexed_rows >= _UNINDEXED:
                await table.optimize(cleanup_older_than=_KEEP_VERSIONS)

        try:
            self._commit(work, cancel)
        except Conflict:
            log.info("Another machine tidies the table")

    def _commit(self, work: "Callable[[Any, pa.Schema], Coroutine[Any, Any, None]]", cancel: CancelToken) -> None:
        """Raises as `view`, `DiskFull`, `Conflict` when other machines were always faster."""

        def once() -> None:
            database = self._connected(cancel)
            if self._writer is None:
                self._writer = self.ask(database.open_table(self.place().table), cancel)
            self.ask(self._writer.checkout_latest(), cancel)
            schema = self._checked(self.ask(self._writer.schema(), cancel))
            self.ask(work(self._writer, schema), cancel, seconds=_WRITE_FACTOR * self.place().seconds)

        for attempt in range(_ATTEMPTS):
            cancel.checkpoint()
            try:
                once()
                self._looked = -math.inf  # what this machine has just done is seen at once
                return
            except Conflict:
                self.conflicts += 1
                if attempt == _ATTEMPTS - 1:
                    raise
                # With jitter: two that waited alike would meet again.
                _sleep(random.uniform(0.05, min(_LONGEST_WAIT, 0.1 * 2**attempt)), cancel)

    def close(self) -> None:
        """Cancel what runs and let go of everything. Twice is fine."""
        self._bridge.close()
        self._database = self._writer = self._probe = self._view = None


def _sleep(seconds: float, cancel: CancelToken) -> None:
    woken = threading.Event()
    forget = cancel.on_cancel(woken.set)
    try:
        woken.wait(seconds)
    finally:
        forget()
    cancel.checkpoint()


async def _index_words(table: Any) -> None:
    from lancedb.index import FTS

    await table.create_index(
        "terms",
        config=FTS(
            base_tokenizer="whitespace",
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
            max_token_length=None,
        ),
    )


async def _index_vectors(table: Any) -> None:
    from lancedb.index import IvfFlat

    await table.create_index("vector", config=IvfFlat(distance_type="cosine"))
