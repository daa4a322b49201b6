"""The source of a file with the borders of its chunks beside the line numbers."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from engine import FileChunks, tr
from gui.core.jobs import Jobs
from gui.style.theme import tokens
from gui.viewer.chunks.margin import MarginPainter
from gui.viewer.chunks.margin_lanes import LANES, ChunkLanes
from gui.viewer.chunks.wording import tip
from gui.viewer.source_view import SourceView
from gui.widgets.accessible_painting import Part
from gui.widgets.mirrored import mirror
from gui.widgets.plain_text import show_tip


class ChunkedSource(SourceView):
    """What the margin shows is given from outside; only what is in view is looked at.

    Signals:
        chunk_pressed: place of a chunk whose border was pressed.
    """

    chunk_pressed = Signal(int)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        self._file: FileChunks | None = None
        self._by_line: ChunkLanes | None = None
        self._chosen: int | None = None
        super().__init__(jobs, parent)
        self.viewport().setMouseTracking(True)

    def set_margin(self, shown: bool) -> None:
        """Give the borders their room, or take it back."""
        if shown != bool(self._lanes):
            self._lanes = LANES if shown else 0
            self._relayout()

    def set_chunks(self, file: FileChunks | None, lanes: ChunkLanes | None) -> None:
        """What the margin shows; None for nothing."""
        self._file, self._by_line = file, lanes
        self._chosen = None
        self.viewport().update()

    def set_chosen(self, place: int | None) -> None:
        """The chunk whose row is shown elsewhere."""
        self._chosen = place
        self.viewport().update()

    def reveal_chunk(self, place: int) -> None:
        """Bring a chunk into view, from its first line on; one whose beginning is in view stays where it is."""
        if self._by_line is None:
            return
        chunk = self._by_line.chunks[place]
        first = min(chunk.start_line, max(1, self.line_count))  # a file that has become shorter
        if self._scroll.top_of(first) is None:
            self._scroll.go_to(first, above=self.viewport().height() // 4)
        self.selection.put((first, 0))
        self._moved()

    def spoken_parts(self) -> Sequence[Part]:
        """As of any text; where chunks have their borders on show, each says where it begins and ends."""
        parts = super().spoken_parts()
        if not self._lanes or self._by_line is None:
            return parts
        said: dict[int, list[str]] = {}
        for place, chunk in enumerate(self._by_line.chunks, 1):
            said.setdefault(chunk.start_line, []).append(tr("chunk {number:,} begins", number=place))
            said.setdefault(chunk.end_line, []).append(tr("chunk {number:,} ends", number=place))
        numbers = [number for number, _ in self._visible()]
        return [
            Part(", ".join([part.words, *said.get(number, [])]), part.place)
            for number, part in zip(numbers, parts, strict=True)
        ]

    def _margin(self, painter: QPainter | None = None) -> MarginPainter:
        tops = {}
        for number, top in self._visible():
            height = self._height_of(number, self.viewport().height() - top)
            tops[number] = (top + self._pad_above(number), top + height)
        return MarginPainter(
            painter or QPainter(),
            tokens(self.palette()),
            self._layouts.typography,
            self._gutter,
            tops,
            self.viewport().height(),
            dimmed=self._file is not None and self._file.changed,
        )

    def _pressed(self, point: QPoint) -> list[int]:
        """Places of the chunks whose border is at this point."""
        if not self._lanes or self._by_line is None or not self.line_count:
            return []
        lane = self._margin().lane_at(self._along(point))
        return [] if lane is None else self._by_line.at(self.place_at(point)[0], lane)

    # --- Qt's events ----------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._lanes and self._by_line is not None:
            painter = QPainter(self.viewport())
            mirror(painter, self.viewport().rect(), self.layoutDirection())
            self._margin(painter).paint(self._by_line, self._chosen)
            painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        places = self._pressed(event.position().toPoint()) if event.button() == Qt.MouseButton.LeftButton else []
        if not places:
            super().mousePressEvent(event)
            return
        following = places.index(self._chosen) + 1 if self._chosen in places else 0
        self.chunk_pressed.emit(places[following % len(places)])

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

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            places = self._pressed(event.pos())
            if places and self._file is not None:
                show_tip(event.globalPos(), tip(self._file, places), self.viewport())
                return True
        return super().viewportEvent(event)
