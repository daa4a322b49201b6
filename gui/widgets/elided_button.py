"""A button whose words are cut where there is no room for them; all of them stand in its tooltip then."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QStylePainter

from gui.widgets.elided import elide
from gui.widgets.plain_text import show_tip

_FEWEST_LETTERS = 8


class ElidedButton(QPushButton):
    """Asks for the width of its words and accepts a smaller one."""

    def __init__(self, words: str) -> None:
        super().__init__(words.replace("&", "&&"))
        self._words = words
        self.setAccessibleName(words)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        few = self.fontMetrics().averageCharWidth() * _FEWEST_LETTERS
        return QSize(min(hint.width(), few + self._around()), hint.height())

    @property
    def shown(self) -> str:
        """The words that have room."""
        room = self.width() - self._around()
        return elide(self.fontMetrics(), self._words, Qt.TextElideMode.ElideRight, room)

    def _around(self) -> int:
        """Pixels of the width that are not for the words."""
        return self.sizeHint().width() - self.fontMetrics().horizontalAdvance(self._words)

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown.replace("&", "&&")
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.shown != self._words:
            show_tip(event.globalPos(), self._words, self)
            return True
        return super().event(event)
