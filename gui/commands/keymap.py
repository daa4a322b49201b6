"""The keys of all commands: defaults, and the user's own keys.

There is one keymap for the whole program, like the command palette: `command` adds to it, and displays of keys read it
and listen to changes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence

from engine import tr
from gui.commands import ContextName

Key = str | QKeySequence.StandardKey
"""A key as text, or a standard key: the first that the platform assigns to it."""

_NATIVE = QKeySequence.SequenceFormat.NativeText
_ORDER = (
    "view",
    "search",
    "go",
    "reading",
    "result",
    "results",
    "passage",
    "session",
    "sessions",
    "file",
    "place",
    "share",
    "folder",
    "workspace",
    "index",
    "settings",
    "theme",
    "text",
    "program",
    "help",
    "window",
)
"""Prefixes of command names in the order of lists; other commands follow."""


@dataclass(frozen=True)
class Command:
    """A command that can have a key.

    `name` is stable, since settings files contain it: "view.search". `english` describes it, `contexts` are those in
    which its keys work, and `usual` are its default keys.
    """

    name: str
    english: str
    contexts: tuple[ContextName, ...]
    usual: tuple[Key, ...] = ()

    @property
    def label(self) -> str:
        """The label of the command, translated."""
        return tr(self.english)

    @property
    def keys(self) -> tuple[str, ...]:
        """The default keys in `QKeySequence`'s portable format ("Ctrl+Shift+E"); needs the application."""
        texts = (key if isinstance(key, str) else QKeySequence(key).toString() for key in self.usual)
        return tuple(text for text in texts if text)


def command(name: str, english: str, contexts: ContextName | tuple[ContextName, ...], *usual: Key) -> Command:
    """Add a command to the keymap, which lists it before a panel has made its action.

    A literal `english` is collected for translation; a variable must come from `marked`.
    """
    declared = Command(name, english, (contexts,) if isinstance(contexts, str) else contexts, usual)
    keymap().declare(declared)
    return declared


def without_dots(label: str) -> str:
    """Return a command's label without "…", which only makes sense in menus."""
    return label.rstrip("…\N{NO-BREAK SPACE}")


class Keymap(QObject):
    """Stores every command by its name, in the order in which they were declared, and the user's keys."""

    changed = Signal()
    """The keys of a command have changed."""

    def __init__(self) -> None:
        super().__init__()
        self.commands: dict[str, Command] = {}
        self._own: dict[str, tuple[str, ...]] = {}

    def declare(self, command: Command) -> None:
        """Register a command. Raises `ValueError` for a duplicate name, which would be ambiguous in a settings file."""
        known = self.commands.setdefault(command.name, command)
        if known != command:
            raise ValueError(f"Two commands are called {command.name}: {known.english!r} and {command.english!r}")

    def in_order(self) -> list[Command]:
        """Return all commands, related ones together, independent of creation order."""
        return sorted(self.commands.values(), key=_position_in_menus)

    def set_own(self, own: Mapping[str, Iterable[str]]) -> None:
        """Set the user's keys (command name -> keys) in place of defaults; an empty list removes all keys."""
        before, self._own = self._own, {name: tuple(keys) for name, keys in own.items()}
        if self._own != before:
            self.changed.emit()

    def trying(self, own: Mapping[str, Iterable[str]]) -> "Keymap":
        """Return a copy of the keymap with `own` as the user's keys; listeners are not notified."""
        trial = Keymap()
        trial.commands = self.commands
        trial.set_own(own)
        return trial

    def keys(self, name: str) -> tuple[str, ...]:
        """Return the current keys of a command; empty if it has none, or is unknown."""
        if name in self._own:
            return self._own[name]
        known = self.commands.get(name)
        return known.keys if known else ()

    def sequences(self, name: str) -> list[QKeySequence]:
        return [QKeySequence(key) for key in self.keys(name)]

    def first_key(self, name: str) -> str:
        """Return the command's first key in this platform's notation; empty if it has none."""
        return next((written(key) for key in self.sequences(name)), "")


def written(key: QKeySequence) -> str:
    """Return a key in this platform's notation."""
    return key.toString(_NATIVE)


def _position_in_menus(command: Command) -> int:
    beginning = command.name.partition(".")[0]
    return _ORDER.index(beginning) if beginning in _ORDER else len(_ORDER)


@cache
def keymap() -> Keymap:
    """Return the keymap of the program."""
    return Keymap()
