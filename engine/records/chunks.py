"""The index's contents of one file: its chunks in order, and everything about one of them."""

from typing import Literal

from engine.records.base import Record, Source

VectorState = Literal["ready", "pending", "refused", "none"]
"""State of a chunk's vector for the model in use: `refused` by the provider, `none` without a model."""


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
    """The analysis's name of it; empty if unknown."""
    hash: str
    size: int
    """Bytes, and below the time, as they were when it was indexed."""
    modified: float
    changed: bool
    """Whether the file has changed since, so that lines may have moved."""
    tags: tuple[str, ...]
    refusal: str
    """Why vectors were refused; empty where none was."""
    chunks: tuple[ChunkRow, ...]


class ChunkVector(Record, frozen=True):
    """A stored vector of a chunk's text."""

    provider: str
    model: str
    dims: int
    active: bool
    """Whether its model is the one that is searched with now."""


class ChunkDetail(Record, frozen=True):
    """Everything that the index stores about one chunk."""

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
    """The same of its heading path; searched for both words and stems."""
    twins: int
    """How many other chunks have the same text."""
