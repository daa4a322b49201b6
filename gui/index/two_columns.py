"""Two columns of cards that scroll together; in a narrow window one below the other, in an order of its own."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gui.style.stylesheet import letter_width
from gui.widgets.tab_order import put_behind, stops

_FEWEST_LETTERS = 112
_LEFT, _RIGHT = 8, 5
"""Shares of the width."""
_GAP = 12
_GUTTER = 16


class TwoColumns(QScrollArea):
    """`above` has the whole width. Scrolls up and down only.

    Signals:
        folded: whether there is one column now.
    """

    folded = Signal(bool)

    def __init__(
        self, above: QWidget, left: Sequence[QWidget], right: Sequence[QWidget], stacked: Sequence[QWidget]
    ) -> None:
        """`stacked`: all of them in the order of the one column."""
        super().__init__()
        self._left, self._right, self._stacked = tuple(left), tuple(right), tuple(stacked)
        self._narrow: bool | None = None
        self._single = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._columns = (QVBoxLayout(), QVBoxLayout())
        sides = QHBoxLayout()
        sides.setSpacing(_GAP)
        for column, share in zip(self._columns, (_LEFT, _RIGHT), strict=True):
            column.setSpacing(_GAP)
            column.addStretch(1)
            sides.addLayout(column, share)
        self._sides = sides
        page = QWidget()
        whole = QVBoxLayout(page)
        whole.setContentsMargins(_GUTTER, 12, _GUTTER, _GUTTER)
        whole.setSpacing(_GAP)
        whole.addWidget(above)
        whole.addLayout(sides)
        whole.addStretch(1)
        self.setWidget(page)
        self._fold()

    def set_single(self, single: bool) -> None:
        """One column whatever the width: there is too little for two."""
        self._single = single
        self._fold()

    def _fold(self) -> None:
        letters = self.width() // letter_width()
        narrow = self._single or letters < _FEWEST_LETTERS
        if narrow == self._narrow:
            return
        self._narrow = narrow
        for widget in self._stacked:
            # Not by takeAt: an item that still lives would keep the next one from hearing of changes of size.
            for column in self._columns:
                column.removeWidget(widget)
        left, right = (self._stacked, ()) if narrow else (self._left, self._right)
        for column, widgets in zip(self._columns, (left, right), strict=True):
            for place, widget in enumerate(widgets):
                column.insertWidget(place, widget)  # before the stretch
        first, *others = (stop for widget in (*left, *right) for stop in stops(widget))
        put_behind(first, others)
        self._sides.setStretch(1, 0 if narrow else _RIGHT)
        self._sides.setSpacing(0 if narrow else _GAP)
        self.folded.emit(narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()
