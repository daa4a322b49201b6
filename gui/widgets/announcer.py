"""Announces messages to screen readers: politely, after the current speech."""

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

_SETTLED_MS = 600
"""Milliseconds without another message before one is announced."""


def announce(widget: QWidget, sentence: str) -> None:
    """Announce a message as if from `widget`; does nothing without a screen reader."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, sentence))


class SettledAnnouncer(QObject):
    """Announces only the last of several messages in quick succession."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._sentence = ""
        self._wait = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._wait.timeout.connect(self._say)

    def announce(self, sentence: str) -> None:
        """Announce a message after a short delay, unless another one follows."""
        if QAccessible.isActive():
            self._sentence = sentence
            self._wait.start()

    def _say(self) -> None:
        announce(self._widget, self._sentence)
