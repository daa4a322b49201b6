"""Keyword searches among 100,000 chunks."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.benchmarks.measuring import Figure, measure, percentile, spread, timed, times
from tests.benchmarks.prepared import LARGE, UNCACHED, Bench, open_index, questions, warming
from tests.benchmarks.reference import Reference

_QUESTIONS = 200
_REFERENCE_RESULTS = 24
_KINDS = {"rare": "telling words", "natural": "words as frequent as in the notes"}


def run(bench: Bench) -> Iterator[Figure]:
    notes = LARGE * bench.notes
    folder, (store, built) = bench.folder(notes), bench.index(notes, "window")
    ours = measure(_ours, folder, store, bench.cache).value
    theirs = measure(_reference, folder, bench.scratch / "reference-keywords.sqlite").value
    for kind, target in (("rare", "median ≤ 15 ms"), ("natural", "–")):
        median = percentile(ours[kind], 0.5)
        all_words, any_word = (percentile(found, 0.5) for found in theirs[kind])
        yield Figure(
            f"keyword search, {built.value['chunks']:,} chunks, {_QUESTIONS} questions of five {_KINDS[kind]}",
            target,
            spread(ours[kind]),
            f"{times(any_word, median, 'the reference by any word')}, {times(all_words, median, 'by all words')}",
        )


def _ours(folder: Path, store: Path, cache: Path) -> dict[str, list[float]]:
    memory = open_index(folder, store, "window", cache, query=UNCACHED)
    found = {}
    for kind in _KINDS:
        natural = kind == "natural"
        timed([partial(memory.search, text, mode="keyword") for text in warming(natural=natural)])
        queries = questions(_QUESTIONS, natural=natural)
        found[kind] = timed([partial(memory.search, text, mode="keyword") for text in queries])
    return found


def _reference(folder: Path, database: Path) -> dict[str, tuple[list[float], list[float]]]:
    """Return the times of searches by all words and by any word, for each kind of query."""
    reference = Reference(database, 0)
    with reference.connection:
        reference.fill(folder)
    found = {}
    for kind in _KINDS:
        queries = questions(_QUESTIONS, natural=kind == "natural")
        timed([partial(reference.by_any_word, text, _REFERENCE_RESULTS) for text in queries[:5]])
        found[kind] = (
            timed([partial(reference.by_words, text, _REFERENCE_RESULTS) for text in queries]),
            timed([partial(reference.by_any_word, text, _REFERENCE_RESULTS) for text in queries]),
        )
    return found
