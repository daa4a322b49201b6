"""Points that the user hovers, opens or collects on the map."""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QPointF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from engine import CancelToken, IndexInsight, MapPlace
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.index.map import wording
from gui.index.map.interactive_map import InteractiveMap
from gui.index.map.map_jobs import Prepared, within_group
from gui.index.map.selection_list import MOST, SelectionList
from gui.style.stylesheet import BASE_PIXELS, font_at
from gui.widgets.labels import ElidedLabel

_HOVER_MS = 120
_WIDTH = 300
_AWAY = 14
_KEPT = 500


class Places(QObject):
    """Reads what points are; remembers the last ones."""

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._asking = JobSlot(self)
        self._known: OrderedDict[int, MapPlace] = OrderedDict()

    def forget(self) -> None:
        """The index has changed."""
        self._asking.cancel()
        self._known.clear()

    def drop(self) -> None:
        """Nobody waits for an answer any more."""
        self._asking.cancel()

    def ask(self, insight: IndexInsight, chunk: int, then: Callable[[MapPlace | None], None]) -> None:
        """`then` receives the chunk, now or soon; None for a deleted one. A newer request wins."""
        self._asking.cancel()
        if chunk in self._known:
            then(self._known[chunk])
            return

        def told(places: tuple[MapPlace, ...]) -> None:
            self._asking.done()
            for place in places:
                self._known[chunk] = place
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
            then(places[0] if places else None)

        self._asking.put(self._jobs.read(lambda token: insight.map_places([chunk], token), told))


class HoverCard(QFrame):
    """Title and headings, first words, path and date; never under the mouse."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._title, self._text = ElidedLabel(), ElidedLabel()
        self._where = ElidedLabel("", Qt.TextElideMode.ElideMiddle)
        self._title.setProperty("role", "strong")
        self._text.setProperty("role", "muted")
        self._where.setProperty("role", "meta")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(2)
        for part in (self._title, self._text, self._where):
            column.addWidget(part)
        self.hide()

    def show_place(self, place: MapPlace, at: QPointF) -> None:
        """Next to a point, inside of the parent."""
        self._title.setText(wording.heading_of(place))
        self._text.setText(place.text)
        self._where.setText(wording.where(place))
        room = self._over.rect()
        unit = font_at(BASE_PIXELS).pixelSize() / BASE_PIXELS
        self.ensurePolished()
        self.setFixedWidth(min(round(_WIDTH * unit), max(1, room.width() - 8)))
        self.adjustSize()
        left = round(at.x()) + _AWAY
        if left + self.width() > room.right() - 4:
            left = round(at.x()) - _AWAY - self.width()
        top = round(at.y()) - self.height() - _AWAY // 2
        if top < 4:
            top = round(at.y()) + _AWAY
        left = max(4, min(left, room.right() - self.width() - 3))
        self.move(left, max(4, min(top, room.bottom() - self.height() - 3)))
        self.show()
        self.raise_()


class MapSelection(QObject):
    """Signals:
    open_requested: path and line.
    looped: the points in a loop are listed.
    """

    open_requested = Signal(str, object)
    looped = Signal()

    def __init__(self, jobs: Jobs, canvas: InteractiveMap, parent: QObject) -> None:
        super().__init__(parent)
        self.card, self.list = HoverCard(canvas), SelectionList(jobs)
        self._jobs = jobs
        self._canvas = canvas
        self._places = Places(jobs, self)
        self._looking = JobSlot(self)
        self._insight: IndexInsight | None = None
        self._prepared: Prepared | None = None
        self._isolated = -1
        self._hovering = QTimer(self, singleShot=True, interval=_HOVER_MS)
        self._hovering.timeout.connect(self._tell_point)
        canvas.pointed.connect(self._point)
        canvas.moved.connect(self.card.hide)
        canvas.chosen.connect(self._open_point)
        canvas.toggled.connect(self._toggle)
        canvas.looped.connect(self._list_loop)
        canvas.all_wanted.connect(self._list_view)
        self.list.opened.connect(self._open_place)
        self.list.shown.connect(self._show_chosen)
        self.list.closed.connect(self.close_list)

    @property
    def busy(self) -> bool:
        return self._looking.busy or self.list.busy

    def show(self, insight: IndexInsight | None, prepared: Prepared, isolated: int) -> None:
        """Choose among these points; of one group alone (or -1), where a loop or the view is meant."""
        if self._prepared is None or self._prepared.scene is not prepared.scene:
            self._places.forget()
            self._canvas.show_listed(tuple(prepared.scene.find(self.list.chunks[:MOST])))
        self._insight, self._prepared, self._isolated = insight, prepared, isolated

    def clear(self) -> None:
        self._insight = self._prepared = None
        self._looking.cancel()
        self._hovering.stop()
        self._places.forget()
        self.close_list()

    # --- one point --------------------------------------------------------------------------------------------------

    @Slot(int, bool)
    def _point(self, point: int, by_key: bool) -> None:
        self.card.hide()
        self._places.drop()
        if point < 0:
            self._hovering.stop()
        elif by_key:
            self._tell_point()
        else:
            self._hovering.start()

    def _ask(self, point: int, then: Callable[[MapPlace | None], None]) -> None:
        if self._insight is not None and self._prepared is not None and point >= 0:
            self._places.ask(self._insight, int(self._prepared.scene.ids[point]), then)

    @Slot()
    def _tell_point(self) -> None:
        self._ask(self._canvas.point, partial(self._show_card, self._canvas.point))

    def _show_card(self, point: int, place: MapPlace | None) -> None:
        if place is None or self._canvas.point != point or self._prepared is None or not self._canvas.isVisible():
            return
        self.card.show_place(place, self._canvas.place_of(point))
        if self._canvas.hasFocus() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._canvas, wording.spoken(place)))

    @Slot(int)
    def _open_point(self, point: int) -> None:
        self._ask(point, self._open_place)

    @Slot(object)
    def _open_place(self, place: MapPlace | None) -> None:
        if place is not None:
            self.open_requested.emit(place.path, place.start_line)

    # --- the list ---------------------------------------------------------------------------------------------------

    @Slot(object)
    def _list_loop(self, loop: list[tuple[float, float]]) -> None:
        if self._prepared is not None:
            prepared, isolated, grid = self._prepared, self._isolated, self._prepared.scene.grid

            def work(token: CancelToken) -> tuple[int, ...]:
                return within_group(prepared, grid.inside(loop, token.checkpoint), isolated)

            self._looking.put(self._jobs.read(work, self._list))

    @Slot()
    def _list_view(self) -> None:
        if self._prepared is not None:
            prepared, isolated, grid = self._prepared, self._isolated, self._prepared.scene.grid
            left, high = self._canvas.view.to_units(0, 0)
            right, low = self._canvas.view.to_units(self._canvas.width(), self._canvas.height())

            def work(_: CancelToken) -> tuple[int, ...]:
                return within_group(prepared, grid.within(left, low, right, high), isolated)

            self._looking.put(self._jobs.read(work, self._list))

    @Slot(int)
    def _toggle(self, point: int) -> None:
        assert self._prepared is not None
        chunk = int(self._prepared.scene.ids[point])
        listed = self.list.chunks
        self._list(tuple(other for other in listed if other != chunk) if chunk in listed else (*listed, chunk))

    def _list(self, chunks: tuple[int, ...]) -> None:
        self._looking.done()
        self.looped.emit()
        if self._prepared is not None and self._insight is not None:
            self._canvas.show_listed(tuple(self._prepared.scene.find(chunks[:MOST])))
            self.list.show_chunks(self._insight, chunks)

    @Slot(object)
    def _show_chosen(self, chunk: int) -> None:
        if self._prepared is not None:
            self._canvas.show_point(next(iter(self._prepared.scene.find([chunk])), -1))

    @Slot()
    def close_list(self) -> None:
        """Nothing is chosen any more; who was in the list is on the map again."""
        focus = self.list.focusWidget()
        held = focus is not None and focus.hasFocus()
        self.list.clear()
        self._canvas.show_listed(())
        if held:
            self._canvas.setFocus(Qt.FocusReason.OtherFocusReason)
