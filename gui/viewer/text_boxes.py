"""Rectangles of a range of laid out text, for backgrounds of words."""

from collections.abc import Iterator
from typing import cast

from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextLayout, QTextLine


def cursor_x(line: QTextLine, unit: int) -> float:
    """X coordinate of a cursor before this unit."""
    x, _ = cast(tuple[float, int], line.cursorToX(unit))
    return x


def row_of(layout: QTextLayout, unit: int) -> int:
    """The row of a layout that shows this unit; 0 for a layout without rows."""
    line = layout.lineForTextPosition(unit)
    return line.lineNumber() if line.isValid() else 0


def spans(layout: QTextLayout, start: int, end: int) -> Iterator[QRectF]:
    """The rectangle of each row's piece of a range of UTF-16 units, relative to the layout."""
    for row in range(row_of(layout, start), row_of(layout, max(start, end - 1)) + 1):
        line = layout.lineAt(row)
        first = max(start, line.textStart())
        last = min(end, line.textStart() + line.textLength())
        if first < last:
            edges = cursor_x(line, first), cursor_x(line, last)
            yield QRectF(min(edges), line.y(), abs(edges[1] - edges[0]), line.height())
