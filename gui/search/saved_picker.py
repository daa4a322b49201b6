"""Saved and recent searches below the search box: a key in the empty box opens them, typing chooses, Enter runs one."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QListWidgetItem, QMenu

from engine import SavedSearch, marked, tr
from gui.search.saved_list import Kept, SavedList, name_of
from gui.search.saved_query import limits, title
from gui.search.saved_store import SavedSearchStore
from gui.widgets.announcer import announce
from gui.widgets.query_box import QueryBox

SAVED, RECENT = marked("Saved"), marked("Recent")
_PAGE = 8
_STEPS = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: _PAGE,
    Qt.Key.Key_PageUp: -_PAGE,
}


class SearchPicker(QObject):
    """While it is open, typing in the box filters the saved searches instead of searching."""

    opened = Signal()
    closed = Signal()
    """Nothing was chosen: the text of the box is a query again."""
    chosen = Signal(object)
    """SavedSearch or RecentSearch."""
    unwanted = Signal(object)
    """The same, to be forgotten."""
    rename_wanted = Signal(object)
    """SavedSearch."""

    def __init__(self, box: QueryBox, shelf: SavedSearchStore, has_answer: Callable[[], bool]) -> None:
        """`has_answer`: whether an empty box has results, so that Down moves to them."""
        super().__init__(box)
        self._has_answer = has_answer
        self._box = box
        self._saved = shelf
        self._filter = self._before = ""
        self.list = SavedList(box)
        self.list.itemClicked.connect(self._clicked)
        self.list.menu_wanted.connect(self._show_menu)
        box.edit.textEdited.connect(self._typed)
        box.edit.installEventFilter(self)
        shelf.changed.connect(self._refresh)

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
        self._show()
        self.opened.emit()

    @Slot()
    def close(self) -> None:
        if self.is_open:
            self.list.hide()
            self.closed.emit()

    def _show(self) -> None:
        words = self._filter.casefold().split()

        def fits(search: Kept) -> bool:
            text = f"{name_of(search)} {title(search.question)} {limits(search.question)}".casefold()
            return all(word in text for word in words)

        groups = (
            (tr(SAVED), [search for search in self._saved.saved if fits(search)]),
            (tr(RECENT), [search for search in self._saved.recent if fits(search)]),
        )
        if any(searches for _, searches in groups):
            self.list.show_below(self._box, groups)
            self._tell()
        else:
            self.close()

    def _tell(self) -> None:
        """Announced, since the keyboard focus stays in the box."""
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

    def _choose(self, search: Kept | None) -> None:
        if search is not None:
            self._box.show_text(self._before)  # the text typed since was not a query
            self.list.hide()
            self.chosen.emit(search)

    @Slot(QListWidgetItem)
    def _clicked(self, item: QListWidgetItem) -> None:
        self._choose(self.list.at(item))

    @Slot(object, QPoint)
    def _show_menu(self, search: Kept, at: QPoint) -> None:
        menu = QMenu(self.list)
        menu.addAction(tr("Search")).triggered.connect(lambda: self._choose(search))
        if isinstance(search, SavedSearch):
            menu.addAction(tr("Rename…")).triggered.connect(lambda: self.rename_wanted.emit(search))
        menu.addAction(tr("Remove")).triggered.connect(lambda: self.unwanted.emit(search))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)

    # --- keys of the box --------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent) and event.lostFocus():
            if event.reason() != Qt.FocusReason.PopupFocusReason:  # its own menu
                self.close()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return False

    def _deletes_text(self) -> bool:
        """Whether the delete key would delete typed text after the cursor."""
        edit = self._box.edit
        return bool(self._filter) and (edit.hasSelectedText() or edit.cursorPosition() < len(edit.text()))

    def _key(self, event: QKeyEvent) -> bool:
        """Whether the key was for the list."""
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
            self._tell()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.list.current())
        elif key == Qt.Key.Key_Escape:
            self.close()
        elif key == Qt.Key.Key_Delete and not self._deletes_text():
            self.unwanted.emit(self.list.current())
        elif key == Qt.Key.Key_F2:
            current = self.list.current()
            if isinstance(current, SavedSearch):
                self.rename_wanted.emit(current)
        else:
            return False
        return True
