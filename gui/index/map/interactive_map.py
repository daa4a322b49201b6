"""The interactive map: pan, zoom, hover, select and lasso, by mouse and keyboard."""

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QKeyEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QGestureEvent, QPinchGesture

from engine import tr
from gui.core.jobs import Jobs
from gui.index.map.map_view import EDGE, MapView
from gui.style.stylesheet import font_scale

_CARD_HEIGHT = 340
_WHEEL = 1.0015
_KEY_ZOOM = 1.3
_KEY_PAN = 0.12
_REACH = 8.0
"""Largest distance in pixels between the mouse and the point that it hovers."""
_LOOP_STEP = 4.0
_DIRECTIONS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}
_MARKERS = {Qt.Key.Key_Plus: _KEY_ZOOM, Qt.Key.Key_Equal: _KEY_ZOOM, Qt.Key.Key_Minus: 1 / _KEY_ZOOM}


class InteractiveMap(MapView):
    """A map whose points can be opened and selected by mouse and keyboard.

    Signals: `chosen` (open a point), `toggled` (add a point to the list or remove it), `lasso_drawn` (with
    the corners of the loop in map units), `all_requested` (list all points in view).
    """

    chosen = Signal(int)
    toggled = Signal(int)
    lasso_drawn = Signal(object)
    all_requested = Signal()

    spoken_role = QAccessible.Role.Chart

    def __init__(self, jobs: Jobs, *, scrolls: bool = False) -> None:
        """`scrolls`: the map is part of a page that the wheel scrolls, unless the map has the focus or Ctrl is held."""
        super().__init__(jobs)
        self._scrolls = scrolls
        self._lasso = False
        """Whether dragging draws a loop, rather than moving the map."""
        self._pressed: QPointF | None = None
        self._dragged = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.grabGesture(Qt.GestureType.PinchGesture)
        self.setAccessibleName(tr("Map of the index"))
        self.pointed.connect(self._show_cursor)
        self.installEventFilter(self)

    def minimumSizeHint(self) -> QSize:
        unit = font_scale()
        return QSize(200, round(_CARD_HEIGHT * unit)) if self._scrolls else super().minimumSizeHint()

    def set_lasso(self, on: bool) -> None:
        self._lasso = on
        self._show_cursor()

    def _show_cursor(self) -> None:
        shape = Qt.CursorShape.CrossCursor if self._lasso else Qt.CursorShape.ArrowCursor
        if self._pressed is not None and not self._loop:
            shape = Qt.CursorShape.ClosedHandCursor
        elif self.point >= 0 and self.underMouse():
            shape = Qt.CursorShape.PointingHandCursor
        self.setCursor(shape)

    # --- the mouse --------------------------------------------------------------------------------------------------

    def _point_under(self, at: QPointF) -> int:
        if self._scene is None:
            return -1
        return self._scene.grid.nearest(*self.view.to_units(at.x(), at.y()), _REACH / self.view.scale)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._scene is None:
            super().mousePressEvent(event)
            return
        self._pressed, self._dragged = event.position(), False
        if self._lasso or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._loop = [event.position()]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._pressed is None:
            self._point_at(self._point_under(at), by_key=False)
            return
        moved = at - self._pressed
        if not self._dragged and moved.manhattanLength() < QApplication.startDragDistance():
            return
        self._dragged = True
        if self._loop:
            if (at - self._loop[-1]).manhattanLength() >= _LOOP_STEP:
                self._loop.append(at)
                self.update()
            return
        self._pressed = at
        self._show_cursor()
        self._set_view(self.view.panned(moved.x(), moved.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            super().mouseReleaseEvent(event)
            return
        loop, dragged = self._loop, self._dragged
        self._pressed, self._loop = None, []
        self._show_cursor()
        self.update()
        if loop and dragged:
            self.lasso_drawn.emit([self.view.to_units(at.x(), at.y()) for at in loop])
        elif not dragged and (point := self._point_under(event.position())) >= 0:
            self.chosen.emit(point)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._point_under(event.position()) < 0:
            self.zoom(2.0, event.position())

    def leaveEvent(self, event: QEvent) -> None:
        if self._pressed is None:
            self._point_at(-1, by_key=False)
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if self._scrolls and not (control or self.hasFocus()):
            event.ignore()  # scrolling the page must not stop at the map
            return
        turned = event.angleDelta().y()
        if turned and self._scene is not None:
            self.zoom(_WHEEL**turned, event.position())
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.zoom(1 + event.value(), event.position())
            return True
        if isinstance(event, QGestureEvent):
            pinch = event.gesture(Qt.GestureType.PinchGesture)
            if isinstance(pinch, QPinchGesture):
                self.zoom(pinch.scaleFactor(), QPointF(self.mapFromGlobal(pinch.centerPoint())))
                return True
        return False

    # --- the keyboard -----------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if self._scene is None:
            event.ignore()
        elif key in _DIRECTIONS:
            right, higher = _DIRECTIONS[key]
            if control:
                self._step(right, higher)
            else:
                side = _KEY_PAN * min(self.width(), self.height())
                self._set_view(self.view.panned(-right * side, higher * side))
        elif key in _MARKERS and not control:
            self.zoom(_MARKERS[key])
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home) and not control:
            self.fit()
        elif key == Qt.Key.Key_A and control:
            self.all_requested.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.point < 0:
            self._step(0, 0)  # selects the point in the middle
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit(self.point)
        elif key == Qt.Key.Key_Space:
            self.toggled.emit(self.point)
        elif key == Qt.Key.Key_Escape and (self._loop or self.point >= 0):
            self._pressed, self._loop = None, []
            self._point_at(-1, by_key=True)
            self.update()
        else:
            event.ignore()

    def _step(self, right: int, higher: int) -> None:
        """Move the keyboard cursor to the nearest point in a direction (`right`, `higher`: 1, 0 or -1)."""
        scene = self._scene
        assert scene is not None
        across, up = (self.view.across, self.view.up) if self.point < 0 else scene.position(self.point)
        if self.point < 0 and (near := scene.grid.nearest(across, up, self.view.width / self.view.scale)) >= 0:
            point = near
        else:
            point = scene.grid.next(across, up, right, higher, self.point)
        if point >= 0:
            self._set_view(self.view.showing(*scene.position(point), margin=EDGE))
            self._point_at(point, by_key=True)
