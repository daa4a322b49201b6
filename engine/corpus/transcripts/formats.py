"""Interfaces of transcript formats: how to recognise a format, and how to read it."""

import functools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from engine.base.bounded_json import decode_json
from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.token_usage import Request, Usage, add_usage
from engine.redaction.secret_masking import redact

if TYPE_CHECKING:
    import apsw

OBJECT, ARRAY = (re.compile(rb"\A[\s\xef\xbb\xbf]*" + first) for first in (rb"\{", rb"\[\s*\{"))
"""Match the beginning of a document that is an object, or an array of objects."""
OBJECTS = re.compile(rb"\A[\s\xef\xbb\xbf]*\[?\s*\{")
_ATTACHMENTS = re.compile(r"(?:\[(?:image|file)(?:: [^\n]{0,1000})?\](?:\n|\Z))+")
"""Matches a text of placeholders alone, one a line."""
_RECENT = 64
"""Number of last requests whose usage may be repeated, with more tokens, on a later line."""
_LONGEST_MODEL = 100
_NO_MODELS = ("", "auto", "default")
_MAX_TYPES = 500
"""Types of unknown items that are counted one by one."""


class Part(NamedTuple):
    """One part of a message, before it is cleaned and numbered."""

    role: Role
    kind: Kind
    text: str
    tool: str = ""
    call: str = ""
    """Id that a tool call shares with its result."""
    failed: bool = False
    """Whether a tool call or its result is marked as failed or refused."""


def tool_call(text: str, tool: str = "", call: str = "", failed: bool = False) -> Part:
    """Return the agent's call of a tool. The tool's name is its text if the call has no input."""
    return Part("assistant", "tool-call", text or tool, tool, call, failed)


def tool_result(text: str, tool: str = "", call: str = "", failed: bool = False) -> Part:
    return Part("tool", "tool-result", text, tool, call, failed)


class LineParser(msgspec.Struct, kw_only=True):
    """Parses one transcript with one JSON object per line, from its beginning or from where parsing stopped.

    All state between lines is in its fields: it is stored as JSON between two syncs, and used when the transcript has
    grown. A subclass adds the state of its format.
    """

    metadata: SessionMetadata = msgspec.field(name="facts")  # its name in stored states
    ordinal: int = 0
    """Number of messages read so far."""
    opened: int = 0
    """Line of the session's opening sentence; once the user has abandoned its branch, the next message replaces it."""
    unknown: dict[str, int] = {}
    """Number of lines and blocks not understood, by type. Formats change, so these are shown and never fatal."""
    calls: dict[str, str] = {}
    """Name of each called tool, by the id of the call, until its result is read."""
    counted: dict[int, Usage] = {}
    """Usage of the last requests, by the digest of their id."""
    requests: list[Request] = []
    """Requests since the last `take_requests`: a fork or a resumed session may have copied them from
    another session.
    """

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        """Return the messages of one parsed line. Values of wrong types count as unknown; never raises."""
        raise NotImplementedError

    def part(  # noqa: PLR0913 - most are options, given by name
        self,
        role: Role,
        kind: Kind,
        text: str,
        line: int,
        *,
        id: str = "",
        time: float | None = None,
        tool: str = "",
        side: bool = False,
        call: str = "",
        failed: bool = False,
    ) -> Message:
        """Return one part of the current message, with text cleaned, and update the session's metadata.

        `call`: id that a tool call shares with its result.
        """
        number = digest(call) if call else 0
        message = Message(
            role, kind, clean(text), line, self.ordinal, clean(id), time, clean(tool), side, number, failed
        )
        metadata, opening = self.metadata, self.metadata.opening
        if opening and metadata.rewound and metadata.is_abandoned(self.opened):
            metadata.opening = ""
        before = metadata.opening
        metadata.add_message(message)
        if metadata.opening != before:
            self.opened = line
        metadata.opening = metadata.opening or opening
        return message

    def next_message(
        self,
        parts: Iterable[Part],
        line: int = 0,
        *,
        id: str = "",
        time: float | None = None,
        side: bool | None = None,
    ) -> list[Message]:
        """Return the parts with text, and failures without one, as the next message of the session; empty without any.

        Without a line, as in a document or a database, the message's ordinal is used. `side`: whether it is part of a
        side conversation; by default, all messages of a sub-agent's session are.
        """
        filled = filled_parts(self._with_names(parts))
        if not filled:
            return []
        self.ordinal += 1
        at, aside = line or self.ordinal, bool(self.metadata.parent) if side is None else side
        return [
            self.part(role, kind, text, at, id=id, time=time, tool=tool, side=aside, call=call, failed=failed)
            for role, kind, text, tool, call, failed in filled
        ]

    def _with_names(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Yield the parts one by one; a tool's result without a name gets the name in the call with the same id."""
        calls, returned = self.calls, list[str]()
        for part in parts:
            role, kind, text, tool, call, failed = part
            if call and kind == "tool-call":
                calls[clean(call)] = clean(tool)
            elif call and kind == "tool-result":
                returned.append(key := clean(call))  # a turn may have several results of a call
                if not tool and key in calls:
                    yield Part(role, kind, text, calls[key], call, failed)
                    continue
            yield part
        for key in returned:
            calls.pop(key, None)

    def use(self, model: object, usage: Usage, *, request: str = "", copied: str = "") -> None:
        """Add the usage of a request to the metadata, once for all lines with the same `request` id; without recorded
        usage, only the model's name.

        `copied`: the request's id in all sessions, if that isn't `request`.
        """
        if not usage.is_recorded:
            self.use_model(model)
            return
        name = self.model_name(model)
        if request:
            number = digest(request)
            before = self.counted.pop(number, None)
            self.counted[number] = usage
            if len(self.counted) > _RECENT:
                del self.counted[next(iter(self.counted))]
            usage = usage if before is None else usage.beyond(before)
        add_usage(self.metadata.usage, name, usage)
        if copied or request:
            self.requests.append(Request(digest(copied or request), name, msgspec.structs.astuple(usage)))

    def use_model(self, model: object) -> None:
        """Add a model's name to the metadata, if it is one, and not that of a choice or of messages that no model wrote
        (`<synthetic>`).
        """
        if isinstance(model, str) and model not in _NO_MODELS and not model.startswith("<"):
            add_usage(self.metadata.usage, self.model_name(model), Usage())

    @staticmethod
    def model_name(model: object) -> str:
        """Return the name of a model, with secrets masked; empty if it is unknown."""
        return _masked_model(model[:1000]) if isinstance(model, str) else ""

    def take_requests(self) -> list[Request]:
        """Return the requests since the last call."""
        requests, self.requests = self.requests, []
        return requests

    def role(self, known: Mapping[str, Role], name: str, member: str = "role") -> Role:
        """Return the role that a format calls `name`, in any case; the system's, counted as unknown, for any other."""
        role = known.get(name) or known.get(name.casefold())
        if role is None:
            self.count_unknown(f"{member} {name}")
        return role or "system"

    def conversation(
        self,
        key: str,
        messages: Iterable[Message],
        abandoned: tuple[Message, ...] = (),
        requests: tuple[Request, ...] = (),
    ) -> "Conversation":
        """Return the session with its messages read so far."""
        read = tuple(messages)  # first, since it may still count
        return Conversation(key, self.metadata, read, Counter(self.unknown), abandoned, requests)

    def count_unknown(self, kind: object) -> None:
        """Count a line or a block whose type the format did not have when this parser was written."""
        if isinstance(kind, str) and kind in self.unknown:  # usually: then it needs no masking, which is slow
            name = kind
        else:
            name = redact(clean(kind[:1000]))[:60] if isinstance(kind, str) and kind else "without a type"
            if name not in self.unknown and len(self.unknown) >= _MAX_TYPES:
                name = "of other types"
        self.unknown[name] = self.unknown.get(name, 0) + 1
        self.metadata.unknown += 1


@functools.lru_cache(maxsize=64)  # masking a name takes longer than the rest of a short message
def _masked_model(model: str) -> str:
    return redact(clean(model))[:_LONGEST_MODEL]


def filled_parts(parts: Iterable[Part]) -> list[Part]:
    """Return the parts with text, and failures without one.

    Attachments are appended to the text that they were sent with, perhaps with instructions between them, so that both
    are one message; the text is first, as in titles and excerpts.
    """
    joined: list[Part] = []
    for part in parts:
        if not part.text.strip() and not (part.failed and part.kind == "tool-result"):
            continue
        at = len(joined) - 1
        while at > 0 and joined[at].role == "system" != part.role:
            at -= 1
        last = joined[at] if joined else None
        if last is None or part.kind != "text" or (last.role, last.kind) != (part.role, "text"):
            joined.append(part)
        elif _ATTACHMENTS.fullmatch(part.text):
            joined[at] = last._replace(text=f"{last.text}\n{part.text}")
        elif _ATTACHMENTS.fullmatch(last.text):
            joined[at] = part._replace(text=f"{part.text}\n{last.text}")
        else:
            joined.append(part)
    return joined


def digest(id: str) -> int:
    """Return a short digest of an id, which takes less memory than the id."""
    return int.from_bytes(blake2b(id.encode(errors="replace"), digest_size=7).digest())


class LineFormat:
    """A format of transcripts with one JSON object per line. A subclass describes it."""

    agent: str
    parses: type[LineParser]
    speech_marks: tuple[bytes, ...]
    """Byte sequences that occur about once in every message of speech, to count messages without parsing. A long one is
    found more quickly than a short one.
    """
    title_marks: tuple[bytes, ...] = ()
    """Byte sequences in lines that give the session a title."""

    def __init__(self, agent: str = "") -> None:
        """`agent`: one of several with this format."""
        self.agent = agent or self.agent

    def matches(self, values: Sequence[Mapping[str, Any]]) -> bool:
        """Whether these objects, from at most 20 first lines of a file, have this format."""
        return any(map(self.is_line, values))

    def is_line(self, value: Mapping[str, Any]) -> bool:
        """Whether an object is one that only lines of this format are."""
        raise NotImplementedError

    def parser(self, path: str) -> LineParser:
        """Return a new parser; `path` may contain the session's id or agent if no line does."""
        parser = self.begin(path)
        parser.metadata.agent = self.agent
        return parser

    def begin(self, path: str) -> LineParser:
        """Return a new parser, without the agent."""
        return self.parses(metadata=self.metadata(path))

    def metadata(self, path: str) -> SessionMetadata:
        """Return the metadata that the path of a transcript and the files next to it contain."""
        return SessionMetadata.of(os.path.basename(path).removesuffix(".jsonl"))

    def resume(self, state: bytes) -> LineParser:
        """Return a parser with the fields in `state` (JSON). Raises ValueError for a state of another version."""
        return decode_json(state, self.parses)


class Conversation(msgspec.Struct, frozen=True):
    """One session of a document that may contain many, with its messages."""

    key: str
    """Identifies the session in its document, also in later exports; "" if it is the only one."""
    metadata: SessionMetadata
    messages: tuple[Message, ...]
    unknown: Counter[str]
    abandoned: tuple[Message, ...] = ()
    """Messages of branches that the user abandoned by editing or repeating a message, numbered after all others."""
    requests: tuple[Request, ...] = ()
    """Requests that a fork of the session may have copied."""

    @property
    def everything(self) -> tuple[Message, ...]:
        """All messages, with abandoned branches last."""
        return self.messages + self.abandoned


class DocumentFormat:
    """A format of transcripts that are one JSON document (or a zip file with one), with one or many sessions.
    A subclass describes it.
    """

    agent: str
    opening: re.Pattern[bytes] = OBJECT
    """Matches its first bytes."""
    members: str = ""
    """Names of members in its beginning."""

    def __init__(self, agent: str = "") -> None:
        """`agent`: one of several with this format."""
        self.agent = agent or self.agent

    def matches(self, path: str, head: bytes) -> bool:
        """Whether a file with these first bytes (at most 64 KB) has this format."""
        # The plain search first: it takes a hundredth of the time, and is done for every transcript.
        names = [b'"%s"' % name.encode() for name in self.members.split()]
        has_names = all(name in head for name in names) and all(re.search(name + rb"\s*:", head) for name in names)
        return has_names and self.opening.match(head) is not None

    def conversations(self, path: str, cancel: CancelToken | None = None) -> Iterator[Conversation]:
        """Yield the conversations, without loading all into memory.

        Raises OSError, ValueError for a truncated document (after the complete ones), Cancelled.
        """
        for conversation in self.read(path, cancel):
            conversation.metadata.agent = self.agent
            yield conversation

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        """Yield the conversations, without the agent."""
        raise NotImplementedError


class SessionDatabase(Protocol):
    """An open database that contains sessions.

    All methods raise OSError, `PathRefused`, Cancelled, and ValueError for a damaged database.
    """

    def keys(self) -> Set[str]:
        """Return the keys of all sessions with messages."""

    def can_read(self, key: str) -> bool:
        """Whether nothing of a session in `keys` is damaged or missing, as far as that can be checked quickly."""

    def marks(self) -> Mapping[str, str]:
        """Return for each session, by key, a text that changes whenever the session does; last changed first.

        Empty for a session whose messages can't be read: `conversation` has the reason.
        """

    def conversation(self, key: str) -> Conversation | None:
        """Return one session as a whole; None if it doesn't exist (any more)."""


class DatabaseFormat(Protocol):
    """A format of transcripts in a database that keeps changing: only changed sessions are read."""

    agent: str

    def __init__(self, agent: str = "") -> None:
        """`agent`: one of several with this format."""
        self.agent = agent or self.agent

    def matches(self, path: str, connection: "apsw.Connection") -> bool:
        """Whether the database at `path` has this format."""

    def opened(self, path: str, cancel: CancelToken | None = None) -> AbstractContextManager[SessionDatabase]:
        """Open the database for reading, without writing, creating or locking anything in its folder."""


class Formats(NamedTuple):
    """The formats of one agent's transcripts, each kind in the order in which formats are tried."""

    lines: tuple[LineFormat, ...] = ()
    documents: tuple[DocumentFormat, ...] = ()
    databases: tuple[DatabaseFormat, ...] = ()
