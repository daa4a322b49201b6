"""Qt's own messages go to the log, but for those that would bring the program to a standstill.

Where no font has a script, Qt says so while it holds the lock of its font database. A handler written in Python needs
the interpreter's lock to hear it: with text laid out on a pool thread, that thread waits for the window's, which holds
the interpreter and waits for the fonts. Such a message must not be made at all.
"""

import logging

from PySide6.QtCore import QLoggingCategory, QMessageLogContext, QtMsgType, qInstallMessageHandler

log = logging.getLogger(__name__)

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def log_them() -> None:
    """From now on; before the application is made, so that nothing is missed."""
    silence_fonts()
    qInstallMessageHandler(_log)


def leave_them() -> None:
    """Let Qt print them itself again."""
    qInstallMessageHandler(None)


def silence_fonts() -> None:
    """For whoever has a handler of their own, as the tests have."""
    QLoggingCategory.setFilterRules("qt.text.font.db=false")


def _log(level: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    log.log(_LEVELS[level], "Qt: %s", message)
