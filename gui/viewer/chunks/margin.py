"""Draws the chunks beside the lines: a bracket each, with a mark for the state of its vector."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from engine import ChunkRow, VectorState
from gui.style.theme import Tokens
from gui.style.typography import Typography
from gui.viewer.chunks.margin_lanes import LANES, ChunkLanes
from gui.viewer.chunks.wording import VECTOR_STATES
from gui.viewer.line_painter import Gutter
from gui.widgets.state import state_colour

_MOST_DRAWN = 300
"""Of the chunks in view: one overlong line may have thousands, all in one place."""

Tops = Mapping[int, tuple[int, int]]
"""Line -> its top and its bottom in the view, for the lines in view."""


@dataclass(frozen=True)
class MarginPainter:
    """Draws into a view whose lines in view are `tops`. `dimmed`: the lines may have moved."""

    painter: QPainter
    colours: Tokens
    typography: Typography
    gutter: Gutter
    tops: Tops
    height: int
    dimmed: bool

    def paint(self, lanes: ChunkLanes, chosen: int | None) -> None:
        """All chunks that are in view, the chosen one with its ground."""
        if not self.tops:
            return
        places = list(lanes.between(min(self.tops), max(self.tops)))[:_MOST_DRAWN]
        if chosen is not None and chosen not in places:
            places.append(chosen)
        seen = set()
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place in sorted(places, key=lambda place: place == chosen):
            chunk, lane = lanes.chunks[place], lanes.lanes[place]
            box = self._box(chunk, lane)
            if box is not None and ((lane, box.top(), box.bottom()) not in seen or place == chosen):
                seen.add((lane, box.top(), box.bottom()))
                self._bracket(box, chunk.vector, chosen=place == chosen)
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def lane_at(self, x: int) -> int | None:
        """The lane at this pixel; None beside the margin."""
        lane = (x - self.gutter.margin) // self.gutter.lane_width
        return lane if 0 <= lane < LANES else None

    def _box(self, chunk: ChunkRow, lane: int) -> QRectF | None:
        """Where its bracket stands, beyond the view where it goes on there; None out of view."""
        first, last = min(self.tops), max(self.tops)
        if chunk.end_line < first or chunk.start_line > last:
            return None
        beyond = self.typography.row_height
        top = self.tops[chunk.start_line][0] if chunk.start_line >= first else -beyond
        bottom = self.tops[chunk.end_line][1] if chunk.end_line <= last else self.height + beyond
        left = self.gutter.margin + lane * self.gutter.lane_width
        inset = self.typography.scaled(2)
        return QRectF(left, top + inset, self.gutter.lane_width, bottom - top - 2 * inset)

    def _bracket(self, box: QRectF, vector: VectorState, *, chosen: bool) -> None:
        scaled = self.typography.scaled
        colour = self.colours.accent if chosen else QColor(self.colours.muted)
        if self.dimmed and not chosen:
            colour.setAlpha(110)
        if chosen:
            self.painter.fillRect(box, self.colours.accent_ground)
        pen = QPen(colour, max(1.0, scaled(2 if chosen else 1)))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        if vector in ("pending", "none") or self.dimmed:
            pen.setDashPattern([3, 2])
        self.painter.setPen(pen)
        x, right = box.left() + scaled(3), box.right() - scaled(2)
        self.painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
        pen.setStyle(Qt.PenStyle.SolidLine)
        self.painter.setPen(pen)
        for y in (box.top() + 0.5, box.bottom() - 0.5):
            self.painter.drawLine(QPointF(x, y), QPointF(right, y))
        self._mark(QPointF(x, max(box.top(), 0.0) + self.typography.row_height / 2), vector)

    def _mark(self, middle: QPointF, vector: VectorState) -> None:
        """A full disc, a ring, a cross or a short bar: no state is told by its colour alone."""
        half = max(3.0, self.typography.scaled(3) + 0.5)
        colour = state_colour(self.colours, VECTOR_STATES[vector][0])
        self.painter.setPen(QPen(colour, max(1.5, self.typography.scaled(1.5))))
        self.painter.setBrush(self.colours.base)
        match vector:
            case "ready":
                self.painter.setPen(Qt.PenStyle.NoPen)
                self.painter.setBrush(colour)
                self.painter.drawEllipse(middle, half, half)
            case "pending":
                self.painter.drawEllipse(middle, half - 0.5, half - 0.5)
            case "refused":
                for way in (1, -1):
                    self.painter.drawLine(middle - QPointF(half, way * half), middle + QPointF(half, way * half))
            case "none":
                self.painter.drawLine(middle - QPointF(half, 0), middle + QPointF(half, 0))
