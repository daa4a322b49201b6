"""Past sessions of agents, and their messages."""

from typing import Literal

from msgspec import UNSET, UnsetType

from engine.records.base import Record


class SessionSummary(Record, frozen=True):
    """Metadata of one session."""

    path: str
    """Stable name, `sessions/<store>/…`."""
    agent: str
    """Short name of the program that wrote it: `openclaw`, `claude-code`, `codex`, `chatgpt`, `claude`, `gemini` …"""
    id: str
    title: str
    """Given title, else the first real sentence of the user; empty if there is neither."""
    project: str
    """Working folder of the agent; empty if unknown."""
    branch: str
    started: float | None
    ended: float | None
    messages: int
    """Number of messages of the user and the agent, without tool calls and reasoning."""
    bytes: int
    """Size of its transcript; in an export that holds many sessions, of its text."""
    parent: str
    """Id of the session that it is part of, such as a sub-agent's; empty for a main session."""
    resume_command: str
    """Shell command that resumes it in its agent; empty if there is none."""


class SessionMessage(Record, frozen=True, gc=False):
    """One part of a session: speech, reasoning, a tool call or its result.

    Not tracked by the garbage collector: it contains texts and numbers only, and a session has many thousands.
    """

    role: Literal["user", "assistant", "tool", "system"]
    kind: Literal["text", "thinking", "tool-call", "tool-result"]
    text: str
    """Text with secrets masked, unless the session was read with `reveal`."""
    line: int
    """Line of the transcript, used in citations; in an export the message's ordinal."""
    ordinal: int
    """Number of the message, from 1; the parts of one message share it."""
    id: str
    time: float | None
    tool: str
    """Name of the tool of a call or a result."""
    side: bool
    """Part of a side conversation, such as a sub-agent's."""


class SessionText(Record, frozen=True):
    """One session, read from its transcript."""

    summary: SessionSummary
    messages: tuple[SessionMessage, ...]
    """Messages in the order of the transcript."""
    masked: int
    """Number of messages with masked secrets, also counted with `reveal`."""
    unknown: tuple[tuple[str, int], ...]
    """Counts of lines not understood, by type."""


# --- Notes that sum a session up, before and after they are written --------------------------------------------------


class SessionNote(Record, frozen=True):
    """Draft of the note of a session."""

    session: str
    """Stable name of the session."""
    date: str
    """Its day (UTC), as the file's name begins: `2026-05-31`."""
    time: str
    """Time of its last message (UTC): `17:04:59`."""
    slug: str
    """Rest of the file's name: lower-case letters, digits and hyphens."""
    existing: str
    """An existing note of this session in its current state: `memory/…`; empty if there is none."""
    text: str
    """The whole note, secrets masked."""
    messages: int
    """Number of messages in the note."""
    said: int
    """Number of messages of the session, without commands and inserted text."""


class RememberedSession(Record, frozen=True):
    """The answer of `remember_session`; only `error` is set on failure."""

    path: str | UnsetType = UNSET
    """Of the note, below the workspace: `memory/2026-05-31-drip-valve.md`."""
    session: str | UnsetType = UNSET
    """Stable name of the session."""
    messages: int | UnsetType = UNSET
    """Number of its last messages in the note."""
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
