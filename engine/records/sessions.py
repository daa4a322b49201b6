"""Past sessions of agents, and their messages."""

from typing import Literal, get_args

from msgspec import UNSET, UnsetType

from engine.records.base import Record

_OPEN_CALLS = 64
"""Maximum number of tool calls that await their result: some agents never write results."""


class ModelUsage(Record, frozen=True, gc=False, kw_only=False):
    """Tokens and cost of a session's requests to one model, as its transcript records them; None means unknown.

    Members are positional, in the order in which they are stored: a list of sessions makes thousands.
    """

    model: str
    """Empty if unknown."""
    input_tokens: int | None = None
    """Tokens sent that were not in the provider's cache."""
    output_tokens: int | None = None
    """Tokens received, including reasoning."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    """Tokens sent and written to the cache."""
    cache_write_hour_tokens: int | None = None
    """Part of `cache_write_tokens` that stays cached for an hour."""
    recorded_cost: float | None = None
    """US dollars, if the agent itself recorded the cost."""

    @property
    def has_numbers(self) -> bool:
        """Whether any number is known; some transcripts record only the model's name."""
        return any(number is not None for number in self._numbers)

    @property
    def is_copied(self) -> bool:
        """Whether all known numbers are 0, because the requests were copied from another session and count there."""
        return self.has_numbers and not any(self._numbers)

    @property
    def _numbers(self) -> tuple[float | None, ...]:
        tokens = (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens)
        return (*tokens, self.recorded_cost)


class UsageTotal(Record, frozen=True):
    """Sums of tokens and cost over sessions; None means unknown. Unrecorded numbers are not in the sums."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None
    """US dollars: as recorded, else by the price table."""
    cost_complete: bool = True
    """Whether the cost of all parts is known."""


class SessionSummary(Record, frozen=True, gc=False, kw_only=False):
    """Metadata of one past session of an agent: title, times, project and counts.

    Members may be given by position, which is faster. Not tracked by the garbage collector: there may be tens of
    thousands, and none can be part of a cycle.
    """

    path: str
    """Stable name, `sessions/<store>/…`."""
    agent: str
    """Short name of the program that wrote the session: `openclaw`, `claude-code`, `codex`, `chatgpt`, `claude`,
    `gemini` …
    """
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
    """Size of the transcript; for an export with many sessions, of the session's text."""
    parent: str
    """Id of the session that started this one, such as a sub-agent's; empty for a main session."""
    resume_command: str
    """Shell command that resumes the session in its agent; empty if there is none."""
    modified: float | None = None
    """Time at which the session ended, else its transcript was last changed; None if unknown."""
    unknown: int = 0
    """Number of lines or blocks of the transcript that were not understood at the last index update."""
    usage: tuple[ModelUsage, ...] = ()
    """Tokens and cost by model; all are unknown if the transcript records only the model's name. Empty if it records no
    model, or was not read yet.
    """
    total_usage: UsageTotal | None = None
    """Sum of `usage` with its cost; only set for a session that was read."""
    machine: str = ""
    """Name of the machine that the session was synchronised from; empty for this machine."""
    active_seconds: float | None = None
    """Time of work: the sum of the times between messages, of each at most five minutes. None if the transcript has no
    times, or was not read yet.
    """
    pauses: tuple[tuple[int, int], ...] = ()
    """Times of more than 20 hours without a message, as Unix times of the messages before and after, which divide
    a session into the days that have messages.
    """

    @property
    def last(self) -> float | None:
        """Time of the last message; of the last change of the transcript, if it doesn't record that."""
        if self.ended is not None:
            return self.ended
        return self.started if self.modified is None else self.modified


class SessionMessage(Record, frozen=True, gc=False):
    """One part of a session: speech, reasoning, a tool call or its result.

    Not tracked by the garbage collector: it contains texts and numbers only, and a session has many thousands.
    """

    role: Literal["user", "assistant", "tool", "system"]
    kind: Literal["text", "thinking", "tool-call", "tool-result"]
    text: str
    """Text with secrets masked, unless the session was read with `reveal`."""
    line: int
    """Line in the transcript, used in citations; in an export the number of the message."""
    ordinal: int
    """Number of the message, from 1; the parts of one message share it."""
    id: str
    time: float | None
    tool: str
    """For a tool call or its result: name of the tool."""
    side: bool
    """Whether it is part of a side conversation, such as a sub-agent's."""
    rewound: bool = False
    """Whether it is part of a branch that the user abandoned by going back to an earlier message."""
    call: int = 0
    """Number that a tool call, or a question or plan in one, shares with its result; 0 if there is none."""
    failed: bool = False
    """Whether it is a tool call that failed or was refused, or the result of one, if the transcript records it."""

    def answers(self, call: "SessionMessage") -> bool:
        """Whether this result of a tool may be that of an earlier call: by its number, or else by the tool's name."""
        if self.call and call.call:
            return self.call == call.call
        return not self.tool or self.tool == call.tool


class SessionText(Record, frozen=True, weakref=True):
    """All messages of one session, read from its transcript."""

    summary: SessionSummary
    messages: tuple[SessionMessage, ...]
    """Messages in the order of the transcript."""
    masked: int
    """Number of messages with secrets, also with `reveal`."""
    unknown: tuple[tuple[str, int], ...]
    """Number of lines or blocks that were not understood, by type."""

    def results(self) -> dict[int, int]:
        """Map the position of each tool call in `messages` to that of its result."""
        results: dict[int, int] = {}
        waiting: list[int] = []
        for number, message in enumerate(self.messages):
            if message.kind == "tool-call":
                waiting.append(number)
                del waiting[:-_OPEN_CALLS]
            elif message.kind == "tool-result":
                call = next((call for call in waiting if message.answers(self.messages[call])), None)
                if call is not None:
                    waiting.remove(call)
                    results[call] = number
            elif message.kind == "text" and message.role != "system" and message.text.strip():
                waiting = [call for call in waiting if self.messages[call].call]  # others are matched by tool's name
        return results


class FileUse(Record, frozen=True, gc=False):
    """A file that an agent's tool call read or changed."""

    session: str
    """Stable name of the session."""
    title: str
    """Title of the session."""
    agent: str
    project: str
    """Working folder of the session."""
    kind: Literal["read", "edited", "created", "deleted"]
    path: str
    """Path with `/`, relative to the project if the file is in it; secrets masked."""
    line: int
    """Line in the transcript, as results cite it; in an export the number of the message."""
    ordinal: int
    """Number of the message."""
    time: float | None
    """Time of the message, else of the session's last message."""


# --- Notes that sum a session up, before and after they are written --------------------------------------------------


class SessionNote(Record, frozen=True):
    """Draft of a note that summarises a session."""

    session: str
    """Stable name of the session."""
    date: str
    """Day of the session (UTC), with which the file's name begins: `2026-05-31`."""
    time: str
    """Time of the session's last message (UTC): `17:04:59`."""
    slug: str
    """Rest of the file's name: lower-case letters, digits and hyphens."""
    existing: str
    """Path of an existing note on this session in its present state: `memory/…`; empty if there is none."""
    text: str
    """The whole note, secrets masked."""
    messages: int
    """Number of messages in the note."""
    session_messages: int
    """Number of messages in the session, without commands and inserted text."""


class RememberedSession(Record, frozen=True):
    """The answer of `remember_session`; only `error` is set on failure."""

    path: str | UnsetType = UNSET
    """Path of the note, below the workspace: `memory/2026-05-31-drip-valve.md`."""
    session: str | UnsetType = UNSET
    """Stable name of the session."""
    messages: int | UnsetType = UNSET
    """Number of the session's last messages in the note."""
    written: bool | UnsetType = UNSET
    """False if this note existed already for the session's present state."""
    error: str | UnsetType = UNSET


class WrittenNote(Record, frozen=True):
    """A note that was written about a session."""

    path: str
    """Path below the workspace, with `/`: `memory/2026-05-31-drip-valve.md`."""
    session: str
    """Stable name of the session."""
    written: float
    digest: str
    """SHA-256 of the file as written, in hexadecimal, to detect later changes."""


# --- Statistics -------------------------------------------------------------------------------------------------------


StatsKey = Literal["agent", "project", "machine", "model", "day"]
STATS_KEYS: tuple[StatsKey, ...] = get_args(StatsKey)


class PriceSource(Record, frozen=True):
    """Where a list of model prices is from."""

    source: str
    """Web address or file."""
    date: str
    """Day on which the prices were looked up, such as 2026-10-24; empty if unknown."""


class StatsRow(Record, frozen=True):
    """Sums over a group of sessions."""

    name: str
    """Agent, project, machine, model or day (2026-02-11); empty for unknown, or for this machine."""
    sessions: int
    """Number of sessions. Sub-agents add only their tokens and cost, unless their main session is unknown."""
    messages: int
    seconds: float | None
    """Sum of their `active_seconds`; None if no session records times."""
    without_usage: int
    """Number of these sessions that record no tokens."""
    usage: UsageTotal


class SessionStats(Record, frozen=True):
    """Statistics of sessions, in total and by group."""

    total: StatsRow
    rows: tuple[StatsRow, ...]
    """Rows by agent, project, machine, model or day, if requested. A session counts on the day of its last message, and
    in the row of each model that it used.
    """
    unpriced: tuple[str, ...]
    """Models whose price is unknown."""
    prices: tuple[PriceSource, ...]


# --- Sessions to take along -------------------------------------------------------------------------------------------

ExportFormat = Literal["html", "markdown"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
