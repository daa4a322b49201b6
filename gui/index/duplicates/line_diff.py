"""Compares two texts line by line: equal, changed, moved, or in one of them only."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

RowKind = Literal["same", "changed", "left", "right", "moved"]
"""`left`, `right`: in one text alone; `moved`: in the other one as well, but elsewhere."""

Ranges = tuple[tuple[int, int], ...]
"""Half-open, in characters of the line."""

MOST_LINES = 1500
"""Of each text: more would take seconds, and is impractical to read side by side."""
LONGEST = 2000
"""Characters of a line that are compared and shown."""
_MOST_PAIRED = 900
"""Pairs of lines in one changed part that are compared to find out which belong together."""
_RELATED = 0.3
"""Share of words that two lines have in common, to be one line that was changed."""
_WORD = re.compile(r"\w+|[^\w\s]|\s+")


@dataclass(frozen=True)
class Side:
    """One line of one text."""

    number: int
    text: str
    marks: Ranges = ()
    """Parts missing from the other line."""


@dataclass(frozen=True)
class Row:
    kind: RowKind
    left: Side | None
    right: Side | None


@dataclass(frozen=True)
class Text:
    """Some lines of a file, and the number of the first."""

    first: int
    lines: tuple[str, ...]

    def side(self, place: int, marks: Ranges = ()) -> Side:
        return Side(self.first + place, self.lines[place], marks)


def beside_each_other(left: Text, right: Text, checkpoint: Callable[[], None] = lambda: None) -> list[Row]:
    """The rows for both texts, each of at most `MOST_LINES` lines of `LONGEST` characters.

    `checkpoint` is called now and then, and may raise.
    """
    keys = [[" ".join(line.split()) for line in text.lines] for text in (left, right)]
    matcher = SequenceMatcher(lambda key: not key, keys[0], keys[1], autojunk=False)
    rows: list[Row] = []
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        checkpoint()
        if tag == "equal":
            rows += [Row("same", left.side(i + step), right.side(j + step)) for step in range(i_end - i)]
        else:
            for one, other in _paired(left.lines[i:i_end], right.lines[j:j_end]):
                checkpoint()
                rows.append(_row(left, right, None if one is None else i + one, None if other is None else j + other))
    return _with_moved(rows)


def _row(left: Text, right: Text, i: int | None, j: int | None) -> Row:
    if i is None or j is None:
        side = left.side(i) if i is not None else None
        other = right.side(j) if j is not None else None
        return Row("left" if side is not None else "right", side, other)
    marks = _marks(left.lines[i], right.lines[j])
    return Row("changed" if any(marks) else "same", left.side(i, marks[0]), right.side(j, marks[1]))


def _paired(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Pairs of lines of a changed part, in order; None next to an unpaired line."""
    if len(left) * len(right) > _MOST_PAIRED:
        pairs: list[tuple[int, int]] = []
    else:
        pairs = _best(left, right)
    i = j = 0
    for one, other in [*pairs, (len(left), len(right))]:
        yield from ((place, None) for place in range(i, one))
        yield from ((None, place) for place in range(j, other))
        if one < len(left):
            yield one, other
        i, j = one + 1, other + 1


def _best(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs in order with the most words in common, by the table of all beginnings of both parts."""
    words = [[Counter(_words(line)) for line in lines] for lines in (left, right)]
    table = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    gains: dict[tuple[int, int], float] = {}
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            share = _share(words[0][i], words[1][j])
            gains[i, j] = share if share >= _RELATED else 0.0
            table[i][j] = max(table[i + 1][j], table[i][j + 1], table[i + 1][j + 1] + gains[i, j])
    pairs = []
    i = j = 0
    while i < len(left) and j < len(right):
        if gains[i, j] and table[i][j] == table[i + 1][j + 1] + gains[i, j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif table[i][j] == table[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _words(line: str) -> list[str]:
    return [word for word in _WORD.findall(line[:LONGEST]) if not word.isspace()]


def _share(one: Counter[str], other: Counter[str]) -> float:
    if not one and not other:
        return _RELATED  # empty lines belong together where nothing better does
    both = (one & other).total()
    return both / max(1, one.total() + other.total() - both)


def _marks(left: str, right: str) -> tuple[Ranges, Ranges]:
    """Where two lines differ, word by word."""
    parts = [_WORD.findall(line[:LONGEST]) for line in (left, right)]
    starts = [_starts(words) for words in parts]
    marks: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    matcher = SequenceMatcher(str.isspace, parts[0], parts[1], autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag != "equal":
            for number, span in enumerate(((i, i_end), (j, j_end))):
                first, last = span
                words = parts[number]
                while first < last and words[first].isspace():
                    first += 1
                while first < last and words[last - 1].isspace():
                    last -= 1
                if first < last:
                    marks[number].append((starts[number][first], starts[number][last]))
    return tuple(marks[0]), tuple(marks[1])


def _starts(words: Sequence[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _with_moved(rows: Sequence[Row]) -> list[Row]:
    """Lines that stand alone on both sides were moved; where a line is empty, nothing was."""
    alone: dict[RowKind, set[str]] = {"left": set(), "right": set()}
    for row in rows:
        side = row.left or row.right
        if row.kind in alone and side is not None and side.text.strip():
            alone[row.kind].add(" ".join(side.text.split()))
    both = alone["left"] & alone["right"]
    return [Row("moved", row.left, row.right) if _key(row) in both else row for row in rows]


def _key(row: Row) -> str | None:
    side = row.left or row.right
    return " ".join(side.text.split()) if row.kind in ("left", "right") and side is not None else None
