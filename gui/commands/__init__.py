"""Commands of the window with their keys, and the contexts in which a key holds.

In: names, English words and default keys, declared where an action is created; the user's own keys.
Out: actions, menus and one keymap. The contexts are here, since a view declares its own before Qt loads.
"""

from dataclasses import dataclass

from engine import tr

Place = str
"""Name of a context."""


@dataclass(frozen=True)
class Context:
    """A part of the window with its own keys; the texts are `marked`."""

    name: Place
    title: str
    missing: str = ""
    """Hint how to make the part visible, so that its commands can be used."""


@dataclass(frozen=True)
class Fixed:
    """Keys that a widget handles itself: for one action, or for its two directions. Written as in `Command`."""

    place: Place
    keys: tuple[str, ...]
    english: str

    @property
    def words(self) -> str:
        """Label of the keys, in the language of the window."""
        return tr(self.english)


def overlap(one: Place, other: Place) -> bool:
    """Whether both contexts can receive keys at the same time."""
    return one == other or "window" in (one, other)
