"""Runs the steps of one print in short turns of the loop, so that the window answers meanwhile."""

import time

from PySide6.QtCore import QObject, QTimer, Signal

from gui.sharing.print_pages import Paper
from gui.sharing.print_strips import Steps

_TURN = 0.010
"""Seconds of one turn."""


class PrintRun(QObject):
    """One print, from `start` on.

    Signals: progressed: the share done, 0 to 1, and the number of pages so far. finished: whether all pages were
    printed; never after `cancel`.
    """

    progressed = Signal(float, int)
    finished = Signal(bool)

    def __init__(self, paper: Paper, steps: Steps, parent: QObject) -> None:
        super().__init__(parent)
        self.paper = paper
        self._steps: Steps | None = steps
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._go_on)

    def start(self) -> None:
        self._timer.start(0)

    def cancel(self) -> None:
        """Stop, and let go of the device."""
        if self._steps is not None:
            self._end()
            self.paper.drop()

    def _go_on(self) -> None:
        until = time.perf_counter() + _TURN
        done = 0.0
        while self._steps is not None and time.perf_counter() < until:
            try:
                done = next(self._steps)
            except StopIteration:
                self._end()
                self.finished.emit(self.paper.finish())
                return
            if not self.paper.ok:
                self._end()
                self.paper.drop()
                self.finished.emit(False)
                return
        self.progressed.emit(done, self.paper.pages)

    def _end(self) -> None:
        self._steps = None
        self._timer.stop()
