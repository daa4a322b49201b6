"""Custom painting in right-to-left layouts: positions are mirrored; text and images are not.

Painting code measures from the left, as if all lines ran to the right, and begins with `mirror`: bars, backgrounds and
edges are then placed correctly. Text is drawn through `write`, images through `draw_pixmap`, and objects that paint
themselves through `upright`. Directional icons are mirrored when they are created (`gui/widgets/icons.py`).
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QMargins, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPixmap, QTextLayout, QTextLine
from PySide6.QtWidgets import QSplitter, QWidget

_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
_SIDES = int(_LEFT | _RIGHT)
_SIDES_OR_CENTRE = _SIDES | Qt.AlignmentFlag.AlignHCenter.value
_ABSOLUTE = Qt.AlignmentFlag.AlignAbsolute.value
_STRONG = ("L", "R", "AL")
_RIGHT_TO_LEFT_LETTERS = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""Matches a character of a script that is written from right to left, such as Hebrew or Arabic."""
_JOINT = " · "
_MAX_READ = 1000
"""Maximum number of characters that are searched for one with a direction."""
_TURNING = re.compile("[\u202a-\u202e\u2066\u2067]")
"""Matches a character that turns letters or parts of a name around. The window itself isolates names with U+2068."""
_DIRECTED = re.compile(f"{_RIGHT_TO_LEFT_LETTERS.pattern}|{_TURNING.pattern}|\u200f")
"""Matches a character that may give a text another direction than left to right, or disguise a name."""
_ISOLATED = re.compile("[\u2066-\u2068][^\u2069]*\u2069?")


def mirror(painter: QPainter, bounds: QRect | QRectF, direction: Qt.LayoutDirection) -> None:
    """Mirror the painter's X axis within `bounds` if `direction` is right to left, for all later painting."""
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    if direction == Qt.LayoutDirection.RightToLeft:
        painter.translate(2 * bounds.x() + bounds.width(), 0)
        painter.scale(-1, 1)


def mirrored_painter(widget: QWidget) -> QPainter:
    """Return an antialiasing painter on a widget, mirrored if the widget's layout is right to left."""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    mirror(painter, widget.rect(), widget.layoutDirection())
    return painter


def is_mirrored(painter: QPainter) -> bool:
    return painter.worldTransform().m11() < 0


@contextmanager
def upright(painter: QPainter, rect: QRect | QRectF) -> Iterator[QRectF]:
    """Paint within `rect` without mirroring: a context manager that yields the actual rectangle."""
    if not is_mirrored(painter):
        yield QRectF(rect)
        return
    area = painter.worldTransform().mapRect(QRectF(rect))
    painter.setWorldMatrixEnabled(False)
    try:
        yield area
    finally:
        painter.setWorldMatrixEnabled(True)


def in_reading_order(text: str) -> str:
    """Replace control characters of direction, which can disguise a name or title; the length stays the same.

    Right-to-left scripts don't need them.
    """
    return text if text.isascii() else _TURNING.sub("\ufffd", text)


def write(painter: QPainter, rect: QRect | QRectF, flags: int | Qt.AlignmentFlag | Qt.TextFlag, text: str) -> None:
    """Draw text like `drawText`, unmirrored; left and right in `flags` mean start and end of lines."""
    alignment = (flags if isinstance(flags, int) else flags.value) | _ABSOLUTE
    mirrored = is_mirrored(painter)
    if not mirrored and not _DIRECTED.search(text):  # most texts, without what the others need
        painter.drawText(QRectF(rect), alignment, text)
        return
    if mirrored and alignment & _SIDES in (_LEFT.value, _RIGHT.value):
        alignment ^= _SIDES
    elif mirrored and not alignment & _SIDES_OR_CENTRE:
        alignment |= _RIGHT.value
    text = in_reading_order(text)
    painter.setLayoutDirection(line_direction(text))
    with upright(painter, rect) as area:
        painter.drawText(area, alignment, text)
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def draw_pixmap(painter: QPainter, left: float, top: float, pixmap: QPixmap) -> None:
    """Draw a pixmap like `drawPixmap`, unmirrored."""
    size = pixmap.deviceIndependentSize()
    with upright(painter, QRectF(QPointF(left, top), size)) as area:
        painter.drawPixmap(area.topLeft(), pixmap)


def mirrored_x(x: float, width: float, direction: Qt.LayoutDirection) -> float:
    """Return an X coordinate, mirrored within `width` pixels if `direction` is right to left."""
    return width - x if direction == Qt.LayoutDirection.RightToLeft else x


def margins(begin: int, top: int, end: int, bottom: int) -> QMargins:
    """Return layout margins for the window's direction: Qt mirrors layouts, but not their margins."""
    left, right = (end, begin) if runs_left() else (begin, end)
    return QMargins(left, top, right, bottom)


def at_start(vertical: Qt.AlignmentFlag) -> Qt.AlignmentFlag:
    """Return an alignment to the start of lines, whatever the direction of the text; `vertical`: vertical alignment."""
    return (_RIGHT if runs_left() else _LEFT) | Qt.AlignmentFlag.AlignAbsolute | vertical


def correct_margins(splitter: QSplitter) -> None:
    """Correct a splitter in right-to-left layouts, where Qt places all parts a pixel too far to the right."""
    if runs_left():
        splitter.setContentsMargins(1, 0, -1, 0)


def runs_left() -> bool:
    """Return whether the window is right-to-left, even before any widget exists."""
    return QGuiApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft


def code(text: str) -> str:
    """Return a piece of code, such as "-hose", that keeps its order within a right-to-left line."""
    return f"\u2066{text}\u2069" if runs_left() else text


def line_direction(text: str) -> Qt.LayoutDirection:
    """Return the direction of a line of text; for joined parts of mixed directions, that of the window."""
    if _JOINT in text and _RIGHT_TO_LEFT_LETTERS.search(text):
        return Qt.LayoutDirection.RightToLeft if runs_left() else Qt.LayoutDirection.LeftToRight
    return text_direction(text)


def text_direction(text: str) -> Qt.LayoutDirection:
    """Return the direction of a text by its first strong letter outside of isolates (rule P2 of the bidi algorithm)."""
    if text.isascii():
        return Qt.LayoutDirection.LeftToRight
    strong = (
        found for found in map(unicodedata.bidirectional, _ISOLATED.sub("", text[:_MAX_READ])) if found in _STRONG
    )
    return Qt.LayoutDirection.LeftToRight if next(strong, "L") == "L" else Qt.LayoutDirection.RightToLeft


def cursor_x(line: QTextLine, unit: int) -> float:
    """Return the X coordinate of a cursor before this UTF-16 unit."""
    answer: object = line.cursorToX(unit)  # PySide returns the cursor position next to the coordinate
    return float(answer[0] if isinstance(answer, tuple) else answer)  # type: ignore[arg-type]


def range_edges(layout: QTextLayout, line: QTextLine, start: int, end: int) -> tuple[float, float]:
    """Return the left and the right edge of the UTF-16 units from `start` to `end` of a laid out line."""
    edges = [cursor_x(line, start), cursor_x(line, end)]
    text = layout.text()
    if not text.isascii() and _RIGHT_TO_LEFT_LETTERS.search(text):
        # Between parts of different direction, a cursor is at one of two positions, perhaps not next to the range.
        glyphs = [
            (index.x(), index.x() + advance.x())
            for run in line.glyphRuns(start, end - start)
            for index, advance in zip(
                run.positions(), run.rawFont().advancesForGlyphIndexes(run.glyphIndexes()), strict=True
            )
        ]
        edges = [x for glyph in glyphs for x in glyph] or edges
    return min(edges), max(edges)
