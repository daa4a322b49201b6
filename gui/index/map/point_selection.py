"""The points that the user hovers over, opens or selects on the map, and the list of selected ones."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QPointF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFontMetrics, QGuiApplication, QKeyEvent, QPainter
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QStyleOptionViewItem, QWidget

from engine import CancelToken, IndexInsight, MapPointDetail, tr
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.index.map import wording
from gui.index.map.interactive_map import InteractiveMap
from gui.index.map.map_view import Prepared, within_group
from gui.style.stylesheet import font_at, font_scale
from gui.style.theme import Tokens
from gui.text.formatting import passages_text
from gui.text.plain_text import set_tip
from gui.widgets.buttons import push_button
from gui.widgets.icons import IconButton
from gui.widgets.labels import ElidedLabel, label, write_line
from gui.widgets.layouts import column_of, row_of
from gui.widgets.rows import Index, RowDelegate, paint_row_background

# --- The list of chunks that the user has selected on the map --------------------------------------------------------

MAX_LISTED = 500
"""Maximum number of listed chunks; more are only counted."""
_PAD_X, _PAD_Y = 10, 5


class _Rows(RowDelegate):
    """Paints a row of the selection list on two lines: heading and citation of a chunk."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, sum(_line_height(size) for size in (13, 12)) + 2 * _PAD_Y)

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, colours: Tokens) -> None:
        paint_row_background(painter, option, colours)
        rect = option.rect.adjusted(_PAD_X, _PAD_Y, -_PAD_X, 0)
        heading, _, citation = index.data(Qt.ItemDataRole.DisplayRole).partition("\n")
        for size, text, cut, text_colour in (
            (13, heading, Qt.TextElideMode.ElideRight, colours.text),
            (12, citation, Qt.TextElideMode.ElideMiddle, colours.muted),
        ):
            rect.setHeight(_line_height(size))
            write_line(painter, rect, text, (font_at(size), text_colour), cut=cut)
            rect.translate(0, rect.height())


def _line_height(size: int) -> int:
    return round(QFontMetrics(font_at(size)).height() * 1.25)


class SelectionList(JobOwner, QFrame):
    """The list of selected chunks; hidden if there are none.

    Signals:
        opened: a MapPointDetail to open.
        shown: the chunk id of the current row.
        closed: the selection was cleared.
    """

    opened = Signal(object)
    shown = Signal(object)
    closed = Signal()

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._job = JobSlot(self, jobs)
        self.chunks: tuple[int, ...] = ()
        self.details: tuple[MapPointDetail, ...] = ()
        self._count = label("", "strong")
        self._copy = push_button(
            tr("Copy citations"), self.copy_citations, tip=tr("Copy the paths and lines of the selected passages")
        )
        self._open = push_button(
            tr("Open"), self._open_current, tip=tr("Read the passage of the current row in its file")
        )
        close = IconButton("close", tr("Close the list of selected passages"))
        close.clicked.connect(self.closed)
        head = row_of((self._count, 1), close, spacing=6)
        foot = row_of(self._open, self._copy, None, spacing=6)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Passages selected on the map"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setItemDelegate(_Rows(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.itemActivated.connect(self._open_current)
        self.list.currentRowChanged.connect(self._show_row)
        column_of(head, (self.list, 1), foot, spacing=6, parent=self)
        self.hide()

    def show_chunks(self, insight: IndexInsight, chunks: Sequence[int]) -> None:
        """Show the chunks with these ids, at most `MAX_LISTED`."""
        self.chunks = tuple(chunks)
        listed = self.chunks[:MAX_LISTED]
        self._show_count(len(listed))
        self.show()
        self._job.read(lambda token: insight.map_details(listed, token), self._fill, self._count.setText)

    def clear(self) -> None:
        self._job.cancel()
        self.chunks, self.details = (), ()
        self.list.clear()
        self.hide()

    def _show_count(self, listed: int) -> None:
        count = len(self.chunks)
        if listed == count:
            self._count.setText(passages_text(count))
        else:
            self._count.setText(tr("{listed:,} of {count:,} passages", listed=listed, count=count))

    def _fill(self, details: tuple[MapPointDetail, ...]) -> None:
        before = self.list.currentRow()
        self.details = details
        blocked = self.list.blockSignals(True)
        self.list.clear()
        for detail in details:
            item = QListWidgetItem(f"{wording.heading_of(detail)}\n{detail.citation}")
            set_tip(item, f"{wording.heading_of(detail)}\n{wording.citation_and_age(detail)}")
            item.setData(Qt.ItemDataRole.AccessibleTextRole, wording.spoken(detail))
            self.list.addItem(item)
        self.list.setCurrentRow(min(max(before, 0), len(details) - 1))
        self.list.blockSignals(blocked)
        for button in (self._open, self._copy):
            button.setEnabled(bool(details))

    @Slot()
    def copy_citations(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(detail.citation for detail in self.details))

    @Slot()
    def _open_current(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self.details):
            self.opened.emit(self.details[row])

    @Slot(int)
    def _show_row(self, row: int) -> None:
        if 0 <= row < len(self.details):
            self.shown.emit(self.details[row].chunk)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)


# ---------------------------------------------------------------------------------------------------------------------

_HOVER_MS = 120
_WIDTH = 300
_AWAY = 14
_MAX_CACHED = 500


class PointDetails(QObject):
    """Reads title, path and text of the chunks of points in the background, and caches the last ones."""

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._job = JobSlot(self, jobs)
        self._cached: OrderedDict[int, MapPointDetail] = OrderedDict()

    def forget(self) -> None:
        """Drop the cache after a change of the index."""
        self._job.cancel()
        self._cached.clear()

    def drop(self) -> None:
        """Cancel the pending request."""
        self._job.cancel()

    def load(self, insight: IndexInsight, chunk: int, on_done: Callable[[MapPointDetail | None], None]) -> None:
        """Read a chunk and call `on_done` with it, or with None if it was deleted. A newer request cancels this one."""
        self._job.cancel()
        if chunk in self._cached:
            on_done(self._cached[chunk])
            return

        def arrived(details: tuple[MapPointDetail, ...]) -> None:
            for detail in details:
                self._cached[chunk] = detail
            while len(self._cached) > _MAX_CACHED:
                self._cached.popitem(last=False)
            on_done(details[0] if details else None)

        self._job.read(lambda token: insight.map_details([chunk], token), arrived)


class HoverCard(QFrame):
    """A card with title, headings, first words, path and date of the point under the mouse, placed next to it."""

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
        column_of(self._title, self._text, self._where, spacing=2, margins=(12, 8, 12, 8), parent=self)
        self.hide()

    def show_detail(self, detail: MapPointDetail, at: QPointF) -> None:
        """Show the card next to a point, inside the parent."""
        self._title.setText(wording.heading_of(detail))
        self._text.setText(detail.text)
        self._where.setText(wording.citation_and_age(detail))
        room = self._over.rect()
        unit = font_scale()
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
    """Connects the map with the hover card and the selection list.

    Signals:
        open_requested: path and line.
        lasso_drawn: the points in a loop are listed.
    """

    open_requested = Signal(str, object)
    lasso_drawn = Signal()

    def __init__(self, jobs: Jobs, canvas: InteractiveMap, parent: QObject) -> None:
        super().__init__(parent)
        self.card, self.list = HoverCard(canvas), SelectionList(jobs)
        self._canvas = canvas
        self._details = PointDetails(jobs, self)
        self._lookup_job = JobSlot(self, jobs)
        self._insight: IndexInsight | None = None
        self._prepared: Prepared | None = None
        self._isolated = -1
        self._hover_timer = QTimer(self, singleShot=True, interval=_HOVER_MS)
        self._hover_timer.timeout.connect(self._show_point)
        canvas.pointed.connect(self._point)
        canvas.moved.connect(self.card.hide)
        canvas.chosen.connect(self._open_point)
        canvas.toggled.connect(self._toggle)
        canvas.lasso_drawn.connect(self._list_loop)
        canvas.all_requested.connect(self._list_view)
        self.list.opened.connect(self._open_detail)
        self.list.shown.connect(self._show_chosen)
        self.list.closed.connect(self.close_list)

    @property
    def busy(self) -> bool:
        return self._lookup_job.busy or self.list.busy

    def show(self, insight: IndexInsight | None, prepared: Prepared, isolated: int) -> None:
        """Set the points; while a group is `isolated` (not -1), only its points are selected."""
        if self._prepared is None or self._prepared.scene is not prepared.scene:
            self._details.forget()
            self._canvas.show_listed(tuple(prepared.scene.find(self.list.chunks[:MAX_LISTED])))
        self._insight, self._prepared, self._isolated = insight, prepared, isolated

    def clear(self) -> None:
        self._insight = self._prepared = None
        self._lookup_job.cancel()
        self._hover_timer.stop()
        self._details.forget()
        self.close_list()

    # --- one point --------------------------------------------------------------------------------------------------

    @Slot(int, bool)
    def _point(self, point: int, by_key: bool) -> None:
        self.card.hide()
        self._details.drop()
        if point < 0:
            self._hover_timer.stop()
        elif by_key:
            self._show_point()
        else:
            self._hover_timer.start()

    def _read_detail(self, point: int, on_done: Callable[[MapPointDetail | None], None]) -> None:
        if self._insight is not None and self._prepared is not None and point >= 0:
            self._details.load(self._insight, int(self._prepared.scene.ids[point]), on_done)

    @Slot()
    def _show_point(self) -> None:
        self._read_detail(self._canvas.point, partial(self._show_card, self._canvas.point))

    def _show_card(self, point: int, detail: MapPointDetail | None) -> None:
        if detail is None or self._canvas.point != point or self._prepared is None or not self._canvas.isVisible():
            return
        self.card.show_detail(detail, self._canvas.pixel_of(point))
        if self._canvas.hasFocus() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._canvas, wording.spoken(detail)))

    @Slot(int)
    def _open_point(self, point: int) -> None:
        self._read_detail(point, self._open_detail)

    @Slot(object)
    def _open_detail(self, detail: MapPointDetail | None) -> None:
        if detail is not None:
            self.open_requested.emit(detail.path, detail.start_line)

    # --- the list ---------------------------------------------------------------------------------------------------

    @Slot(object)
    def _list_loop(self, loop: list[tuple[float, float]]) -> None:
        if self._prepared is not None:
            prepared, isolated, grid = self._prepared, self._isolated, self._prepared.scene.grid

            def work(token: CancelToken) -> tuple[int, ...]:
                return within_group(prepared, grid.inside(loop, token.checkpoint), isolated)

            self._lookup_job.read(work, self._list)

    @Slot()
    def _list_view(self) -> None:
        if self._prepared is not None:
            prepared, isolated, grid = self._prepared, self._isolated, self._prepared.scene.grid
            left, high = self._canvas.view.to_units(0, 0)
            right, low = self._canvas.view.to_units(self._canvas.width(), self._canvas.height())

            def work(_: CancelToken) -> tuple[int, ...]:
                return within_group(prepared, grid.within(left, low, right, high), isolated)

            self._lookup_job.read(work, self._list)

    @Slot(int)
    def _toggle(self, point: int) -> None:
        assert self._prepared is not None
        chunk = int(self._prepared.scene.ids[point])
        listed = self.list.chunks
        self._list(tuple(other for other in listed if other != chunk) if chunk in listed else (*listed, chunk))

    def _list(self, chunks: tuple[int, ...]) -> None:
        self.lasso_drawn.emit()
        if self._prepared is not None and self._insight is not None:
            self._canvas.show_listed(tuple(self._prepared.scene.find(chunks[:MAX_LISTED])))
            self.list.show_chunks(self._insight, chunks)

    @Slot(object)
    def _show_chosen(self, chunk: int) -> None:
        if self._prepared is not None:
            self._canvas.show_point(next(iter(self._prepared.scene.find([chunk])), -1))

    @Slot()
    def close_list(self) -> None:
        """Close the list and clear the selection; the focus moves to the map if it was in the list."""
        focus = self.list.focusWidget()
        had_focus = focus is not None and focus.hasFocus()
        self.list.clear()
        self._canvas.show_listed(())
        if had_focus:
            self._canvas.setFocus(Qt.FocusReason.OtherFocusReason)
