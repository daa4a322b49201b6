"""Draws the points into an image larger than the view, in the background: panning moves it until a new one is ready."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QColor, QImage, QPainter

from engine import CancelToken
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.index.map.groups import MIN_SHAPE_RADIUS, REACH
from gui.index.map.scene import Viewport

if TYPE_CHECKING:
    from gui.index.map.groups import Grouping
    from gui.index.map.scene import Scene

_AROUND = 0.3
"""Share of the view's width and height drawn beyond each edge."""
_RADIUS, _MIN_RADIUS = 3.4, 1.5
_LARGE = 1500
"""Maximum number of points in view that have the full radius."""
_SMALL = 90
"""Largest radius as a share of the map's shorter side."""
_OPACITY, _FAINT = 0.8, 0.12


@dataclass(frozen=True)
class Appearance:
    """Everything that determines the appearance of the points."""

    scene: "Scene"
    grouping: "Grouping"
    colours: tuple[int, ...]
    """Colour of each group, as `QRgb`."""
    markers: tuple[int, ...]
    """Shape of each group."""
    isolated: int
    """The only group that is not faint; -1 if none is faint."""
    quiet: int
    """Opacity of faint points."""
    ratio: float
    """Device pixels per pixel."""
    unit: float
    """Scale of the interface font, 1 for the normal size."""


@dataclass(frozen=True)
class _Picture:
    image: QImage
    appearance: Appearance
    view: Viewport
    """Visible area, with the size of the image."""


class PointImage(JobOwner, QObject):
    """An image of the points, drawn off the GUI thread.

    Signals:
        drawn: there is a new picture.
        failed: why there is none, one sentence.
    """

    drawn = Signal()
    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._job = JobSlot(self, jobs)
        self._picture: _Picture | None = None
        self._requested: tuple[Appearance, Viewport] | None = None

    @property
    def drawn_once(self) -> bool:
        """Whether there is an image, perhaps of an earlier viewport."""
        return self._picture is not None

    def clear(self) -> None:
        self._job.cancel()
        self._picture = self._requested = None

    def show(self, appearance: Appearance, view: Viewport) -> None:
        """Draw a new image for this look and viewport; the old one is shown meanwhile."""
        self._requested = appearance, view
        if not self._job.busy and not self._is_usable(appearance, view):
            self._start()

    def paint(self, painter: QPainter, view: Viewport) -> None:
        """Paint the current image, moved and scaled to the viewport."""
        picture = self._picture
        if picture is None:
            return
        left, top = view.to_pixels(*picture.view.to_units(0, 0))
        if picture.view.scale == view.scale:  # aligned to device pixels it stays sharp
            ratio = picture.appearance.ratio
            painter.drawImage(QPointF(round(left * ratio) / ratio, round(top * ratio) / ratio), picture.image)
            return
        relation = view.scale / picture.view.scale
        size = picture.view.width * relation, picture.view.height * relation
        painter.drawImage(QRectF(left, top, *size), picture.image)

    def _is_usable(self, appearance: Appearance, view: Viewport) -> bool:
        picture = self._picture
        if picture is None or picture.appearance != appearance or picture.view.scale != view.scale:
            return False
        left, top = view.to_pixels(*picture.view.to_units(0, 0))
        spare = _AROUND * min(view.width, view.height) / 4
        right, bottom = left + picture.view.width, top + picture.view.height
        return left <= -spare and top <= -spare and right >= view.width + spare and bottom >= view.height + spare

    def _start(self) -> None:
        assert self._requested is not None
        appearance, view = self._requested
        around = replace(view, width=view.width * (1 + 2 * _AROUND), height=view.height * (1 + 2 * _AROUND))
        self._job.read(lambda token: _draw(appearance, around, token), self._done, self.failed.emit)

    def _done(self, picture: _Picture) -> None:
        self._picture = picture
        self.drawn.emit()
        if self._requested is not None and not self._is_usable(*self._requested):
            self._start()


def point_radius(count: int, view: Viewport, unit: float) -> float:
    """Return the radius of a point in pixels: smaller if many are in view."""
    visible = count * min(1.0, (view.fitting / view.scale) ** 2)
    preferred: float = _RADIUS * (_LARGE / max(1.0, visible)) ** 0.17
    most = min(view.width, view.height) / _SMALL
    return max(_MIN_RADIUS, min(_RADIUS, preferred, most)) * unit


def _draw(appearance: Appearance, view: Viewport, token: CancelToken) -> _Picture:
    """Draw the image of the points. On a pool thread."""
    import numpy as np

    from gui.index.map.scene import GroupStyles, draw_points

    ratio = appearance.ratio
    width, height = max(1, round(view.width * ratio)), max(1, round(view.height * ratio))
    radius = point_radius(len(appearance.scene), view, appearance.unit) * ratio
    left, high = view.to_units(0, 0)
    pixels = (appearance.scene.points - np.array([left, high], np.float32)) * np.float32(view.scale * ratio)
    pixels[:, 1] *= -1
    reach = radius * REACH + 2
    visible = ((pixels > -reach) & (pixels < np.array([width + reach, height + reach], np.float32))).all(axis=1)
    colours = np.array([_rgba(appearance, number) for number in range(len(appearance.colours))], np.float32).reshape(
        -1, 4
    )
    markers = appearance.markers if radius >= MIN_SHAPE_RADIUS * ratio else ()
    drawn = draw_points(
        pixels[visible],
        appearance.grouping.group_of[visible],
        GroupStyles(colours, markers),
        (width, height),
        radius,
        token.checkpoint,
    )
    image = QImage(drawn.tobytes(), width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied).copy()
    image.setDevicePixelRatio(ratio)
    return _Picture(image, appearance, replace(view, width=width / ratio, height=height / ratio))


def _rgba(appearance: Appearance, number: int) -> tuple[float, float, float, float]:
    faint = appearance.isolated not in (-1, number)
    colour = QColor.fromRgb(appearance.quiet if faint else appearance.colours[number])
    return colour.redF(), colour.greenF(), colour.blueF(), _FAINT if faint else _OPACITY
