"""The visible part of the map, and conversions between map units and pixels."""

from dataclasses import dataclass, replace

_MARGIN = 0.06
"""Margin around the whole map, as a share of the shorter side."""
_DEEPEST = 400.0
_SHALLOWEST = 0.5
"""Largest and smallest zoom, relative to the scale at which the map fits."""
Box = tuple[float, float, float, float]
"""Left, bottom, right and top in the map's units."""


@dataclass(frozen=True)
class Viewport:
    """Centre and scale of the visible part of the map. In widget pixels y points down, in map units up."""

    width: float = 1.0
    height: float = 1.0
    across: float = 0.0
    up: float = 0.0
    """Vertical position of the centre in map units."""
    scale: float = 1.0
    """Pixels per map unit."""
    box: Box = (-1.0, -1.0, 1.0, 1.0)
    """Bounding box of all points."""

    @property
    def fitting(self) -> float:
        """The scale at which all points are visible."""
        left, low, right, high = self.box
        margin = _MARGIN * min(self.width, self.height)
        available = max(1.0, self.width - 2 * margin), max(1.0, self.height - 2 * margin)
        return min(available[0] / max(right - left, 1e-9), available[1] / max(high - low, 1e-9))

    def fit(self) -> "Viewport":
        left, low, right, high = self.box
        return replace(self, across=(left + right) / 2, up=(low + high) / 2, scale=self.fitting)

    def resized(self, width: float, height: float) -> "Viewport":
        """Return the viewport for another widget size, with the same centre and relative zoom."""
        relation = self.scale / self.fitting
        sized = replace(self, width=max(1.0, width), height=max(1.0, height))
        return replace(sized, scale=sized.fitting * relation)

    def around(self, box: Box) -> "Viewport":
        """Return a viewport for other points, whose bounding box is `box`, with the same visible area."""
        return replace(self, box=box)

    def to_pixels(self, across: float, up: float) -> tuple[float, float]:
        return (
            self.width / 2 + (across - self.across) * self.scale,
            self.height / 2 - (up - self.up) * self.scale,
        )

    def to_units(self, x: float, y: float) -> tuple[float, float]:
        return self.across + (x - self.width / 2) / self.scale, self.up - (y - self.height / 2) / self.scale

    def panned(self, right: float, down: float) -> "Viewport":
        """Return the viewport moved by some pixels; some points always stay in view."""
        left, low, far, high = self.box
        across = min(max(self.across - right / self.scale, left), far)
        up = min(max(self.up + down / self.scale, low), high)
        return replace(self, across=across, up=up)

    def zoomed(self, factor: float, x: float, y: float) -> "Viewport":
        """Return the viewport zoomed by a factor around a pixel."""
        fitting = self.fitting
        scale = min(max(self.scale * factor, fitting * _SHALLOWEST), fitting * _DEEPEST)
        across, up = self.to_units(x, y)
        moved = replace(
            self,
            scale=scale,
            across=across - (x - self.width / 2) / scale,
            up=up + (y - self.height / 2) / scale,
        )
        return moved.panned(0, 0)

    def showing(self, across: float, up: float, margin: float) -> "Viewport":
        """Return the viewport moved as little as needed to show a location, `margin` pixels from the edges."""
        x, y = self.to_pixels(across, up)
        right = max(0.0, margin - x) - max(0.0, x - (self.width - margin))
        down = max(0.0, margin - y) - max(0.0, y - (self.height - margin))
        return self.panned(right, down)
