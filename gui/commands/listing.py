"""All keys of the program by the place where they hold: what the sheet of keys shows, and what a new key meets."""

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtGui import QKeySequence

from engine import any_of, tr
from gui.commands.contexts import PLACES, Place, overlap, title
from gui.commands.fixed import FIXED, Fixed
from gui.commands.keymap import Command, Keymap, without_dots, written


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
    """What else hears this key where the command does, or one that begins with it."""
    for other in keymap.commands.values():
        place = _common(other.places, command.places)
        if other.name != command.name and place and any(meet(key, one) for one in keymap.keys(other.name)):
            return Clash(other, place)
    for fixed in FIXED:
        if _common((fixed.place,), command.places) and any(meet(key, one) for one in fixed.keys):
            return Clash(fixed, fixed.place)
    return None


def _common(places: tuple[Place, ...], others: tuple[Place, ...]) -> Place | None:
    """The first of `places` in which the keys of the others are heard, too."""
    return next((place for place in places if any(overlap(place, other) for other in others)), None)


def meet(key: str, other: str) -> bool:
    """Whether one of two keys is the other, or the beginning of it."""
    one, two = QKeySequence(key), QKeySequence(other)
    nothing = QKeySequence.SequenceMatch.NoMatch
    return one.matches(two) != nothing or two.matches(one) != nothing
