"""Count unrelated and related pairs of query and note that reach the usual threshold."""

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.labelled.labelled_sets import open_set
from tests.benchmarks.labelled.measures import mean
from tests.benchmarks.labelled.planted import planted, write_planted
from tests.helpers.gguf_files import write_minilm
from tests.helpers.notes_with_queries import ASKED

_USUAL = 0.35
_MAX = 500


class Shares(NamedTuple):
    """Share of the unrelated pairs that reach 0.35, and of the related ones by kind."""

    unrelated: float
    related: dict[str, float]


def pairs_of(scratch: Path, gguf: bool) -> tuple[Shares, Shares]:
    """Return the shares by the score of meaning alone, and by the final score.

    The index contains the planted and the paraphrased notes.
    """
    notes, questions = planted()
    write_planted(scratch / "notes")
    for name, (text, _) in ASKED.items():
        (scratch / "notes" / f"{name}.md").write_text(f"{text}\n", "utf-8")
    queries = [(question.text, question.kind, question.answer) for question in questions]
    queries += [(question, "everyday", f"{name}.md") for name, (_, question) in ASKED.items()]
    memory = open_set(scratch, write_minilm(scratch / "all-MiniLM-L6-v2-F16.gguf") if gguf else None)
    by_meaning, by_both = _Counted(), _Counted()
    for text, kind, answer in queries:
        found = memory.search(text, min_score=0.0, max_results=_MAX).results
        best: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        for result in found:
            meaning, both = best[result.path]
            best[result.path] = max(meaning, result.vector_score or 0.0), max(both, result.score)
        for name in [*(note.name for note in notes), *(f"{name}.md" for name in ASKED)]:
            related = kind if name == answer else ""
            by_meaning.add(related, best[name][0])
            by_both.add(related, best[name][1])
    memory.close()
    return by_meaning.shares(), by_both.shares()


class _Counted:
    def __init__(self) -> None:
        self._reached: dict[str, list[bool]] = defaultdict(list)

    def add(self, kind: str, score: float) -> None:
        self._reached[kind].append(score >= _USUAL)

    def shares(self) -> Shares:
        return Shares(mean(self._reached.pop("")), {kind: mean(reached) for kind, reached in self._reached.items()})
