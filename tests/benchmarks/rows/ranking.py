"""How well answers are ranked: nDCG@10 on the Cranfield collection, beside stemmed BM25 as FTS5 ships it.

The collection (`cran.all.1400`, `cran.qry`, `cranqrel_corrected`) is looked for in the folder that the environment
variable CRANFIELD names; without it this row has no figures.
"""

import math
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import apsw
import msgspec

from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from tests.benchmarks.measuring import Figure, measure
from tests.benchmarks.prepared import Bench

_DEPTH = 10
_OFF_TOPIC = (
    "best pizza recipe with mushrooms",
    "how do I renew my passport",
    "quarterly revenue forecast for marketing",
    "guitar chords for beginners",
    "vaccination schedule for puppies",
    "cheap hotels in lisbon",
    "history of the roman republic",
    "how to prune tomato plants",
    "mortgage interest deduction",
    "symptoms of the flu in children",
    "knitting patterns for scarves",
    "wedding guest list",
)
Ranking = Callable[[str], Sequence[int]]


def run(bench: Bench) -> Iterator[Figure]:
    named = os.environ.get("CRANFIELD")
    if not named:
        return
    ours = measure(_ours, Path(named), bench.scratch / "cranfield").value
    plain = measure(_porter, Path(named)).value
    for mode in ("keyword", "auto"):
        ndcg, empty, answered = ours[mode]
        yield Figure(
            f"nDCG@10 on Cranfield, {'by words' if mode == 'keyword' else 'by words and meaning'}",
            "≥ stemmed BM25",
            f"{ndcg:.3f}; {empty} of 225 questions empty at 0.35, {answered} of {len(_OFF_TOPIC)} off-topic answered",
            f"{ndcg / plain:.2f}× of FTS5's porter BM25 ({plain:.3f})",
        )


def _ours(collection: Path, scratch: Path) -> dict[str, tuple[float, int, int]]:
    notes = scratch / "notes"
    notes.mkdir(parents=True)
    for number, (title, text) in documents(collection).items():
        (notes / f"{number}.md").write_text(f"# {title}\n\n{text}\n", "utf-8")
    settings = Settings()
    settings = msgspec.structs.replace(settings, store=msgspec.structs.replace(settings.store, path=str(scratch)))
    memory = BuiltinMemory(notes, settings, executor=None, background=False)
    memory.sync()
    found = {}
    for mode in ("keyword", "auto"):

        def ranked(question: str, least: float = 0.0, mode: str = mode) -> list[int]:
            results = memory.search(question, max_results=3 * _DEPTH, min_score=least, mode=mode).results
            return list(dict.fromkeys(int(Path(result.path).stem) for result in results))

        questions = _questions(collection)
        empty = sum(not ranked(question, 0.35) for question in questions)
        answered = sum(bool(ranked(question, 0.35)) for question in _OFF_TOPIC)
        found[mode] = mean_ndcg(collection, ranked), empty, answered
    memory.close()
    return found


def _porter(collection: Path) -> float:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE f USING fts5 (title, text, tokenize='porter unicode61')")
    connection.executemany(
        "INSERT INTO f (rowid, title, text) VALUES (?, ?, ?)",
        ((number, *parts) for number, parts in documents(collection).items()),
    )

    def ranked(question: str) -> list[int]:
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        query = f"SELECT rowid FROM f WHERE f MATCH ? ORDER BY bm25(f) LIMIT {_DEPTH}"
        return [number for (number,) in connection.execute(query, (match,))]

    return mean_ndcg(collection, ranked)


def mean_ndcg(collection: Path, ranked: Ranking) -> float:
    """Mean over all questions; the grades are the gains."""
    judged: dict[int, dict[int, int]] = defaultdict(dict)
    for line in (collection / "cranqrel_corrected").read_text().splitlines():
        question, _, document, grade = map(int, line.split())
        judged[question][document] = max(0, grade)
    total = 0.0
    questions = _questions(collection)
    for number, question in enumerate(questions, start=1):
        gains = judged[number]
        best = _discounted(sorted(gains.values(), reverse=True)[:_DEPTH])
        total += _discounted([gains.get(document, 0) for document in ranked(question)[:_DEPTH]]) / best if best else 0
    return total / len(questions)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def documents(collection: Path) -> dict[int, tuple[str, str]]:
    """(title, abstract) by number."""
    found = {}
    for part in re.split(r"^\.I ", (collection / "cran.all.1400").read_text(), flags=re.MULTILINE)[1:]:
        number, _, body = part.partition("\n")
        title = re.search(r"\.T\n(.*?)\n?\.A", body, re.DOTALL)
        text = re.search(r"\.W\n(.*)", body, re.DOTALL)
        found[int(number)] = (title[1].replace("\n", " ") if title else "", text[1].strip() if text else "")
    return found


def _questions(collection: Path) -> list[str]:
    parts = re.split(r"^\.I ", (collection / "cran.qry").read_text(), flags=re.MULTILINE)[1:]
    return [part.partition(".W\n")[2].replace("\n", " ").strip() for part in parts]
