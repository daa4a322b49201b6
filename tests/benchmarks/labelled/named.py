"""Queries on third-party documentation, with the notes that answer them, in two halves.

Most are written by a reader who knows the subject, but not the text (`names/*.toml`). The kinds "rare" and "pair" are
made from the notes: a word that occurs in one note only, and two words of a paragraph that occur together in one note
only.
"""

import hashlib
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from tests.benchmarks.labelled.documentation import write_collection
from tests.benchmarks.labelled.labelled_query import LabelledQuery
from tests.benchmarks.labelled.labelled_sets import LabelledSet
from tests.benchmarks.labelled.planted import second_half

KINDS = {
    "filler": "filler words",
    "title": "title in a question",
    "word": "one word",
    "typo": "two words, mostly with a typing error",
    "rare": "word of one note",
    "pair": "pair of one note",
}
Half = Literal["tuning", "unseen"]

_GENERATED = 60
"""Number of generated words, and of generated pairs, per collection; half of them are in each half."""
_MIN = 5
_WORD = re.compile(r"\b[a-z]{5,15}\b")
_PAIR_MOST = 20
"""Most notes that contain each word of a pair."""


def write_named(name: str, half: Half, cache: Path, folder: Path) -> LabelledSet:
    """Write the notes below a folder; the queries are those of one half."""
    notes = folder / "notes"
    write_collection(name, cache, notes)
    read = tomllib.loads(Path(__file__).with_name("names").joinpath(f"{name}.toml").read_text("utf-8"))
    off_topic = read.pop("off-topic")["questions"]
    queries = [
        LabelledQuery(text, kind, {f"{note}.md": gain for note, gain in gains.items()})
        for kind, queries in read.items()
        for text, gains in queries.items()
    ]
    texts = {path.relative_to(notes).as_posix(): path.read_text("utf-8") for path in sorted(notes.rglob("*.md"))}
    if missing := {note for of in queries for note in of.gains} - set(texts):
        raise SystemExit(f"Collection {name} has no note {', '.join(sorted(missing))}.")
    for kind, found in (("rare", rare_words(texts, _GENERATED)), ("pair", rare_pairs(texts, _GENERATED))):
        queries += [LabelledQuery(text, kind, {note: 2}) for text, note in found.items()]
    wanted = half == "unseen"
    return LabelledSet(
        [of for of in queries if of.second_half == wanted],
        {"en": [text for text in off_topic if second_half(text) == wanted]},
        lambda path, _first, _last: (path,),
    )


def rare_words(texts: dict[str, str], count: int) -> dict[str, str]:
    """Return words that occur in a single note, in no other form elsewhere, with the name of the note."""
    occurring = _notes_by_word(texts)
    rare = {word: next(iter(names)) for word, names in occurring.items() if len(names) == 1}
    folded = {name: text.lower() for name, text in texts.items()}
    return _sample(rare, count, lambda word: _notes_with(folded, word) == {rare[word]})


def rare_pairs(texts: dict[str, str], count: int, *, least: int = 3, apart: int = 1) -> dict[str, str]:
    """Return pairs of words of one paragraph that occur together in a single note, with the name of the note.

    Each word is in at least `least` notes, but not in many; `apart` is the largest distance of the two, counted in such
    words.
    """
    occurring = _notes_by_word(texts)
    pairs: dict[str, str] = {}
    for name, text in texts.items():
        for paragraph in text.split("\n\n"):
            few = [word for word in _words(paragraph) if least <= len(occurring[word]) <= _PAIR_MOST]
            for distance in range(1, apart + 1):
                for one, other in zip(few, few[distance:], strict=False):
                    if one != other and occurring[one] & occurring[other] == {name}:
                        pairs[f"{one} {other}"] = name
    folded = {name: text.lower() for name, text in texts.items()}
    return _sample(pairs, count, lambda pair: _notes_with(folded, *pair.split()) == {pairs[pair]})


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _notes_by_word(texts: dict[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for name, text in texts.items():
        for word in _words(text):
            found[word].add(name)
    return found


def _notes_with(folded: dict[str, str], *words: str) -> set[str]:
    """Return the notes that contain each of the words in any form, which is compared by its first letters."""
    starts = [word[: max(_MIN, len(word) - 3)] for word in words]
    return {name for name, text in folded.items() if all(start in text for start in starts)}


def _sample(candidates: dict[str, str], count: int, fits: Callable[[str], bool]) -> dict[str, str]:
    """Return the same candidates in every run, in an order that doesn't depend on the text."""
    ordered = sorted(candidates, key=lambda text: hashlib.sha256(text.encode()).digest())
    return {text: candidates[text] for text in islice(filter(fits, ordered), count)}


def names_of_collections() -> Sequence[str]:
    return sorted(path.stem for path in Path(__file__).with_name("names").glob("*.toml"))
