"""The card beside a point, and where its words come from."""

from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtCore import QObject, QPointF, Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from engine import IndexInsight, MapPlace
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.index.map import wording
from gui.style.stylesheet import BASE_PIXELS, font_at
from gui.widgets.elided import ElidedLabel

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
        """`then` hears of the chunk, at once or soon; None for one that has left the index. A newer question wins."""
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
        """Beside a point, inside of the parent."""
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
