"""Opens a transcript, detects its format, and reads it: as a whole, or from where it ended before."""

import functools
import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import PARSER_FAULTS, PathRefused
from engine.corpus.safe_open import open_regular
from engine.corpus.transcripts import registry
from engine.corpus.transcripts.agents import JSON_LINES, Agent, any_of
from engine.corpus.transcripts.formats import (
    Conversation,
    DatabaseFormat,
    DocumentFormat,
    LineFormat,
    LineParser,
)
from engine.corpus.transcripts.json_values import HeldImages, holding_images, image_held
from engine.corpus.transcripts.jsonl import LONGEST_LINE, RawLine, Source, Unpacked, parse_line, raw_lines, read_at
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.registry import formats
from engine.corpus.transcripts.session_stores import session_name
from engine.corpus.transcripts.sqlite_view import HEADER, SqliteView
from engine.corpus.transcripts.transcript_files import is_compressed, transcript_of
from engine.corpus.user_environment import Machine
from engine.redaction.secret_masking import redact

_HEAD_BYTES = 64 * 1024
_LINES_TO_JUDGE = 20
_BLOCK = 256 * 1024
_PLAIN = re.compile("[a-z0-9_-]{3,}")
"""Matches the characters of a word that JSON never escapes."""
_LINES_BETWEEN_CHECKS = 64
_LINES_WITH_PROJECT = 200
"""Number of first lines in which agents name their working folder, if at all."""
_LONG = 64 * 1024
"""Bytes from which parsing a line takes as long as many others."""
_ANCHOR_BYTES = 4096
_TITLE_BYTES = 1024


@contextmanager
def opened(path: Path | str) -> Iterator[tuple[Source, os.stat_result]]:
    """Open a transcript for reading, compressed or not; yields it with its state. Raises `PathRefused`, OSError."""
    descriptor, state = open_regular(path)
    try:
        yield Unpacked(descriptor) if is_compressed(str(path)) else descriptor, state
    finally:
        os.close(descriptor)


def document_format(source: Source, path: str) -> DocumentFormat | None:
    """Return the format of an open transcript that is a document; None for any other. Raises OSError."""
    head = read_at(source, 0, _HEAD_BYTES)
    return next((known for family in formats() for known in family.documents if known.matches(path, head)), None)


def database_format(source: Source, path: str) -> DatabaseFormat | None:
    """Return the format of an open transcript that is a database; None for any other.

    Raises OSError, `PathRefused`, and ValueError for a database that cannot be read (now).
    """
    if read_at(source, 0, len(HEADER)) != HEADER:
        return None
    known = [known for family in formats() for known in family.databases]
    with closing(SqliteView(path)) as view:  # one for all, since each would read the whole WAL
        return view.read(lambda opened: next((one for one in known if one.matches(path, opened)), None))


def line_format(source: Source, path: str = "") -> LineFormat | None:
    """Return the format of an open transcript with one JSON object per line; None for any other. Raises OSError."""
    values = [
        value
        for raw in islice(raw_lines(source), _LINES_TO_JUDGE)
        if len(raw.data) <= LONGEST_LINE and (value := parse_line(raw.data)) is not None
    ]
    return format_of(values, path)


def format_of(values: Sequence[Mapping[str, Any]], path: str = "") -> LineFormat | None:
    """Return the format of lines with these values, chosen by `path` if several fit; None if unknown."""
    known = next((known for family in formats() for known in family.lines if known.matches(values)), None)
    return None if known is None else _format_of_agent(known, path)


def _format_of_agent(known: LineFormat, path: str) -> LineFormat:
    """Return the format of the agent that wrote the transcript at `path`, of those with the format `known`.

    Agents with the same format differ in paths. The innermost folder with the name of an agent's folder decides, or the
    one that the environment sets for an agent, else the name of the file. `known` is returned if none of them does.
    """
    kind: type = type(known)
    similar = _agents_with(registry.AGENTS, kind)
    if len(similar) == 1 or not path:
        return known
    in_folder = _format_in(registry.AGENTS, kind, path.replace(os.sep, "/").rpartition("/")[0])
    if in_folder is not None:
        return in_folder
    machine = Machine(os.path.expanduser("~"), os.environ)
    for agent, candidate in similar:
        if candidate is not known and any(
            path.startswith(os.path.join(store, "")) for _, store in agent.folders(machine)
        ):
            return candidate
    name = os.path.basename(path)
    named = (
        candidate
        for agent, candidate in similar
        if JSON_LINES not in agent.files and any_of(agent.files).fullmatch(name)
    )
    return next(named, known)


@functools.lru_cache(maxsize=256)  # an agent's folder has many transcripts
def _format_in(agents: tuple[Agent, ...], kind: type, folder: str) -> LineFormat | None:
    """Return the format of the agent whose store is the innermost part of a folder; None if no agent's is."""
    while folder:
        for agent, candidate in _agents_with(agents, kind):
            if any(re.search(pattern, folder) for pattern, _ in agent.stores):
                return candidate
        folder = folder.rpartition("/")[0]
    return None


@functools.cache
def _agents_with(agents: tuple[Agent, ...], kind: type) -> tuple[tuple[Agent, LineFormat], ...]:
    """Return the agents that have a format of this type or of a variant, each with its format."""
    return tuple(
        (agent, line_format)
        for agent, known in zip(agents, formats(), strict=True)
        for line_format in known.lines
        if isinstance(line_format, kind)
    )


class LineReader(msgspec.Struct):
    """A parser and its position in a transcript with one JSON object per line."""

    parser: LineParser
    offset: int = 0
    """Offset of the first unread byte, always the beginning of a line."""
    line: int = 1
    """Number of the line at `offset`."""

    def read(self, source: Source, cancel: CancelToken | None = None) -> Iterator[list[Message]]:
        """Yield the messages of all complete lines from this position on, and move after them.

        Raises OSError, Cancelled.
        """
        for number, raw in enumerate(raw_lines(source, offset=self.offset, number=self.line)):
            if cancel is not None and (number % _LINES_BETWEEN_CHECKS == 0 or len(raw.data) > _LONG):
                cancel.checkpoint()
            if not raw.complete:
                return
            self.offset, self.line = raw.end + 1, raw.number + 1
            yield messages_of_line(self.parser, raw)

    def read_rest(self, source: Source) -> list[Message]:
        """Return the messages of a last line without a line end, if it is complete; the position doesn't change.

        Don't use the parser any more: it has seen a line that will be read again.
        """
        last = next((raw for raw in raw_lines(source, offset=self.offset, number=self.line)), None)
        return [] if last is None or last.complete else messages_of_line(self.parser, last, count=False)


def messages_of_line(parser: LineParser, raw: RawLine, *, count: bool = True) -> list[Message]:
    """Return the messages of one line; a line that isn't a JSON object is counted as unknown if `count`."""
    value = parse_line(raw.data) if len(raw.data) <= LONGEST_LINE else None
    if value is not None:
        return parser.feed(value, raw.number)
    if count and raw.data.strip():
        parser.count_unknown("too long" if len(raw.data) > LONGEST_LINE else "no JSON")
    return []


def anchor(source: Source, offset: int) -> str:
    """Return a digest of the bytes before an offset and at the beginning of the file, where some agents replace the
    title. If it differs, the transcript was changed, not only extended.
    """
    start = max(0, offset - _ANCHOR_BYTES)
    first = read_at(source, 0, min(start, _TITLE_BYTES))
    return hashlib.sha256(first + read_at(source, start, offset - start)).hexdigest()


class Position(NamedTuple):
    """Where reading a transcript with one JSON object per line ended."""

    file: tuple[object, ...]
    """Agent, device and number of the file, and the session's data from the files next to it when it was opened."""
    reader: LineReader
    anchor: str


class SessionReading(NamedTuple):
    """The result of reading a session as a whole, or from where it ended before."""

    conversation: Conversation | None
    """The session; if `continued`, only new messages, but all metadata. None if the transcript doesn't contain it (any
    more).
    """
    position: Position | None = None
    """Where to continue; None if the session must be read as a whole again."""
    continued: bool = False


def read_on(path: Path, part: str, before: Position | None, cancel: CancelToken | None = None) -> SessionReading:
    """Read one session of a transcript, from position `before` if the transcript has only grown since, else as a whole.

    `part`: the part of the session's name after that of the transcript, as returned by `locate_transcript`. `before`
    can't be used again: an error or a cancellation leaves it between two states. Raises OSError, `PathRefused`,
    ValueError for a truncated document or a damaged database, Cancelled.
    """
    with opened(path) as (source, state):
        database = database_format(source, str(path))
        if database is not None:
            with database.opened(str(path), cancel) as sessions:
                named = next((key for key in sessions.keys() if session_name("", key).lstrip("/") == part), None)  # noqa: SIM118
                return SessionReading(None if named is None else sessions.conversation(named))
        document = document_format(source, str(path))
        if document is not None:
            whole = document.conversations(str(path), cancel)
            return SessionReading(next((one for one in whole if session_name("", one.key).lstrip("/") == part), None))
        known = line_format(source, str(path))
        if known is None or part:
            return SessionReading(None)
        parser = known.parser(transcript_of(str(path)))
        described = parser.metadata.title, parser.metadata.project, parser.metadata.branch
        file = known.agent, state.st_dev, state.st_ino, *described
        if before is not None and before.file == file and before.anchor == anchor(source, before.reader.offset):
            reader, continued = before.reader, True
            refresh_metadata(reader, parser.metadata)
        else:
            reader, continued = LineReader(parser), False
        session = _read_lines(reader, source, cancel)
        # After a last line without its end, the parser has seen a line that will be read again.
        is_whole = not read_at(source, reader.offset, 1)
        return SessionReading(
            session, Position(file, reader, anchor(source, reader.offset)) if is_whole else None, continued
        )


def read_image(
    path: Path, part: str, message: int, number: int, cancel: CancelToken | None = None
) -> tuple[bytes, str] | None:
    """Return the data and the type (`png`) of image `number`, from 0, in a message of a session, by its index.

    None if its data is not in the transcript. `part` and errors are those of `read_on`.
    """
    with holding_images() as held:
        found = next(islice(_read_again(path, part, held, cancel), message, None), None)
        return None if found is None else image_held(found.text, number, held)


def _read_again(path: Path, part: str, held: HeldImages, cancel: CancelToken | None) -> Iterator[Message]:
    """Yield the messages of a session; of lines, with only the images of the last one held."""
    with opened(path) as (source, _):
        known = None
        if not part and not database_format(source, str(path)) and not document_format(source, str(path)):
            known = line_format(source, str(path))
        if known is not None:
            reader = LineReader(known.parser(transcript_of(str(path))))
            for messages in reader.read(source, cancel):
                yield from messages
                held.clear()
            yield from reader.read_rest(source)
            return
    session = read_on(path, part, None, cancel).conversation
    yield from () if session is None else session.everything


def refresh_metadata(reader: LineReader, now: SessionMetadata) -> None:
    """Copy the usage and the end of the whole session from the metadata of a new parser, which may have read it from a
    file next to the transcript.
    """
    metadata = reader.parser.metadata
    metadata.usage = now.usage or metadata.usage
    metadata.ended = metadata.ended if now.ended is None else now.ended


def _read_lines(reader: LineReader, source: Source, cancel: CancelToken | None) -> Conversation:
    messages = *chain.from_iterable(reader.read(source, cancel)), *reader.read_rest(source)
    return reader.parser.conversation("", messages)


def conversations(path: Path, cancel: CancelToken | None = None) -> Iterator[Conversation]:
    """Yield all sessions of a transcript in order; nothing if its format is unknown.

    Raises OSError, `PathRefused`, ValueError if it is truncated or can't be read (now), Cancelled. A session of a
    database that can't be read raises its error after all others.
    """
    with opened(path) as (source, _):
        database = database_format(source, str(path))
        document = None if database else document_format(source, str(path))
        known = None if database or document else line_format(source, str(path))
        if known is not None:
            yield _read_lines(LineReader(known.parser(transcript_of(str(path)))), source, cancel)
    if database is not None:
        with database.opened(str(path), cancel) as sessions:
            broken: Exception | None = None
            for key in sessions.marks():
                try:
                    conversation = sessions.conversation(key)
                except PARSER_FAULTS as error:
                    broken = broken or error
                    continue
                if conversation is not None:
                    yield conversation
            if broken is not None:
                raise broken
    elif document is not None:
        yield from document.conversations(str(path), cancel)


def plain_parts(words: Sequence[str]) -> list[bytes]:
    """Return the longest ASCII part of each word in lower case, as transcripts contain it in some case, longest first.

    The longest is probably the rarest, and most transcripts don't contain it.
    """
    parts = {max(_PLAIN.findall(word.casefold()), key=len, default="").encode() for word in words} - {b""}
    return sorted(parts, key=len, reverse=True)


def may_contain(path: Path, parts: Sequence[bytes], cancel: CancelToken | None = None) -> bool:
    """Return whether a transcript may contain all these `plain_parts` of words, by a look at its bytes.

    That takes a hundredth of the time of parsing it. Raises OSError, `PathRefused`, Cancelled.
    """
    with opened(path) as (source, _):
        return all(_has_bytes(source, part, cancel) for part in parts)


def _has_bytes(source: Source, part: bytes, cancel: CancelToken | None) -> bool:
    """Return whether a source contains these bytes of ASCII, in any case."""
    position, end = 0, b""
    while block := read_at(source, position, _BLOCK):
        checkpoint(cancel)
        position += len(block)
        block = end + block.lower()
        if part in block:
            return True
        end = block[-len(part) :]
    return False


def has_tool_text(path: Path, words: Sequence[str], cancel: CancelToken | None = None) -> bool:
    """Return whether a call or a result of a tool in a transcript contains all these words, in any case.

    Words in a secret don't count: agents that search for its beginning must not learn how it continues. Raises OSError,
    `PathRefused`, Cancelled and `PARSER_FAULTS`.
    """
    folded = [word.casefold() for word in words]

    def has_all(text: str) -> bool:
        plain = text.casefold()
        return all(word in plain for word in folded)

    return any(
        message.kind in ("tool-call", "tool-result") and has_all(message.text) and has_all(redact(message.text))
        for conversation in conversations(path, cancel)
        for message in conversation.everything
    )


def transcript_lines(
    path: Path, numbers: Collection[int], cancel: CancelToken | None = None
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a transcript that have these numbers, unchanged, in one pass over the file.

    Lines that don't exist are left out, and all lines of a document, since they aren't messages. Raises OSError,
    `PathRefused`, Cancelled.
    """
    requested = set(numbers)
    with opened(path) as (source, _):
        if document_format(source, str(path)) is not None:
            return
        for raw in islice(raw_lines(source), max(requested, default=0)):
            checkpoint(cancel)
            if raw.number in requested:
                yield raw.number, raw.data


def project_of(path: str) -> str:
    """Return the agent's working folder, from the beginning of a transcript.

    Empty if it is not named there or can't be read, and for exports and databases, which contain sessions of many
    projects.
    """
    try:
        with opened(path) as (source, _):
            if database_format(source, path) is not None:
                return ""
            document = document_format(source, path)
            if document is not None:
                first = next(iter(document.conversations(path, None)), None)
                return first.metadata.project if first is not None and not first.key else ""
            known = line_format(source, path)
            if known is None:
                return ""
            parser = known.parser(transcript_of(path))
            for raw in islice(raw_lines(source), _LINES_WITH_PROJECT):
                messages_of_line(parser, raw)
                if parser.metadata.project:
                    break
            return parser.metadata.project
    except (OSError, ValueError, PathRefused):
        return ""
