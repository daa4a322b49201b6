"""A field that takes a key by its being pressed."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit, QWidget

from engine import tr
from gui.widgets.accessible_painting import Part

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class KeyCapture(QKeySequenceEdit):
    """One key with modifiers. Enter accepts it, Escape cancels; Tab moves the focus as usual, so that it is no keyboard
    trap.

    Signals: pressed: the key has changed, in `QKeySequence`'s portable format; empty for none. accepted: Enter, with a
    key. left: Escape.
    """

    pressed = Signal(str)
    accepted = Signal()
    left = Signal()
    spoken_role = QAccessible.Role.HotkeyField

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMaximumSequenceLength(1)
        self.setAccessibleName(tr("Press the new key"))
        line = self.findChild(QLineEdit)
        if line is not None:
            line.setAccessibleName(tr("New key"))
        self.keySequenceChanged.connect(self._tell)

    @property
    def key(self) -> str:
        return self.keySequence().toString(QKeySequence.SequenceFormat.PortableText)

    def spoken_parts(self) -> Sequence[Part]:
        return [Part(self.key, self.rect())] if self.key else []

    @Slot()
    def _tell(self) -> None:
        self.pressed.emit(self.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bare = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if bare and event.key() in _ENTER and self.key:
            self.accepted.emit()
        elif bare and event.key() == Qt.Key.Key_Escape:
            self.clear()
            self.left.emit()
        else:
            super().keyPressEvent(event)
