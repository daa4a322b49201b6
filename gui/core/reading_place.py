"""The position in a session, restored when the user returns to it."""

import msgspec

_MOST = 100


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
