"""Sizes of source text and windows: the platform's fixed font, 12.5 px on rows of 20 px, times the font scale."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QWidget

from gui.style.stylesheet import font_scale, scaled

if TYPE_CHECKING:
    _Widget = QWidget
else:
    _Widget = object  # of Qt's classes only one may be a base

TEXT_PIXELS = 12.5
_ROW_PIXELS = 20
_POINTS_PER_INCH = 72


def fixed_font(pixels: float = TEXT_PIXELS) -> QFont:
    """Return the platform's fixed font, `pixels` high at font scale 1, not rounded to whole pixels."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    dots = QGuiApplication.primaryScreen().logicalDotsPerInchY()
    font.setPointSizeF(pixels * font_scale() * _POINTS_PER_INCH / dots)
    return font


@dataclass(frozen=True)
class Typography:
    """Font measures of the source view, in logical pixels."""

    font: QFont
    row_height: int
    baseline: float
    """Distance from the top of a row, the same for every script, so that lines of different fonts stay on one grid."""
    character_width: float
    scale: float

    @classmethod
    def current(cls) -> "Typography":
        font = fixed_font()
        metrics = QFontMetricsF(font)
        row_height = scaled(_ROW_PIXELS)
        baseline = (row_height - metrics.ascent() - metrics.descent()) / 2 + metrics.ascent()
        return cls(font, row_height, round(baseline), metrics.horizontalAdvance("0"), font_scale())

    def scaled(self, pixels: float) -> int:
        """Convert a distance at font scale 1 to the current scale."""
        return round(pixels * self.scale)


# --- Sizes of windows, which follow the size of the text -------------------------------------------------------------

_MIN_SIZE = QSize(560, 360)
_AT_TWICE_THE_TEXT = QSize(900, 580)
_SIZE_EVENTS = (
    QEvent.Type.FontChange,
    QEvent.Type.StyleChange,
    QEvent.Type.Show,
    QEvent.Type.ScreenChangeInternal,
)


class LeastSize(QObject):
    """Sets a window's minimum size by the text size and the screen.

    In a smaller window, text would be cut.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)
        self._update_minimum()

    def _update_minimum(self) -> None:
        preferred = _MIN_SIZE + (_AT_TWICE_THE_TEXT - _MIN_SIZE) * max(font_scale() - 1, 0.0)
        around = self._window.frameGeometry().size() - self._window.size()
        self._window.setMinimumSize(preferred.boundedTo(self._window.screen().availableSize() - around))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _SIZE_EVENTS:
            self._update_minimum()
        return False


def resize_with_text(window: QWidget, width: int, height: int, main: QWidget) -> None:
    """Resize a window; `width` and `height` are pixels at font scale 1, limited to the size of the window of `main`."""
    preferred = QSize(scaled(width), scaled(height))
    window.resize(preferred.boundedTo(main.window().size()))


class FontSized(_Widget):
    """Mixin for a class of widgets, listed before it, whose sizes depend on the font."""

    def measure(self) -> None:
        """Compute these sizes again, except hints; called after a change of the font or the style."""
        raise NotImplementedError

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.measure()


class Resized(_Widget):
    """Mixin for a class of widgets, listed before it, that arranges its content by its size."""

    def fit(self) -> None:
        """Arrange the content for the current size; called after each change of it."""
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
