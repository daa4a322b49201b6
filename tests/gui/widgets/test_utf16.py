"""Conversions between code points and UTF-16 units."""

from hypothesis import given
from hypothesis import strategies as st

from gui.widgets.utf16 import code_point_offset, utf16_length, utf16_ranges

TEXT = st.text(st.sampled_from("aé水\U0001f331\U0001d54f "), max_size=20)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def test_ranges_shift_after_emoji() -> None:
    assert utf16_ranges("a\U0001f331b", [(0, 1), (1, 2), (2, 3)]) == [(0, 1), (1, 3), (3, 4)]


@given(TEXT)
def test_length_matches_encoder(text: str) -> None:
    assert utf16_length(text) == units(text)


@given(TEXT, st.data())
def test_ranges_match_encoder(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    ranges = list(zip(cuts[::2], cuts[1::2], strict=False))
    assert utf16_ranges(text, ranges) == [(units(text[:start]), units(text[:end])) for start, end in ranges]


@given(TEXT)
def test_offsets_round_trip(text: str) -> None:
    for offset in range(len(text) + 1):
        assert code_point_offset(text, units(text[:offset])) == offset


def test_offset_inside_surrogate_pair_maps_to_its_start() -> None:
    assert code_point_offset("ab\U0001f331c\U0001f331", 3) == 2
    assert code_point_offset("ab\U0001f331c\U0001f331", 6) == 4
