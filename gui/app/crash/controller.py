"""From an error to its dialog: one at a time, once for each error, and never in a loop."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from engine import Settings, tr
from gui.app.crash.dialog import EARLIER, EARLIER_MORE, NOW, NOW_MORE, CrashDialog
from gui.app.crash.exception_hooks import ExceptionHooks
from gui.app.crash.report import report
from gui.app.crash.tracebacks import Failure

_MOST_DIALOGS = 5
"""In one run: whoever has closed so many knows. The log goes on."""
_MOST_TOLD = 8
"""Different errors in one report."""


class CrashController(QObject):
    """Lives as long as the program."""

    restart_wanted = Signal()

    def __init__(
        self, window: QWidget, catching: ExceptionHooks, settings: Callable[[], Settings | None], log_file: Path | None
    ) -> None:
        """`settings`: those in force when an error happens, where they are known."""
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._log_file = log_file
        self._failures: dict[tuple[str, str], tuple[Failure, int]] = {}
        self._opened = 0
        self.dialog: CrashDialog | None = None
        catching.caught.connect(self.hear, Qt.ConnectionType.QueuedConnection)

    @Slot(object)
    def hear(self, failure: Failure) -> None:
        """Show it, if it is a new one; else count it."""
        first, times = self._failures.get(failure.signature, (failure, 0))
        known = times > 0
        if not known and len(self._failures) >= _MOST_TOLD:
            return
        self._failures[failure.signature] = (first, times + 1)
        if self.dialog is not None:
            self.dialog.show_report(self._report())
        elif not known and self._opened < _MOST_DIALOGS:
            self._opened += 1  # first: what fails below is the next error, and not this one again
            self._open(tr(NOW), tr(NOW_MORE), self._report(), restart=True)

    def tell_earlier(self, text: str) -> None:
        """An earlier run has crashed, and this is the report on it."""
        if self.dialog is None:
            self._open(tr(EARLIER), tr(EARLIER_MORE), text, restart=False)

    def _report(self) -> str:
        return report(self._failures.values(), self._settings())

    def _open(self, heading: str, sentence: str, text: str, *, restart: bool) -> None:
        self.dialog = CrashDialog(heading, sentence, text, self._log_file, self._window, restart=restart)
        self.dialog.restart_wanted.connect(self.restart_wanted)
        self.dialog.finished.connect(self._forget)

    @Slot()
    def _forget(self) -> None:
        self.dialog = None
