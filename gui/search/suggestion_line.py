"""One line about spelling: other queries to search for, or the correction that was searched, with a way back."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from engine import QuerySuggestion, in_quotes, tr
from gui.search import messages
from gui.style.theme import tokens
from gui.widgets.labels import elide, label
from gui.widgets.plain_text import set_tip
from gui.widgets.row_list import GUTTER

_LONGEST = 260
"""Pixels of the longest button's text at the usual size; more is cut."""


class SuggestionLine(QWidget):
    """Hidden without suggestions. Those that don't fit next to the first are left out."""

    chosen = Signal(str)
    """The whole query to search for instead."""
    literal_wanted = Signal()
    """Search for the query as it was typed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[object, ...] = ()
        self._buttons: list[QPushButton] = []
        self._said = tr(messages.DID_YOU_MEAN)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(GUTTER, 4, GUTTER, 5)
        self._row.setSpacing(10)
        self._words = label(tr(messages.DID_YOU_MEAN), "meta")
        self._row.addWidget(self._words)
        self._row.addStretch(1)
        self.setVisible(False)

    def show_suggestions(self, suggestions: Sequence[QuerySuggestion]) -> None:
        """Ask for these, the likeliest first; none hides the line."""
        if tuple(suggestions) == self._shown:
            return  # a button that has the focus stays
        self._shown = tuple(suggestions)
        self._said = tr(messages.DID_YOU_MEAN)
        self._replace([self._suggested(suggestion) for suggestion in suggestions], messages.meant(suggestions))

    def show_correction(self, corrected: QuerySuggestion, typed: str) -> None:
        """Show that this was searched instead of `typed`, with a button that searches for `typed`."""
        if self._shown == (corrected, typed):
            return
        self._shown = corrected, typed
        said = tr("Showing results for {query}", query=in_quotes(corrected.query))
        self._said = said
        button = self._button(tr("As typed"), tr("Search for {query}", query=typed))
        set_tip(button, tr("Search for “{query}”", query=typed))
        button.clicked.connect(self.literal_wanted)
        self._replace([button], said)

    def _replace(self, buttons: Sequence[QPushButton], name: str) -> None:
        for button in self._buttons:
            self._row.removeWidget(button)
            button.deleteLater()
        self._buttons = [*buttons]
        self.setAccessibleName(name)
        self.setVisible(bool(buttons))
        self._fit()

    def take_focus(self) -> bool:
        """Focus the most likely one; False if there is none."""
        if self._buttons:
            self._buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)
        return bool(self._buttons)

    def _suggested(self, suggestion: QuerySuggestion) -> QPushButton:
        button = self._button(messages.new_words(suggestion), tr("Search for {query}", query=suggestion.query))
        set_tip(button, tr("Search for “{query}”", query=suggestion.query))
        button.clicked.connect(lambda: self.chosen.emit(suggestion.query))
        return button

    def _button(self, words: str, name: str) -> QPushButton:
        button = QPushButton()
        cut = elide(button.fontMetrics(), words, Qt.TextElideMode.ElideRight, _LONGEST)
        button.setText(cut.replace("&", "&&"))
        button.setProperty("role", "link")
        button.setAccessibleName(name)
        self._row.insertWidget(self._row.count() - 1, button)
        return button

    def _fit(self) -> None:
        beside = self._buttons[0].sizeHint().width() + self._row.spacing() if self._buttons else 0
        room = self.width() - 2 * GUTTER
        words = elide(self._words.fontMetrics(), self._said, Qt.TextElideMode.ElideRight, max(0, room - beside))
        self._words.setText(words)
        room -= self._words.sizeHint().width()
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
