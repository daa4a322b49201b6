"""Writes a shared table in atomic commits, which are retried after a conflict with another machine."""

import contextlib
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from engine.backends.lancedb import table_schema
from engine.backends.lancedb.error_messages import Conflict, TableExists, TableReplaced
from engine.backends.lancedb.table import SharedTable
from engine.backends.lancedb.table_schema import sql_one_of
from engine.base import lazy_logger
from engine.base.cancellation import CancelToken, pause
from engine.store.stored_models import ModelName

if TYPE_CHECKING:
    import pyarrow as pa

log = lazy_logger(__name__)

_WRITE_FACTOR = 6
"""Timeout of commits, as a multiple of an answer's: they carry data."""
_TIDY_FACTOR = 30
"""Timeout factor of tidying, which may rewrite the whole table."""
_ATTEMPTS = 8
_LONGEST_WAIT = 4.0
_KEEP_VERSIONS = timedelta(hours=1)
"""Minimum age of versions that are removed, so that slow readers can finish."""
_VERSIONS_TO_TIDY = 64
"""Number of commits after which the table is tidied, since each leaves files behind."""
_UNINDEXED = 500
"""Number of rows without an index from which indexing them is worthwhile."""
_VECTORS_TO_INDEX = 50_000
"""Number of vectors from which an index is created; with fewer, exact comparison takes tens of milliseconds."""


class TableWriter:
    """Writes to the table for one sync at a time. Methods raise the errors of `SharedTable.view`, `DiskFull`,
    `Conflict`."""

    def __init__(self, table: SharedTable) -> None:
        self._table = table
        self._tidied_version: int | None = None
        """Version of the table when it was last tidied, or checked for that."""

    def create(self, dims: int | None, model: ModelName | None, cancel: CancelToken | None = None) -> None:
        """Create the LanceDB table if it is missing."""

        async def make(database: Any, name: str) -> None:
            table = await database.create_table(name, schema=table_schema.schema(dims, model))
            await _index_words(table)

        with contextlib.suppress(TableExists):  # another machine was first
            self._table.call(make(self._table.connected(cancel), self._table.location().table), cancel)

    def replace_files(
        self,
        rows: Sequence[dict[str, Any]],
        instead_of: Sequence[str],
        vectors: Mapping[str, bytes],
        cancel: CancelToken,
    ) -> None:
        """Put rows, whole files, in place of the files with these keys, in one commit.

        `vectors`: of texts, by the hash that their rows have; those of another model than the table's are not for it.
        """
        gone = sql_one_of("file", instead_of)
        again = any(row["file"] in instead_of for row in rows)

        async def commit(table: Any, schema: "pa.Schema") -> None:
            merge = table.merge_insert("id").when_not_matched_insert_all().when_not_matched_by_source_delete(gone)
            if again:
                merge = merge.when_matched_update_all()
            await merge.execute(table_schema.as_table(rows, vectors, schema), on_bad_vectors="null")

        self._commit(commit, cancel)

    def set_vectors(self, ids: Sequence[str], vectors: Sequence[bytes], cancel: CancelToken) -> None:
        """Set vectors (little-endian float16) of rows in one commit; deleted rows are left out."""
        import pyarrow as pa

        async def commit(table: Any, schema: "pa.Schema") -> None:
            kind = schema.field("vector")
            column = table_schema.vector_column(vectors, kind.type.list_size)
            data = pa.table([pa.array(ids), column], schema=pa.schema([schema.field("id"), kind]))
            await table.merge_insert("id").when_matched_update_all().execute(data)

        self._commit(commit, cancel)

    def add_vector_column(self, dims: int, model: ModelName, cancel: CancelToken) -> None:
        """Add the column for vectors (dims,) of a model, unless another machine has added one."""

        async def commit(table: Any, schema: "pa.Schema") -> None:
            if "vector" not in schema.names:
                await table.add_columns(table_schema.vector_field(dims, model))

        self._commit(commit, cancel)

    def change_holders(self, condition: str, expression: str, cancel: CancelToken) -> None:
        """Set the holders of files that satisfy a condition to an SQL expression, evaluated at the commit."""

        async def commit(table: Any, _: "pa.Schema") -> None:
            await table.update(where=condition, updates_sql={"holders": expression})

        self._commit(commit, cancel)

    def delete(self, condition: str, cancel: CancelToken) -> None:
        """Delete the rows that satisfy an SQL condition."""

        async def commit(table: Any, _: "pa.Schema") -> None:
            await table.delete(condition)

        self._commit(commit, cancel)

    def clean_up(self, cancel: CancelToken) -> None:
        """Update the indexes if worthwhile, and delete old versions."""

        async def work(table: Any, schema: "pa.Schema") -> None:
            indexes = {index.columns[0]: index.name for index in await table.list_indices()}
            if "terms" not in indexes:
                await _index_words(table)
            stats = await table.index_stats(indexes["terms"]) if "terms" in indexes else None
            bare = "vector" in schema.names and "vector" not in indexes
            if bare and await table.count_rows("vector IS NOT NULL") >= _VECTORS_TO_INDEX:
                await _index_vectors(table)
            crowded = before is not None and before // _VERSIONS_TO_TIDY != await table.version() // _VERSIONS_TO_TIDY
            if crowded or (stats is not None and stats.num_unindexed_rows >= _UNINDEXED):
                await table.optimize(cleanup_older_than=_KEEP_VERSIONS)

        before = self._tidied_version
        try:
            self._commit(work, cancel, factor=_TIDY_FACTOR)
        except Conflict:
            log.info("Another machine tidies the table")
        self._tidied_version = None

    def _commit(
        self,
        work: "Callable[[Any, pa.Schema], Coroutine[Any, Any, None]]",
        cancel: CancelToken,
        *,
        factor: int = _WRITE_FACTOR,
    ) -> None:
        """Run a commit with retries. Raises `Conflict` if other machines were faster every time."""
        table = self._table

        def once() -> None:
            opened = table.call(table.connected(cancel).open_table(table.location().table), cancel)
            schema = table.checked(table.call(opened.schema(), cancel))
            if self._tidied_version is None:
                self._tidied_version = table.call(opened.version(), cancel)
            table.call(work(opened, schema), cancel, seconds=factor * table.location().seconds)

        for attempt in range(_ATTEMPTS):
            cancel.checkpoint()
            try:
                once()
                table.changed()
                return
            except (Conflict, TableReplaced) as problem:
                if isinstance(problem, TableReplaced):
                    table.reconnect()
                if attempt == _ATTEMPTS - 1:
                    raise
                # With jitter: two machines with equal waits would collide again.
                pause(random.uniform(0.05, min(_LONGEST_WAIT, 0.1 * 2**attempt)), cancel)


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
