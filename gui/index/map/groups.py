"""Groups of points that belong together (by source, folder, agent or age), and the colour and shape of each group."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin, sqrt
from typing import TYPE_CHECKING, Literal, get_args

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainterPath, QPalette, QPolygonF

from engine import MapFile, marked, tr
from gui.sessions.wording import agent_name
from gui.style.theme import group_colours, tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["folder", "source", "agent", "age"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST = 8
"""Groups; the rest is "others"."""
OTHERS = marked("Others")
NOTES, SESSIONS = marked("Notes"), marked("Sessions")
TOP_FOLDER = marked("Top folder")
_DAY = 86_400
AGES: tuple[tuple[str, float], ...] = (
    (marked("Past week"), 7),
    (marked("Past month"), 31),
    (marked("Past quarter"), 92),
    (marked("Past year"), 366),
    (marked("Older"), float("inf")),
)
_LARGE = 0.35
"""A folder with a larger share of all points is split into its own folders."""

_PALEST = 0.6
"""How far the oldest is from the accent's colour to the ground's; a shade further and it could not be seen."""

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

_UP: Polygon = ((0, -2 * _TRIANGLE), (_TRIANGLE * sqrt(3), _TRIANGLE), (-_TRIANGLE * sqrt(3), _TRIANGLE))
_DIAMOND: Polygon = ((0, -1.4), (0.92, 0), (0, 1.4), (-0.92, 0))


@dataclass(frozen=True, eq=False)
class Grouping:
    kind: Kind
    names: tuple[str, ...]
    """The largest first; of ages the newest."""
    counts: tuple[int, ...]
    """Points of each group."""
    of: "NDArray[np.uint8]"
    """(n,), a place in `names` for each point."""
    has_others: bool = False
    """Whether the last group is the rest."""

    @property
    def ordered(self) -> bool:
        """Whether the groups are steps of one thing, rather than different things."""
        return self.kind == "age"


def group(files: Sequence[MapFile], file_of: "NDArray[np.int32]", kind: Kind, now: float) -> Grouping:
    """The points of these files; every group has at least one."""
    import numpy as np

    points = np.bincount(file_of, minlength=len(files)) if len(files) else np.empty(0, np.int64)
    notes, sessions, ages = tr(NOTES), tr(SESSIONS), [(tr(name), days * _DAY) for name, days in AGES]
    match kind:
        case "source":
            labels = [notes if file.source == "memory" else sessions for file in files]
        case "agent":
            labels = [notes if file.source == "memory" else agent_name(file.agent) for file in files]
        case "age":
            labels = [next(name for name, most in ages if now - file.modified <= most) for file in files]
        case "folder":
            labels = _folders(files, points.tolist())
    weights: Counter[str] = Counter()
    for label, count in zip(labels, points.tolist(), strict=True):
        if count:
            weights[label] += count
    if kind == "age":
        names = [name for name, _ in ages if name in weights]
    else:
        names = sorted(weights, key=lambda name: (-weights[name], name))
    if has_others := len(names) > MOST:
        names = [*names[: MOST - 1], tr(OTHERS)]
    place = {name: number for number, name in enumerate(names)}
    of_file = np.array([place.get(label, len(names) - 1) for label in labels], np.int64).astype(np.uint8)
    of = of_file[file_of] if len(files) else np.empty(0, np.uint8)
    counts = np.bincount(of, minlength=len(names)).tolist()
    return Grouping(kind, tuple(names), tuple(counts), of, has_others)


def _folders(files: Sequence[MapFile], points: Sequence[int]) -> list[str]:
    """For each file its group's folder: the first of its path, or a deeper one if most are in one."""
    folders = [tuple(file.path.split("/")[:-1]) for file in files]
    notes = [number for number, file in enumerate(files) if file.source == "memory"]
    groups: dict[tuple[str, ...], list[int]] = {(): notes}
    split: set[tuple[str, ...]] = set()
    total = sum(points[number] for number in notes) or 1

    def weight(prefix: tuple[str, ...]) -> int:
        return sum(points[number] for number in groups[prefix])

    while len(groups) < MOST:
        large = [prefix for prefix in groups if prefix not in split and (weight(prefix) > _LARGE * total or not prefix)]
        if not large:
            break
        prefix = max(large, key=weight)
        split.add(prefix)
        parts: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number in groups[prefix]:
            parts[folders[number][: len(prefix) + 1]].append(number)
        if prefix and len(groups) + len(parts) > MOST:
            continue
        del groups[prefix]
        groups |= parts
    labels = [tr(SESSIONS)] * len(files)
    for prefix, members in groups.items():
        label = "/".join(prefix) or tr(TOP_FOLDER)
        for number in members:
            labels[number] = label
    return labels


# --- The colour of each group, in the theme of a palette -------------------------------------------------------------


def colours_of(grouping: Grouping, palette: QPalette) -> tuple[QColor, ...]:
    """Different colours for different things, shades of the accent for ages: the newest strongest."""
    if grouping.ordered:
        colours, last = tokens(palette), max(1, len(grouping.names) - 1)
        return tuple(
            _between(colours.accent, colours.base, _PALEST * number / last) for number in range(len(grouping.names))
        )
    found = list(group_colours(palette)[: len(grouping.names)])
    if grouping.has_others:
        found[-1] = group_colours(palette)[-1]
    return tuple(found)


def _between(one: QColor, other: QColor, share: float) -> QColor:
    def mixed(own: int, others: int) -> int:
        return round(own + (others - own) * share)

    return QColor(mixed(one.red(), other.red()), mixed(one.green(), other.green()), mixed(one.blue(), other.blue()))


def _turned(polygon: Polygon, degrees: float) -> Polygon:
    across, down = cos(radians(degrees)), sin(radians(degrees))
    return tuple((x * across - y * down, x * down + y * across) for x, y in polygon)


def _box(width: float, height: float) -> Polygon:
    return (-width, -height), (width, -height), (width, height), (-width, height)


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
