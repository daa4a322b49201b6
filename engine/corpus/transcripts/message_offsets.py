"""Where in a chunk of a session each message is."""

import msgspec

from engine.base.bounded_json import decode_json
from engine.base.errors import IndexCorrupt
from engine.base.language import tr


class MessageOffset(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where in a chunk a message starts, and where that is in the transcript."""

    offset: int
    """Code points from the chunk's beginning."""
    line: int
    ordinal: int
    id: str
    role: str


def read_places(encoded: bytes) -> tuple[MessageOffset, ...]:
    """The places that a chunk is stored with. Raises `IndexCorrupt`."""
    try:
        places = decode_json(encoded, tuple[MessageOffset, ...])
    except ValueError:
        places = ()
    if not places:
        raise IndexCorrupt(tr("The index does not say which messages a passage is from."))
    return places
