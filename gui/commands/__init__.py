"""Commands of the window with their keys, and the contexts in which a key works.

In: names, English texts and default keys, declared where an action is created; the user's own keys.
Out: actions, menus and one keymap. The contexts are here, since a view declares its own before Qt loads.
"""

from dataclasses import dataclass

from engine import tr

ContextName = str
"""Name of a context."""


@dataclass(frozen=True)
class Context:
    """A part of the window with its own keys; its texts are `marked` for translation."""

    name: ContextName
    title: str
    missing: str = ""
    """Hint how to make the part visible, so that its commands can be used."""


@dataclass(frozen=True)
class Fixed:
    """Keys that a widget handles itself and that can't be changed: for one action, or for its two directions."""

    context: ContextName
    keys: tuple[str, ...]
    english: str

    @property
    def label(self) -> str:
        """The label of the keys, translated."""
        return tr(self.english)


def overlap(one: ContextName, other: ContextName) -> bool:
    """Return whether a key could trigger commands of both contexts."""
    return one == other or "window" in (one, other)
