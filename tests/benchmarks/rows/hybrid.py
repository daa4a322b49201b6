"""Complete hybrid searches including snippets, with a cached query vector."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.benchmarks.measuring import Figure, measure, percentile, spread, timed, times
from tests.benchmarks.prepared import UNCACHED, Bench, Model, open_index, questions
from tests.benchmarks.reference import Reference

_QUESTIONS = 200
_REFERENCE_QUESTIONS = 5
_CANDIDATES = 24


def run(bench: Bench) -> Iterator[Figure]:
    folder = bench.folder(bench.notes)
    theirs = measure(_reference, folder, bench.scratch / "reference-hybrid.sqlite").value
    cases: tuple[tuple[Model, str], ...] = (
        ("lifted-1536", "real vectors"),
        ("random-1536", "vectors by chance, the worst there are"),
    )
    for model, kind in cases:
        store, built = bench.index(bench.notes, model)
        few, many = measure(_ours, folder, store, model, bench.cache).value
        for results, found in ((6, few), (50, many)):
            yield Figure(
                f"hybrid search, {built.value['chunks']:,} chunks × 1536, {results} results; {kind}",
                "p50 ≤ 15 ms" if results == 6 and model == "lifted-1536" else "–",
                spread(found),
                times(percentile(theirs, 0.5), percentile(found, 0.5), "the reference's two queries"),
            )


def _ours(folder: Path, store: Path, model: Model, cache: Path) -> tuple[list[float], list[float]]:
    """Return the milliseconds of searches for 6 and for 50 results, without a threshold, so that none has fewer."""
    memory = open_index(folder, store, model, cache, query=UNCACHED)
    for text in questions(_QUESTIONS):
        memory.search(text, max_results=1)  # caches the vectors of the queries
    found = []
    for results in (6, 50):
        calls = [partial(memory.search, text, max_results=results, min_score=0) for text in questions(_QUESTIONS)]
        found.append(timed(calls))
    few, many = found
    return few, many


def _reference(folder: Path, database: Path) -> list[float]:
    import numpy as np

    reference = Reference(database, 1536)
    with reference.connection:
        reference.fill(folder)
    vectors = np.random.default_rng(1).standard_normal((_REFERENCE_QUESTIONS, 1536), np.float32)

    def search(text: str, vector: np.ndarray) -> None:
        reference.by_words(text, _CANDIDATES)
        reference.by_vector(vector, _CANDIDATES)

    return timed([partial(search, *query) for query in zip(questions(_REFERENCE_QUESTIONS), vectors, strict=True)])
