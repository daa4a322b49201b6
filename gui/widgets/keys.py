"""Keys that belong to a part of the window, and those by which several parts offer the same."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

LIKE, LIKE_KEY = "More like this", "Alt+M"
REMEMBER, REMEMBER_KEY = "Remember…", "Alt+N"
WITHIN, WITHIN_KEY = "Search within these results", "Ctrl+Shift+K"


def give_key(owner: QWidget, action: QAction, keys: str | QKeySequence.StandardKey) -> None:
    """A key that works anywhere in `owner`, whatever a child makes of it; tooltips of buttons name it."""
    action.setShortcut(keys)
    action.setToolTip(f"{action.text()} ({action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)})")
    action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    owner.addAction(action)


def key_action(owner: QWidget, text: str, keys: str | QKeySequence.StandardKey) -> QAction:
    """An action with such a key."""
    made = QAction(text, owner)
    give_key(owner, made, keys)
    return made
