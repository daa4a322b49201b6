"""What is in the index, counted."""

from engine.records.base import Record, Source


class FolderCount(Record, frozen=True):
    """What is indexed below one folder, its sub-folders included."""

    source: Source
    name: str
    """As stable names begin, without the slash at the end; empty for files at the top."""
    files: int
    chunks: int
    vectors: int
    """Chunks that have a vector of the model in use."""


class IndexOverview(Record, frozen=True):
    """The inside of the index in figures."""

    generation: int
    folders: tuple[FolderCount, ...]
    """Top-level folders of each source, most chunks first."""
