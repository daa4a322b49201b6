"""More like this, and searches within results, for the fake memory: by keywords alone."""

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from engine import EarlierQuery, EarlierResultCount, MemorySearchResult, Passage, SearchOutcome

_MIN_LETTERS = 5


def distinctive_words(passage: Passage, text: str) -> tuple[str, ...]:
    """Return the longer words of the selection, or of the passage's lines in its file."""
    lines = text.split("\n")[passage.start_line - 1 : passage.end_line]
    words = re.findall(r"\w+", passage.text or " ".join(lines))
    return tuple(dict.fromkeys(word.lower() for word in words if len(word) >= _MIN_LETTERS))


def without(passage: Passage, words: tuple[str, ...], outcome: SearchOutcome) -> SearchOutcome:
    """Return the answer without the passage itself."""

    def own(result: MemorySearchResult) -> bool:
        on_its_lines = result.start_line <= passage.end_line and result.end_line >= passage.start_line
        return result.path == passage.path and on_its_lines

    others = tuple(result for result in outcome.results if not own(result))
    total = outcome.total - (len(outcome.results) - len(others))
    return msgspec.structs.replace(outcome, results=others, total=total, passage_words=words)


def keep_within(
    found: list[MemorySearchResult],
    within: Sequence[EarlierQuery],
    matches: Callable[[str], Iterable[MemorySearchResult]],
) -> tuple[list[MemorySearchResult], tuple[EarlierResultCount, ...]]:
    """Return results that all earlier queries find, too, and the number of results of each."""
    answers: list[EarlierResultCount] = []
    allowed: set[tuple[str, int]] | None = None
    for question in within:
        text = question.query or (question.like.text if question.like else "")
        least = 0.35 if question.min_score is None else question.min_score
        places = {(result.path, result.start_line) for result in matches(text) if result.score >= least}
        allowed = places if allowed is None else allowed & places
        answers.append(EarlierResultCount(passages=len(allowed), total=len(allowed), total_is_least=False))
    return [result for result in found if allowed is None or (result.path, result.start_line) in allowed], tuple(
        answers
    )
