"""The contents of this machine's own index, in the form of the table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from engine.backends.lancedb.columns import file_key
from engine.corpus.chunking import Chunk
from engine.indexing.note_preparation import chunk_rows
from engine.records import Source
from engine.redaction.masks import redact
from engine.store.snapshot import HEADING_SEPARATOR, Snapshot
from engine.store.vector_encoding import StoredModel
from engine.store.writer import NewFile, NewSession
from engine.text import analyse_both

_GROUP = 400


class LocalFile(NamedTuple):
    """An indexed file."""

    id: int
    source: Source
    path: str
    hash: str
    mtime_ns: int
    chunks: int

    @property
    def key(self) -> str:
        return file_key(self.source, self.path, self.hash)


class Stored(NamedTuple):
    """The stored file; its text is analysed again, since the keyword index stores no text."""

    size: int
    title: str
    language: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    dated: float | None
    evergreen: bool
    session: NewSession | None
    chunks: tuple[tuple[Chunk, bytes | None], ...]
    """Each with its message locations, if it is a session's."""


def local_files(snapshot: Snapshot) -> list[LocalFile]:
    """Every indexed file, the newest first; sessions that are only listed are not indexed yet."""
    rows = snapshot.connection.execute(
        f"""SELECT f.id, f.source, f.path, f.hash, f.mtime_ns,
                (SELECT count(*) FROM {snapshot.tables.chunks} c WHERE c.file_id = f.id) AS chunks
            FROM {snapshot.tables.files} f WHERE f.source = 'memory' OR chunks > 0
            ORDER BY f.mtime_ns DESC, f.path"""
    )
    return [LocalFile(*row) for row in rows]


def read_stored(snapshot: Snapshot, file: LocalFile) -> Stored | None:
    """None for a deleted file."""
    tables, connection = snapshot.tables, snapshot.connection
    row = connection.execute(f"SELECT size, title, language FROM {tables.files} WHERE id = ?", (file.id,)).fetchone()
    if row is None:
        return None
    tags = tuple(tag for (tag,) in connection.execute(f"SELECT tag FROM {tables.tags} WHERE file_id = ?", (file.id,)))
    front: tuple[str, float | None, int] = connection.execute(
        f"SELECT aliases, dated, evergreen FROM {tables.front_matter} WHERE file_id = ?", (file.id,)
    ).fetchone() or ("", None, 0)
    session = connection.execute(
        f"""SELECT transcript, agent, session_id, project, branch, parent, started, ended, messages, bytes
            FROM {tables.sessions} WHERE file_id = ?""",
        (file.id,),
    ).fetchone()
    chunks = connection.execute(
        f"SELECT start_line, end_line, text, heading, places FROM {tables.chunks} WHERE file_id = ? ORDER BY id",
        (file.id,),
    )
    size, title, language = row
    return Stored(
        size=size,
        title=title,
        language=language,
        tags=tags,
        aliases=tuple(front[0].splitlines()),
        dated=front[1],
        evergreen=bool(front[2]),
        session=None if session is None else NewSession(*session),
        chunks=tuple(
            (Chunk(start, end, text, _headings(heading)), places) for start, end, text, heading, places in chunks
        ),
    )


def masked(file: LocalFile, stored: Stored) -> Stored:
    """Mask the secrets in a note before it is sent to other machines. Sessions are masked already."""
    if file.source == "sessions":
        return stored

    def safe(chunk: Chunk) -> Chunk:
        return Chunk(chunk.start_line, chunk.end_line, redact(chunk.text), tuple(map(redact, chunk.heading)))

    chunks = tuple((safe(chunk), places) for chunk, places in stored.chunks)
    return stored._replace(title=redact(stored.title), aliases=tuple(map(redact, stored.aliases)), chunks=chunks)


def analysed(file: LocalFile, stored: Stored) -> NewFile:
    """With the token streams of every column."""
    session, language = stored.session, stored.language
    name = file.path if session is None else ""
    places = [places for _, places in stored.chunks]
    rows = chunk_rows((chunk for chunk, _ in stored.chunks), language)
    return NewFile(
        source=file.source,
        path=file.path,
        hash=file.hash,
        mtime_ns=file.mtime_ns,
        size=stored.size,
        title=stored.title,
        language=language,
        title_tokens=analyse_both(stored.title, language),
        name_tokens=analyse_both(name, language),
        chunks=tuple(replace(row, places=place) for row, place in zip(rows, places, strict=True)),
        session=session,
        tags=stored.tags,
        aliases=stored.aliases,
        alias_tokens=analyse_both("\n".join(stored.aliases), language),
        dated=stored.dated,
        evergreen=stored.evergreen,
    )


def vectors_of(snapshot: Snapshot, model: StoredModel, hashes: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """(hash, little-endian float16 vector) of those of these texts that have one."""
    for start in range(0, len(hashes), _GROUP):
        group = tuple(hashes[start : start + _GROUP])
        yield from snapshot.connection.execute(
            f"SELECT hash, vector FROM embedding_cache WHERE model_id = ? AND hash IN ({','.join('?' * len(group))})",
            (model.id, *group),
        )


def _headings(stored: str) -> tuple[str, ...]:
    return tuple(stored.split(HEADING_SEPARATOR)) if stored else ()
