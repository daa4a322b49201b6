"""Sizes of windows, which follow the size of the text."""

from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtWidgets import QWidget

from gui.style.typography import font_scale

_LEAST = QSize(560, 360)
_AT_TWICE_THE_TEXT = QSize(900, 580)
_MATTERS = (
    QEvent.Type.FontChange,
    QEvent.Type.StyleChange,
    QEvent.Type.Show,
    QEvent.Type.ScreenChangeInternal,
)


class LeastSize(QObject):
    """Limits the minimum window size by the text size and the screen.

    In a smaller window, text would be cut.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)
        self._settle()

    def _settle(self) -> None:
        wanted = _LEAST + (_AT_TWICE_THE_TEXT - _LEAST) * max(font_scale() - 1, 0.0)
        around = self._window.frameGeometry().size() - self._window.size()
        self._window.setMinimumSize(wanted.boundedTo(self._window.screen().availableSize() - around))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _MATTERS:
            self._settle()
        return False


def resize_with_text(window: QWidget, width: int, height: int, main: QWidget) -> None:
    """`width` and `height` are logical pixels at font scale 1; it becomes no larger than the window of `main`."""
    wanted = QSize(round(width * font_scale()), round(height * font_scale()))
    window.resize(wanted.boundedTo(main.window().size()))
