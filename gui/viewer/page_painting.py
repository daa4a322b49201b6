"""Draws backgrounds of a rendered page: code boxes, bars next to quotes, highlights of words."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QTextBlock, QTextDocument

from gui.style.theme import Tokens, ground_pen
from gui.viewer.line_layout import spans
from gui.viewer.markdown_page import CODE_INDENT, QUOTE_INDENT, inline_code, is_code, quote_level

_OUT_OF_VIEW = 20
"""Pixels, more than the box has round its text."""
_CODE_PAD = 6
_BAR_WIDTH = 3


class PagePainter:
    """Paints under the blocks of one document, for a viewport `width` pixels wide."""

    def __init__(
        self, painter: QPainter, document: QTextDocument, colours: Tokens, *, scale: float, width: int
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter = painter
        self._document = document
        self._colours = colours
        self._scale = scale
        self._width = width
        self._view = painter.combinedTransform().inverted()[0].mapRect(QRectF(painter.viewport()))
        """What can be seen, in the coordinates of the document."""

    def grounds(self, block: QTextBlock, rect: QRectF, *, first: bool) -> None:
        """Backgrounds of a block at `rect`; `first` is the topmost visible one."""
        if is_code(block) and (first or not is_code(block.previous())):
            self._code_box(block, rect)
        for level in range(quote_level(block)):
            joined = quote_level(block.next()) > level
            height = self._top(block.next()) - self._top(block) if joined else rect.height()
            left = rect.left() + level * QUOTE_INDENT * self._scale
            if block.textDirection() == Qt.LayoutDirection.RightToLeft:
                left = 2 * rect.left() + self._document.textWidth() - left - _BAR_WIDTH
            self._painter.fillRect(QRectF(left, rect.top(), _BAR_WIDTH, height), self._colours.line)
        self.boxes(block, rect, inline_code(block), self._colours.window)

    def boxes(self, block: QTextBlock, rect: QRectF, ranges: Sequence[tuple[int, int]], fill: QColor | None) -> None:
        """Rounded boxes behind ranges of the block's text, or accent frames round them."""
        self._painter.setPen(ground_pen(self._colours, fill))
        self._painter.setBrush(QBrush() if fill is None else fill)
        first, last = self._units_in_view(block, rect) if ranges else (0, 0)
        for start, end in ranges:
            if end < first or start > last:
                continue
            for box in spans(block.layout(), start, end):
                self._painter.drawRoundedRect(box.translated(rect.topLeft()).adjusted(-1.5, 0, 1.5, 0), 3, 3)

    def _units_in_view(self, block: QTextBlock, rect: QRectF) -> tuple[int, int]:
        """The first and the last unit of the block's rows that may be in view: a long paragraph has thousands more."""
        top, bottom = self._view.top() - rect.top(), self._view.bottom() - rect.top()
        rows = [block.layout().lineAt(number) for number in range(block.layout().lineCount())]
        shown = [row for row in rows if row.y() + row.height() >= top and row.y() <= bottom]
        return (shown[0].textStart(), shown[-1].textStart() + shown[-1].textLength()) if shown else (0, -1)

    def _code_box(self, block: QTextBlock, rect: QRectF) -> None:
        """One box around all visible lines of `block`'s code block."""
        top, bottom, end = rect.top(), rect.bottom(), block
        if is_code(block.previous()):
            top -= _OUT_OF_VIEW
        lowest = self._view.bottom() + _OUT_OF_VIEW
        while is_code(end.next()) and bottom < lowest:
            end = end.next()
            bottom = rect.top() + self._document.documentLayout().blockBoundingRect(end).bottom() - self._top(block)
        left = rect.left() + block.layout().lineAt(0).x() - CODE_INDENT * self._scale
        box = QRectF(left, top - _CODE_PAD, self._width - left, bottom - top + 2 * _CODE_PAD)
        self._painter.setPen(QPen(self._colours.line, 1))
        self._painter.setBrush(self._colours.alternate)
        self._painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)

    def _top(self, block: QTextBlock) -> float:
        return self._document.documentLayout().blockBoundingRect(block).top()
