"""A button that tests a choice before it is saved, with the result of the test next to it."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QScrollArea, QWidget

from engine import CancelToken, tr
from gui.core.jobs import Jobs, JobSlot
from gui.style.stylesheet import set_role
from gui.widgets.labels import breakable, label


class CheckRow(QWidget):
    """A button that tests a choice, and the result next to it. One test runs at a time.

    Signals: requested: the button was pressed; start the test with `run`.
    """

    requested = Signal()

    def __init__(self, jobs: Jobs, name: str, meanwhile: str) -> None:
        """`name`: accessible name of the button; `meanwhile`: text during the test."""
        super().__init__()
        self._jobs = jobs
        self._meanwhile = meanwhile
        self._trial = JobSlot(self)
        self.button = QPushButton(tr("Test"))
        self.button.setAccessibleName(name)
        self.button.clicked.connect(self.requested)
        self.result_label = label("", "meta", wrap=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self.button)
        row.addWidget(self.result_label, 1)
        self._scroller: QScrollArea | None = None

    @property
    def busy(self) -> bool:
        return self._trial.busy

    def set_scroller(self, scroller: QScrollArea) -> None:
        """Set the scroll area that scrolls to the result when it arrives: in a low dialog it may be out of view."""
        self._scroller = scroller

    def run(self, work: Callable[[CancelToken], Any], describe: Callable[[Any], tuple[str, bool]]) -> None:
        """Run `work` in the background; `describe` turns its result into a text, and whether the test passed."""
        self._show_result(self._meanwhile)
        self._trial.put(
            self._jobs.read(work, lambda found: self._end(*describe(found)), lambda why: self._end(why, False))
        )

    def clear(self) -> None:
        """Cancel a running test, or remove its result."""
        self._trial.cancel()
        self.result_label.clear()

    def _end(self, words: str, fine: bool) -> None:
        self._trial.done()
        self._show_result(words, fine)

    def _show_result(self, words: str, fine: bool = True) -> None:
        set_role(self.result_label, "meta" if fine else "degraded")
        self.result_label.setText(breakable(words))
        scroller = self._scroller
        if scroller is not None:
            QTimer.singleShot(0, self.result_label, lambda: scroller.ensureWidgetVisible(self.result_label))
