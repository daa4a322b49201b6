"""Positions where text may be cut between characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.writing_systems import cut, shortened

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
PIECES = [FAMILY, "e\u0301", "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd", "नि", "\r\n", "a", " ", "漢", "❤\ufe0f"]


@pytest.mark.parametrize("whole", [piece for piece in PIECES if len(piece) > 1])
def test_user_perceived_character_stays_whole(whole: str) -> None:
    for most in range(1, len(whole)):
        assert cut(f"x{whole}y", 1 + most) == "x"
    assert cut(f"x{whole}y", 1 + len(whole)) == f"x{whole}"


def test_cut_keeps_flag_emojis_whole() -> None:
    flags = "\U0001f1e9\U0001f1ea" * 3
    assert [len(cut(flags, most)) for most in range(2, 7)] == [2, 2, 4, 4, 6]


def test_character_with_endless_accents_is_cut() -> None:
    assert cut("a" + "\u0301" * 500, 300) == "a" + "\u0301" * 299


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=20), most=st.integers(-1, 60))
def test_cut_splits_no_character_and_loses_at_most_one(pieces: list[str], most: int) -> None:
    text = "".join(pieces)
    shortened = cut(text, most)
    assert text.startswith(shortened)
    assert len(shortened) <= max(0, most)
    ends = [0]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    # "\r" and "\n" of neighbours never meet here; two flags beside each other are two.
    assert len(shortened) in ends or len(shortened) == most
    assert len(shortened) >= min(max(0, most), len(text)) - len(FAMILY)


@given(text=st.text(max_size=300), most=st.integers(0, 300))
def test_cut_text_is_a_prefix_within_the_limit(text: str, most: int) -> None:
    assert text.startswith(cut(text, most))
    assert len(cut(text, most)) <= most


def test_shortened_text_ends_in_ellipsis_after_whole_character() -> None:
    assert shortened("four", 4) == "four"
    assert shortened("five words", 6) == "five…"
    assert shortened("ab\U0001f1e9\U0001f1ea", 4) == "ab\U0001f1e9\U0001f1ea"
    assert shortened("a\U0001f1e9\U0001f1eabc", 3) == "a…"
