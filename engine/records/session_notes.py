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
    """When the last of its messages was said (UTC): `17:04:59`."""
    slug: str
    """The rest of that name: small letters, digits and hyphens."""
    existing: str
    """A note of this session, as it is now, that is there already: `memory/…`; empty where there is none."""
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
    """False where the session, as it is now, had this note already."""
    error: str | UnsetType = UNSET


class WrittenNote(Record, frozen=True):
    """A note that was made from a session."""

    path: str
    """Below the workspace, with `/`: `memory/2026-05-31-drip-valve.md`."""
    session: str
    """Stable name of the session."""
    written: float
    digest: str
    """SHA-256 of the file as it was made, in hexadecimal: it says whether anyone has changed it since."""
