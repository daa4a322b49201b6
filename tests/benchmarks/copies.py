"""Notes with planted copies: those that a search for duplicates must find, and those it must not.

Kinds of copies of a note: word for word; with 1, 5 or 15 % of its words changed; with its paragraphs in another order;
and its longest paragraphs copied into another note as a log. A template occurs in some notes that have nothing else in
common.
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
"""Names of two notes -> the kind of copy."""


def plant(folder: Path, names: Sequence[str], words: Sequence[str], *, each: int, seed: int = 3) -> Planted:
    """Write `each` copies of every kind below `folder`, and return the planted pairs.

    Names are relative to the folder; edits insert words from `words`. `templated(names)` returns the notes with the
    template.
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
    """Return the notes that get the template."""
    return list(names[:: max(1, len(names) // _TEMPLATED)])[:_TEMPLATED]


def edited(text: str, share: float, words: Sequence[str], rng: random.Random) -> str:
    """Return the text with this share of its words replaced, omitted or followed by another word."""
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
