"""Prepares Qt for the window: sends Qt's messages to the log, and sets the language of texts, numbers and lines."""

import logging
from pathlib import Path

from PySide6.QtCore import (
    QLibraryInfo,
    QLocale,
    QLoggingCategory,
    QMessageLogContext,
    Qt,
    QtMsgType,
    QTranslator,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication

from engine import TRIAL_LANGUAGES, speak, spoken, tr

log = logging.getLogger(__name__)

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
_RIGHT_TO_LEFT = "ar-XB"
"""The trial language for testing a mirrored window; no real translation is written from right to left."""


def install_message_handler() -> None:
    """Send Qt's messages to the log from now on; called before the application is created, so that none is missed."""
    silence_font_messages()
    qInstallMessageHandler(_log)


def remove_message_handler() -> None:
    """Remove the log handler, so that Qt prints its messages itself again."""
    qInstallMessageHandler(None)


def silence_font_messages() -> None:
    """Disable the messages of the font database, which can cause a deadlock; tests call it for their own handler.

    If no font has a script, Qt reports so while it holds the lock of its font database. A handler written in Python
    needs the interpreter lock to receive it: if text is laid out on a pool thread, that thread waits for the window's,
    which holds the interpreter lock and waits for the fonts.
    """
    QLoggingCategory.setFilterRules("qt.text.font.db=false")


def _log(level: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    log.log(_LEVELS[level], "Qt: %s", message)


def apply_language(app: QApplication, tag: str) -> None:
    """Set the language of the window by its tag, such as `de`, or `system` for that of the desktop.

    Call it before any widget is created, since widgets translate their texts once.
    """
    speak(tag)
    spoken_language = spoken()
    trial = spoken_language in TRIAL_LANGUAGES
    # English keeps the desktop's own formats of numbers and paper sizes.
    if spoken_language != "en" and not trial:
        QLocale.setDefault(QLocale(spoken_language))
    app.setLayoutDirection(
        Qt.LayoutDirection.RightToLeft if spoken_language == _RIGHT_TO_LEFT else Qt.LayoutDirection.LeftToRight
    )
    translator = QTranslator(app)
    catalogues = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    if not trial and translator.load(str(catalogues / f"qtbase_{spoken_language}.qm")):
        app.installTranslator(translator)
    app.installTranslator(_KeyNames(app))


class _KeyNames(QTranslator):
    """A translator that names the Return key “Enter”, as all sentences do; Qt's own catalogues don't translate it."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        """Return the name of the key; None for all other texts."""
        return tr("Enter") if context == "QShortcut" and source == "Return" else None

    def isEmpty(self) -> bool:
        return False
