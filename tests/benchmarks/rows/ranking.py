"""Ranking quality on labelled sets, compared with other ways of ranking the same chunks and vectors.

Planted notes (`labelled/planted/`) are hidden in real text. Conversations are notes, then sessions, then half of them
notes, with queries about the others as off-topic. The Debian handbook is searched in ten languages, the English one
with queries in all of them. The questions of both are also searched with an error in a word, and half typed. Translated
help pages are searched for their summaries. Identifiers are those of locked packages. Cranfield, as notes and as
sessions, needs the environment variable CRANFIELD.

Half of the questions, selected by a hash, are reported separately: a change must hold on both halves. The last rows
count, for the models that run here, the pairs of question and note that reach the usual threshold. RANKING_SETS names
the sets to measure, separated by commas.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from engine.backends.builtin import BuiltinMemory
from engine.records import SearchOutcome
from tests.benchmarks.labelled import conversations, identifiers, spoiled
from tests.benchmarks.labelled.labelled_sets import LabelledSet, open_set, set_names, write_set
from tests.benchmarks.labelled.measures import SHOWN, distinct, mean, ndcg, recall
from tests.benchmarks.labelled.methods import Methods
from tests.benchmarks.labelled.pairs import Shares, pairs_of
from tests.benchmarks.labelled.planted import KINDS
from tests.benchmarks.measuring import Figure, measure
from tests.benchmarks.prepared import Bench

_STEMMED = "stemmed BM25 (FTS5, porter)"
_VECTORS = "vectors alone"
_KINDS = KINDS | conversations.KINDS | identifiers.KINDS | spoiled.KINDS
_OURS = {"keyword": "ours, by words", "auto": "ours, by words and meaning"}
_LISTED = 60
"""Number of results that are searched for ten distinct documents."""


class Quality(NamedTuple):
    """Quality of one method on the questions of a set."""

    ndcg: float
    recall: float
    ndcg_second: float
    kinds: dict[str, tuple[float, float]]
    """nDCG@10, and recall@6 of the shown results, by kind of question."""
    shown: float = 0.0
    """recall@6 of the results that reach 0.35."""
    empty: float = 0.0
    """Share of the questions for which no result reaches 0.35."""
    answered: str = ""
    """Number of off-topic questions with a result that reaches 0.35; empty for a method without such scores."""


def run(bench: Bench) -> Iterator[Figure]:
    chosen = os.environ.get("RANKING_SETS", "")
    for number, name in enumerate(chosen.split(",") if chosen else set_names()):
        found: dict[str, Quality] = measure(_qualities, name, bench.cache, bench.scratch / f"labelled-{number}").value
        yield from _figures(name, found)
    for model in () if chosen else ("use-multilingual-v3", "all-MiniLM-L6-v2"):
        folder = bench.scratch / f"pairs-{model}"
        by_meaning, by_both = measure(pairs_of, folder, model != "use-multilingual-v3").value
        yield _pairs(f"{model}, by meaning alone", by_meaning)
        yield _pairs(f"{model}, by the final score", by_both)


def _qualities(name: str, cache: Path, folder: Path) -> dict[str, Quality]:
    """Return the quality of each method on one set; runs in a child process."""
    labelled = write_set(name, cache, folder)
    memory = open_set(folder)
    methods = Methods(memory)

    def names(ids: Sequence[int]) -> list[Sequence[str]]:
        return [labelled.names_of(row.path, row.first, row.last) for row in (methods.rows[id_] for id_ in ids)]

    found = {}
    for method, rank in methods.all().items():
        found[method] = _quality(labelled, [names(rank(query.text)[:_LISTED]) for query in labelled.queries])
    for mode, method in _OURS.items():
        found[method] = _quality_of_ours(labelled, memory, mode)
    memory.close()
    return found


def _quality_of_ours(labelled: LabelledSet, memory: BuiltinMemory, mode: str) -> Quality:
    def names(outcome: SearchOutcome) -> list[Sequence[str]]:
        return [labelled.names_of(result.path, result.start_line, result.end_line) for result in outcome.results]

    def search(question: str, **options: float) -> SearchOutcome:
        return memory.search(question, mode=mode, **options)  # type: ignore[arg-type]

    whole = [names(search(query.text, max_results=_LISTED, min_score=0.0)) for query in labelled.queries]
    default_results = [names(search(query.text, max_results=SHOWN)) for query in labelled.queries]
    quality = _quality(labelled, whole, default_results)
    answered = [
        f"{sum(bool(search(text).results) for text in texts)} of {len(texts)} {language}".rstrip()
        for language, texts in labelled.off_topic.items()
    ]
    return quality._replace(
        empty=mean(not results for results in default_results), answered=", ".join(answered) or "no"
    )


def _quality(
    labelled: LabelledSet,
    whole: Sequence[Sequence[Sequence[str]]],
    shown: Sequence[Sequence[Sequence[str]]] | None = None,
) -> Quality:
    """Return the quality from the documents of each result of each query, of all results and of the shown ones."""
    queries = labelled.queries
    rankings = [distinct(results, of.gains) for of, results in zip(queries, whole, strict=True)]
    seen = rankings if shown is None else [distinct(found, of.gains) for of, found in zip(queries, shown, strict=True)]
    gained = [ndcg(found, of.gains) for of, found in zip(queries, rankings, strict=True)]
    recalled = [recall(found, of.gains) for of, found in zip(queries, rankings, strict=True)]
    reached = [recall(found, of.gains) for of, found in zip(queries, seen, strict=True)]
    places: dict[str, list[int]] = defaultdict(list)
    for place, of in enumerate(queries):
        places[of.kind].append(place)
    kinds = {
        kind: (mean(gained[place] for place in of_kind), mean(reached[place] for place in of_kind))
        for kind, of_kind in places.items()
        if kind
    }
    second_half = mean(gain for gain, of in zip(gained, queries, strict=True) if of.second_half)
    return Quality(mean(gained), mean(recalled), second_half, kinds, mean(reached))


def _figures(name: str, found: dict[str, Quality]) -> Iterator[Figure]:
    least = found[_STEMMED].ndcg
    for method, quality in found.items():
        summary = f"nDCG@10 {quality.ndcg:.3f} (second half {quality.ndcg_second:.3f}), recall@6 {quality.recall:.3f}"
        ours = method in _OURS.values()
        if ours:
            summary += (
                f"; at 0.35: recall@6 {quality.shown:.3f}, {quality.empty:.1%} of the questions empty, "
                f"{quality.answered} off-topic answered"
            )
        ratio = f"{quality.ndcg / least:.2f}× of stemmed BM25"
        yield Figure(f"{name}: {method}", "≥ stemmed BM25" if ours else "–", summary, ratio)
    for method in (_STEMMED, _VECTORS, *_OURS.values()):
        kinds = found[method].kinds.items()
        by_kind = ", ".join(
            f"{_KINDS.get(kind, kind)} {gained:.3f} / {reached:.2f}" for kind, (gained, reached) in kinds
        )
        if by_kind:
            limit = " at 0.35" if method in _OURS.values() else ""
            yield Figure(f"{name}: {method}, by kind", "–", f"nDCG@10 / recall@6{limit}: {by_kind}")


def _pairs(what: str, shares: Shares) -> Figure:
    by_kind = ", ".join(f"{_PAIRS.get(kind, kind)} {share:.0%}" for kind, share in shares.related.items())
    summary = f"unrelated {shares.unrelated:.1%}; {by_kind}"
    return Figure(f"pairs that reach 0.35: {what}", "unrelated < 5%, paraphrases > 80%", summary)


_PAIRS = {**KINDS, "everyday": "everyday paraphrases", "paraphrase": "paraphrases without any shared word"}
