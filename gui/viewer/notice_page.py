"""Messages of the viewer: a temporary hint over a text, or a page with one sentence and one button instead of it."""

from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from engine import tr
from gui.style.stylesheet import set_role
from gui.widgets.accessibility import announce
from gui.widgets.labels import label
from gui.widgets.placeholder_page import StatePage

_SHOWN_MS = 2_500
_MARGIN = 16


class NothingToRead(NamedTuple):
    """The sentences shown while nothing is selected, to be translated by `tr`."""

    sentence: str
    keys: str = ""


class Hint(QFrame):
    """A temporary message over the lower edge of another widget; it takes no mouse or key events."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        set_role(self, "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._text = label()
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 12, 6)
        row.addWidget(self._text)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        self.hide()
        over.installEventFilter(self)

    def show_message(self, sentence: str, milliseconds: int = _SHOWN_MS) -> None:
        self._text.setText(sentence)
        self.setAccessibleName(sentence)
        self._place()
        self.show()
        self.raise_()
        announce(self, sentence)
        self._timer.start(milliseconds)

    def _place(self) -> None:
        over = self._over
        available = max(1, over.width() - 2 * _MARGIN)
        self._text.setWordWrap(False)
        if self.sizeHint().width() > available:
            self._text.setWordWrap(True)
        width = min(available, self.sizeHint().width())
        height = max(self.sizeHint().height(), self.heightForWidth(width))
        self.setGeometry((over.width() - width) // 2, over.height() - height - _MARGIN, width, height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._place()
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)


class EmptyPage(StatePage):
    """The page shown instead of a text: one sentence and at most one button.

    Signals:
        retry: the button was pressed.
    """

    retry = Signal()

    def show_message(self, sentence: str, *, keys: str = "", retry: bool = False) -> None:
        """Replace the sentence; `keys`: a second one."""
        self.show_state("", sentence, keys=keys, actions=((tr("Try again"), self.retry.emit),) if retry else ())
