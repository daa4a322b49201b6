"""The frame of all small windows of text."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget


def sheet(title: str, content: QWidget, parent: QWidget) -> QDialog:
    """A window with `content` and a close button; Esc closes it, and it forgets itself."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(20, 18, 20, 14)
    column.setSpacing(14)
    column.addWidget(content)
    column.addWidget(buttons)
    dialog.open()
    return dialog
