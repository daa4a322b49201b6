"""Locations in files and sessions, to open or to restore when the user returns."""

from typing import NamedTuple

import msgspec

_MAX_POSITIONS = 100


class Location(NamedTuple):
    """A location in a file or session to open, other than a search result."""

    path: str
    """Stable name of the file or session."""
    line: int | None = None
    end: int | None = None
    """Last line of the range; None for a single line."""
    message: str = ""
    """For a session: id of the message to show, which takes precedence over the line."""


class ReadingPosition(msgspec.Struct, frozen=True, kw_only=True):
    """The location at the top of the conversation view, saved between runs (so every field has a default)."""

    path: str = ""
    """Stable name of the session."""
    line: int = 0
    """Line of the transcript at which the message begins."""
    slot: int = 0
    """Number of the row in the message; see `Row`."""
    top: int = 0
    """The row's position, in pixels below the top of the view."""


class ReadingPositions:
    """Stores the last reading position in each of the last hundred sessions."""

    def __init__(self) -> None:
        self._positions: dict[str, ReadingPosition] = {}
        self._requested: tuple[str, ReadingPosition | None] = "", None

    def store(self, position: ReadingPosition) -> None:
        self._positions.pop(position.path, None)
        self._positions[position.path] = position
        for path in list(self._positions)[:-_MAX_POSITIONS]:
            del self._positions[path]

    def restore_next(self, path: str, position: ReadingPosition | None = None) -> None:
        """Set the session in which its last position, or `position`, is restored when it is opened next; empty for
        none.
        """
        self._requested = path, position

    def position_for(self, path: str) -> ReadingPosition | None:
        """Return the position to restore in the session that was opened; None if there is none."""
        requested, position = self._requested
        if path != requested:
            return None
        self._requested = "", None
        return position or self._positions.get(path)
