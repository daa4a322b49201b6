"""Notes with planted copies: those that a search for duplicates must find, and those it must not.

Kinds of copies of a note: word for word, with 1, 5 or 15 % of its words changed, with its paragraphs in another order,
and its longest paragraphs as a log that was copied into another note. A template occurs in some notes that have nothing
else in common.
"""

import random
from collections.abc import Sequence
from pathlib import Path

KINDS = ("same", "edited-1", "edited-5", "edited-15", "reordered", "copied-log")
_TEMPLATED = 40
_TEMPLATE = (
    "## Before you leave\nClose the windows on the north side, switch the boiler to frost protection, write the meter\n"
    "reading into the book on the shelf, and leave the spare key with the neighbour across the yard.\n"
)

Planted = dict[frozenset[str], str]
"""Two names of notes -> the kind of copy."""


def plant(folder: Path, names: Sequence[str], words: Sequence[str], *, each: int, seed: int = 3) -> Planted:
    """Write `each` copies of every kind below `folder`; names are relative to it, `words` are what edits put in.

    Returns the planted pairs; the notes of the template are `templated(names)`.
    """
    rng = random.Random(seed)
    chosen = [name for name in rng.sample(list(names), len(names)) if _long(folder / name)]
    planted: Planted = {}
    for number, kind in enumerate(kind for kind in KINDS for _ in range(each)):
        name, host = chosen[2 * number], chosen[2 * number + 1]
        text = (folder / name).read_text("utf-8")
        copy = f"copies/{kind}-{number}.md"
        if kind == "copied-log":
            copy = host
            paragraphs = sorted(text.split("\n\n"), key=len)[-3:]
            text = (folder / host).read_text("utf-8") + "\n## Log\n\n" + "\n\n".join(paragraphs) + "\n"
        elif kind == "reordered":
            parts = text.split("\n\n")
            rng.shuffle(parts)
            text = "\n\n".join(parts)
        elif kind.startswith("edited"):
            text = edited(text, int(kind.removeprefix("edited-")) / 100, words, rng)
        (folder / copy).parent.mkdir(exist_ok=True)
        (folder / copy).write_text(text, "utf-8")
        planted[frozenset((name, copy))] = kind
    for name in templated(names):
        with (folder / name).open("a", encoding="utf-8") as note:
            note.write("\n" + _TEMPLATE)
    return planted


def templated(names: Sequence[str]) -> list[str]:
    """The notes that get the template."""
    return list(names[:: max(1, len(names) // _TEMPLATED)])[:_TEMPLATED]


def edited(text: str, share: float, words: Sequence[str], rng: random.Random) -> str:
    """`text` with so many of its words replaced, left out or doubled by another one."""
    lines = []
    for line in text.split("\n"):
        parts = []
        for part in line.split(" "):
            if part.strip("#-") and rng.random() < share:
                parts += rng.choice(([rng.choice(words)], [], [part, rng.choice(words)]))
            else:
                parts.append(part)
        lines.append(" ".join(parts))
    return "\n".join(lines)


def _long(path: Path) -> bool:
    return len(path.read_text("utf-8").split()) >= 100
