from typing import Any

import msgspec
import pytest

from engine.records import Increase, ResultExplanation, TermMatch
from engine.search.result_reasons import reasons_of
from tests.helpers.fake_explanations import make_reason


def _sentences(reason: ResultExplanation) -> dict[str, str]:
    return {of.part: str(of) for of in reasons_of(reason)}


def test_every_part_of_a_score_has_its_reason_in_order() -> None:
    sentences = _sentences(make_reason())
    assert list(sentences) == ["words", "meaning", "mixture", "age", "position", "threshold"]
    assert sentences["words"] == (
        "The words score 0.71: “timer” 0.46 (heading and text), “irrigation” 0.25 (text), near "
        "each other 0.03. Missing words: “skipped”. The BM25 sum of 6.8, plus 0.3 for words near each "
        "other, is 71% of a full match (10.0)."
    )
    assert sentences["meaning"] == (
        "The meaning scores 0.63: a cosine of 0.465 is 63% of this model's range from 0.15 to 0.65."
    )
    assert sentences["mixture"] == "Meaning counts 30% and words 70%: 0.30 × 0.63 + 0.70 × 0.71 = 0.69."
    assert sentences["age"] == (
        "The passage dates from 2026-02-08, according to its name, and loses half of its score "
        "in 30 days: × 0.50 = 0.34."
    )
    assert sentences["position"] == (
        "The result is number 3 in the list but number 1 by score: 0.12 was deducted because it "
        "is similar to topics/shopping.md#L1-L3."
    )
    assert _sentences(make_reason(score=0.35, text_score_only=True))["threshold"] == (
        "Shown because it has enough words of the query, so it gets the minimum score, 0.35."
    )


def test_reason_of_mixture_says_why_meaning_counts_little() -> None:
    reason = make_reason(text_weight=1.0, vector_weight=0.1)
    assert _sentences(reason)["mixture"].startswith(
        "Passages match the words of the query, so meaning counts little. Meaning counts 10% and words 100%: "
    )


def test_reason_of_mixture_names_other_language() -> None:
    reason = make_reason(text_weight=1.0, vector_weight=0.6, raised_weight=True)
    assert _sentences(reason)["mixture"].startswith(
        "The passage is in another language than the query, so its meaning counts more. Meaning counts 60% and "
    )


def test_reason_of_doubted_words_says_why_they_count_less() -> None:
    reason = make_reason(text_weight=1.0, agreement=0.6, vector_score=0.0, vector_evidence=-0.5, vector_weight=0.65)
    assert _sentences(reason)["mixture"] == (
        "No passage matches the words of the query well, so meaning counts more than usual. Some "
        "words are missing and the meaning differs, so only 60% of the words' score counts. "
        "Meaning counts 65% and words 60%: 0.65 × -0.50 + 0.60 × 0.71 = 0.10."
    )


@pytest.mark.parametrize("changes", [{"named": True}, {"vector_score": None}, {"vector_weight": 0.0}])
def test_words_score_is_never_less_than_its_parts(changes: dict[str, Any]) -> None:
    parts = (TermMatch("heron", 1.28, 4.7, 9, ("title",)),)
    full = {"text_score": 1.0, "text_evidence": 1.28, "terms": parts, "proximity": 0.0, "text_weight": 1.0}
    sentences = _sentences(make_reason(**full | changes))
    assert sentences["words"].startswith("The words score 1.28: “heron” 1.28 (title).")
    assert sentences["mixture"] in (
        "The title or file name equals the query or begins with it, which alone is a full match, 1.00.",
        "The score of 1.28 is shown as 1.00.",
    )


def test_similar_result_that_keeps_its_place_is_explained() -> None:
    assert _sentences(make_reason(rank=2, score_rank=2))["position"] == (
        "The result is number 2 both in the list and by score, although 0.12 was deducted because it is similar to "
        "topics/shopping.md#L1-L3."
    )


def test_reason_of_position_names_better_words_elsewhere() -> None:
    reason = make_reason(mmr_similar_to="", rank=2, score_rank=2, vector_share=0.25)
    sentence = "The words match better in another workspace, so only 25% of this result's score by meaning counts "
    assert _sentences(reason)["position"] == f"{sentence}in the order."


def test_reason_of_keywords_alone_shows_their_factor() -> None:
    alone = make_reason(vector_score=None, vector_evidence=None, cosine=None, text_weight=1.3)
    sentence = "Only words count, so the length of the query and its unknown words change the score: × 1.30."
    assert _sentences(alone)["mixture"] == sentence
    unknown = _sentences(make_reason(language_known=False, vector_weight=0.0, text_weight=1.3))["mixture"]
    assert unknown == f"The model does not know the query's language, so only its words count. {sentence}"
    assert "mixture" not in _sentences(msgspec.structs.replace(alone, text_weight=1.0))


def test_reasons_of_mixture_show_the_scores_that_are_added() -> None:
    reason = make_reason(text_score=1.0, text_evidence=1.12, vector_score=0.0, vector_evidence=-0.1)
    sentences = _sentences(reason)
    assert sentences["mixture"] == "Meaning counts 30% and words 70%: 0.30 × -0.10 + 0.70 × 1.12 = 0.75."
    assert sentences["words"].startswith("The words score 1.12: ")
    assert sentences["meaning"].startswith("The meaning scores -0.10: ")
    alone = msgspec.structs.replace(reason, vector_score=None, vector_evidence=None, cosine=None)
    assert _sentences(alone)["words"].startswith("The words score 1.12: ")
    assert "mixture" in _sentences(msgspec.structs.replace(alone, text_weight=1.0))


def test_zero_parts_left_out() -> None:
    plain = make_reason(
        vector_score=None, cosine=None, cosine_low=None, cosine_high=None, vector_weight=0.0, text_weight=1.0,
        date_origin=None, date=None, mmr_similar_to="", rank=1, score_rank=1, min_score=0.0,
    )  # fmt: skip
    assert _sentences(plain).keys() == {"words", "meaning"}
    assert _sentences(plain)["meaning"] == "The meaning was not compared."


def test_reason_names_missing_vector() -> None:
    sentences = _sentences(make_reason(vector_score=None, cosine=None, vector_weight=0.0, text_weight=1.0))
    assert sentences["meaning"] == "The passage has no vector yet, so only its words count."
    assert "mixture" not in sentences


def test_reason_says_that_cosine_is_out_of_range() -> None:
    assert "0.050 lies below this" in _sentences(make_reason(cosine=0.05, vector_score=0.0))["meaning"]
    assert "0.700 lies above this" in _sentences(make_reason(cosine=0.7, vector_score=1.0))["meaning"]


def test_semantic_hit_names_missing_words() -> None:
    sentences = _sentences(make_reason(terms=(), text_score=0.0, bm25=0.0, missing=("timer",)))
    assert sentences["words"] == "The passage contains none of the words: “timer”."
    unknown = make_reason(terms=(), text_score=0.0, bm25=0.0, full_bm25=0.0, missing=("timer",))
    assert _sentences(unknown)["words"] == sentences["words"]
    listed = make_reason(terms=(), missing=(), full_bm25=0.0, bm25=0.0)
    assert _sentences(listed)["words"] == "The query has no words to score."


def test_unknown_language_of_query_is_reported() -> None:
    sentences = _sentences(make_reason(vector_weight=0.0, text_weight=1.0, language_known=False))
    assert sentences["mixture"] == "The model does not know the query's language, so only its words count."


def test_effect_of_missing_words_on_bm25_is_stated() -> None:
    sentences = _sentences(make_reason(from_bm25=0.5, coverage=0.5))
    assert sentences["words"].endswith("Missing words lower the value of the BM25 sum to 0.50.")
    raised = _sentences(make_reason(bm25=1.0, from_bm25=0.35, coverage=1.0, increases=(Increase("coverage", 0.21),)))
    assert raised["words"].endswith(
        "The share of the query in the passage raises this value to 0.35. "
        "The passage contains 100% of the query, weighted by rarity: 0.21 more."
    )
    full = _sentences(make_reason(bm25=12.0, from_bm25=1.23))
    assert full["words"].endswith(
        "The BM25 sum of 12.0, plus 0.3 for words near each other, is 123% of a full match (10.0)."
    )
    common = _sentences(make_reason(bm25=0.004, full_bm25=0.0025, from_bm25=1.63))
    assert common["words"].endswith(
        "The BM25 sum is tiny, since nearly all passages contain the words; it is 163% of a full match."
    )


def test_evergreen_notes_do_not_age() -> None:
    assert (
        _sentences(make_reason(date_origin="evergreen", date=None, half_life_days=None))["age"]
        == "The passage keeps its full score at any age."
    )


def test_reason_lists_only_first_of_many_words() -> None:
    terms = tuple(TermMatch(term=f"w{number}", score=0.1, bm25=1.0, chunks=1) for number in range(12))
    missing = tuple(f"m{number}" for number in range(9))
    sentences = _sentences(msgspec.structs.replace(make_reason(), terms=terms, missing=missing))
    assert "“w7” 0.10 and 4 more, near" in sentences["words"]
    assert "“m7” and 1 more." in sentences["words"]


def test_title_equal_to_query_is_full_match() -> None:
    sentences = _sentences(make_reason(named=True, fresh_score=1.0))
    assert sentences["mixture"].startswith("The title or file name equals the query or begins with it, which alone")
    assert sentences["threshold"].startswith("Shown because its title matches")
