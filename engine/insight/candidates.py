"""Finds pairs of files that may share text, by sorting a sample of their shingles instead of comparing files.

Every two files with a shingle in common are candidates, if it is in few files. A shingle in dozens of files would
produce thousands of pairs; it belongs to recurring text, such as a template or licence, identified by its set of files.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken
from engine.insight.shingles import Hashes

MOST_FILES = 16
"""A shingle in more files counts as recurring."""
_MOST_PAIRS = 6_000_000
_LEAST_SHARE = 0.25
"""Share of the smaller file's shingles that are not in many files: with every seventh word changed, half are left."""
_LEAST_SHARED = 20
"""Minimum number of common shingles for a passage shared by two large files."""
_FEWEST_FILES = 4
_MOST_RECURRING = 200
_SAME_FILES = 0.6
"""Share of the shingles that a file must have, and of files that two recurring texts must share to be merged."""

Files = NDArray[np.int64]


@dataclass(frozen=True)
class Pair:
    """Two files, by their index in the list, and the number of sampled shingles they share."""

    first: int
    second: int
    shared: int


@dataclass(frozen=True)
class Recurring:
    """Shingles that occur in the same large set of files."""

    hashes: Hashes
    files: tuple[int, ...]


class Sample:
    """Sampled shingles of all files: one in `step`, selected by hash, so that equal texts have equal samples."""

    def __init__(self, step: int) -> None:
        self.step = step
        self._bound = np.uint64((1 << 64) // step - 1)
        self._hashes: list[Hashes] = []
        self._counts: list[int] = []

    def add(self, hashes: Hashes) -> None:
        """Add the shingles of the next file, in any order."""
        chosen = np.unique(hashes[hashes <= self._bound])
        self._hashes.append(chosen)
        self._counts.append(len(chosen))

    def candidates(self, cancel: CancelToken | None = None) -> tuple[list[Pair], list[Recurring]]:
        """Return pairs with enough in common to be compared, most shared first, and recurring text.

        Raises `Cancelled`.
        """
        if not self._hashes:
            return [], []
        hashes = np.concatenate(self._hashes)
        owners: Files = np.repeat(np.arange(len(self._counts), dtype=np.int64), self._counts)
        order = np.argsort(hashes, kind="stable")  # stable, so that the files of a shingle stay in order
        hashes, owners = hashes[order], owners[order]
        starts = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1])))
        counts = np.diff(np.append(starts, len(hashes)))
        most = _limit(counts)
        common = counts > most
        own = np.bincount(owners[~np.repeat(common, counts)], minlength=len(self._counts))
        pairs = self._worthy(*_pairs(owners, starts, counts, most, len(self._counts), cancel), own)
        return pairs, _recurring(hashes, owners, starts[common], counts[common])

    def _worthy(self, codes: Files, shared: Files, own: Files) -> list[Pair]:
        """Select pairs that may share more than a common phrase; `own`: number of shingles of each file."""
        first, second = np.divmod(codes, len(self._counts))
        enough = shared >= _LEAST_SHARE * np.minimum(own[first], own[second])
        enough |= shared * self.step >= _LEAST_SHARED
        chosen = np.flatnonzero(enough & (shared > 1))
        chosen = chosen[np.argsort(-shared[chosen], kind="stable")]
        rows = zip(first[chosen].tolist(), second[chosen].tolist(), shared[chosen].tolist(), strict=True)
        return [Pair(*row) for row in rows]


def _limit(counts: Files) -> int:
    """Maximum number of files per shingle such that all pairs fit in memory."""
    most = MOST_FILES
    while most > _FEWEST_FILES:
        paired = counts[counts <= most]
        if int((paired * (paired - 1) // 2).sum()) <= _MOST_PAIRS:
            break
        most -= 1
    return most


def _pairs(
    owners: Files, starts: Files, counts: Files, most: int, files: int, cancel: CancelToken | None
) -> tuple[Files, Files]:
    """Pairs of files with a common shingle, as first * files + second, and the number of shingles they share."""
    found = [np.empty(0, np.int64)]
    for count in range(2, most + 1):
        if cancel is not None:
            cancel.checkpoint()
        groups = owners[starts[counts == count][:, None] + np.arange(count)]
        found += [groups[:, one] * files + groups[:, other] for one, other in combinations(range(count), 2)]
    return np.unique(np.concatenate(found), return_counts=True)


def _recurring(hashes: Hashes, owners: Files, starts: Files, counts: Files) -> list[Recurring]:
    """Group shingles by their first two files, then merge groups with nearly the same files."""
    gathered: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, start in enumerate(starts.tolist()):
        gathered[int(owners[start]), int(owners[start + 1])].append(number)
    largest = sorted(gathered.values(), key=len, reverse=True)[:_MOST_RECURRING]
    texts = [(numbers, _members(owners, starts[numbers], counts[numbers])) for numbers in largest if len(numbers) > 1]
    return [
        Recurring(hashes[starts[numbers]], tuple(sorted(members)))
        for numbers, members in _joined(texts)
        if len(members) > 1
    ]


def _members(owners: Files, starts: Files, counts: Files) -> set[int]:
    """The files that have most of these shingles."""
    places = [np.arange(start, start + count) for start, count in zip(starts.tolist(), counts.tolist(), strict=True)]
    files, times = np.unique(owners[np.concatenate(places)], return_counts=True)
    return set(files[times >= _SAME_FILES * len(starts)].tolist())


def _joined(texts: list[tuple[list[int], set[int]]]) -> Iterator[tuple[list[int], set[int]]]:
    while texts:
        numbers, members = texts[0]
        rest = []
        for other in texts[1:]:
            if len(members & other[1]) >= _SAME_FILES * len(members | other[1]):
                numbers = numbers + other[0]
            else:
                rest.append(other)
        yield numbers, members
        texts = rest
