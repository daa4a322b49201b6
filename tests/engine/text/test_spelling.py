"""Typing errors, and the words that may have been meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.spelling import jamo, typos, variants, with_word_replaced, written


@pytest.mark.parametrize(
    ("word", "other", "expected"),
    [
        ("greenhuose", "greenhouse", 1),
        ("grenhouse", "greenhouse", 1),
        ("irigaton", "irrigation", 2),
        ("irigatn", "irrigation", None),
        ("теплеца", "теплица", 1),
        ("same", "same", 0),
        ("ca", "abc", None),
        ("", "ab", 2),
        ("abcdef", "abcdefghi", None),
    ],
)
def test_typos_counts_differing_letters(word: str, other: str, expected: int | None) -> None:
    assert typos(word, other, 2) == expected
    assert typos(other, word, 2) == expected


WORD = st.text(alphabet="abcde", max_size=8)


@given(WORD, WORD, st.integers(0, 3))
def test_number_of_typos_is_symmetric_and_limited(word: str, other: str, most: int) -> None:
    found = typos(word, other, most)
    assert found == typos(other, word, most)
    assert found is None or 0 <= found <= most
    assert (found == 0) == (word == other)
    if found is None:
        further = typos(word, other, 99)
        assert further is not None
        assert further > most


@given(st.text(alphabet="abcdefghij", min_size=2, max_size=9), st.integers(1, 4))
def test_every_variant_is_one_typo_away(word: str, head: int) -> None:
    for other in variants(word, head):
        assert typos(word, other, 1) == 1
        assert other.endswith(word[head + 1 :])


@pytest.mark.parametrize(
    ("slip", "word"),
    [("geenhouse", "greenhouse"), ("rgeenhouse", "greenhouse"), ("теелица", "теплица"), ("δερμοκήπιο", "θερμοκήπιο")],
)
def test_a_slip_at_the_beginning_is_among_the_variants(slip: str, word: str) -> None:
    assert word in variants(slip, 4)


def test_a_korean_syllable_is_compared_by_its_letters() -> None:
    assert typos(jamo("전화벟호"), jamo("전화번호"), 1) == 1
    assert typos(jamo("가나"), jamo("강나"), 1) == 1


@pytest.mark.parametrize(
    ("text", "token", "found"),
    [
        ("Das **Gewächshaus** ist zu.", "gewachshaus", "Gewächshaus"),
        ("see os.replace_all here", "replace", "replace"),
        ("전화번호를 적어 두었다", "전화번호", "전화번호"),
        ("nothing of it", "greenhouse", None),
    ],
)
def test_a_word_is_shown_as_it_is_written(text: str, token: str, found: str | None) -> None:
    assert written(text, token) == found


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("the cat, a catalogue and a bobcat; cat_food", "cat", "the _, a catalogue and a bobcat; cat_food"),
        ("a-a-a", "a-a", "_-a"),
        ("xa-a-a", "a-a", "xa-_"),
        ("API를 API", "API", "_를 _"),
        ("設定設 定 設定", "設定", "設定設 定 _"),
        ("", "cat", ""),
    ],
)
def test_only_whole_words_are_replaced(text: str, word: str, expected: str) -> None:
    assert with_word_replaced(text, word, "_") == expected


def test_no_more_words_than_wanted_are_replaced() -> None:
    assert with_word_replaced("cat cat cat", "cat", "dog", most=1) == "dog cat cat"
