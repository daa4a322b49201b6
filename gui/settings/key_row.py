"""The API key of a server: where it is, and a field to enter another. What is entered is never shown."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from engine import KeyState, tr
from gui.settings.wording import key_words
from gui.widgets.labels import breakable, label
from gui.widgets.plain_text import set_tip


class KeyRow(QWidget):
    """Signals:
    typing: what stands in the field is different.
    forget_wanted: take the key out of the keychain.
    """

    typing = Signal()
    forget_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = label("", "meta", wrap=True)
        self._line = QLineEdit()
        self._line.setEchoMode(QLineEdit.EchoMode.Password)
        self._line.setAccessibleName(tr("API key"))
        set_tip(self._line, tr("Kept in this system's keychain when you save, never in a file"))
        self._line.textChanged.connect(lambda _: self.typing.emit())
        self._forget = QPushButton(tr("Forget it"))
        self._forget.setAccessibleName(tr("Forget the API key in the keychain"))
        self._forget.clicked.connect(self.forget_wanted)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._line, 1)
        row.addWidget(self._forget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._state)
        self.show_state(None)

    @property
    def capabilities(self) -> bool:
        """Nothing was found, and nothing was entered; not while one is being looked for."""
        return self._state_shown is not None and not self._state_shown.present and self.typed is None

    @property
    def typed(self) -> str | None:
        """The key that was entered; None where none was."""
        return self._line.text().strip() or None

    def clear(self) -> None:
        """Nothing that was entered outlives its use."""
        self._line.clear()

    def show_state(self, state: KeyState | None) -> None:
        """None while the key is being looked for."""
        self._state_shown = state
        self._state.setText(breakable(key_words(state)))
        found = state is not None and state.present
        # A variable goes before the keychain: another key would be tested here, kept, and never used.
        fixed = state is not None and state.origin == "environment"
        if fixed:
            self.clear()
        self._line.setEnabled(not fixed)
        self._line.setPlaceholderText("" if fixed else tr("Enter another key") if found else tr("Enter the key"))
        self._forget.setVisible(state is not None and state.origin == "keychain")
