"""Converts words between simplified and traditional Chinese."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import islice, product

_MAX_SPELLINGS = 4
_LONGEST = 4
_UNCHANGED = 0.5
"""Rank of a character that traditional texts also use: many write 後台 for 後臺."""


def other_spellings(word: str) -> Iterator[str]:
    """Yield at most four spellings of a word in the other script, the likeliest first.

    Yields nothing for a word with only one spelling, or of more than four characters.
    """
    simplified, traditional = _tables()
    base = word.translate(simplified)
    choices = []
    for character in base[:_LONGEST]:
        forms = enumerate(traditional.get(character, character))
        choices.append([(_UNCHANGED if form == character else rank, form) for rank, form in forms])
    ranked = sorted(product(*choices), key=lambda chosen: sum(rank for rank, _ in chosen))
    spellings = dict.fromkeys((base, *("".join(form for _, form in chosen) for chosen in ranked)))
    spellings.pop(word, None)
    return islice(spellings, _MAX_SPELLINGS if len(word) <= _LONGEST else 0)


@cache
def _tables() -> tuple[dict[int, str], dict[str, str]]:
    """Return two tables: from traditional to simplified characters, and from simplified ones to all their traditional
    forms.
    """
    lines = files("resources").joinpath("chinese_characters.txt").read_text("utf-8").splitlines()
    traditional = {entry[0]: entry[1:] for line in lines if line[0] != "#" for entry in line.split()}
    simplified = {ord(form): simple for simple, forms in traditional.items() for form in forms}
    # A character that is simplified from one and is the traditional form of another stays unchanged.
    return {form: simple for form, simple in simplified.items() if chr(form) not in traditional}, traditional
