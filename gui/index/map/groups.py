"""Groups of points (by source, folder, agent or age) with their colours and shapes, and their legend."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin, sqrt
from typing import TYPE_CHECKING, Literal, get_args

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainterPath, QPaintEvent, QPalette, QPolygonF
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from engine import MapFile, marked, number, tr, tr_count
from gui.style.stylesheet import font_at, scaled
from gui.style.theme import group_colours, tokens
from gui.text.formatting import passages_text
from gui.text.plain_text import set_tip
from gui.text.right_to_left import mirrored_painter, write
from gui.text.session_texts import agent_name
from gui.widgets.buttons import Toggle
from gui.widgets.labels import elide
from gui.widgets.layouts import FlowLayout, clear_layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Kind = Literal["folder", "source", "agent", "age"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MAX_GROUPS = 8
"""Maximum number of groups; the rest is "others"."""
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
_SMALL = 0.02
"""Minimum share of all points that makes one of many folders a separate group."""

_PALEST = 0.6
"""Mix of the oldest group's colour, from accent (0) to background (1); a paler one would be invisible."""

Polygon = tuple[tuple[float, float], ...]
"""Corners of a convex polygon, clockwise, y downwards."""

REACH = 1.42
"""Radius of the circle that contains every shape."""
MIN_SHAPE_RADIUS = 2.0
"""Radius in pixels below which shapes can't be distinguished from a circle."""
_TRIANGLE = 0.7
_FLAT = (1.25, 0.6)
_BAR = (1.25, 0.38)
RING_WIDTH = 0.72
RING_MIDDLE = 0.72
"""Radius of the middle of a ring's line."""

_UP: Polygon = ((0, -2 * _TRIANGLE), (_TRIANGLE * sqrt(3), _TRIANGLE), (-_TRIANGLE * sqrt(3), _TRIANGLE))
_DIAMOND: Polygon = ((0, -1.4), (0.92, 0), (0, 1.4), (-0.92, 0))


@dataclass(frozen=True, eq=False)
class Grouping:
    kind: Kind
    names: tuple[str, ...]
    """Names of the groups: largest first, or newest first for ages."""
    counts: tuple[int, ...]
    """Number of points of each group."""
    group_of: "NDArray[np.uint8]"
    """Index in `names` for each point, shape (n,)."""
    has_others: bool = False
    """Whether the last group is the rest."""

    @property
    def ordered(self) -> bool:
        """Whether the groups have an order, such as ages."""
        return self.kind == "age"


def group(files: Sequence[MapFile], file_of: "NDArray[np.int32]", kind: Kind, now: float) -> Grouping:
    """Group the points of files by `kind`; `file_of` gives the file of each point. No group is empty."""
    import numpy as np

    points = np.bincount(file_of, minlength=len(files)) if len(files) else np.empty(0, np.int64)
    labels = _labels(files, points.tolist(), kind, now)
    weights: Counter[str] = Counter()
    for label, count in zip(labels, points.tolist(), strict=True):
        weights[label] += count
    weights = +weights  # drops groups without points
    if kind == "age":
        names = [tr(name) for name, _ in AGES if tr(name) in weights]
    else:
        names = sorted(weights, key=lambda name: (-weights[name], name))
    if has_others := len(names) > MAX_GROUPS:
        names = [*names[: MAX_GROUPS - 1], tr(OTHERS)]
    number_of = {name: index for index, name in enumerate(names)}
    of_file = np.array([number_of.get(label, len(names) - 1) for label in labels], np.int64).astype(np.uint8)
    group_of = of_file[file_of] if len(files) else np.empty(0, np.uint8)
    counts = np.bincount(group_of, minlength=len(names)).tolist()
    return Grouping(kind, tuple(names), tuple(counts), group_of, has_others)


def _labels(files: Sequence[MapFile], points: Sequence[int], kind: Kind, now: float) -> list[str]:
    """Return the name of each file's group."""
    notes, sessions, ages = tr(NOTES), tr(SESSIONS), [(tr(name), days * _DAY) for name, days in AGES]
    match kind:
        case "source":
            return [notes if file.source == "memory" else sessions for file in files]
        case "agent":
            return [notes if file.source == "memory" else agent_name(file.agent) for file in files]
        case "age":
            return [next(name for name, most in ages if now - file.modified <= most) for file in files]
        case "folder":
            return _folders(files, points)


def _folders(files: Sequence[MapFile], points: Sequence[int]) -> list[str]:
    """Return the folder by which each file is grouped: the top one, or a deeper one if most files are in it.

    Of a large folder with many folders, the largest are groups and the others remain one: "docs/…".
    """
    folders = [tuple(file.path.split("/")[:-1]) for file in files]
    notes = [index for index, file in enumerate(files) if file.source == "memory"]
    groups: dict[tuple[str, ...], list[int]] = {(): notes}
    split: set[tuple[str, ...]] = set()
    total = sum(points[index] for index in notes) or 1

    def weight(prefix: tuple[str, ...]) -> int:
        return sum(points[index] for index in groups[prefix])

    while len(groups) < MAX_GROUPS:
        large = [prefix for prefix in groups if prefix not in split and (weight(prefix) > _LARGE * total or not prefix)]
        if not large:
            break
        prefix = max(large, key=weight)
        split.add(prefix)
        parts: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for index in groups[prefix]:
            parts[folders[index][: len(prefix) + 1]].append(index)
        if prefix and len(groups) - 1 + len(parts) > MAX_GROUPS:
            weights = {part: sum(points[index] for index in members) for part, members in parts.items()}
            largest = sorted(parts, key=lambda part: -weights[part])[: MAX_GROUPS - len(groups)]
            others = (*prefix, "…")
            largest = [part for part in largest if weights[part] >= _SMALL * total and part != others]
            if not largest:
                continue
            split.add(others)
            rest = [index for part, members in parts.items() if part not in largest for index in members]
            parts = {**{part: parts[part] for part in largest}, others: rest}
        del groups[prefix]
        groups |= parts
    labels = [tr(SESSIONS)] * len(files)
    for prefix, members in groups.items():
        label = "/".join(prefix) or tr(TOP_FOLDER)
        for index in members:
            labels[index] = label
    return labels


# --- The colour of each group, in the theme of a palette -------------------------------------------------------------


def colours_of(grouping: Grouping, palette: QPalette) -> tuple[QColor, ...]:
    """Return the colours of the groups: different hues or, if ordered, shades of the accent, newest strongest."""
    if grouping.ordered:
        colours, last = tokens(palette), max(1, len(grouping.names) - 1)
        return tuple(_mix(colours.accent, colours.base, _PALEST * index / last) for index in range(len(grouping.names)))
    group_colours_used = list(group_colours(palette)[: len(grouping.names)])
    if grouping.has_others:
        group_colours_used[-1] = group_colours(palette)[-1]
    return tuple(group_colours_used)


def _mix(one: QColor, other: QColor, share: float) -> QColor:
    def mixed(own: int, others: int) -> int:
        return round(own + (others - own) * share)

    return QColor(mixed(one.red(), other.red()), mixed(one.green(), other.green()), mixed(one.blue(), other.blue()))


def _rotated(polygon: Polygon, degrees: float) -> Polygon:
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
    (_rotated(_UP, 180),),
    tuple(_rotated(bar, 45) for bar in _PLUS),
    (),
)
"""The polygons of each shape. The first, which has no corners, is a circle; so is the last, which is hollow."""
CIRCLE, RING = 0, len(POLYGONS) - 1


def markers_of(groups: int, *, has_others: bool) -> tuple[int, ...]:
    """Return the number of the shape of each group; with `has_others`, the last group is drawn as a ring."""
    return (*range(groups - 1), RING) if has_others else tuple(range(groups))


def marker_path(marker: int, middle: QPointF, radius: float) -> QPainterPath:
    """Return the path of a shape around a point, to be filled."""
    path = QPainterPath()
    if marker == RING:
        for edge in (RING_MIDDLE + RING_WIDTH / 2, RING_MIDDLE - RING_WIDTH / 2):
            path.addEllipse(middle, edge * radius, edge * radius)
        return path
    if marker == CIRCLE:
        path.addEllipse(middle, radius, radius)
    for polygon in POLYGONS[marker]:
        part = QPainterPath()
        part.addPolygon(QPolygonF([middle + QPointF(x, y) * radius for x, y in polygon]))
        path = path.united(part)
    return path


_DOT, _GAP, _PAD = 9, 6, 6
_LONGEST = 30
"""Maximum number of characters of a name, approximately; the tooltip shows all."""


class LegendItem(Toggle, QPushButton):
    """A group in the legend: colour and shape, name, and number of points."""

    def __init__(self, name: str, count: int, marker: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.colour = QColor()
        self.marker = marker
        self._name, self._count = name, number(count)
        self.setCheckable(True)
        self.setAccessibleName(", ".join((name, passages_text(count))))
        set_tip(
            self,
            tr_count(
                "{name}: show only its {count:,} passage, or all",
                "{name}: show only its {count:,} passages, or all",
                count,
                name=name,
            ),
        )
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def _cut(self) -> str:
        metrics = QFontMetrics(font_at(12))
        return elide(metrics, self._name, Qt.TextElideMode.ElideLeft, metrics.averageCharWidth() * _LONGEST)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(font_at(12))
        dot = scaled(_DOT)
        words = metrics.horizontalAdvance(self._cut()) + _GAP + metrics.horizontalAdvance(self._count)
        return QSize(2 * _PAD + dot + _GAP + words, metrics.height() + _PAD)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = mirrored_painter(self)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(colours.accent if self.hasFocus() else Qt.PenStyle.NoPen)
        on = self.isChecked()
        painter.setBrush(colours.accent_ground if on else colours.alternate if self.underMouse() else colours.base)
        painter.drawRoundedRect(box, 4, 4)
        dot = scaled(_DOT)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour)
        painter.drawPath(marker_path(self.marker, QPointF(_PAD + dot / 2, self.height() / 2), dot / 2))
        painter.setFont(font_at(12))
        text, name = self.rect().adjusted(_PAD + dot + _GAP, 0, -_PAD, 0), self._cut()
        painter.setPen(colours.text)
        write(painter, text, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), name)
        painter.setPen(colours.muted)
        write(painter, text, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self._count)


class Legend(QWidget):
    """The legend of the map's colours and shapes; clicking a group shows that group alone.

    Signals: isolated: the only group to show, -1 for all.
    """

    isolated = Signal(int)

    def __init__(self, before: QWidget) -> None:
        """`before`: the preceding widget in tab order."""
        super().__init__()
        self._before = before
        self._grouping: Grouping | None = None
        self.items: list[LegendItem] = []
        self._flow = FlowLayout(2, self)
        self.setAccessibleName(tr("What the colours and shapes mean"))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_groups(self, grouping: "Grouping", isolated: int) -> None:
        """Show the groups of a grouping; `isolated`: number of the only visible group, -1 for all."""
        if self._grouping is None or (grouping.names, grouping.counts) != (self._grouping.names, self._grouping.counts):
            self._fill(grouping)
        self._grouping = grouping
        self._tint()
        for index, item in enumerate(self.items):
            item.setChecked(index == isolated)

    def _fill(self, grouping: "Grouping") -> None:
        clear_layout(self._flow)
        self.items = []
        before = self._before
        markers = markers_of(len(grouping.names), has_others=grouping.has_others)
        for index, (name, count, marker) in enumerate(zip(grouping.names, grouping.counts, markers, strict=True)):
            item = LegendItem(name, count, marker, self)
            item.clicked.connect(lambda on, index=index: self.isolated.emit(index if on else -1))
            self._flow.addWidget(item)
            item.show()
            QWidget.setTabOrder(before, item)  # a widget made last would be last in the window's tab order
            before = item
            self.items.append(item)
        self.updateGeometry()

    def _tint(self) -> None:
        if self._grouping is not None:
            for item, colour in zip(self.items, colours_of(self._grouping, self.palette()), strict=True):
                item.colour = colour
                item.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._tint()
            self._flow.invalidate()
