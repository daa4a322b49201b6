"""A place in a file or a session that is shown without being a result."""

from typing import NamedTuple


class Location(NamedTuple):
    path: str
    """Stable name."""
    line: int | None = None
    end: int | None = None
    """Last of several lines."""
    message: str = ""
    """Of a session: id of the message, which counts before the line."""
