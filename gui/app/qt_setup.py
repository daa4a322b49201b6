"""Prepares Qt for the window: log messages, the user's language, and garbage collection on the GUI thread alone."""

import gc
import logging
from pathlib import Path

from PySide6.QtCore import (
    QLibraryInfo,
    QLocale,
    QLoggingCategory,
    QMessageLogContext,
    QObject,
    Qt,
    QTimer,
    QtMsgType,
    QTranslator,
    Slot,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication

from engine import TRIAL_LANGUAGES, current_language, set_language, tr

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

_POLL_MS = 100
"""Pause between checks while objects are created. Indexing creates at most some 10,000 in this time; collecting them
takes 2 ms."""
_REST_MS = 800
"""Pause between checks while nothing is created, so that an idle program doesn't wake ten times a second. The first
look after such a rest may find 80,000 objects, which take 16 ms."""
_PUT_OFF = 10
"""Factor of the threshold of a full pass while objects are created."""


def install_message_handler() -> None:
    """Send Qt's messages to the log from now on; called before the application is created, so that none is missed."""
    silence_font_messages()
    qInstallMessageHandler(_log)


def silence_font_messages() -> None:
    """Disable the messages of the font database, which can cause a deadlock; tests call it for their own handler.

    If no font has a script, Qt reports this while it holds the lock of its font database, and a handler written in
    Python then waits for the interpreter lock. If this happens on a pool thread, it may wait for the GUI thread, which
    holds the interpreter lock and waits for the fonts.
    """
    QLoggingCategory.setFilterRules("qt.text.font.db=false")


def _log(level: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    log.log(_LEVELS[level], "Qt: %s", message)


def apply_language(app: QApplication, tag: str) -> None:
    """Set the language of the window by its tag, such as `de`, or `system` for that of the desktop.

    Call it before any widget is created, since widgets translate their texts once.
    """
    set_language(tag)
    spoken_language = current_language()
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


def collect_due(*, busy: bool = False) -> bool:
    """Collect the oldest generation whose threshold is exceeded, like the automatic collector, if there is one.

    `busy`: put off a full pass, which takes 20 to 40 ms once the program has worked for some minutes.
    """
    for generation, factor in ((2, _PUT_OFF if busy else 1), (1, 1), (0, 1)):
        if gc.get_count()[generation] > factor * gc.get_threshold()[generation]:
            gc.collect(generation)
            return True
    return False


class Collector(QObject):
    """Runs Python's garbage collection on the GUI thread alone, until `close`.

    By default it runs on whichever thread allocates next: during indexing nearly always a pool thread. There it may
    find a cycle with a `QObject` in it, and destroying that outside of its thread is undefined in Qt. A full pass would
    also visit everything that was ever imported, some 30 ms with the interpreter lock held; objects created before the
    window is shown are therefore frozen, and left out of every pass.

    Its timer needs the event loop; `close` only when no thread that may have held objects of Qt runs any more.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._automatic = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self, interval=_POLL_MS)
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
        """Check less often the longer there is nothing to do; a full pass waits until then."""
        due = collect_due(busy=self._timer.interval() < _REST_MS)
        self._timer.setInterval(_POLL_MS if due else min(2 * self._timer.interval(), _REST_MS))
