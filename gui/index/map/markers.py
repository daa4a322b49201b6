"""The shape of each group's points, so that groups differ by more than their colours.

All is measured in radii of a circle that covers about as much as the shape does.
"""

from math import cos, radians, sin, sqrt

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath, QPolygonF

Polygon = tuple[tuple[float, float], ...]
"""Convex; its corners in the order of a clock's hands, y downwards."""

REACH = 1.42
"""Every shape lies this near its middle."""
LEAST = 2.0
"""Radius in pixels below which shapes can't be distinguished from a circle."""
_TRIANGLE = 0.7
_FLAT = (1.25, 0.6)
_BAR = (1.25, 0.38)
RING_WIDTH = 0.72
RING_MIDDLE = 0.72
"""Radius of the line that a ring is drawn with the width of."""


def _turned(polygon: Polygon, degrees: float) -> Polygon:
    across, down = cos(radians(degrees)), sin(radians(degrees))
    return tuple((x * across - y * down, x * down + y * across) for x, y in polygon)


def _box(width: float, height: float) -> Polygon:
    return (-width, -height), (width, -height), (width, height), (-width, height)


_UP: Polygon = ((0, -2 * _TRIANGLE), (_TRIANGLE * sqrt(3), _TRIANGLE), (-_TRIANGLE * sqrt(3), _TRIANGLE))
_DIAMOND: Polygon = ((0, -1.4), (0.92, 0), (0, 1.4), (-0.92, 0))
_PLUS = (_box(*_BAR), _box(*_BAR[::-1]))

POLYGONS: tuple[tuple[Polygon, ...], ...] = (
    (),
    (_UP,),
    (_box(*_FLAT),),
    _PLUS,
    (_DIAMOND,),
    (_turned(_UP, 180),),
    tuple(_turned(bar, 45) for bar in _PLUS),
    (),
)
"""The polygons of each shape. The first, which has no corners, is a circle; so is the last, which is hollow."""
CIRCLE, RING = 0, len(POLYGONS) - 1


def signs_of(groups: int, *, has_others: bool) -> tuple[int, ...]:
    """The shapes of so many groups; the rest has the ring, as it has the last colour."""
    return (*range(groups - 1), RING) if has_others else tuple(range(groups))


def sign_path(sign: int, middle: QPointF, radius: float) -> QPainterPath:
    """To be filled."""
    path = QPainterPath()
    if sign == RING:
        for edge in (RING_MIDDLE + RING_WIDTH / 2, RING_MIDDLE - RING_WIDTH / 2):
            path.addEllipse(middle, edge * radius, edge * radius)
        return path
    if sign == CIRCLE:
        path.addEllipse(middle, radius, radius)
    for polygon in POLYGONS[sign]:
        part = QPainterPath()
        part.addPolygon(QPolygonF([middle + QPointF(x, y) * radius for x, y in polygon]))
        path = path.united(part)
    return path
