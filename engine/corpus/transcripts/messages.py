"""The common output of all transcript formats: messages, and metadata of a session."""

import functools
import re
from collections.abc import Container, Set
from typing import Literal

import msgspec

from engine.corpus.transcripts.json_values import seconds, string
from engine.corpus.transcripts.token_usage import Usage
from engine.redaction.secret_masking import redact
from engine.text.folding import fold
from engine.text.stopwords import FUNCTION_WORD_LISTS, stop_words
from engine.text.writing_systems import UNSPACED, shape

Role = Literal["user", "assistant", "tool", "system"]
Kind = Literal["text", "thinking", "tool-call", "tool-result"]

# Characters that SQLite, FTS5 or Qt don't accept: halves of surrogate pairs and NUL.
_UNUSABLE = re.compile("[\ud800-\udfff\0]")
_SLICE = 64 * 1024  # a regex holds the interpreter's lock
_LONGEST_TITLE = 120
_MIN_WORDS = 2
"""Words other than function words that a title from a message has, if the message has so many."""
_LONGEST_LITTLE = 40
"""Maximum number of characters of a message that says little."""
_LONGEST_GIVEN = 200
_OPENING = 8 * 1024
_LONGEST_PAUSE = 300.0
"""Seconds between two messages that count as work at most."""
_NIGHT = 20 * 3600
"""Seconds without a message after which a session pauses; less than a day, so each day without one is in a pause."""
_MAX_PAUSES = _MAX_ABANDONED = 400
# After a digit, the full stop is that of a numbered list. (Starting with the last character of a sentence, the search
# skips everything else quickly.)
_SENTENCE_END = re.compile("[\\s\\u3002\\uff01\\uff1f](?:(?<=[\n\\u3002\\uff01\\uff1f])|(?<=[^\\d\\s][.!?…]\\s))")
_CONTINUED = (",", ":", "\uff0c", "\uff1a")
"""Ends of lines that continue on the next one."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_NO_TEXT = re.compile(r"^[ \t]*(?:```[^`\n]*|~~~.*|\[(?:image|file)[^\]\n]*\]\s*)(?:\n|\Z)", re.MULTILINE)
"""First or last line of a code block, or the name of an attachment."""


class Message(msgspec.Struct, frozen=True, gc=False):
    """One part of a session: speech, reasoning, a tool call or its result."""

    role: Role
    kind: Kind
    text: str
    """Text as returned by `clean`, with secrets not masked; line ends are "\\n"."""
    line: int
    """Line of the transcript, from 1; in a transcript that is one JSON document, the number of the message."""
    ordinal: int
    """Number of the message in the session, from 1; the parts of one message share it."""
    id: str = ""
    """Id from the transcript; empty if there is none."""
    time: float | None = None
    """Seconds since the epoch."""
    tool: str = ""
    """Name of the tool of a call or a result."""
    side: bool = False
    """Whether the message is part of a side conversation, such as a sub-agent's."""
    call: int = 0
    """Digest of the id that a tool call, or a question or plan in one, shares with its result; 0 if there is none."""
    failed: bool = False
    """Whether a tool call or its result is marked as failed or refused in the transcript."""

    @property
    def author(self) -> Role:
        """Role of the author: a sub-agent's task comes from the assistant, though it has the user's role."""
        return "assistant" if self.side and self.role == "user" else self.role

    @property
    def is_speech(self) -> bool:
        """Whether it is speech of the user or the agent, not reasoning, tools or instructions."""
        return self.kind == "text" and self.role in {"user", "assistant"}


class SessionMetadata(msgspec.Struct, kw_only=True):
    """Metadata of a session, completed while its transcript is read."""

    agent: str = ""
    """Short name of the program, as in its `Agent` declaration; set by the format."""
    id: str = ""
    title: str = ""
    """Title given by the user or the agent; empty if there is none."""
    opening: str = ""
    """First sentences of the user (for a sub-agent, of its caller): the title if there is no other. A message that says
    little, such as "hi", is replaced by the next one that says more.
    """
    project: str = ""
    """Folder that the agent worked in, or the project's name."""
    branch: str = ""
    started: float | None = None
    ended: float | None = None
    active: float | None = None
    """Seconds of work: the times between messages, of each at most five minutes. None without two different times, as
    in a format that records only one time of a session.
    """
    heard: float | None = None
    """Latest time of a message."""
    pauses: list[tuple[int, int]] = []
    """Long times without a message, as whole seconds of the messages before and after; the latest of very many."""
    parent: str = ""
    """Id of the session that started this one, such as a sub-agent's; empty for a main session."""
    unknown: int = 0
    """Number of lines or blocks that were not understood."""
    rewound: list[tuple[int, int]] = []
    """Ranges of lines, (first, last), that the user abandoned by going back to an earlier message; the latest of very
    many.
    """
    generated: bool = False
    """Whether it is an internal session of the agent, with nothing worth finding."""
    usage: dict[str, Usage] = {}
    """Tokens and cost by model; all are unknown if the transcript records only the model's name."""

    @classmethod
    def of(  # noqa: PLR0913 - all but the first are given by name
        cls,
        id: object = "",
        *,
        title: object = "",
        untitled: Container[str] = (),
        project: object = "",
        branch: object = "",
        parent: object = "",
        started: object = None,
        ended: object = None,
        generated: bool = False,
    ) -> "SessionMetadata":
        """Return the metadata in values of a transcript, of any type.

        `untitled`: titles that the program gives to sessions without one.
        """
        name = one_line(title)
        return cls(
            id=clean(id),
            title="" if name in untitled else name,
            project=clean(project),
            branch=clean(branch),
            parent=clean(parent),
            started=seconds(started),
            ended=seconds(ended),
            generated=generated,
        )

    @property
    def name(self) -> str:
        """The title to show; empty for a session without a message of the user."""
        return self.title or self.opening

    def counts(self, message: Message) -> bool:
        """Whether a message was spoken by the user or the agent of this session.

        In a main session, messages of sub-agents don't count.
        """
        return message.is_speech and (not message.side or bool(self.parent))

    def add_message(self, message: Message) -> None:
        """Update times and opening sentence from one more message."""
        if message.time is not None:
            self.started = message.time if self.started is None else min(self.started, message.time)
            self.ended = message.time if self.ended is None else max(self.ended, message.time)
            if self.heard is not None:
                self._record_pause(message.time, self.heard)
            if self.heard is not None and message.time > self.heard:
                self.active = (self.active or 0.0) + min(message.time - self.heard, _LONGEST_PAUSE)
            self.heard = message.time if self.heard is None else max(self.heard, message.time)
        if message.role != "user" or message.kind != "text" or (message.side and not self.parent):
            return  # (a sub-agent's session opens with the agent's request)
        if not self.opening:
            self.open_with(message.text)
        elif says_little(self.opening) and not says_little(opening := _masked_opening(message.text)):
            self.opening = opening

    def _record_pause(self, time: float, heard: float) -> None:
        """Record a long pause before a message; a message with an earlier time divides the pause in which it is."""
        if time - heard > _NIGHT:
            self.pauses = [*self.pauses[-_MAX_PAUSES + 1 :], (int(heard), int(time))]
        elif self.pauses and time < heard:
            at = int(time)
            pieces = (
                piece for first, last in self.pauses for piece in ((first, min(last, at)), (max(first, at), last))
            )
            self.pauses = [piece for piece in dict.fromkeys(pieces) if piece[1] - piece[0] > _NIGHT]

    def open_with(self, text: str) -> None:
        """Take the beginning of the user's text as the opening."""
        self.opening = _masked_opening(text)

    def mark_abandoned(self, first: int, last: int, origin: int = 0) -> None:
        """Mark lines as abandoned. A branch with the line `origin` counts again: the user went back to it."""
        kept = [span for span in self.rewound if span[0] < first and not span[0] <= origin <= span[1]]
        self.rewound = [*((start, min(end, first - 1)) for start, end in kept[-_MAX_ABANDONED + 1 :]), (first, last)]

    def is_abandoned(self, line: int) -> bool:
        """Whether a line is in a branch that the user abandoned."""
        return any(first <= line <= last for first, last in self.rewound)


def clean(value: object, *keys: object) -> str:
    """Return a JSON value, or its `member` at these keys, as text with only "\\n" line ends, without characters that
    SQLite, FTS5 or Qt don't accept; empty if it isn't a string.
    """
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    text = value if isinstance(value, str) else ""
    if len(text) <= _SLICE:
        # As most texts are; a search for the others takes several times as long.
        return text if text.isascii() and "\0" not in text and "\r" not in text else _clean(text)
    pieces, start = list[str](), 0
    while start < len(text):
        end = start + _SLICE
        end += text[end - 1 : end + 1] == "\r\n"  # a line end is not cut in two
        pieces.append(_clean(text[start:end]))
        start = end
    return "".join(pieces)


def _clean(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNUSABLE.sub("\ufffd", text)


def one_line(value: object, *keys: object) -> str:
    """Return a title, given as a JSON value or its `member` at these keys, on one line, at most 200 characters, with
    secrets masked; it ends in an ellipsis if it is cut.
    """
    return _masked_line(string(value, *keys)[:_OPENING])


@functools.lru_cache(maxsize=64)  # some agents repeat a session's title on many lines
def _masked_line(title: str) -> str:
    # Mask before cutting: half of a secret would not be recognised.
    line = " ".join(redact(clean(title)).split())
    return line if len(line) <= _LONGEST_GIVEN else f"{line[: _LONGEST_GIVEN - 1].rstrip()}…"


def _masked_opening(text: str) -> str:
    # Mask before cutting: half of a secret would not be recognised.
    return opening_line(redact(text[:_OPENING]))


def opening_line(text: str) -> str:
    """Return the beginning of a text as a title, on one line of at most 120 characters, cut between words.

    It is the first sentence, or several if the first says little, as "Why does this happen?" does, or only introduces
    the next line.
    """
    start = text.strip()[: 8 * _LONGEST_TITLE]
    if "`" in start or "~" in start or "[" in start:
        start = _NO_TEXT.sub("", start)
    start = start.strip()
    ends = (end.end() for end in _SENTENCE_END.finditer(start))
    enough = (end for end in ends if end > _LONGEST_TITLE or _has_subject(start[:end]))
    sentence = " ".join(start[: next(enough, len(start))].split())
    if len(sentence) <= _LONGEST_TITLE:
        return sentence
    cut = sentence[:_LONGEST_TITLE].rpartition(" ")[0] or sentence[: _LONGEST_TITLE - 1]
    return f"{cut}…"


@functools.lru_cache(maxsize=64)
def says_little(text: str) -> bool:
    """Whether a message has at most two words, at most one besides function words, and is no command such as
    `/init`.
    """
    if len(text) > _LONGEST_LITTLE or text.startswith("/"):  # quick, and true of most messages
        return False
    return _count_words(text) <= _MIN_WORDS and not _has_subject(text)


def _has_subject(text: str) -> bool:
    """Whether a text has enough words other than function words of any language to be a title."""
    return not text.rstrip().endswith(_CONTINUED) and _count_words(text, _function_words()) >= _MIN_WORDS


def _count_words(text: str, without: Set[str] = frozenset()) -> int:
    """Return the number of words; where they have no spaces between them, two characters count as one."""
    words = [word for word in _WORD.findall(fold(text)) if word not in without]
    if text.isascii():
        return len(words)
    return sum(max(1, shape(word).count(UNSPACED) // 2) for word in words)


@functools.cache
def _function_words() -> frozenset[str]:
    return frozenset[str]().union(*map(stop_words, FUNCTION_WORD_LISTS))
