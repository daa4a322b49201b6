"""Content of charts from pure functions: the same marks are bars, rows and text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.widgets.charts.chart import tab_separated
from gui.widgets.charts.sync_history import SYNC_COLUMNS, sync_series
from tests.helpers.fake_records import make_summary


def test_tab_separated_has_titles_and_escapes_cells() -> None:
    assert tab_separated(("Name", "Count"), (("a\tb\nc", "1"), ("d", "2"))) == "Name\tCount\na b c\t1\nd\t2"


def test_sync_gives_bar_row_and_caption() -> None:
    sync = make_summary(
        started=1_000.0,
        seconds=75.0,
        reason="watch",
        files_indexed=3,
        chunks_indexed=1234,
        vectors_embedded=1000,
        vectors_reused=234,
        files_failed=2,
    )
    series = sync_series((sync,), now=1_075.0 + 120)
    (mark,) = series.marks
    assert len(mark.row) == len(SYNC_COLUMNS)
    assert mark.caption == "2 min ago · files changed · 1,234 passages, 2 files failed"
    assert [text for text, _ in mark.row][1:] == [
        "files changed",
        "1 min 15 s",
        "3",
        "1,234",
        "234",
        "1,000",
        "2",
        "done",
    ]
    assert "vectors reused: 234, 2 files failed in 1 min 15 s" in mark.detail
    assert series.idle_label == mark.caption
    assert not mark.failed


def test_failed_or_stopped_sync_is_named() -> None:
    error, stopped, old = sync_series(
        (make_summary(error="The disk is full."), make_summary(cancelled=True), make_summary(vectors_reused=None))
    ).marks
    assert error.failed
    assert error.row[-1][0] == "The disk is full."
    assert error.caption.endswith("failed")
    assert (stopped.failed, stopped.row[-1][0]) == (False, "stopped")
    assert old.row[5][0] == "–", "an unknown count is not shown as 0"
    assert "1 with an error" not in sync_series(()).summary


def test_idle_sync_has_visible_bar() -> None:
    idle, busy = sync_series((make_summary(chunks_indexed=0, vectors_embedded=0), make_summary(chunks_indexed=9))).marks
    assert 0 < idle.height < busy.height


@given(st.lists(st.text(), min_size=1))
def test_tab_separated_row_is_one_line_for_any_cells(texts: list[str]) -> None:
    copied = tab_separated([""] * len(texts), [texts])
    assert len(copied.split("\n")) == 2
    assert copied.count("\t") == 2 * (len(texts) - 1)


@pytest.mark.parametrize("count", [1, 2])
def test_chart_summary_counts_syncs_with_error(count: int) -> None:
    series = sync_series((make_summary(error="No."),) * count + (make_summary(),))
    assert f"{count} with an error" in series.summary
