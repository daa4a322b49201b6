"""A list of the user's messages in a session, to jump to one of them."""

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
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QLineEdit, QListView, QVBoxLayout, QWidget

from engine import tr
from gui.conversation.entries import Conversation, clock, day_text, first_words
from gui.sessions.wording import message_count
from gui.style.typography import font_scale
from gui.widgets.labels import label
from gui.widgets.plain_text import as_tip

_WIDTH, _HEIGHT = 460, 420
_MARGIN = 16
_LIST_KEYS = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


class _Prompts(QAbstractListModel):
    """The user's messages, each with its time and first words."""

    def __init__(self, conversation: Conversation, parent: QObject) -> None:
        super().__init__(parent)
        self._conversation = conversation

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        return 0 if parent.isValid() else len(self._conversation.prompts)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        entry = self._conversation.entries[self._conversation.prompts[index.row()]]
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_tip(day_text(entry.day)) if entry.day else None
        words = first_words(self._conversation.message(entry).text)
        return f"{clock(entry.time)}   {words}" if entry.time is not None else words


class PromptList(QFrame):
    """List of the user's messages over the conversation; typing filters it, Enter jumps to a message, Esc closes it.

    Signals: chosen: jump to this message (number of its entry).
    """

    chosen = Signal(int)

    def __init__(self, over: QAbstractScrollArea) -> None:
        super().__init__(over)
        self.setProperty("role", "card")
        self._over = over
        self._conversation: Conversation | None = None
        self._box = QLineEdit()
        self._box.setPlaceholderText(tr("Find among your messages"))
        self._box.setAccessibleName(self._box.placeholderText())
        self._box.installEventFilter(self)
        self._list = QListView()
        self._list.setUniformItemSizes(True)
        self._list.setSpacing(2)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setAccessibleName(tr("Your messages"))
        self._list.clicked.connect(self._choose)
        self._list.activated.connect(self._choose)
        self._count = label(role="meta")
        self._found = QSortFilterProxyModel(self)
        self._found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._list.setModel(self._found)
        self._box.textChanged.connect(self._narrow)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 10, 10, 8)
        column.setSpacing(6)
        for part in (self._box, self._list, self._count):
            column.addWidget(part)
        self.hide()
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def open(self, conversation: Conversation, current: int | None) -> None:
        """Show the messages of a conversation, with the one selected that `current` belongs to."""
        if conversation is not self._conversation:
            self._conversation = conversation
            old = self._found.sourceModel()
            self._found.setSourceModel(_Prompts(conversation, self))
            if old is not None:
                old.deleteLater()
        self._box.clear()
        self._narrow("")
        before = [row for row, entry in enumerate(conversation.prompts) if current is not None and entry <= current]
        if conversation.prompts:
            index = self._found.index(before[-1] if before else 0, 0)
            self._list.setCurrentIndex(index)
            self._list.scrollTo(index, QListView.ScrollHint.PositionAtCenter)
        self._place()
        self.show()
        self.raise_()
        self._box.setFocus(Qt.FocusReason.PopupFocusReason)

    def forget(self) -> None:
        """Close the list: the conversation is about to be removed."""
        self.hide()
        self._conversation = None
        old = self._found.sourceModel()
        self._found.setSourceModel(None)  # type: ignore[arg-type]
        if old is not None:
            old.deleteLater()

    def _place(self) -> None:
        """Move to the upper corner of the parent, at the end of text lines."""
        over, scale = self._over, font_scale()
        room = over.viewport().width()  # next to the scroll bar, which stays visible
        width = min(round(_WIDTH * scale), room - 2 * _MARGIN)
        height = min(round(_HEIGHT * scale), max(160, over.height() - 2 * _MARGIN))
        place = QRect(room - width - _MARGIN, _MARGIN // 2, width, height)
        if self.isRightToLeft():
            place.moveLeft(over.viewport().x() + _MARGIN)
        self.setGeometry(place)

    def _narrow(self, words: str) -> None:
        self._found.setFilterFixedString(words)
        self._count.setText(message_count(self._found.rowCount()))
        if not self._list.currentIndex().isValid() and self._found.rowCount():
            self._list.setCurrentIndex(self._found.index(0, 0))

    def _choose(self, index: QModelIndex) -> None:
        if self._conversation is not None and index.isValid():
            entry = self._conversation.prompts[self._found.mapToSource(index).row()]
            self.close_list()
            self.chosen.emit(entry)

    def close_list(self) -> None:
        """Close the list and return the focus to the conversation."""
        self._over.setFocus()
        self.hide()

    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        """Close when the focus leaves it."""
        if new is not None and new is not self and not self.isAncestorOf(new):
            self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the keys of the list from the box, which has the focus, to it."""
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
