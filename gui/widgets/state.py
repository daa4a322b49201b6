"""State as a dot in its colour, always with a word beside it."""

from typing import Literal

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from gui.theme import Tokens, tokens
from gui.widgets.elided import ElidedLabel

State = Literal["fine", "working", "degraded", "off"]


def state_colour(colours: Tokens, state: State) -> QColor:
    match state:
        case "fine":
            return colours.fine
        case "working":
            return colours.working
        case "degraded":
            return colours.degraded
        case "off":
            return colours.off


class StateDot(QWidget):
    """The dot alone, for those who place the word themselves; assistive tools read the word, not the dot."""

    def __init__(self, state: State = "off", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state: State = state
        self.setFixedSize(QSize(10, 10))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    @property
    def state(self) -> State:
        return self._state

    def set_state(self, state: State) -> None:
        if state != self._state:
            self._state = state
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(state_colour(tokens(self.palette()), self._state))
        painter.drawEllipse(self.rect().adjusted(1, 1, -1, -1))


class StateLabel(QWidget):
    """Dot and word in a row; the word gives way with an ellipsis and shows itself whole in the tooltip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.dot = StateDot()
        self.word = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)  # a path's ends say more than its middle
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.dot)
        row.addWidget(self.word, 1)

    def show_state(self, state: State | None, word: str) -> None:
        """None shows a plain value without a dot."""
        self.dot.setVisible(state is not None)
        if state is not None:
            self.dot.set_state(state)
        self.word.setText(word)
        self.setAccessibleName(word if state in (None, "fine") else f"{word} ({state})")
