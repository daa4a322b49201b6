"""From pairs of notes that share text to groups: a note or a passage that was copied ten times is one group."""

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from engine.insight.passages import LineRange
from engine.records import DuplicateKind

Item = TypeVar("Item", bound=Hashable)
_SAME_PLACE = 0.5
"""Share of the shorter of two ranges of lines that lies in the other, for both to be one passage."""


class Part(NamedTuple):
    """Lines of a note, by its place in the list of notes."""

    note: int
    lines: LineRange
    share: float
    """Of the note's words that others have, too."""


@dataclass(frozen=True)
class Match:
    """Two notes that share text."""

    kind: DuplicateKind
    similarity: float
    words: int
    first: Part
    second: Part


@dataclass(frozen=True)
class Found:
    """Notes that share text; each occurs once."""

    kind: DuplicateKind
    similarity: float
    words: int
    parts: tuple[Part, ...]


class _Union(Generic[Item]):
    """Union-find of items."""

    def __init__(self) -> None:
        self._above: dict[Item, Item] = {}

    def root(self, item: Item) -> Item:
        while (above := self._above.setdefault(item, item)) != item:
            self._above[item] = self._above[above]
            item = above
        return item

    def join(self, one: Item, other: Item) -> None:
        self._above[self.root(one)] = self.root(other)


def grouped(matches: Sequence[Match]) -> list[Found]:
    """Group similar files by chains of similarity; passages by their location in a file.

    A passage shared by two files that are already similar is left out.
    """
    whole: _Union[int] = _Union()
    for match in matches:
        if match.kind == "alike":
            whole.join(match.first.note, match.second.note)
    alike = defaultdict(list)
    passages = []
    for match in matches:
        root = whole.root(match.first.note)
        if match.kind == "alike":
            alike[root].append(match)
        elif root != whole.root(match.second.note):
            passages.append(match)
    places = _places(passages)
    parts: _Union[tuple[int, int]] = _Union()
    for match in passages:
        parts.join(places[match.first], places[match.second])
    shared = defaultdict(list)
    for match in passages:
        shared[parts.root(places[match.first])].append(match)
    return [_found(group) for group in (*alike.values(), *shared.values())]


def key_of(kind: str, paths: Iterable[str]) -> str:
    """The same for the same kind and files, in whatever order."""
    return hashlib.sha256("\0".join((kind, *sorted(paths))).encode()).hexdigest()[:24]


def _found(matches: Sequence[Match]) -> Found:
    parts: dict[int, Part] = {}
    for match in matches:
        for part in (match.first, match.second):
            known = parts.get(part.note)
            if known is None or _length(part.lines) > _length(known.lines):
                parts[part.note] = part
    kinds = {match.kind for match in matches}
    return Found(
        kind="contained" if "contained" in kinds else matches[0].kind,
        similarity=min(match.similarity for match in matches),
        words=max(match.words for match in matches),
        parts=tuple(parts.values()),
    )


def _places(matches: Sequence[Match]) -> dict[Part, tuple[int, int]]:
    """A place for each part, the same for parts that are mostly the same lines of one note."""
    by_note = defaultdict(set)
    for match in matches:
        by_note[match.first.note].add(match.first)
        by_note[match.second.note].add(match.second)
    places = {}
    for note, parts in by_note.items():
        number, last = -1, (0, -1)
        for part in sorted(parts, key=lambda part: part.lines):
            if not _is_same(part.lines, last):
                number, last = number + 1, part.lines
            places[part] = (note, number)
    return places


def _is_same(one: LineRange, other: LineRange) -> bool:
    both = min(one[1], other[1]) - max(one[0], other[0]) + 1
    return both >= _SAME_PLACE * min(_length(one), _length(other)) and both > 0


def _length(lines: LineRange) -> int:
    return lines[1] - lines[0] + 1
