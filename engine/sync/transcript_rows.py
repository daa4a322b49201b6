"""From one transcript to the rows of its sessions: read from where it ended, redacted, packed, analysed."""

import hashlib
from collections.abc import Mapping, Set
from contextlib import ExitStack
from typing import Any

import msgspec

from engine.corpus.discovery import FoundFile
from engine.corpus.transcripts.changes import transcript_of
from engine.corpus.transcripts.formats import Conversation, DatabaseFormat, DocumentFormat, LineFormat
from engine.corpus.transcripts.jsonl import Source, read_at
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.packing import Packer, Said
from engine.corpus.transcripts.reading import LineReader, database_format, document_format, line_format, opened
from engine.corpus.transcripts.stores import session_name
from engine.records import FileIssue
from engine.redaction.masks import redact
from engine.store import sessions
from engine.store.writer import NewFile, Writer
from engine.sync.commits import Change, Commits
from engine.sync.parts import StageWork
from engine.sync.session_rows import ChunkRows, session_file

_ANCHOR_BYTES = 4096
_CHUNKS_A_PART = 2000
"""Of a long transcript, some 3 MB of text: so much is committed at once, and lost by a cancel or a crash."""
_UNFINISHED = 0
"""Size of a transcript that was not read to its end."""


class _State(msgspec.Struct):
    """What is stored of a line transcript, to go on where it ended."""

    agent: str
    size: int
    """Bytes of the transcript; one that has changed without growing was written anew."""
    offset: int
    line: int
    anchor: str
    """Digest of what stands before `offset`: where that has changed, the transcript did not just grow."""
    parser: msgspec.Raw
    open: tuple[Said, ...]
    """Messages of the last chunk: it is made again, with what has come since."""
    closed: int
    """How many chunks before it stay as they are."""
    messages: int
    language: str
    title: str
    """That the chunks are found by."""
    given: str = ""
    """The title that stood elsewhere than in the transcript when it was read from its beginning."""


class TranscriptRows:
    """Reads transcripts for one pass over one generation."""

    def __init__(self, work: StageWork, commits: Commits) -> None:
        self._store = work.parts.store
        self._tables = work.tables
        self._token = work.token
        self._settings = work.parts.settings
        self._commits = commits

    def take(self, file: FoundFile) -> FileIssue | None:
        """Bring the sessions of one transcript up to date; an issue where nothing of it can be indexed.

        Raises OSError, `PathRefused`, Cancelled; then nothing of it has changed, but for what stands before the
        place in an export or a long transcript: the next time goes on there.
        """
        with opened(file.path) as (source, _):
            try:
                database = database_format(source, file.path)
            except ValueError as error:
                return self._settle(file, {}, set(), _unreadable(file, error))
            document = None if database else document_format(source, file.path)
            if database is None and document is None:
                known = line_format(source)
                if known is not None:
                    return self._lines(file, source, known)
        if database is not None:
            return self._database(file, database)
        if document is not None:
            return self._document(file, document)
        return self.leave_out(file, "unknown-format", "It is no transcript of an agent that is known.")

    def leave_out(self, file: FoundFile, rule: str, detail: str) -> FileIssue:
        """Note that nothing of a transcript is indexed, and why. Raises Cancelled."""

        def change(writer: Writer) -> tuple[list[int], list[int]]:
            removed = sessions.forget_transcript(writer, file.name)
            _note(writer, file, None, rule, detail)
            return [], removed

        self._commits.put(change)
        return FileIssue(path=file.name, rule=rule, detail=detail)

    # --- one JSON object a line -----------------------------------------------------------------------------------

    def _lines(self, file: FoundFile, source: Source, known: LineFormat, *, anew: bool = False) -> FileIssue | None:
        state = None if anew else self._state(file, source, known)
        if state is None:
            reader = LineReader(known.parser(transcript_of(file.path)))
            given = redact(reader.parser.facts.title)
            state = _State(known.agent, 0, 0, 1, "", msgspec.Raw(b""), (), 0, 0, "", "", given)
        else:
            reader = LineReader(known.resume(bytes(state.parser)), state.offset, state.line)
        facts = reader.parser.facts
        packer = self._packer(state.open)
        messages, closed, language = state.messages, state.closed, state.language

        def take(found: list[Message]) -> None:
            nonlocal messages
            for message in found:
                messages += facts.counts(message)
                self._add(packer, message)

        def state_here(size: int) -> _State:
            anchor = _anchor(source, reader.offset)
            parser = msgspec.Raw(msgspec.json.encode(_masked(msgspec.to_builtins(reader.parser))))
            full = closed + len(rows)
            return _State(
                known.agent,
                size,
                reader.offset,
                reader.line,
                anchor,
                parser,
                packer.open,
                full,
                messages,
                language,
                redact(facts.name),
                state.given,
            )

        def put(after: _State, *, whole: bool) -> None:
            nonlocal language
            rows.analyse()
            language = after.language = rows.language
            new = session_file(file, file.name, facts, messages, rows, hash=after.anchor, size=file.size)
            unless_put.pop_all()
            change = _replacing(file, new, rows, closed, msgspec.json.encode(after), whole=whole)
            self._commits.put(change, indexed=1 if whole else 0)

        with ExitStack() as unless_put:
            rows = ChunkRows(self._store.files.folder, self._token, language)
            unless_put.callback(rows.close)
            for found in reader.read(source, self._token):
                take(found)
                rows.add(packer.take())
                if len(rows) >= _CHUNKS_A_PART and not facts.generated:
                    put(state_here(_UNFINISHED), whole=False)
                    closed += len(rows)
                    rows = ChunkRows(self._store.files.folder, self._token, language)
                    unless_put.callback(rows.close)
            after = state_here(file.size)
            # A last line without its end may be complete or half written: it is read again when the transcript grows.
            take(reader.read_rest(source))
            rows.add(packer.finish())
            if facts.generated:
                return self.leave_out(file, "generated", "The agent wrote it for its own housekeeping.")
            if not (state.closed and state.size != _UNFINISHED and state.title != after.title):
                put(after, whole=True)
                return None
        # A title that came late: all chunks are to be found by it.
        return self._lines(file, source, known, anew=True)

    def _state(self, file: FoundFile, source: Source, known: LineFormat) -> _State | None:
        """Where the reading of this transcript ended; None if it must begin anew."""
        with self._store.read(tables=self._tables) as snapshot:
            stored = sessions.transcript_state(snapshot, file.name)
        if stored is None:
            return None
        try:
            state = msgspec.json.decode(stored, type=_State)
            known.resume(bytes(state.parser))
        except msgspec.DecodeError:
            return None  # of another version of this program
        given = redact(known.parser(transcript_of(file.path)).facts.title)
        same = (state.agent, state.given) == (known.agent, given) and _anchor(source, state.offset) == state.anchor
        return state if same and state.size < file.size else None

    # --- documents and databases ----------------------------------------------------------------------------------

    def _document(self, file: FoundFile, known: DocumentFormat) -> FileIssue | None:
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
                if stored.get(name) != digest and not conversation.facts.generated:
                    self._put_session(file, name, conversation, digest)
        except ValueError as error:
            detail = f"It breaks off after {len(seen):,} sessions, which are indexed: {error}"
            issue = FileIssue(path=file.name, rule="broken", detail=detail)
        return self._settle(file, stored, seen, issue)

    def _database(self, file: FoundFile, known: DatabaseFormat) -> FileIssue | None:
        """Only sessions whose marks have changed are read; of one that cannot be read, what is stored stays."""
        stored = self._stored(file)
        seen: set[str] = set()
        broken: list[ValueError] = []
        issue = None
        try:
            with known.opened(file.path, self._token) as opened:
                for key, mark in opened.marks().items():
                    self._token.checkpoint()
                    name = session_name(file.name, key)
                    if name not in seen and stored.get(name) != mark:
                        try:
                            conversation = opened.conversation(key)
                        except ValueError as error:
                            broken.append(error)
                            continue
                        if conversation is None or not conversation.messages:
                            continue
                        self._put_session(file, name, conversation, mark)
                    seen.add(name)
        except ValueError as error:
            issue = _unreadable(file, error)
        if broken and issue is None:
            sessions_of_it = "One of its sessions" if len(broken) == 1 else f"{len(broken):,} of its sessions"
            issue = FileIssue(path=file.name, rule="broken", detail=f"{sessions_of_it} cannot be read: {broken[0]}")
        return self._settle(file, stored, seen, issue)

    def _stored(self, file: FoundFile) -> dict[str, str]:
        with self._store.read(tables=self._tables) as snapshot:
            return sessions.sessions_of(snapshot, file.name)

    def _settle(
        self, file: FoundFile, stored: Mapping[str, str], seen: Set[str], issue: FileIssue | None
    ) -> FileIssue | None:
        """Remove the sessions that a transcript holds no more, and note that it was read."""

        def settle(writer: Writer) -> tuple[list[int], list[int]]:
            # What a document that breaks off has lost may come back whole.
            gone = [] if issue else [name for name in stored if name not in seen]
            removed = [id_ for name in gone for id_ in writer.remove_file("sessions", name)]
            _note(writer, file, None, issue.rule if issue else "", issue.detail if issue else "")
            return [], removed

        self._commits.put(settle)
        return issue

    def _put_session(self, file: FoundFile, name: str, conversation: Conversation, digest: str) -> None:
        facts = conversation.facts
        packer = self._packer(())
        with ExitStack() as unless_put:
            rows = ChunkRows(self._store.files.folder, self._token)
            unless_put.callback(rows.close)
            for message in conversation.messages:
                self._add(packer, message)
                rows.add(packer.take())
            rows.add(packer.finish())
            rows.analyse()
            count = sum(map(facts.counts, conversation.messages))
            size = sum(len(message.text) for message in conversation.messages)
            new = session_file(file, name, facts, count, rows, hash=digest, size=size)
            unless_put.pop_all()
            self._commits.put(_putting(new, rows), indexed=1)

    # --- rows -----------------------------------------------------------------------------------------------------

    def _packer(self, open: tuple[Said, ...]) -> Packer:
        chunking = self._settings.chunking
        return Packer(chunking.tokens, chunking.overlap, open)

    def _add(self, packer: Packer, message: Message) -> None:
        self._token.checkpoint()
        wanted = self._settings.sessions
        if message.role == "system" or not message.text.strip():
            return
        if message.kind == "thinking" and not wanted.thinking:
            return
        if message.kind in ("tool-call", "tool-result") and not wanted.tools:
            return
        packer.add(Said(message.role, redact(message.text), message.line, message.ordinal, redact(message.id)))


def _unreadable(file: FoundFile, error: ValueError) -> FileIssue:
    return FileIssue(path=file.name, rule="broken", detail=f"It could not be read to its end: {error}")


def _replacing(file: FoundFile, new: NewFile, rows: ChunkRows, closed: int, state: bytes, *, whole: bool) -> Change:
    """Put the new chunks behind those that are closed; what is not `whole` yet is due again."""
    seen = file if whole else msgspec.structs.replace(file, mtime_ns=0)

    def change(writer: Writer) -> tuple[list[int], list[int]]:
        try:
            _note(writer, seen, state)
            if not rows and not closed:
                # Nobody has said anything yet in a session that an agent has just begun.
                return [], writer.remove_file("sessions", new.path)
            if new.path in sessions.sessions_of(writer, file.name):
                return writer.extend_file(new, keep=closed)
            return writer.replace_file(new)
        finally:
            rows.close()

    return change


def _putting(new: NewFile, rows: ChunkRows) -> Change:
    def change(writer: Writer) -> tuple[list[int], list[int]]:
        try:
            return writer.replace_file(new)
        finally:
            rows.close()

    return change


def _note(writer: Writer, file: FoundFile, state: bytes | None, rule: str = "", detail: str = "") -> None:
    sessions.note_transcript(
        writer, file.name, mtime_ns=file.mtime_ns, size=file.size, state=state, rule=rule, detail=detail
    )


def _masked(value: Any) -> Any:
    """The state of a parser with secrets masked wherever it keeps a text: titles, ids, names of tools and of types."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {_masked(key): _masked(held) for key, held in value.items()}
    return [_masked(held) for held in value] if isinstance(value, list | tuple) else value


def _anchor(source: Source, offset: int) -> str:
    start = max(0, offset - _ANCHOR_BYTES)
    return hashlib.sha256(read_at(source, start, offset - start)).hexdigest()


def _digest(conversation: Conversation) -> str:
    facts = conversation.facts
    content = msgspec.json.encode((facts.title, facts.project, conversation.messages))
    return hashlib.sha256(content).hexdigest()
