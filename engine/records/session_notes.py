"""Notes that sum a session up, before and after they are written."""

from msgspec import UNSET, UnsetType

from engine.records.base import Record


class SessionNote(Record, frozen=True):
    """What would be written about a session."""

    session: str
    """Stable name of the session."""
    date: str
    """Its day (UTC), as the file's name begins: `2026-05-31`."""
    time: str
    """Time of its last message (UTC): `17:04:59`."""
    slug: str
    """The rest of that name: lower-case letters, digits and hyphens."""
    existing: str
    """An existing note of this session in its current state: `memory/…`; empty if there is none."""
    text: str
    """The whole note, secrets masked."""
    messages: int
    """How many messages are in it."""
    said: int
    """How many the session has, without commands and what programs put in."""


class RememberedSession(Record, frozen=True):
    """The answer of `remember_session`; `error` alone where it failed."""

    path: str | UnsetType = UNSET
    """Of the note, below the workspace: `memory/2026-05-31-drip-valve.md`."""
    session: str | UnsetType = UNSET
    """Stable name of the session."""
    messages: int | UnsetType = UNSET
    """How many of its last messages are in the note."""
    written: bool | UnsetType = UNSET
    """False if the session, in its current state, had this note already."""
    error: str | UnsetType = UNSET


class WrittenNote(Record, frozen=True):
    """A note that was made from a session."""

    path: str
    """Below the workspace, with `/`: `memory/2026-05-31-drip-valve.md`."""
    session: str
    """Stable name of the session."""
    written: float
    digest: str
    """SHA-256 of the file as written, in hexadecimal: shows whether it was changed since."""
