"""Detects a transcript's format, reads it, and stores the rows of its sessions."""

import hashlib
from collections.abc import Mapping, Set
from contextlib import ExitStack, closing
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.base.bounded_json import decode_json
from engine.base.errors import PARSER_FAULTS, PathRefused
from engine.corpus.folder_walk import FoundFile
from engine.corpus.transcripts.chunk_packing import IndexedMessage
from engine.corpus.transcripts.formats import Conversation, DatabaseFormat, DocumentFormat, LineFormat
from engine.corpus.transcripts.jsonl import Source
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.session_stores import session_name
from engine.corpus.transcripts.transcript_files import transcript_of
from engine.corpus.transcripts.transcript_reader import (
    LineReader,
    anchor,
    database_format,
    document_format,
    line_format,
    opened,
    refresh_metadata,
)
from engine.indexing.commit_groups import Change, Commits
from engine.indexing.note_preparation import ChunkRows
from engine.indexing.session_row_builder import (
    FilesOfCalls,
    SessionUses,
    TranscriptChunker,
    record_transcript,
    session_file,
    skipped_transcript,
)
from engine.indexing.stage_data import StageWork
from engine.records import FileIssue
from engine.redaction.secret_masking import redact
from engine.store import sessions
from engine.store.writer import NewFile, Writer

_CHUNKS_PER_PART = 2000
"""Chunks of a long transcript that are committed together, about 3 MB of text; a cancel or a crash loses at most
these."""
_UNFINISHED = 0
"""Size of a transcript that was not read to its end."""


class DocumentIndexer:
    """Indexes transcripts that are documents or databases, in one pass over one generation."""

    def __init__(self, work: StageWork, commits: Commits) -> None:
        self._store = work.context.store
        self._tables = work.tables
        self._token = work.token
        self._settings = work.context.settings
        self._commits = commits

    def document(self, file: FoundFile, known: DocumentFormat) -> FileIssue | None:
        """Index the sessions of one document. Returns an issue if it is damaged. Raises OSError, Cancelled."""
        stored = self._stored(file)
        seen: set[str] = set()
        issue = None
        try:
            for conversation in known.conversations(file.path, self._token):
                self._token.checkpoint()
                name = session_name(file.name, conversation.key)
                if name in seen:
                    continue
                seen.add(name)
                digest = _digest(conversation)
                if stored.get(name) != digest and not conversation.metadata.generated:
                    self._store_session(file, name, conversation, digest)
        except PARSER_FAULTS as error:
            detail = skip_reasons.BREAKS_OFF.message(number=len(seen), problem=skip_reasons.problem(error))
            issue = FileIssue(path=file.name, rule="broken", detail=detail)
        return self._finish(file, stored, seen, issue)

    def database(self, file: FoundFile, known: DatabaseFormat) -> FileIssue | None:
        """Index those sessions of a database that have changed; rows of sessions that can't be read stay.

        Raises OSError, `PathRefused`, Cancelled.
        """
        stored = self._stored(file)
        seen: set[str] = set()
        broken: list[Exception] = []
        issue = None
        try:
            with known.opened(file.path, self._token) as opened:
                for key, mark in opened.marks().items():
                    self._token.checkpoint()
                    name = session_name(file.name, key)
                    if name not in seen and stored.get(name) != mark:
                        try:
                            conversation = opened.conversation(key)
                        except PARSER_FAULTS as error:
                            broken.append(error)
                            continue
                        if conversation is None or not conversation.messages:
                            continue
                        self._store_session(file, name, conversation, mark)
                    seen.add(name)
        except PARSER_FAULTS as error:
            issue = _unreadable(file, error)
        if broken and issue is None:
            problem = skip_reasons.problem(broken[0])
            detail = skip_reasons.BROKEN_SESSIONS.message(count=len(broken), problem=problem)
            issue = FileIssue(path=file.name, rule="broken", detail=detail)
        return self._finish(file, stored, seen, issue)

    def unreadable(self, file: FoundFile, error: Exception) -> FileIssue:
        """Record that a transcript can't be read at present; its stored rows stay. Raises Cancelled."""
        issue = _unreadable(file, error)
        self._finish(file, {}, set(), issue)
        return issue

    def _stored(self, file: FoundFile) -> dict[str, str]:
        with self._store.read(tables=self._tables) as snapshot:
            return sessions.sessions_of(snapshot, file.name)

    def _finish(
        self, file: FoundFile, stored: Mapping[str, str], seen: Set[str], issue: FileIssue | None
    ) -> FileIssue | None:
        """Remove the sessions that a transcript no longer contains, and store that it was read."""

        def finish(writer: Writer) -> tuple[list[int], list[int]]:
            # Sessions missing from a truncated document may return when it is complete.
            gone = [] if issue else [name for name in stored if name not in seen]
            removed = [id_ for name in gone for id_ in writer.remove_file("sessions", name)]
            record_transcript(writer, file, None, issue.rule if issue else "", issue.detail if issue else "")
            return [], removed

        self._commits.add(finish)
        return issue

    def _store_session(self, file: FoundFile, name: str, conversation: Conversation, digest: str) -> None:
        metadata = conversation.metadata
        packer = TranscriptChunker(self._settings, self._token)
        uses = SessionUses()
        uses.add(conversation.messages)
        uses.requests += conversation.requests
        with ExitStack() as on_error:
            rows = ChunkRows(self._store.files.folder, self._token)
            on_error.callback(rows.close)
            for message in conversation.everything:
                packer.add([message])
                rows.add(packer.take_full())
            rows.add(packer.finish())
            rows.analyse()
            count = sum(map(metadata.counts, conversation.messages))
            size = sum(len(message.text) for message in conversation.everything)
            new = session_file(file, name, metadata, count, rows, hash=digest, size=size)
            new = uses.add_to(new, metadata.project)
            on_error.pop_all()
            self._commits.add(_replacement(new, rows), indexed=1)


def _unreadable(file: FoundFile, error: Exception) -> FileIssue:
    detail = skip_reasons.NOT_READ_TO_ITS_END.message(problem=skip_reasons.problem(error))
    return FileIssue(path=file.name, rule="broken", detail=detail)


def _replacement(new: NewFile, rows: ChunkRows) -> Change:
    def change(writer: Writer) -> tuple[list[int], list[int]]:
        try:
            return writer.replace_file(new)
        finally:
            rows.close()

    return change


def _digest(conversation: Conversation) -> str:
    metadata = conversation.metadata
    stored = metadata.title, metadata.project, metadata.rewound, metadata.unknown, metadata.usage
    content = msgspec.json.encode((*stored, conversation.everything))
    return hashlib.sha256(content).hexdigest()


class _Position(msgspec.Struct, kw_only=True):
    """How far a transcript of lines was read."""

    size: int
    """Size of the transcript in bytes; one that changed without growing was rewritten."""
    offset: int
    anchor: str
    """Digest of the bytes before `offset`: if it differs, the transcript was rewritten."""
    messages: int

    def continues_in(self, source: Source, size: int) -> bool:
        """Return whether a transcript of this size has only grown since."""
        return self.size < size and anchor(source, self.offset) == self.anchor


class _State(_Position, kw_only=True):
    """Stored state of a transcript of lines, from which reading resumes when it has grown."""

    agent: str
    line: int
    parser: msgspec.Raw
    open: tuple[IndexedMessage, ...]
    """Messages of the last chunk, which is made again together with new messages."""
    closed: int
    """Number of earlier chunks, which stay unchanged."""
    language: str
    title: str
    """Title indexed with the chunks."""
    given: str = ""
    """Title from outside the transcript, when it was last read completely."""
    waiting: FilesOfCalls = {}
    """Files of the last tool calls without a result."""


def has_only_grown(file: FoundFile, work: StageWork) -> bool:
    """Return whether a transcript of lines has the beginning that it had when its first messages were read."""
    with work.context.store.read(tables=work.tables) as snapshot:
        stored = sessions.transcript_state(snapshot, file.name)
    try:
        position = None if stored is None else decode_json(stored, _Position)
        if position is None or not position.messages:
            return False
        with opened(file.path) as (source, _):
            return position.continues_in(source, file.size)
    except (OSError, PathRefused, ValueError):  # reading it reports the error
        return False


class _LineReading:
    """One reading of a transcript of lines, from a stored state or from the beginning; close it at the end."""

    def __init__(
        self,
        work: StageWork,
        commits: Commits,
        file: FoundFile,
        source: Source,
        known: LineFormat,
        resumed: tuple[_State, LineReader] | None,
    ) -> None:
        self._work = work
        self._commits = commits
        self._file = file
        self._source = source
        if resumed is None:
            self._reader = LineReader(known.parser(transcript_of(file.path)))
            title = redact(self._reader.parser.metadata.title)
            state = _State(
                agent=known.agent,
                size=0,
                offset=0,
                line=1,
                anchor="",
                parser=msgspec.Raw(b""),
                open=(),
                closed=0,
                messages=0,
                language="",
                title="",
                given=title,
            )
        else:
            state, self._reader = resumed
        self._state = state
        self.metadata = self._reader.parser.metadata
        self._packer = TranscriptChunker(work.context.settings, work.token, state.open)
        self._messages, self._closed = state.messages, state.closed
        self._begin_part(state)

    def _begin_part(self, state: _State) -> None:
        """Collect further rows separately: those so far are stored, and determined the language."""
        self._uses = SessionUses(self._reader.line, state.waiting)
        known = state.language if self._closed else None
        self._rows = ChunkRows(self._work.context.store.files.folder, self._work.token, known)

    def close(self) -> None:
        self._rows.close()

    def read(self) -> _State:
        """Read the new lines, and store all complete parts. Returns the state after the last complete line.

        Raises OSError, Cancelled.
        """
        for found in self._reader.read(self._source, self._work.token):
            self._add_messages(found)
            self._rows.add(self._packer.take_full())
            if len(self._rows) >= _CHUNKS_PER_PART and not self.metadata.generated:
                self.store(self._current_state(_UNFINISHED), complete=False)
        after = self._current_state(self._file.size)
        # A last line without its end may be complete or half written: it is read again when the transcript grows.
        self._add_messages(self._reader.read_rest(self._source))
        self._rows.add(self._packer.finish())
        return after

    def _add_messages(self, messages: list[Message]) -> None:
        self._messages += sum(map(self.metadata.counts, messages))
        self._packer.add(messages)
        self._uses.add(messages)

    def _current_state(self, size: int) -> _State:
        """Return the state from which the next reading continues here; `size`: see `_State.size`."""
        self._uses.requests += self._reader.parser.take_requests()
        return msgspec.structs.replace(
            self._state,
            size=size,
            offset=self._reader.offset,
            line=self._reader.line,
            anchor=anchor(self._source, self._reader.offset),
            parser=msgspec.Raw(msgspec.json.encode(_masked(msgspec.to_builtins(self._reader.parser)))),
            open=self._packer.open,
            closed=self._closed + len(self._rows),
            messages=self._messages,
            title=redact(self.metadata.name),
        )

    def store(self, after: _State, *, complete: bool) -> None:
        """Store the rows of this part with the state `after`; if not `complete`, another part follows."""
        file, metadata, rows = self._file, self.metadata, self._rows
        rows.analyse()
        after.language = rows.language or ""
        new = session_file(file, file.name, metadata, self._messages, rows, hash=after.anchor, size=file.size)
        new = self._uses.add_to(new, metadata.project)
        after.waiting = self._uses.waiting_calls(metadata.project)
        change = _replacing(file, new, rows, self._closed, msgspec.json.encode(after), complete=complete)
        self._closed += len(rows)
        self._begin_part(after)
        self._commits.add(change, indexed=1 if complete else 0)


class LineIndexer:
    """Indexes transcripts of one JSON object per line, in one pass over one generation."""

    def __init__(self, work: StageWork, commits: Commits) -> None:
        self._work = work
        self._commits = commits

    def index(
        self, file: FoundFile, source: Source, known: LineFormat, *, from_start: bool = False
    ) -> FileIssue | None:
        """Index the new lines of an open transcript; `from_start` ignores the stored state.

        Returns an issue if nothing of the transcript can be indexed. Raises OSError, Cancelled.
        """
        resumed = None if from_start else self._resumed(file, source, known)
        state = resumed and resumed[0]
        with closing(_LineReading(self._work, self._commits, file, source, known, resumed)) as reading:
            after = reading.read()
            if reading.metadata.generated:
                issue = FileIssue(path=file.name, rule="generated", detail=skip_reasons.GENERATED.message())
                self._commits.add(skipped_transcript(file, issue.rule, issue.detail))
                return issue
            if state is None or not state.closed or state.size == _UNFINISHED or state.title == after.title:
                reading.store(after, complete=True)
                return None
        # The title came late: all chunks are indexed again with it.
        return self.index(file, source, known, from_start=True)

    def _resumed(self, file: FoundFile, source: Source, known: LineFormat) -> tuple[_State, LineReader] | None:
        """Return the state at which reading this transcript ended, and a reader that continues there.

        None if it must be read from the beginning.
        """
        with self._work.context.store.read(tables=self._work.tables) as snapshot:
            stored = sessions.transcript_state(snapshot, file.name)
        if stored is None:
            return None
        try:
            state = decode_json(stored, _State)
            parser = known.resume(bytes(state.parser))
        except ValueError:
            return None  # of another version of this program
        metadata = known.parser(transcript_of(file.path)).metadata
        given = redact(metadata.title)
        if (state.agent, state.given) != (known.agent, given) or not state.continues_in(source, file.size):
            return None
        reader = LineReader(parser, state.offset, state.line)
        refresh_metadata(reader, metadata)
        return state, reader


def _replacing(file: FoundFile, new: NewFile, rows: ChunkRows, closed: int, state: bytes, *, complete: bool) -> Change:
    """Return a change that replaces a session's chunks, except the first `closed` ones.

    If not `complete`, the transcript is read on by the next sync.
    """
    dated = file if complete else msgspec.structs.replace(file, mtime_ns=0)

    def change(writer: Writer) -> tuple[list[int], list[int]]:
        try:
            record_transcript(writer, dated, state if rows or closed or not (new.tool_uses or new.requests) else None)
            if not rows and not closed:
                # A session that an agent has just started has no messages yet.
                return [], writer.remove_file("sessions", new.path)
            if new.path in sessions.sessions_of(writer, file.name):
                return writer.extend_file(new, keep=closed)
            return writer.replace_file(new)
        finally:
            rows.close()

    return change


def _masked(value: Any) -> Any:
    """Mask secrets in every string of a parser's state: titles, ids, names of tools and types."""
    if isinstance(value, str):
        return redact(value)
    # The state of a long session is mostly numbers: skipping the call for them saves time.
    if isinstance(value, dict):
        return {
            key if type(key) is int else _masked(key): item if type(item) is int else _masked(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [item if type(item) is int else _masked(item) for item in value]
    return value


class TranscriptIndexer:
    """Indexes transcripts of any format, in one pass over one generation."""

    def __init__(self, work: StageWork, commits: Commits) -> None:
        self._commits = commits
        self._lines = LineIndexer(work, commits)
        self._documents = DocumentIndexer(work, commits)

    def index(self, file: FoundFile) -> FileIssue | None:
        """Index the sessions of one transcript. Returns an issue if nothing of it can be indexed.

        Raises OSError, `PathRefused`, Cancelled. Then nothing has changed, except for the part of an export or a long
        transcript that was committed: the next sync continues there.
        """
        with opened(file.path) as (source, _):
            try:
                database = database_format(source, file.path)
            except PARSER_FAULTS as error:
                return self._documents.unreadable(file, error)
            document = None if database else document_format(source, file.path)
            known = None if database or document else line_format(source, file.path)
            if known is not None:
                return self._lines.index(file, source, known)
        if database is not None:
            return self._documents.database(file, database)
        if document is not None:
            return self._documents.document(file, document)
        if not file.path.endswith(".zip"):
            return self.leave_out(file, "unknown-format", skip_reasons.NO_TRANSCRIPT.message())
        from engine.corpus.transcripts.export_reader import zip_problem

        if problem := zip_problem(file.path):
            return self._documents.unreadable(file, ValueError(problem))
        return self.leave_out(file, "unknown-format", skip_reasons.NO_EXPORT.message())

    def leave_out(self, file: FoundFile, rule: str, detail: str) -> FileIssue:
        """Record that a transcript is not indexed, and why. Raises Cancelled."""
        self._commits.add(skipped_transcript(file, rule, detail))
        return FileIssue(path=file.name, rule=rule, detail=detail)
