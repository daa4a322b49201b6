"""Collect Python's garbage on the GUI thread alone, and send Qt's messages to the log without a deadlock.

By default the garbage collector runs on whichever thread allocates next: during indexing nearly always a pool thread.
There it may find a cycle with a `QObject` in it, and destroying that outside of its thread is undefined in Qt. A full
pass would also visit everything that was ever imported, some 30 ms with the interpreter lock held; objects created
before the window is shown are therefore frozen, and left out of every pass.

If no font has a script, Qt reports so while it holds the lock of its font database. A handler written in Python needs
the interpreter lock to receive it: if text is laid out on a pool thread, that thread waits for the window's, which
holds the interpreter lock and waits for the fonts. Such a message must be disabled at its source.
"""

import gc
import logging

from PySide6.QtCore import (
    QLoggingCategory,
    QMessageLogContext,
    QObject,
    QTimer,
    QtMsgType,
    Slot,
    qInstallMessageHandler,
)

_POLL_MS = 100
"""Pause between checks while objects are created. Indexing creates at most some 10,000 in this time; collecting them
takes 2 ms."""
_REST_MS = 800
"""Pause between checks while nothing is created, so that an idle program doesn't wake ten times a second. The first
look after such a rest may find 80,000 objects, which take 16 ms."""


def collect_due() -> bool:
    """Collect the oldest generation whose threshold is exceeded, like the automatic collector, if there is one."""
    for generation in (2, 1, 0):
        if gc.get_count()[generation] > gc.get_threshold()[generation]:
            gc.collect(generation)
            return True
    return False


class Collector(QObject):
    """Runs Python's garbage collection on the GUI thread alone, until `close`.

    Its timer needs the event loop; `close` only when no thread that may have held objects of Qt runs any more.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._automatic = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._poll)
        self._timer.start()

    def freeze(self) -> None:
        """Exclude all present objects from collection: they live until the end."""
        gc.freeze()

    def close(self) -> None:
        """Restore Python's automatic collection."""
        self._timer.stop()
        gc.unfreeze()
        if self._automatic:
            gc.enable()

    @Slot()
    def _poll(self) -> None:
        """Check less often the longer there is nothing to do."""
        due = collect_due()
        self._timer.setInterval(_POLL_MS if due else min(2 * self._timer.interval(), _REST_MS))


log = logging.getLogger(__name__)

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def install_handler() -> None:
    """Send Qt's messages to the log from now on; called before the application is created, so that none is missed."""
    silence_fonts()
    qInstallMessageHandler(_log)


def remove_handler() -> None:
    """Remove the log handler, so that Qt prints its messages itself again."""
    qInstallMessageHandler(None)


def silence_fonts() -> None:
    """Disable the messages of the font database; for callers with a handler of their own, such as tests."""
    QLoggingCategory.setFilterRules("qt.text.font.db=false")


def _log(level: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    log.log(_LEVELS[level], "Qt: %s", message)
