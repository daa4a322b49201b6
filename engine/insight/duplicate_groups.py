"""Combines pairs of notes that share text into groups: a passage that was copied ten times is one group.

Groups that the user has hidden are stored in `user.sqlite`, because they can't be rebuilt.
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from engine.insight.text_comparison import LineRange
from engine.records import DuplicateKind
from engine.store.user_data import UserData

Item = TypeVar("Item", bound=Hashable)
_SAME_POSITION = 0.5
"""Least overlap of two ranges of lines, as a share of the shorter one, to count as the same passage."""


class Part(NamedTuple):
    """The lines of a note that other notes have too."""

    note: int
    lines: LineRange
    share: float
    """Share of the note's words that the other notes have too."""


@dataclass(frozen=True)
class Match:
    """Two notes that share text: where, and how much."""

    kind: DuplicateKind
    similarity: float
    words: int
    first: Part
    second: Part


@dataclass(frozen=True)
class FoundGroup:
    """A group of notes that share text, each note once."""

    kind: DuplicateKind
    similarity: float
    words: int
    parts: tuple[Part, ...]


class _Union(Generic[Item]):
    """Disjoint-set structure (union-find)."""

    def __init__(self) -> None:
        self._above: dict[Item, Item] = {}

    def root(self, item: Item) -> Item:
        while (above := self._above.setdefault(item, item)) != item:
            self._above[item] = self._above[above]
            item = above
        return item

    def join(self, one: Item, other: Item) -> None:
        self._above[self.root(one)] = self.root(other)


def grouped(matches: Sequence[Match]) -> list[FoundGroup]:
    """Combine matches of two notes into groups: similar files transitively, passages by their lines in a note.

    Passages shared by two similar files are left out.
    """
    whole: _Union[int] = _Union()
    for match in matches:
        if match.kind == "similar":
            whole.join(match.first.note, match.second.note)
    alike = defaultdict(list)
    passages = []
    for match in matches:
        root = whole.root(match.first.note)
        if match.kind == "similar":
            alike[root].append(match)
        elif root != whole.root(match.second.note):
            passages.append(match)
    positions = _positions(passages)
    parts: _Union[tuple[int, int]] = _Union()
    for match in passages:
        parts.join(positions[match.first], positions[match.second])
    shared = defaultdict(list)
    for match in passages:
        shared[parts.root(positions[match.first])].append(match)
    return [_group_of(group) for group in (*alike.values(), *shared.values())]


def key_of(kind: str, paths: Iterable[str]) -> str:
    """Return the key of a group, independent of the order of its files."""
    return hashlib.sha256("\0".join((kind, *sorted(paths))).encode()).hexdigest()[:24]


def _group_of(matches: Sequence[Match]) -> FoundGroup:
    parts: dict[int, Part] = {}
    for match in matches:
        for part in (match.first, match.second):
            known = parts.get(part.note)
            if known is None or _length(part.lines) > _length(known.lines):
                parts[part.note] = part
    kinds = {match.kind for match in matches}
    return FoundGroup(
        kind="contained" if "contained" in kinds else matches[0].kind,
        similarity=min(match.similarity for match in matches),
        words=max(match.words for match in matches),
        parts=tuple(parts.values()),
    )


def _positions(matches: Sequence[Match]) -> dict[Part, tuple[int, int]]:
    """Assign each part a (note, number); parts with mostly the same lines of one note get the same number."""
    by_note = defaultdict(set)
    for match in matches:
        by_note[match.first.note].add(match.first)
        by_note[match.second.note].add(match.second)
    positions = {}
    for note, parts in by_note.items():
        number, last = -1, (0, -1)
        for part in sorted(parts, key=lambda part: part.lines):
            if not _is_same(part.lines, last):
                number, last = number + 1, part.lines
            positions[part] = (note, number)
    return positions


def _is_same(one: LineRange, other: LineRange) -> bool:
    both = min(one[1], other[1]) - max(one[0], other[0]) + 1
    return both >= _SAME_POSITION * min(_length(one), _length(other)) and both > 0


def _length(lines: LineRange) -> int:
    return lines[1] - lines[0] + 1


def hidden_groups(user: UserData) -> frozenset[str]:
    """Return the keys of the duplicate groups that the user has hidden."""
    with user.reading() as connection:
        return frozenset(key for (key,) in connection.execute("SELECT key FROM hidden_duplicates"))


def hide_group(user: UserData, key: str, *, hidden: bool) -> None:
    """Hide a duplicate group, or show it again. Raises `IndexReadOnly` if this can't be saved."""
    with user.writing() as connection:
        if hidden:
            connection.execute("INSERT OR REPLACE INTO hidden_duplicates VALUES (?, ?)", (key, time.time()))
        else:
            connection.execute("DELETE FROM hidden_duplicates WHERE key = ?", (key,))
