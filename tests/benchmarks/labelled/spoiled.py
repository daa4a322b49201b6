"""Questions as they are typed: with an error in the rarest word, or before the last word is finished."""

import hashlib
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.text import analyse_query
from tests.benchmarks.labelled.labelled_query import LabelledQuery

KINDS = {"as asked": "as asked", "error": "an error in the rarest word", "begun": "last word begun"}
_WORD = re.compile(r"[^\W\d_]+")
_MIN = 5
"""Fewest letters of a word that gets an error."""
_TYPED = 0.6
"""Share of the last word that has been typed."""


def spoiled(queries: Sequence[LabelledQuery], folder: Path) -> list[LabelledQuery]:
    """Return each question unchanged, with an error, and half typed; words are counted in the notes of `folder`.

    Questions without a word that can be spoiled in both ways are left out.
    """
    counts: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.md")):
        counts.update({word.lower() for word in _WORD.findall(path.read_text("utf-8"))})
    return [variant for of in queries for variant in _variants(of, counts)]


def _variants(of: LabelledQuery, counts: Counter[str]) -> Iterator[LabelledQuery]:
    mistyped, begun = with_error(of.text, counts), half_typed(of.text)
    if mistyped and begun:
        for text, kind in zip((of.text, mistyped, begun), KINDS, strict=True):
            yield LabelledQuery(text, kind, of.gains)


def with_error(question: str, counts: Counter[str]) -> str:
    """Return the question with one letter of its rarest known word omitted, added, replaced or swapped with the next.

    A hash of the question chooses the letter and the kind of error. Empty if there is no such word.
    """
    words = [word for word in _WORD.finditer(question) if len(word[0]) >= _MIN and counts[word[0].lower()]]
    if not words:
        return ""
    rarest = min(words, key=lambda word: counts[word[0].lower()])
    what, where, instead = hashlib.sha256(question.encode()).digest()[1:4]
    word, letter = rarest[0], string.ascii_lowercase[instead % 26]
    at = where % (len(word) - 1)
    typed = (
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    )
    changed = [text for text in (typed[what % 4], *typed) if text.lower() != word.lower()]
    return question[: rarest.start()] + changed[0] + question[rarest.end() :]


def half_typed(question: str) -> str:
    """Return the question up to the middle of its last word, function words aside; "" if that word is short."""
    terms = [term for term in analyse_query(question).terms if not term.stop]
    last = max(terms, key=lambda term: term.start, default=None)
    if last is None or len(last.surface) < _MIN or not _WORD.fullmatch(last.surface):
        return ""
    return question[: last.start + int(_TYPED * len(last.surface))]
