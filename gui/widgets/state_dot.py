"""Shows a state as a dot with a colour and a shape, always next to text."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gui.style.stylesheet import BASE_PIXELS, font_at, scaled
from gui.style.theme import Tokens, tokens
from gui.style.typography import FontSized
from gui.text.plain_text import set_tip
from gui.text.status_texts import State, with_state
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import column_of, row_of

_DOT = 10
_DEGREE = 16
"""One degree in the units of Qt's angles."""


def state_colour(colours: Tokens, state: State) -> QColor:
    """Return the theme's colour for a state."""
    match state:
        case "fine":
            return colours.fine
        case "working":
            return colours.working
        case "degraded":
            return colours.degraded
        case "off":
            return colours.off


class StateDot(FontSized, QWidget):
    """A dot for a state, without text; the caller places text next to it, which assistive technology reads.

    A disc means fine, a triangle needs attention, half a disc busy, and a ring off.
    """

    def __init__(self) -> None:
        super().__init__()
        self.state: State = "off"
        self.measure()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def set_state(self, state: State) -> None:
        if state != self.state:
            self.state = state
            self.update()

    def measure(self) -> None:
        side = scaled(_DOT)
        self.setFixedSize(QSize(side, side))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = state_colour(tokens(self.palette()), self.state)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        edge = box.width() / 5
        match self.state:
            case "fine":
                painter.drawEllipse(box)
            case "degraded":
                painter.drawPolygon([QPointF(box.center().x(), box.top()), box.bottomRight(), box.bottomLeft()])
            case "working":
                painter.drawPie(box, -90 * _DEGREE, 180 * _DEGREE)
        if self.state in ("working", "off"):
            painter.setPen(QPen(colour, edge))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(box.adjusted(edge / 2, edge / 2, -edge / 2, -edge / 2))


class StateLabel(FontSized, QWidget):
    """A dot with text next to it; longer text wraps, and the dot is next to its first line."""

    def __init__(self) -> None:
        super().__init__()
        self.dot = StateDot()
        self.word = label(wrap=True)
        self._above = column_of(self.dot, None)
        row_of(self._above, (self.word, 1), spacing=6, parent=self)
        self.measure()

    def show_state(self, state: State | None, words: str, tip: str = "") -> None:
        """Show a state and its text; None shows the text without a dot."""
        self.dot.setVisible(state is not None)
        if state is not None:
            self.dot.set_state(state)
        self.word.setText(breakable(words))
        set_tip(self.word, tip)
        self.setAccessibleName(with_state(words, state))

    def measure(self) -> None:
        """Align the dot with the middle of the first line."""
        line = QFontMetrics(font_at(BASE_PIXELS)).height()
        self._above.setContentsMargins(0, (line - self.dot.height() + 1) // 2, 0, 0)
