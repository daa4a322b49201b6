"""Brings the text of a generation up to date: first notes, then sessions."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from heapq import heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING

from engine.base import in_batches
from engine.base.cancellation import CancelToken
from engine.base.index_rule_versions import REDACTION_VERSION
from engine.corpus.discovery import discover
from engine.corpus.documents import is_document
from engine.corpus.folder_walk import FoundFile, is_below
from engine.corpus.note_reader import EMPTY, NoteText, Unreadable, beginning
from engine.indexing.commit_groups import Change, Commits, TextOutcome
from engine.indexing.crashing_files import WITHOUT_TEXT
from engine.indexing.stage_data import StageWork
from engine.records import FileIssue
from engine.redaction.secret_masking import holds_secret
from engine.store import sessions
from engine.store.index_schema import IN_TEXT_ORDER, Tables, copy_file, keyword_rows
from engine.store.snapshot import StoredFile
from engine.store.writer import NewFile, Writer

if TYPE_CHECKING:
    from engine.indexing.note_preparation import StoredNote

_MIN_EXAMINED, _EXAMINING = 20, 0.005
"""Least number of notes that are searched for the query's words before the next note is read, and seconds after which
this ends: a busy disk or processor must not stop the indexing.
"""
_ROWS_PER_BATCH = 200
_FILES_PER_CHECK = 10_000
"""Files between checks of the cancel token: 20 ms."""


class NoteQueue:
    """Yields notes in their order, but first those that contain words of the latest query, most words first.

    So a search finds its words soon after a large folder was opened, while most notes are still to be read. A new query
    starts the examination again.
    """

    def __init__(
        self, files: list[FoundFile], latest_query: Callable[[], str], may_come_first: Callable[[FoundFile], bool]
    ) -> None:
        self._waiting = OrderedDict((file.name, file) for file in files)
        self._latest_query = latest_query
        self._may_come_first = may_come_first
        self._query = ""
        self._words: frozenset[str] = frozenset()
        self._unexamined: Iterator[FoundFile] = iter(())
        self._matches: list[tuple[int, str]] = []
        """Heap of the notes with words of the query: negative number of words, and name."""

    def __iter__(self) -> Iterator[FoundFile]:
        while self._waiting:
            self._examine()
            if self._matches:
                yield self._waiting.pop(heappop(self._matches)[1])
            else:
                yield self._waiting.popitem(last=False)[1]

    def _examine(self) -> None:
        """Look for the words of the query in the next few notes."""
        query = self._latest_query()
        if query != self._query:
            self._query = query
            self._words = _searched_words(query)
            self._matches.clear()
            self._unexamined = iter(list(self._waiting.values()) if self._words else ())
        end = time.monotonic() + _EXAMINING
        for number, file in enumerate(self._unexamined, 1):
            if file.name in self._waiting and self._may_come_first(file):
                text = f"{file.name.casefold()}\n{beginning(file)}"
                if matches := sum(word in text for word in self._words):
                    heappush(self._matches, (-matches, file.name))
            if number >= _MIN_EXAMINED and time.monotonic() >= end:
                break


def _searched_words(query: str) -> frozenset[str]:
    """Return the words of a query as typed, without function words, in lower case."""
    if not query:
        return frozenset()
    from engine.text import analyse_query, parse_query  # loaded by the search

    return frozenset(term.surface.casefold() for term in analyse_query(parse_query(query)).terms if not term.stop)


class TextStage:
    """Updates the text of one generation during one sync; used once."""

    def __init__(self, work: StageWork, after_commit: Callable[[], None]) -> None:
        """`after_commit` is called after each group of commits; it may raise `Cancelled`."""
        self._work = work
        self._settings = work.context.settings
        self._rules = work.context.rules
        self._store = work.context.store
        self._tables = work.tables
        self._meter = work.meter
        self._token = work.token
        self.outcome = TextOutcome()
        """Counts of the work done so far, also after an interrupted run."""
        self._commits = Commits(work, self.outcome, after_commit)
        self._crashes = work.context.crashes

    def run(self, transcripts: frozenset[str] | None = None) -> TextOutcome:
        """Index new and changed notes and sessions. Raises `Cancelled` between files; committed changes stay.

        `transcripts`: paths of the only files that have changed. They alone are read if the index knows them all.
        """
        if transcripts and self._reads_only(transcripts):
            return self.outcome
        try:
            self._notes()
            self._commits.flush()  # a transcript may crash its reader
            self._sessions()
            self._keep_unreachable()
        finally:
            # Cancelled or failed: the files read so far are complete, so commit them.
            self._commits.flush()
        self._save_issues()
        return self.outcome

    def _reads_only(self, transcripts: frozenset[str]) -> bool:
        """Read these transcripts; returns False if all files must be checked instead."""
        from engine.indexing.session_stage import SessionStage  # brings every agent with it

        try:
            complete = SessionStage(self._work, self._commits, self.outcome).read_changed(transcripts)
        finally:
            self._commits.flush()
        if not complete:
            self.outcome.failed.clear()
            self.outcome.skipped.clear()
        return complete

    def _sessions(self) -> None:
        if self._settings.sessions.folders or self._has_sessions():
            from engine.indexing.session_stage import SessionStage  # brings every agent with it

            session_stage = SessionStage(self._work, self._commits, self.outcome)
            session_stage.list_new()
            session_stage.read()

    def _has_sessions(self) -> bool:
        """Return whether the index has sessions of folders that the settings no longer name."""
        with self._store.read(tables=self._tables) as snapshot:
            state = sessions.transcripts(snapshot), sessions.listed_transcripts(snapshot), snapshot.machines()
        return any(state)

    def _notes(self) -> None:
        self._meter.start("discovering")
        workspace = self._work.context.workspace
        with self._work.drives("memory") as drives:
            discovery = discover(
                workspace, self._settings, cancel=self._token, listener=self._meter.step, drives=drives
            )
        with self._store.read(self._token, tables=self._tables) as snapshot:
            known = snapshot.files("memory")
            followed = snapshot.meta("names")
        listed = discovery.files if "memory" in self._settings.sources else []
        outcome = self.outcome
        outcome.files_seen = len(listed)
        outcome.skipped = discovery.skipped
        outcome.unreachable["memory"] |= {*discovery.unreachable}
        present = {file.name for file in listed}
        for name in known.keys() - present:
            self._token.checkpoint()
            if not is_below(name, discovery.unreachable):
                self._remove(name)
        if self._tables is None and followed != self._rules:
            self._commits.flush()
            with self._store.write() as writer:
                writer.set_meta("names", self._rules)
        due = list[FoundFile]()
        for batch in in_batches(listed, _FILES_PER_CHECK):
            self._token.checkpoint()
            due += [file for file in batch if self._is_due(file, known.get(file.name))]
        changed = {file.name: file for file in due}
        outcome.report(self._crashes.issues(file for file in listed if file.name not in changed))
        due, skipped = self._crashes.readable(due)
        outcome.report(skipped)
        for issue in skipped:
            self._store_name_only(changed[issue.path], issue)
        if not due:
            return
        from engine.indexing.worker_processes import NotePreparation  # brings chunking and analysis with it

        self._meter.start("indexing", len(due))
        sizes = [file.size for file in due]
        size = sum(sizes) - max(sizes)  # a single note is prepared here before another process has started
        with NotePreparation(self._settings.chunking, self._crashes, self._token, size) as preparation:
            for number, file in enumerate(self._in_order(due)):
                self._token.checkpoint()
                self._meter.step(number, file.name)
                note = self._read(file, known.get(file.name))
                if note is not None:
                    self._store_note(preparation.submit(file, note, self._stored(known.get(file.name))), known)
            self._store_note(preparation.remaining(), known)
        self._meter.step(len(due), "")

    def _is_due(self, file: FoundFile, stored: StoredFile | None) -> bool:
        """Return whether a file is new or has changed, or is a document stored by its name without a recorded reason.

        The last happens if a process is killed: the reasons are written at the end of a sync.
        """
        if stored is None or file.mtime_ns != stored.mtime_ns or file.size != stored.size:
            return True
        by_name = stored.hash == EMPTY.hash and file.size > 0 and is_document(file.name)
        return by_name and not self._crashes.crashes(file)

    def _in_order(self, due: list[FoundFile]) -> Iterable[FoundFile]:
        """Return the notes in the order of reading; a generation that isn't searched yet needs none."""
        if self._tables is not None:
            return due
        return NoteQueue(due, self._work.context.latest_query, lambda file: self._crashes.crashes(file) == 0)

    def _read(self, file: FoundFile, stored: StoredFile | None) -> NoteText | None:
        """Return the text of a new or changed note; None if it is unchanged, or can't be read, which is recorded."""
        from engine.indexing import note_preparation  # brings chunking and analysis with it

        try:
            with self._crashes.reading(file, partly=True):
                note = note_preparation.read(file, self._settings, self._token)
        except FileNotFoundError:
            if stored is not None:
                self._remove(file.name)
            return None
        except Unreadable as problem:
            self._crashes.skip_until_changed(file, problem.issue)
            named = self._store_name_only(file, problem.issue)
            self._fail(problem.issue, None if problem.transient or named else stored)
            if problem.transient:
                self.outcome.unreachable["memory"].add(file.name)
            return None
        if stored is not None and stored.hash == note.hash:
            self._crashes.end_reading(file)
            self._commits.add(_time_change(file))
            return None
        return note

    def _stored(self, file: StoredFile | None) -> "StoredNote | None":
        if file is None:
            return None
        from engine.indexing.note_preparation import stored_note  # brings chunking and analysis with it

        with self._store.read(tables=self._tables) as snapshot:
            return stored_note(snapshot, file.id)

    def _store_note(self, prepared: Iterable[NewFile | FileIssue], known: dict[str, StoredFile]) -> None:
        from engine.indexing.note_preparation import ChunkRows  # brings chunking and analysis with it

        for file in prepared:
            if isinstance(file, FileIssue):
                self._fail(file, known.get(file.path))
                continue
            self._commits.add(_replacing(file), indexed=1)
            if isinstance(file.chunks, ChunkRows):
                with closing(file.chunks):
                    self._commits.flush()

    def _store_name_only(self, file: FoundFile, issue: FileIssue) -> bool:
        """Store a document without a readable text as an empty note, which is found by its name; False for others."""
        if issue.rule not in WITHOUT_TEXT:
            return False
        from engine.indexing.note_preparation import prepare

        named = prepare(file, EMPTY, self._settings.chunking)
        self._commits.add(_replacing(named))
        return True

    def _fail(self, issue: FileIssue, stored: StoredFile | None) -> None:
        """Report a note that can't be read, and remove its former text from the index."""
        self.outcome.report((issue,))
        if stored is not None:
            self._remove(issue.path)

    def _remove(self, name: str) -> None:
        self._commits.add(lambda writer: ([], writer.remove_file("memory", name)), removed=1)

    def _keep_unreachable(self) -> None:
        """Copy the rows of files that can't be checked now, as on a drive that isn't connected, to the new generation.

        They are read as soon as they can be. A session with a secret that earlier rules didn't mask is left out.
        """
        new, unreachable = self._tables, self.outcome.unreachable
        if new is None or not any(unreachable.values()):
            return
        with self._store.read() as snapshot:
            old, rules = snapshot.tables, str(snapshot.meta("fingerprint"))
            files = list(
                snapshot.connection.execute(
                    f"""SELECT f.id, f.source, coalesce(s.transcript, f.path) FROM {old.files} f
                        LEFT JOIN {old.sessions} s ON s.file_id = f.id WHERE NOT EXISTS (
                            SELECT 1 FROM {new.files} n WHERE n.source = f.source AND n.path = f.path)"""
                )
            )
        was_masked = f"redaction {REDACTION_VERSION};" in rules
        for id_, source, name in files:
            self._token.checkpoint()
            if is_below(name, unreachable[source]) and (source == "memory" or was_masked or self._is_masked(id_)):
                self._commits.add(_copying(old, id_, self._token))

    def _is_masked(self, session: int) -> bool:
        """Return whether nothing in the stored rows of a session is to be masked."""
        with self._store.read() as snapshot:
            tables = snapshot.tables
            chunks = snapshot.connection.execute(
                f"SELECT text FROM {tables.chunks} WHERE file_id = ? ORDER BY {IN_TEXT_ORDER}", (session,)
            )
            before = ""
            for (text,) in chunks:
                self._token.checkpoint()
                if holds_secret(f"{before}\n{text}"):  # a name and its secret may be in two chunks
                    return False
                before = text
            texts = snapshot.connection.execute(
                f"""SELECT value FROM {tables.tool_uses} WHERE file_id = ?1
                    UNION ALL SELECT title FROM {tables.files} WHERE id = ?1
                    UNION ALL SELECT project FROM {tables.sessions} WHERE file_id = ?1
                    UNION ALL SELECT branch FROM {tables.sessions} WHERE file_id = ?1""",
                (session,),
            )
            return not any(holds_secret(text) for (text,) in texts)

    def _save_issues(self) -> None:
        issues = self.outcome.failed, self.outcome.skipped
        failed, skipped = (sorted(part, key=attrgetter("path", "rule")) for part in issues)
        with self._store.read() as snapshot:
            if (list(snapshot.issues("failed")), list(snapshot.issues("skipped"))) == (failed, skipped):
                return
        with self._store.write() as writer:
            writer.replace_issues("failed", failed)
            writer.replace_issues("skipped", skipped)


def _replacing(file: NewFile) -> Change:
    return lambda writer: writer.replace_file(file)


def _time_change(file: FoundFile) -> Change:
    def touch(writer: Writer) -> tuple[list[int], list[int]]:
        writer.touch_file(file.source, file.name, mtime_ns=file.mtime_ns, size=file.size)
        return [], []

    return touch


def _copying(old: Tables, file_id: int, token: CancelToken) -> Change:
    def copy(writer: Writer) -> tuple[list[int], list[int]]:
        ids = copy_file(writer.connection, old, writer.tables, file_id)
        for start in range(0, len(ids), _ROWS_PER_BATCH):
            token.checkpoint()
            rows = keyword_rows(writer.connection, writer.tables, ids[start : start + _ROWS_PER_BATCH])
            writer.add_keywords((row.id, row.streams) for row in rows)
        return ids, []

    return copy
