"""The command palette: opens and closes it, lists the most used entries first, and restores the focus."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import shiboken6
from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QFocusEvent, QFont, QFontMetrics, QKeyEvent, QPainter, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QLineEdit,
    QListView,
    QStyleOptionViewItem,
    QWidget,
)

from engine import tr
from gui.commands.commands import PALETTE
from gui.commands.keymap import keymap
from gui.controllers.folders import FolderController
from gui.core.capabilities import refuse
from gui.core.window_state import WindowState
from gui.style.stylesheet import font_at, scaled
from gui.style.theme import Tokens
from gui.text.plain_text import as_tip, utf16_ranges
from gui.text.right_to_left import upright
from gui.widgets.accessibility import announce
from gui.widgets.labels import AT_RIGHT, elide, label, write_line
from gui.widgets.layouts import column_of
from gui.widgets.rows import RowDelegate, paint_row_background
from gui.window.palette_entries import Entry, Found, choose, commands, settings
from gui.window.window_menu import SearchMenu

# --- The palette: a field above a list, in the middle of the window's upper edge -------------------------------------

Index = QModelIndex | QPersistentModelIndex
FoundRole = Qt.ItemDataRole.UserRole
_ROOT = QModelIndex()
_ROWS_SIDE, _GAP, _PAD = 14, 14, 7
_MAX_KEYS = 0.4
"""Maximum share of a row's width that the keys may take."""


def spoken(match: Found) -> str:
    """Return all texts of a row for screen readers."""
    entry = match.entry
    return ", ".join(filter(None, (entry.label, entry.reason or entry.where, entry.keys)))


class PaletteModel(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.found: list[Found] = []

    def show_found(self, matches: Sequence[Found]) -> None:
        self.beginResetModel()
        self.found = list(matches)
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.found)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        found = self.found[index.row()]
        match role:
            case _ if role == FoundRole:
                return found
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return spoken(found)
            case Qt.ItemDataRole.ToolTipRole:
                return as_tip(spoken(found))
        return None


class PaletteDelegate(RowDelegate):
    """Paints an entry of the palette on one line."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, QFontMetrics(font_at(13)).height() + 2 * _PAD)

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, colours: Tokens) -> None:
        match: Found = index.data(FoundRole)
        paint_row_background(painter, option, colours)
        rect, meta = option.rect.adjusted(_ROWS_SIDE, 0, -_ROWS_SIDE, 0), font_at(12)
        at_end = rect.adjusted(rect.width() - int(rect.width() * _MAX_KEYS), 0, 0, 0)
        if keys := write_line(painter, at_end, match.entry.keys, (meta, colours.muted), at=AT_RIGHT):
            rect = rect.adjusted(0, 0, -keys - _GAP, 0)
        rest = rect.adjusted(self._paint_words(painter, rect, match, colours) + _GAP, 0, 0, 0)
        if rest.width() > 0:
            write_line(painter, rest, match.entry.reason or match.entry.where, (meta, colours.muted))

    @staticmethod
    def _paint_words(painter: QPainter, rect: QRect, match: Found, colours: Tokens) -> int:
        """Paint the label of an entry, with the typed words bold; returns its width."""
        bold = font_at(13, QFont.Weight.Bold)
        words, marks = match.entry.label, match.word_match.marks
        elided = elide(QFontMetrics(bold if marks else font_at(13)), words, Qt.TextElideMode.ElideRight, rect.width())
        plain = colours.muted if match.entry.reason else colours.text
        layout = QTextLayout(elided, font_at(13))
        match_format = QTextCharFormat()
        match_format.setFontWeight(QFont.Weight.Bold)
        match_format.setForeground(plain if match.entry.reason else colours.accent)
        shown = [(start, min(end, len(elided))) for start, end in marks if start < len(elided)]
        layout.setFormats([_format(start, end, match_format) for start, end in utf16_ranges(elided, shown)])
        layout.beginLayout()
        line = layout.createLine()
        layout.endLayout()
        width = line.naturalTextWidth()
        painter.setPen(plain)
        with upright(painter, QRectF(rect.x(), rect.y(), width, rect.height())) as area:
            layout.draw(painter, area.topLeft() + QPointF(0, (rect.height() - line.height()) / 2))
        return round(width)


def _format(start: int, end: int, match_format: QTextCharFormat) -> QTextLayout.FormatRange:
    span = QTextLayout.FormatRange()
    span.start, span.length, span.format = start, end - start, match_format
    return span


_WIDTH, _TOP, _SIDE = 620, 56, 12
_ROWS = 12
_PAGE = 8
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _PAGE, Qt.Key.Key_PageUp: -_PAGE}


class PaletteBox(QFrame):
    """The command palette: typing filters, Up and Down move, Enter runs. It closes when it loses the focus.

    Signals:
        entry_chosen: Entry to run.
        refused: Entry that can't be run now.
        left: the palette was closed by Escape or Tab; restore the previous focus.
    """

    entry_chosen = Signal(object)
    refused = Signal(object)
    left = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("palette")
        self.setProperty("role", "card")
        self._entries: Sequence[Entry] = ()
        self._recent: Sequence[str] = ()
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(tr("Type a command or a setting"))
        self.edit.setAccessibleName(tr("Command palette"))
        self.edit.textChanged.connect(self._filter)
        self.edit.installEventFilter(self)
        self.model = PaletteModel(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(PaletteDelegate(self.list))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the field keeps the focus
        self.list.setAccessibleName(tr("Commands"))
        self.list.clicked.connect(self._choose)
        self._nothing = label(tr("No command or setting matches."), "muted")
        self._nothing.setContentsMargins(6, 2, 6, 6)
        column_of(self.edit, self.list, self._nothing, spacing=6, margins=(8, 8, 8, 8), parent=self)
        window.installEventFilter(self)
        self.hide()

    @property
    def is_open(self) -> bool:
        return not self.isHidden()

    def open(self, entries: Sequence[Entry], recent: Sequence[str]) -> None:
        """Show these entries, `recent` ones first, and focus the field."""
        self._entries, self._recent = entries, recent
        self.edit.clear()
        self._filter("")
        self.show()
        self.raise_()
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_quietly(self) -> None:
        """Close the palette without moving the focus."""
        self._entries = ()
        self.hide()

    @Slot(str)
    def _filter(self, text: str) -> None:
        matches = choose(self._entries, text, self._recent)
        self.model.show_found(matches)
        self.list.setVisible(bool(matches))
        self._nothing.setVisible(not matches)
        if matches:
            self.list.setCurrentIndex(self.model.index(0, 0))
        self._place()
        self._announce()

    def _announce(self) -> None:
        """Announce the selected entry to screen readers, since the focus stays in the field."""
        row = self.list.currentIndex().row()
        announce(self.edit, spoken(self.model.found[row]) if row >= 0 else self._nothing.text())

    def _move_selection(self, by: int) -> None:
        count = self.model.rowCount()
        if count:
            row = self.list.currentIndex().row() + by
            row = row % count if abs(by) == 1 else max(0, min(row, count - 1))
            self.list.setCurrentIndex(self.model.index(row, 0))
            self._announce()

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        entry = self.model.found[index.row()].entry
        (self.refused if entry.reason else self.entry_chosen).emit(entry)

    def _place(self) -> None:
        window = self._window
        width = min(scaled(_WIDTH), window.width() - 2 * _SIDE)
        row = self.list.sizeHintForRow(0) if self.model.rowCount() else 0
        available = window.height() - _TOP - _SIDE - self.edit.sizeHint().height() - 30
        rows = min(_ROWS, self.model.rowCount(), available // row if row else 0)
        self.list.setFixedHeight(row * max(1, rows))
        self.setFixedWidth(width)
        self.adjustSize()
        self.move((window.width() - width) // 2, _TOP)

    # --- events -----------------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is not self.edit:
            if event.type() == QEvent.Type.Resize and self.is_open:
                self._place()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        elif isinstance(event, QFocusEvent) and event.lostFocus():
            passing = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
            if event.reason() not in passing:
                self.close_quietly()
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        """Handle a key for the list of entries; returns whether it was used."""
        key = Qt.Key(event.key())
        if key in _STEPS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self._move_selection(_STEPS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.list.currentIndex())
        elif key in (Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            self.left.emit()
        else:
            return False
        return True


# ---------------------------------------------------------------------------------------------------------------------

_MAX_RECENT = 60


class PaletteController(QObject):
    """Opens the palette over `window`, and restores the focus before an entry is run."""

    def __init__(
        self,
        window: QWidget,
        searches: SearchMenu,
        folders: FolderController,
        state: WindowState,
        show_setting: Callable[[str], object],
    ) -> None:
        """`show_setting`: opens the setting with a key."""
        super().__init__(window)
        self._window = window
        self._searches = searches
        self._show_setting = show_setting
        self._folders = folders
        self._state = state
        self._before: QWidget | None = None
        """The widget that had the focus before the palette was opened."""
        self.box = PaletteBox(window)
        self.box.entry_chosen.connect(self._run)
        self.box.refused.connect(self._refuse)
        self.box.left.connect(self._leave)

    @Slot()
    def open(self) -> None:
        """Open the palette, or close it if it is open."""
        if self.box.is_open:
            self._leave()
            return
        self._before = QApplication.focusWidget()
        self.box.open(self._entries(), self._state.recent_commands)

    def _entries(self) -> list[Entry]:
        listed = commands(keymap(), self._window, self._before, PALETTE)
        why_not = next((entry.reason for entry in listed if entry.key == "settings.show"), "")
        listed += settings(self._show_setting, why_not)
        for search in self._searches.saved:
            run = partial(self._searches.run, search)
            listed.append(Entry(f"search:{search.name}", search.name, tr("Saved search"), "", "", run))
        for name in self._state.recent[1:]:
            run = partial(self._folders.open, Path(name))
            listed.append(
                Entry(f"folder:{name}", tr("Open {folder}", folder=Path(name).name or name), name, "", "", run)
            )
        return listed

    @Slot()
    def _leave(self) -> None:
        """Restore the focus that the window had before the palette was opened."""
        self.box.close_quietly()
        before, self._before = self._before, None
        if before is not None and shiboken6.isValid(before) and before.isVisible():
            before.setFocus()
        else:
            self._window.setFocus()

    @Slot(object)
    def _run(self, entry: Entry) -> None:
        self._leave()
        self._state.recent_commands = [entry.key, *self._state.recent_commands][:_MAX_RECENT]
        entry.run()

    @Slot(object)
    def _refuse(self, entry: Entry) -> None:
        refuse(self.box.edit, entry.reason)
