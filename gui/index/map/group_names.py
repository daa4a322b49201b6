"""Places the names of groups on the map, covering as few points as possible, and paints them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QPainter, QPainterPath, QPen

from gui.style.stylesheet import font_at
from gui.style.theme import Tokens
from gui.widgets.labels import elide

if TYPE_CHECKING:
    from gui.index.map.scene import Scene

_LONGEST_NAME = 160
_LONGEST_SHARE = 1 / 6
"""Part of a wide map's width that a name may take instead."""
_NAME_PAD = 4
_HALO = 4.0
"""Width of the line around the letters of a name, which separates them from the points below."""
_NAME_GAPS = (12, 34)
"""Distances between a name and the middle of its group."""
_NAME_SIDES = ((0, -1), (0, 1), (1, 0), (-1, 0), (1, -1), (-1, -1), (1, 1), (-1, 1))
"""Sides of the group on which its name may be, the best ones first; the last four are corners."""
_POINT = 4.0
"""Pixels around a name that count as covered: about the radius of a point."""
_MARK = 7.0
"""Radius of the mark at a result."""
_POINTS_PER_HIT = 100
"""Points that a name covers rather than one mark."""


@dataclass(frozen=True)
class PlacedName:
    """The name of a group, in pixels from the origin of the map's units."""

    text: str
    peak: QPointF
    box: QRectF

    def zoomed(self, factor: float) -> "PlacedName":
        """Return the name at the same side of its group on a map that is zoomed by `factor`."""
        peak = self.peak * factor
        return PlacedName(self.text, peak, self.box.translated(peak - self.peak))


def place_names(
    scene: "Scene",
    names: Iterable[tuple[str, float, float]],
    hits: Sequence[int],
    scale: float,
    unit: float,
    width: float,
) -> tuple[PlacedName, ...]:
    """Place the names of groups near their densest points, without overlap and over as few points as possible.

    `names`: texts and positions in the map's units, in order of priority. `hits`: points with a large mark, which would
    cover a name. `scale`: pixels per unit. `width`: of the map, in pixels. Names without room are left out.
    """
    large = [QPointF(across, -up) * scale for across, up in map(scene.position, hits)]
    font, metrics = font_at(13), QFontMetricsF(font_at(13))
    longest = round(max(_LONGEST_NAME * unit, _LONGEST_SHARE * width))
    placed: list[PlacedName] = []
    for name, across, up in names:
        text = elide(QFontMetrics(font), name, Qt.TextElideMode.ElideLeft, longest)
        size = QSizeF(metrics.horizontalAdvance(text) + 2 * _NAME_PAD, metrics.height())
        peak = QPointF(across, -up) * scale
        best, fewest = None, 0
        for box in _boxes_around(peak, size, unit):
            if any(box.intersects(other.box) for other in placed):
                continue
            covered = _covered(scene, box, scale) + _POINTS_PER_HIT * _marks_in(box, large, unit)
            if best is None or covered < fewest:
                best, fewest = box, covered
            if not covered:
                break
        if best is not None:
            placed.append(PlacedName(text, peak, best))
    return tuple(placed)


def _boxes_around(peak: QPointF, size: QSizeF, unit: float) -> Iterator[QRectF]:
    """Yield the possible positions of a name, best first."""
    for gap in _NAME_GAPS:
        for right, down in _NAME_SIDES:
            middle = QPointF(right * (size.width() / 2 + gap * unit), down * (size.height() / 2 + gap * unit))
            box = QRectF(QPointF(), size)
            box.moveCenter(peak + middle)
            yield box


def _marks_in(box: QRectF, marks: Iterable[QPointF], unit: float) -> int:
    """Return the number of result marks that a box touches."""
    box = box.adjusted(-_MARK * unit, -_MARK * unit, _MARK * unit, _MARK * unit)
    return sum(box.contains(mark) for mark in marks)


def _covered(scene: "Scene", box: QRectF, scale: float) -> int:
    """Return the number of points that a box covers."""
    box = box.adjusted(-_POINT, -_POINT, _POINT, _POINT)
    left, right, low, high = (edge / scale for edge in (box.left(), box.right(), -box.bottom(), -box.top()))
    return scene.grid.count(left, low, right, high)


def paint_names(
    painter: QPainter, names: Iterable[PlacedName], origin: QPointF, room: QRectF, colours: Tokens, unit: float
) -> None:
    """Paint the names whose groups are in view, moved inside; `origin`: where the map's units begin."""
    font = font_at(13)
    ascent = QFontMetricsF(font).ascent()
    painter.setFont(font)
    boxes: list[QRectF] = []
    for name in names:
        if not room.contains(name.peak + origin):
            continue
        box = name.box.translated(origin)
        box.moveLeft(min(max(box.left(), room.left()), room.right() - box.width()))
        box.moveTop(min(max(box.top(), room.top()), room.bottom() - box.height()))
        if any(box.intersects(other) for other in boxes):
            continue
        boxes.append(box)
        letters = QPainterPath()
        letters.addText(QPointF(box.left() + _NAME_PAD, box.top() + ascent), font, name.text)
        halo = QPen(colours.base, _HALO * unit)
        halo.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(letters, halo)
        painter.setPen(colours.text)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine), name.text)
