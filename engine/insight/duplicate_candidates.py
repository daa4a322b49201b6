"""Finds pairs of notes that may share text, without comparing each note with every other.

**Files.** A sample of their shingles is sorted. Every two files with a shingle in common are candidates, if it is in
few files. A shingle in many files belongs to recurring text, such as a template or licence, identified by its set of
files; in dozens of them it would also produce thousands of pairs.

**Passages of nearly the same meaning.** The smaller the angle between two vectors, the more often they are on the same
side of a random plane. So each chunk gets `_BITS` signs; chunks that agree in a whole band of them are candidates, and
only their cosines are computed. All pairs of 26,000 chunks would be 350 million, with all vectors in memory.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken, checkpoint
from engine.insight.seeded_random import normal
from engine.insight.text_comparison import Hashes
from engine.store.index import IndexStore
from engine.store.stored_models import ModelName
from engine.store.vector_encoding import StoredModel, Vectors, decode

MAX_FILES = 8
"""A shingle in more files than this counts as recurring text."""
_MAX_FILE_PAIRS = 6_000_000
_MIN_SHARE = 0.25
"""Share of the smaller file's shingles that are not in many files: with every seventh word changed, half are left."""
_MIN_SHARED = 20
"""Minimum number of common shingles for a passage shared by two large files."""
_MIN_FILES = 4
_MAX_RECURRING = 200
_SAME_FILES = 0.6
"""Share of the shingles that a file must have, and of files that two recurring texts must share to be merged."""

Files = NDArray[np.int64]

_MIN_COSINE = 0.85
_BITS = 256
_BAND = 16
_MAX_DIFFERENT = 60
"""Maximum number of signs in which two vectors may differ: at the least cosine they differ in 45, rarely in 15 more;
unrelated ones in some 115.
"""
_MAX_IN_BAND = 40
"""Maximum number of chunks agreeing in a band that are all compared with each other."""
_MAX_NEIGHBOURS = 4
_MAX_NEAR_PAIRS = 50_000
"""Number of pairs compared, beginning with the fewest different signs: reading the vectors of a million pairs would
take minutes.
"""
_BATCH_SIZE = 4000
_SEED = 20260222

Signs = NDArray[np.uint16]
"""Signs of n vectors, (n, _BITS / _BAND): one number per band."""
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Pair:
    """Two files, by their position in the list."""

    first: int
    second: int


@dataclass(frozen=True)
class Recurring:
    """Text that recurs in many files, as a set of shingles with the positions of these files."""

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
        """Sample the shingles of the next file, given in any order."""
        chosen = np.unique(hashes[hashes <= self._bound])
        self._hashes.append(chosen)
        self._counts.append(len(chosen))

    def candidates(self, cancel: CancelToken | None = None) -> tuple[list[Pair], list[Recurring]]:
        """Return pairs of files with enough shingles in common to be compared, most shared first, and recurring text.

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
        pairs = self._similar_enough(*_pairs(owners, starts, counts, most, len(self._counts), cancel), own)
        return pairs, _recurring(hashes, owners, starts[common], counts[common])

    def _similar_enough(self, codes: Files, shared: Files, own: Files) -> list[Pair]:
        """Select pairs of files that may share more than a common phrase.

        `own`: number of shingles of each file.
        """
        first, second = np.divmod(codes, len(self._counts))
        enough = shared >= _MIN_SHARE * np.minimum(own[first], own[second])
        enough |= shared * self.step >= _MIN_SHARED
        chosen = np.flatnonzero(enough & (shared > 1))
        chosen = chosen[np.argsort(-shared[chosen], kind="stable")]
        return list(map(Pair, first[chosen].tolist(), second[chosen].tolist()))


def _limit(counts: Files) -> int:
    """Return the highest number of files per shingle at which all pairs fit in memory."""
    most = MAX_FILES
    while most > _MIN_FILES:
        paired = counts[counts <= most]
        if int((paired * (paired - 1) // 2).sum()) <= _MAX_FILE_PAIRS:
            break
        most -= 1
    return most


def _pairs(
    owners: Files, starts: Files, counts: Files, most: int, files: int, cancel: CancelToken | None
) -> tuple[Files, Files]:
    """Return pairs of files with a common shingle, as first * files + second, and the number of shingles they share."""
    pairs = [np.empty(0, np.int64)]
    for count in range(2, most + 1):
        checkpoint(cancel)
        groups = owners[starts[counts == count][:, None] + np.arange(count)]
        pairs += [groups[:, one] * files + groups[:, other] for one, other in combinations(range(count), 2)]
    return np.unique(np.concatenate(pairs), return_counts=True)


def _recurring(hashes: Hashes, owners: Files, starts: Files, counts: Files) -> list[Recurring]:
    """Group shingles that are in the same files: by their first two files, then by nearly the same set of files."""
    gathered: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, start in enumerate(starts.tolist()):
        gathered[int(owners[start]), int(owners[start + 1])].append(number)
    largest = sorted(gathered.values(), key=len, reverse=True)[:_MAX_RECURRING]
    texts = [(numbers, _members(owners, starts[numbers], counts[numbers])) for numbers in largest if len(numbers) > 1]
    return [
        Recurring(hashes[starts[numbers]], tuple(sorted(members)))
        for numbers, members in _joined(texts)
        if len(members) > 1
    ]


def _members(owners: Files, starts: Files, counts: Files) -> set[int]:
    """Return the files that contain most of the given shingles."""
    ranges = [np.arange(start, start + count) for start, count in zip(starts.tolist(), counts.tolist(), strict=True)]
    files, times = np.unique(owners[np.concatenate(ranges)], return_counts=True)
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


class NearChunks(NamedTuple):
    """Two chunks with nearly the same meaning, by id."""

    first: int
    second: int


def near_chunks(
    store: IndexStore, name: ModelName, chunks: Ids, files: Files, cancel: CancelToken | None = None
) -> list[NearChunks]:
    """Return pairs of chunks in different files whose vectors are nearly the same, nearest first.

    `chunks` (n,): ids of the chunks to compare, ascending; `files` (n,): file id of each.
    """
    with store.read(cancel) as snapshot:
        model = snapshot.stored_model(*name)
    if model is None:
        return []
    ids, signs = _signs(store, model, chunks, cancel)
    pairs = _similar_pairs(signs, files[np.searchsorted(chunks, ids)], cancel)
    cosines = _cosines(store, model, ids[pairs], cancel)
    chosen = cosines >= _MIN_COSINE
    order = np.argsort(-cosines[chosen], kind="stable")
    return [NearChunks(int(first), int(second)) for first, second in ids[pairs[chosen][order]]]


def _blocks(
    store: IndexStore, model: StoredModel, ids: Ids, cancel: CancelToken | None
) -> Iterator[tuple[list[int], Vectors]]:
    for start in range(0, len(ids), _BATCH_SIZE):
        with store.read(cancel) as snapshot:
            rows = list(snapshot.vectors(model.id, model.dims, ids[start : start + _BATCH_SIZE].tolist()))
        if rows:
            yield [id_ for id_, _ in rows], decode([row for _, row in rows], model.dims)


def _signs(store: IndexStore, model: StoredModel, ids: Ids, cancel: CancelToken | None) -> tuple[Ids, Signs]:
    """Return the ids (n,) of the chunks that have a vector, and their signs (n, bands): on which side of random planes
    each vector is, packed in bands of bits.
    """
    planes = normal(_SEED, (model.dims, _BITS)).astype(np.float32)
    centre: Vectors | None = None
    known: list[Ids] = [np.empty(0, np.int64)]
    signs: list[Signs] = [np.empty((0, _BITS // _BAND), np.uint16)]
    for block_ids, vectors in _blocks(store, model, ids, cancel):
        if centre is None:  # otherwise all vectors agree if a model's mean is far from zero
            centre = vectors.mean(axis=0)
        bits = (vectors - centre) @ planes > 0
        known.append(np.array(block_ids, np.int64))
        signs.append(np.packbits(bits, axis=1).view(np.uint16))
    return np.concatenate(known), np.concatenate(signs)


def _similar_pairs(signs: Signs, files: Ids, cancel: CancelToken | None) -> NDArray[np.int64]:
    """Return pairs (n, 2) of positions of chunks in different files whose signs agree in a band, most similar first."""
    count = len(signs)
    codes, different = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for band in range(signs.shape[1]):
        checkpoint(cancel)
        order = np.argsort(signs[:, band], kind="stable").astype(np.int64)
        values = signs[order, band]
        starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1]))) if count else order
        sizes = np.diff(np.append(starts, count))
        groups = [order[start : start + size] for start, size in zip(starts, sizes, strict=True) if size > _MAX_IN_BAND]
        for first, second in chain(_pairs_of(order, starts, sizes), *(_neighbours(signs, group) for group in groups)):
            # Filtered before they are collected: few of a hundred pairs in a band are similar.
            gaps = np.bitwise_count(signs[first] ^ signs[second]).sum(axis=1, dtype=np.int64)
            chosen = (gaps <= _MAX_DIFFERENT) & (files[first] != files[second])
            codes.append(np.minimum(first, second)[chosen] * count + np.maximum(first, second)[chosen])
            different.append(gaps[chosen])
        pairs, where = np.unique(np.concatenate(codes), return_index=True)
        gaps = np.concatenate(different)[where]
        nearest = np.argsort(gaps, kind="stable")[:_MAX_NEAR_PAIRS]
        codes, different = [pairs[nearest]], [gaps[nearest]]
    return np.stack(np.divmod(codes[0], max(1, count)), axis=1)


def _pairs_of(order: Ids, starts: Ids, sizes: Ids) -> Iterator[tuple[Ids, Ids]]:
    """Yield all pairs of chunks that agree in a band, unless they are many: `sizes` from `starts` on in `order`."""
    for size in np.unique(sizes[(sizes > 1) & (sizes <= _MAX_IN_BAND)]).tolist():
        groups = order[starts[sizes == size][:, None] + np.arange(size)]
        for one, other in combinations(range(size), 2):
            yield groups[:, one], groups[:, other]


def _neighbours(signs: Signs, group: Ids) -> Iterator[tuple[Ids, Ids]]:
    """Yield pairs of many chunks that agree in a band: those next to each other in the order of all their signs.

    Groups of duplicates are transitive, so each chunk needs only some of its copies.
    """
    group = group[np.lexsort(signs[group].T)]
    for step in range(1, _MAX_NEIGHBOURS + 1):
        yield group[:-step], group[step:]


def _cosines(
    store: IndexStore, model: StoredModel, pairs: NDArray[np.int64], cancel: CancelToken | None
) -> NDArray[np.float32]:
    cosines = np.zeros(len(pairs), np.float32)
    step = _BATCH_SIZE // 2
    for start in range(0, len(pairs), step):
        batch = pairs[start : start + step]
        vectors: dict[int, Vectors] = {}
        for ids, block in _blocks(store, model, np.unique(batch), cancel):
            vectors.update(zip(ids, block, strict=True))
        for index, (first, second) in enumerate(batch.tolist(), start):
            if first in vectors and second in vectors:
                cosines[index] = vectors[first] @ vectors[second]
    return cosines
