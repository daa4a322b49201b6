"""Options that change the order of results, and unknown words, each compared with a search without them."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from engine.settings.search_settings import MmrSettings, QuerySettings, TemporalDecaySettings
from tests.benchmarks.measuring import Figure, measure, percentile, spread, timed, times
from tests.benchmarks.prepared import Bench, Model, open_index, questions

_QUESTIONS = 100
_RESULTS = 50
_KINDS: dict[Model, str] = {"none": "by words", "random-1536": "by words and meaning"}


def run(bench: Bench) -> Iterator[Figure]:
    folder = bench.folder(bench.notes)
    for model, kind in _KINDS.items():
        store, built = bench.index(bench.notes, model)
        found = measure(_ours, folder, store, model, bench.cache).value
        plain = percentile(found.pop("plain"), 0.5)
        for name, spent in found.items():
            yield Figure(
                f"search {kind}, {built.value['chunks']:,} chunks, {_RESULTS} results; {name}",
                "–",
                spread(spent),
                times(percentile(spent, 0.5), plain, "the same search without"),
            )


def _ours(folder: Path, store: Path, model: Model, cache: Path) -> dict[str, list[float]]:
    """Return the milliseconds of each search by enabled options, without a threshold, so that no search has fewer
    results.
    """
    query = QuerySettings()
    decay = TemporalDecaySettings(enabled=True, half_life_by_path={"*": 30.0})
    ways = {
        "plain": {},
        "temporal decay": {"temporal_decay": decay},
        "diversity": {"mmr": MmrSettings(enabled=True)},
        "a slip in one word": {},
    }
    found = {}
    for name, changes in ways.items():
        hybrid = msgspec.structs.replace(query.hybrid, **changes)
        memory = open_index(folder, store, model, cache, query=msgspec.structs.replace(query, hybrid=hybrid))
        queries = [_slip(text) if name == "a slip in one word" else text for text in questions(_QUESTIONS)]
        calls = [partial(memory.search, text, max_results=_RESULTS, min_score=0) for text in queries]
        timed([partial(memory.search, text, max_results=_RESULTS) for text in questions(20, seed=8)])
        found[name] = timed(calls)
        memory.close()
    return found


def _slip(question: str) -> str:
    """Return the query with two letters of its longest word swapped."""
    word = max(question.split(), key=len)
    middle = len(word) // 2
    return question.replace(word, word[:middle] + word[middle + 1] + word[middle] + word[middle + 2 :])
