"""The list of saved and recent searches that opens below the search box."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine import RecentSearch, SavedSearch, tr
from gui.search.saved_query import limits, title
from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.widgets.formatting import exact
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import elide
from gui.widgets.mirrored import mirror, put, write
from gui.widgets.plain_text import set_tip
from gui.widgets.row_list import AT_LEFT, AT_RIGHT, paint_ground

Kept = SavedSearch | RecentSearch
_KEPT = Qt.ItemDataRole.UserRole
_ROWS = 12
"""Rows shown if there is room."""
_SIDE, _GAP, _ICON = 14, 10, 14
_MOST_LIMITS = 0.45
"""Largest share of the row for the limits of a query."""
_MARGIN = 8


def name_of(search: Kept) -> str:
    return search.name if isinstance(search, SavedSearch) else title(search.question)


class SavedList(QListWidget):
    """Lies over the window's content; the keys stay with the box."""

    menu_wanted = Signal(object, QPoint)
    """The saved search, and the global position."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("offers")
        self.setAccessibleName(tr("Saved and recent searches"))
        self.setAccessibleDescription(tr("Enter runs one, Delete removes it, typing leaves out the others."))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_Rows(self))
        self.hide()

    def show_below(self, box: QWidget, groups: Sequence[tuple[str, Sequence[Kept]]]) -> None:
        """The groups under their headings, as wide as `box`; empty ones are left out."""
        window = box.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        before = self.current()
        self.clear()
        for heading, searches in groups:
            if searches:
                item = QListWidgetItem(heading, self)
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            for search in searches:
                item = QListWidgetItem(self)
                item.setData(_KEPT, search)
                narrowed = limits(search.question)
                item.setData(
                    Qt.ItemDataRole.AccessibleTextRole, ", ".join(part for part in (name_of(search), narrowed) if part)
                )
                set_tip(item, _tip(search))
        self._place(box, window)
        self.go_to(before)
        self.raise_()
        self.show()

    def _place(self, box: QWidget, window: QWidget) -> None:
        corner = box.mapTo(window, QPoint(0, box.height() + 4))
        wanted = sum(self.sizeHintForRow(row) for row in range(min(self.count(), _ROWS))) + 2 * _MARGIN
        self.setGeometry(corner.x(), corner.y(), box.width(), min(wanted, window.height() - corner.y() - _MARGIN))

    @property
    def searches(self) -> list[Kept]:
        """What is on show."""
        found = (self.item(row).data(_KEPT) for row in range(self.count()))
        return [search for search in found if search is not None]

    def current(self) -> Kept | None:
        item = self.currentItem()
        return None if item is None else self.at(item)

    def at(self, item: QListWidgetItem) -> Kept | None:
        found: Kept | None = item.data(_KEPT)
        return found

    def go_to(self, search: Kept | None) -> None:
        """Make it current; else the first of the last group."""
        rows = [row for row in range(self.count()) if self.item(row).data(_KEPT) is not None]
        heading = max((row for row in range(self.count()) if row not in rows), default=-1)
        wanted = [row for row in rows if search is not None and self.item(row).data(_KEPT) == search]
        self.setCurrentRow((wanted or [row for row in rows if row > heading] or [-1])[0])
        if self.currentRow() < _ROWS:
            self.scrollToTop()

    def step(self, by: int) -> None:
        """Move by so many rows; only single steps wrap around at the ends."""
        rows = [row for row in range(self.count()) if self.item(row).data(_KEPT) is not None]
        if not rows:
            return
        place = rows.index(self.currentRow()) + by if self.currentRow() in rows else 0
        place = place % len(rows) if abs(by) == 1 else max(0, min(place, len(rows) - 1))
        self.setCurrentRow(rows[place])
        if place == 0:
            self.scrollToTop()  # with its heading

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        item = self.itemAt(event.pos())
        if item is not None and item.data(_KEPT) is not None:
            self.setCurrentItem(item)
            self.menu_wanted.emit(item.data(_KEPT), event.globalPos())


def _tip(search: Kept) -> str:
    if isinstance(search, RecentSearch):
        return tr("{question}\nAsked {when}", question=title(search.question), when=exact(search.asked))
    return "\n".join(part for part in (title(search.question), limits(search.question)) if part)


class _Rows(QStyledItemDelegate):
    """A search: what kind it is, its name, and at the right what narrows it. A heading: its words."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        kept = index.data(_KEPT) is not None
        return QSize(0, QFontMetrics(font_at(13)).height() + 12 if kept else QFontMetrics(font_at(12)).height() + 10)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours = tokens(option.palette)
        painter.save()
        mirror(painter, option.rect, option.direction)
        rect = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        search: Kept | None = index.data(_KEPT)
        if search is None:
            painter.setFont(font_at(12, QFont.Weight.DemiBold))
            painter.setPen(colours.muted)
            write(painter, rect, AT_LEFT, index.data(Qt.ItemDataRole.DisplayRole))
        else:
            paint_ground(painter, option, colours)
            self._paint_search(painter, rect, search, option)
        painter.restore()

    @staticmethod
    def _paint_search(painter: QPainter, rect: QRect, search: Kept, option: QStyleOptionViewItem) -> None:
        colours = tokens(option.palette)
        side = font_at(_ICON).pixelSize()
        name = "star-full" if isinstance(search, SavedSearch) else "clock"
        pixmap = icon_pixmap(name, colours.muted, side, painter.device().devicePixelRatioF())
        put(painter, rect.left(), rect.top() + (rect.height() - side) // 2, pixmap)
        rect = rect.adjusted(side + _GAP, 0, 0, 0)
        painter.setFont(font_at(12))
        painter.setPen(colours.muted)
        metrics = painter.fontMetrics()
        end = Qt.TextElideMode.ElideRight
        narrowed = elide(metrics, limits(search.question), end, int(rect.width() * _MOST_LIMITS))
        write(painter, rect, AT_RIGHT, narrowed)
        if narrowed:
            rect = rect.adjusted(0, 0, -metrics.horizontalAdvance(narrowed) - _GAP, 0)
        painter.setFont(font_at(13))
        painter.setPen(colours.text)
        write(painter, rect, AT_LEFT, elide(painter.fontMetrics(), name_of(search), end, rect.width()))
