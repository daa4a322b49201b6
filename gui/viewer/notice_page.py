"""Messages of the viewer: a temporary hint over a text, or a page with one sentence and one button instead of it."""

from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from engine import tr
from gui.style.stylesheet import set_role
from gui.widgets.accessibility import announce
from gui.widgets.labels import label

_SHOWN_MS = 2_500
_MARGIN = 16
_WIDEST = 460


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

    def say(self, sentence: str, milliseconds: int = _SHOWN_MS) -> None:
        self._text.setText(sentence)
        self.setAccessibleName(sentence)
        self._place()
        self.show()
        self.raise_()
        announce(self, sentence)
        self._timer.start(milliseconds)

    def _place(self) -> None:
        over = self._over
        room = max(1, over.width() - 2 * _MARGIN)
        self._text.setWordWrap(False)
        if self.sizeHint().width() > room:
            self._text.setWordWrap(True)
        width = min(room, self.sizeHint().width())
        height = max(self.sizeHint().height(), self.heightForWidth(width))
        self.setGeometry((over.width() - width) // 2, over.height() - height - _MARGIN, width, height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._place()
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)


class EmptyPage(QFrame):
    """The page shown instead of a text: one sentence and at most one button.

    Signals:
        retry: the button was pressed.
    """

    retry = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "page")
        self.sentence: QLabel = label(wrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._keys = label(role="meta", wrap=True)
        self._keys.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._button = QPushButton(tr("Try again"))
        self._button.clicked.connect(self.retry)
        middle = QWidget()
        middle.setMaximumWidth(_WIDEST)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addStretch(2)
        column.addWidget(self.sentence)
        column.addWidget(self._keys)
        column.addWidget(self._button, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch(3)
        row = QHBoxLayout(self)
        row.setContentsMargins(32, 32, 32, 32)
        row.addStretch(1)
        row.addWidget(middle, 100)
        row.addStretch(1)

    def say(self, sentence: str, *, keys: str = "", retry: bool = False) -> None:
        self.sentence.setText(sentence)
        self._keys.setText(keys)
        self._keys.setVisible(bool(keys))
        self._button.setVisible(retry)
        self.setAccessibleName(f"{sentence} {keys}".strip())
