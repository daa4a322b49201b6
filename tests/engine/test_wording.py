"""Sentences with numbers."""

import pytest

from engine.base.formatting import all_of, any_of, floored


@pytest.mark.parametrize(
    ("part", "whole", "percentage"), [(2, 2, "100%"), (9_999, 10_000, "99%"), (1, 2, "50%"), (0, 1, "0%")]
)
def test_share_below_one_is_never_rounded_up(part: int, whole: int, percentage: str) -> None:
    assert floored(part, whole) == percentage


def test_whole_percentages_stay_as_they_are() -> None:
    assert [floored(part, 100) for part in range(101)] == [f"{part}%" for part in range(101)]


def test_items_of_a_list_are_joined_by_and_or_or() -> None:
    assert [all_of(()), all_of(("notes",)), all_of(("a", "b", "c"))] == ["", "notes", "a and b and c"]
    assert any_of(iter(("user", "tool"))) == "user or tool"
