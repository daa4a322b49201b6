from itertools import pairwise

import msgspec
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QWidget

from engine import BatchJobStatus, FallbackStatus, FileIssue, SourceCount
from gui.text.status_texts import STALL_SECONDS, sync_line
from gui.widgets.labels import ElidedLabel
from gui.widgets.sync_bar import ProgressLine, SyncBar
from tests.helpers.fake_records import make_estimate, make_progress, make_status, make_summary

NOW = 1_772_535_600.0
FAILED = (FileIssue(path="a.md", rule="not-utf-8", detail="Byte 0xE9."),)
LAST = make_summary(started=NOW - 121.2, seconds=1.2)


def _line(stalled_for: float = 0.0, **changes):
    return sync_line(make_status(**changes), now=NOW, stalled_for=stalled_for)


def test_running_sync_shows_progress_rate_and_file():
    line = _line(syncing=make_progress())
    assert (line.state, line.word, line.count) == ("working", "Embedding", "12,480 of 26,043 passages")
    assert line.detail == "118/s · 1 min 55 s left · reused 9,112"
    assert line.file == "memory/projects/greenhouse.md"
    assert line.fraction == pytest.approx(12_480 / 26_043)


def test_unknown_total_shows_no_count():
    line = _line(syncing=make_progress(phase="discovering", completed=0, total=0, rate=0, seconds_left=None, reused=0))
    assert (line.word, line.count, line.detail, line.fraction) == ("Looking for files", "", "", 0.0)


def test_ten_seconds_without_progress_is_stalled_unless_paused():
    assert _line(STALL_SECONDS - 0.1, syncing=make_progress()).word == "Embedding"
    stalled = _line(14, syncing=make_progress())
    assert (stalled.state, stalled.word) == ("degraded", "Stalled")
    assert stalled.detail == "on greenhouse.md, no progress for 14 s"
    paused = _line(14, syncing=make_progress(), paused=True)
    assert (paused.word, paused.detail, paused.paused) == ("Paused", "reused 9,112", True)


def test_model_that_is_loading_is_not_stalled():
    first = make_progress(completed=0, rate=0, seconds_left=None)
    assert _line(29, syncing=first, provider="embedded").word == "Embedding"
    assert _line(30, syncing=first, provider="embedded").word == "Stalled"
    assert _line(14, syncing=first, provider="openai").word == "Stalled"


def test_waiting_for_batch_jobs_is_not_stalled():
    step = make_progress(waiting=2, completed=0, rate=0, seconds_left=None, reused=0)
    line = _line(3600, syncing=step, provider="openai")
    assert (line.state, line.word, line.detail) == ("working", "Waiting", "for 2 batch jobs of openai")
    assert _line(3600, syncing=step, paused=True).word == "Paused"


def test_waiting_for_other_process_is_not_stalled():
    step = make_progress(phase="waiting", completed=0, total=0, rate=0, seconds_left=None, reused=0, current_file="")
    line = _line(3600, syncing=step)
    assert (line.state, line.word, line.running) == ("working", "Waiting", True)
    assert line.detail == "another program is writing this index"
    assert (line.count, line.fraction) == ("", 0.0)
    assert _line(3600, syncing=step, paused=True).word == "Paused"


def test_chunks_pending_in_batch_job_are_shown_separately():
    job = BatchJobStatus(
        provider="openai", model="small", id="b1", state="in_progress", texts=12, created=NOW, attempt=1
    )
    batch = msgspec.structs.replace(make_status().batch, jobs=(job,))
    line = _line(last_sync=LAST, pending_vectors=12, batch=batch)
    assert line.detail == "12 passages without a vector yet · 1 batch job under way · 2 min ago"
    stopped = make_summary(started=NOW - 60, seconds=0, cancelled=True)
    line = _line(last_sync=stopped, pending_vectors=12, batch=batch)
    assert line.word == "Stopped"
    assert line.detail == "12 passages without a vector yet · 1 batch job under way · 1 min ago"


@pytest.mark.parametrize(
    ("changes", "state", "word", "detail"),
    [
        ({"last_sync": LAST}, "fine", "Up to date", "2 min ago"),
        ({"last_sync": LAST, "failed_files": FAILED}, "degraded", "Up to date", "2 min ago"),
        ({"last_sync": LAST, "dirty": True}, "working", "Changes waiting", "2 min ago"),
        ({"last_sync": make_summary(started=NOW, seconds=0, error="Full.")}, "degraded", "Update failed", "just now"),
        ({"last_sync": make_summary(started=NOW - 60, seconds=0, cancelled=True)}, "off", "Stopped", "1 min ago"),
        ({"files": 0}, "off", "Nothing indexed yet", ""),
        ({"custom": {"readOnly": "No rights."}, "last_sync": LAST}, "degraded", "Index is read-only", "No rights."),
        ({"writer_elsewhere": True}, "working", "Another program is indexing", "You can search meanwhile."),
        (
            {"last_sync": LAST, "pending_vectors": 1234},
            "working",
            "Keyword search is ready",
            "1,234 passages without a vector yet · 2 min ago",
        ),
        (
            {"last_sync": LAST, "pending_vectors": 1234, "awaiting_approval": make_estimate()},
            "degraded",
            "Keyword search is ready",
            "1,234 passages wait for your approval · 2 min ago",
        ),
        (
            {"last_sync": LAST, "pending_vectors": 1, "awaiting_approval": make_estimate()},
            "degraded",
            "Keyword search is ready",
            "1 passage waits for your approval · 2 min ago",
        ),
        (
            {"last_sync": make_summary(started=NOW - 121.2, cancelled=True), "pending_vectors": 16},
            "off",
            "Stopped",
            "16 passages without a vector yet · 2 min ago",
        ),
        (
            {"last_sync": LAST, "pending_vectors": 1234, "provider": "none", "requested_provider": "none"},
            "fine",
            "Up to date",
            "2 min ago",
        ),
        (
            {
                "last_sync": LAST,
                "provider": "embedded",
                "fallback": FallbackStatus("openai", "No credit."),
            },
            "degraded",
            "Up to date",
            "Built-in model instead of OpenAI-compatible · 2 min ago",
        ),
        (
            {
                "last_sync": LAST,
                "fallback": FallbackStatus("qmd", "Too slow."),
                "custom": {"fallback": {"disabled": True, "reason": "Too slow."}},
            },
            "degraded",
            "Up to date",
            "built-in index instead of qmd · 2 min ago",
        ),
        (
            {"last_sync": LAST, "provider": "none", "custom": {"providerUnavailableReason": "There is no API key."}},
            "degraded",
            "Keyword search only",
            "There is no API key. · 2 min ago",
        ),
        ({"index_error": "The index was damaged.", "files": 0}, "degraded", "Index problem", "The index was damaged."),
    ],
)
def test_idle_index_shows_its_state(changes, state, word, detail):
    line = _line(**changes)
    assert (line.state, line.word, line.detail) == (state, word, detail)
    assert not line.running


def test_repaired_problem_does_not_hide_state():
    line = _line(index_error="The index was damaged and made again.", last_sync=LAST, files=3)
    assert (line.state, line.word) == ("fine", "Up to date")


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, "3 notes · 1 session"),
        ({"source_counts": (SourceCount(source="sessions", files=2, chunks=2),)}, "0 notes · 2 sessions"),
        (
            {"source_counts": (SourceCount(source="sessions", files=2, chunks=2),), "sources": ("sessions",)},
            "2 sessions",
        ),
        ({"source_counts": (SourceCount(source="memory", files=3, chunks=6),), "files": 3}, "3 files"),
        ({"custom": {"readOnly": "Another window writes."}}, "3 notes · 1 session"),
    ],
)
def test_each_source_is_counted(changes: dict[str, object], count: str):
    assert _line(**changes).count == count


@pytest.fixture
def bar(qtbot, appearance) -> SyncBar:
    bar = SyncBar()
    qtbot.addWidget(bar)
    bar.resize(1280, bar.height())
    bar.show()
    return bar


def _button(bar: SyncBar, words: str) -> QPushButton:
    return next(b for b in bar.findChildren(QPushButton) if b.text() == words and not b.isHidden())


def _positions(bar: SyncBar) -> list[tuple[int, int]]:
    """Return left edges and widths of the bar's parts during a sync."""
    parts = bar.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return [(part.x(), part.width()) for part in parts if not part.isHidden()]


def test_layout_is_stable_while_sync_runs(qtbot, bar):
    bar.show_status(make_status(syncing=make_progress()))
    *_, file = bar.findChildren(ElidedLabel)
    qtbot.waitUntil(lambda: file.x() > bar.detail.x() > bar.count.x() > 0)
    assert file.text() == "memory/projects/greenhouse.md"
    assert len(_positions(bar)) == 7
    positions = _positions(bar)
    bar.show_status(make_status(syncing=make_progress(completed=3, rate=9.0, seconds_left=4000.0, current_file="a.md")))
    bar.layout().activate()
    assert _positions(bar) == positions
    bar.show_status(make_status(syncing=make_progress(completed=26_043), paused=True))
    bar.layout().activate()
    assert _positions(bar) == positions


def test_read_only_index_refuses_update_with_reason(bar):
    custom = make_status().custom
    bar.show_status(make_status(last_sync=LAST))
    now = _button(bar, "Update now")
    usual = now.toolTip()
    bar.show_status(make_status(last_sync=LAST, custom=custom | {"readOnly": "No rights to write."}))
    assert not now.isEnabled()
    assert "No rights to write." in now.toolTip()
    bar.show_status(make_status(last_sync=LAST, custom=custom | {"readOnly": "The disk is full.", "diskFull": True}))
    assert now.isEnabled(), "there may be room again"
    assert now.toolTip() == usual


def test_idle_layout_returns_after_sync(qtbot, bar):
    resting = make_status(last_sync=LAST)
    bar.show_status(resting)
    bar.layout().activate()
    before = bar.count.x()
    bar.show_status(make_status(syncing=make_progress()))
    bar.layout().activate()
    assert bar.count.x() != before
    bar.show_status(resting)
    bar.layout().activate()
    assert bar.count.x() == before


@pytest.mark.parametrize("by_key", [False, True])
def test_buttons_emit_signals(qtbot, bar, by_key):
    def press(words: str) -> None:
        if by_key:
            qtbot.keyClick(_button(bar, words), Qt.Key.Key_Space)
        else:
            qtbot.mouseClick(_button(bar, words), Qt.MouseButton.LeftButton)

    emitted: list[str] = []
    for name in ("pause", "resume", "cancel", "sync_now", "failed_requested"):
        getattr(bar, name).connect(lambda name=name: emitted.append(name))
    bar.show_status(make_status(syncing=make_progress()))
    press("Pause")
    bar.show_status(make_status(syncing=make_progress(), paused=True))
    press("Resume")
    press("Cancel")
    bar.show_status(make_status(last_sync=LAST, failed_files=FAILED))
    press("1 failed")
    press("Update now")
    assert emitted == ["pause", "resume", "cancel", "failed_requested", "sync_now"]


def test_last_sync_time_is_shown_whole_or_hidden(qtbot, bar):
    bar.show_status(make_status(last_sync=LAST))
    seen = set()
    for width in range(900, 320, -4):
        bar.resize(width, bar.height())
        bar.layout().activate()
        if not bar.detail.isHidden():
            assert bar.detail.width() >= bar.detail.sizeHint().width()
        seen.add(bar.detail.isHidden())
    assert seen == {True, False}


@pytest.mark.parametrize("scale", [1.0, 1.75])
@pytest.mark.parametrize("width", [560, 640, 900, 1280, 2000])
def test_parts_do_not_overlap_or_leave_bar_at_any_width(qapp, appearance, bar, width, scale):
    appearance.set_font_scale(scale)
    qapp.processEvents()
    bar.resize(width, bar.height())
    bar.show_status(make_status(syncing=make_progress()))
    bar.layout().activate()
    visible_parts = [part for part in bar.children() if isinstance(part, QWidget) and not part.isHidden()]
    visible_parts.sort(key=lambda part: part.x())
    for left, right in pairwise(visible_parts):
        assert left.x() + left.width() <= right.x()
    assert visible_parts[-1].x() + visible_parts[-1].width() <= width


def test_larger_text_in_shown_bar_is_measured_again(qtbot, appearance, bar):
    bar.show_status(make_status(syncing=make_progress()))
    height, positions = bar.height(), _positions(bar)
    appearance.set_font_scale(1.75)
    qtbot.waitUntil(lambda: bar.height() > height)
    bar.layout().activate()
    assert _positions(bar) != positions


def test_no_status_shows_no_folder_open(bar):
    bar.show_status(make_status())
    bar.show_status(None)
    assert bar.line.word == "No folder is open"
    assert bar.accessibleName() == "No folder is open"
    bar.show_nothing("Opening garden-notes…")
    assert bar.line.word == "Opening garden-notes…"
    assert not any(button.isVisible() and button.isEnabled() for button in bar.findChildren(QPushButton))


class WatchedLine(ProgressLine):
    def __init__(self) -> None:
        super().__init__()
        self.painted: list[int] = []

    def paintEvent(self, event: QPaintEvent) -> None:
        self.painted.append(self.value())
        super().paintEvent(event)


def test_progress_line_repaints_once_for_several_values(qtbot, appearance):
    line = WatchedLine()
    qtbot.addWidget(line)
    line.show()
    qtbot.waitUntil(lambda: line.painted == [-1])
    line.setValue(300)
    line.setValue(600)
    assert line.painted == [-1]
    qtbot.waitUntil(lambda: line.painted == [-1, 600])


def test_running_sync_shows_cost_instead_of_reuse():
    line = _line(syncing=make_progress(tokens=90_000, cost=0.031))
    assert line.detail == "118/s · 1 min 55 s left · $0.03 so far"


def test_external_engine_is_named_before_counts():
    assert _line(backend="lancedb", last_sync=LAST).count == "LanceDB: 3 notes · 1 session"
    assert _line(last_sync=LAST).count == "3 notes · 1 session"


def test_update_interval_follows_displayed_precision(qtbot, monkeypatch):
    monkeypatch.setattr("gui.widgets.sync_bar.time.time", lambda: NOW)
    bar = SyncBar()
    qtbot.addWidget(bar)
    seconds = {}
    for name, status in {
        "running": make_status(syncing=make_progress()),
        "just now": make_status(last_sync=make_summary(started=NOW - 20, seconds=1)),
        "long ago": make_status(last_sync=LAST),
        "nothing": None,
    }.items():
        bar.show_status(status)
        [timer] = [timer for timer in bar.findChildren(QTimer) if not timer.isSingleShot()]
        seconds[name] = timer.interval() / 1000
    assert seconds == {"running": 1, "just now": 1, "long ago": 15, "nothing": 15}
