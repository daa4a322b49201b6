"""Past sessions of agents, and their messages."""

from typing import Literal, get_args

from msgspec import UNSET, UnsetType

from engine.records.base import Record


class ModelUsage(Record, frozen=True, gc=False):
    """Tokens and cost of a session's requests to one model, as its transcript records them; None is unknown."""

    model: str
    """Empty if unknown."""
    input_tokens: int | None = None
    """Sent, and not in the provider's cache."""
    output_tokens: int | None = None
    """Received, with those of reasoning."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    """Sent and written to the cache."""
    cache_write_hour_tokens: int | None = None
    """Those of `cache_write_tokens` that stay for an hour."""
    recorded_cost: float | None = None
    """In US dollars, where the agent itself recorded it."""


class UsageTotal(Record, frozen=True):
    """Tokens and cost of some sessions; None is unknown. Sessions without recorded numbers are not in the sums."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None
    """In US dollars: as recorded, else by the price table."""
    cost_complete: bool = True
    """False if the cost of a part is unknown."""


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
    modified: float | None = None
    """When it ended, else when its transcript was changed last; None if unknown."""
    unknown: int = 0
    """How many items of its transcript, lines or blocks, were not understood at the last index update."""
    usage: tuple[ModelUsage, ...] = ()
    """By model; empty if the transcript records none, or was not read yet."""
    spent: UsageTotal | None = None
    """The sum of `usage` with its cost, of a session that was read."""
    machine: str = ""
    """Name of the machine that it was synchronised from; empty for this one."""


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
    rewound: bool = False
    """Part of a branch that the user left by going back to an earlier message."""


class SessionText(Record, frozen=True, weakref=True):
    """One session, read from its transcript."""

    summary: SessionSummary
    messages: tuple[SessionMessage, ...]
    """Messages in the order of the transcript."""
    masked: int
    """Number of messages with masked secrets, also counted with `reveal`."""
    unknown: tuple[tuple[str, int], ...]
    """Counts of items not understood, by type."""


class FileUse(Record, frozen=True, gc=False):
    """A file that an agent's tool call read or changed."""

    session: str
    """Stable name of the session."""
    title: str
    """Of the session."""
    agent: str
    project: str
    """Folder of the session."""
    kind: Literal["read", "edited", "created", "deleted"]
    path: str
    """With `/`, relative to the project if it is in it; secrets masked."""
    line: int
    """Line of the transcript, as results cite it; in an export the message's ordinal."""
    ordinal: int
    """Number of the message."""
    time: float | None
    """Of the message; of the session's last message where the transcript has none."""


# --- Notes that sum a session up, before and after they are written --------------------------------------------------


class SessionNote(Record, frozen=True):
    """Draft of a note that is made from a session."""

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


# --- Statistics -------------------------------------------------------------------------------------------------------


StatsKey = Literal["agent", "project", "model", "day"]
STATS_KEYS: tuple[StatsKey, ...] = get_args(StatsKey)


class PriceSource(Record, frozen=True):
    """Where prices of models are from."""

    source: str
    """Address or file."""
    date: str
    """The day on which they were looked up, such as 2026-10-24; empty if unknown."""


class StatsRow(Record, frozen=True):
    """Sums over some sessions."""

    name: str
    """Agent, project, model or day (2026-02-11); empty for unknown."""
    sessions: int
    """Without those of sub-agents, whose tokens and cost are in `usage`."""
    messages: int
    seconds: float
    """From the first to the last message of each session."""
    without_usage: int
    """How many of the sessions record no tokens."""
    usage: UsageTotal


class SessionStats(Record, frozen=True):
    """Statistics of sessions."""

    total: StatsRow
    rows: tuple[StatsRow, ...]
    """By agent, project, model or day, if requested. A session counts on the day of its last message, and in each row
    of the models that it used."""
    unpriced: tuple[str, ...]
    """Models without a price."""
    prices: tuple[PriceSource, ...]


# --- Sessions to take along -------------------------------------------------------------------------------------------

ExportFormat = Literal["html", "markdown"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
