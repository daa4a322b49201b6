"""Maximal marginal relevance, by hand-made similarities."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.diversity import Chosen, diversify


def similarities(pairs: dict[tuple[int, int], float]):
    """Similarity of the named pairs; all others have none."""
    return lambda chosen, others: [pairs.get((min(chosen, i), max(chosen, i)), 0.0) for i in others]


def order(chosen: list[Chosen]) -> list[int]:
    return [row.by_score for row in chosen]


def test_repeated_result_moves_down() -> None:
    chosen = diversify([0.9, 0.89, 0.75, 0.5], similarities({(0, 1): 0.95}), 0.7, 4)
    assert order(chosen) == [0, 2, 1, 3]
    assert chosen[2] == Chosen(1, pytest.approx(0.3 * 0.95), 0)
    assert (chosen[1].penalty, chosen[1].like) == (0.0, None)


def test_lambda_one_by_score_zero_most_varied() -> None:
    similarity = similarities({(0, 1): 1.0, (1, 2): 0.2})
    assert order(diversify([0.9, 0.8, 0.7], similarity, 1.0, 3)) == [0, 1, 2]
    assert order(diversify([0.9, 0.8, 0.7], similarity, 0.0, 3)) == [0, 2, 1]


def test_diversity_scales_scores_to_range_of_candidates() -> None:
    # 0.60 of 0.50..0.62 is worth as much as 0.9 of 0.1..1: close scores count as far apart as they can.
    similarity = similarities({(0, 1): 0.9})
    assert order(diversify([0.62, 0.60, 0.50], similarity, 0.7, 3)) == [0, 1, 2]
    assert order(diversify([0.62, 0.60, 0.59, 0.20], similarity, 0.7, 4)) == [0, 2, 1, 3]


def test_equal_scores_keep_their_order_without_duplicates() -> None:
    assert order(diversify([0.5] * 4, similarities({}), 0.7, 4)) == [0, 1, 2, 3]


def test_diversify_chooses_the_requested_number() -> None:
    assert order(diversify([0.9, 0.8, 0.7], similarities({}), 0.7, 2)) == [0, 1]
    assert diversify([], similarities({}), 0.7, 5) == []


@given(st.lists(st.floats(0, 1), max_size=30), st.floats(0, 1), st.integers(0, 99))
def test_diversified_order_has_every_row_once(scores: list[float], weight: float, seed: int) -> None:
    rng = random.Random(seed)
    table = {(a, b): rng.random() for a in range(30) for b in range(a + 1, 30)}
    chosen = diversify(sorted(scores, reverse=True), similarities(table), weight, len(scores))
    assert sorted(order(chosen)) == list(range(len(scores)))
    assert all(row.penalty <= 1 and row.like != row.by_score for row in chosen)
