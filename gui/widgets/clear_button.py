"""The button in a field that empties it."""

from PySide6.QtWidgets import QLineEdit, QToolButton

from engine import tr


def add_clear_button(edit: QLineEdit) -> None:
    """Qt's own, which it gives no name."""
    edit.setClearButtonEnabled(True)
    for button in edit.findChildren(QToolButton):
        button.setAccessibleName(tr("Clear"))
