"""What is in the index, counted."""

from typing import Literal

from engine.records.base import Record, Source
from engine.records.sync import KeptSync

DiskPartName = Literal["text", "words", "vectors", "matrix", "log", "user", "other", "free"]


class FolderCount(Record, frozen=True):
    """What is indexed below one folder, its sub-folders included."""

    source: Source
    name: str
    """As stable names begin, without the slash at the end; empty for the whole source."""
    depth: int
    """0 for the whole source, 1 for a folder at the top, or a store of sessions."""
    files: int
    chunks: int
    pending: int
    """Chunks without a vector of the model in use; all of them without a model."""
    failed: int
    """Files that could not be indexed, or not wholly."""
    skipped: int


class ChunkSizes(Record, frozen=True):
    """How long the chunks are, in characters."""

    median: int
    longest: int
    width: int
    """Of each bar of the histogram."""
    counts: tuple[int, ...]
    """Chunks from 1 to `width` characters, then up to twice as many, and so on."""


class MonthCount(Record, frozen=True):
    """Notes that last changed in a month, and sessions that began in it."""

    year: int
    month: int
    notes: int
    sessions: int


class DiskPart(Record, frozen=True):
    """Disk space by use.

    In the index file: `text` with all facts of files, `words` (the keyword index), `vectors`, `free` (pages that are
    returned later) and `other`; next to it: `matrix` (vectors in the format used for searching), `log` (changes that
    SQLite has not merged into the index file yet) and `user` (the user's own data).
    """

    name: DiskPartName
    bytes: int


class IndexOverview(Record, frozen=True):
    """The inside of the index in figures, of one moment."""

    generation: int
    folders: tuple[FolderCount, ...]
    """Each source before its folders, these by number of chunks, each before its contents; of very many, the
    largest."""
    sizes: ChunkSizes
    months: tuple[MonthCount, ...]
    """Those with files, in order; files with an impossible date are left out."""
    disk: tuple[DiskPart, ...]
    """Each part that takes room, in the order above."""
    syncs: tuple[KeptSync, ...]
    """All recorded ones, newest last."""
