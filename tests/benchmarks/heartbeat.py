"""Start the program or only Qt as the program does, and measure how long its event loop is blocked between two turns.

`prepare_for_window` of `gui.__main__` must run before this module is imported, since it prepares the import of Qt.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer, Slot, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from gui.app import application
from gui.app.command_line import parse_options
from gui.window.main_window import MainWindow
from tests.benchmarks.measuring import percentile

_BEAT_MS = 2
_T = TypeVar("_T")


def run_window(workspace: Path, config: Path, drive: Callable[[MainWindow], _T]) -> _T:
    """Start the program with its window as its own entry does, and return what `drive` returns of the visible window.

    So the panels of other views are made meanwhile, and all parts that a user's program has follow each change.
    """
    answers: list[_T] = []

    def call(window: MainWindow) -> None:
        try:
            answers.append(drive(window))
        finally:
            QApplication.quit()

    class DrivenWindow(MainWindow):
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[arg-type]
            begin = partial(QTimer.singleShot, 0, self, partial(call, self))
            self.shown.connect(begin, Qt.ConnectionType.SingleShotConnection)

    application.MainWindow = DrivenWindow  # type: ignore[misc]
    application.run(parse_options(["--workspace", str(workspace), "--config", str(config)]))
    return answers[0]


def start_qt() -> QApplication:
    """Return the application, without Qt's warnings about the missing screen."""
    qInstallMessageHandler(lambda *_: None)
    return QApplication([])


def wait(milliseconds: int) -> None:
    """Run the event loop for some milliseconds; `QTest.qWait` would sleep between turns."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


@dataclass(frozen=True)
class Pulse:
    """Delays of the timer in milliseconds, and how much of each the thread spent on its own work."""

    away: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)

    def longest(self) -> str:
        worst = max(range(len(self.away)), key=self.away.__getitem__)
        return (
            f"longest {self.away[worst]:.1f} ms ({self.own[worst]:.1f} of its own work), "
            f"most own work {max(self.own):.1f} ms, "
            f"p99 {percentile(self.away, 0.99):.1f} ms, over 16 ms {sum(gap > 16 for gap in self.away)} times"
        )


class Heartbeat(QObject):
    """Measures the delays of a timer on the thread that created it, until it is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self._timer = QTimer(self, timerType=Qt.TimerType.PreciseTimer, interval=_BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()
        self.restart()

    def restart(self) -> None:
        """Reset the measurement."""
        self.pulse = Pulse()
        self._last = time.perf_counter(), time.thread_time()

    def stop(self) -> Pulse:
        self._timer.stop()
        return self.pulse

    @Slot()
    def _beat(self) -> None:
        now = time.perf_counter(), time.thread_time()
        gap, own = (1000 * (later - before) for later, before in zip(now, self._last, strict=True))
        self.pulse.away.append(max(0.0, gap - _BEAT_MS))
        self.pulse.own.append(own)
        self._last = now
