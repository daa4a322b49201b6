"""JSON values of uncertain type as times, texts and inputs of tools."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.transcripts.json_values import between, content, items, mapping, seconds, string, tool_input

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "time"),
    [
        (1_700_000_000, 1_700_000_000.0),
        (1_700_000_000_500, 1_700_000_000.5),
        (99_999_999_999, 99_999_999_999.0),
        (100_000_000_000, 100_000_000.0),
        ("2026-03-09T10:00:00.250Z", 1_773_050_400.25),
        ("2026-03-09T12:00:00+02:00", 1_773_050_400.0),
        ("2026-03-09T10:00:00", 1_773_050_400.0),
        (0, None),
        (-5, None),
        (True, None),
        (math.nan, None),
        (math.inf, None),
        (10**400, None),
        ("yesterday", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
        ([1_700_000_000], None),
    ],
)
def test_a_time_is_read_in_any_unit_that_programs_write(value: object, time: float | None) -> None:
    assert seconds(value) == time


def test_the_first_usable_time_counts() -> None:
    assert seconds(None, "never", 1_700_000_000_000, 5) == 1_700_000_000.0
    assert seconds() is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        ({"command": "ls -l"}, "ls -l"),
        ({"limit": 3}, '{\n  "limit": 3\n}'),
        ({"path": "ä.md", "limit": 3}, '{\n  "path": "ä.md",\n  "limit": 3\n}'),
        ([1], "[\n  1\n]"),
        (["half \ud800"], '[\n  "half \ud800"\n]'),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_input_of_a_tool_is_made_readable(value: object, text: str) -> None:
    assert tool_input(value) == text


def test_too_deeply_nested_input_has_a_notice() -> None:
    value: list[object] = []
    for _ in range(5000):
        value = [value]
    assert tool_input(value) == "[nested too deeply to be shown]"


@given(json_values)
def test_any_json_value_converts_to_valid_types(value: object) -> None:
    time = seconds(value)
    assert time is None or 0 < time < 253_402_300_800
    assert isinstance(tool_input(value), str)
    assert isinstance(string(value), str)
    assert isinstance(mapping(value), dict)
    assert isinstance(items(value), list)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (None, ""),
        (["a", {"type": "text", "text": "b"}, 7, {"text": 3}, ""], "a\nb"),
        ([{"type": "input_image", "image_url": "data:image/png;base64,iVBO"}], "[image: PNG, 1 KB]"),
        ({"type": "document", "source": {"data": "JVBE"}}, "[document]"),
        (
            {"type": "web_search_result", "title": "Sails", "url": "https://a.b", "encrypted_content": "x"},
            "Sails https://a.b",
        ),
        ({"type": "odd type\n"}, ""),
    ],
)
def test_non_text_block_is_shown_by_its_type(value: object, text: str) -> None:
    assert content(value) == text


def test_between_returns_text_or_nothing_without_both_marks() -> None:
    assert between("a <x>b</x> c</x>", "<x>", "</x>") == "b"
    assert between("a <x>b", "<x>", "</x>") == between("b</x>", "<x>", "</x>") == ""
    assert between("</x> <x></x>", "<x>", "</x>") == ""
