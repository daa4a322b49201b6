"""Turns a file on disk into the rows of the store: read, chunk, analyse.

Only `stored_note` reads the database.
"""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.chunking import Chunk, chunk_note
from engine.corpus.folder_walk import FoundFile
from engine.corpus.link_parsing import NoteLink, links_of, markup_links_of, names_of
from engine.corpus.note_metadata import read_metadata, tags_of
from engine.corpus.note_reader import NoteText, read_note
from engine.corpus.note_structure import Structure
from engine.corpus.transcripts.chunk_packing import SessionChunk
from engine.settings import Settings
from engine.settings.options import ChunkingSettings
from engine.store.connection import creation_error
from engine.store.index_schema import IN_TEXT_ORDER
from engine.store.snapshot import HEADING_SEPARATOR, Snapshot
from engine.store.writer import ChunkChanges, NewChunk, NewChunks, NewFile
from engine.text import analyse, analyse_both, language_of_note

_HEAD_CHARACTERS = 4096
_BATCH_CHARACTERS = 32 * 1024
_MAX_BUFFERED = 16 * 1024 * 1024
"""Maximum number of characters of rows in memory; more are written to a temporary file."""
_CHARACTERS_PER_PORTION = 128 * 1024

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[NewChunk]).decode


class IndexedChunk(NamedTuple):
    """A stored chunk, with the columns of `stored_note`'s query in their order."""

    id: int
    hash: bytes
    heading: str
    """As stored."""
    start_line: int
    end_line: int


class StoredNote(msgspec.Struct, frozen=True):
    """The indexed state of a note. Rows of a chunk stay if it is the same in the changed note."""

    names: tuple[str, str, tuple[str, ...]]
    """Title, language and aliases, which are indexed with each chunk."""
    chunks: tuple[IndexedChunk, ...]
    """In the order of the text."""


def stored_note(snapshot: Snapshot, file_id: int) -> StoredNote:
    """Return the indexed state of a note."""
    tables = snapshot.tables
    query = f"""SELECT title, language, (SELECT aliases FROM {tables.front_matter} WHERE file_id = id)
                FROM {tables.files} WHERE id = ?"""
    [(title, language, aliases)] = snapshot.connection.execute(query, (file_id,))
    query = f"""SELECT id, hash, heading, start_line, end_line FROM {tables.chunks}
        WHERE file_id = ? ORDER BY {IN_TEXT_ORDER}"""
    chunks = tuple(map(IndexedChunk._make, snapshot.connection.execute(query, (file_id,))))
    return StoredNote((title, language, tuple(aliases.split("\n")) if aliases else ()), chunks)


def read(file: FoundFile, settings: Settings, cancel: CancelToken) -> NoteText:
    """Read the file's text. Raises `Unreadable` with the issue, `FileNotFoundError` for a deleted file, `Cancelled`."""
    return read_note(file.path, file.name, settings.max_file_bytes, cancel)


def prepare(
    file: FoundFile,
    note: NoteText,
    chunking: ChunkingSettings,
    stored: StoredNote | None = None,
    buffer: "ChunkRows | None" = None,
) -> NewFile:
    """Return the database rows of one note: its metadata, and those chunks that `stored` doesn't have.

    The rows of a long note are five times its size: they are added to `buffer`, whose errors are raised.
    """
    about = read_metadata(note.text, file.name)
    language = language_of_note(note.text)
    if not language and note.text.isascii():  # a text without letters
        language = language_of_note(about.title)
    chunks = chunk_note(note.text, about, tokens=chunking.tokens, overlap=chunking.overlap)
    if not chunks:  # an empty note, too, is found by its name
        chunks = [Chunk(1, 1, about.title, ())]
    names = about.title, language, about.aliases
    new, changes = _compared(chunks, stored) if stored is not None and stored.names == names else (chunks, None)
    del chunks
    if buffer is not None:
        buffer.language = language
        buffer.add(_consumed(new))
        buffer.analyse()
    return NewFile(
        source=file.source,
        path=file.name,
        hash=note.hash,
        mtime_ns=file.mtime_ns,
        size=file.size,
        title=about.title,
        language=language,
        title_tokens=analyse_both(about.title, language),
        name_tokens=analyse_both(file.name, language),
        chunks=tuple(chunk_rows(new, language)) if buffer is None else buffer,
        alias_tokens=analyse_both("\n".join(about.aliases), language),
        tags=tags_of(note.text, about),
        aliases=about.aliases,
        dates=about.dates,
        evergreen=about.evergreen,
        links=_links(note.text, file.name, about.structure),
        link_names=names_of(file.name, about.title, about.aliases, note.text),
        changes=changes,
    )


def _consumed(chunks: list[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks and remove them from the list, so that they don't stay in memory with their rows."""
    chunks.reverse()
    while chunks:
        yield chunks.pop()


def _compared(chunks: Sequence[Chunk], stored: StoredNote) -> tuple[list[Chunk], ChunkChanges | None]:
    """Return the chunks to add, and the changes to stored ones; None if no stored chunk stays.

    The parts of a long line are chunks with the same first line, which only their ids order. New chunks get the
    highest ids, so after a new part all later parts of the line are new as well.
    """
    waiting: dict[tuple[bytes, str], list[IndexedChunk]] = {}
    for row in reversed(stored.chunks):
        waiting.setdefault((row.hash, row.heading), []).append(row)
    new: list[Chunk] = []
    moved: list[tuple[int, int, int]] = []
    line, before = 0, 0.0
    for chunk in chunks:
        if chunk.start_line != line:
            line, before = chunk.start_line, 0.0
        rows = waiting.get((_digest(chunk.text), HEADING_SEPARATOR.join(chunk.heading)))
        if not rows or rows[-1].id < before:
            new.append(chunk)
            before = inf
            continue
        row = rows.pop()
        before = row.id
        if (row.start_line, row.end_line) != (chunk.start_line, chunk.end_line):
            moved.append((chunk.start_line, chunk.end_line, row.id))
    if len(new) == len(chunks):
        return new, None
    removed = tuple(sorted((row.id, row.hash) for rows in waiting.values() for row in rows))
    return new, ChunkChanges(removed, tuple(moved))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _links(text: str, name: str, structure: Structure | None) -> tuple[NoteLink, ...]:
    return links_of(text) if structure is None else markup_links_of(text, name, structure.code)


def chunk_rows(chunks: Iterable[Chunk | SessionChunk], language: str) -> Iterator[NewChunk]:
    """Yield chunks as database rows, with hashes and tokens."""
    headings: dict[tuple[str, ...], str] = {}
    for chunk in chunks:
        analysed = analyse(chunk.text, language)
        if chunk.heading not in headings:
            headings[chunk.heading] = analyse_both("\n".join(chunk.heading), language)
        yield NewChunk(
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            hash=_digest(chunk.text),
            heading=chunk.heading,
            text=chunk.text,
            heading_tokens=headings[chunk.heading],
            words=analysed.words,
            stems=analysed.stems,
            message_offsets=msgspec.json.encode(chunk.message_offsets) if isinstance(chunk, SessionChunk) else None,
        )


class ChunkRows(NewChunks):
    """The analysed database rows of many chunks, in order; those that are too many for memory are in a temporary file.

    Close it after storing them.
    """

    def __init__(self, folder: Path, token: CancelToken, language: str | None = None) -> None:
        """`folder`: the index's folder, for the temporary file, which has no name, so nothing is left after a crash."""
        self._folder = folder
        self._token = token
        self.language = language
        """Language of the text, "" for none that is stemmed; None until it is detected from the first chunks."""
        self._chunks: list[Chunk | SessionChunk] = []
        self._characters = 0
        self._rows: list[NewChunk] = []
        self._buffered = 0
        self._count = 0
        self._spilled: IO[bytes] | None = None
        self._portions: list[int] = []
        """Bytes of each portion in the file."""

    def __len__(self) -> int:
        return self._count + len(self._chunks)

    def __iter__(self) -> Iterator[NewChunk]:
        if self._spilled is not None:
            self._spilled.seek(0)
            for size in self._portions:
                yield from _decode(self._spilled.read(size))
        yield from self._rows

    def add(self, chunks: Iterable[Chunk | SessionChunk]) -> None:
        """Append chunks. Raises `StoreError` for a full disk, `Cancelled`."""
        for chunk in chunks:
            self._chunks.append(chunk)
            self._characters += len(chunk.text)
            if self._characters >= _BATCH_CHARACTERS:
                self._token.checkpoint()
                self.analyse()

    def close(self) -> None:
        if self._spilled is not None:
            self._spilled.close()

    def analyse(self) -> None:
        """Turn all chunks added so far into rows; call it after the last one. Raises `StoreError` for a full disk."""
        chunks, self._chunks, self._characters = self._chunks, [], 0
        if not chunks:
            return
        if self.language is None:
            self.language = _language(chunks)
        for row in chunk_rows(chunks, self.language):
            self._rows.append(row)
            self._buffered += _characters(row)
        self._count += len(chunks)
        if self._buffered > _MAX_BUFFERED:
            try:
                self._spill()
            except OSError as error:
                raise creation_error(self._folder, error) from error

    def _spill(self) -> None:
        if self._spilled is None:
            self._spilled = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (read when the rows are stored)
        portion, characters = list[NewChunk](), 0
        for row in self._rows:
            portion.append(row)
            characters += _characters(row)
            if characters > _CHARACTERS_PER_PORTION:
                self._write(portion)
                portion, characters = [], 0
        self._write(portion)
        self._rows, self._buffered = [], 0

    def _write(self, portion: list[NewChunk]) -> None:
        assert self._spilled is not None
        data = _encode(portion)
        self._portions.append(len(data))
        self._spilled.write(data)


def _characters(row: NewChunk) -> int:
    return len(row.text) + len(row.words) + len(row.stems)


def _language(chunks: Iterable[Chunk | SessionChunk]) -> str:
    head = ""
    for chunk in chunks:
        head += chunk.text
        if len(head) >= _HEAD_CHARACTERS:
            break
    return language_of_note(head)
