"""Explains one result: its score as a bar, the parts of the score in sentences, and all numbers in a table."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine import MemorySearchResult, ResultExplanation, SearchOutcome, number, reasons_of, tr
from gui.explanation import wording
from gui.explanation.tables import FigureTable
from gui.explanation.wording import Part, Shares, spoken_parts, spoken_shares
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, tokens
from gui.style.typography import FontSized
from gui.text.formatting import shown_headings
from gui.text.plain_text import set_tip
from gui.text.right_to_left import mirrored_painter, write
from gui.widgets.icons import IconButton
from gui.widgets.labels import AT_LEFT, AT_RIGHT, ElidedLabel, breakable, elide, label
from gui.widgets.layouts import column_of, row_of

_SPACING = 14
_TERM_BARS_BAR = 4
_TERM_BARS_GAP = 8
_MIN_WHERE = 3
"""Minimum number of characters for the fields of a term; with less room they are only in the tooltip."""
_TERM_SHARE = 0.65
"""Share of the width for the terms and their fields."""


_MIN_WIDTH = 120


class Drawing(FontSized, QWidget):
    """Base class of painted widgets. A subclass implements `preferred_height` and `draw`.

    It calls `update_drawing` after changes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def preferred_height(self) -> int:
        """Return the height in pixels at the current width."""
        raise NotImplementedError

    def draw(self, painter: QPainter, colours: Tokens) -> None:
        """Paint the widget; `painter` has a small font and antialiasing."""
        raise NotImplementedError

    def update_drawing(self) -> None:
        """Compute the height again and repaint after a change of the content."""
        self.measure()
        self.update()

    def measure(self) -> None:
        self.setFixedHeight(self.preferred_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(_MIN_WIDTH, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.measure()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = mirrored_painter(self)
        painter.setFont(font_at(12))
        self.draw(painter, tokens(self.palette()))


def _row() -> int:
    return round(QFontMetrics(font_at(12)).height() * 1.4)


class TermBars(Drawing):
    """A chart of the query's terms, one row each: word, bar and score. The highest score has the longest bar."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: tuple[Part, ...] = ()

    def show_parts(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(parts)
        self.setAccessibleName(spoken_parts(parts))
        set_tip(self, "\n".join(f"{part.term}: {part.where}" for part in parts if part.where))
        self.update_drawing()

    def preferred_height(self) -> int:
        return _row() * len(self._parts)

    def draw(self, painter: QPainter, colours: Tokens) -> None:
        metrics = painter.fontMetrics()
        texts = (f"{part.term} {part.where}" for part in self._parts if not part.missing)
        longest = max((metrics.horizontalAdvance(text) + _TERM_BARS_GAP for text in texts), default=0)
        row, terms = _row(), min(longest, int(self.width() * _TERM_SHARE))
        figure = metrics.horizontalAdvance(number(0.0, ".2f"))
        available = self.width() - terms - figure - 2 * _TERM_BARS_GAP
        most = max((part.score for part in self._parts), default=0.0) or 1.0
        for index, part in enumerate(self._parts):
            line = QRect(0, index * row, self.width(), row)
            painter.setPen(colours.muted if part.missing else colours.text)
            # The sentence of a missing term needs no column, so it may begin anywhere.
            room = int(self.width() * _TERM_SHARE) if part.missing else terms
            term = elide(metrics, part.term, Qt.TextElideMode.ElideRight, room)
            write(painter, line, AT_LEFT, term)
            painter.setPen(colours.muted)
            begin = metrics.horizontalAdvance(term) + _TERM_BARS_GAP
            left = self.width() - begin if part.missing else terms - begin
            if left > metrics.averageCharWidth() * _MIN_WHERE:
                where = elide(metrics, part.where, Qt.TextElideMode.ElideRight, left)
                write(painter, line.adjusted(begin, 0, 0, 0), AT_LEFT, where)
            if part.missing:
                continue
            write(painter, line, AT_RIGHT, number(part.score, ".2f"))
            painter.setPen(Qt.PenStyle.NoPen)
            top = line.center().y() - _TERM_BARS_BAR / 2 + 0.5
            for length, colour in ((available, colours.line), (available * part.score / most, colours.accent)):
                painter.setBrush(colour)
                painter.drawRoundedRect(QRectF(terms + _TERM_BARS_GAP, top, max(1.0, length), _TERM_BARS_BAR), 2, 2)


class RangeBar(Drawing):
    """A bar over the model's range of cosines, from "no similarity" to "same meaning", filled up to the result's."""

    def __init__(self) -> None:
        super().__init__()
        self._low = self._high = self._filled = 0.0
        self.update_drawing()

    def show_range(self, low: float, high: float, cosine: float) -> None:
        """Show where a cosine is between those that score 0 (`low`) and 1 (`high`)."""
        self._low, self._high = low, high
        self._filled = min(1.0, max(0.0, (cosine - low) / (high - low))) if high > low else 0.0
        self.setAccessibleName(
            tr("Cosine {cosine:.2f} between {low:.2f} and {high:.2f}", cosine=cosine, low=low, high=high)
        )
        self.update()

    def preferred_height(self) -> int:
        return _row()

    def draw(self, painter: QPainter, colours: Tokens) -> None:
        painter.setPen(colours.muted)
        low, high = number(self._low, ".2f"), number(self._high, ".2f")
        write(painter, self.rect(), AT_LEFT, low)
        write(painter, self.rect(), AT_RIGHT, high)
        begin = painter.fontMetrics().horizontalAdvance(low) + _TERM_BARS_GAP
        available = self.width() - begin - painter.fontMetrics().horizontalAdvance(high) - _TERM_BARS_GAP
        top = self.rect().center().y() - _TERM_BARS_BAR / 2 + 0.5
        painter.setPen(Qt.PenStyle.NoPen)
        for length, colour in ((available, colours.line), (available * self._filled, colours.meaning)):
            if length >= 1:
                painter.setBrush(colour)
                painter.drawRoundedRect(QRectF(begin, top, length, _TERM_BARS_BAR), 2, 2)


_BAR = 10
_GAP = 8
_SQUARE = 10
_LEGEND_SPACING = 14
_TICK = 3
"""Pixels by which the mark of the threshold extends above and below the bar."""

Entry = tuple[str, QBrush]


class ScoreBar(Drawing):
    """The score bar with its legend, which wraps if the bar is short."""

    def __init__(self) -> None:
        super().__init__()
        self._shares = Shares(0.0, 0.0, 0.0, 0.0)

    def show_shares(self, shares: Shares) -> None:
        self._shares = shares
        self.setAccessibleName(spoken_shares(shares))
        self.update_drawing()

    # --- measuring --------------------------------------------------------------------------------------------------

    def _entries(self, colours: Tokens) -> Iterator[Entry]:
        """Yield the entries of the legend, each with its colours."""
        shares = self._shares
        yield tr("words {share:.2f}", share=shares.words), QBrush(colours.accent)
        yield tr("meaning {share:.2f}", share=shares.meaning), QBrush(colours.meaning)
        if shares.aged >= 0.005:
            yield tr("lost by age {share:.2f}", share=shares.aged), _hatched_brush(colours.muted)
        if shares.least:
            yield tr("minimum score {least:g}", least=shares.least), QBrush(colours.text)

    def _lines(self, colours: Tokens) -> list[list[Entry]]:
        """Break the entries of the legend into lines that fit."""
        metrics = QFontMetrics(font_at(12))
        lines: list[list[Entry]] = [[]]
        available = self.width()
        for entry in self._entries(colours):
            width = _SQUARE + 4 + metrics.horizontalAdvance(entry[0]) + _LEGEND_SPACING
            if lines[-1] and width - _LEGEND_SPACING > available:
                lines.append([])
                available = self.width()
            lines[-1].append(entry)
            available -= width
        return lines

    def _line_height(self) -> int:
        return round(QFontMetrics(font_at(12)).height() * 1.25)

    def preferred_height(self) -> int:
        return self._bar_height() + len(self._lines(tokens(self.palette()))) * self._line_height()

    @staticmethod
    def _bar_height() -> int:
        """Return the height of the bar, including the gap to the legend."""
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
                x += width + _LEGEND_SPACING
            top += height

    def _paint_bar(self, painter: QPainter, colours: Tokens) -> None:
        """Paint the parts over each other, from the longest to the shortest."""
        shares, full = self._shares, self.width()
        painter.setPen(Qt.PenStyle.NoPen)
        for share, brush in (
            (1.0, QBrush(colours.line)),
            (shares.score + shares.aged, _hatched_brush(colours.muted)),
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


def _hatched_brush(colour: QColor) -> QBrush:
    return QBrush(colour, Qt.BrushStyle.BDiagPattern)


class Section(QWidget):
    """A title with a sentence below, hidden if the sentence is empty; updated in place, so that nothing moves."""

    def __init__(self, title: str, drawing: QWidget | None = None) -> None:
        super().__init__()
        self._name = title
        self._figure = label(role="muted")
        self._sentence = label(role="meta", wrap=True)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column = column_of(row_of((label(title, "section"), 1), self._figure), spacing=4, parent=self)
        if drawing is not None:
            column.addWidget(drawing)
        column.addWidget(self._sentence)
        self.hide()

    def show_part(self, figure: str, sentence: str) -> None:
        """Show a number next to the title and a sentence below; an empty sentence hides the section."""
        self._figure.setText(figure)
        self._sentence.setText(breakable(sentence))
        self.setAccessibleName(f"{self._name} {figure}. {sentence}")
        self.setVisible(bool(sentence))


class ResultView(QWidget):
    """Shows the explanation of the selected result."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._title = ElidedLabel()
        self._title.setProperty("role", "strong")
        self._path = ElidedLabel(mode=Qt.TextElideMode.ElideLeft)
        self._path.setProperty("role", "meta")
        self._rank = label(role="meta", wrap=True)
        self._bar = ScoreBar()
        self._terms, self._range = TermBars(), RangeBar()
        self._sections = {
            "words": Section(tr("Words"), self._terms),
            "meaning": Section(tr("Meaning"), self._range),
            "mixture": Section(tr("Combined score")),
            "time": Section(tr("Time")),
            "session": Section(tr("Session")),
            "age": Section(tr("Age")),
            "position": Section(tr("Rank")),
            "threshold": Section(tr("Minimum score")),
        }
        self._fold = IconButton("chevron-right", tr("Show all figures"), tr("All figures"))
        self._fold.setCheckable(True)
        self._fold.toggled.connect(self._show_figures)
        self._figures = FigureTable()
        self._figures.hide()
        head = column_of(self._title, self._path, self._rank, spacing=2)
        column = column_of(head, self._bar, *self._sections.values(), spacing=_SPACING, parent=self)
        column.addWidget(self._fold, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._figures)

    def show_reason(self, result: MemorySearchResult, reason: ResultExplanation, outcome: SearchOutcome) -> None:
        heading = " › ".join(shown_headings(result.path, result.heading)) or result.title
        self._title.setText(heading)
        self._path.setText(result.citation)
        self._rank.setText(wording.rank(reason, outcome))
        self._bar.show_shares(wording.shares(reason, result))
        self._bar.setVisible(result.is_scored)
        details: dict[str, str] = {entry.part: entry.detail or entry.sentence for entry in reasons_of(reason)}
        parts = wording.parts(reason)
        self._terms.show_parts(parts)
        self._terms.setVisible(bool(reason.full_bm25 and parts))
        measured = reason.cosine is not None and reason.cosine_low is not None and reason.cosine_high is not None
        if reason.cosine is not None and reason.cosine_low is not None and reason.cosine_high is not None:
            self._range.show_range(reason.cosine_low, reason.cosine_high, reason.cosine)
        self._range.setVisible(measured)
        meaning = reason.shown_vector_score
        values = {
            "words": number(reason.shown_text_score, ".2f") if reason.full_bm25 else "",
            "meaning": "" if meaning is None else number(meaning, ".2f"),
            "mixture": number(reason.fresh_score, ".2f"),
            "time": f"× {number(reason.time_factor, '.2f')}" if reason.time else "",
            "session": f"× {number(reason.session_factor, '.2f')}" if reason.session_names else "",
            "age": f"× {number(reason.decay, '.2f')}" if reason.date is not None else "",
            "position": number(reason.rank),
            "threshold": number(reason.min_score, "g"),
        }
        for name, section in self._sections.items():
            section.show_part(values[name], details.get(name, ""))
        self._figures.show_records(wording.figures(reason))
        self.setAccessibleName(tr("Why {heading} was found", heading=heading))

    @Slot(bool)
    def _show_figures(self, shown: bool) -> None:
        self._fold.set_icon("chevron-down" if shown else "chevron-right")
        self._fold.set_accessible(tr("Hide the figures") if shown else tr("Show all figures"))
        self._figures.setVisible(shown)
