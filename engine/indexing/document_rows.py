"""From a document or a database to the rows of the sessions in it: those that have changed are read, each whole."""

import hashlib
from collections.abc import Mapping, Set
from contextlib import ExitStack

import msgspec

from engine.base import skip_reasons
from engine.corpus.folder_walk import FoundFile
from engine.corpus.transcripts.formats import Conversation, DatabaseFormat, DocumentFormat
from engine.corpus.transcripts.stores import session_name
from engine.indexing.commits import Change, Commits
from engine.indexing.session_rows import ChunkRows, session_file
from engine.indexing.sync_parts import StageWork
from engine.indexing.transcript_chunker import TranscriptChunker
from engine.indexing.transcript_notes import note
from engine.records import FileIssue
from engine.store import sessions
from engine.store.writer import NewFile, Writer


class DocumentRows:
    """Reads such transcripts for one pass over one generation."""

    def __init__(self, work: StageWork, commits: Commits) -> None:
        self._store = work.parts.store
        self._tables = work.tables
        self._token = work.token
        self._settings = work.parts.settings
        self._commits = commits

    def document(self, file: FoundFile, known: DocumentFormat) -> FileIssue | None:
        """Bring the sessions of one document up to date. Raises OSError, Cancelled."""
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
            detail = skip_reasons.BREAKS_OFF.said(number=len(seen), problem=error)
            issue = FileIssue(path=file.name, rule="broken", detail=detail)
        return self._settle(file, stored, seen, issue)

    def database(self, file: FoundFile, known: DatabaseFormat) -> FileIssue | None:
        """Only sessions whose marks have changed are read; of one that cannot be read, what is stored stays.

        Raises OSError, `PathRefused`, Cancelled.
        """
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
            detail = skip_reasons.BROKEN_SESSIONS.said(count=len(broken), problem=broken[0])
            issue = FileIssue(path=file.name, rule="broken", detail=detail)
        return self._settle(file, stored, seen, issue)

    def unreadable(self, file: FoundFile, error: ValueError) -> FileIssue:
        """Note that a transcript cannot be read now: what is stored of it stays. Raises Cancelled."""
        issue = _unreadable(file, error)
        self._settle(file, {}, set(), issue)
        return issue

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
            note(writer, file, None, issue.rule if issue else "", issue.detail if issue else "")
            return [], removed

        self._commits.put(settle)
        return issue

    def _put_session(self, file: FoundFile, name: str, conversation: Conversation, digest: str) -> None:
        facts = conversation.facts
        packer = TranscriptChunker(self._settings, self._token)
        with ExitStack() as unless_put:
            rows = ChunkRows(self._store.files.folder, self._token)
            unless_put.callback(rows.close)
            for message in conversation.messages:
                packer.add([message])
                rows.add(packer.take())
            rows.add(packer.finish())
            rows.analyse()
            count = sum(map(facts.counts, conversation.messages))
            size = sum(len(message.text) for message in conversation.messages)
            new = session_file(file, name, facts, count, rows, hash=digest, size=size)
            unless_put.pop_all()
            self._commits.put(_putting(new, rows), indexed=1)


def _unreadable(file: FoundFile, error: ValueError) -> FileIssue:
    return FileIssue(path=file.name, rule="broken", detail=skip_reasons.NOT_READ_TO_ITS_END.said(problem=error))


def _putting(new: NewFile, rows: ChunkRows) -> Change:
    def change(writer: Writer) -> tuple[list[int], list[int]]:
        try:
            return writer.replace_file(new)
        finally:
            rows.close()

    return change


def _digest(conversation: Conversation) -> str:
    facts = conversation.facts
    content = msgspec.json.encode((facts.title, facts.project, conversation.messages))
    return hashlib.sha256(content).hexdigest()
