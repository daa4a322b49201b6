"""Lines above the results that show their scope; each has a button to leave it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from engine import tr
from gui.style.theme import tokens
from gui.widgets.icons import IconButton
from gui.widgets.labels import ElidedLabel
from gui.widgets.mirrored import margins
from gui.widgets.row_list import GUTTER

_LEAST_LETTERS = 44
"""Fewest characters of a line that shows the location after the text."""
_PLACE_LETTERS = 16
"""It is cut down to no fewer."""
_STEP = 12
"""Indent in pixels of a line relative to the scope around it."""


@dataclass(frozen=True)
class Crumb:
    """One line."""

    words: str
    tip: str
    leave: str
    """What its button does."""
    place: str = ""
    """Where that is, behind the words."""


class _Line(QWidget):
    """Text that is cut if there is no room, and the button, which is always visible."""

    def __init__(self, depth: int, bar: "ScopeBar") -> None:
        super().__init__(bar)
        self._words = ElidedLabel()
        self._place = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._place.setProperty("role", "meta")
        self.button = IconButton("close", tr("Leave"))
        self.button.clicked.connect(lambda: bar.left.emit(depth))
        row = QHBoxLayout(self)
        row.setContentsMargins(margins(GUTTER + depth * _STEP, 2, GUTTER - 8, 2))
        row.setSpacing(8)
        row.addWidget(self._words)
        row.addWidget(self._place)
        row.addStretch(1)
        row.addWidget(self.button)

    def show_crumb(self, crumb: Crumb, *, last: bool) -> None:
        self._words.setText(crumb.words)
        self._place.setText(crumb.place)
        self._fit()
        for words in (self._words, self._place):
            words.set_tip(crumb.tip)
        self.setAccessibleName(crumb.tip)
        self.button.set_accessible(
            crumb.leave, tr("{leave} (Esc in the empty box)", leave=crumb.leave) if last else crumb.leave
        )

    def _fit(self) -> None:
        """In a narrow list a place cut down to its ends would say nothing: the tooltip has it."""
        letter = self.fontMetrics().averageCharWidth()
        self._place.setMinimumWidth(min(self._place.sizeHint().width(), letter * _PLACE_LETTERS))
        self._place.setVisible(bool(self._place.text()) and self.width() >= letter * _LEAST_LETTERS)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


class ScopeBar(QWidget):
    """Hidden while there is no scope."""

    left = Signal(int)
    """Which line is left, from 0; those below it go with it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._crumbs: tuple[Crumb, ...] = ()
        self._lines: list[_Line] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 3, 0, 4)
        self._column.setSpacing(0)
        self.setVisible(False)

    def show_crumbs(self, crumbs: Sequence[Crumb]) -> None:
        """Show these, widest first; none hides the bar. An unchanged line keeps the focus of its button."""
        if tuple(crumbs) == self._crumbs:
            return
        self._crumbs = tuple(crumbs)
        for line in self._lines[len(crumbs) :]:
            self._column.removeWidget(line)
            line.hide()  # it is deleted later, and others may replace it before
            line.deleteLater()
        del self._lines[len(crumbs) :]
        for depth in range(len(self._lines), len(crumbs)):
            self._lines.append(_Line(depth, self))
            self._column.addWidget(self._lines[-1])
        for number, (line, crumb) in enumerate(zip(self._lines, crumbs, strict=True), 1):
            line.show_crumb(crumb, last=number == len(crumbs))
        self.setAccessibleName(". ".join(crumb.tip for crumb in crumbs))
        self.setVisible(bool(crumbs))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.fillRect(self.rect(), colours.accent_ground)
        painter.fillRect(0, self.height() - 1, self.width(), 1, colours.line)
