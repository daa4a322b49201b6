"""Write access to the index within one write transaction."""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

import msgspec

from engine.corpus.link_parsing import NoteLink, NoteName, link_key
from engine.records import FileIssue, Source
from engine.store.connection import number
from engine.store.index_schema import FTS_COLUMNS, Tables, create_generation, discard_generation
from engine.store.snapshot import HEADING_SEPARATOR, Snapshot
from engine.store.vector_encoding import StoredModel

MAX_EVICTED = 1000
_ROWS_PER_BATCH = 200
_MARKED = 16
"""A request is stored as a mark if the hash of its id is a multiple of this; the first of a session always is."""
_PAGES_PER_MERGE = 200


class NewChunk(msgspec.Struct, frozen=True):
    """A chunk to add: its text, and its tokens for the columns of the keyword index."""

    start_line: int
    end_line: int
    hash: bytes
    heading: tuple[str, ...]
    text: str
    heading_tokens: str
    words: str
    stems: str
    message_offsets: bytes | None = None
    """For sessions only: JSON that maps each part of the text to the message it comes from."""


class NewSession(msgspec.Struct, frozen=True, gc=False):
    """Metadata of a session to add, in the order of the table's columns."""

    transcript: str
    """Stable name of the file that the session is read from."""
    agent: str
    id: str
    project: str
    branch: str
    parent: str
    started: float | None
    ended: float | None
    messages: int
    bytes: int
    unknown: int = 0
    """Number of the session's lines or blocks that were not understood."""
    rewound: str = ""
    """Lines of the session that the user abandoned by going back, as encoded by `write_ranges`."""
    active: float | None = None
    """Seconds of work, as in `SessionSummary.active_seconds`."""
    pauses: str = ""
    """Long times without a message, as encoded by `write_ranges`."""


class StoredUsage(NamedTuple):
    """Tokens and cost of a session's requests to one model; None means unknown."""

    model: str
    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None
    cache_write_hour: int | None
    cost: float | None


class StoredRequest(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Tokens and cost recorded in one transcript line of a request to a model; stored as JSON."""

    digest: int
    """Hash of the request's id; a copy of the request in another session has the same one."""
    model: str
    usage: tuple[int | None, int | None, int | None, int | None, int | None, float | None]
    """Tokens and cost, in the order of the members of `StoredUsage`."""


class NewToolUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file or a command of a session's tool call, with secrets masked, in the order of the table's columns."""

    line: int
    ordinal: int
    kind: str
    value: str
    time: float


class NewChunks(Protocol):
    """The chunks of a file to store; they may be made one by one, so that few are in memory."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[NewChunk]: ...


class ChunkChanges(msgspec.Struct, frozen=True):
    """Differences between the stored chunks of a changed note and its new ones; all others stay unchanged."""

    removed: tuple[tuple[int, bytes], ...]
    """Ids and hashes of the chunks whose text is no longer in the note."""
    moved: tuple[tuple[int, int, int], ...]
    """First line, last line and id of the chunks with the same text on other lines."""


class NewFile(msgspec.Struct, frozen=True):
    """A file to store: its metadata and chunks, for a session also its usage of models and tools."""

    source: Source
    path: str
    hash: str
    mtime_ns: int
    size: int
    title: str
    language: str
    title_tokens: str
    name_tokens: str
    chunks: NewChunks
    session: NewSession | None = None
    usage: tuple[StoredUsage, ...] = ()
    """For sessions only: usage by model."""
    requests: tuple[StoredRequest, ...] = ()
    """For sessions only: requests to models from line `uses_from` on."""
    tool_uses: tuple[NewToolUse, ...] = ()
    """For sessions only: the tool uses from line `uses_from` on."""
    uses_from: int = 0
    failed_files: tuple[tuple[int, str], ...] = ()
    """For sessions only: line and path of stored files of calls that turned out to have failed."""
    tags: tuple[str, ...] = ()
    """For notes only: case-folded tags."""
    aliases: tuple[str, ...] = ()
    """For notes only, like all fields below."""
    alias_tokens: str = ""
    dates: tuple[float, ...] = ()
    """Dates from the front matter, ascending, in seconds since the epoch."""
    evergreen: bool = False
    links: tuple[NoteLink, ...] = ()
    link_names: tuple[NoteName, ...] = ()
    changes: ChunkChanges | None = None
    """Changes to the stored chunks if some of them stay; `chunks` are then added. None replaces all.
    """


class Writer(Snapshot):
    """Reads and writes the index inside a write transaction; `tables` selects the generation to write."""

    # --- files ----------------------------------------------------------------------------------------------------

    def replace_file(self, file: NewFile) -> tuple[list[int], list[int]]:
        """Add a file, replacing its previous version; returns the ids of (new, removed) chunks.

        Chunk ids are assigned here, in rising order, so they are known without a query.
        """
        if file.changes is not None:
            file_id, added, removed = self._extend_file(file, file.changes.removed)
            self.connection.executemany(
                f"UPDATE {self.tables.chunks} SET start_line = ?, end_line = ? WHERE id = ?", file.changes.moved
            )
            self._remove_note_details(file_id)
        else:
            removed = self.remove_file(file.source, file.path)
            self.connection.execute(
                f"INSERT INTO {self.tables.files} VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _file_row(None, file)
            )
            file_id = self.connection.last_insert_rowid()
            added = self._add_chunks(file_id, file)
        self._add_note_details(file_id, file)
        return added, removed

    def _add_note_details(self, file_id: int, file: NewFile) -> None:
        self.connection.executemany(
            f"INSERT OR IGNORE INTO {self.tables.tags} VALUES (?, ?)", ((tag, file_id) for tag in file.tags)
        )
        if file.aliases or file.dates or file.evergreen:
            *earlier, dated = file.dates or (None,)
            self.connection.execute(
                f"INSERT INTO {self.tables.front_matter} VALUES (?, ?, ?, ?, ?)",
                (file_id, "\n".join(file.aliases), dated, file.evergreen, " ".join(map(str, earlier))),
            )
        self.connection.executemany(
            f"INSERT INTO {self.tables.links} VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (file_id, link.line, link.kind, link_key(link.target), link.target, link.anchor, link.context)
                for link in file.links
            ),
        )
        self.connection.executemany(
            f"INSERT INTO {self.tables.link_names} VALUES (?, ?, ?, ?)",
            ((name.key, name.kind, file_id, name.line) for name in file.link_names),
        )

    def add_unread_sessions(self, files: Sequence[NewFile]) -> None:
        """Add sessions without chunks in bulk; existing names are left unchanged."""
        first = 1 + number(self.connection, f"SELECT coalesce(max(id), 0) FROM {self.tables.files}")
        self.connection.executemany(
            f"INSERT INTO {self.tables.files} VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (_file_row(id_, file) for id_, file in enumerate(files, first)),
        )
        self.connection.executemany(
            f"""INSERT INTO {self.tables.sessions} SELECT ?1, {",".join("?" * 14)}
                WHERE EXISTS (SELECT 1 FROM {self.tables.files} WHERE id = ?1)""",
            ((id_, *msgspec.structs.astuple(file.session)) for id_, file in enumerate(files, first) if file.session),
        )

    def extend_file(self, file: NewFile, *, keep: int) -> tuple[list[int], list[int]]:
        """Replace the chunks of an existing file after the first `keep`, and update its metadata.

        Returns the ids of the (new, removed) chunks.
        """
        _, added, removed = self._extend_file(file, self._chunks_of(self._id_of(file.source, file.path), keep))
        return added, removed

    def _id_of(self, source: Source, path: str) -> int:
        """Return the id of a file; 0 if it is not indexed."""
        query = f"SELECT id FROM {self.tables.files} WHERE source = ? AND path = ?"
        return number(self.connection, query, (source, path))

    def _extend_file(self, file: NewFile, without: Sequence[tuple[int, bytes]]) -> tuple[int, list[int], list[int]]:
        file_id = self._id_of(file.source, file.path)
        removed = self._remove_chunks(without)
        self.connection.execute(
            f"DELETE FROM {self.tables.tool_uses} WHERE file_id = ? AND line >= ?", (file_id, file.uses_from)
        )
        # One row for each: another call in the same message may have succeeded with the same file.
        self.connection.executemany(
            f"""DELETE FROM {self.tables.tool_uses} WHERE rowid = (SELECT min(rowid) FROM {self.tables.tool_uses}
                WHERE file_id = ? AND line = ? AND value = ? AND kind <> 'command')""",
            ((file_id, line, path) for line, path in file.failed_files),
        )
        self.connection.execute(
            f"UPDATE {self.tables.files} SET hash = ?, mtime_ns = ?, size = ?, title = ?, language = ? WHERE id = ?",
            (file.hash, file.mtime_ns, file.size, file.title, file.language, file_id),
        )
        return file_id, self._add_chunks(file_id, file), removed

    def _add_chunks(self, file_id: int, file: NewFile) -> list[int]:
        first = after = self._next_chunk_id() if len(file.chunks) else 0
        chunks = iter(file.chunks)
        while rows := list(enumerate(islice(chunks, _ROWS_PER_BATCH), after)):
            self.connection.executemany(
                f"INSERT INTO {self.tables.chunks} VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (_chunk_row(id_, file_id, c) for id_, c in rows),
            )
            self.add_keywords(
                (id_, (file.title_tokens, c.heading_tokens, file.name_tokens, c.words, c.stems, file.alias_tokens))
                for id_, c in rows
            )
            after += len(rows)
        if file.session is not None:
            self.connection.execute(
                f"INSERT OR REPLACE INTO {self.tables.sessions} VALUES ({','.join('?' * 15)})",
                (file_id, *msgspec.structs.astuple(file.session)),
            )
            self._replace_usage(file_id, file.usage)
            self._add_requests(file_id, file.requests, more=file.uses_from > 1)
            self.connection.executemany(
                f"INSERT INTO {self.tables.tool_uses} VALUES (?, ?, ?, ?, ?, ?)",
                ((file_id, *msgspec.structs.astuple(use)) for use in file.tool_uses),
            )
        return list(range(first, after))

    def _replace_usage(self, file_id: int, usage: Sequence[StoredUsage]) -> None:
        self.connection.execute(f"DELETE FROM {self.tables.session_usage} WHERE file_id = ?", (file_id,))
        self.connection.executemany(
            f"INSERT INTO {self.tables.session_usage} VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((file_id, *row) for row in usage),
        )

    def _add_requests(self, file_id: int, requests: Sequence[StoredRequest], *, more: bool) -> None:
        """Store the requests of a session; with `more` in addition to those stored before, else instead of them."""
        if not more:
            self._remove_requests(file_id)
        if not requests:
            return
        first = not number(
            self.connection, f"SELECT count(*) FROM {self.tables.session_requests} WHERE file_id = ?", (file_id,)
        )
        self.connection.execute(
            f"""INSERT INTO {self.tables.session_requests} VALUES (?1, ?2)
                ON CONFLICT DO UPDATE SET requests = CAST(requests || ?2 AS BLOB)""",
            (file_id, msgspec.json.Encoder().encode_lines(requests)),
        )
        self.connection.executemany(
            f"INSERT OR IGNORE INTO {self.tables.request_marks} VALUES (?, ?)",
            (
                (request.digest, file_id)
                for index, request in enumerate(requests)
                if (first and not index) or request.digest % _MARKED == 0
            ),
        )

    def _remove_requests(self, file_id: int) -> None:
        for table in (self.tables.session_requests, self.tables.request_marks):
            self.connection.execute(f"DELETE FROM {table} WHERE file_id = ?", (file_id,))

    def add_keywords(self, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Add rows (chunk id, token streams in the order of `FTS_COLUMNS`) to the keyword index."""
        self.connection.executemany(
            f"INSERT INTO {self.tables.fts} (rowid, {', '.join(FTS_COLUMNS)}) VALUES (?{', ?' * len(FTS_COLUMNS)})",
            ((id_, *streams) for id_, streams in rows),
        )

    def remove_file(self, source: Source, path: str) -> list[int]:
        """Remove a file; returns the ids of its chunks."""
        file_id = self._id_of(source, path)
        if not file_id:
            return []
        ids = self._remove_chunks(self._chunks_of(file_id))
        if source == "sessions":
            for table in (self.tables.sessions, self.tables.tool_uses, self.tables.session_usage):
                self.connection.execute(f"DELETE FROM {table} WHERE file_id = ?", (file_id,))
            self._remove_requests(file_id)
        self._remove_note_details(file_id)
        self.connection.execute(f"DELETE FROM {self.tables.files} WHERE id = ?", (file_id,))
        return ids

    def _remove_note_details(self, file_id: int) -> None:
        tables = self.tables
        for table in (tables.tags, tables.front_matter, tables.links, tables.link_names):
            self.connection.execute(f"DELETE FROM {table} WHERE file_id = ?", (file_id,))

    def _chunks_of(self, file_id: int, after: int = 0) -> list[tuple[int, bytes]]:
        """Return id and hash of the chunks of a file, without the first `after` ones."""
        query = f"SELECT id, hash FROM {self.tables.chunks} WHERE file_id = ? ORDER BY id LIMIT -1 OFFSET ?"
        return list(self.connection.execute(query, (file_id, after)))

    def _remove_chunks(self, chunks: Sequence[tuple[int, bytes]]) -> list[int]:
        """Remove chunks, given as (id, hash); returns their ids."""
        ids = [id_ for id_, _ in chunks]
        # Time of last use for eviction, unless the text comes back.
        self.connection.executemany(
            "UPDATE embedding_cache SET used = ? WHERE hash = ?", ((int(time.time()), hash_) for _, hash_ in chunks)
        )
        self.connection.executemany(f"DELETE FROM {self.tables.fts} WHERE rowid = ?", ((id_,) for id_ in ids))
        self.connection.executemany(f"DELETE FROM {self.tables.chunks} WHERE id = ?", ((id_,) for id_ in ids))
        return ids

    def touch_file(self, source: Source, path: str, *, mtime_ns: int, size: int) -> None:
        """Update the time and size of a file whose text has not changed."""
        self.connection.execute(
            f"UPDATE {self.tables.files} SET mtime_ns = ?, size = ? WHERE source = ? AND path = ?",
            (mtime_ns, size, source, path),
        )

    def replace_issues(self, kind: str, issues: Iterable[FileIssue]) -> None:
        """Replace the stored issues of one kind with those of the current sync."""
        self.connection.execute("DELETE FROM issues WHERE kind = ?", (kind,))
        self.connection.executemany(
            "INSERT INTO issues (kind, path, rule, detail) VALUES (?, ?, ?, ?)",
            ((kind, issue.path, issue.rule, issue.detail) for issue in issues),
        )
        # Changes the value that caches of the status compare.
        replaced = number(self.connection, "SELECT value FROM meta WHERE key = 'issues'")
        self.set_meta("issues", replaced + 1)

    def merge_keywords(self, *, restart: bool) -> bool:
        """Rewrite one small part of the keyword index without removed chunks; False when finished.

        Removing a chunk only marks it: until this rewrite, the file still contains its words in order. `restart` starts
        over.
        """
        before = self.connection.total_changes()
        pages = -_PAGES_PER_MERGE if restart else _PAGES_PER_MERGE
        self.connection.execute(
            f"INSERT INTO {self.tables.fts} ({self.tables.fts}, rank) VALUES ('merge', ?)", (pages,)
        )
        # Documented by FTS5: a statement that merged nothing changes fewer than two rows.
        return self.connection.total_changes() - before >= 2

    def advance_stamp(self) -> int:
        """Mark the commit as one that changes chunks or vectors; returns the new stamp."""
        self.stamp += 1
        self.set_meta("stamp", self.stamp)
        return self.stamp

    def _next_chunk_id(self) -> int:
        query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        return 1 + number(self.connection, query, (self.tables.chunks,))

    # --- meta and generations -------------------------------------------------------------------------------------

    def set_meta(self, key: str, value: str | int | None) -> None:
        """Store a value in the table `meta`; None deletes the key."""
        if value is None:
            self._meta.pop(key, None)
            self.connection.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self._meta[key] = value
            self.connection.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (key, value)
            )

    def begin_generation(self, fingerprint: str) -> Tables:
        """Return empty tables for a rebuild, or those of an interrupted rebuild with the same fingerprint."""
        following = Tables(self.generation + 1)
        highest = self.newest_chunk_id()
        if following.generation in self.generations():
            if self.meta("building") == fingerprint:
                return following
            discard_generation(self.connection, following)
        create_generation(self.connection, following, first_chunk_id=highest + 1)
        self.set_meta("building", fingerprint)
        return following

    def publish(self, tables: Tables, fingerprint: str) -> None:
        """Make a filled generation the current one; readers see it after the commit."""
        self.connection.execute("UPDATE meta SET value = ? WHERE key = 'generation'", (tables.generation,))
        self.set_meta("fingerprint", fingerprint)
        self.set_meta("building", None)
        self.advance_stamp()

    def discard_other_generations(self) -> None:
        """Discard the tables of all other generations; `IndexStore.delete_discarded_tables` deletes them."""
        for generation in self.generations():
            if generation != self.generation:
                discard_generation(self.connection, Tables(generation))
        self.set_meta("building", None)

    # --- vectors --------------------------------------------------------------------------------------------------

    def ensure_model(self, provider: str, model: str, provider_key: str, dims: int) -> StoredModel:
        """Return the row of a model, added if it is new."""
        self.connection.execute(
            "INSERT OR IGNORE INTO models (provider, model, provider_key, dims) VALUES (?, ?, ?, ?)",
            (provider, model, provider_key, dims),
        )
        found = self.stored_model(provider, model, provider_key)
        assert found is not None
        if found.dims != dims and not self.has_vectors(found.id):  # the server now has another model under this name
            self.connection.execute("UPDATE models SET dims = ? WHERE id = ?", (dims, found.id))
            found = msgspec.structs.replace(found, dims=dims)
        return found

    def store_vectors(self, model_id: int, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Store vectors, given as (text hash, float16 vector)."""
        used = int(time.time())
        self.connection.executemany(
            """INSERT INTO embedding_cache (model_id, hash, vector, used) VALUES (?, ?, ?, ?)
               ON CONFLICT DO UPDATE SET vector = excluded.vector, used = excluded.used""",
            ((model_id, hash_, vector, used) for hash_, vector in vectors),
        )

    def release_vectors(self, tables: Tables) -> None:
        """Record the current time as the last use of vectors that no chunk uses any more.

        These are vectors of texts in `tables` but not in the written tables. A vector with a chunk is never evicted, so
        only this last use counts for LRU.
        """
        self.connection.execute(
            f"""UPDATE embedding_cache SET used = ?
                WHERE EXISTS (SELECT 1 FROM {tables.chunks} o WHERE o.hash = embedding_cache.hash)
                AND NOT EXISTS (SELECT 1 FROM {self.tables.chunks} c WHERE c.hash = embedding_cache.hash)""",
            (int(time.time()),),
        )

    def evict(self, keep: int) -> int:
        """Delete some of the least recently used vectors if there are more than `keep`; never one that a chunk uses.

        Returns the number dropped, 0 if there are none. The number is limited to keep the transaction short.
        """
        surplus = min(self.cache_entries() - keep, MAX_EVICTED)
        if surplus <= 0:
            return 0
        self.connection.execute(
            f"""DELETE FROM embedding_cache WHERE id IN (
                SELECT e.id FROM (SELECT hash FROM embedding_cache EXCEPT SELECT hash FROM {self.tables.chunks}) u
                CROSS JOIN embedding_cache e ON e.hash = u.hash ORDER BY e.used, e.id LIMIT ?)""",
            (surplus,),
        )
        return self.connection.changes()


def _chunk_row(id_: int, file_id: int, c: NewChunk) -> tuple[object, ...]:
    return id_, file_id, c.start_line, c.end_line, c.hash, HEADING_SEPARATOR.join(c.heading), c.text, c.message_offsets


def _file_row(id_: int | None, file: NewFile) -> tuple[int | str | None, ...]:
    return id_, file.source, file.path, file.hash, file.mtime_ns, file.size, file.title, file.language
