"""The Cranfield collection: 1,400 abstracts on aeronautics, 225 questions, and grades of the abstracts that answer
them.

Its files (`cran.all.1400`, `cran.qry`, `cranqrel_corrected`) are expected in the folder that the environment variable
CRANFIELD names. The last one has lines such as `1 0 184 3`: question, 0, abstract, grade. They are those of `cranqrel`
with 5 minus the code as grade, and 5 for the code -1.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.labelled.measures import DEPTH, discounted

OFF_TOPIC = (
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
"""Questions that the collection does not answer."""
Ranking = Callable[[str], Sequence[int]]


def collection() -> Path | None:
    """Return the folder of the collection; None without the environment variable."""
    named = os.environ.get("CRANFIELD")
    return Path(named) if named else None


def documents(folder: Path) -> dict[int, tuple[str, str]]:
    """Return (title, abstract) by number."""
    found = {}
    for part in re.split(r"^\.I ", (folder / "cran.all.1400").read_text(), flags=re.MULTILINE)[1:]:
        number, _, body = part.partition("\n")
        title = re.search(r"\.T\n(.*?)\n?\.A", body, re.DOTALL)
        text = re.search(r"\.W\n(.*)", body, re.DOTALL)
        found[int(number)] = (title[1].replace("\n", " ") if title else "", text[1].strip() if text else "")
    return found


def questions(folder: Path) -> list[str]:
    parts = re.split(r"^\.I ", (folder / "cran.qry").read_text(), flags=re.MULTILINE)[1:]
    return [part.partition(".W\n")[2].replace("\n", " ").strip() for part in parts]


def judgements(folder: Path) -> list[dict[int, int]]:
    """Return the grades of the judged documents by question; grades are used as gains."""
    judged: dict[int, dict[int, int]] = defaultdict(dict)
    for line in (folder / "cranqrel_corrected").read_text().splitlines():
        question, _, document, grade = map(int, line.split())
        judged[question][document] = max(0, grade)
    return [judged[number] for number in range(1, len(questions(folder)) + 1)]


def mean_ndcg(folder: Path, ranked: Ranking) -> float:
    """Return the mean nDCG@10 over all questions."""
    total = 0.0
    queries = questions(folder)
    for question, gains in zip(queries, judgements(folder), strict=True):
        best = discounted(sorted(gains.values(), reverse=True)[:DEPTH])
        total += discounted([gains.get(document, 0) for document in ranked(question)[:DEPTH]]) / best if best else 0
    return total / len(queries)


def write_notes(folder: Path, notes: Path) -> None:
    """Write a note for each abstract; its name is the abstract's number."""
    notes.mkdir(parents=True, exist_ok=True)
    for number, (title, text) in documents(folder).items():
        (notes / f"{number}.md").write_text(f"# {title}\n\n{text}\n", "utf-8")
