"""The formulas: each score stays within 0 and 1 and moves in the right direction."""

import math
import re
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.providers import Calibration
from engine.search import score_cut_off, scoring
from engine.search.keyword_scores import Scored
from engine.search.pipeline_stages import Stages
from engine.search.scoring import Blend, Evidence

_AVERAGE = scoring.length_norm(100, 100)
shares = st.floats(0, 1)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_idf_is_never_negative_and_rarer_is_worth_more(documents: int, containing: int) -> None:
    idf = scoring.inverse_document_frequency(documents, containing)
    assert idf > 0
    if containing < documents:
        assert idf > scoring.inverse_document_frequency(documents, containing + 1)


def test_numbers_in_a_query_do_not_hide_its_unknown_language() -> None:
    calibration = Calibration(0.2, 0.8, 0.5, unknown=re.compile("[α-ω]"))
    assert not calibration.for_query("πού " + "2024 " * 40).known
    assert calibration.for_query("2024").known


def test_unknown_term_weighs_like_term_of_one_chunk() -> None:
    assert scoring.inverse_document_frequency(1000, 0) == scoring.inverse_document_frequency(1000, 1)


def test_a_term_in_every_chunk_still_counts_a_little() -> None:
    assert 0 < scoring.inverse_document_frequency(1000, 1000) < 0.001


@given(st.floats(0, 50), st.floats(0, 50), st.floats(1, 1000))
def test_more_occurrences_never_score_less(few: float, more: float, length: float) -> None:
    low, high = sorted((few, more))
    norm = scoring.length_norm(length, 100)
    assert scoring.term_score(2.0, low, norm) <= scoring.term_score(2.0, high, norm)


def _score(contributions: list[float], idfs: list[float]) -> float:
    return scoring.text_parts(contributions, scoring.Scale.of(idfs)).score


def test_words_elsewhere_raise_score_by_their_part_of_coverage() -> None:
    alone = scoring.text_parts([2.0, 0.0], scoring.Scale.of([2.0, 2.0]))
    helped = msgspec.structs.replace(alone, elsewhere=0.5)
    assert helped.evidence - alone.evidence == pytest.approx(helped.increases["file"])
    assert helped.increases["file"] > alone.increases["file"]


def test_all_terms_full_score_one_of_two_below_half() -> None:
    idfs = [6.0, 6.0]
    both = [scoring.term_score(idf, 2, _AVERAGE) for idf in idfs]
    assert _score(both, idfs) == 1.0
    assert 0.35 < _score([both[0] * 1.4, 0.0], idfs) < 0.5
    assert _score([], []) == 0.0


def test_one_word_of_three_scores_below_minimum() -> None:
    idfs = [6.0, 6.0, 6.0]
    assert _score([scoring.term_score(6.0, 9, _AVERAGE), 0.0, 0.0], idfs) < 0.35


def test_consecutive_words_score_by_distance() -> None:
    beside, apart, missing = (scoring.nearness(6.0, distance) for distance in (1, 20, math.inf))
    assert beside > apart > missing == 0
    assert beside < scoring.term_score(6.0, 4, _AVERAGE)
    scale = scoring.Scale.of([6.0, 6.0])
    parts = scoring.text_parts([4.0, 4.0], scale, beside)
    assert parts.score > scoring.text_parts([4.0, 4.0], scale, apart).score
    assert parts.score == pytest.approx((parts.bm25 + parts.nearness) / parts.full + parts.increases["coverage"])


def test_long_question_tolerates_missing_words() -> None:
    idfs = [6.0] * 8
    parts = [scoring.term_score(6.0, 2, _AVERAGE)] * 5 + [0.0] * 3
    assert _score(parts, idfs) > 5 / 8


@given(st.floats(0, 400), shares, st.integers(1, 10**6))
@example(60.0, 0.0, 1000)
def test_scores_by_keywords_alone_rise_only_for_long_queries(total: float, unknown: float, documents: int) -> None:
    factor = scoring.keywords_only_factor(total, unknown * total, documents)
    three_words = 3 * scoring.inverse_document_frequency(documents, 1)
    assert factor == pytest.approx(max(1.0, total / three_words) / (1 + 0.5 * unknown * (total > 0)))
    assert scoring.keywords_only_factor(2 * total, unknown * 2 * total, documents) >= factor - 1e-9


@pytest.mark.parametrize(("cosine", "score"), [(0.1, 0.0), (0.15, 0.0), (0.4, 0.5), (0.65, 1.0), (0.9, 1.0)])
def test_cosines_are_scaled_by_model_calibration(cosine: float, score: float) -> None:
    evidence = scoring.vector_evidence(cosine, Calibration(0.15, 0.65, 0.2))
    assert scoring.within_limits(evidence) == pytest.approx(score)


def _blend(base: float = 0.2, text: float = 0.0, terms: int = 2) -> Blend:
    return Blend.of(Calibration(0.0, 1.0, base), [Evidence(text, 1.0)], terms)


@given(shares, shares, shares)
def test_mean_blend_lies_between_its_parts(weight: float, text: float, vector: float) -> None:
    score = Blend.mean(weight).score(Evidence(text, vector))
    assert min(text, vector) - 1e-9 <= score <= max(text, vector) + 1e-9


@given(shares, shares, st.integers(0, 64), shares, shares, shares, st.booleans())
def test_blend_rises_with_each_part(
    base: float, best: float, terms: int, text: float, low: float, high: float, complete: bool
) -> None:
    blend = _blend(base, best, terms)
    low, high = sorted((low, high))
    assert blend.score(Evidence(text, low, complete)) <= blend.score(Evidence(text, high, complete)) + 1e-9
    assert blend.score(Evidence(low, text, complete)) <= blend.score(Evidence(high, text, complete)) + 1e-9
    assert 0 <= blend.text_share(Evidence(text, low, complete)) <= 1


@given(shares, st.floats(0.01, 1), st.floats(-3, 3))
def test_complete_or_rare_match_keeps_its_keyword_score(base: float, text: float, vector: float) -> None:
    for kept in (Evidence(text, vector, complete=True), Evidence(text, vector, rarity=1.0)):
        assert _blend(base, text).score(kept) >= text
        assert _blend(base, text).scores(kept)[1] == text


@given(shares, st.floats(0.01, 1), st.floats(-3, 3), shares)
def test_blend_never_lowers_the_part_from_names(base: float, text: float, vector: float, share: float) -> None:
    named = Evidence(text, vector, from_name=share * text)
    unnamed = msgspec.structs.replace(named, from_name=0.0)
    assert _blend(base, text).score(named) >= _blend(base, text).score(unnamed) - 1e-9
    whole = Evidence(text, vector, from_name=text)
    assert _blend(base, text).score(whole) >= text - 1e-9


@given(shares, st.integers(0, 64), shares, shares)
def test_meaning_weighs_no_less_the_worse_the_words_match(base: float, terms: int, worse: float, better: float) -> None:
    worse, better = sorted((worse, better))
    weights = [_blend(base, best, terms).vector_weight for best in (worse, better)]
    assert base - 1e-9 <= weights[1] <= weights[0] + 1e-9 <= max(base, 0.85) + 2e-9


def test_model_weight_rises_without_keyword_match() -> None:
    assert _blend(0.2, 1.0).vector_weight == pytest.approx(0.2)
    assert _blend(0.2, 0.0).vector_weight == pytest.approx(0.8)
    assert _blend(0.95, 0.0).vector_weight == pytest.approx(0.95)


def test_vectors_weigh_more_if_both_orders_agree() -> None:
    def weight(vectors: Iterable[float], base: float = 0.05) -> float:
        found = [Evidence(text / 10, vector) for text, vector in zip(range(5, 15), vectors, strict=True)]
        return Blend.of(Calibration(0.0, 1.0, base), found, 4).vector_weight

    rising = [1.1 + step / 10 for step in range(10)]
    assert weight(rising) == pytest.approx(0.15)
    assert weight(rising[::-1]) == weight([2.0] * 10) == pytest.approx(0.05)  # another order, or none
    assert weight(vector - 1.1 for vector in rising) == pytest.approx(0.05)  # nothing is near
    assert 0.05 < weight(vector - 0.8 for vector in rising) < 0.15
    assert weight(rising, 0.4) == pytest.approx(0.4)


def test_few_results_keep_calibrated_weight() -> None:
    found = [Evidence(text, 2 * text) for text in (0.8, 0.9, 1.0)]
    assert Blend.of(Calibration(0.0, 1.0, 0.05), found, 4).vector_weight == pytest.approx(0.05)


def test_keywords_decide_in_language_unknown_to_model() -> None:
    model = Calibration(0.0, 1.0, 0.2, known=False)
    few = Evidence(0.3, 0.0)
    assert Blend.of(model, [few], 2).vector_weight == 0.0
    assert Blend.of(model, [few], 2).text_part(few) == pytest.approx(0.3)


def test_other_meaning_lowers_a_high_keyword_score_less() -> None:
    blend = Blend(0.05, agreement=0.4)
    shares = [blend.agreeing(Evidence(text, 0.0)) for text in (0.3, 0.6, 0.9, 1.2)]
    assert shares == pytest.approx([0.6, 0.6, 0.8, 1.0])


@given(shares, shares, st.floats(0, 3), st.floats(0, 3))
def test_other_language_ranks_first_only_if_nearer(text: float, reached: float, vector: float, further: float) -> None:
    best = Evidence(text, vector)
    blend = Blend(0.05, agreement=0.4).with_foreign(best, reached)
    equal, nearer = (blend.score(Evidence(0.0, vector + more, foreign=True)) for more in (0.0, further))
    assert equal <= blend.score(best) + 1e-9
    assert equal <= nearer + 1e-9
    assert 0.05 * (vector + further) - 1e-9 <= nearer <= 0.8 * (vector + further) + 1e-9
    assert blend.score(Evidence(0.0, vector + 2, foreign=True)) > blend.score(best)


def test_nearer_other_language_ranks_above_words_by_chance() -> None:
    best, chance = Evidence(0.8, 1.8), Evidence(0.3, 0.65)
    blend = Blend(0.15, agreement=0.4).with_foreign(best, 0.2)
    scores = [blend.score(found) for found in (chance, Evidence(0.0, 1.2, foreign=True), best)]
    assert scores == sorted(scores)


def test_half_of_long_query_matches_half_of_short_not() -> None:
    assert _blend(0.2, 0.5, 10).vector_weight == pytest.approx(0.2)
    assert _blend(0.2, 0.3, 2).vector_weight == pytest.approx(0.8)


def test_keywords_without_agreeing_meaning_are_trusted_less() -> None:
    agreeing, disagreeing = (Blend.of(Calibration(0.0, 1.0, 0.2), [Evidence(0.6, vector)], 2) for vector in (1.0, 0.0))
    assert agreeing.vector_weight < disagreeing.vector_weight
    assert agreeing.score(Evidence(0.6, 0.0)) < 0.6


def test_a_chunk_without_a_vector_is_scored_by_its_words() -> None:
    assert _blend().score(Evidence(0.6, None)) == 0.6
    assert _blend().text_share(Evidence(0.6, None)) == 1.0


@pytest.mark.parametrize(
    ("score", "fresh", "keywords", "named", "kept"),
    [
        (0.5, 0.5, 0.0, False, (0.5, False)),
        (0.1, 0.5, 0.5, False, (0.4, True)),  # an old text with the words of the query
        (0.1, 0.5, 0.2, False, None),
        (0.1, 0.5, 0.0, True, (0.4, False)),  # an old note with the name
        (0.1, 0.3, 0.9, True, None),  # its name is no exact match, and its text misses the minimum
    ],
)
def test_old_results_stay_for_their_words_or_name(score, fresh, keywords, named, kept) -> None:
    scored = Scored(1, score, Evidence(keywords, None), None, fresh, keywords, named=named)
    results = score_cut_off.cut([scored], 0, 0.4, 0.3, Stages())
    assert [(one.score, one.by_keywords) for one in results] == ([kept] if kept else [])
