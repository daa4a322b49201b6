"""Several lines of text to edit, in the look of the other fields."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class TextField(QPlainTextEdit):
    """Tab moves the focus; Ctrl+Z belongs to the text only while there is typing to undo."""

    accepted = Signal()
    """Ctrl+Enter."""
    left = Signal()
    """Escape."""
    undo_wanted = Signal()
    """Ctrl+Z, with nothing typed that it could undo."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setProperty("role", "field")

    def take_back(self, text: str) -> None:
        """Replace the typed text; Ctrl+Z restores it."""
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.accepted.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.matches(QKeySequence.StandardKey.Undo) and not self.document().isUndoAvailable():
            self.undo_wanted.emit()
        else:
            super().keyPressEvent(event)
