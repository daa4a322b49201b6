"""Whether closing the window ends the program, or leaves it in the tray."""

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from engine import marked, tr
from gui.app.tray import Tray
from gui.commands.keymap import keymap
from gui.widgets.plain_text import message_box
from gui.window.main_window import MainWindow

_EXPLAINED = marked(
    "The window closes, and Mnemoscope keeps running in the tray: click its icon to reopen the window. The "
    "index stays up to date, and the quick search answers immediately. To exit, choose Quit in the menu of "
    "the icon."
)
_WITH_KEY = marked(
    "The window closes, and Mnemoscope keeps running in the tray: click its icon to reopen the window. The "
    "index stays up to date, and the quick search answers immediately. To exit, choose Quit in the menu of "
    "the icon, or press {key} in the window."
)


class BackgroundMode(QObject):
    """Keeps the program in the tray when the window is closed, by handling its close event first."""

    def __init__(self, window: MainWindow, tray: Tray) -> None:
        super().__init__(window)
        self._window = window
        self._tray = tray
        self._quitting = False
        self._explanation: QMessageBox | None = None
        self.hides_on_close = False
        """Whether the program stays open when the window closes."""
        window.quit_requested.connect(self._note_quit)
        window.installEventFilter(self)

    @Slot()
    def _note_quit(self) -> None:
        self._quitting = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is not self._window or event.type() != QEvent.Type.Close:
            return False
        if self._quitting or not (self.hides_on_close and self._tray.is_shown) or _session_ends():
            return False
        event.ignore()
        if self._window.state.tray_notice_shown:
            self._window.hide()
        else:
            self._explain()
        return True

    def _explain(self) -> None:
        """Explain background mode before the window is closed for the first time."""
        if self._explanation is not None:
            return
        key = keymap().first_key("window.quit")
        more = tr(_WITH_KEY, key=key) if key else tr(_EXPLAINED)
        title = tr("Mnemoscope stays open")
        box = self._explanation = message_box(self._window, title, tr("Mnemoscope stays open in the tray"), more)
        hide_button = box.addButton(tr("Stay in the tray"), QMessageBox.ButtonRole.AcceptRole)
        leave = box.addButton(tr("Quit"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(tr("Keep the window open"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(hide_button)
        hide_button.clicked.connect(self._hide_in_tray)
        leave.clicked.connect(self._window.quit)
        box.finished.connect(self._forget_explanation)
        box.open()

    @Slot()
    def _hide_in_tray(self) -> None:
        self._window.state.tray_notice_shown = True
        self._window.hide()

    @Slot()
    def _forget_explanation(self) -> None:
        if self._explanation is not None:
            self._explanation.deleteLater()
            self._explanation = None


def _session_ends() -> bool:
    """Return whether the desktop session is ending, which background mode must not block."""
    app = QApplication.instance()
    return isinstance(app, QGuiApplication) and app.isSavingSession()
