"""Turns a file on disk into the rows of the store: read, chunk, analyse. Doesn't access the database."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from engine.base.cancellation import CancelToken
from engine.corpus.chunking import Chunk, chunk_note
from engine.corpus.folder_walk import FoundFile
from engine.corpus.link_parsing import NoteLink, links_of, markup_links_of, names_of
from engine.corpus.note_metadata import describe, tags_of
from engine.corpus.note_reader import NoteText, read_note
from engine.corpus.note_structure import Structure
from engine.corpus.transcripts.chunk_packing import SessionChunk
from engine.settings import Settings
from engine.settings.options import ChunkingSettings
from engine.store.snapshot import HEADING_SEPARATOR
from engine.store.writer import NewChunk, NewFile, StoredNote
from engine.text import analyse, analyse_both, language_of_note


def read(file: FoundFile, settings: Settings, cancel: CancelToken) -> NoteText:
    """Read the file's text. Raises `Unreadable` with the issue, `FileNotFoundError` for a deleted file, `Cancelled`."""
    return read_note(file.path, file.name, settings.max_file_bytes, cancel)


def prepare(file: FoundFile, note: NoteText, chunking: ChunkingSettings, stored: StoredNote | None = None) -> NewFile:
    """Return the database rows of one note: its metadata, and those chunks that `stored` doesn't begin with."""
    language = language_of_note(note.text)
    about = describe(note.text, file.name)
    chunks = chunk_note(note.text, about, tokens=chunking.tokens, overlap=chunking.overlap)
    if not chunks:  # an empty note, too, is found by its name
        chunks = [Chunk(1, 1, about.title, ())]
    names = about.title, language, about.aliases
    kept = _unchanged(chunks, stored) if stored is not None and stored.names == names else 0
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
        chunks=tuple(chunk_rows(chunks[kept:], language)),
        alias_tokens=analyse_both("\n".join(about.aliases), language),
        tags=tags_of(note.text, about.front, about.structure),
        aliases=about.aliases,
        dated=about.dated,
        evergreen=about.evergreen,
        links=_links(note.text, file.name, about.structure),
        link_names=names_of(file.name, about.title, about.aliases, note.text),
        kept=kept,
    )


def _unchanged(chunks: Sequence[Chunk], stored: StoredNote) -> int:
    """Return how many chunks at the beginning are stored as they are."""
    for number, (chunk, row) in enumerate(zip(chunks, stored.chunks, strict=False)):
        if row != (_digest(chunk.text), HEADING_SEPARATOR.join(chunk.heading), chunk.start_line, chunk.end_line):
            return number
    return min(len(chunks), len(stored.chunks))


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
        )
