"""Ranking of notes for queries on their subject, on five collections of third-party documentation.

The queries (`labelled/names/`) contain filler words, titles, single words, typing errors and words of one note only.
Half of them, by a hash, are for tuning; NAMES_HALF=unseen measures the other half, on which nothing may be tuned.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

from engine.backends.builtin import BuiltinMemory
from tests.benchmarks.labelled.labelled_query import LabelledQuery
from tests.benchmarks.labelled.labelled_sets import LabelledSet, open_set
from tests.benchmarks.labelled.measures import DEPTH, SHOWN, distinct, mean, ndcg
from tests.benchmarks.labelled.methods import Methods
from tests.benchmarks.labelled.named import KINDS, Half, names_of_collections, write_named
from tests.benchmarks.labelled.planted import off_topic
from tests.benchmarks.measuring import Figure, measure
from tests.benchmarks.prepared import Bench

_STEMMED = "stemmed BM25 (FTS5, porter)"
_OURS = {"keyword": "ours, keywords", "auto": "ours, keywords and vectors"}
_LISTED = 60
"""Number of results that are searched for ten distinct notes."""
_PROCESSES = 2


class Answer(NamedTuple):
    """Quality of the answer to one query."""

    kind: str
    reciprocal: float
    """1 / rank of the first right note among ten; 0 without one."""
    ndcg: float
    first: bool
    """Whether the first note has the highest grade."""
    empty: bool
    """Whether no result reaches the usual score."""
    shown: bool
    """Whether a note of the highest grade is among the first six that reach the usual score."""


class Answers(NamedTuple):
    """Answers of one method on one collection."""

    queries: list[Answer]
    off_topic: list[bool]
    far_off_topic: list[bool]
    """Whether each off-topic query of another labelled set got an answer."""


def run(bench: Bench) -> Iterator[Figure]:
    half = os.environ.get("NAMES_HALF", "tuning")
    if half not in {"tuning", "unseen"}:
        raise SystemExit("NAMES_HALF is neither tuning nor unseen.")
    names = [*names_of_collections()]
    one = partial(_measured, half=cast(Half, half), bench=bench)
    with ThreadPoolExecutor(_PROCESSES) as pool:
        found: dict[str, dict[str, Answers]] = dict(zip(names, pool.map(one, names), strict=True))
    for method in (_STEMMED, *_OURS.values()):
        of_method = [answers[method] for answers in found.values()]
        queries = [answer for answers in of_method for answer in answers.queries]
        counts = Counter(answer.kind for answer in queries)
        for kind, label in KINDS.items():
            of_kind = [answer for answer in queries if answer.kind == kind]
            yield Figure(f"{half} half, {counts[kind]} queries with {label}: {method}", "–", _said(of_kind, method))
        for name in names:
            written = [answer for answer in found[name][method].queries if answer.kind not in {"rare", "pair"}]
            yield Figure(
                f"{half} half, {len(written)} written queries on `{name}`: {method}", "–", _said(written, method)
            )
        if method in _OURS.values():
            near = [answered for answers in of_method for answered in answers.off_topic]
            far = [answered for answers in of_method for answered in answers.far_off_topic]
            label = f"{sum(near)} of {len(near)}; of the ranking row's, {sum(far)} of {len(far)}"
            yield Figure(f"{half} half, off-topic queries answered: {method}", "few", label)


def _said(answers: Sequence[Answer], method: str) -> str:
    sentence = (
        f"MRR@10 {mean(answer.reciprocal for answer in answers):.3f}, nDCG@10 "
        f"{mean(answer.ndcg for answer in answers):.3f}, first {mean(answer.first for answer in answers):.0%}"
    )
    if method not in _OURS.values():
        return sentence
    among_six, empty = mean(answer.shown for answer in answers), mean(answer.empty for answer in answers)
    return f"{sentence}; at 0.35: among six {among_six:.0%}, empty {empty:.1%}"


def _measured(name: str, half: Half, bench: Bench) -> dict[str, Answers]:
    found: dict[str, Answers] = measure(answers_of, name, half, bench.cache, bench.scratch / f"named-{name}").value
    return found


def answers_of(name: str, half: Half, cache: Path, folder: Path) -> dict[str, Answers]:
    """Return the answers of each method on one collection; runs in a child process."""
    labelled = write_named(name, half, cache, folder)
    memory = open_set(folder)
    methods = Methods(memory)
    rank = methods.all()[_STEMMED]
    found = {}
    ranked = [[methods.rows[id_].path for id_ in rank(query.text)[:_LISTED]] for query in labelled.queries]
    stemmed = [_answer(query, paths, paths) for query, paths in zip(labelled.queries, ranked, strict=True)]
    found[_STEMMED] = Answers(stemmed, [], [])
    for mode, method in _OURS.items():
        found[method] = _ours(labelled, memory, mode)
    memory.close()
    return found


def _ours(labelled: LabelledSet, memory: BuiltinMemory, mode: str) -> Answers:
    def paths(text: str, **options: float) -> list[str]:
        outcome = memory.search(text, mode=mode, **options)  # type: ignore[arg-type]
        return [result.path for result in outcome.results]

    answers = []
    for query in labelled.queries:
        whole = paths(query.text, max_results=_LISTED, min_score=0.0)
        answers.append(_answer(query, whole, paths(query.text, max_results=_LISTED)))
    unanswered = [[bool(paths(text)) for text in texts] for texts in (labelled.off_topic["en"], off_topic())]
    return Answers(answers, *unanswered)


def _answer(query: LabelledQuery, whole: Iterable[str], shown: Sequence[str]) -> Answer:
    notes = distinct([(path,) for path in whole], query.gains)[:DEPTH]
    best = max(query.gains.values())
    ranks: dict[bool, int] = defaultdict(int)
    for rank, note in enumerate(notes, 1):
        ranks.setdefault(query.gains.get(note, 0) == best, rank)
    return Answer(
        query.kind,
        1 / ranks[True] if ranks[True] else 0.0,
        ndcg(notes, query.gains),
        ranks[True] == 1,
        not shown,
        any(query.gains.get(note, 0) == best for note in [*dict.fromkeys(shown)][:SHOWN]),
    )
