"""A file of 30 MB: work on the window's thread doesn't grow with it."""

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer

from engine import NumberedText
from gui.core.jobs import Jobs
from gui.viewer.panel import ViewerPanel
from tests.helpers.fake_memory import FakeMemory

LINE = "2026-03-03 06:10 nothing happened here, the pressure of the north bed is fine, number {number:7}\n"
LINES = 30_000_000 // len(LINE.format(number=0))
TIMER_LINE = 200_000


class WatchedText(NumberedText):
    """Counts the lines that the window's thread reads."""

    read_here = 0

    def line(self, number: int, *, limit: int = 20_000) -> str:
        self._count_lines(1)
        return super().line(number, limit=limit)

    def lines(self, first: int, last: int, *, limit: int = 20_000) -> list[str]:
        self._count_lines(last - first + 1)
        return super().lines(first, last, limit=limit)

    @classmethod
    def _count_lines(cls, lines: int) -> None:
        if threading.current_thread() is threading.main_thread():
            cls.read_here += lines


class LargeMemory(FakeMemory):
    """A memory with an additional large file."""

    large = Path()

    def locate(self, path: str) -> Path:
        return self.large if path == "large.md" else super().locate(path)

    def open_file(self, path: str, *, cancel=None) -> NumberedText:
        return WatchedText.open(self.locate(path), cancel)


@pytest.fixture
def large(tmp_path: Path) -> LargeMemory:
    memory = LargeMemory()
    memory.large = tmp_path / "large.md"
    block = [LINE.format(number=number) for number in range(1, LINES + 1)]
    block[TIMER_LINE - 1] = "the timer\n"
    memory.large.write_text("".join(block))
    WatchedText.read_here = 0
    yield memory
    memory.close()


def test_window_stays_responsive_with_large_file(qtbot, appearance, jobs: Jobs, large: LargeMemory) -> None:
    panel = ViewerPanel(jobs)
    panel.set_manager(large)
    qtbot.addWidget(panel)
    panel.resize(700, 600)
    panel.show()
    beats: list[str] = []
    doing = "opening"
    heart = QTimer()
    heart.timeout.connect(lambda: beats.append(doing))
    heart.start(1)
    try:
        with qtbot.waitSignal(panel.file_shown):
            panel.show_file("large.md", LINES // 2)
        assert panel.source.line_count == LINES
        doing = "scrolling"
        bar = panel.source.verticalScrollBar()
        for tenth in range(11):
            bar.setValue(bar.maximum() * tenth // 10)
            panel.source.viewport().grab()
        assert panel.source.text_at(LINES).endswith(f"{LINES:7}")
        doing = "searching"
        panel.find_action.trigger()
        panel.find_in_text.bar.box.setText("the TIMER")
        qtbot.waitUntil(lambda: panel.source.current_hit is not None)
        assert panel.source.current_hit.line == TIMER_LINE
    finally:
        heart.stop()
    on_screen = panel.height() // panel.source.row_height
    assert WatchedText.read_here < 30 * on_screen
    assert beats.count("searching") > 5
    panel.clear()
