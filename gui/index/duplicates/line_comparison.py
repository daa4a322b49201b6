"""Compares two texts line by line: equal, changed, moved, wrapped in another way, or in one of them only."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import Literal

RowKind = Literal["same", "changed", "left", "right", "moved", "wrapped"]
"""`left`, `right`: in one text only; `moved`: in both, at different positions; `wrapped`: in both, in other lines."""

Ranges = tuple[tuple[int, int], ...]
"""Half-open ranges, in characters of the line."""

MOST_LINES = 1500
"""Most lines of each text: more would take seconds, and is impractical to read side by side."""
LONGEST = 2000
"""Most characters of a line that are compared and shown."""
_MOST_PAIRED = 900
"""Most pairs of lines in one changed part that are compared to match lines."""
_MOST_WORDS = 6_000
"""Most words of one changed part that are compared whatever the lines."""
_MOST_STEPS = 8_000_000
"""Most steps to match two sequences, about half a second."""
_FEWEST_IN_ROW = 3
_FEWEST_IN_LINES = 6
_RELATED = 0.3
"""Least share of common words for two lines to count as one changed line."""
_WORD = re.compile(r"\w+|[^\w\s]|\s+")

Pairs = list[tuple[int, int]]
_OtherWords = tuple[list[Ranges], list[Ranges], Pairs]


@dataclass(frozen=True)
class Side:
    """One line of one of the two texts, or a part of one."""

    number: int
    """Line number; 0 for a part that continues the line above."""
    text: str
    marks: Ranges = ()
    """Parts missing from the other line."""


@dataclass(frozen=True)
class Row:
    kind: RowKind
    left: Side | None
    right: Side | None

    @property
    def differs(self) -> bool:
        """Whether the two texts differ in this row, other than by where their lines are broken."""
        marks = any(side.marks for side in (self.left, self.right) if side is not None)
        return marks or self.kind not in ("same", "wrapped")


@dataclass(frozen=True)
class Text:
    """Lines of a file, with the line number of the first."""

    first: int
    lines: tuple[str, ...]

    def side(self, index: int, marks: Ranges = ()) -> Side:
        return Side(self.first + index, self.lines[index], marks)


def side_by_side_rows(left: Text, right: Text, checkpoint: Callable[[], None] = lambda: None) -> list[Row]:
    """Return the rows that compare two texts of at most `MOST_LINES` lines of `LONGEST` characters.

    `checkpoint` is called now and then, and may raise to cancel."""
    keys = [[" ".join(line.split()) for line in text.lines] for text in (left, right)]
    blocks = _matching_blocks(keys[0], keys[1], checkpoint)
    words = [[len(_words(line)) for line in text.lines] for text in (left, right)]
    if max(map(sum, words)) <= _MOST_WORDS:
        # Different paragraphs may share a short line, such as the end of a wrapped one.
        blocks = [b for b in blocks if not b.size or sum(words[0][b.a : b.a + b.size]) >= _FEWEST_IN_LINES]
    rows: list[Row] = []
    i = j = 0
    for block in blocks:
        lines = left.lines[i : block.a], right.lines[j : block.b]
        other_words = _other_words(*lines, checkpoint)
        for one, other in _paired(*lines, [] if other_words is None else other_words[2]):
            checkpoint()
            row = _row(left, right, None if one is None else i + one, None if other is None else j + other)
            rows.append(row if other_words is None else _without_wrapping(row, one, other, other_words))
        i, j = block.a + block.size, block.b + block.size
        rows += [Row("same", left.side(i - step), right.side(j - step)) for step in range(block.size, 0, -1)]
    return _divided(_with_moved(rows), checkpoint)


def _row(left: Text, right: Text, i: int | None, j: int | None) -> Row:
    if i is None or j is None:
        side, other = left.side(i) if i is not None else None, right.side(j) if j is not None else None
        return Row("left" if side is not None else "right", side, other)
    marks = _marks(left.lines[i], right.lines[j])
    return Row("changed" if any(marks) else "same", left.side(i, marks[0]), right.side(j, marks[1]))


class _Matcher(SequenceMatcher[str]):
    """Raises `OverflowError` after too many steps: if items are repeated, they grow with the cube of the length."""

    a: Sequence[str]
    b2j: dict[str, list[int]]
    checkpoint: Callable[[], None]
    steps = 0

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self.checkpoint()
        self.steps += sum(len(self.b2j.get(item, ())) for item in self.a[alo:ahi])
        if self.steps > _MOST_STEPS:
            raise OverflowError
        return super().find_longest_match(alo, ahi, blo, bhi)


def _matching_blocks(left: Sequence[str], right: Sequence[str], checkpoint: Callable[[], None]) -> list[Match]:
    """Match lines or words; those that are repeated too often match only next to others, or nothing does."""
    for autojunk in (False, True):
        matcher = _Matcher(lambda item: not item, left, right, autojunk)
        matcher.checkpoint = checkpoint
        with suppress(OverflowError):
            return matcher.get_matching_blocks()
    return [Match(len(left), len(right), 0)]


def _other_words(left: Sequence[str], right: Sequence[str], checkpoint: Callable[[], None]) -> _OtherWords | None:
    """Return the ranges of words, by line, that only one of the texts `left` and `right` contains, and lines to pair.

    Line breaks don't matter. Matches of fewer than `_FEWEST_IN_ROW` words count as chance. None if the texts are too
    long to compare by words.
    """
    parts = [
        [(at, word) for at, line in enumerate(lines) for word in _WORD.finditer(line[:LONGEST]) if word[0].strip()]
        for lines in (left, right)
    ]
    if not all(parts) or max(map(len, parts)) > _MOST_WORDS:
        return None
    texts = [[word[0] for _, word in words] for words in parts]
    kept: tuple[set[int], set[int]] = (set(), set())
    pairs: Pairs = []
    for block in _matching_blocks(texts[0], texts[1], checkpoint):
        if block.size >= min(_FEWEST_IN_ROW, *map(len, texts)):
            kept[0].update(range(block.a, block.a + block.size))
            kept[1].update(range(block.b, block.b + block.size))
            for step in range(block.size):
                one, other = parts[0][block.a + step][0], parts[1][block.b + step][0]
                if not pairs or (one > pairs[-1][0] and other > pairs[-1][1]):
                    pairs.append((one, other))
    marks: tuple[list[Ranges], list[Ranges]] = ([() for _ in left], [() for _ in right])
    for side, words in enumerate(parts):
        for number, (index, word) in enumerate(words):
            if number not in kept[side]:
                known = marks[side][index]
                joined = bool(known) and number - 1 not in kept[side]
                start = known[-1][0] if joined else word.start()
                marks[side][index] = (*(known[:-1] if joined else known), (start, word.end()))
    return *marks, pairs


def _without_wrapping(row: Row, one: int | None, other: int | None, others: _OtherWords) -> Row:
    """Return the row without highlights on words that the other text has too, but on another line."""
    if row.left is not None and row.right is not None and one is not None and other is not None:
        left = _in_both(row.left.marks, others[0][one])
        right = _in_both(row.right.marks, others[1][other])
        kind: RowKind = "changed" if left or right else "same"
        return Row(kind, replace(row.left, marks=left), replace(row.right, marks=right))
    index, side = (one, row.left) if row.left is not None else (other, row.right)
    if index is None or side is None or not side.text.strip():
        return row
    marks = (others[0] if row.left is not None else others[1])[index]
    if 2 * sum(end - start for start, end in marks) >= len(side.text.strip()):
        return row
    side = replace(side, marks=marks)
    return Row("wrapped", side if row.left else None, side if row.right else None)


def _in_both(one: Ranges, other: Ranges) -> Ranges:
    both = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return tuple((start, end) for start, end in both if start < end)


def _paired(left: Sequence[str], right: Sequence[str], aligned: Pairs) -> Iterator[tuple[int | None, int | None]]:
    """Yield pairs of line numbers of a changed part in order, `aligned` ones among them; None for a missing line."""
    i = j = 0
    for one, other in [*aligned, (len(left), len(right))]:
        between = [] if (one - i) * (other - j) > _MOST_PAIRED else _best(left[i:one], right[j:other])
        for a, b in [*((i + a, j + b) for a, b in between), (one, other)]:
            yield from ((index, None) for index in range(i, a))
            yield from ((None, index) for index in range(j, b))
            if a < len(left):
                yield a, b
            i, j = a + 1, b + 1


def _best(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return the ordered pairs of line numbers with the most words in common, by dynamic programming."""
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
        return _RELATED  # empty lines are paired only if nothing better is
    both = (one & other).total()
    return both / max(1, one.total() + other.total() - both)


def _marks(left: str, right: str) -> tuple[Ranges, Ranges]:
    """Return the ranges in which two lines differ, word by word."""
    parts = [_WORD.findall(line[:LONGEST]) for line in (left, right)]
    starts = [list(accumulate(map(len, words), initial=0)) for words in parts]
    marks: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for tag, i, i_end, j, j_end in SequenceMatcher(str.isspace, parts[0], parts[1], autojunk=False).get_opcodes():
        if tag != "equal":
            for number, span in enumerate(((i, i_end), (j, j_end))):
                words = [index for index in range(*span) if not parts[number][index].isspace()]
                if words:
                    marks[number].append((starts[number][words[0]], starts[number][words[-1] + 1]))
    return tuple(marks[0]), tuple(marks[1])


def _with_moved(rows: Sequence[Row]) -> list[Row]:
    """Mark unpaired lines that occur on both sides as moved, except empty ones."""
    alone: dict[RowKind, set[str]] = {"left": set(), "right": set()}
    for row in rows:
        if key := _key(row):
            alone[row.kind].add(key)
    both = alone["left"] & alone["right"]
    return [Row("moved", row.left, row.right) if _key(row) in both else row for row in rows]


def _key(row: Row) -> str | None:
    side = row.left or row.right
    return " ".join(side.text.split()) if row.kind in ("left", "right") and side is not None else None


def _divided(rows: Sequence[Row], checkpoint: Callable[[], None]) -> list[Row]:
    """Divide a line that the other text has as several ones, so that each part is next to its words there."""
    result: list[Row] = []
    while len(result) < len(rows):
        start = len(result)
        row, below = rows[start], rows[start + 1] if start + 1 < len(rows) else None
        if row.left is None or row.right is None or below is None or below.kind != "wrapped":
            result.append(row)
            continue
        at_left = below.left is None
        end = start + 1
        while end < len(rows) and rows[end].kind == "wrapped" and (rows[end].left is None) == at_left:
            end += 1
        others = [one.right if at_left else one.left for one in rows[start:end]]
        texts = [other.text for other in others if other is not None]
        for part, other in zip(_parts(row.left if at_left else row.right, texts, checkpoint), others, strict=True):
            left, right = (part, other) if at_left else (other, part)
            kind = row.kind if len(result) == start else "wrapped"
            marks = any(side.marks for side in (left, right) if side is not None)
            result.append(Row("same" if kind == "changed" and not marks else kind, left, right))
    return result


def _parts(line: Side, others: Sequence[str], checkpoint: Callable[[], None]) -> Iterator[Side | None]:
    """Yield the part of a line next to each of the lines `others`; None if the part above has its words, too."""
    words = [word for word in _WORD.finditer(line.text[:LONGEST]) if word[0].strip()]
    other_words = [(number, word) for number, text in enumerate(others) for word in _words(text)]
    starts: list[int | None] = [0, *(None for _ in others[1:])]
    for block in _matching_blocks([word[0] for word in words], [word for _, word in other_words], checkpoint):
        for step in range(block.size):
            number = other_words[block.b + step][0]
            if starts[number] is None:
                starts[number] = words[block.a + step].start()
    ends = [start for start in (*starts[1:], len(line.text)) if start is not None]
    for number, start in enumerate(starts):
        if start is None:
            yield None
            continue
        end = ends.pop(0)
        inside = ((max(a, start) - start, min(b, end) - start) for a, b in line.marks if a < end and b > start)
        yield Side(0 if number else line.number, line.text[start:end], tuple(inside))
