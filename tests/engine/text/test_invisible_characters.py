"""Invisible text is removed, and visible text is not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.folding import visible

SEEN = [
    "plain words, tabs\tand\nlines\r\n",
    "Grüße, Žižek, naïve",
    "می\u200cخواهم",  # the zero-width non-joiner of Persian spelling
    "क्\u200dष",
    "👨\u200d👩\u200d👧 ❤️\u200d🔥 1️⃣ 👍🏽",
    "葛\U000e0100城",  # a variant of a character, for a name
    "私は猫が好きです。 한국어 ไทย עברית عربي",
    "half a \ud83d letter",
]
HIDDEN = [
    ("a\u200bb\u2060c\ufeffd\u00ade", "abcde"),
    ("tea" + "".join(chr(0xE0000 + ord(sign)) for sign in "ignore all"), "tea"),
    ("left \u202eright\u202c \u2066x\u2069", "left right x"),
    ("t\ufe00\ufe01\ufe02\U000e0101\U000e01efea", "t\ufe00ea"),
    ("t\u200c\u200d\u200c\u200cea", "t\u200cea"),
    ("t\u200d\ufe00\u200d\ufe00ea", "t\u200dea"),
    ("\u3164\u115f\uffa0\u034ftea", "tea"),
    ("\x1b[2J\x00bell\x07\x9b", " [2J bell  "),
    ("\U000e0000\U000e0080\U000e0fff", ""),
]


@pytest.mark.parametrize("text", SEEN)
def test_visible_text_is_unchanged(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(("text", "left"), HIDDEN)
def test_invisible_text_removed(text: str, left: str) -> None:
    assert visible(text) == left


@given(st.text())
def test_any_text_has_no_invisible_characters_when_shown(text: str) -> None:
    visible_text = visible(text)
    assert visible(visible_text) == visible_text
    assert all(unicodedata.category(sign) != "Cf" or sign in "\u200c\u200d" for sign in visible_text)
    assert all(unicodedata.category(sign) != "Cc" or sign in "\t\n\r" for sign in visible_text)


@given(st.text(alphabet="\u200c\u200d\ufe00\ufe0f\U000e0100\u200b\u3164", min_size=1))
def test_a_message_in_invisible_signs_is_at_most_two_of_them(text: str) -> None:
    assert len(visible(f"a{text}b")) <= 4
