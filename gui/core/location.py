"""Locations in files and sessions: to show without being a result, and to restore when the user returns."""

from typing import NamedTuple

import msgspec

_MOST = 100


class Location(NamedTuple):
    """A place in a file or a session that is shown without being a result."""

    path: str
    """Stable name."""
    line: int | None = None
    end: int | None = None
    """Last of several lines."""
    message: str = ""
    """Of a session: id of the message, which counts before the line."""


class ReadingPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The location at the top of the view. Saved between runs: every field has a default."""

    path: str = ""
    """Of the session."""
    line: int = 0
    """Of the transcript, at which the message begins."""
    slot: int = 0
    """Which row of the message; see `Row`."""
    top: int = 0
    """Where that row began, in pixels below the top of the view."""


class ReadingPlaces:
    """One place for each session that was left; the last hundred."""

    def __init__(self) -> None:
        self._places: dict[str, ReadingPlace] = {}
        self._wanted = ""

    def leave(self, place: ReadingPlace) -> None:
        self._places.pop(place.path, None)
        self._places[place.path] = place
        for path in list(self._places)[:-_MOST]:
            del self._places[path]

    def want(self, path: str) -> None:
        """When this session is opened next, it is shown where it was left; empty for none."""
        self._wanted = path

    def arrive(self, path: str) -> ReadingPlace | None:
        """A session was opened: return the position to restore, if there is one."""
        if path != self._wanted:
            return None
        self._wanted = ""
        return self._places.get(path)
