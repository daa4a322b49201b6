"""Says something to those who hear the program rather than see it: politely, after what is being said."""

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

_SETTLED_MS = 600
"""A person who types on is not told of what passes meanwhile."""


def announce(widget: QWidget, sentence: str) -> None:
    """As if `widget` said it; nothing happens where nobody listens."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, sentence))


class SettledAnnouncer(QObject):
    """Says only the last of several sentences that follow each other quickly."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._sentence = ""
        self._wait = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._wait.timeout.connect(self._say)

    def announce(self, sentence: str) -> None:
        """Soon, unless another follows."""
        if QAccessible.isActive():
            self._sentence = sentence
            self._wait.start()

    def _say(self) -> None:
        announce(self._widget, self._sentence)
