"""Vector search alone: candidates from the matrix, the best rescored with the stored vectors."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from engine.embedding.embedded_model import EmbeddedProvider
from engine.search.chunk_filter import ChunkFilter
from engine.search.vector_leg import VectorLeg
from engine.store.vector_encoding import StoredModel
from tests.benchmarks.measuring import Figure, measure, percentile, spread, timed, times
from tests.benchmarks.prepared import LARGE, Bench, open_index
from tests.benchmarks.reference import MODEL, Reference

_CANDIDATES = 200
_QUESTIONS = 200
_WANTED = 24
_EXACT = 4 * _WANTED
"""Number of rescored candidates: four times the shown results, as in the searcher."""


def run(bench: Bench) -> Iterator[Figure]:
    notes = LARGE * bench.notes
    store, _ = bench.index(notes, "window")
    args = bench.folder(notes), store, bench.cache, bench.scratch / "reference-vectors.sqlite"
    found: dict[str, Any] = measure(_compare, *args).value
    took, ours = found["took"], percentile(found["took"]["ours"], 0.5)
    what = f"vector leg, {found['rows']:,} × 512 real vectors"
    blas = percentile(took["float32"], 0.5)
    yield Figure(what, "≤ 6 ms", spread(took["ours"]), times(blas, ours, "float32 BLAS on one thread"))
    for name, other in (("vec0", "vec0 KNN"), ("reference", "the reference's SQL")):
        theirs = percentile(took[name], 0.5)
        yield Figure(f"– {other}", "–", f"{theirs:,.0f} ms", times(theirs, ours, "that"))
    yield Figure(f"{what}: recall@{_WANTED}", "≥ .99", f"{found['recall']:.4f}", "of float32 BLAS")


def _compare(folder: Path, store: Path, cache: Path, database: Path) -> dict[str, Any]:
    """Return the milliseconds of each method, and the recall of ours."""
    import numpy as np

    from tests.benchmarks.real_vectors import real_vectors

    memory = open_index(folder, store, "window", cache)
    queries = np.asarray(real_vectors(cache)[-_QUESTIONS:])
    with memory.store.read() as snapshot:
        provider = EmbeddedProvider()
        model = snapshot.stored_model(provider.id, provider.model, provider.key)
        assert model is not None
        ids, vectors = _all_vectors(snapshot, model)

    def ours(question: Any) -> list[int]:
        with memory.store.read() as snapshot:
            leg = VectorLeg(snapshot, memory.vectors, model, provider.calibration, question, lambda: None)
            cosines = leg.cosines(leg.candidates(_CANDIDATES, ChunkFilter(), None)[:_EXACT])
        return sorted(cosines, key=lambda id_: (-cosines[id_], id_))[:_WANTED]

    def float32(question: Any) -> list[int]:
        cosines = vectors @ question
        best = np.argpartition(-cosines, _WANTED)[:_WANTED]
        return ids[best].tolist()

    reference = _filled(database, ids.tolist(), vectors)
    ways: dict[str, tuple[Callable[[Any], object], int]] = {
        "ours": (ours, _QUESTIONS),
        "float32": (float32, _QUESTIONS),
        "vec0": (partial(_nearest, reference.connection), 20),
        "reference": (lambda question: reference.by_vector(question, _WANTED), 5),
    }
    took = {name: _timed(way, queries[:count]) for name, (way, count) in ways.items()}
    hits = sum(len({*ours(question)} & {*float32(question)}) for question in queries)
    return {"took": took, "rows": len(ids), "recall": hits / (_WANTED * len(queries))}


def _timed(way: Callable[[Any], object], queries: Sequence[Any]) -> list[float]:
    timed([partial(way, question) for question in queries[:5]])
    return timed([partial(way, question) for question in queries])


def _all_vectors(snapshot: Any, model: StoredModel) -> tuple[Any, Any]:
    """Return the stored ids (n,) and float32 vectors (n, dims)."""
    import numpy as np

    rows = dict(snapshot.vectors(model.id, model.dims, snapshot.vector_chunk_ids(model.id)))
    vectors = np.frombuffer(b"".join(rows.values()), "<f2").reshape(len(rows), model.dims)
    return np.array(list(rows), np.int64), vectors.astype(np.float32)


def _filled(database: Path, ids: Sequence[int], vectors: Any) -> Reference:
    reference = Reference(database, vectors.shape[1])
    with reference.connection as connection:
        chunks = ((str(id_), "note.md", MODEL, "text") for id_ in ids)
        connection.executemany(
            "INSERT INTO chunks (id, path, source, model, text) VALUES (?, ?, 'memory', ?, ?)", chunks
        )
        rows = ((str(id_), vector.tobytes()) for id_, vector in zip(ids, vectors, strict=True))
        connection.executemany("INSERT INTO chunks_vec (id, embedding) VALUES (?, ?)", rows)
    return reference


def _nearest(connection: apsw.Connection, question: Any) -> list[tuple]:
    query = "SELECT id, distance FROM chunks_vec WHERE embedding MATCH ? AND k = ?"
    return list(connection.execute(query, (question.tobytes(), _WANTED)))
