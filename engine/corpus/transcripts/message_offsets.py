"""Positions of messages in a chunk of a session."""

import msgspec

from engine.base.bounded_json import decode_json
from engine.base.errors import IndexCorrupt
from engine.base.language import tr


class MessageOffset(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Start of a message in a chunk, and its position in the transcript."""

    offset: int
    """Code points from the chunk's beginning."""
    line: int
    ordinal: int
    id: str
    role: str


def read_places(encoded: bytes) -> tuple[MessageOffset, ...]:
    """Decode the stored positions of a chunk. Raises `IndexCorrupt`."""
    try:
        places = decode_json(encoded, tuple[MessageOffset, ...])
    except ValueError:
        places = ()
    if not places:
        raise IndexCorrupt(tr("The index does not say which messages a passage is from."))
    return places
