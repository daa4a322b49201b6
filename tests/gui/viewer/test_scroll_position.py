"""Scrolling through lines before their heights are known."""

from hypothesis import given
from hypothesis import strategies as st

from gui.viewer.line_layout import ScrollPosition

HEIGHTS = st.lists(st.integers(1, 90), min_size=1, max_size=30)
VIEW = 100


def scroll_over(heights: list[int]) -> ScrollPosition:
    scroll = ScrollPosition(lambda number, enough: heights[number - 1], lambda number: heights[number - 1])
    scroll.reset(len(heights))
    scroll.resize(VIEW, len(heights))
    return scroll


def pixels_above(scroll: ScrollPosition, heights: list[int]) -> int:
    return sum(heights[: scroll.line - 1]) + scroll.hidden


@given(HEIGHTS, st.lists(st.integers(-300, 300), max_size=12))
def test_move_scrolls_exact_distance_within_text(heights: list[int], moves: list[int]) -> None:
    scroll = scroll_over(heights)
    at, end = 0, max(0, sum(heights) - VIEW)
    for move in moves:
        scroll.move(move)
        at = min(max(0, at + move), end)
        assert pixels_above(scroll, heights) == at


@given(HEIGHTS, st.integers(0, 3_000))
def test_any_bar_value_is_within_text(heights: list[int], value: int) -> None:
    scroll = scroll_over(heights)
    scroll.set_value(value, 20)
    assert 0 <= pixels_above(scroll, heights) <= max(0, sum(heights) - VIEW)
    assert 0 <= scroll.value(20) <= scroll.maximum(20)


@given(HEIGHTS)
def test_maximum_bar_value_is_end_of_text(heights: list[int]) -> None:
    scroll = scroll_over(heights)
    scroll.set_value(scroll.maximum(20), 20)
    assert pixels_above(scroll, heights) == max(0, sum(heights) - VIEW)
    assert scroll.value(20) == scroll.maximum(20)


@given(HEIGHTS, st.data())
def test_go_to_places_line_at_offset(heights: list[int], data: st.DataObject) -> None:
    line = data.draw(st.integers(1, len(heights)))
    scroll = scroll_over(heights)
    scroll.go_to(line, above=30)
    top = scroll.top_of(line)
    assert top is not None or heights[line - 1] > VIEW
    before = sum(heights[: line - 1])
    if 30 <= before <= sum(heights) - VIEW + 30:
        assert top == 30


def test_only_lines_near_view_are_laid_out() -> None:
    laid_out: set[int] = set()

    def height(number: int, _enough: float = 0) -> int:
        laid_out.add(number)
        return 20

    scroll = ScrollPosition(height, height)
    scroll.reset(2_000_000)
    scroll.resize(VIEW, 2_000_000)
    scroll.set_value(scroll.maximum(20) // 2, 20)
    scroll.move(300)
    assert len(laid_out) < 50


def test_empty_text_stays_at_start() -> None:
    scroll = scroll_over([])
    scroll.move(50)
    assert (scroll.line, scroll.hidden, scroll.maximum(20)) == (1, 0, 0)
