"""Makes a page in short turns of the loop, so that the window answers meanwhile."""

import time
from collections.abc import Generator, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from gui.viewer.markdown_page import Page, PageStyle, page_steps

_TURN = 0.008
"""Seconds of one turn."""


class PageBuilder(QObject):
    """One page at a time.

    Signals:
        made: the Page, when it is complete.
    """

    made = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._steps: Generator[None, None, Page] | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._go_on)

    def start(self, slices: Sequence[str], style: PageStyle) -> None:
        """Make this page in place of one that is being made."""
        self._steps = page_steps(slices, style)
        self._timer.start(0)

    def stop(self) -> None:
        self._steps = None
        self._timer.stop()

    def _go_on(self) -> None:
        steps = self._steps
        until = time.perf_counter() + _TURN
        while steps is not None and time.perf_counter() < until:
            try:
                next(steps)
            except StopIteration as end:
                self.stop()
                self.made.emit(end.value)
                return
