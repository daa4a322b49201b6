"""The reference's method, for comparison: its chunks, its tables, its rows written individually, its SQL.

Approximated in Python from its known behaviour in March 2026, with the faster choice in case of doubt (msgspec writes
its JSON). Its work per file is done per file; its four parallel files save it no CPU.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec
import numpy as np

from tests.benchmarks.provider import random_vectors

MODEL = "fake"
_MAX_LETTERS = 1600
_OVERLAP_LETTERS = 320
_TOKEN = re.compile(r"\w+")


class Chunk(NamedTuple):
    start: int
    end: int
    text: str


def chunks_of(text: str) -> list[Chunk]:
    """Return chunks of whole lines up to the limit; each begins with the last lines of the previous one."""
    found: list[Chunk] = []
    entries: list[tuple[int, str]] = []
    length = 0
    for number, line in enumerate(text.split("\n"), 1):
        for segment in [line[at : at + _MAX_LETTERS] for at in range(0, len(line), _MAX_LETTERS)] or [""]:
            if entries and length + len(segment) + 1 > _MAX_LETTERS:
                found.append(_joined(entries))
                entries, length = _carried(entries)
            entries.append((number, segment))
            length += len(segment) + 1
    if entries:
        found.append(_joined(entries))
    return [chunk for chunk in found if chunk.text.strip()]


def _joined(entries: list[tuple[int, str]]) -> Chunk:
    return Chunk(entries[0][0], entries[-1][0], "\n".join(text for _, text in entries))


def _carried(entries: list[tuple[int, str]]) -> tuple[list[tuple[int, str]], int]:
    carried: list[tuple[int, str]] = []
    length = 0
    for entry in reversed(entries):
        if length >= _OVERLAP_LETTERS:
            break
        carried.insert(0, entry)
        length += len(entry[1]) + 1
    return carried, length


class Reference:
    """The reference's index of one folder, with its options: rollback journal, full syncs, two megabytes of cache."""

    def __init__(self, database: Path, dims: int) -> None:
        self.connection = apsw.Connection(str(database))
        self.connection.set_busy_timeout(5000)
        self._dims = dims
        if dims:
            import sqlite_vec

            self.connection.enable_load_extension(True)
            self.connection.load_extension(sqlite_vec.loadable_path())
        for statement in (
            "CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, source TEXT, hash TEXT, mtime INTEGER, "
            "size INTEGER)",
            "CREATE TABLE IF NOT EXISTS chunks (id TEXT PRIMARY KEY, path TEXT, source TEXT, start_line INTEGER, "
            "end_line INTEGER, hash TEXT, model TEXT, text TEXT, embedding TEXT, updated_at INTEGER)",
            "CREATE TABLE IF NOT EXISTS embedding_cache (provider TEXT, model TEXT, provider_key TEXT, hash TEXT, "
            "embedding TEXT, dims INTEGER, updated_at INTEGER, PRIMARY KEY (provider, model, provider_key, hash))",
            "CREATE INDEX IF NOT EXISTS idx_embedding_cache_updated_at ON embedding_cache (updated_at)",
            "CREATE VIRTUAL TABLE IF NOT EXISTS chunks_fts USING fts5 (text, id UNINDEXED, path UNINDEXED, "
            "source UNINDEXED, model UNINDEXED, start_line UNINDEXED, end_line UNINDEXED)",
            "CREATE INDEX IF NOT EXISTS idx_chunks_path ON chunks (path)",
            "CREATE INDEX IF NOT EXISTS idx_chunks_source ON chunks (source)",
            f"CREATE VIRTUAL TABLE IF NOT EXISTS chunks_vec USING vec0 (id TEXT PRIMARY KEY, embedding FLOAT[{dims}])",
        ):
            if dims or "vec0" not in statement:
                self.connection.execute(statement)

    # --- writing ----------------------------------------------------------------------------------------------------

    def sync(self, folder: Path) -> int:
        """Read and hash every file, index the changed ones with a transaction for each row, and return their number."""
        changed = 0
        for path in note_paths(folder):
            text = path.read_text("utf-8")
            name, hash_ = path.relative_to(folder).as_posix(), _sha(text)
            stored = self.connection.execute("SELECT hash FROM files WHERE path = ? AND source = 'memory'", (name,)).get
            if stored != hash_:
                self._index(name, text, hash_, path.stat())
                changed += 1
        return changed

    def fill(self, folder: Path) -> None:
        """Write the rows that `sync` leaves for a new folder, without its cache and deletions; for searches alone."""
        for path in note_paths(folder):
            text, name = path.read_text("utf-8"), path.relative_to(folder).as_posix()
            chunks = chunks_of(text)
            for chunk, vector in zip(chunks, self._vectors([chunk.text for chunk in chunks]), strict=True):
                self.write_chunk(name, chunk, vector)
            self._write_file(name, _sha(text), path.stat())

    def _index(self, name: str, text: str, hash_: str, stat: os.stat_result) -> None:
        execute = self.connection.execute
        chunks = chunks_of(text)
        vectors = self._embed([chunk.text for chunk in chunks])
        if self._dims:
            execute(
                "DELETE FROM chunks_vec WHERE id IN (SELECT id FROM chunks WHERE path = ? AND source = ?)",
                (name, "memory"),
            )
        execute("DELETE FROM chunks_fts WHERE path = ? AND source = ? AND model = ?", (name, "memory", MODEL))
        execute("DELETE FROM chunks WHERE path = ? AND source = ?", (name, "memory"))
        for chunk, vector in zip(chunks, vectors, strict=True):
            self.write_chunk(name, chunk, vector)
        self._write_file(name, hash_, stat)

    def _write_file(self, name: str, hash_: str, stat: os.stat_result) -> None:
        values = name, hash_, stat.st_mtime_ns // 10**6, stat.st_size
        self.connection.execute("INSERT OR REPLACE INTO files VALUES (?, 'memory', ?, ?, ?)", values)

    def write_chunk(self, name: str, chunk: Chunk, vector: np.ndarray | None) -> None:
        execute = self.connection.execute
        hash_ = _sha(chunk.text)
        id_ = _sha(f"memory:{name}:{chunk.start}:{chunk.end}:{hash_}:{MODEL}")
        json = "[]" if vector is None else _json(vector)
        execute(
            "INSERT OR REPLACE INTO chunks VALUES (?, ?, 'memory', ?, ?, ?, ?, ?, ?, 0)",
            (id_, name, chunk.start, chunk.end, hash_, MODEL, chunk.text, json),
        )
        if vector is not None:
            execute("DELETE FROM chunks_vec WHERE id = ?", (id_,))
            execute("INSERT INTO chunks_vec (id, embedding) VALUES (?, ?)", (id_, vector.astype("<f4").tobytes()))
        execute(
            "INSERT INTO chunks_fts VALUES (?, ?, ?, 'memory', ?, ?, ?)",
            (chunk.text, id_, name, MODEL, chunk.start, chunk.end),
        )

    def _vectors(self, texts: Sequence[str]) -> Sequence[np.ndarray | None]:
        return random_vectors(texts, self._dims) if self._dims and texts else [None] * len(texts)

    def _embed(self, texts: Sequence[str]) -> Sequence[np.ndarray | None]:
        """Return the vectors of texts, and add those that were not cached to the cache."""
        vectors = self._vectors(texts)
        for text, vector in zip(texts, vectors, strict=True):
            if vector is None:
                continue
            key = ("fake", MODEL, "", _sha(text))
            where = "provider = ? AND model = ? AND provider_key = ? AND hash = ?"
            if self.connection.execute(f"SELECT embedding FROM embedding_cache WHERE {where}", key).fetchone() is None:
                values = (*key, _json(vector), self._dims)
                self.connection.execute("INSERT INTO embedding_cache VALUES (?, ?, ?, ?, ?, ?, 0)", values)
        return vectors

    # --- searching --------------------------------------------------------------------------------------------------

    def by_words(self, query: str, limit: int) -> list[tuple]:
        """Search for chunks that contain all words of the query, as the reference does in a hybrid search."""
        tokens = [f'"{token}"' for token in _TOKEN.findall(query)]
        return list(self._match(" AND ".join(tokens), limit)) if tokens else []

    def by_any_word(self, query: str, limit: int) -> list[tuple]:
        """Search for each word, with the best rank of each chunk, as the reference does without embeddings."""
        best: dict[str, tuple] = {}
        for token in _TOKEN.findall(query):
            for row in self._match(f'"{token}"', limit):
                if row[0] not in best or row[-1] < best[row[0]][-1]:
                    best[row[0]] = row
        return sorted(best.values(), key=lambda row: row[-1])[:limit]

    def _match(self, expression: str, limit: int) -> Iterator[tuple]:
        return self.connection.execute(
            "SELECT id, path, source, start_line, end_line, text, bm25(chunks_fts) AS rank FROM chunks_fts "
            "WHERE chunks_fts MATCH ? AND model = ? AND source IN ('memory') ORDER BY rank ASC LIMIT ?",
            (expression, MODEL, limit),
        )

    def by_vector(self, vector: np.ndarray, limit: int) -> list[tuple]:
        query = (
            "SELECT c.id, c.path, c.start_line, c.end_line, c.text, c.source, "
            "vec_distance_cosine(v.embedding, ?) AS dist FROM chunks_vec v JOIN chunks c ON c.id = v.id "
            "WHERE c.model = ? AND c.source IN ('memory') ORDER BY dist ASC LIMIT ?"
        )
        return list(self.connection.execute(query, (vector.astype("<f4").tobytes(), MODEL, limit)))


def note_paths(folder: Path) -> list[Path]:
    """Return the files that the reference indexes: every `.md` below the folder, without links."""
    return sorted(Path(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".md"))


def _json(vector: np.ndarray) -> str:
    return msgspec.json.encode(vector.astype(float).tolist()).decode()


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
