"""Writes notes to measure on: the same ones for the same seed, similar in form to real ones.

Word frequencies follow Zipf's law over a made-up vocabulary mixed with English function words; notes have front matter,
headings, lists, code and very different lengths. 10,000 notes make about 27 MB and 25,000 chunks.
"""

import random
from bisect import bisect
from itertools import accumulate
from pathlib import Path

_VOCABULARY = 30_000
_FUNCTION_WORDS = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from or".split()
)
_SYLLABLES = [consonant + vowel for consonant in "bcdfgklmnpr" for vowel in "aeio"]
_FOLDERS = ("daily", "projects", "people", "topics", "work/notes", "work/meetings", "archive/2024")


class Words:
    """Draws words by Zipf's law."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        # Sorted first: a set has another order in every process.
        made = sorted({"".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(2 * _VOCABULARY)})
        rng.shuffle(made)
        self.all = _FUNCTION_WORDS + made[:_VOCABULARY]
        self._cumulative = list(accumulate(1 / (rank + 8) for rank in range(len(self.all))))

    def draw(self, count: int) -> list[str]:
        top, pick = self._cumulative[-1], self._rng.random
        return [self.all[bisect(self._cumulative, pick() * top)] for _ in range(count)]

    def question(self) -> str:
        """Return a query of five words of medium frequency."""
        return " ".join(self.all[int(50 * (len(self.all) / 50) ** self._rng.random())] for _ in range(5))


def write_notes(folder: Path, count: int, seed: int = 1) -> Words:
    """Write `count` notes below `folder`, and return the source of their words, to make queries from."""
    rng = random.Random(seed)
    words = Words(rng)
    for name in _FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = folder / _FOLDERS[number % len(_FOLDERS)] / f"note-{number:06}.md"
        path.write_text(_note(rng, words, number), "utf-8")
    return words


def _note(rng: random.Random, words: Words, number: int) -> str:
    title = " ".join(words.draw(4)).capitalize()
    parts = [f"---\ntags: [{', '.join(words.draw(2))}]\n---\n" if number % 5 == 0 else "", f"# {title}\n"]
    for _ in range(max(1, int(rng.lognormvariate(1.1, 0.7)))):
        parts.append(f"\n## {' '.join(words.draw(3)).capitalize()}\n")
        parts += [_block(rng, words) for _ in range(rng.randint(1, 5))]
    return "".join(parts)


def _block(rng: random.Random, words: Words) -> str:
    kind = rng.random()
    if kind < 0.15:
        return "\n" + "".join(f"- {' '.join(words.draw(rng.randint(3, 12)))}\n" for _ in range(rng.randint(2, 7)))
    if kind < 0.22:
        body = "".join(f"    {a}_{b} = {c}({a})\n" for a, b, c in (words.draw(3) for _ in range(rng.randint(2, 8))))
        return f"\n```python\n{body}```\n"
    sentences = [" ".join(words.draw(rng.randint(6, 18))).capitalize() + "." for _ in range(rng.randint(1, 5))]
    return "\n" + " ".join(sentences) + "\n"
