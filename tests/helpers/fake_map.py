"""A made-up map for tests of the window: points in clusters, one per folder."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine import CancelToken, IndexMap, MapFile, MapPointDetail, MapPositions, MapProgress, MemorySearchResult

NOW = 1_772_500_000.0
FOLDERS = ("daily", "projects", "topics")


def make_map(count: int = 30, **changes: Any) -> IndexMap:
    """Return a map of chunks 100, 101, …; every third chunk is of the same file, and near the others of it."""
    rng = np.random.default_rng(5)
    files = tuple(
        MapFile(
            path=f"{FOLDERS[number]}/note.md" if number < 3 else f"sessions/agent/{number}",
            source="memory" if number < 3 else "sessions",
            agent="" if number < 3 else "codex",
            modified=NOW - number * 40 * 86_400,
        )
        for number in range(5)
    )
    of = np.arange(count) % 3
    points = np.array([[0, 0], [10, 0], [5, 8]])[of] + rng.uniform(-1, 1, (count, 2))
    fields: dict[str, Any] = {
        "layout": "neighbours",
        "ids": np.arange(100, 100 + count, dtype=np.int64).tobytes(),
        "points": points.astype(np.float32).tobytes(),
        "file_of": of.astype(np.int32).tobytes(),
        "files": files,
        "chunks": count,
        "shown_variance": 0.27,
        "model": "fake/bag/",
        "stamp": 1,
    }
    return IndexMap(**(fields | changes))


def empty_map(gap: str, chunks: int = 0) -> IndexMap:
    return make_map(0, ids=b"", points=b"", file_of=b"", files=(), gap=gap, chunks=chunks, layout="directions")


class FakeInsight:
    """Replaces the inspection of an index, with fixed answers.

    Attributes:
        map: result of `make_map`; `last` is that of `last_map`. `first`, if given, is reported before.
        released: `make_map` waits for it; set from the start.
        error: raised instead of returning a map.
        gone: chunks that are no longer in the index.
        point: position of every query on the map.
        made, requests: number of maps made, and the requested chunks.
    """

    def __init__(self) -> None:
        self.map = make_map()
        self.last: IndexMap | None = None
        self.first: IndexMap | None = None
        self.released = threading.Event()
        self.released.set()
        self.error: Exception | None = None
        self.gone: set[int] = set()
        self.point: tuple[float, float] | None = (5.0, 4.0)
        self.made = 0
        self.requests: list[tuple[int, ...]] = []
        self.queries: list[str] = []

    def last_map(self, cancel: CancelToken | None = None) -> IndexMap | None:
        return self.last

    def make_map(
        self,
        *,
        first: Callable[[IndexMap], None] | None = None,
        progress: Callable[[MapProgress], None] | None = None,
        cancel: CancelToken | None = None,
    ) -> IndexMap:
        self.made += 1
        if first is not None and self.first is not None:
            first(self.first)
        if progress is not None:
            progress(MapProgress(stage="arranging", done=0.43))
        while not self.released.wait(0.01):
            if cancel is not None:
                cancel.checkpoint()
        if self.error is not None:
            raise self.error
        return self.map

    def map_details(self, chunks: Sequence[int], cancel: CancelToken | None = None) -> tuple[MapPointDetail, ...]:
        self.requests.append(tuple(chunks))
        files = [self.map.files[number] for number in np.frombuffer(self.map.file_of, np.int32)]
        return tuple(
            MapPointDetail(
                chunk=chunk,
                path=files[chunk - 100].path,
                title=f"Note {self.map.files.index(files[chunk - 100])}",
                heading=("Watering",),
                start_line=chunk,
                citation=f"{files[chunk - 100].path}#L{chunk}-L{chunk + 4}",
                text=f"words of chunk {chunk}",
                modified=NOW,
                agent="",
            )
            for chunk in chunks
            if chunk not in self.gone
        )

    def map_answer(
        self, query: str, results: Sequence[MemorySearchResult], cancel: CancelToken | None = None
    ) -> MapPositions:
        self.queries.append(query)
        return MapPositions(point=self.point, chunks=(*range(100, 100 + len(results)), None))
