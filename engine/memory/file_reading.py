"""Reads files of a workspace as text: notes unchanged, sessions from their transcripts with secrets masked."""

import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import PARSER_FAULTS, PathRefused, TranscriptUnreadable, WorkspaceError
from engine.base.language import tr
from engine.base.skip_reasons import NO_TRANSCRIPT_OR_EMPTY, problem, tr_reason, unreadable
from engine.corpus.path_guard import PathGuard
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.session_stores import locate_transcript, names_session
from engine.records import FileText, ModelUsage, SessionMessage, SessionSummary, SessionText
from engine.redaction.secret_masking import redact
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.corpus.line_reader import NumberedText
    from engine.corpus.transcripts.formats import Conversation
    from engine.corpus.transcripts.transcript_reader import Position


log = lazy_logger(__name__)


class WorkspaceFiles:
    """Reads notes and sessions as text. Thread-safe. See `MemorySearchManager` for the errors raised."""

    def __init__(self, guard: PathGuard, sessions: "SessionFiles") -> None:
        self._guard = guard
        self._sessions = sessions

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        try:
            if self._sessions.is_session_name(path):
                return self._sessions.read_file(path, start=start, lines=lines)
            text = self.open_file(path)
        except FileNotFoundError:
            first = start or 1
            return FileText(
                path=path, text="", from_line=first, lines=0, truncated=False, next_from=None, total_lines=None
            )
        with text:
            return read_slice(text, path, start, lines)

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> "NumberedText":
        from engine.corpus.line_reader import NumberedText

        if self._sessions.is_session_name(path):
            raise PathRefused  # the file on disk contains unmasked secrets
        with _accessible(path):
            return NumberedText.open(self._guard.locate(path), cancel)

    def locate(self, path: str) -> Path:
        if self._sessions.is_session_name(path):
            return self._sessions.locate(path)
        with _accessible(path):
            return self._guard.locate(path)


def read_slice(text: "NumberedText", path: str, start: int | None, lines: int | None) -> FileText:
    r"""Return `lines` lines from `start`; None or 0 mean all lines and the first one. Empty beyond the end.

    A slice has "\\n" between its lines and no trailing line break; without `start` and `lines`, the text is unchanged.
    """
    whole = not start and not lines
    return _slice(path, text.line_count, start, lines, (lambda *_: text.full_text()) if whole else text.text)


def _slice(path: str, total: int, start: int | None, lines: int | None, text_of: Callable[[int, int], str]) -> FileText:
    """Return at most `lines` of `total` lines from `start`; `text_of` returns the text from a first to a last line."""
    first = max(1, start or 1)
    last = min(total, first + lines - 1) if lines and lines > 0 else total
    return FileText(
        path=path,
        text=text_of(first, last) if first <= last else "",
        from_line=first,
        lines=max(0, last - first + 1),
        truncated=last < total,
        next_from=last + 1 if last < total else None,
        total_lines=total,
    )


class _LastRead(NamedTuple):
    """The session that was read last, to read on when it has grown, as an open one does with each message."""

    path: str
    reveal: bool
    text: "weakref.ref[SessionText]"
    """The session's text, in memory only while something else uses it, such as a window."""
    position: "Position"


class _EarlierRead(NamedTuple):
    """The part of a session that was read before, and where reading it resumes."""

    text: SessionText
    position: "Position"


class SessionFiles:
    """Reads sessions by stable name; one that has grown is read on from its former end. Thread-safe."""

    def __init__(self, settings: Settings, summary_of: Callable[[str], SessionSummary]) -> None:
        """`summary_of`: returns the summary of a session by stable name; raises `PathRefused` for any other name."""
        self._settings = settings
        self._summary_of = summary_of
        self._last: _LastRead | None = None
        self._lock = Lock()

    def is_session_name(self, path: str) -> bool:
        """Whether `path` has the form of a session's stable name; the session need not exist."""
        return names_session(path, self._settings)

    def read(self, path: str, *, reveal: bool, cancel: CancelToken | None) -> SessionText:
        """Return a session's messages; see `MemorySearchManager.read_session`."""
        from engine.corpus.transcripts.transcript_reader import read_on

        before = self._take_last(path, reveal=reveal)
        with _accessible(path), _readable():
            file, key = locate_transcript(path, self._settings)
            read = read_on(file, key, None if before is None else before.position, cancel)
            if read.conversation is None and not key:  # as while an agent writes the whole file again
                raise ValueError(NO_TRANSCRIPT_OR_EMPTY.message())
        conversation = read.conversation
        if conversation is None:
            raise FileNotFoundError(path)
        earlier = before.text if before is not None and read.continued else None
        messages, masked = _with_new_messages(earlier, conversation, cancel, reveal=reveal)
        text = SessionText(
            summary=self._summary(path, conversation, 0 if earlier is None else earlier.summary.messages),
            messages=messages,
            masked=masked,
            unknown=tuple(sorted(conversation.unknown.items())),
        )
        if before is not None and text == before.text:
            text = before.text  # returned again, so that the caller sees that nothing has changed
        if read.position is not None:
            self._last = _LastRead(path, reveal, weakref.ref(text), read.position)
        return text

    def _summary(self, path: str, conversation: "Conversation", earlier_messages: int) -> SessionSummary:
        """Return the summary with figures of the text that is returned: a session grows long before it is reindexed."""
        from engine.insight.session_stats import prices_or_default, total_usage  # a note has no usage

        metadata = conversation.metadata
        usage = tuple(ModelUsage(model, *msgspec.structs.astuple(used)) for model, used in metadata.usage.items())
        return msgspec.structs.replace(
            self._summary_of(path),
            messages=earlier_messages + sum(map(metadata.counts, conversation.messages)),
            started=metadata.started,
            ended=metadata.ended,
            active_seconds=metadata.active,
            pauses=tuple(metadata.pauses),
            usage=usage,
            total_usage=total_usage(usage, prices_or_default(self._settings.sessions.prices)),
        )

    def _take_last(self, path: str, *, reveal: bool) -> "_EarlierRead | None":
        """Return the result of the last read if it is of this session and still in use; a second call returns None."""
        with self._lock:
            last, self._last = self._last, None
        text = None if last is None or (last.path, last.reveal) != (path, reveal) else last.text()
        return None if last is None or text is None else _EarlierRead(text, last.position)

    def read_file(self, path: str, *, start: int | None, lines: int | None) -> FileText:
        """Return a transcript as text: each message is on its line in the transcript, other lines are empty."""
        spoken: dict[int, list[str]] = defaultdict(list)
        for message in self.read(path, reveal=False, cancel=None).messages:
            if message.kind == "text" and message.role != "system":
                spoken[message.line].append(f"{message.role.capitalize()}: {' '.join(message.text.split())}")

        def text_of(first: int, last: int) -> str:
            return "\n".join(" ".join(spoken.get(line, ())) for line in range(first, last + 1))

        return _slice(path, max(spoken, default=0), start, lines, text_of)

    def raw(self, path: str, lines: Sequence[int], *, reveal: bool, cancel: CancelToken | None) -> tuple[str, ...]:
        """Return lines of a transcript; see `MemorySearchManager.raw_lines`."""
        from engine.corpus.transcripts.transcript_reader import transcript_lines

        found: dict[int, str] = {}
        with _accessible(path):
            file, key = locate_transcript(path, self._settings)
            for number, data in () if key else transcript_lines(file, lines, cancel):
                text = data.decode("utf-8", "replace")
                found[number] = text if reveal else redact(text)
        for number in lines:
            if number not in found:
                raise FileNotFoundError(f"{path}, line {number}")
        return tuple(found[number] for number in lines)

    def image(self, path: str, message: int, number: int, cancel: CancelToken | None) -> tuple[bytes, str] | None:
        """Return an image of a session; see `MemorySearchManager.session_image`."""
        from engine.corpus.transcripts.transcript_reader import read_image

        with _accessible(path), _readable():
            return read_image(*locate_transcript(path, self._settings), message, number, cancel)

    def locate(self, path: str) -> Path:
        """Return the absolute path of a session's transcript. Raises the errors of `WorkspaceFiles.locate`."""
        with _accessible(path):
            return locate_transcript(path, self._settings)[0]


@contextmanager
def _accessible(path: str) -> Iterator[None]:
    """Raise `WorkspaceError` with the reason if the system refuses access to a file."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise WorkspaceError(f"{path}: {tr_reason(unreadable(error))}") from error


@contextmanager
def _readable() -> Iterator[None]:
    """Raise `TranscriptUnreadable` for the errors of parsers."""
    try:
        yield
    except PARSER_FAULTS as error:
        raise TranscriptUnreadable(
            tr("The transcript of this session cannot be read now: {reason}", reason=tr_reason(problem(error)))
        ) from error


def _with_new_messages(
    earlier: SessionText | None, conversation: "Conversation", cancel: CancelToken | None, *, reveal: bool
) -> tuple[tuple[SessionMessage, ...], int]:
    """Return the messages of `earlier` and those that were found after it, and the number of masked ones."""
    rewound = conversation.metadata.rewound
    known = () if earlier is None else earlier.messages
    masked = 0 if earlier is None else earlier.masked
    messages = [_rewound(message, rewound) for message in known] if rewound else [*known]
    for message in conversation.everything:
        checkpoint(cancel)
        safe = _masked(message)
        masked += safe.text != message.text
        messages.append(_rewound(_shown(message if reveal else safe), rewound))
    if any(message.failed for message in conversation.everything):
        _mark_failed(messages)
    return tuple(messages), masked


def _masked(message: Message) -> Message:
    return msgspec.structs.replace(message, text=redact(message.text), id=redact(message.id), tool=redact(message.tool))


def _rewound(message: SessionMessage, rewound: Sequence[tuple[int, int]]) -> SessionMessage:
    """Mark a message if it is on lines that the user abandoned by going back; returns the same object if unchanged."""
    abandoned = any(first <= message.line <= last for first, last in rewound)
    return message if abandoned == message.rewound else msgspec.structs.replace(message, rewound=abandoned)


def _mark_failed(messages: list[SessionMessage]) -> None:
    """Mark the tool calls whose results are failures."""
    calls: dict[int, int] = {}
    for number, message in enumerate(messages):
        if message.kind == "tool-call":
            calls[message.call] = number
        elif message.failed and message.call and (called := calls.get(message.call)) is not None:
            messages[called] = msgspec.structs.replace(messages[called], failed=True)


def _shown(message: Message) -> SessionMessage:
    return SessionMessage(
        role=message.author,
        kind=message.kind,
        text=message.text,
        line=message.line,
        ordinal=message.ordinal,
        id=message.id,
        time=message.time,
        tool=message.tool,
        side=message.side,
        call=message.call,
        failed=message.failed,
    )
