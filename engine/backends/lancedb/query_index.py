"""A small SQLite index in memory: the names of all files of a LanceDB table, and the passages that match one query.

It is searched by the code that searches the program's own index: the same operators, scores, order,
snippets and explanations.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import apsw
import msgspec

from engine.backends.lancedb.table import TableView
from engine.backends.lancedb.table_schema import (
    BEGINNING,
    NAME,
    STEM,
    WORD,
    FileMetadata,
    Row,
    SharedFile,
    beginning_of,
    read_value,
    sql_one_of,
)
from engine.base.cancellation import CancelToken, checkpoint
from engine.corpus.link_parsing import names_of
from engine.search.document_frequencies import PrefixMatches, Word
from engine.store.connection import number
from engine.store.index_schema import INDEX_MIGRATIONS
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors, decode
from engine.store.writer import NewFile, Writer

_COLUMN_LETTERS = {"words": WORD, "stems": STEM, "name": NAME}
_ANY = b""
"""Hash of a placeholder vector: queries are embedded only if there are vectors."""


class QueryIndex:
    """In-memory SQLite index for one query of a LanceDB table; made by `Catalog`, closed after the query."""

    def __init__(self, view: TableView, connection: apsw.Connection, files: Mapping[str, "CatalogFile"]) -> None:
        self.view = view
        self.connection = connection
        self.files = files
        """Searchable files by key."""
        self._keys = {file.id: key for key, file in files.items()}
        self._copied: dict[str, set[int]] = {}
        """Copied passages by file key."""

    def keys(self, ids: Iterable[int]) -> list[str]:
        """Return the table's keys of the files with these ids."""
        return [self._keys[id_] for id_ in ids if id_ in self._keys]

    def divided(self, hidden: frozenset[int]) -> tuple[list[SharedFile], list[SharedFile]]:
        """Return the files that are not `hidden`, and the hidden ones."""
        files = self.files.values()
        return [entry.file for entry in files if entry.id not in hidden], [
            entry.file for entry in files if entry.id in hidden
        ]

    def key_of(self, path: str) -> str | None:
        """Return the key of the file with this path in the table; None for a file without rows."""
        return next((key for key, file in self.files.items() if file.path == path), None)

    def load(self, rows: Iterable[Row]) -> None:
        """Copy passages into the index unless it has them already, or their file is missing from the catalog."""
        new: dict[str, list[Row]] = {}
        for row in rows:
            if row.file in self.files and row.ordinal not in self._copied.get(row.file, ()):
                new.setdefault(row.file, []).append(row)
        writer = Writer(self.connection)
        model = None if self.view.model is None else writer.stored_model(*self.view.model)
        with self.connection:
            for key, of_file in new.items():
                here = self._copied.setdefault(key, set())
                once = sorted({row.ordinal: row for row in of_file}.values(), key=lambda row: row.ordinal)
                writer.extend_file(_as_new(self.files[key], once), keep=len(here))
                here.update(row.ordinal for row in once)
        if model is not None:
            vectors = ((row.chunk.hash, row.vector) for of_file in new.values() for row in of_file)
            writer.store_vectors(model.id, ((hash_, vector) for hash_, vector in vectors if vector is not None))


class CatalogFile(msgspec.Struct, frozen=True):
    """A file of the LanceDB table, with the stable name that it has on this machine."""

    id: int
    path: str
    """Stable name of the file on this machine, or `//machine/name` if only another machine has it."""
    file: SharedFile


class Catalog:
    """All files of one version of the table, in a read-only SQLite database that is copied for every query."""

    def __init__(self, view: TableView, named: Mapping[str, str], identity: str, rules: str) -> None:
        """`named`: displayed name of each file by key. `rules`: fingerprint of the rules for names."""
        self.view = view
        self._lock = threading.Lock()
        self._connection = apsw.Connection(":memory:")
        connection = self._connection
        with connection:
            for migrate in INDEX_MIGRATIONS:
                migrate(connection)
            connection.execute("UPDATE meta SET value = ? WHERE key = 'identity'", (identity,))
            writer = Writer(connection)
            writer.set_meta("stamp", view.version)
            writer.set_meta("names", rules)
            if view.model is not None and view.dims is not None:
                model = writer.ensure_model(*view.model, view.dims)
                if view.vectors():
                    writer.store_vectors(model.id, [(_ANY, bytes(2 * view.dims))])
            self.files = {key: self._add(writer, path, view.files()[key]) for key, path in named.items()}

    @staticmethod
    def _add(writer: Writer, path: str, file: SharedFile) -> CatalogFile:
        metadata = read_value(file.facts, FileMetadata)
        writer.replace_file(
            NewFile(
                source=file.source,
                path=path,
                hash=file.hash,
                mtime_ns=file.mtime_ns,
                size=file.size,
                title=file.title,
                language=file.language,
                title_tokens="",
                name_tokens="",
                chunks=(),
                session=metadata.session,
                tags=metadata.tags,
                aliases=metadata.aliases,
                dates=metadata.earlier if metadata.dated is None else (*metadata.earlier, metadata.dated),
                evergreen=metadata.evergreen,
                link_names=names_of(path, file.title, metadata.aliases, "") if file.source == "memory" else (),
            )
        )
        query = f"SELECT id FROM {writer.tables.files} WHERE source = ? AND path = ?"
        return CatalogFile(number(writer.connection, query, (file.source, path)), path, file)

    def query_index(self) -> QueryIndex:
        copy = apsw.Connection(":memory:")
        with self._lock, copy.backup("main", self._connection, "main") as backup:
            while not backup.done:
                backup.step()
        return QueryIndex(self.view, copy, self.files)

    def close(self) -> None:
        with self._lock:
            self._connection.close()


class MemoryIndexes:
    """The `IndexStore` of a searcher: each thread reads the index of its own query."""

    recovered = ""

    def __init__(self) -> None:
        self._thread_local = threading.local()

    @contextmanager
    def using(self, query_index: QueryIndex) -> Iterator[None]:
        before = getattr(self._thread_local, "query_index", None)
        self._thread_local.query_index = query_index
        try:
            yield
        finally:
            self._thread_local.query_index = before
            query_index.connection.close()

    @property
    def current(self) -> QueryIndex:
        index: QueryIndex = self._thread_local.query_index
        return index

    @contextmanager
    def read(self, cancel: CancelToken | None = None) -> Iterator[Snapshot]:
        checkpoint(cancel)
        yield Snapshot(self.current.connection)


class TableCounts:
    """Word frequencies of the whole table, or of the files that a session may know of."""

    def __init__(self, query_index: QueryIndex, hidden_ids: frozenset[int]) -> None:
        """`hidden_ids`: ids of the files that the session may not know of."""
        self._view = view = query_index.view
        self.total, self._words, self.condition = view.passages, view.words, ""
        if hidden_ids:
            known, hidden = query_index.divided(hidden_ids)
            self.total, self._words = sum(file.passages for file in known), sum(file.words for file in known)
            sources = {file.source for file in hidden} - {file.source for file in known}
            keys = [file.key for file in hidden if file.source not in sources]
            self.condition = f"NOT ({sql_one_of('source', sources)} OR {sql_one_of('file', keys)})"

    @property
    def average_length(self) -> float | None:
        return self._words / max(1, self.total)

    def read(self, tokens: Sequence[str], cancel: CancelToken | None) -> None:
        """Read how many passages contain each token, in one request; tokens begin with the letter of their column."""
        self._view.count(tokens, self.condition, cancel)

    def vectors(self) -> int:
        return self._view.vectors(self.condition)

    def chunks(self, token: str, column: str) -> int:
        return self._view.count([_COLUMN_LETTERS[column] + token], self.condition)[0]

    def expect(self, tokens: Iterable[str]) -> None:
        """Do nothing: counting in advance would be wasted, since most of these tokens are looser forms."""

    def words(self, start: str) -> PrefixMatches:
        """Return all words with this prefix as one. A prefix longer than the stored ones is probably a whole word;
        otherwise its count is an upper limit.
        """
        prefix = beginning_of(start)
        if prefix is None:
            return PrefixMatches(start, ())
        beginning, word = self._view.count([BEGINNING + prefix, WORD + start], self.condition)
        words = Word(start, word if word and len(start) > len(prefix) else beginning, 0)
        return PrefixMatches(start, (words,))

    def loose(self, token: str, column: str) -> int:
        """Return 0: each looser form would need another query to the table."""
        return 0

    def spelled_out(self, token: str, column: str) -> Sequence[str]:
        return ()


class MemoryIndexCounts:
    """Word frequencies for a searcher; see `Frequencies`."""

    def __init__(self, indexes: MemoryIndexes) -> None:
        self._indexes = indexes

    def counts(self, snapshot: Snapshot) -> TableCounts:
        return TableCounts(self._indexes.current, snapshot.hidden)


class QueryIndexVectors:
    """Vector index over the copied vectors; see `VectorIndex`."""

    def __init__(self, indexes: MemoryIndexes) -> None:
        self._indexes = indexes

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
        import numpy as np

        requested = snapshot.vector_chunk_ids(model.id) if allowed is None else allowed
        rows = list(snapshot.vectors(model.id, model.dims, requested))
        ids = np.array([id_ for id_, _ in rows], dtype=np.int64)
        cosines = decode([vector for _, vector in rows], model.dims) @ query
        best = np.argsort(-cosines, kind="stable")[:k]
        return ids[best], cosines[best]

    def rows(self, snapshot: Snapshot, model: StoredModel) -> int:
        """Number of vectors in the whole table, or in the files that the session may know of."""
        return TableCounts(self._indexes.current, snapshot.hidden).vectors()


def _as_new(entry: CatalogFile, rows: Sequence[Row]) -> NewFile:
    file = entry.file
    return NewFile(
        source=file.source,
        path=entry.path,
        hash=file.hash,
        mtime_ns=file.mtime_ns,
        size=file.size,
        title=file.title,
        language=file.language,
        title_tokens=rows[0].title_tokens,
        name_tokens=rows[0].name_tokens,
        alias_tokens=rows[0].alias_tokens,
        chunks=tuple(row.chunk for row in rows),
    )
