"""The formulas: each score stays within 0 and 1 and moves in the right direction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding.base import Calibration
from engine.search import scoring
from engine.search.scoring import Blend

_AVERAGE = scoring.length_norm(100, 100)
shares = st.floats(0, 1)


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_idf_is_never_negative_and_rarer_is_worth_more(documents: int, containing: int) -> None:
    idf = scoring.inverse_document_frequency(documents, containing)
    assert idf > 0
    if containing < documents:
        assert idf > scoring.inverse_document_frequency(documents, containing + 1)


def test_a_term_in_every_chunk_still_counts_a_little() -> None:
    assert 0 < scoring.inverse_document_frequency(1000, 1000) < 0.001


@given(st.floats(0, 50), st.floats(0, 50), st.floats(1, 1000))
def test_more_occurrences_never_score_less(few: float, more: float, length: float) -> None:
    low, high = sorted((few, more))
    norm = scoring.length_norm(length, 100)
    assert scoring.term_score(2.0, low, norm) <= scoring.term_score(2.0, high, norm)


def test_a_chunk_with_all_terms_scores_full_and_one_with_a_rare_half_less() -> None:
    idfs = [6.0, 6.0]
    both = [scoring.term_score(idf, 2, _AVERAGE) for idf in idfs]
    assert scoring.text_score(both, idfs) == 1.0
    assert scoring.text_score([both[0] * 1.4, 0.0], idfs) == 0.5
    assert scoring.text_score([], []) == 0.0


def test_a_long_question_is_not_held_to_all_its_words() -> None:
    idfs = [6.0] * 8
    parts = [scoring.term_score(6.0, 2, _AVERAGE)] * 5 + [0.0] * 3
    assert scoring.text_score(parts, idfs) > 5 / 8


@pytest.mark.parametrize(("cosine", "score"), [(0.1, 0.0), (0.15, 0.0), (0.4, 0.5), (0.65, 1.0), (0.9, 1.0)])
def test_cosines_are_read_on_the_models_own_scale(cosine: float, score: float) -> None:
    assert scoring.vector_score(cosine, Calibration(0.15, 0.65, 0.2)) == pytest.approx(score)


@given(shares, shares, shares, shares)
def test_a_blend_lies_between_its_parts(base: float, best: float, text: float, vector: float) -> None:
    blend = Blend.of(base, best)
    score = blend.score(text, vector)
    assert min(text, vector) - 1e-9 <= score <= max(text, vector) + 1e-9
    assert 0 <= blend.text_share(text, vector) <= 1


def test_meaning_weighs_more_the_worse_the_words_match() -> None:
    assert Blend.of(0.2, 1.0).vector_weight == pytest.approx(0.2)
    assert Blend.of(0.2, 0.0).vector_weight == pytest.approx(0.8)
    assert Blend.of(0.9, 0.0).vector_weight == pytest.approx(0.9)


def test_a_chunk_without_a_vector_is_scored_by_its_words() -> None:
    assert Blend(0.7).score(0.6, None) == 0.6
    assert Blend(0.7).text_share(0.6, None) == 1.0
