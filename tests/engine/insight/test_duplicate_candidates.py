"""Selection of chunks whose vectors may be near: complete, and within the memory limit."""

from itertools import combinations

import numpy as np
import pytest

from engine.insight import duplicate_candidates
from engine.insight.duplicate_candidates import _similar_pairs


def _signs(seed: int) -> duplicate_candidates.Signs:
    """Return the signs of the vectors of 12 groups of five chunks; within a group, some signs differ."""
    rng = np.random.default_rng(seed)
    bits = np.repeat(rng.integers(0, 2, (12, 256), dtype=np.uint8), 5, axis=0)
    flipped = rng.random(bits.shape) < rng.uniform(0, 0.3, (len(bits), 1))
    return np.packbits(bits ^ flipped, axis=1).view(np.uint16)


@pytest.mark.parametrize("seed", range(4))
def test_band_matches_with_few_differences_found(seed: int) -> None:
    signs, files = _signs(seed), np.arange(60) // 2
    wanted = {}
    for first, second in combinations(range(60), 2):
        gap = int(np.bitwise_count(signs[first] ^ signs[second]).sum())
        if (signs[first] == signs[second]).any() and gap <= 60 and files[first] != files[second]:
            wanted[first, second] = gap
    found = [tuple(sorted(pair)) for pair in _similar_pairs(signs, files, None).tolist()]
    assert len(found) == len(set(found))
    assert set(found) == set(wanted)
    assert [wanted[pair] for pair in found] == sorted(wanted.values())


def test_too_many_pairs_keep_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    signs, files = _signs(3), np.arange(60)
    everything = _similar_pairs(signs, files, None).tolist()
    monkeypatch.setattr(duplicate_candidates, "_MAX_NEAR_PAIRS", 10)
    gaps = [int(np.bitwise_count(signs[a] ^ signs[b]).sum()) for a, b in _similar_pairs(signs, files, None)]
    every = sorted(int(np.bitwise_count(signs[a] ^ signs[b]).sum()) for a, b in everything)
    assert len(every) > 20
    assert gaps == every[:10]


def test_many_copies_of_one_chunk_are_all_connected() -> None:
    rng = np.random.default_rng(5)
    bits = np.repeat(rng.integers(0, 2, (2, 256), dtype=np.uint8), 100, axis=0)
    signs = np.packbits(bits ^ (rng.random(bits.shape) < 0.01), axis=1).view(np.uint16)
    reached = {0, 150}
    pairs = _similar_pairs(signs, np.arange(200), None).tolist()
    for _ in range(200):
        reached |= {end for pair in pairs if reached & set(pair) for end in pair}
    assert len(reached) == 200
    assert all((first < 100) == (second < 100) for first, second in pairs)
    assert len(pairs) < 200 * 4 * 16
