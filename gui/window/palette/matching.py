"""How well what was typed fits the words of a command. Pure functions."""

from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

_WHOLE_BEGINNING, _BEGINNING, _INITIALS, _INSIDE = 100.0, 80.0, 60.0, 50.0
SCATTERED = 20.0
"""What letters are worth at most that stand neither together nor at the beginnings of words."""


class Fit(NamedTuple):
    score: float
    """The larger, the better; 0 for a question without letters, which everything fits."""
    marks: tuple[tuple[int, int], ...]
    """Ranges of characters in `words` that were found, apart and in order."""


def fit(asked: str, words: str, beside: str = "") -> Fit | None:
    """Each word of `asked` is found in `words`, or else in what stands `beside` them; None where one is not.

    Found is: the beginning of a word, a part of one, the initials of words, or letters in their order of which the
    first begins a word.
    """
    score = 0.0
    found: set[int] = set()
    parts = asked.casefold().split()
    for part in parts:
        letters = _find(part, _folded(words))
        if letters is not None:
            score += letters[0]
            found.update(letters[1])
            continue
        elsewhere = _find(part, _folded(beside))
        if elsewhere is None:
            return None
        score += elsewhere[0] / 2
    return Fit(score / max(1, len(parts)), _ranges(found))


@lru_cache(maxsize=2048)
def _folded(words: str) -> str:
    """Letter for letter, so that places stay."""
    return "".join(folded if len(folded := letter.casefold()) == 1 else letter for letter in words)


def _find(part: str, words: str) -> tuple[float, range | list[int]] | None:
    begins = [place for place in range(len(words)) if words[place].isalnum() and not words[place - 1 : place].isalnum()]
    for place in begins:
        if words.startswith(part, place):
            best = _WHOLE_BEGINNING if place == 0 else _BEGINNING
            return best - place / 10, range(place, place + len(part))
    initials = _in_order(part, words, begins)
    if initials is not None and len(part) > 1:
        return _INITIALS - initials[-1] / 10, initials
    inside = words.find(part)
    if inside >= 0:
        return _INSIDE / (1 + inside / 50), range(inside, inside + len(part))
    for place in begins:
        if words[place] == part[0]:
            scattered = _in_order(part, words, range(place, len(words)))
            if scattered is not None:
                gaps = scattered[-1] - scattered[0] + 1 - len(part)
                return SCATTERED / (1 + gaps / 10), scattered
    return None


def _in_order(part: str, words: str, places: "range | list[int]") -> list[int] | None:
    """The first of `places` at which the letters of `part` stand one after the other."""
    found = []
    rest = iter(places)
    for letter in part:
        place = next((place for place in rest if words[place] == letter), None)
        if place is None:
            return None
        found.append(place)
    return found


def _ranges(letters: set[int]) -> tuple[tuple[int, int], ...]:
    runs = groupby(enumerate(sorted(letters)), lambda pair: pair[1] - pair[0])
    together = [[place for _, place in run] for _, run in runs]
    return tuple((run[0], run[-1] + 1) for run in together)
