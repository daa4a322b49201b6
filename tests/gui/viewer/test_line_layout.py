"""A long line that is laid out in pieces looks like the whole line."""

import math
from itertools import accumulate, pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QRectF

from gui.style.typography import Typography
from gui.text.plain_text import utf16_length
from gui.viewer import line_layout
from gui.viewer.line_layout import LineLayout, LineStyle

KINDS = (
    "地下鉄の駅から歩いて五分、水やりのタイマーは動いていない。",
    "灌溉定时器又跳过了星期二 with a word or two, then 北边的菜地 ",
    "🌱👩🏽‍🌾🇨🇭 grows e\u0301 tall ",
    "สวัสดีชาวสวน รดน้ำต้นไม้ ",
    "Сегодня полив не включился. ",
    "नमस्ते बगीचे का टाइमर ",
)
EMOJI = KINDS[2]
PARTS = (*KINDS[:-1], "a" * 90, "字" * 60, "https://example.org/a/b?c=d ")
WRAPS = (None, 300, 613)


def lay_out(text: str, wrap: int | None, *, mark: str = "", pieces: bool = True) -> LineLayout:
    style = LineStyle(Typography.current(), wrap)
    with pytest.MonkeyPatch.context() as patch:
        if not pieces:
            patch.setattr(line_layout, "_PIECE", 1 << 30)
            patch.setattr(line_layout, "_WRAPPED_PIECE", 1 << 30)
        laid = LineLayout(text, mark, style)
    laid.rows_within(math.inf)
    laid.lay_out_area(QRectF(0, 0, 1e7, 1e7), math.inf)
    return laid


def everything(laid: LineLayout) -> tuple[object, ...]:
    rows = laid.rows_within(math.inf)
    height = laid.row_height
    columns = [laid.column_at(x, row * height + 3) for row in range(0, rows, 7) for x in (0, 55, 290, 2_000, 9_000)]
    boxes = [
        (row, round(left), round(right))
        for start in range(0, laid.length - 4, 397)
        for row, left, right in laid.spans(start, start + 4)
    ]
    whole = [(row, round(left), round(right)) for row, left, right in laid.spans(0, laid.length)]
    starts = [laid.row_start(row) for row in range(rows)]
    return rows, starts, [laid.row_of(start) for start in starts], columns, boxes, whole, round(laid.end_x())


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_match_layout_of_whole_line(qtbot, appearance, kind: str, wrap: int | None) -> None:
    text = (kind * 200)[:3_000]
    laid = lay_out(text, wrap, mark=" … cut")
    assert len(laid.pieces) > 4
    assert everything(laid) == everything(lay_out(text, wrap, mark=" … cut", pieces=False))


@pytest.mark.parametrize("wrap", WRAPS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mixed_scripts_match_layout_of_whole_line(qtbot, appearance, wrap: int | None, data: st.DataObject) -> None:
    """Differences of a pixel or two are allowed.

    An emoji is drawn with the preceding script, and a font for Hindi may be missing. In a wrapped line, a pixel may
    move a word to another row.
    """
    kinds = st.sampled_from([part for part in PARTS if wrap is None or part != EMOJI])
    parts = data.draw(st.lists(kinds, min_size=40, max_size=60))
    text = "".join(parts)
    laid, whole = lay_out(text, wrap), lay_out(text, wrap, pieces=False)
    rows = laid.rows_within(math.inf)
    assert rows == whole.rows_within(math.inf)
    assert [laid.row_start(row) for row in range(rows)] == [whole.row_start(row) for row in range(rows)]
    ends = list(accumulate(utf16_length(part) for part in parts))
    for start, end in pairwise([0, *ends]):
        mine, theirs = list(laid.spans(start, end)), list(whole.spans(start, end))
        assert [row for row, _, _ in mine] == [row for row, _, _ in theirs]
        for one, other in zip(mine, theirs, strict=True):
            assert one[1:] == pytest.approx(other[1:], abs=3)


@pytest.mark.parametrize("text", ["שלום גן ירק " * 300, "字\t" * 600, "plain words " * 300])
def test_right_to_left_tab_and_plain_lines_are_one_piece(qtbot, appearance, text: str) -> None:
    assert len(lay_out(text, None).pieces) == 1


@pytest.mark.parametrize("wrap", WRAPS)
def test_only_visible_pieces_are_laid_out(qtbot, appearance, wrap: int | None) -> None:
    laid = LineLayout(KINDS[0] * 600, "", LineStyle(Typography.current(), wrap))
    assert laid.lay_out_area(QRectF(0, 0, 600, 400), math.inf)
    assert len(laid.pieces) < 6
    assert laid.rows_within(10) >= (10 if wrap else 1)
    assert not laid.complete
    assert laid.guessed_rows == pytest.approx(lay_out(laid.text, wrap).rows_within(math.inf), rel=0.1)


def test_line_layout_stops_at_its_time_limit(qtbot, appearance) -> None:
    laid = LineLayout(KINDS[0] * 600, "", LineStyle(Typography.current(), 300))
    assert not laid.lay_out_area(QRectF(0, 0, 300, 1e6), 0)
    assert len(laid.pieces) == 1


@pytest.mark.parametrize("mark", ["\ufeff", "\ufffe"])
def test_byte_order_mark_keeps_columns(qtbot, appearance, mark: str) -> None:
    laid = lay_out(f"{mark}次 words", None)
    [(_row, left, _right)] = laid.spans(3, 8)
    assert laid.column_at(left + 1, 3) == 3
    assert laid.pieces[0].layout.text() == laid.drawn_text
