"""Lists all keys of the program by context, and finds conflicts of a new key."""

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtGui import QKeySequence

from engine import any_of, marked, tr
from gui.commands import Context, ContextName, Fixed, overlap
from gui.commands.keymap import Command, Keymap, without_dots, written
from gui.core.view_spec import view_specs

_BEFORE = (
    Context("window", marked("All views"), marked("This command isn't available in this view.")),
    Context("box", marked("Search box"), marked("Go to the search first.")),
)
_READERS = (
    Context("conversation", marked("Session"), marked("Open a session first.")),
    Context("file", marked("File"), marked("Open a file first.")),
)
_AFTER = (
    Context("remember", marked("Session note"), marked("Start a note of a session first.")),
    Context("settings", marked("Settings")),
    Context("quick", marked("Quick search")),
)

_FIXED: tuple[Fixed, ...] = (
    Fixed("window", ("Tab", "Shift+Tab"), marked("Next and previous control")),
    Fixed("box", ("Down",), marked("Go to the list")),
    Fixed("box", ("Return",), marked("Search immediately, or open the best result")),
    Fixed("box", ("Alt+Up", "Alt+Down"), marked("Earlier and later queries")),
    Fixed(
        "box", ("Up", "Down"), marked("Saved and recent searches, in the empty box; Delete removes one, F2 renames it")
    ),
    Fixed("box", ("Ctrl+Space",), marked("Complete an operator")),
    Fixed("box", ("Esc",), marked("Clear the search box; press again to leave the search scope")),
    Fixed("conversation", ("J", "K"), marked("Next and previous message; with Shift only your own")),
    Fixed("conversation", ("Return", "Right", "Left"), marked("Expand and collapse tool calls and thinking")),
    Fixed("conversation", ("N", "Shift+N"), marked("Next and previous match")),
    Fixed("conversation", ("Ctrl+A",), marked("Select the message")),
    Fixed("conversation", ("Esc",), marked("Back to the list")),
    Fixed("file", ("N", "Shift+N"), marked("Next and previous match")),
    Fixed("file", ("Esc",), marked("Back to the results")),
    Fixed("remember", ("Ctrl+Return", "Ctrl+S"), marked("Save the note")),
    Fixed("remember", ("Esc",), marked("Close the note; press twice to discard your changes")),
    Fixed("settings", ("Ctrl+F",), marked("Search all settings")),
    Fixed("settings", ("Ctrl+Z",), marked("Undo the last change")),
    Fixed("settings", ("Return",), marked("Save (in a field of several lines: with Ctrl)")),
    Fixed("settings", ("Up", "Down"), marked("Increase or decrease a number")),
    Fixed("settings", ("Esc",), marked("Undo typing, then clear the search, then close")),
)


def contexts() -> tuple[Context, ...]:
    """Return all contexts in display order: views with a viewer, the viewers, the other views."""
    specs = view_specs()
    with_viewer = (context for spec in specs if not spec.full_width for context in spec.contexts)
    full_width = (context for spec in specs if spec.full_width for context in spec.contexts)
    return (*_BEFORE, *with_viewer, *_READERS, *full_width, *_AFTER)


def fixed_keys() -> tuple[Fixed, ...]:
    """Return the keys that widgets handle themselves."""
    return (*_FIXED, *(fixed for spec in view_specs() for fixed in spec.fixed_keys))


def title(context: ContextName) -> str:
    return tr(_context(context).title)


def missing(context: ContextName) -> str:
    """Return a sentence about what a command needs if its context is not visible."""
    words = _context(context).missing
    return words and tr(words)


def _context(name: ContextName) -> Context:
    return next(context for context in contexts() if context.name == name)


def by_context(keymap: Keymap) -> list[Command]:
    """Return all commands, global ones first, in the order of the contexts."""
    order = [context.name for context in contexts()]
    return sorted(keymap.in_order(), key=lambda command: order.index(command.contexts[0]))


class Row(NamedTuple):
    keys: str
    """The keys in this platform's notation."""
    label: str
    each: tuple[str, ...]
    """The same keys, one by one."""


class Group(NamedTuple):
    title: str
    rows: tuple[Row, ...]


def native(key: str) -> str:
    """Return a key in this platform's notation."""
    return written(QKeySequence(key))


def groups(keymap: Keymap) -> tuple[Group, ...]:
    """Return the commands with keys, grouped by context; those whose keys can be changed come first."""
    return tuple(
        Group(tr(context.title), rows) for context in contexts() if (rows := tuple(_rows(keymap, context.name)))
    )


def _rows(keymap: Keymap, context: ContextName) -> Iterator[Row]:
    for command in keymap.in_order():
        if context in command.contexts and (keys := keymap.keys(command.name)):
            each = tuple(map(native, keys))
            yield Row(any_of(each), without_dots(command.label), each)
    for fixed in fixed_keys():
        if fixed.context == context:
            each = tuple(map(native, fixed.keys))
            yield Row(", ".join(each), fixed.label, each)


class KeyConflict(NamedTuple):
    """A command that has a key already, and its context."""

    owner: Command | Fixed
    context: ContextName

    def __str__(self) -> str:
        return tr("“{command}” ({place})", command=without_dots(self.owner.label), place=title(self.context))


def key_conflict(keymap: Keymap, command: Command, key: str) -> KeyConflict | None:
    """Return another command in the same context with this key, or a sequence that begins with it; else None."""
    for other in keymap.commands.values():
        context = _common(other.contexts, command.contexts)
        if (
            other.name != command.name
            and context
            and any(keys_conflict(key, assigned) for assigned in keymap.keys(other.name))
        ):
            return KeyConflict(other, context)
    for fixed in fixed_keys():
        if _common((fixed.context,), command.contexts) and any(keys_conflict(key, assigned) for assigned in fixed.keys):
            return KeyConflict(fixed, fixed.context)
    return None


def _common(contexts: tuple[ContextName, ...], others: tuple[ContextName, ...]) -> ContextName | None:
    """Return the first of `contexts` in which the keys of `others` also work; None without one."""
    return next((context for context in contexts if any(overlap(context, other) for other in others)), None)


def keys_conflict(key: str, other: str) -> bool:
    """Return whether two key sequences conflict: they are equal, or one begins with the other."""
    one, two = QKeySequence(key), QKeySequence(other)
    nothing = QKeySequence.SequenceMatch.NoMatch
    return one.matches(two) != nothing or two.matches(one) != nothing
