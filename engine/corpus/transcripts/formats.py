"""What a transcript format is: how it is recognised, and how it is read."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionFacts, clean
from engine.redaction.masks import redact


class LineParser(msgspec.Struct, kw_only=True):
    """Reads one transcript that has one JSON object a line, from its beginning or from where it stopped.

    All that it must remember between lines is in its fields: it is stored as JSON between two syncs, and goes on when
    the transcript has grown. A subclass adds what its format needs.
    """

    facts: SessionFacts
    ordinal: int = 0
    """Messages so far."""
    unknown: dict[str, int] = {}
    """How many lines of each type were not understood. Formats drift: they are shown, never fatal."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        """The messages of one parsed line, in order. Wrong types inside count as unknown, nothing raises."""
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
    ) -> Message:
        """One part of the present message (`ordinal` is already its number), cleaned and noted in the facts."""
        message = Message(role, kind, clean(text), line, self.ordinal, clean(id), time, clean(tool), side)
        self.facts.saw(message)
        return message

    def count_unknown(self, kind: object) -> None:
        """Note a line or a block of a type that this format did not have when it was looked up."""
        name = redact(clean(kind[:1000]))[:60] if isinstance(kind, str) and kind else "without a type"
        self.unknown[name] = self.unknown.get(name, 0) + 1


class LineFormat(Protocol):
    """Transcripts with one JSON object a line."""

    agent: str
    speech_marks: tuple[bytes, ...]
    """What stands, as the agent writes it, about once in every message of speech: to count them without parsing.

    A long mark is found more quickly than a short one.
    """
    title_marks: tuple[bytes, ...]
    """What stands in a line that gives the session a title."""

    def matches(self, values: Sequence[Mapping[str, Any]]) -> bool:
        """Whether these objects, from the first lines of a file (at most 20), are of this format."""

    def parser(self, path: str) -> LineParser:
        """A parser at the beginning; `path` may tell the session's id or agent where no line does."""

    def resume(self, state: bytes) -> LineParser:
        """The parser whose fields these are (JSON). Raises ValueError for a state of another version."""


class Conversation(msgspec.Struct, frozen=True):
    """One session of a document that may hold many."""

    key: str
    """Tells it from the others in its document, and stays the same in a later export; "" if it is the only one."""
    facts: SessionFacts
    messages: tuple[Message, ...]
    unknown: Counter[str]


class DocumentFormat(Protocol):
    """Transcripts that are one JSON document (or a zip file with one), with one or many sessions in it."""

    agent: str

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file whose first bytes (at most 64 KB) are these is of this format."""

    def conversations(self, path: str, cancel: CancelToken | None = None) -> Iterator[Conversation]:
        """One after the other, without holding all in memory.

        Raises OSError, ValueError for a document that breaks off (after what came before was given), Cancelled.
        """


class SessionDatabase(Protocol):
    """An open database with sessions.

    Everything raises OSError, `PathRefused`, ValueError for a damaged one, Cancelled.
    """

    def keys(self) -> Set[str]:
        """Of all sessions in which someone has said something."""

    def marks(self) -> Mapping[str, str]:
        """For each key what is another text when the session has changed; last changed first.

        Empty for a session whose messages cannot be read: `conversation` says why.
        """

    def conversation(self, key: str) -> Conversation | None:
        """One session, whole; None where there is none (any more)."""


class DatabaseFormat(Protocol):
    """Transcripts that are a database, which goes on changing: only what has changed in it is read."""

    agent: str

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file whose first bytes (at most 64 KB) are these is of this format.

        Raises OSError, `PathRefused`, and ValueError for a database of which nobody can tell (now).
        """

    def opened(self, path: str, cancel: CancelToken | None = None) -> AbstractContextManager[SessionDatabase]:
        """The database for reading: nothing in its folder is written, made or locked."""
