"""Where in the window a key holds."""

from typing import Literal

from engine import marked, tr

Place = Literal[
    "window",
    "box",
    "results",
    "sessions",
    "conversation",
    "file",
    "index",
    "map",
    "duplicates",
    "facts",
    "remember",
    "settings",
    "quick",
]

_TITLES: dict[Place, str] = {
    "window": marked("Everywhere"),
    "box": marked("Search box"),
    "results": marked("Results"),
    "sessions": marked("List of sessions"),
    "conversation": marked("Session"),
    "file": marked("File"),
    "index": marked("Index"),
    "map": marked("Map"),
    "duplicates": marked("Duplicates"),
    "facts": marked("Facts"),
    "remember": marked("Note of a session"),
    "settings": marked("Settings"),
    "quick": marked("Quick search"),
}
PLACES: tuple[Place, ...] = tuple(_TITLES)
"""In the order in which they are listed."""


def title(place: Place) -> str:
    return tr(_TITLES[place])


def overlap(one: Place, other: Place) -> bool:
    """Whether both contexts can receive keys at the same time."""
    return one == other or "window" in (one, other)


_MISSING: dict[Place, str] = {
    "window": marked("This command isn't available here."),
    "box": marked("Go to the search first."),
    "results": marked("Search for something first."),
    "sessions": marked("Go to the sessions first."),
    "conversation": marked("Open a session first."),
    "file": marked("Open a file first."),
    "index": marked("Open the index first."),
    "map": marked("Open the map of the index first."),
    "duplicates": marked("Open the duplicates first."),
    "facts": marked("Go to the facts first."),
    "remember": marked("Start a note of a session first."),
}


def missing(place: Place) -> str:
    """The prerequisite of a command in a context that is not visible."""
    return tr(_MISSING[place])
