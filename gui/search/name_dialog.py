"""Asks under which name a search is to be kept."""

from collections.abc import Collection

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QPushButton, QVBoxLayout, QWidget

from engine import tr
from gui.widgets.labels import label

_LONGEST = 120
_WIDTH = 380


class NameDialog(QDialog):
    """Opens at once, over `parent`'s window, and forgets itself when it closes."""

    named = Signal(str)

    def __init__(self, heading: str, sentence: str, name: str, taken: Collection[str], parent: QWidget) -> None:
        """`sentence` says what is kept; `taken` are the names of others, which would be replaced."""
        super().__init__(parent.window())
        self.setWindowTitle(heading)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._taken = frozenset(taken)
        self._edit = QLineEdit(name)
        self._edit.setMaxLength(_LONGEST)
        self._edit.setAccessibleName(tr("Name"))
        self._edit.selectAll()
        self._remark = label(" ", "meta", wrap=True)
        self._save = QPushButton(tr("Save"))
        self._save.setProperty("role", "primary")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self._save, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(10)
        column.addWidget(label(heading, "strong"))
        column.addWidget(label(sentence, "muted", wrap=True))
        column.addWidget(self._edit)
        column.addWidget(self._remark)
        column.addWidget(buttons)
        self.setMinimumWidth(min(_WIDTH, parent.window().width() - 40))
        self._save.setDefault(True)  # once the dialog has it: else Enter would cancel
        self._edit.textChanged.connect(self._judge)
        self._judge()
        self.open()
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _name(self) -> str:
        return " ".join(self._edit.text().split())

    @Slot()
    def _judge(self) -> None:
        replaces = self._name in self._taken
        self._remark.setText(tr("Another search has this name: it will be replaced.") if replaces else " ")
        self._save.setText(tr("Replace") if replaces else tr("Save"))
        self._save.setEnabled(bool(self._name))

    def accept(self) -> None:
        if self._name:
            self.named.emit(self._name)
            super().accept()
