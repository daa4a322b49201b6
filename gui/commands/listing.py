"""All keys of the program by the place where they hold: what the sheet of keys shows, and what a new key meets."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtGui import QKeySequence

from engine import any_of, marked, tr
from gui.commands.contexts import PLACES, Place, overlap, title
from gui.commands.keymap import Command, Keymap, without_dots, written


@dataclass(frozen=True)
class Fixed:
    """`keys` do the same or the two directions of it; written as in `Command`."""

    place: Place
    keys: tuple[str, ...]
    english: str

    @property
    def words(self) -> str:
        """What they do, in the language of the window."""
        return tr(self.english)


FIXED: tuple[Fixed, ...] = (
    Fixed("window", ("Tab", "Shift+Tab"), marked("Next and previous control")),
    Fixed("window", ("Shift+F10", "Menu"), marked("Context menu")),
    Fixed("box", ("Down",), marked("Into the list")),
    Fixed("box", ("Return",), marked("Search immediately, or open the best result")),
    Fixed("box", ("Alt+Up", "Alt+Down"), marked("Earlier and later questions")),
    Fixed(
        "box", ("Up", "Down"), marked("Saved and recent searches, in the empty box; Delete removes one, F2 renames it")
    ),
    Fixed("box", ("Ctrl+Space",), marked("Complete an operator")),
    Fixed("box", ("Esc",), marked("Clear the search box; press again to leave the search scope")),
    Fixed("results", ("Down", "Up"), marked("Along the list, and back to the box")),
    Fixed("results", ("Shift+Down", "Shift+Up"), marked("Select several, to drag, copy or export them together")),
    Fixed("results", ("Return",), marked("Go to the file")),
    Fixed("results", ("Esc",), marked("Back to the box")),
    Fixed("sessions", ("Down", "Up"), marked("Along the list, and back to the box")),
    Fixed("sessions", ("Return",), marked("Go to the session")),
    Fixed("sessions", ("Right", "Left"), marked("Show and hide the sessions of its sub-agents")),
    Fixed("sessions", ("Esc",), marked("Back to the box; there clear the text, then the filters")),
    Fixed("conversation", ("J", "K"), marked("Next and previous message; with Shift only your own")),
    Fixed("conversation", ("Return", "Right", "Left"), marked("Unfold and fold tools and thinking")),
    Fixed("conversation", ("N", "Shift+N"), marked("Next and previous hit")),
    Fixed("conversation", ("Ctrl+A",), marked("Select the message")),
    Fixed("conversation", ("Esc",), marked("Back to the list")),
    Fixed("file", ("N", "Shift+N"), marked("Next and previous hit")),
    Fixed("file", ("Esc",), marked("Back to the results")),
    Fixed("index", ("Left", "Right", "Home", "End"), marked("From mark to mark of a chart; unfold and fold folders")),
    Fixed("index", ("Return",), marked("Details of an update, and its errors")),
    Fixed("index", ("Esc",), marked("Back to the box")),
    Fixed("map", ("Left", "Right", "Up", "Down"), marked("Move the map")),
    Fixed("map", ("+", "-", "0"), marked("Larger, smaller, all of it; the wheel does the same")),
    Fixed(
        "map", ("Ctrl+Left", "Ctrl+Right", "Ctrl+Up", "Ctrl+Down"), marked("Go to the next passage in that direction")
    ),
    Fixed("map", ("Return",), marked("Open the passage")),
    Fixed("map", ("Space", "Ctrl+A"), marked("List this passage, or all in view; drag with Shift to encircle some")),
    Fixed("map", ("Esc",), marked("Leave the passage, then go back to the box")),
    Fixed("duplicates", ("Return",), marked("From a group to its notes side by side")),
    Fixed("duplicates", ("N", "Shift+N"), marked("Next and previous difference, there")),
    Fixed("duplicates", ("Esc",), marked("Back to the groups, then to the box")),
    Fixed("facts", ("Return",), marked("From the list into the text of the fact")),
    Fixed("facts", ("Ctrl+Return",), marked("Save")),
    Fixed("facts", ("Esc",), marked("Back to the list, then to the box")),
    Fixed("remember", ("Ctrl+Return", "Ctrl+S"), marked("Save the note")),
    Fixed("remember", ("Esc",), marked("Leave the note; press twice to discard your changes")),
    Fixed("settings", ("Ctrl+F",), marked("Search all settings")),
    Fixed("settings", ("Ctrl+Z",), marked("Take back the last change")),
    Fixed("settings", ("Return",), marked("Save; in a field of several lines with Ctrl")),
    Fixed("settings", ("Up", "Down"), marked("Larger and smaller number")),
    Fixed("settings", ("Esc",), marked("Undo typing, then clear the search, then close")),
)


class Row(NamedTuple):
    keys: str
    """As this platform writes them."""
    words: str


class Group(NamedTuple):
    title: str
    rows: tuple[Row, ...]


def native(key: str) -> str:
    """A key as this platform writes it."""
    return written(QKeySequence(key))


def groups(keymap: Keymap) -> tuple[Group, ...]:
    """What has keys now, in each place first what can be given others."""
    return tuple(Group(title(place), rows) for place in PLACES if (rows := tuple(_rows(keymap, place))))


def _rows(keymap: Keymap, place: Place) -> Iterator[Row]:
    for command in keymap.in_order():
        if place in command.places and (keys := keymap.keys(command.name)):
            yield Row(any_of(map(native, keys)), without_dots(command.words))
    for fixed in FIXED:
        if fixed.place == place:
            yield Row(", ".join(map(native, fixed.keys)), fixed.words)


class Clash(NamedTuple):
    """What has a key already, and where."""

    owner: Command | Fixed
    place: Place

    def __str__(self) -> str:
        return tr("“{command}” ({place})", command=without_dots(self.owner.words), place=title(self.place))


def clash(keymap: Keymap, command: Command, key: str) -> Clash | None:
    """Another command with this key, or a longer sequence that begins with it, in the same context."""
    for other in keymap.commands.values():
        place = _common(other.places, command.places)
        if other.name != command.name and place and any(meet(key, one) for one in keymap.keys(other.name)):
            return Clash(other, place)
    for fixed in FIXED:
        if _common((fixed.place,), command.places) and any(meet(key, one) for one in fixed.keys):
            return Clash(fixed, fixed.place)
    return None


def _common(places: tuple[Place, ...], others: tuple[Place, ...]) -> Place | None:
    """The first of `places` in which the keys of the others also work."""
    return next((place for place in places if any(overlap(place, other) for other in others)), None)


def meet(key: str, other: str) -> bool:
    """Whether one of two keys is the other, or the beginning of it."""
    one, two = QKeySequence(key), QKeySequence(other)
    nothing = QKeySequence.SequenceMatch.NoMatch
    return one.matches(two) != nothing or two.matches(one) != nothing
