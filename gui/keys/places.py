"""Where in the window a key holds."""

from typing import Literal

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

TITLES: dict[Place, str] = {
    "window": "Everywhere",
    "box": "Search box",
    "results": "Results",
    "sessions": "List of sessions",
    "conversation": "Session",
    "file": "File",
    "index": "Index",
    "map": "Map",
    "duplicates": "Duplicates",
    "facts": "Facts",
    "remember": "Note of a session",
    "settings": "Settings",
    "quick": "Quick search",
}
"""In the order in which they are listed."""


def overlap(one: Place, other: Place) -> bool:
    """Whether the keys of both can be heard at once."""
    return one == other or "window" in (one, other)


MISSING: dict[Place, str] = {
    "window": "This cannot be done here.",
    "box": "Go to the search first.",
    "results": "Search for something first.",
    "sessions": "Go to the sessions first.",
    "conversation": "Read a session first.",
    "file": "Read a file first.",
    "index": "Look into the index first.",
    "map": "Look at the map of the index first.",
    "duplicates": "Look at the duplicates first.",
    "facts": "Go to the facts first.",
    "remember": "Write a note of a session first.",
}
"""What must be done before a command of a place that is not on the screen."""
