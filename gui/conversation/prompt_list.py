"""Lists that open over a session to jump to a message: the user's messages, and the files that tools used."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QLineEdit, QListView, QWidget

from engine import FileUse, marked, tr
from gui.conversation.display_entries import Conversation, clock, day_text
from gui.style.stylesheet import font_scale
from gui.text.excerpt import opening_words
from gui.text.formatting import files_text
from gui.text.plain_text import as_tip
from gui.text.session_texts import message_count
from gui.widgets.accessibility import insert_after
from gui.widgets.labels import label
from gui.widgets.layouts import column_of

_WIDTH, _HEIGHT = 460, 420
_MARGIN = 16
_KINDS = {
    "created": marked("created"),
    "edited": marked("edited"),
    "deleted": marked("deleted"),
    "read": marked("read"),
}
_LIST_KEYS = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


class _Targets(QAbstractListModel):
    """A list model whose rows each belong to an entry of the conversation; texts are made when a row is shown."""

    def __init__(self, entries: Sequence[int], parent: QObject) -> None:
        super().__init__(parent)
        self.entries = entries

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_tip(self.tip(index.row())) or None
        return self.text(index.row()) if role == Qt.ItemDataRole.DisplayRole else None

    def text(self, row: int) -> str:
        raise NotImplementedError

    def tip(self, row: int) -> str:
        raise NotImplementedError


class _Prompts(_Targets):
    """A list model of the user's messages, each with its time and first words."""

    def __init__(self, conversation: Conversation, parent: QObject) -> None:
        super().__init__(conversation.prompts, parent)
        self._conversation = conversation

    def text(self, row: int) -> str:
        entry = self._conversation.entries[self.entries[row]]
        words = opening_words(self._conversation.message(entry).text)
        return f"{clock(entry.time)}   {words}" if entry.time is not None else words

    def tip(self, row: int) -> str:
        entry = self._conversation.entries[self.entries[row]]
        return day_text(entry.day) if entry.day else ""


class _Files(_Targets):
    """A list model of the files of a session's tool calls, each with the kinds of use.

    A row jumps to the last change of its file, or to the first use if it was only read.
    """

    def __init__(self, conversation: Conversation, uses: Sequence[FileUse], parent: QObject) -> None:
        files: dict[str, list[FileUse]] = {}
        for use in uses:
            files.setdefault(use.path, []).append(use)
        self._files = list(files.values())
        selected = ([use for use in own if use.kind != "read"][-1:] or own[:1] for own in self._files)
        super().__init__([conversation.call_at_line(use.line) for (use,) in selected], parent)

    def text(self, row: int) -> str:
        own = self._files[row]
        kinds = {use.kind for use in own}
        return f"{own[0].path}   {', '.join(tr(words) for kind, words in _KINDS.items() if kind in kinds)}"

    def tip(self, row: int) -> str:
        return self._files[row][0].path


class JumpList(QFrame):
    """A popup list over the conversation: typing filters it, Enter jumps to a message, Esc closes it.

    Signals: chosen: jump to this message (number of its entry).
    """

    chosen = Signal(int)

    def __init__(self, view: QAbstractScrollArea, find: str, name: str, count: Callable[[int], str]) -> None:
        """`find`: placeholder of the filter box. `name`: accessible name. `count`: returns words for a number of
        rows."""
        super().__init__(view)
        self.setProperty("role", "card")
        self._over = view
        self._count_text = count
        self._box = QLineEdit()
        self._box.setPlaceholderText(find)
        self._box.setAccessibleName(find)
        self._box.installEventFilter(self)
        self._list = QListView()
        self._list.setUniformItemSizes(True)
        self._list.setSpacing(2)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setAccessibleName(name)
        self._list.clicked.connect(self._choose)
        self._list.activated.connect(self._choose)
        self._count = label(role="meta")
        self._found = QSortFilterProxyModel(self)
        self._found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._list.setModel(self._found)
        self._box.textChanged.connect(self._narrow)
        column_of(self._box, self._list, self._count, spacing=6, margins=(10, 10, 10, 8), parent=self)
        insert_after(view, [self._box])
        self.hide()
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def show_targets(self, targets: _Targets, current: int | None = None) -> None:
        """Open the list with these rows; the last one at or before the entry `current` is selected."""
        self.forget()
        self._found.setSourceModel(targets)
        self._box.clear()
        self._narrow("")
        before = [row for row, entry in enumerate(targets.entries) if current is not None and entry <= current]
        if targets.entries:
            index = self._found.index(before[-1] if before else 0, 0)
            self._list.setCurrentIndex(index)
            self._list.scrollTo(index, QListView.ScrollHint.PositionAtCenter)
        self._place()
        self.show()
        self.raise_()
        self._box.setFocus(Qt.FocusReason.PopupFocusReason)

    def forget(self) -> None:
        """Close the list, since its conversation is about to be removed."""
        self.hide()
        old = self._found.sourceModel()
        self._found.setSourceModel(None)  # type: ignore[arg-type]
        if old is not None:
            old.deleteLater()

    def _place(self) -> None:
        """Move to the upper corner of the parent at the end of text lines (the right one in left-to-right layouts)."""
        over, scale = self._over, font_scale()
        available = over.viewport().width()  # next to the scroll bar, which stays visible
        width = min(round(_WIDTH * scale), available - 2 * _MARGIN)
        height = min(round(_HEIGHT * scale), max(160, over.height() - 2 * _MARGIN), self._height_of_all_rows())
        rect = QRect(available - width - _MARGIN, _MARGIN // 2, width, height)
        if self.isRightToLeft():
            rect.moveLeft(over.viewport().x() + _MARGIN)
        self.setGeometry(rect)

    def _height_of_all_rows(self) -> int:
        gap = self._list.spacing()
        row = self._list.sizeHintForRow(0) + 2 * gap
        around = self.sizeHint().height() - self._list.sizeHint().height()
        return around + row * max(1, self._found.rowCount()) + 2 * gap

    def _narrow(self, words: str) -> None:
        self._found.setFilterFixedString(words)
        self._count.setText(self._count_text(self._found.rowCount()))
        if not self._list.currentIndex().isValid() and self._found.rowCount():
            self._list.setCurrentIndex(self._found.index(0, 0))

    def _choose(self, index: QModelIndex) -> None:
        targets = self._found.sourceModel()
        if isinstance(targets, _Targets) and index.isValid():
            entry = targets.entries[self._found.mapToSource(index).row()]
            self.close_list()
            self.chosen.emit(entry)

    def close_list(self) -> None:
        """Close the list and return the focus to the conversation."""
        self._over.setFocus()
        self.hide()

    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        """Close the list when the focus moves out of it."""
        if new is not None and new is not self and not self.isAncestorOf(new):
            self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the arrow keys, Enter and Esc for the list while the filter box has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose(self._list.currentIndex())
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.close_list()
                return True
            if event.key() in _LIST_KEYS:
                self._list.event(event)
                return True
        return super().eventFilter(watched, event)


class PromptList(JumpList):
    """A popup list of the user's messages."""

    def __init__(self, over: QAbstractScrollArea) -> None:
        super().__init__(over, tr("Find among your messages"), tr("Your messages"), message_count)

    def open(self, conversation: Conversation, current: int | None) -> None:
        """Open the list for a conversation, with the message selected that the entry `current` belongs to."""
        self.show_targets(_Prompts(conversation, self), current)


class FileList(JumpList):
    """A popup list of the files that the session's tools read or changed."""

    def __init__(self, over: QAbstractScrollArea) -> None:
        super().__init__(over, tr("Find a file"), tr("Files"), files_text)
        # The file's name and the action are at the end of a row, so its middle is cut.
        self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)

    def open(self, conversation: Conversation, uses: Sequence[FileUse]) -> None:
        self.show_targets(_Files(conversation, uses, self))
