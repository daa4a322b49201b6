"""Where in the window a key holds."""

from typing import Literal

Place = Literal[
    "window", "box", "results", "sessions", "conversation", "file", "index", "map", "duplicates", "facts", "remember"
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
}
"""In the order in which they are listed."""


def overlap(one: Place, other: Place) -> bool:
    """Whether the keys of both can be heard at once."""
    return one == other or "window" in (one, other)
