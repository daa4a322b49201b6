"""Proximity of the query's terms: whole terms in two adjacent lines, in every form that the index finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.adjacent_lines import AdjacentLines
from engine.text import analyse_query


def scattered(query: str, text: str, language: str = "english") -> float:
    terms = [term for term in analyse_query(query, (language,)).terms if not term.stop]
    return AdjacentLines(terms, [1.0] * len(terms)).scattered(text, language)


def test_terms_in_one_line_or_the_next_are_together() -> None:
    assert scattered("beavers sluice", "The sluice and the beavers.\n\nRain.") == 0.0
    assert scattered("beavers sluice", "Rain.\nThe sluice is shut.\n\nThe beavers are back.") == 0.0


def test_terms_farther_apart_are_scattered() -> None:
    assert scattered("beavers sluice", "The sluice is shut.\nRain.\nThe beavers are back.") == pytest.approx(0.5)


def test_other_forms_of_a_word_count() -> None:
    assert scattered("beaver sluices", "Rain.\nBeavers.\nThe sluice is shut.") == 0.0
    assert scattered("beavers sluice", "Beaver.\nRain.\nSluices.") == pytest.approx(0.5)


def test_missing_terms_are_not_scattered() -> None:
    assert scattered("beavers sluice otters", "The sluice is shut.\nRain.\nMore rain.") == 0.0


def test_unspaced_scripts_are_looked_for_in_pairs() -> None:
    assert scattered("灌溉 水闸", "灌溉系统\n水闸关闭", "") == 0.0
    assert scattered("灌溉 水闸", "灌溉系统\n下雨\n水闸关闭", "") == pytest.approx(0.5)


@given(st.text(max_size=60), st.lists(st.text(max_size=30), max_size=8))
def test_scattered_share_is_between_0_and_1(query: str, lines: list[str]) -> None:
    assert 0.0 <= scattered(query, "\n".join(lines)) <= 1.0
