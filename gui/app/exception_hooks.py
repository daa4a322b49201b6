"""Receives every uncaught error, wherever it was raised, and logs it."""

import logging
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from gui.app.crash_report import Failure, failure_of

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

log = logging.getLogger(__name__)
_ENDS = (SystemExit, KeyboardInterrupt, GeneratorExit)
"""Exceptions that end a program or a generator on purpose."""


class ExceptionHooks(QObject):
    """Logs uncaught errors between `begin` and `end`, and passes them as text to a listener on the GUI thread.

    The same error is logged in full once, and then at its tenth, hundredth, thousandth … occurrence: a failing paint
    event would fill the disk.
    """

    caught = Signal(object)
    """Failure. Connect queued: it may be raised while something is painted."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._times: dict[tuple[str, str], int] = {}
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)

    def begin(self) -> None:
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._in_window
        threading.excepthook = self._in_thread
        sys.unraisablehook = self._in_passing

    def end(self) -> None:
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._before

    @Slot(object)
    def report_job_error(self, error: BaseException) -> None:
        """Report an unexpected error of a job, which is in the log already."""
        self.caught.emit(failure_of(error, error.__traceback__, "in the background"))

    def _in_window(self, _: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Handle an uncaught error from a slot, a Qt event or a pool thread (`sys.excepthook`)."""
        here = threading.current_thread() is threading.main_thread()
        self._report_error(error, trace, "in the window" if here else "in the background")

    def _in_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._report_error(args.exc_value, args.exc_traceback, "in the background")

    def _in_passing(self, args: "UnraisableHookArgs") -> None:
        """Handle an error that Python can't raise (`sys.unraisablehook`), for example while an object is deleted."""
        if args.exc_value is not None:
            self._report_error(args.exc_value, args.exc_traceback, "in a destructor or callback")

    def _report_error(self, error: BaseException, trace: TracebackType | None, where: str) -> None:
        if isinstance(error, _ENDS):
            return
        try:
            failure = failure_of(error, trace, where)
            self._log(failure, error, trace)
            self.caught.emit(failure)
        except Exception:  # an error in this handler must not be reported through it
            sys.__excepthook__(type(error), error, trace)

    def _log(self, failure: Failure, error: BaseException, trace: TracebackType | None) -> None:
        times = self._times[failure.signature] = self._times.get(failure.signature, 0) + 1
        if times == 1:
            log.error("Unexpected error %s", failure.where, exc_info=(type(error), error, trace))
        elif str(times).strip("0") == "1":
            log.error("%s at %s: %s times by now", failure.kind, failure.location, times)
