"""Finds passages of notes with nearly the same meaning: first by signs of their vectors, then by the vectors.

The smaller the angle between two vectors, the more often they are on the same side of a random plane. So each chunk
gets `_BITS` signs; chunks that agree in a whole band of them are candidates, and only their cosines are computed. All
pairs of 26,000 chunks would be 350 million, with all vectors in memory.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken
from engine.insight.seeded_random import normal
from engine.store.index import IndexStore
from engine.store.stored_models import ModelName
from engine.store.vector_encoding import StoredModel, Vectors, decode

_LEAST_COSINE = 0.85
_BITS = 256
_BAND = 16
_MOST_DIFFERENT = 60
"""Number of signs: vectors at the least cosine differ in 45, rarely in 15 more, and unrelated ones in some 115."""
_MOST_IN_BAND = 40
_MOST_PAIRS = 50_000
"""Pairs with the fewest different signs: reading the vectors of a million pairs would take minutes."""
_AT_ONCE = 4000
_SEED = 20260222

Signs = NDArray[np.uint16]
"""(n, _BITS / _BAND): one number per band."""
Ids = NDArray[np.int64]


class NearChunks(NamedTuple):
    """Ids of two chunks."""

    first: int
    second: int


def near_chunks(
    store: IndexStore, name: ModelName, chunk_files: dict[int, int], cancel: CancelToken | None = None
) -> list[NearChunks]:
    """Pairs of these chunks (chunk id to file id) with near vectors, in different files; nearest first."""
    with store.read(cancel) as snapshot:
        model = snapshot.stored_model(*name)
    if model is None:
        return []
    ids, signs = _signs(store, model, sorted(chunk_files), cancel)
    files = np.array([chunk_files[int(id_)] for id_ in ids], np.int64)
    pairs = _alike(signs, files, cancel)
    found = _cosines(store, model, ids[pairs], cancel)
    chosen = found >= _LEAST_COSINE
    order = np.argsort(-found[chosen], kind="stable")
    return [NearChunks(int(first), int(second)) for first, second in ids[pairs[chosen][order]]]


def _blocks(
    store: IndexStore, model: StoredModel, ids: Sequence[int], cancel: CancelToken | None
) -> Iterator[tuple[list[int], Vectors]]:
    for start in range(0, len(ids), _AT_ONCE):
        with store.read(cancel) as snapshot:
            rows = list(snapshot.vectors(model.id, ids[start : start + _AT_ONCE]))
        if rows:
            yield [id_ for id_, _ in rows], decode([row for _, row in rows], model.dims).astype(np.float32)


def _signs(store: IndexStore, model: StoredModel, ids: Sequence[int], cancel: CancelToken | None) -> tuple[Ids, Signs]:
    """Ids and signs of the chunks that have a vector."""
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


def _alike(signs: Signs, files: Ids, cancel: CancelToken | None) -> NDArray[np.int64]:
    """Index pairs (n, 2) of chunks of different files that agree in a band, fewest different signs first."""
    count = len(signs)
    codes, different = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for band in range(signs.shape[1]):
        if cancel is not None:
            cancel.checkpoint()
        order = np.argsort(signs[:, band], kind="stable").astype(np.int64)
        values = signs[order, band]
        starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1]))) if count else order
        sizes = np.diff(np.append(starts, count))
        for size in np.unique(sizes[(sizes > 1) & (sizes <= _MOST_IN_BAND)]).tolist():
            groups = order[starts[sizes == size][:, None] + np.arange(size)]
            for one, other in combinations(range(size), 2):
                # Filtered before they are collected: of a hundred pairs in a band, hardly one is similar.
                first, second = groups[:, one], groups[:, other]
                gaps = np.bitwise_count(signs[first] ^ signs[second]).sum(axis=1, dtype=np.int64)
                chosen = (gaps <= _MOST_DIFFERENT) & (files[first] != files[second])
                codes.append(first[chosen] * count + second[chosen])
                different.append(gaps[chosen])
        pairs, where = np.unique(np.concatenate(codes), return_index=True)
        gaps = np.concatenate(different)[where]
        nearest = np.argsort(gaps, kind="stable")[:_MOST_PAIRS]
        codes, different = [pairs[nearest]], [gaps[nearest]]
    return np.stack(np.divmod(codes[0], max(1, count)), axis=1)


def _cosines(
    store: IndexStore, model: StoredModel, pairs: NDArray[np.int64], cancel: CancelToken | None
) -> NDArray[np.float32]:
    found = np.zeros(len(pairs), np.float32)
    step = _AT_ONCE // 2
    for start in range(0, len(pairs), step):
        some = pairs[start : start + step]
        vectors: dict[int, Vectors] = {}
        for ids, block in _blocks(store, model, np.unique(some).tolist(), cancel):
            vectors.update(zip(ids, block, strict=True))
        for place, (first, second) in enumerate(some.tolist(), start):
            if first in vectors and second in vectors:
                found[place] = vectors[first] @ vectors[second]
    return found
