import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.query_introductions import INTRODUCTIONS, subject

_PATTERNS = [pattern for patterns in INTRODUCTIONS.values() for pattern in patterns]


@pytest.mark.parametrize("pattern", _PATTERNS)
@given(st.data())
def test_every_introduction_is_found_by_its_first_word(pattern: str, data) -> None:
    alone = re.sub(r"\(\?= .*\)\Z", "", pattern)
    introduction, rest = data.draw(st.from_regex(re.compile(alone), fullmatch=True)), " pump valves 5 yaz"
    assert subject(introduction + rest) == (len(introduction), len(introduction + rest))


@pytest.mark.parametrize(
    "text", ["which note says", "the one about a", "note about it", "pumps of the valve", "", "  "]
)
def test_a_query_without_a_subject_is_searched_whole(text: str) -> None:
    assert subject(text) == (0, len(text))
