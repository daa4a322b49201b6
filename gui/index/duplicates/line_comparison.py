"""Compares two texts line by line: equal, changed, moved, wrapped in another way, or in one of them only."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import Match, SequenceMatcher
from typing import Literal, NamedTuple

RowKind = Literal["same", "changed", "left", "right", "moved", "wrapped"]
"""`left`, `right`: in one text only; `moved`: in both, at different positions; `wrapped`: in both, in other lines."""

Ranges = tuple[tuple[int, int], ...]
"""Half-open ranges, in characters of the line."""

MAX_LINES = 1500
"""Maximum number of lines of each text: more would take seconds, and is impractical to read side by side."""
LONGEST = 2000
"""Maximum number of characters of a line that are compared and shown."""
_MAX_PAIRED = 900
"""Maximum number of pairs of lines in one changed part that are compared to match lines."""
_MAX_WORDS = 6_000
"""Maximum number of words of one changed part that are compared whatever the lines."""
_MAX_STEPS = 8_000_000
"""Maximum number of steps to match two sequences, about half a second."""
_MIN_IN_ROW = 3
_MIN_IN_LINES = 6
_RELATED = 0.3
"""Least share of common words for two lines to count as one changed line."""
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u3007\u3041-\u30ff\uff66-\uff9f"  # Kana
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Scripts without spaces between words: each character counts as a word."""
_SIGNS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u3099\u309a\uff9e\uff9f\ufe00-\ufe0f\U000e0100-\U000e01ef"
)
"""Their vowel signs, tone marks and variation selectors, which belong to the preceding character."""
_WORD = re.compile(rf"[{_UNSPACED}][{_SIGNS}]*|[^\W{_UNSPACED}]+|[^\w\s]")

Pairs = list[tuple[int, int]]


class _Word(NamedTuple):
    """One word of a line that may be in one text only."""

    gap: int
    """Number of the part between two matches of the texts; only words of the same part can be equal."""
    text: str
    start: int
    end: int
    number: int
    """Position among the words of the line."""


class _Unmatched(NamedTuple):
    """Words in one text only, wherever its lines are broken, unless they are in both lines of a pair."""

    left: list[list[_Word]]
    """By line."""
    right: list[list[_Word]]
    pairs: Pairs
    """Lines with the same words."""


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
    """`changed` if words are marked."""
    left: Side | None
    right: Side | None

    @property
    def differs(self) -> bool:
        """Whether the two texts differ in this row, other than by where their lines are broken."""
        return self.kind not in ("same", "wrapped")


@dataclass(frozen=True)
class Text:
    """Lines of a file, with the line number of the first."""

    first: int
    lines: tuple[str, ...]

    def side(self, index: int) -> Side:
        """Return one side of a row: the line at `index` with its number in the file."""
        return Side(self.first + index, self.lines[index])


def side_by_side_rows(left: Text, right: Text, checkpoint: Callable[[], None] = lambda: None) -> list[Row]:
    """Return the rows that compare two texts of at most `MAX_LINES` lines of `LONGEST` characters.

    `checkpoint` is called now and then, and may raise to cancel."""
    keys = [[" ".join(line.split()) for line in text.lines] for text in (left, right)]
    blocks = _matching_blocks(keys[0], keys[1], checkpoint)
    words = [[len(_words(line)) for line in text.lines] for text in (left, right)]
    if max(map(sum, words)) <= _MAX_WORDS:
        # Different paragraphs may share a short line, such as the end of a wrapped one.
        blocks = [b for b in blocks if not b.size or sum(words[0][b.a : b.a + b.size]) >= _MIN_IN_LINES]
    rows: list[Row] = []
    i = j = 0
    for block in blocks:
        lines = left.lines[i : block.a], right.lines[j : block.b]
        unmatched = _unmatched(*lines, checkpoint)
        for one, other in _paired(*lines, unmatched.pairs):
            checkpoint()
            rows.append(
                _row(
                    None if one is None else (left.side(i + one), unmatched.left[one]),
                    None if other is None else (right.side(j + other), unmatched.right[other]),
                    checkpoint,
                )
            )
        i, j = block.a + block.size, block.b + block.size
        rows += [Row("same", left.side(i - step), right.side(j - step)) for step in range(block.size, 0, -1)]
    return _divided(_with_moved(rows), checkpoint)


def _row(
    left: tuple[Side, list[_Word]] | None, right: tuple[Side, list[_Word]] | None, checkpoint: Callable[[], None]
) -> Row:
    """Compare two lines, each given with its words outside the parts that both texts share."""
    if left is not None and right is not None:
        marks = _marks(left[1], right[1], checkpoint)
        kind: RowKind = "changed" if any(marks) else "same"
        return Row(kind, replace(left[0], marks=marks[0]), replace(right[0], marks=marks[1]))
    alone = left or right
    assert alone is not None
    side, words = alone
    compared = len(side.text[:LONGEST].strip())
    ranges = _ranges(words)
    if 2 * sum(end - start for start, end in ranges) >= compared:
        return Row("left" if left else "right", side if left else None, side if right else None)
    side = replace(side, marks=ranges)
    return Row("wrapped", side if left else None, side if right else None)


class _Matcher(SequenceMatcher[str]):
    """Raises `OverflowError` after too many steps: if items are repeated, they grow with the cube of the length."""

    a: Sequence[str]
    b2j: dict[str, list[int]]
    checkpoint: Callable[[], None]
    steps = 0

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self.checkpoint()
        self.steps += sum(len(self.b2j.get(item, ())) for item in self.a[alo:ahi])
        if self.steps > _MAX_STEPS:
            raise OverflowError
        return super().find_longest_match(alo, ahi, blo, bhi)


def _matching_blocks(left: Sequence[str], right: Sequence[str], checkpoint: Callable[[], None]) -> list[Match]:
    """Match lines or words; if that takes too many steps, frequent ones match only next to others, or none matches."""
    for autojunk in (False, True):
        matcher = _Matcher(lambda item: not item, left, right, autojunk)
        matcher.checkpoint = checkpoint
        with suppress(OverflowError):
            return matcher.get_matching_blocks()
    return [Match(len(left), len(right), 0)]


def _unmatched(left: Sequence[str], right: Sequence[str], checkpoint: Callable[[], None]) -> _Unmatched:
    """Match two texts word by word, whatever their lines. Matches of fewer than `_MIN_IN_ROW` words count as chance.

    Nothing matches if the texts are too long to compare by words.
    """
    parts = [[(at, word) for at, line in enumerate(lines) for word in _words_of(line)] for lines in (left, right)]
    texts = [[word.text for _, word in words] for words in parts]
    unmatched = _Unmatched([[] for _ in left], [[] for _ in right], [])
    blocks = [] if max(map(len, texts)) > _MAX_WORDS else _matching_blocks(texts[0], texts[1], checkpoint)
    least = max(1, min(_MIN_IN_ROW, *map(len, texts)))
    blocks = [block for block in blocks if block.size >= least]
    ends = [0, 0]
    common: Counter[tuple[int, int]] = Counter()
    """Number of common words by pair of lines, in the order of the texts."""
    for gap, block in enumerate([*blocks, Match(len(texts[0]), len(texts[1]), 0)]):
        for by_line, words, end, start in zip(unmatched[:2], parts, ends, (block.a, block.b), strict=True):
            for line, word in words[end:start]:
                by_line[line].append(word._replace(gap=gap))
        for step in range(block.size):
            common[parts[0][block.a + step][0], parts[1][block.b + step][0]] += 1
        ends = [block.a + block.size, block.b + block.size]
    sizes = [Counter(line for line, _ in words) for words in parts]
    for (one, other), count in common.items():
        # A match may end after the beginning that all items of a list have: such lines aren't a pair.
        related = count >= _RELATED * min(sizes[0][one], sizes[1][other])
        if related and (not unmatched.pairs or (one > unmatched.pairs[-1][0] and other > unmatched.pairs[-1][1])):
            unmatched.pairs.append((one, other))
    return unmatched


def _paired(left: Sequence[str], right: Sequence[str], aligned: Pairs) -> Iterator[tuple[int | None, int | None]]:
    """Yield pairs of line numbers of a changed part in order, `aligned` ones among them; None for a missing line."""
    i = j = 0
    for one, other in [*aligned, (len(left), len(right))]:
        between = [] if (one - i) * (other - j) > _MAX_PAIRED else _best(left[i:one], right[j:other])
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
    return _WORD.findall(line[:LONGEST])


def _words_of(line: str) -> list[_Word]:
    return [_Word(0, word[0], *word.span(), n) for n, word in enumerate(_WORD.finditer(line[:LONGEST]))]


def _share(one: Counter[str], other: Counter[str]) -> float:
    if not one and not other:
        return _RELATED  # empty lines are paired only if nothing better is
    both = (one & other).total()
    return both / max(1, one.total() + other.total() - both)


def _marks(left: list[_Word], right: list[_Word], checkpoint: Callable[[], None]) -> tuple[Ranges, Ranges]:
    """Return the ranges of the words that only one of two lines has."""
    keys = [[f"{word.gap} {word.text}" for word in words] for words in (left, right)]
    unchanged: tuple[set[int], set[int]] = (set(), set())
    for block in _matching_blocks(keys[0], keys[1], checkpoint):
        unchanged[0].update(range(block.a, block.a + block.size))
        unchanged[1].update(range(block.b, block.b + block.size))
    one, other = (
        _ranges([word for n, word in enumerate(words) if n not in same])
        for words, same in zip((left, right), unchanged, strict=True)
    )
    return one, other


def _ranges(words: Sequence[_Word]) -> Ranges:
    """Return the ranges of words in a line; adjacent words share a range."""
    ranges: list[tuple[int, int]] = []
    last = None
    for word in words:
        if ranges and last == word.number - 1:
            ranges[-1] = ranges[-1][0], word.end
        else:
            ranges.append((word.start, word.end))
        last = word.number
    return tuple(ranges)


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
    """Divide a line that is several lines in the other text, so that each part is next to the line with its words.

    Unpaired lines between these don't count.
    """
    result: list[Row] = []
    start = 0
    while start < len(rows):
        row = rows[start]
        end = start + 1
        if row.left is not None and row.right is not None:
            while end < len(rows) and None in (rows[end].left, rows[end].right):
                end += 1
        result += _next_to_words(row, rows[start + 1 : end], checkpoint)
        start = end
    return [_with_kind(row) for row in result]


def _with_kind(row: Row) -> Row:
    if any(side.marks for side in (row.left, row.right) if side is not None):
        return replace(row, kind="changed")
    return replace(row, kind="same") if row.kind == "changed" else row


def _next_to_words(row: Row, below: Sequence[Row], checkpoint: Callable[[], None]) -> Iterator[Row]:
    """Yield `row`, divided next to the wrapped ones among the unpaired lines `below` it, and these."""
    wrapped = next((other for other in below if other.kind == "wrapped"), None)
    if wrapped is None:
        yield from (row, *below)
        return
    at_left = wrapped.left is None
    same_side = [other for other in below if (other.left is None) == at_left]
    while same_side[-1].kind != "wrapped":
        same_side.pop()
    others = [row, *(other for other in same_side if other.kind == "wrapped")]
    sides = [other.right if at_left else other.left for other in others]
    line = row.left if at_left else row.right
    assert line is not None
    parts = _parts_beside(line, [side.text for side in sides if side is not None], checkpoint)
    for other in (row, *same_side):
        if other is not row and other.kind != "wrapped":
            yield other
        else:
            yield replace(other, left=next(parts)) if at_left else replace(other, right=next(parts))
    in_same_side = set(map(id, same_side))
    yield from (other for other in below if id(other) not in in_same_side)


def _parts_beside(line: Side, others: Sequence[str], checkpoint: Callable[[], None]) -> Iterator[Side | None]:
    """Yield the part of a line to show next to each of the lines `others`; None if it shares no word with that."""
    words = _words_of(line.text)
    other_words = [(number, word) for number, text in enumerate(others) for word in _words(text)]
    starts: list[int | None] = [0, *(None for _ in others[1:])]
    for block in _matching_blocks([word.text for word in words], [word for _, word in other_words], checkpoint):
        for step in range(block.size):
            number = other_words[block.b + step][0]
            if starts[number] is None:
                starts[number] = words[block.a + step].start
    ends = [start for start in (*starts[1:], len(line.text)) if start is not None]
    for number, start in enumerate(starts):
        if start is None:
            yield None
            continue
        end = ends.pop(0)
        inside = ((max(a, start) - start, min(b, end) - start) for a, b in line.marks if a < end and b > start)
        yield Side(0 if number else line.number, line.text[start:end], tuple(inside))
