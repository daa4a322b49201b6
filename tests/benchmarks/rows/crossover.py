"""The number of chunks from which the matrix is the faster vector engine, compared with the table.

`auto` switches when the vector half of a search in the table takes 5 ms: candidates and exact re-scoring.
"""

from collections.abc import Iterator
from pathlib import Path

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.embedding.provider_selection import Selection
from engine.settings import Settings
from engine.settings.options import StoreSettings
from engine.settings.search_settings import QuerySettings, ResultCacheSettings, VectorEngine, VectorSettings
from tests.benchmarks.measuring import Figure, measure, percentile
from tests.benchmarks.prepared import Bench, copy_of, questions
from tests.benchmarks.provider import LiftedProvider

_DIMENSIONS = (512, 768, 1536)
_SHARES = (25, 16, 8, 4, 2, 1)
"""Divisors of the number of notes."""
_QUESTIONS = 150


def run(bench: Bench) -> Iterator[Figure]:
    for dims in _DIMENSIONS:
        for share in _SHARES:
            count = bench.notes // share
            found = measure(
                _compare, bench.folder(count), bench.scratch / f"crossover-{dims}-{count}", dims, bench.cache
            )
            chunks, took, recall = found.value
            table, matrix = took["sqlite-vec"], took["numpy"]
            yield Figure(
                f"vector half of a search in a table of sqlite-vec, {chunks:,} × {dims}",
                "≤ 5 ms where `auto` uses it",
                f"p50 {table[0]:.1f} ms of {table[1]:.1f} ms; recall@50 {recall['sqlite-vec']:.4f}",
                f"matrix: p50 {matrix[0]:.1f} ms of {matrix[1]:.1f} ms; recall@50 {recall['numpy']:.4f}",
            )


def _compare(
    notes: Path, store: Path, dims: int, cache: Path
) -> tuple[int, dict[str, tuple[float, float]], dict[str, float]]:
    """Return the number of chunks; by engine, the medians of the vector half and of the search; and the recall by
    engine.
    """
    import numpy as np

    provider = LiftedProvider(cache, dims)
    builtin.select_provider = lambda *_, **__: Selection(provider, provider.id)
    first = _open(notes, store, "numpy")
    chunks = first.sync().chunks_indexed
    first.close()
    memories = {
        "numpy": _open(notes, store, "numpy"),
        "sqlite-vec": _open(notes, copy_of(store, store.with_suffix(".table")), "sqlite-vec"),
    }
    took: dict[str, list[tuple[float, float]]] = {engine: [] for engine in memories}
    for memory in memories.values():
        memory.sync()
    queries = questions(_QUESTIONS)
    for number, query in enumerate(queries):
        for engine, memory in memories.items():  # alternating: the machine is as busy for both
            timings = memory.search(query, max_results=6, min_score=0).timings
            if number >= _QUESTIONS // 5:
                took[engine].append((timings.vector, timings.total))
    recall = {}
    for engine, memory in memories.items():
        assert memory.status().vector.engine == engine
        with memory.store.read() as snapshot:
            model = snapshot.stored_model(provider.id, provider.model, provider.key)
            assert model is not None
            rows = dict(snapshot.vectors(model.id, model.dims, snapshot.vector_chunk_ids(model.id)))
            ids = np.array(list(rows))
            vectors = np.frombuffer(b"".join(rows.values()), "<f2").reshape(len(rows), dims).astype(np.float32)
            hits = 0
            for query in queries:
                vector = provider.embed_query(query)
                exact = ids[np.argsort(-(vectors @ vector))[:50]]
                near = memory.vectors.search(snapshot, model, vector, 200)[0]
                hits += len(np.intersect1d(exact, near))
        recall[engine] = hits / (50 * len(queries))
    medians = {
        engine: (percentile([v for v, _ in found], 0.5), percentile([t for _, t in found], 0.5))
        for engine, found in took.items()
    }
    return chunks, medians, recall


def _open(notes: Path, store: Path, engine: VectorEngine) -> BuiltinMemory:
    query = QuerySettings(cache=ResultCacheSettings(enabled=False))
    settings = Settings(query=query, store=StoreSettings(path=str(store), vector=VectorSettings(engine=engine)))
    return BuiltinMemory(notes, settings, executor=None, background=False)
