"""What each word of the question brings, as bars below each other; and the place of a cosine in its model's range."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QWidget

from engine import number, tr
from gui.explanation.drawing import Drawing
from gui.explanation.wording import Part, spoken_parts
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens
from gui.widgets.elided import elide
from gui.widgets.mirrored import write
from gui.widgets.plain_text import set_tip
from gui.widgets.row_painting import AT_LEFT, AT_RIGHT

_BAR = 4
_GAP = 8
_LEAST_WHERE = 3
"""Letters; with room for fewer, where a term stands is left to the tooltip."""
_TERM_SHARE = 0.5
"""Of the width, for the terms and where they stand."""


def _row() -> int:
    return round(QFontMetrics(font_at(12)).height() * 1.4)


class TermBars(Drawing):
    """One row a term: the word, its bar, its figure; the longest bar is that of the word that brings most."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[Part, ...] = ()

    def show_parts(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(parts)
        self.setAccessibleName(spoken_parts(parts))
        set_tip(self, "\n".join(f"{part.term}: {part.where}" for part in parts if part.where))
        self.show_anew()

    def wanted_height(self) -> int:
        return _row() * len(self._parts)

    def draw(self, painter: QPainter, colours: Tokens) -> None:
        metrics = painter.fontMetrics()
        row, terms = _row(), int(self.width() * _TERM_SHARE)
        figure = metrics.horizontalAdvance(number(0.0, ".2f"))
        room = self.width() - terms - figure - 2 * _GAP
        most = max((part.score for part in self._parts), default=0.0) or 1.0
        for place, part in enumerate(self._parts):
            line = QRect(0, place * row, self.width(), row)
            painter.setPen(colours.muted if part.missing else colours.text)
            term = elide(metrics, part.term, Qt.TextElideMode.ElideRight, terms)
            write(painter, line, AT_LEFT, term)
            painter.setPen(colours.muted)
            begin = metrics.horizontalAdvance(term) + _GAP
            left = self.width() - begin if part.missing else terms - begin
            if left > metrics.averageCharWidth() * _LEAST_WHERE:
                where = elide(metrics, part.where, Qt.TextElideMode.ElideRight, left)
                write(painter, line.adjusted(begin, 0, 0, 0), AT_LEFT, where)
            if part.missing:
                continue
            write(painter, line, AT_RIGHT, number(part.score, ".2f"))
            painter.setPen(Qt.PenStyle.NoPen)
            top = line.center().y() - _BAR / 2 + 0.5
            for length, colour in ((room, colours.line), (room * part.score / most, colours.accent)):
                painter.setBrush(colour)
                painter.drawRoundedRect(QRectF(terms + _GAP, top, max(1.0, length), _BAR), 2, 2)


class RangeBar(Drawing):
    """From the cosine that counts nothing to that which counts as the same meaning, filled as far as this one goes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._low = self._high = self._filled = 0.0
        self.show_anew()

    def show_range(self, low: float, high: float, cosine: float) -> None:
        self._low, self._high = low, high
        self._filled = min(1.0, max(0.0, (cosine - low) / (high - low))) if high > low else 0.0
        self.setAccessibleName(
            tr("Cosine {cosine:.2f} between {low:.2f} and {high:.2f}", cosine=cosine, low=low, high=high)
        )
        self.update()

    def wanted_height(self) -> int:
        return _row()

    def draw(self, painter: QPainter, colours: Tokens) -> None:
        painter.setPen(colours.muted)
        low, high = number(self._low, ".2f"), number(self._high, ".2f")
        write(painter, self.rect(), AT_LEFT, low)
        write(painter, self.rect(), AT_RIGHT, high)
        begin = painter.fontMetrics().horizontalAdvance(low) + _GAP
        room = self.width() - begin - painter.fontMetrics().horizontalAdvance(high) - _GAP
        top = self.rect().center().y() - _BAR / 2 + 0.5
        painter.setPen(Qt.PenStyle.NoPen)
        for length, colour in ((room, colours.line), (room * self._filled, colours.meaning)):
            if length >= 1:
                painter.setBrush(colour)
                painter.drawRoundedRect(QRectF(begin, top, length, _BAR), 2, 2)
