"""Provides the map of one index: computed on demand, cached in memory and in a file."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import dropwhile, islice

import numpy as np

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken, checkpoint
from engine.corpus.path_guard import PathGuard
from engine.insight import map_data
from engine.insight.map_data import Listing, StoredLayout, read_listing, rows_of
from engine.insight.map_layout import Progress, compute_layout, find_points, query_position
from engine.records import IndexMap, MapGap, MapPointDetail, MapPositions, MapProgress, MemorySearchResult
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.stored_models import ModelName
from engine.store.vector_encoding import StoredModel, Vectors
from engine.store.vectors import VectorIndex

log = lazy_logger(__name__)

_WORDS, _CHARACTERS = 60, 2000
"""Maximum length of a chunk's displayed text."""
_CANCEL_CHECK_SECONDS = 0.05
"""Seconds between checks of the cancel token."""
_NEAREST = 8
"""Number of nearest chunks that determine a query's position."""


class IndexMaps:
    """Computes and caches the map of one index for the model in use, one at a time. Thread-safe."""

    def __init__(self, store: IndexStore, vectors: VectorIndex, guard: PathGuard) -> None:
        self._store = store
        self._vectors = vectors
        self._guard = guard
        self._making = threading.Lock()
        self._layout: tuple[str, StoredLayout] | None = None
        """The last layout, with the index and model it belongs to."""
        self._last: tuple[str, IndexMap] | None = None
        """The last map returned, with its index and model."""

    def last(self, name: ModelName | None, cancel: CancelToken | None = None) -> IndexMap | None:
        """Return the last computed map, however old, without chunks that have left the index since.

        None if there is no map yet.
        """
        with self._store.read(cancel) as snapshot:
            model = _model(snapshot, name)
            identity = _identity_of(snapshot, model)
            drawn = self._stored_layout(identity)
            listing = None if drawn is None else read_listing(snapshot, self._guard)
        if drawn is None or listing is None or model is None:
            return None
        return _record(drawn, listing, model)

    def make(
        self,
        name: ModelName | None,
        *,
        first: Callable[[IndexMap], None] | None = None,
        progress: Progress | None = None,
        cancel: CancelToken | None = None,
    ) -> IndexMap:
        """Return the map of the current index, recomputed only if that has changed. Raises `Cancelled`, `Closed`.

        `first` receives a simpler, fast map if there was none before and the real one is slow. It and `progress` are
        called on this thread.
        """
        with self._exclusive(cancel):
            if progress is not None:
                progress(MapProgress(stage="reading", done=0.0))
            with self._store.read(cancel) as snapshot:
                model = _model(snapshot, name)
                identity = _identity_of(snapshot, model)
                if self._last is not None and (self._last[0], self._last[1].stamp) == (identity, snapshot.stamp):
                    return self._last[1]
                listing = read_listing(snapshot, self._guard)
                old = self._stored_layout(identity)
                current = old is not None and old.stamp == listing.stamp
                parts = () if current or model is None else self._vectors.all_codes(snapshot, model, cancel)
            if model is None:
                return _empty(listing, "no-model" if name is None else "no-vectors")
            if old is not None and current:
                return self._remember(identity, _record(old, listing, model))
            rows = rows_of(listing, parts, model.dims)
            if not len(rows):
                return _empty(listing, "no-vectors", model)
            report_first = None
            if first is not None and old is None:
                receive, mapped_model = first, model
                report_first = lambda drawn: receive(_record(drawn, listing, mapped_model))  # noqa: E731
            drawn = compute_layout(rows, listing.stamp, old, first=report_first, progress=progress, cancel=cancel)
            with self._store.read(cancel):
                pass  # raises `Closed`: no file must be written next to a closed index
            self._layout = identity, drawn
            try:
                map_data.save_layout(self._store.files.map, drawn, identity)
            except OSError as error:
                log.warning("The map could not be saved: %s", error)
            return self._remember(identity, _record(drawn, listing, model))

    @contextmanager
    def _exclusive(self, cancel: CancelToken | None) -> Iterator[None]:
        """Allow only one computation at a time; waits for a running one, and raises if cancelled."""
        while not self._making.acquire(timeout=_CANCEL_CHECK_SECONDS):
            checkpoint(cancel)
        try:
            yield
        finally:
            self._making.release()

    def _remember(self, identity: str, record: IndexMap) -> IndexMap:
        self._last = identity, record
        return record

    def details(self, chunks: Sequence[int], cancel: CancelToken | None = None) -> tuple[MapPointDetail, ...]:
        """Return details of these chunks, in order; chunks that have left the index are left out."""
        with self._store.read(cancel) as snapshot:
            chunks_by_id = snapshot.chunks(chunks)
            refused = self._guard.refused((chunk.path for chunk in chunks_by_id.values()), snapshot.meta("names"))
            chunks_by_id = {id_: chunk for id_, chunk in chunks_by_id.items() if chunk.path not in refused}
        return tuple(
            MapPointDetail(
                chunk=chunk.id,
                path=chunk.path,
                title=chunk.title,
                heading=chunk.heading,
                start_line=chunk.start_line,
                citation=chunk.citation,
                text=_words(chunk.text),
                modified=chunk.modified,
                agent=chunk.agent,
            )
            for id_ in chunks
            if (chunk := chunks_by_id.get(id_)) is not None
        )

    def answer(
        self,
        name: ModelName | None,
        vector: Vectors | None,
        results: Sequence[MemorySearchResult],
        cancel: CancelToken | None = None,
    ) -> MapPositions:
        """Return the positions on the last map of a query, given as a unit vector (dims,), and of its results."""
        with self._store.read(cancel) as snapshot:
            chunks = tuple(_chunk_of(snapshot, result) for result in results)
            model = _model(snapshot, name)
            drawn = self._stored_layout(_identity_of(snapshot, model))
            if drawn is None or model is None or vector is None or len(vector) != model.dims:
                return MapPositions(point=None, chunks=chunks)
            if drawn.layout == "directions":
                across, up = (vector - drawn.mean) @ drawn.axes
                return MapPositions(point=(float(across), float(up)), chunks=chunks)
            ids, cosines = self._vectors.search(snapshot, model, vector, _NEAREST, cancel=cancel)
        points, known = find_points(ids, drawn.ids, drawn.points)
        point = query_position(points[known], cosines[known]) if known.any() else None
        return MapPositions(point=point, chunks=chunks)

    def _stored_layout(self, identity: str) -> StoredLayout | None:
        cached = self._layout
        if cached is not None and cached[0] == identity:
            return cached[1]
        drawn = map_data.load_layout(self._store.files.map, identity)
        if drawn is not None:
            self._layout = identity, drawn
        return drawn


def _words(text: str) -> str:
    """Return the first words of a chunk's text, without headings at its beginning."""
    lines = (line for line in text[:_CHARACTERS].splitlines() if line.strip())
    rest = " ".join(dropwhile(lambda line: line.startswith("#"), lines))
    return " ".join(islice((rest or text[:_CHARACTERS].lstrip("# ")).split(), _WORDS))


def _model(snapshot: Snapshot, name: ModelName | None) -> StoredModel | None:
    return None if name is None else snapshot.stored_model(*name)


def _identity_of(snapshot: Snapshot, model: StoredModel | None) -> str:
    return f"{snapshot.identity}/{snapshot.generation}/{model.name if model else ''}"


def _chunk_of(snapshot: Snapshot, result: MemorySearchResult) -> int | None:
    row = snapshot.connection.execute(
        f"""SELECT c.id FROM {snapshot.tables.files} f CROSS JOIN {snapshot.tables.chunks} c ON c.file_id = f.id
            WHERE f.source = ? AND f.path = ? AND c.start_line = ? AND c.end_line = ?""",
        (result.source, result.path, result.start_line, result.end_line),
    ).fetchone()
    return None if row is None else int(row[0])


def _record(drawn: StoredLayout, listing: Listing, model: StoredModel) -> IndexMap:
    """Convert a layout to a record, without chunks that are not in the listing."""
    positions = listing.positions(drawn.ids)
    there = positions >= 0
    return IndexMap(
        layout=drawn.layout,
        ids=drawn.ids[there].tobytes(),
        points=np.ascontiguousarray(drawn.points[there]).tobytes(),
        file_of=positions[there].tobytes(),
        files=listing.files,
        chunks=len(listing.chunks),
        shown_variance=drawn.shown_variance,
        model=model.name,
        stamp=drawn.stamp,
    )


def _empty(listing: Listing, gap: MapGap, model: StoredModel | None = None) -> IndexMap:
    return IndexMap(
        layout="directions",
        ids=b"",
        points=b"",
        file_of=b"",
        files=(),
        chunks=len(listing.chunks),
        shown_variance=0.0,
        model=model.name if model else "",
        stamp=listing.stamp,
        gap=gap if len(listing.chunks) or gap == "no-model" else "no-chunks",
    )
