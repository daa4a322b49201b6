"""One line above the results that qualifies them, with at most one thing to do about it."""

from collections.abc import Callable

from PySide6.QtCore import Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gui.style.theme import tokens
from gui.widgets.labels import label
from gui.widgets.row_painting import GUTTER


class NoticeBar(QWidget):
    """Hidden without a message."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._act: Callable[[], None] | None = None
        self._words = label(role="meta", wrap=True)
        self._button = QPushButton()
        self._button.setProperty("role", "link")
        self._button.clicked.connect(self._clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(GUTTER, 6, GUTTER, 7)
        row.setSpacing(12)
        row.addWidget(self._words, 1)
        row.addWidget(self._button)
        self.setVisible(False)

    def show_notice(self, text: str, action: str = "", act: Callable[[], None] | None = None) -> None:
        """Say `text`; an empty one hides the bar."""
        self._words.setText(text)
        self.setAccessibleName(text)
        self._act = act
        self._button.setText(action)
        self._button.setVisible(act is not None)
        self.setVisible(bool(text))

    @Slot()
    def _clicked(self) -> None:
        if self._act is not None:
            self._act()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.fillRect(self.rect(), colours.line_highlight)
        painter.fillRect(0, self.height() - 1, self.width(), 1, colours.line)
