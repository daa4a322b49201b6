"""Two widgets side by side, or the second below the first where the window is too narrow for both."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QGridLayout, QWidget

from gui.style.stylesheet import font_at

_MARGIN = 16
_GAP = 12


class FoldingRow(QWidget):
    """`wide` takes the room that `narrow` leaves, and must keep at least so many characters of it."""

    def __init__(self, wide: QWidget, narrow: QWidget, letters: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._wide, self._narrow = wide, narrow
        self._letters = letters
        self._folded = False
        self._beside = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(_MARGIN, 12, _MARGIN, 12)
        self._grid.setHorizontalSpacing(_GAP)
        self._grid.setVerticalSpacing(10)
        self._grid.setColumnStretch(0, 1)
        self._place()

    def leave(self, beside: int) -> None:
        """Leave so many pixels at the end of the first line free; a second line may continue below."""
        if beside != self._beside:
            self._beside = beside
            self._grid.setColumnMinimumWidth(2, beside - _GAP)  # the last gap is part of it
            self._fold()

    def _place(self) -> None:
        self._grid.addWidget(self._wide, 0, 0)
        if self._folded:
            self._grid.addWidget(self._narrow, 1, 0, 1, 3, Qt.AlignmentFlag.AlignLeft)
        else:
            self._grid.addWidget(self._narrow, 0, 1)

    def _fold(self) -> None:
        needed = self._letters * QFontMetrics(font_at(13)).averageCharWidth() + self._narrow.sizeHint().width()
        folded = self.width() - 2 * _MARGIN - _GAP - self._beside < needed
        if folded != self._folded:
            self._folded = folded
            self._place()

    def minimumSizeHint(self) -> QSize:
        return QSize(200, super().minimumSizeHint().height())

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fold()
        return handled
