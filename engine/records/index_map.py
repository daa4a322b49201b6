"""The map of the index: every chunk with a vector as a point."""

from typing import Literal

from engine.records.base import Record, Source

MapLayout = Literal["directions", "neighbours"]
"""`directions`: the two in which the vectors differ most (PCA). `neighbours`: similar points are close together."""
MapGap = Literal["", "no-model", "no-chunks", "no-vectors"]


class MapFile(Record, frozen=True):
    """Common facts of the points of one file or session."""

    path: str
    title: str
    source: Source
    agent: str
    """Of a session, else empty."""
    modified: float


class IndexMap(Record, frozen=True):
    """The points as arrays in bytes of this machine's order, all in the same order; `n` points."""

    layout: MapLayout
    ids: bytes
    """Chunk ids: int64 (n,)."""
    points: bytes
    """Coordinates: float32 (n, 2). Their unit means nothing; y grows upwards."""
    file_of: bytes
    """Places in `files`: int32 (n,)."""
    files: tuple[MapFile, ...]
    chunks: int
    """How many chunks are indexed, those without a vector included."""
    shown_variance: float
    """What share of the differences between the vectors their two main directions show, 0 to 1."""
    model: str
    stamp: int
    """Of the index when it was read: the same stamp is the same map."""
    gap: MapGap = ""
    """Why there are no points; empty if there are."""


class MapPlace(Record, frozen=True):
    """One point's chunk, for display."""

    chunk: int
    path: str
    source: Source
    title: str
    heading: tuple[str, ...]
    start_line: int
    end_line: int
    citation: str
    text: str
    """Its first words."""
    modified: float
    agent: str


class MapAnswer(Record, frozen=True):
    """The locations of a query and its results."""

    point: tuple[float, float] | None
    """Of the query; None if its vector is unknown: only keywords were searched."""
    chunks: tuple[int | None, ...]
    """Chunk ids of the results, in their order; None for one that has left the index."""


class MapProgress(Record, frozen=True):
    """How far the making of a map is."""

    stage: Literal["reading", "directions", "neighbours", "arranging"]
    done: float
    """0 to 1, of all stages together."""
