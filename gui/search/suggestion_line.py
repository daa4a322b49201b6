"""Asks whether another word was meant, in one line; each answer is a button that searches for it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from engine import QuerySuggestion, tr
from gui.search import texts
from gui.theme import tokens
from gui.widgets.elided import elide
from gui.widgets.labels import label
from gui.widgets.plain_text import set_tip
from gui.widgets.row_painting import GUTTER

_LONGEST = 260
"""Pixels of the longest button's text at the usual size; more is cut."""


class SuggestionLine(QWidget):
    """Hidden while there is nothing to ask. Those that do not fit beside the first are left out."""

    chosen = Signal(str)
    """The whole question that is meant."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[QuerySuggestion, ...] = ()
        self._buttons: list[QPushButton] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(GUTTER, 4, GUTTER, 5)
        self._row.setSpacing(10)
        self._words = label(tr(texts.DID_YOU_MEAN), "meta")
        self._row.addWidget(self._words)
        self._row.addStretch(1)
        self.setVisible(False)

    def show_suggestions(self, suggestions: Sequence[QuerySuggestion]) -> None:
        """Ask for these, the likeliest first; none hides the line."""
        if tuple(suggestions) == self._shown:
            return  # a button that has the focus stays
        self._shown = tuple(suggestions)
        for button in self._buttons:
            self._row.removeWidget(button)
            button.deleteLater()
        self._buttons = [self._button(suggestion) for suggestion in suggestions]
        self.setAccessibleName(texts.meant(suggestions))
        self.setVisible(bool(suggestions))
        self._fit()

    def take_focus(self) -> bool:
        """Go to the likeliest one; False where there is none."""
        if self._buttons:
            self._buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)
        return bool(self._buttons)

    def _button(self, suggestion: QuerySuggestion) -> QPushButton:
        button = QPushButton()
        words = texts.new_words(suggestion)
        cut = elide(button.fontMetrics(), words, Qt.TextElideMode.ElideRight, _LONGEST)
        button.setText(cut.replace("&", "&&"))
        button.setProperty("role", "link")
        button.setAccessibleName(tr("Search for {query}", query=suggestion.query))
        set_tip(button, tr("Search for “{query}”", query=suggestion.query))
        button.clicked.connect(lambda: self.chosen.emit(suggestion.query))
        self._row.insertWidget(self._row.count() - 1, button)
        return button

    def _fit(self) -> None:
        room = self.width() - 2 * GUTTER - self._words.sizeHint().width()
        for place, button in enumerate(self._buttons):
            room -= button.sizeHint().width() + self._row.spacing()
            button.setVisible(not place or room >= 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.fillRect(self.rect(), colours.line_highlight)
        painter.fillRect(0, self.height() - 1, self.width(), 1, colours.line)
