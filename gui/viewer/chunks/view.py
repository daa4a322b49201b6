"""The source view of a file with the borders of its chunks next to the line numbers."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen

from engine import ChunkRow, FileChunks, VectorState, tr
from gui.core.jobs import Jobs
from gui.style.theme import Tokens, tokens
from gui.style.typography import Typography
from gui.text.plain_text import PositionTip
from gui.text.right_to_left import mirror
from gui.viewer.chunks.card import VECTOR_STATES, tip
from gui.viewer.line_painter import Gutter
from gui.viewer.source_view import SourceView
from gui.widgets.accessibility import Part
from gui.widgets.state_dot import state_colour

# --- Lanes of a file's chunks in the margin: side by side where they overlap -----------------------------------------

LANES = 2
"""Number of lanes. A chunk overlaps with its neighbours; if more meet on an overlong line, they share the last lane."""


class ChunkLanes:
    """The chunks of one file, indexed by line; overlapping chunks are in different lanes (columns of the margin).

    Created off the GUI thread; queried for visible lines. A position is the number of a chunk in `chunks`.
    """

    def __init__(self, chunks: Sequence[ChunkRow]) -> None:
        """`chunks` have to be in the order of the text."""
        self.chunks = chunks
        self._starts = [chunk.start_line for chunk in chunks]
        self._ends = list(accumulate((chunk.end_line for chunk in chunks), max))
        self.lanes = _assigned(chunks)
        """The lane of each chunk."""

    def between(self, first: int, last: int) -> range:
        """Return a range of positions with all chunks on lines `first` to `last`; some in it may end before."""
        return range(bisect_left(self._ends, first), bisect_right(self._starts, last))

    def at(self, line: int, lane: int | None = None) -> list[int]:
        """Return the positions of the chunks on a line; only those in `lane`, if there are any."""
        here = [number for number in self.between(line, line) if self.chunks[number].end_line >= line]
        in_lane = [number for number in here if self.lanes[number] == lane]
        return in_lane or here

    def next(self, line: int, *, forward: bool) -> int | None:
        """Return the position of the chunk on a line or, without one, of the next or previous chunk; None at the ends.

        Of two chunks that overlap there, it is the later one, since a result is shown from its first line on.
        """
        if here := self.at(line):
            return max(here, key=lambda number: (self.chunks[number].start_line, -number))
        number = bisect_right(self._starts, line) - (not forward)
        return number if 0 <= number < len(self.chunks) else None

    def position_of(self, chunk: ChunkRow) -> int | None:
        """Return the position of a chunk from another version of the file, by its id; None if it was removed."""
        return next((number for number, other in enumerate(self.chunks) if other.id == chunk.id), None)


def _assigned(chunks: Sequence[ChunkRow]) -> list[int]:
    """Return the lane of each chunk: the first that is free at its start, else the last."""
    ends = [0] * LANES
    lanes = []
    for chunk in chunks:
        lane = next((lane for lane, end in enumerate(ends) if end < chunk.start_line), LANES - 1)
        ends[lane] = max(ends[lane], chunk.end_line)
        lanes.append(lane)
    return lanes


# ---------------------------------------------------------------------------------------------------------------------

_MAX_DRAWN = 300
"""Maximum number of chunks drawn together: an overlong line may have thousands."""

Tops = Mapping[int, tuple[int, int]]
"""Line -> its top and its bottom in the view, for the lines in view."""


@dataclass(frozen=True)
class MarginPainter:
    """Paints the borders of chunks in the margin of a view with the visible lines `tops`.

    `dimmed`: paler, since the lines may have moved since the file was indexed.
    """

    painter: QPainter
    colours: Tokens
    typography: Typography
    gutter: Gutter
    tops: Tops
    height: int
    dimmed: bool

    def paint(self, lanes: ChunkLanes, chosen: int | None) -> None:
        """Paint all chunks in view; `chosen` is the position of the selected one, painted with a background."""
        if not self.tops:
            return
        numbers = list(lanes.between(min(self.tops), max(self.tops)))[:_MAX_DRAWN]
        if chosen is not None and chosen not in numbers:
            numbers.append(chosen)
        seen = set()
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number in sorted(numbers, key=lambda number: number == chosen):
            chunk, lane = lanes.chunks[number], lanes.lanes[number]
            box = self._box(chunk, lane)
            if box is not None and ((lane, box.top(), box.bottom()) not in seen or number == chosen):
                seen.add((lane, box.top(), box.bottom()))
                self._bracket(box, chunk.vector, chosen=number == chosen)
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def lane_at(self, x: int) -> int | None:
        """Return the lane at an X coordinate; None outside of the margin."""
        lane = (x - self.gutter.margin) // self.gutter.lane_width
        return lane if 0 <= lane < LANES else None

    def _box(self, chunk: ChunkRow, lane: int) -> QRectF | None:
        """Return the rectangle of a chunk's bracket, extended beyond the view where it continues; None out of view."""
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
        """Paint the state of a vector as a disc, ring, cross or bar: colour alone must not distinguish states."""
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
                for slope in (1, -1):
                    self.painter.drawLine(middle - QPointF(half, slope * half), middle + QPointF(half, slope * half))
            case "none":
                self.painter.drawLine(middle - QPointF(half, 0), middle + QPointF(half, 0))


class ChunkedSource(SourceView):
    """A source view with a margin that shows the borders of chunks; `set_chunks` sets them.

    Signals: chunk_pressed: position of a chunk whose border was pressed.
    """

    chunk_pressed = Signal(int)

    def __init__(self, jobs: Jobs) -> None:
        self._file: FileChunks | None = None
        self.borders: ChunkLanes | None = None
        """The chunks of the file, by line; None until they are read."""
        self.chosen: int | None = None
        """Position of the selected chunk."""
        super().__init__(jobs)
        self.viewport().setMouseTracking(True)
        PositionTip(self.viewport(), self._tip_at)

    def set_margin(self, shown: bool) -> None:
        """Show or hide the margin with the borders."""
        if shown != bool(self._lanes):
            self._lanes = LANES if shown else 0
            self.measure()

    def set_chunks(self, file: FileChunks | None, lanes: ChunkLanes | None) -> None:
        """Set the chunks of the file; None for none."""
        self._file, self.borders = file, lanes
        self.chosen = None
        if self._lanes:
            self.viewport().update()

    def set_chosen(self, index: int | None) -> None:
        """Set the position of the selected chunk; None for none."""
        self.chosen = index
        self.viewport().update()

    def reveal_chunk(self, index: int) -> None:
        """Scroll to a chunk's first line, unless it is visible."""
        if self.borders is None:
            return
        chunk = self.borders.chunks[index]
        first = min(chunk.start_line, max(1, self.line_count))  # a file that has become shorter
        if self.scroll_position.top_of(first) is None:
            self.scroll_position.go_to(first, above=self.viewport().height() // 4)
        self.selection.start_at((first, 0))
        self._moved()

    def spoken_parts(self) -> Sequence[Part]:
        """Return the visible text for screen readers, with first and last line of each chunk if borders are shown."""
        parts = super().spoken_parts()
        if not self._lanes or self.borders is None:
            return parts
        border_texts: dict[int, list[str]] = {}
        for index, chunk in enumerate(self.borders.chunks, 1):
            border_texts.setdefault(chunk.start_line, []).append(tr("passage {number:,} begins", number=index))
            border_texts.setdefault(chunk.end_line, []).append(tr("passage {number:,} ends", number=index))
        numbers = [number for number, _, _ in self._visible()]
        return [
            Part(", ".join([part.words, *border_texts.get(number, [])]), part.rect)
            for number, part in zip(numbers, parts, strict=True)
        ]

    def _margin(self, painter: QPainter | None = None) -> MarginPainter:
        tops = {}
        for number, top, height in self._visible():
            tops[number] = (top + self._pad_above(number), top + height)
        return MarginPainter(
            painter or QPainter(),
            tokens(self.palette()),
            self.layouts.typography,
            self.gutter,
            tops,
            self.viewport().height(),
            dimmed=self._file is not None and self._file.changed,
        )

    def _pressed(self, point: QPoint) -> list[int]:
        """Return the positions of the chunks whose border is at a point."""
        if not self._lanes or self.borders is None or not self.line_count:
            return []
        lane = self._margin().lane_at(self._mirrored(point))
        return [] if lane is None else self.borders.at(self.position_at(point)[0], lane)

    # --- Qt's events ----------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._lanes and self.borders is not None:
            painter = QPainter(self.viewport())
            mirror(painter, self.viewport().rect(), self.layoutDirection())
            self._margin(painter).paint(self.borders, self.chosen)
            painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        numbers = self._pressed(event.position().toPoint()) if event.button() == Qt.MouseButton.LeftButton else []
        if not numbers:
            super().mousePressEvent(event)
            return
        following = numbers.index(self.chosen) + 1 if self.chosen in numbers else 0
        self.chunk_pressed.emit(numbers[following % len(numbers)])

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._pressed(event.position().toPoint()):
            self.mousePressEvent(event)
        else:
            super().mouseDoubleClickEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() == Qt.MouseButton.NoButton:
            over = bool(self._pressed(event.position().toPoint()))
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor)
        super().mouseMoveEvent(event)

    def _tip_at(self, at: QPoint) -> str:
        numbers = self._pressed(at)
        return tip(self._file, numbers) if numbers and self._file is not None else ""
