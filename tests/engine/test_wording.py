"""Sentences with numbers."""

import pytest

from engine.base.formatting import all_of, any_of, floored


@pytest.mark.parametrize(("share", "said"), [(1.0, "100%"), (0.9999, "99%"), (0.5, "50%"), (0.0, "0%")])
def test_share_below_one_is_never_rounded_up(share: float, said: str) -> None:
    assert floored(share) == said


def test_lists_have_their_last_word_joined() -> None:
    assert [all_of(()), all_of(("notes",)), all_of(("a", "b", "c"))] == ["", "notes", "a and b and c"]
    assert any_of(iter(("user", "tool"))) == "user or tool"
