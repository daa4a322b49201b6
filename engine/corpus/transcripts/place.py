"""Where in a chunk of a session each message is."""

import msgspec


class Place(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where in a chunk a message starts, and where that is in the transcript."""

    offset: int
    """Code points from the chunk's beginning."""
    line: int
    ordinal: int
    id: str
    role: str
