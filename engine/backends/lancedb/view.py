"""One version of the table: its files, word frequencies, and queries."""

import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from engine.backends.lancedb import columns, sql
from engine.backends.lancedb.columns import Row, SharedFile, read_files, read_rows
from engine.backends.lancedb.failures import NotIndexed
from engine.base.cancellation import CancelToken
from engine.store.vector_encoding import Vectors

if TYPE_CHECKING:
    import pyarrow as pa

Ask = Callable[..., Any]

_PASSAGES = f"ordinal > {columns.FILE_ROW}"
_FILES = f"ordinal = {columns.FILE_ROW}"
_PROBES = 40
"""Parts of an index of vectors that are looked into; of some two hundred."""


class TableView:
    """One version of the table. Thread-safe; caches the rows that it has read."""

    def __init__(self, version: int, table: Any, schema: "pa.Schema", ask: Ask) -> None:
        self.version = version
        self.number = columns.number_of(schema)
        self._table = table
        self._ask = ask
        self._lock = threading.Lock()
        self._files: dict[str, SharedFile] | None = None
        self._counts: dict[str, int] = {}
        self._vectors: int | None = None
        field = schema.field("vector") if "vector" in schema.names else None
        self.dims: int | None = None if field is None else field.type.list_size
        self.model = None if field is None else columns.model_of(field)
        """The model of its vectors; None before the first."""

    def files(self, cancel: CancelToken | None = None) -> Mapping[str, SharedFile]:
        """All files by their keys."""
        with self._lock:
            if self._files is None:
                query = self._table.query().where(_FILES).select(list(columns.CATALOG_COLUMNS))
                self._files = {file.key: file for file in read_files(self._ask(query.to_arrow(), cancel))}
            return self._files

    @cached_property
    def passages(self) -> int:
        """How many there are."""
        return sum(file.passages for file in self.files().values())

    @cached_property
    def words(self) -> int:
        """Tokens of all passages."""
        return sum(file.words for file in self.files().values())

    @property
    def complete(self) -> bool:
        """Whether its files and the number of its vectors are cached."""
        return self._files is not None and (self._vectors is not None or self.dims is None)

    def vectors(self) -> int:
        """How many passages have a vector."""
        if self.dims is None:
            return 0
        if self._vectors is None:
            self._vectors = int(self._ask(self._table.count_rows("vector IS NOT NULL")))
        return self._vectors

    def count(self, tokens: Sequence[str], cancel: CancelToken | None = None) -> list[int]:
        """How many passages hold each of these marked tokens."""
        unknown = list(dict.fromkeys(token for token in tokens if token not in self._counts))
        if unknown:
            most = max(1, self.passages)
            try:
                found = self._ask(_together([self._matching(token, most) for token in unknown]), cancel)
            except NotIndexed:
                return [0] * len(tokens)
            self._counts.update(zip(unknown, map(len, found), strict=True))
        return [self._counts[token] for token in tokens]

    def _matching(self, token: str, most: int) -> "Coroutine[Any, Any, pa.Table]":
        query = self._table.query().nearest_to_text(match(token)).select(["_score"]).limit(most)
        return query.to_arrow()  # type: ignore[no-any-return]

    def by_words(self, query: Any, limit: int, condition: str, cancel: CancelToken | None) -> list[Row]:
        """The best matches of a full-text query, by LanceDB's own ranking."""
        asked = self._table.query().nearest_to_text(query).where(_and(condition))
        try:
            return self._rows(asked.select([*self._columns(), "_score"]).limit(limit), cancel)
        except NotIndexed:
            return []

    def by_vector(self, vector: Vectors, limit: int, condition: str, cancel: CancelToken | None) -> list[Row]:
        """The nearest to a unit vector (dims,), by cosine."""
        asked = self._table.query().nearest_to(vector).column("vector").distance_type("cosine").nprobes(_PROBES)
        asked = asked.where(_and(f"({condition}) AND vector IS NOT NULL" if condition else "vector IS NOT NULL"))
        return self._rows(asked.select([*self._columns(), "_distance"]).limit(limit), cancel)

    def where(self, condition: str, cancel: CancelToken | None = None) -> list[Row]:
        """All passages that satisfy a condition, in no order."""
        return self._rows(self._table.query().where(_and(condition)).select(self._columns()), cancel)

    def vectors_of(self, hashes: Sequence[bytes], cancel: CancelToken) -> dict[bytes, bytes]:
        """Vectors of those of these texts that have one, by the hashes of the texts."""
        condition = _and(f"{sql.one_of('text_hash', (hash_.hex() for hash_ in hashes))} AND vector IS NOT NULL")
        query = self._table.query().where(condition).select(["text_hash", "vector"])
        found = self._ask(query.to_arrow(), cancel)
        pairs = zip(found.column("text_hash").to_pylist(), columns.read_vectors(found), strict=True)
        return {bytes.fromhex(hash_): vector for hash_, vector in pairs if vector is not None}

    def without_vector(self, cancel: CancelToken) -> list[tuple[str, bytes]]:
        """(id, hash of the text) of the passages without a vector."""
        query = self._table.query().where(_and("vector IS NULL")).select(["id", "text_hash"])
        found = self._ask(query.to_arrow(), cancel)
        pairs = zip(found.column("id").to_pylist(), found.column("text_hash").to_pylist(), strict=True)
        return [(id_, bytes.fromhex(hash_)) for id_, hash_ in pairs]

    def _columns(self) -> list[str]:
        return [*columns.PASSAGE_COLUMNS, "vector"] if self.dims is not None else list(columns.PASSAGE_COLUMNS)

    def _rows(self, query: Any, cancel: CancelToken | None) -> list[Row]:
        return list(read_rows(self._ask(query.to_arrow(), cancel)))


def _and(condition: str) -> str:
    return sql.all_of([_PASSAGES, condition]) if condition else _PASSAGES


def match(tokens: str) -> Any:
    """A full-text query: any of these marked tokens, unchanged."""
    import lancedb.query

    make: Any = lancedb.query.MatchQuery  # its type leaves out that the other arguments have defaults
    return make(tokens, "terms")


async def _together(work: "Sequence[Coroutine[Any, Any, pa.Table]]") -> "list[pa.Table]":
    import asyncio

    return list(await asyncio.gather(*work))
