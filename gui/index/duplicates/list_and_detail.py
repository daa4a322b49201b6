"""A list beside what is read of it, or one of the two where there is no room for both."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from gui.style.stylesheet import letter_width
from gui.widgets.mirrored import keep_inside

_FEWEST_LETTERS = 100
"""Of both together; with fewer, one stands in the other's place."""
_SIZES = (340, 700)


class ListAndDetail(QSplitter):
    """In a narrow window the list is shown until something is read.

    Signals:
        folded: whether there is room for one alone.
    """

    folded = Signal(bool)

    def __init__(self, listed: QWidget, read: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        keep_inside(self)
        self._listed, self._read = listed, read
        self._reading = False
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.addWidget(listed)
        self.addWidget(read)
        self.setStretchFactor(0, 0)
        self.setStretchFactor(1, 1)
        self.setSizes(list(_SIZES))
        self.setMinimumWidth(1)  # it folds where both are too wide

    def show_reading(self, reading: bool) -> None:
        """Which of the two is shown where only one is."""
        self._reading = reading
        self._fold()

    def _fold(self) -> None:
        narrow = self.width() < letter_width() * _FEWEST_LETTERS
        self._listed.setHidden(narrow and self._reading)
        self._read.setHidden(narrow and not self._reading)
        self.folded.emit(narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()
