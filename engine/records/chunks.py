"""What the index holds of one file: its chunks in order, and all that is known of one of them."""

from typing import Literal

from engine.records.base import Record, Source

VectorState = Literal["ready", "pending", "refused", "none"]
"""Of a chunk and the model in use: `refused` by the provider, `none` where there is no model."""


class ChunkRow(Record, frozen=True):
    """One chunk without its text."""

    id: int
    start_line: int
    end_line: int
    """Lines from 1, both included, of the version that was indexed; parts of one overlong line share its number."""
    heading: tuple[str, ...]
    characters: int
    tokens: int
    """By the counting that decides how long a chunk may be."""
    vector: VectorState


class FileChunks(Record, frozen=True):
    """One indexed file with its chunks in the order of its text."""

    path: str
    source: Source
    title: str
    language: str
    """As the analysis names it; empty where it is in none that is known."""
    hash: str
    size: int
    """Bytes, and below the time, as they were when it was indexed."""
    modified: float
    changed: bool
    """Whether the file is another one now, so that lines may have moved."""
    tags: tuple[str, ...]
    refusal: str
    """Why vectors were refused; empty where none was."""
    chunks: tuple[ChunkRow, ...]


class ChunkVector(Record, frozen=True):
    """A vector that the index keeps of a chunk's text."""

    provider: str
    model: str
    dims: int
    active: bool
    """Whether its model is the one that is searched with now."""


class ChunkDetail(Record, frozen=True):
    """All that the index holds of one chunk."""

    id: int
    number: int
    """Of the file's chunks, from 1."""
    path: str
    row: ChunkRow
    hash: str
    """sha256 of the text, hexadecimal: chunks with the same one share their vectors."""
    text: str
    """As it is stored; secrets in sessions are masked."""
    vectors: tuple[ChunkVector, ...]
    """Of all models."""
    words: str
    """The tokens by which the keyword index finds its text, joined by spaces, and their stems."""
    stems: str
    heading_words: str
    """The same of its heading path; found with words and stems alike."""
    twins: int
    """How many other chunks have the same text."""
