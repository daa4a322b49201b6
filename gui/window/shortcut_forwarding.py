"""Shortcuts while a text field has the focus: commands win over letters, and the search box reaches the results."""

from collections.abc import Callable, Iterable
from functools import partial

import shiboken6
from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from gui.commands.keymap import keymap

_FIELDS = (QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox, QComboBox)
_SHIFT, _CONTROL, _ALT = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)
_EDITING = tuple(
    getattr(QKeySequence.StandardKey, name) for name in ("Undo", "Redo", "Cut", "Copy", "Paste", "SelectAll")
)
"""A text field keeps these."""
_FIRST_NAMED_KEY = 0x01000000
"""Keys without a character (arrows, Delete, F1) have Qt codes from here on."""


class ShortcutForwarding(QObject):
    """Filters the key events of the focused text field.

    A shortcut of the program wins over what the platform lets text fields do with that key (Ctrl+E: end of line). In a
    field inside `header`, one that belongs to a widget of `targets` runs there. Alt with a letter never types.
    """

    def __init__(self, header: QWidget, targets: Callable[[], Iterable[QWidget]], parent: QObject) -> None:
        """`targets`: what is on screen below the header, the first one that has the shortcut wins."""
        super().__init__(parent)
        self._header = header
        self._targets = targets
        self._field: QWidget | None = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow)

    @Slot(QWidget, QWidget)
    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self._field is not None and shiboken6.isValid(self._field):
            self._field.removeEventFilter(self)
        self._field = now if isinstance(now, _FIELDS) else None
        if self._field is not None:
            self._field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind not in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress) or not isinstance(event, QKeyEvent):
            return False
        key = _shortcut(event)
        if key is None:
            return False
        if kind == QEvent.Type.ShortcutOverride:
            if not _is_bound(key):
                return False
            event.ignore()  # the field would keep the key to itself
            return True
        action = self._action(watched, key)
        if action is not None:
            action.trigger()
            return True
        if _is_alt_letter(event):
            event.ignore()
            return True
        return False

    def _action(self, field: QObject, key: QKeySequence) -> QAction | None:
        if not isinstance(field, QWidget) or not self._header.isAncestorOf(field):
            return None
        widgets = (widget for part in self._targets() for widget in (part, *part.findChildren(QWidget)))
        actions = (action for widget in widgets if widget.isVisible() for action in widget.actions())
        return next(filter(partial(_runs, key), actions), None)


def _shortcut(event: QKeyEvent) -> QKeySequence | None:
    """The event's key, if it can be a shortcut that is no business of a text field."""
    if any(event.matches(standard) for standard in _EDITING):
        return None
    function_key = Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35
    character = 0 < event.key() < _FIRST_NAMED_KEY and event.modifiers() & (_CONTROL | _ALT)
    return QKeySequence(event.keyCombination()) if function_key or character else None


def _is_bound(key: QKeySequence) -> bool:
    return any(key in keymap().sequences(name) for name in keymap().commands)


def _runs(key: QKeySequence, action: QAction) -> bool:
    context = Qt.ShortcutContext.WidgetWithChildrenShortcut
    return action.isEnabled() and action.shortcutContext() == context and key in action.shortcuts()


def _is_alt_letter(event: QKeyEvent) -> bool:
    """Alt that changed nothing; with Option on a Mac, or with AltGr, the key types another character."""
    if event.modifiers() & ~_SHIFT != _ALT or event.key() >= _FIRST_NAMED_KEY:
        return False
    return event.text().casefold() in ("", chr(event.key()).casefold())
