"""One score as a bar: the words' part, the meaning's part, what age has taken, and what was asked for."""

from collections.abc import Iterator

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QWidget

from engine import tr
from gui.explanation.drawing import Drawing
from gui.explanation.wording import Shares, spoken_shares
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, tokens
from gui.widgets.mirrored import write

_BAR = 10
_GAP = 8
_SQUARE = 10
_BETWEEN = 14
_TICK = 3
"""Pixels that the mark of the threshold stands out above and below."""

Entry = tuple[str, QBrush]


class ScoreBar(Drawing):
    """Bar with its legend, which wraps where the bar is short."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shares = Shares(0.0, 0.0, 0.0, 0.0)

    def show_shares(self, shares: Shares) -> None:
        self._shares = shares
        self.setAccessibleName(spoken_shares(shares))
        self.show_anew()

    # --- measuring --------------------------------------------------------------------------------------------------

    def _entries(self, colours: Tokens) -> Iterator[Entry]:
        """What the legend names, each with its look."""
        shares = self._shares
        yield tr("words {share:.2f}", share=shares.words), QBrush(colours.accent)
        yield tr("meaning {share:.2f}", share=shares.meaning), QBrush(colours.meaning)
        if shares.aged >= 0.005:
            yield tr("lost by age {share:.2f}", share=shares.aged), _hatched(colours.muted)
        if shares.least:
            yield tr("asked for {least:g}", least=shares.least), QBrush(colours.text)

    def _lines(self, colours: Tokens) -> list[list[Entry]]:
        """The legend, as much in a line as fits."""
        metrics = QFontMetrics(font_at(12))
        lines: list[list[Entry]] = [[]]
        room = self.width()
        for entry in self._entries(colours):
            width = _SQUARE + 4 + metrics.horizontalAdvance(entry[0]) + _BETWEEN
            if lines[-1] and width - _BETWEEN > room:
                lines.append([])
                room = self.width()
            lines[-1].append(entry)
            room -= width
        return lines

    def _line_height(self) -> int:
        return round(QFontMetrics(font_at(12)).height() * 1.25)

    def wanted_height(self) -> int:
        return self._bar_height() + len(self._lines(tokens(self.palette()))) * self._line_height()

    @staticmethod
    def _bar_height() -> int:
        """With what is between it and the legend."""
        return 2 * _TICK + _BAR + _GAP

    # --- painting ---------------------------------------------------------------------------------------------------

    def draw(self, painter: QPainter, colours: Tokens) -> None:
        self._paint_bar(painter, colours)
        height = self._line_height()
        top = self._bar_height()
        for line in self._lines(colours):
            x = 0
            for words, brush in line:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(brush)
                tick = brush.color() == colours.text
                square = QRectF(x + 4 if tick else x, top + (height - _SQUARE) / 2, 2 if tick else _SQUARE, _SQUARE)
                painter.drawRoundedRect(square, 1, 1)
                x += _SQUARE + 4
                painter.setPen(colours.muted)
                width = painter.fontMetrics().horizontalAdvance(words)
                write(painter, QRectF(x, top, width + 1, height), int(Qt.AlignmentFlag.AlignVCenter), words)
                x += width + _BETWEEN
            top += height

    def _paint_bar(self, painter: QPainter, colours: Tokens) -> None:
        """From the longest to the shortest, each over what is longer."""
        shares, full = self._shares, self.width()
        painter.setPen(Qt.PenStyle.NoPen)
        for share, brush in (
            (1.0, QBrush(colours.line)),
            (shares.score + shares.aged, _hatched(colours.muted)),
            (shares.score, QBrush(colours.meaning)),
            (shares.words, QBrush(colours.accent)),
        ):
            length = full * min(1.0, share)
            if length >= 1:
                if brush.style() != Qt.BrushStyle.SolidPattern:
                    painter.setBrush(colours.base)
                    painter.drawRect(QRectF(0, _TICK, length, _BAR))
                painter.setBrush(brush)
                painter.drawRoundedRect(QRectF(0, _TICK, length, _BAR), 3, 3)
        if shares.least:
            x = full * min(1.0, shares.least)
            painter.fillRect(QRectF(x - 1, 0, 2, _BAR + 2 * _TICK), colours.text)


def _hatched(colour: QColor) -> QBrush:
    return QBrush(colour, Qt.BrushStyle.BDiagPattern)
