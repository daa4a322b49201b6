"""The list of saved and recent searches below the search box.

A key in the empty box opens it, typing filters it, Enter runs the selected search.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QMenu, QStyleOptionViewItem, QWidget

from engine import RecentSearch, SavedSearch, marked, tr
from gui.search.saved_search_cache import SavedSearchStore, limits, title
from gui.style.stylesheet import font_at, scaled
from gui.style.theme import Tokens
from gui.text.formatting import exact
from gui.text.plain_text import set_tip
from gui.text.right_to_left import draw_pixmap
from gui.widgets.accessibility import announce
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import AT_RIGHT, write_line
from gui.widgets.query_box import QueryBox
from gui.widgets.rows import Index, RowDelegate, paint_row_background

# --- The list of saved and recent searches that opens below the search box -------------------------------------------

StoredSearch = SavedSearch | RecentSearch
_SEARCH_ROLE = Qt.ItemDataRole.UserRole
_ROWS = 12
"""Rows shown if there is room."""
_SIDE, _GAP, _ICON = 14, 10, 14
_MAX_LIMITS = 0.45
"""Largest share of the row's width for the filters of a query."""
_MARGIN = 8


def name_of(search: StoredSearch) -> str:
    return search.name if isinstance(search, SavedSearch) else title(search.query)


class SavedList(QListWidget):
    """The list of saved and recent searches, drawn over the window's content; the box keeps the keyboard focus."""

    menu_requested = Signal(object, QPoint)
    """The saved search, and the global position."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("offers")
        self.setAccessibleName(tr("Saved and recent searches"))
        self.setAccessibleDescription(tr("Enter runs a search, Delete removes it, typing filters the list."))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_Rows(self))
        self.hide()

    def show_below(self, box: QWidget, groups: Sequence[tuple[str, Sequence[StoredSearch]]]) -> None:
        """Show groups of searches under their headings, as wide as `box`; empty groups are left out."""
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
                item.setData(_SEARCH_ROLE, search)
                narrowed = limits(search.query)
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
        height = sum(self.sizeHintForRow(row) for row in range(min(self.count(), _ROWS))) + 2 * _MARGIN
        self.setGeometry(corner.x(), corner.y(), box.width(), min(height, window.height() - corner.y() - _MARGIN))

    @property
    def searches(self) -> list[StoredSearch]:
        """The searches in the list, from top to bottom."""
        searches = (self.item(row).data(_SEARCH_ROLE) for row in range(self.count()))
        return [search for search in searches if search is not None]

    def current(self) -> StoredSearch | None:
        item = self.currentItem()
        return None if item is None else self.at(item)

    def at(self, item: QListWidgetItem) -> StoredSearch | None:
        search: StoredSearch | None = item.data(_SEARCH_ROLE)
        return search

    def go_to(self, search: StoredSearch | None) -> None:
        """Select this search; if it is None or missing, the first one of the last group."""
        rows = [row for row in range(self.count()) if self.item(row).data(_SEARCH_ROLE) is not None]
        heading = max((row for row in range(self.count()) if row not in rows), default=-1)
        matching = [row for row in rows if search is not None and self.item(row).data(_SEARCH_ROLE) == search]
        self.setCurrentRow((matching or [row for row in rows if row > heading] or [-1])[0])
        if self.currentRow() < _ROWS:
            self.scrollToTop()

    def step(self, by: int) -> None:
        """Move the selection down by `by` rows, up if negative; only single steps wrap around at the ends."""
        rows = [row for row in range(self.count()) if self.item(row).data(_SEARCH_ROLE) is not None]
        if not rows:
            return
        index = rows.index(self.currentRow()) + by if self.currentRow() in rows else 0
        index = index % len(rows) if abs(by) == 1 else max(0, min(index, len(rows) - 1))
        self.setCurrentRow(rows[index])
        if index == 0:
            self.scrollToTop()  # to show its heading too

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        item = self.itemAt(event.pos())
        if item is not None and item.data(_SEARCH_ROLE) is not None:
            self.setCurrentItem(item)
            self.menu_requested.emit(item.data(_SEARCH_ROLE), event.globalPos())


def _tip(search: StoredSearch) -> str:
    if isinstance(search, RecentSearch):
        return tr("{query}\nSearched {when}", query=title(search.query), when=exact(search.searched))
    return "\n".join(part for part in (title(search.query), limits(search.query)) if part)


class _Rows(RowDelegate):
    """Paints a row: a heading, or a search with an icon, its name, and its filters at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        is_search = index.data(_SEARCH_ROLE) is not None
        return QSize(
            0, QFontMetrics(font_at(13)).height() + 12 if is_search else QFontMetrics(font_at(12)).height() + 10
        )

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, colours: Tokens) -> None:
        rect = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        search: StoredSearch | None = index.data(_SEARCH_ROLE)
        if search is None:
            heading = index.data(Qt.ItemDataRole.DisplayRole)
            write_line(painter, rect, heading, (font_at(12, QFont.Weight.DemiBold), colours.muted))
        else:
            paint_row_background(painter, option, colours)
            self._paint_search(painter, rect, search, colours)

    @staticmethod
    def _paint_search(painter: QPainter, rect: QRect, search: StoredSearch, colours: Tokens) -> None:
        side = scaled(_ICON)
        name = "star-full" if isinstance(search, SavedSearch) else "clock"
        pixmap = icon_pixmap(name, colours.muted, side, painter.device().devicePixelRatioF())
        draw_pixmap(painter, rect.left(), rect.top() + (rect.height() - side) // 2, pixmap)
        rect = rect.adjusted(side + _GAP, 0, 0, 0)
        at_end = rect.adjusted(rect.width() - int(rect.width() * _MAX_LIMITS), 0, 0, 0)
        if narrowed := write_line(painter, at_end, limits(search.query), (font_at(12), colours.muted), at=AT_RIGHT):
            rect = rect.adjusted(0, 0, -narrowed - _GAP, 0)
        write_line(painter, rect, name_of(search), (font_at(13), colours.text))


# ---------------------------------------------------------------------------------------------------------------------

SAVED, RECENT = marked("Saved"), marked("Recent searches")
_PAGE = 8
_STEPS = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: _PAGE,
    Qt.Key.Key_PageUp: -_PAGE,
}


class SearchPicker(QObject):
    """Opens the list of saved and recent searches; while it is open, typing filters it instead of searching."""

    opened = Signal()
    closed = Signal()
    """The list was closed without a choice: the text of the box is a query again."""
    chosen = Signal(object)
    """Run this SavedSearch or RecentSearch."""
    remove_requested = Signal(object)
    """Delete this SavedSearch or RecentSearch."""
    rename_requested = Signal(object)
    """Ask for a new name of this SavedSearch."""

    def __init__(self, box: QueryBox, store: SavedSearchStore, has_answer: Callable[[], bool]) -> None:
        """`has_answer`: returns whether results are shown for an empty box, so that Down moves to them."""
        super().__init__(box)
        self._has_answer = has_answer
        self._box = box
        self._saved = store
        self._filter = self._before = ""
        self.list = SavedList(box)
        self.list.itemClicked.connect(self._clicked)
        self.list.menu_requested.connect(self._show_menu)
        box.edit.textEdited.connect(self._typed)
        box.edit.installEventFilter(self)
        store.changed.connect(self._refresh)

    @property
    def is_open(self) -> bool:
        return not self.list.isHidden()

    @Slot()
    def open(self) -> None:
        """Show all saved searches; does nothing if there are none."""
        if not (self._saved.saved or self._saved.recent):
            return
        self._filter, self._before = "", self._box.edit.text()
        self._box.focus()
        self._box.edit.selectAll()  # typing replaces it
        self.list.clear()  # else the previously selected row would be selected, perhaps far down
        self._show()
        self.opened.emit()

    @Slot()
    def close(self) -> None:
        if self.is_open:
            self.list.hide()
            self.closed.emit()

    def _show(self) -> None:
        words = self._filter.casefold().split()

        def matches(search: StoredSearch) -> bool:
            text = f"{name_of(search)} {title(search.query)} {limits(search.query)}".casefold()
            return all(word in text for word in words)

        groups = (
            (tr(SAVED), [search for search in self._saved.saved if matches(search)]),
            (tr(RECENT), [search for search in self._saved.recent if matches(search)]),
        )
        if any(searches for _, searches in groups):
            self.list.show_below(self._box, groups)
            self._announce()
        else:
            self.close()

    def _announce(self) -> None:
        """Announce the selected search to screen readers, since the keyboard focus stays in the box."""
        item = self.list.currentItem()
        if item is not None:
            announce(self.list, item.data(Qt.ItemDataRole.AccessibleTextRole))

    @Slot()
    def _refresh(self) -> None:
        if self.is_open:
            self._show()

    @Slot(str)
    def _typed(self, text: str) -> None:
        if self.is_open:
            self._filter = text
            self._show()

    def _choose(self, search: StoredSearch | None) -> None:
        if search is not None:
            self._box.show_text(self._before)  # the text typed since then filtered the list, and was not a query
            self.list.hide()
            self.chosen.emit(search)

    @Slot(QListWidgetItem)
    def _clicked(self, item: QListWidgetItem) -> None:
        self._choose(self.list.at(item))

    @Slot(object, QPoint)
    def _show_menu(self, search: StoredSearch, at: QPoint) -> None:
        menu = QMenu(self.list)
        menu.addAction(tr("Search")).triggered.connect(lambda: self._choose(search))
        if isinstance(search, SavedSearch):
            menu.addAction(tr("Rename…")).triggered.connect(lambda: self.rename_requested.emit(search))
        menu.addAction(tr("Remove")).triggered.connect(lambda: self.remove_requested.emit(search))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)

    # --- keys of the box --------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent) and event.lostFocus():
            if event.reason() != Qt.FocusReason.PopupFocusReason:  # its own menu takes the focus
                self.close()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return False

    def _deletes_text(self) -> bool:
        """Whether the delete key would delete typed text after the cursor."""
        edit = self._box.edit
        return bool(self._filter) and (edit.hasSelectedText() or edit.cursorPosition() < len(edit.text()))

    def _key(self, event: QKeyEvent) -> bool:
        """Handle a key press for the list; returns whether it was used."""
        key = event.key()
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if not self.is_open:
            opens = key == Qt.Key.Key_Up or (key == Qt.Key.Key_Down and not self._has_answer())
            if opens and not self._box.edit.text():
                self.open()
            return self.is_open
        if key in _STEPS:
            self.list.step(_STEPS[Qt.Key(key)])
            self._announce()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.list.current())
        elif key == Qt.Key.Key_Escape:
            self.close()
        elif key == Qt.Key.Key_Delete and not self._deletes_text():
            self.remove_requested.emit(self.list.current())
        elif key == Qt.Key.Key_F2:
            current = self.list.current()
            if isinstance(current, SavedSearch):
                self.rename_requested.emit(current)
        else:
            return False
        return True
