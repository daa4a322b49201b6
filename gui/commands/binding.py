"""Lets actions, tooltips and menus have the keys of the keymap, and follow it."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from gui.commands.keymap import Command, keymap
from gui.widgets.plain_text import set_status_tip, set_tip


class _Following(QObject):
    """Lives as long as what it is a child of."""

    def __init__(self, parent: QObject, show: Callable[[], None]) -> None:
        super().__init__(parent)
        self._show = show
        keymap().changed.connect(self.show)
        show()

    @Slot()
    def show(self) -> None:
        self._show()


def follow_keys(parent: QObject, show: Callable[[], None]) -> None:
    """Call `show` now and whenever keys have changed, as long as `parent` lives."""
    _Following(parent, show)


def bind(action: QAction, command: Command) -> None:
    """The action is found by the command's name from now on, and has its keys."""
    keymap().declare(command)
    action.setObjectName(command.name)
    follow_keys(action, lambda: action.setShortcuts(keymap().sequences(command.name)))


def show_keys_of(action: QAction, name: str) -> None:
    """Show the first key of a command in an entry of a menu that is created each time; later changes are ignored."""
    action.setShortcut(next(iter(keymap().sequences(name)), QKeySequence()))


def with_key(words: str, name: str) -> str:
    """ "Sync now (F5)", or the words alone where the command has no key."""
    key = keymap().shown(name)
    return f"{words} ({key})" if key else words


class _KeyTip(_Following):
    """The tooltip of something that a command does; `instead` covers it for a while."""

    def __init__(self, thing: QAction | QWidget, words: Callable[[], str], name: str) -> None:
        self.instead = ""
        super().__init__(thing, lambda: set_tip(thing, self.instead or with_key(words(), name)))


def tell_key(thing: QAction | QWidget, words: str, name: str) -> None:
    """Show the key of the command in the tooltip, as long as no other message replaces it."""
    _KeyTip(thing, lambda: words, name)


def cover_tip(thing: QAction | QWidget, sentence: str) -> bool:
    """Replace a tooltip that shows a key, until `sentence` is empty.

    Returns False if the tooltip shows none: then the caller restores its own text.
    """
    for tip in thing.findChildren(_KeyTip, options=Qt.FindChildOption.FindDirectChildrenOnly):
        tip.instead = sentence
        tip.show()
        return True
    return False


def give_key(
    owner: QWidget,
    action: QAction,
    command: Command,
    context: Qt.ShortcutContext = Qt.ShortcutContext.WidgetWithChildrenShortcut,
) -> None:
    """Keys that work anywhere in `owner`, whatever a child makes of them; tooltips of buttons name the first."""
    bind(action, command)
    _KeyTip(action, action.text, command.name)
    action.setShortcutContext(context)
    owner.addAction(action)


def allow(action: QAction, allowed: bool, why: str) -> None:
    """Enable it, or else say in the palette why it is not."""
    action.setEnabled(allowed)
    set_status_tip(action, "" if allowed else why)


def key_action(owner: QWidget, command: Command, text: str = "") -> QAction:
    """An action with these keys, labelled `text` or else with the command's label."""
    made = QAction(text or command.words, owner)
    give_key(owner, made, command)
    return made
