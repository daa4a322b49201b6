"""Sends Qt's messages to the log, without a deadlock.

If no font has a script, Qt reports so while it holds the lock of its font database. A handler written in Python needs
the interpreter lock to receive it: if text is laid out on a pool thread, that thread waits for the window's, which
holds the interpreter lock and waits for the fonts. Such a message must be disabled at its source.
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


def install_handler() -> None:
    """Send Qt's messages to the log from now on; called before the application is created, so that none is missed."""
    silence_fonts()
    qInstallMessageHandler(_log)


def remove_handler() -> None:
    """Remove the log handler, so that Qt prints its messages itself again."""
    qInstallMessageHandler(None)


def silence_fonts() -> None:
    """Disable the messages of the font database; for callers with their own handler, such as tests."""
    QLoggingCategory.setFilterRules("qt.text.font.db=false")


def _log(level: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    log.log(_LEVELS[level], "Qt: %s", message)
