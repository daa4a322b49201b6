"""Measures of ranking quality."""

import math
from collections.abc import Iterable, Mapping, Sequence

DEPTH = 10
SHOWN = 6
"""Default number of shown results."""


def discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(index + 2) for index, gain in enumerate(gains))


def distinct(found: Iterable[Sequence[str]], gains: Mapping[str, int]) -> list[str]:
    """Return the documents of the results, each once, at the position of its best result."""
    named = (max(names, key=lambda name: gains.get(name, 0), default="") for names in found)
    return list(dict.fromkeys(named))


def ndcg(found: Sequence[str], gains: Mapping[str, int]) -> float:
    """Return nDCG@10."""
    best = discounted(sorted(gains.values(), reverse=True)[:DEPTH])
    return discounted([gains.get(name, 0) for name in found[:DEPTH]]) / best if best else 0.0


def recall(found: Sequence[str], gains: Mapping[str, int]) -> float:
    """Return recall@6: the share of the right documents, at most six, among the first six."""
    right = sum(gain > 0 for gain in gains.values())
    return sum(gains.get(name, 0) > 0 for name in found[:SHOWN]) / min(SHOWN, right) if right else 0.0


def mean(values: Iterable[float]) -> float:
    """Return the mean; 0 for no values."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
