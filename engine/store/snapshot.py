"""Read access to the index within one short read transaction."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import apsw
import msgspec

from engine.base import in_batches
from engine.base.errors import IndexCorrupt
from engine.base.language import tr
from engine.records import MemorySearchResult, Source, cite
from engine.store.connection import id_array, number
from engine.store.index_schema import Tables, discarded_tables, generations_present
from engine.store.vector_encoding import Dims, StoredModel

if TYPE_CHECKING:
    from engine.records import FileIssue, SourceCount

HEADING_SEPARATOR = "\x1f"
MAX_FREE_SHARE = 0.25
"""Share of empty pages above which they are returned to the disk; fewer are left for new notes."""
_GROUP, _FILES = 400, 4_000  # texts in one statement; files whose chunks are one list, which takes .5 ms
_CACHED_CHUNKS = 100
"""Number of chunks that a snapshot caches, since a search first reads the best ones and then shows them."""
_CHUNK_TYPES = tuple(
    (int, str, str, str, str, int, int, int, str, str, offsets, str, str, str, int) for offsets in (type(None), bytes)
)
_Row = TypeVar("_Row")


class StoredFile(msgspec.Struct, frozen=True, gc=False):
    """An indexed file, with hash, time and size from when it was indexed."""

    id: int
    hash: str
    mtime_ns: int
    size: int


class StoredChunk(msgspec.Struct, frozen=True):
    """A chunk of a note or session, with metadata of its file."""

    id: int
    path: str
    source: Source
    title: str
    language: str
    modified: float
    start_line: int
    end_line: int
    heading: tuple[str, ...]
    machine: str
    """Name of the other machine that a session is from; empty for this one."""
    text: str
    message_offsets: bytes | None
    """For sessions only: JSON with the message that each part of the text is from."""
    agent: str
    """For sessions only, else empty; the same holds for `project`."""
    project: str
    rewound: str
    """Lines of the session that the user abandoned by going back."""
    first: int
    """For notes only: 1 if no chunk of the file is above this one, else 0. Front matter may be above it."""

    @property
    def citation(self) -> str:
        """The chunk's citation: `path#L5-L9`, or `path#L5` for one line."""
        return cite(self.path, self.start_line, self.end_line)


class Unembedded(msgspec.Struct, frozen=True):
    """A chunk text that has no vector yet."""

    hash: bytes
    text: str
    path: str


class Snapshot:
    """Reads the index as of one moment; valid inside the `with` block that made it.

    Look-ups by id use CROSS JOIN to fix SQLite's join order: above a few hundred ids it would rather scan the other
    table (85 ms instead of 1).
    """

    def __init__(self, connection: apsw.Connection, tables: Tables | None = None) -> None:
        self.connection = connection
        # Reading the generation first starts the snapshot: all later reads see the same commit.
        self._meta: dict[str, Any] = dict(connection.execute("SELECT key, value FROM meta"))
        numbers = [self._meta.get("generation"), self._meta.get("stamp", 0)]
        if "identity" not in self._meta or not all(isinstance(value, int) and value >= 0 for value in numbers):
            raise IndexCorrupt(tr("The index does not say which of its tables are the current ones."))
        self.identity = str(self._meta["identity"])
        """Identity of the file; the replacement of a damaged file has a different one."""
        self.generation: int = numbers[0]
        self.stamp: int = numbers[1]
        """Rises with every commit that changes chunks or vectors."""
        self.tables = tables or Tables(self.generation)
        self.unrestricted: Snapshot | None = None
        """The snapshot of all files, if this one is limited to some of them."""
        self.hidden = frozenset[int]()
        """Ids of the files that this snapshot leaves out."""
        self.visible: tuple[int, ...] | None = None
        """Ids of all other files; None if no file is left out."""
        self._chunks: dict[int, StoredChunk] = {}

    def without(self, hidden: frozenset[int], visible: tuple[int, ...]) -> "Snapshot":
        """Return this snapshot without files that a session may not see: its counts and words leave them out."""
        part = Snapshot.__new__(Snapshot)
        vars(part).update(vars(self))
        part.hidden, part.visible, part.unrestricted = hidden, visible, self
        return part

    @cached_property
    def _hidden_ids(self) -> tuple[str, str]:
        """Names of temporary tables with the ids of the hidden files and of their chunks: a search reads them often."""
        files, chunks = "temp.hidden_files", "temp.hidden_chunks"
        for table in (files, chunks):
            self.connection.execute(f"CREATE TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY)")
            self.connection.execute(f"DELETE FROM {table}")  # another snapshot of this connection may have filled it
        ids = id_array(self.hidden)
        self.connection.execute(f"INSERT INTO {files} SELECT value FROM carray(?)", (ids,))
        self.connection.execute(f"INSERT INTO {chunks} SELECT id FROM {self.tables.chunks} WHERE file_id IN {files}")
        return files, chunks

    def in_files(self, files: Sequence[int]) -> str:
        """Return an SQL condition on a chunk id: the chunk belongs to one of these files. No file may be hidden."""
        if self.visible is not None and len(files) == len(self.visible):  # looking up the few hidden ones is faster
            return f"NOT IN {self._hidden_ids[1]}" if self.hidden else "IS NOT NULL"
        return f"IN (SELECT id FROM {self.tables.chunks} WHERE file_id IN ({','.join(map(str, files))}))"

    def _in_hidden(self, column: str) -> str:
        """Return the SQL condition that a column has the id of a hidden file."""
        return f"{column} IN {self._hidden_ids[0]}" if self.hidden else "0"

    def words_where(self, condition: str) -> str:
        """Return the SQL of a table (term, col, doc): the number of chunks with each word that satisfies it."""
        tables = self.tables
        if not self.hidden:
            return f"(SELECT term, col, doc FROM {tables.terms} WHERE {condition})"
        occurrences = f"temp.{tables.terms}_places"  # in memory: readers can't write
        self.connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {occurrences} USING fts5vocab (main, {tables.fts}, instance)"
        )
        return f"""(SELECT term, col, count(DISTINCT doc) AS doc FROM {occurrences}
            WHERE {condition} AND doc NOT IN {self._hidden_ids[1]} GROUP BY term, col)"""

    def meta(self, key: str) -> object:
        """Return a value from the store's metadata; None if it is not set."""
        return self._meta.get(key)

    def generations(self) -> list[int]:
        """Return the numbers of all generations with tables: more than one during and after a rebuild."""
        return generations_present(self.connection)

    def has_discarded_tables(self) -> bool:
        """Whether discarded tables are still to be deleted."""
        return bool(discarded_tables(self.connection))

    def files(self, source: Source) -> dict[str, StoredFile]:
        """Return the indexed files of one source, by name."""
        query = f"SELECT path, id, hash, mtime_ns, size FROM {self.tables.files} WHERE source = ?"
        return {row[0]: StoredFile(*row[1:]) for row in self.connection.execute(query, (source,))}

    def file_count(self) -> int:
        """Return the number of indexed files, including those without chunks."""
        return number(self.connection, f"SELECT count(*) FROM {self.tables.files}") - len(self.hidden)

    def chunk_count(self) -> int:
        """Return the number of indexed chunks."""
        count = f"SELECT count(*) FROM {self.tables.chunks}"
        hidden = number(self.connection, f"SELECT count(*) FROM {self._hidden_ids[1]}") if self.hidden else 0
        return number(self.connection, count) - hidden

    def chunk_id_range(self) -> tuple[int, int]:
        """Return the lowest and highest chunk id; both 0 if there are no chunks."""
        # Two queries: for min and max in one, SQLite would read every row.
        first, last = (f"SELECT {function}(id) FROM {self.tables.chunks}" for function in ("min", "max"))
        return number(self.connection, first), number(self.connection, last)

    def newest_chunk_id(self) -> int:
        """Return the highest chunk id ever used in any generation."""
        return number(self.connection, "SELECT max(seq) FROM sqlite_sequence")

    def source_counts(self) -> "tuple[SourceCount, ...]":
        """Return the number of files and chunks of each source that has files."""
        from engine.records import SourceCount  # a search doesn't need it

        known = f"NOT {self._in_hidden('f.id')}"
        files = dict(
            self.connection.execute(f"SELECT source, count(*) FROM {self.tables.files} f WHERE {known} GROUP BY source")
        )
        # Counting all chunks is fast, counting those of a source reads each of its files: the largest is calculated.
        *fewer, most = sorted(files, key=files.__getitem__) or [""]
        query = f"""SELECT count(*) FROM {self.tables.files} f
            CROSS JOIN {self.tables.chunks} c ON c.file_id = f.id WHERE f.source = ? AND {known}"""
        chunks = {source: number(self.connection, query, (source,)) for source in fewer}
        chunks[most] = self.chunk_count() - sum(chunks.values())
        return tuple(SourceCount(source=source, files=files[source], chunks=chunks[source]) for source in sorted(files))

    def languages(self) -> tuple[str, ...]:
        """Return the languages of the indexed notes, including "" if the language of some is unknown.

        Runs with every query, so it skips from one language to the next in their index, and the undecided ones after
        the first: all count as the same one.
        """
        from engine.text.stems import counted_as

        known = f"SELECT min(f.language) FROM {self.tables.files} f WHERE NOT {self._in_hidden('f.id')}"
        next_one = "f.language > iif(found.language GLOB 'undecided*', 'undecided~', found.language)"
        rows = self.connection.execute(
            f"""WITH RECURSIVE found (language) AS (
                    SELECT ({known})
                    UNION ALL
                    SELECT ({known} AND {next_one}) FROM found WHERE found.language IS NOT NULL)
                SELECT language FROM found WHERE language IS NOT NULL"""
        )
        return tuple(sorted({counted_as(language) for (language,) in rows}))

    def issues(self, kind: str, name: str | None = None) -> "tuple[FileIssue, ...]":
        """Return the problems that the last sync recorded, by file: `kind` is `skipped`, `failed` or `not embedded`.

        `name` limits the answer to one file.
        """
        query = "SELECT path, rule, detail FROM issues WHERE kind = ? AND path = coalesce(?, path) ORDER BY path, rule"
        if not (issues := list(validated(self.connection.execute(query, (kind, name)), tuple[str, str, str]))):
            return ()
        from engine.records import FileIssue  # few searches have one

        return tuple(FileIssue(path=path, rule=rule, detail=detail) for path, rule, detail in issues)

    def chunks(self, ids: Sequence[int]) -> dict[int, StoredChunk]:
        """Return the chunks with these ids, by id; unknown ids are left out."""
        chunks = {id_: self._chunks[id_] for id_ in ids if id_ in self._chunks}
        above = f"SELECT 1 FROM {self.tables.chunks} p WHERE p.file_id = c.file_id AND p.start_line < c.start_line"
        if missing := [id_ for id_ in ids if id_ not in chunks]:
            rows = self.connection.execute(
                f"""SELECT c.id, f.path, f.source, f.title, f.language, f.mtime_ns, c.start_line, c.end_line, c.heading,
                        c.text, c.places, coalesce(s.agent, ''), coalesce(s.project, ''), coalesce(s.rewound, ''),
                        c.places IS NULL AND (c.start_line = 1 OR NOT EXISTS ({above}))
                    FROM carray(?) wanted CROSS JOIN {self.tables.chunks} c ON c.id = wanted.value
                    CROSS JOIN {self.tables.files} f ON f.id = c.file_id
                    LEFT JOIN {self.tables.sessions} s ON s.file_id = f.id""",
                (id_array(missing),),
            )
            machines = self.machines()
            for id_, path, source, title, language, mtime_ns, start, end, heading, *rest in _checked(rows):
                headings = tuple(heading.split(HEADING_SEPARATOR)) if heading else ()
                file = path, source, title, language, mtime_ns / 1e9
                chunks[id_] = StoredChunk(id_, *file, start, end, headings, machine_of(path, machines), *rest)
        if len(chunks) <= _CACHED_CHUNKS:
            self._chunks = chunks | self._chunks if len(self._chunks) <= _CACHED_CHUNKS else chunks
        return chunks

    def chunks_of_files(self, file_ids: Sequence[int]) -> list[int]:
        """Return the ids of all chunks of these files, ascending."""
        query = f"""SELECT json_group_array(c.id) FROM carray(?) wanted
            CROSS JOIN {self.tables.chunks} c ON c.file_id = wanted.value"""
        groups = ((id_array(group),) for group in in_batches(file_ids, _FILES))
        lists = self.connection.executemany(query, groups)
        return sorted(chain.from_iterable(msgspec.json.decode(ids, type=list[int]) for (ids,) in lists))

    def files_of_chunks(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """Return pairs (chunk id, file id) in the order of `ids`; unknown ids are left out."""
        query = (
            f"SELECT c.id, c.file_id FROM carray(?) wanted CROSS JOIN {self.tables.chunk_rows} ON c.id = wanted.value"
        )
        return list(self.connection.execute(query, (id_array(ids),)))

    def beginnings(self, language: str, count: int) -> list[str]:
        """Return the texts of the first chunks of files in a language, spread over the index.

        At most `count` for each stored value of the column `language` that `counted_as` reads as this language.
        """
        from engine.text.stems import counted_as

        stored = (name for (name,) in self.connection.execute(f"SELECT DISTINCT language FROM {self.tables.files}"))
        return [text for name in stored if counted_as(name) == language for text in self._beginnings(name, count)]

    def _beginnings(self, language: str, count: int) -> list[str]:
        files, chunks = self.tables.files, self.tables.chunks
        # As one query for both, SQLite would read all ids.
        known = f"NOT {self._in_hidden('id')}"
        of_language = f"FROM {files} WHERE language = ?1 AND {known}"
        ((first, last),) = self.connection.execute(
            f"SELECT (SELECT min(id) {of_language}), (SELECT max(id) {of_language})", (language,)
        )
        if first is None:
            return []
        query = f"""SELECT min(id) FROM {chunks}
            WHERE file_id = (SELECT min(id) FROM {files} WHERE language = ? AND id >= ? AND {known})"""
        starts = range(first, last + 1, -(-(last + 1 - first) // count))
        rows = self.connection.executemany(query, [(language, start) for start in starts])
        return [chunk.text for chunk in self.chunks(list({id_ for (id_,) in rows if id_ is not None})).values()]

    def repeated_texts(self, ids: Sequence[int], least: int) -> Iterator[tuple[int, str, bytes]]:
        """Yield (chunk id, path, hash of the text) for each of the chunks that has the same text as another of them.

        Only texts of at least `least` characters.
        """
        tables, in_ids = self.tables, "IN (SELECT value FROM carray(?1))"
        yield from self.connection.execute(
            f"""SELECT c.id, f.path, c.hash
                FROM (SELECT hash FROM {tables.chunk_rows} WHERE id {in_ids} GROUP BY hash HAVING count(*) > 1) repeated
                CROSS JOIN {tables.chunks} c ON c.hash = repeated.hash AND +c.id {in_ids}
                CROSS JOIN {tables.files} f ON f.id = c.file_id WHERE length(c.text) >= {least}""",
            (id_array(ids),),
        )

    def titles(self, ids: Sequence[int]) -> Iterator[tuple[int, int, int, str, str, str]]:
        """Yield (chunk id, first line, file id, title, path, aliases) for these chunks.

        Aliases are separated by newlines. Unknown ids are left out.
        """
        rows = self.connection.execute(
            f"""SELECT c.id, c.start_line, f.id, f.title, f.path, coalesce(n.aliases, '') FROM carray(?) wanted
                CROSS JOIN {self.tables.chunk_rows} ON c.id = wanted.value
                CROSS JOIN {self.tables.files} f ON f.id = c.file_id
                LEFT JOIN {self.tables.front_matter} n ON n.file_id = f.id""",
            (id_array(ids),),
        )
        yield from validated(rows, tuple[int, int, int, str, str, str])

    # --- vectors --------------------------------------------------------------------------------------------------

    def stored_model(self, provider: str, model: str, provider_key: str) -> StoredModel | None:
        """Return the stored model with these names; None if nothing was embedded with it yet."""
        names = (provider, model, provider_key)
        query = "SELECT id, dims FROM models WHERE provider = ? AND model = ? AND provider_key = ?"
        rows = validated(self.connection.execute(query, names), tuple[int, Dims])
        return StoredModel.of(rows[0][0], *names, rows[0][1]) if rows else None

    def vector_chunk_ids(self, model_id: int) -> list[int]:
        """Return the ids of the chunks that have a vector of this model, ascending."""
        return [id_ for (id_,) in self.vector_chunks(model_id)]

    def vector_chunks(self, model_id: int) -> Iterator[tuple[int]]:
        """Yield (chunk id,) for the chunks that have a vector of this model, ascending."""
        query = f"""SELECT c.id FROM {self.tables.chunks} c
            WHERE EXISTS (SELECT 1 FROM embedding_cache e WHERE e.model_id = ? AND e.hash = c.hash)
            AND NOT {self._in_hidden("c.file_id")} ORDER BY c.id"""
        yield from self.connection.execute(query, (model_id,))

    def vectors(self, model_id: int, dims: int, ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield (chunk id, float16 vector) for each of these chunks that has a vector.

        Damaged ones, which don't have `dims` components, are left out.
        """
        yield from self.connection.execute(
            f"""SELECT c.id, e.vector FROM carray(?) wanted CROSS JOIN {self.tables.chunk_rows} ON c.id = wanted.value
                CROSS JOIN embedding_cache e ON e.model_id = ? AND e.hash = c.hash WHERE length(e.vector) = ?""",
            (id_array(ids), model_id, 2 * dims),
        )

    def has_vectors(self, model_id: int) -> bool:
        """Whether any text was embedded with this model."""
        query = "SELECT 1 FROM embedding_cache WHERE model_id = ? LIMIT 1"
        return self.connection.execute(query, (model_id,)).fetchone() is not None

    def chunks_with_vectors(self, model_id: int, *, above: int) -> int:
        """Return the number of chunks with an id above `above` that have a vector."""
        return number(
            self.connection,
            f"""SELECT count(*) FROM {self.tables.chunks} c WHERE c.id > ? AND NOT {self._in_hidden("c.file_id")}
                AND EXISTS (SELECT 1 FROM embedding_cache e WHERE e.model_id = ? AND e.hash = c.hash)""",
            (above, model_id),
        )

    def pending_vectors(self, model: StoredModel | None) -> int:
        """Return the number of chunks without a vector of this model."""
        if model is None:
            return self.chunk_count()
        return number(
            self.connection,
            f"""SELECT count(*) FROM {self.tables.hashes_without_vector} m
                CROSS JOIN {self.tables.chunks} c ON c.hash = m.hash WHERE NOT {self._in_hidden("c.file_id")}""",
            (model.id,),
        )

    def chunks_to_embed(self, model_id: int) -> dict[bytes, int]:
        """Return a chunk id of every distinct text without a vector, by its hash.

        The first passages of all files come first, newest files first, so that vectors soon find every file.
        """
        # Hashes are compared in their order, then rows are read in theirs: a look-up elsewhere may read a page each.
        query = f"""SELECT c.id FROM {self.tables.hashes_without_vector} m
            CROSS JOIN {self.tables.chunks} c ON c.hash = m.hash"""
        ids = sorted(id_ for (id_,) in self.connection.execute(query, (model_id,)))
        rows: Iterable[tuple[bytes, int]] = self.connection.execute(
            f"""SELECT c.hash, c.id FROM carray(?) pending CROSS JOIN {self.tables.chunk_rows} ON c.id = pending.value
                CROSS JOIN {self.tables.files} f ON f.id = c.file_id ORDER BY
                    c.id NOT IN (SELECT min(id) FROM {self.tables.chunks} GROUP BY file_id), f.mtime_ns DESC, c.id""",
            (id_array(ids),),
        )
        return dict(rows)

    def texts(self, ids: Sequence[int]) -> list[Unembedded]:
        """Return texts and hashes of chunks, in the order of `ids`; unknown ids are left out."""
        rows = self.connection.execute(
            f"""SELECT c.hash, c.text, f.path FROM carray(?) wanted
                CROSS JOIN {self.tables.chunks} c ON c.id = wanted.value
                CROSS JOIN {self.tables.files} f ON f.id = c.file_id""",
            (id_array(ids),),
        )
        return [Unembedded(hash_, text, path) for hash_, text, path in rows]

    def unembedded_results(self, model_id: int, results: Iterable[MemorySearchResult]) -> list[tuple[int, bytes]]:
        """Return a chunk id and the hash of every distinct text that was found and has no vector, in order."""
        query = f"""SELECT c.id, c.hash FROM {self.tables.files} f CROSS JOIN {self.tables.chunks} c ON c.file_id = f.id
            WHERE f.source = ? AND f.path = ? AND c.start_line = ?
            AND NOT EXISTS (SELECT 1 FROM embedding_cache e WHERE e.model_id = ? AND e.hash = c.hash)"""
        first_chunks: dict[bytes, int] = {}
        for result in results:
            if result.vector_score is None:
                values = result.source, result.path, result.start_line, model_id
                for id_, hash_ in self.connection.execute(query, values):
                    first_chunks.setdefault(hash_, id_)
        return [(id_, hash_) for hash_, id_ in first_chunks.items()]

    def chunks_of_hashes(self, hashes: Sequence[bytes]) -> list[tuple[int, bytes]]:
        """Return (chunk id, hash) of all chunks whose text has one of these hashes."""
        pairs: list[tuple[int, bytes]] = []
        for group in in_batches(hashes, _GROUP):
            pairs += self.connection.execute(
                f"SELECT id, hash FROM {self.tables.chunks} WHERE hash IN ({','.join('?' for _ in group)})", group
            )
        return pairs

    def mounts(self, source: Source) -> dict[str, str]:
        """Return where the drives of the roots of a source were mounted at the last sync, by the roots' paths."""
        stored = self.meta(f"mounts {source}")
        return msgspec.json.decode(stored, type=dict[str, str]) if isinstance(stored, str) else {}

    def machines(self) -> dict[str, str]:
        """Return the names of other machines, by the prefix of their sessions' stable names."""
        stored = self.meta("machines")
        return msgspec.json.decode(stored, type=dict[str, str]) if isinstance(stored, str) else {}

    def free_share(self) -> float:
        """Return the share of empty pages in the file, 0 to 1."""
        return number(self.connection, "PRAGMA freelist_count") / max(1, number(self.connection, "PRAGMA page_count"))

    def cache_entries(self) -> int:
        return number(self.connection, "SELECT count(*) FROM embedding_cache")


def machine_of(path: str, names: dict[str, str]) -> str:
    """Return the machine of the session with this stable name; empty for this machine. `names`: `Snapshot.machines`."""
    return names[max(fitting, key=len)] if (fitting := [name for name in names if path.startswith(name)]) else ""


def validated(rows: Iterable[Any], kind: type[_Row]) -> list[_Row]:
    """Check that rows have the types of `kind`, since SQLite columns accept any value. Raises `IndexCorrupt`."""
    try:
        return msgspec.convert(list(rows), list[kind])  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        raise IndexCorrupt(tr("The index contains values of the wrong type ({reason}).", reason=error)) from None


def _checked(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield rows of chunks with their types checked as in `validated`, without copying texts. Raises `IndexCorrupt`."""
    for row in rows:
        if tuple(map(type, row)) not in _CHUNK_TYPES:
            raise IndexCorrupt(tr("The index holds a passage that cannot be read."))
        yield row


class IndexedFile(msgspec.Struct, frozen=True):
    """An indexed file, with time, size and title from when it was indexed."""

    id: int
    mtime_ns: int
    size: int
    title: str


def indexed_file(snapshot: Snapshot, source: Source, name: str) -> IndexedFile | None:
    """Return the indexed file of this source and name; None if it is not indexed."""
    query = f"SELECT id, mtime_ns, size, title FROM {snapshot.tables.files} WHERE source = ? AND path = ?"
    row = snapshot.connection.execute(query, (source, name)).fetchone()
    return None if row is None else IndexedFile(*row)


def issue_of(snapshot: Snapshot, kind: str, name: str) -> "FileIssue | None":
    """Return the issue that the last sync recorded for this file; None if there is none."""
    return next(iter(snapshot.issues(kind, name)), None)
