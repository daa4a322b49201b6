"""Background mode: its cost while idle, and the time until the quick search appears."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gui.__main__ import prepare_for_window
from tests.benchmarks.measuring import ROOT, Figure, measure
from tests.benchmarks.prepared import Bench

_SETTLES_MS = 10_000
_IDLE_MS = 60_000
_ROUNDS = 20


def run(bench: Bench) -> Iterator[Figure]:
    folder = bench.folder(bench.notes)
    idle, first, later, requested, toggled, bare = measure(_stay, folder, bench.scratch / "background-mode").value
    yield Figure(
        f"idle with {bench.notes:,} watched files: CPU time of all threads over {_IDLE_MS // 1000} s",
        "< 0.5 %",
        f"{idle:.2%}",
    )
    yield Figure(
        "quick search, from the request in the running program to its picture",
        "< 150 ms",
        f"the first time {first * 1000:.0f} ms; then p50 {_middle(later)}, longest {max(later) * 1000:.0f} ms",
    )
    yield Figure(
        "mnemoscope --toggle, from the start of its process to its end",
        "well under 100 ms",
        f"p50 {_middle(requested)}; to the picture of the quick search p50 {_middle(toggled)}",
        f"{statistics.median(requested) / bare:.1f} of a Python that does nothing ({bare * 1000:.0f} ms)",
    )


def _middle(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.0f} ms"


def _stay(folder: Path, store: Path) -> tuple[float, float, list[float], list[float], list[float], float]:
    """Return the idle CPU share, and the seconds of the quick search.

    These are: the first, the later ones, those of the process that requested it, and those until its picture.
    """
    prepare_for_window()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import engine

    config = engine.settings_path()
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'[defaults]\nprovider = "none"\nstore.path = "{store.as_posix()}"\n', "utf-8")
    from PySide6.QtCore import QTimer
    from PySide6.QtGui import QPaintEvent, QShowEvent

    from gui.app import application, desktop_integration
    from gui.app.command_line import parse_options
    from gui.app.single_instance import begin
    from gui.quick_search import QuickWindow
    from gui.window.main_window import MainWindow

    quick: list[QuickWindow] = []
    painted: list[float] = []
    figures: list[tuple[float, float, list[float], list[float], list[float], float]] = []

    class WatchedQuick(QuickWindow):
        def paintEvent(self, event: QPaintEvent) -> None:
            super().paintEvent(event)
            painted.append(time.perf_counter())

        def showEvent(self, event: QShowEvent) -> None:
            super().showEvent(event)
            painted.clear()

    class Watched(MainWindow):
        seen = False

        def showEvent(self, event: QShowEvent) -> None:
            super().showEvent(event)
            if not self.seen:
                self.seen = True
                QTimer.singleShot(500, self.wait)

        def wait(self) -> None:
            status = self.workspace.status
            synced = status is not None and status.last_sync is not None and status.syncing is None
            QTimer.singleShot(_SETTLES_MS if synced else 500, self.idle if synced else self.wait)

        def idle(self) -> None:
            spent, began = time.process_time(), time.perf_counter()
            QTimer.singleShot(_IDLE_MS, lambda: self.ask(spent, began))

        def ask(self, spent: float, began: float) -> None:
            idle = (time.process_time() - spent) / (time.perf_counter() - began)
            first, *later = [_shown(self.quick_requested.emit, painted) for _ in range(_ROUNDS + 1)]
            toggles = [_toggled(quick[0], painted) for _ in range(_ROUNDS)]
            bare = statistics.median(_bare() for _ in range(_ROUNDS))
            figures.append((idle, first, later, [one for one, _ in toggles], [both for _, both in toggles], bare))
            self.quit()

    def make_quick(panel: desktop_integration.QuickPanel) -> QuickWindow:
        quick.append(WatchedQuick(panel))
        return quick[0]

    application.MainWindow = Watched
    desktop_integration.QuickWindow = make_quick
    start = begin([], None)
    application.run(parse_options(["--workspace", str(folder)]), start.address)
    start.end()
    return figures[0]


def _shown(toggle: Callable[[], None], painted: list[float]) -> float:
    """Return the seconds from the request until the quick search is painted."""
    began = time.perf_counter()
    toggle()
    _turn_until(lambda: bool(painted))
    toggle()
    return painted.pop() - began


def _toggled(quick: Any, painted: list[float]) -> tuple[float, float]:
    """Return the seconds of the requesting process, and those from its start until the quick search is painted."""
    painted.clear()
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "gui", "--toggle"], cwd=ROOT)
    _turn_until(lambda: process.poll() is not None)
    ended = time.perf_counter()
    _turn_until(lambda: bool(painted))
    quick.toggle()
    return ended - began, painted[0] - began


def _turn_until(done: Callable[[], bool]) -> None:
    """Run the event loop until the condition holds."""
    from PySide6.QtCore import QCoreApplication

    while not done():
        QCoreApplication.processEvents()
        time.sleep(0.0005)


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began
