"""Number of words and pairs of a single note that are not found at the usual score, for notes of different lengths.

A word occurs in no other note in any form; the two words of a pair occur in one paragraph and together in no other
note. A query is lost if no result is from that note, though all results are requested. Front matter is left out: its
keys and most of its values are not searched.
"""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.backends.builtin import BuiltinMemory
from tests.benchmarks.labelled.haystack import write_docstrings
from tests.benchmarks.labelled.labelled_sets import open_set
from tests.benchmarks.labelled.named import rare_pairs, rare_words
from tests.benchmarks.measuring import ROOT, Figure, measure
from tests.benchmarks.prepared import Bench
from tests.benchmarks.rows.facts import sentences

_WORDS, _PAIRS = 300, 244
_DAILIES = 300
_ALL = 500
"""Maximum number of results, more than match."""
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_MODES = {"keyword": "keywords", "auto": "keywords and vectors"}
_WHERE = ("at home", "in the garden", "at work", "in town", "on the train", "with Anna", "with Tom", "alone")
_DONE = ("Slept well", "Read a little", "Went for a walk", "Cooked soup", "Fixed the bike", "Called the bank")
_LATER = ("rain all day", "early to bed", "tired but fine", "a good evening", "nothing else", "windy and cold")


def run(bench: Bench) -> Iterator[Figure]:
    for number, name in enumerate(_CORPORA):
        folder = bench.scratch / f"lost-{number}"
        lost, words, pairs, notes = measure(_lost, name, folder).value
        for mode, search in _MODES.items():
            of_words, of_pairs = lost[mode]
            yield Figure(
                f"{name}, {notes:,} notes: queries that only one note answers, lost by {search}",
                "none",
                f"words {of_words} of {words}, pairs {of_pairs} of {pairs}",
            )


def _lost(name: str, folder: Path) -> tuple[dict[str, tuple[int, int]], int, int, int]:
    """Return the lost words and pairs by mode, then the numbers of words, pairs and notes; runs in a child process."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    _CORPORA[name](notes)
    files = {path.relative_to(notes).as_posix(): path.read_text("utf-8") for path in sorted(notes.rglob("*.md"))}
    texts = {name: _FRONT_MATTER.sub("", text) for name, text in files.items()}
    words, pairs = rare_words(texts, _WORDS), rare_pairs(texts, _PAIRS, least=1, apart=20)
    memory = open_set(folder)
    lost = {mode: (_count(memory, mode, words), _count(memory, mode, pairs)) for mode in _MODES}
    memory.close()
    return lost, len(words), len(pairs), len(texts)


def _count(memory: BuiltinMemory, mode: str, notes: dict[str, str]) -> int:
    def found(query: str) -> set[str]:
        outcome = memory.search(query, mode=mode, max_results=_ALL)  # type: ignore[arg-type]
        return {result.path for result in outcome.results}

    return sum(note not in found(query) for query, note in notes.items())


def _write_sample(folder: Path) -> None:
    sample = ROOT / "resources" / "sample"
    for path in sorted(sample.rglob("*.md")):
        _write(folder / "sample" / path.relative_to(sample), path.read_text("utf-8"))


def _write_dailies(folder: Path) -> None:
    """Write notes of two short lines each."""
    rng = random.Random(1)
    for day in range(_DAILIES):
        text = f"{rng.choice(_DONE)} {rng.choice(_WHERE)}.\n{rng.choice(_LATER).capitalize()}.\n"
        _write(folder / "dailies" / f"day-{day:03}.md", text)


def _write_lines(folder: Path) -> None:
    """Write a note for each sentence of the sample notes."""
    for number, sentence in enumerate(sentences()):
        _write(folder / "lines" / f"line-{number:04}.md", f"{sentence}\n")


def _write_paragraphs(folder: Path) -> None:
    """Write notes of one long paragraph: the sentences of the sample notes, 20 at a time."""
    listed = sentences()
    for number in range(0, len(listed), 20):
        _write(folder / "long" / f"paragraph-{number:04}.md", " ".join(listed[number : number + 20]) + "\n")


def _write_one_line_dailies(folder: Path) -> None:
    for day in range(_DAILIES):
        _write(folder / "dailies" / f"day-{day:03}.md", f"{_DONE[day % len(_DONE)]}.\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _several(*writers: Callable[[Path], object]) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for writer in writers:
            writer(folder)

    return write


_CORPORA: dict[str, Callable[[Path], object]] = {
    "sample notes": _write_sample,
    "sample notes and 300 dailies of two lines": _several(_write_sample, _write_dailies),
    "notes of one line": _write_lines,
    "long paragraphs among 300 dailies of one line": _several(_write_paragraphs, _write_one_line_dailies),
    "long notes among 300 dailies of two lines": _several(_write_dailies, write_docstrings),
    "long notes": write_docstrings,
}
