import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.window.palette_entries import match_words


def _marked(query: str, words: str) -> str:
    found = match_words(query, words)
    assert found is not None
    return "|".join(words[first:last] for first, last in found.marks)


@pytest.mark.parametrize(
    ("query", "words", "marked"),
    [
        ("wrap", "Wrap lines", "Wrap"),
        ("lin", "Wrap lines", "lin"),
        ("wl", "Wrap lines", "W|l"),
        ("lines wrap", "Wrap lines", "Wrap|lines"),
        ("nes", "Wrap lines", "nes"),
        ("wpls", "Wrap lines", "W|p|l|s"),
        ("", "Wrap lines", ""),
    ],
)
def test_match_words_marks_matching_parts(query, words, marked):
    assert _marked(query, words) == marked


@pytest.mark.parametrize(("query", "words"), [("x", "Wrap lines"), ("wrap x", "Wrap lines"), ("enil", "Wrap lines")])
def test_match_words_without_match_returns_none(query, words):
    assert match_words(query, words) is None


def test_better_matches_score_higher():
    scores = [
        match_words("sy", words).score
        for words in ("Sync now", "Look and sync", "Search yesterday", "Easy", "Show every")
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_match_in_side_text_scores_lower():
    beside = match_words("file wrap", "Wrap lines", "File · Alt+Z")
    assert beside is not None
    assert beside.marks == ((0, 4),)
    assert beside.score < match_words("wrap", "Wrap lines").score
    assert match_words("alt+z", "Wrap lines", "File Alt+Z") is not None


@given(st.text(max_size=12), st.text(max_size=40), st.text(max_size=20))
def test_marks_are_ordered_distinct_and_within_text(query, words, beside):
    found = match_words(query, words, beside)
    if found is not None:
        flat = [position for mark in found.marks for position in mark]
        assert flat == sorted(flat)
        assert len(set(flat)) == len(flat)
        assert all(0 <= position <= len(words) for position in flat)


@given(st.text(alphabet=st.characters(whitelist_categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=20))
def test_every_text_matches_itself(words):
    assert match_words(words, words) is not None or len(words.casefold()) != len(words)
