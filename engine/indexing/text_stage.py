"""Brings the text of a generation up to date: first notes, then sessions."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain

from engine.base import skip_reasons
from engine.base.errors import PathRefused
from engine.corpus.discovery import discover
from engine.corpus.folder_walk import FoundFile
from engine.corpus.note_reader import NoteText, Unreadable
from engine.corpus.safe_open import FolderFiles
from engine.corpus.transcripts.quick_summary import glance
from engine.corpus.transcripts.registry import copied_sessions
from engine.corpus.transcripts.stores import FoundTranscripts, find_transcripts, machine_names
from engine.corpus.transcripts.transcript_files import is_compressed
from engine.indexing import note_preparation
from engine.indexing.commits import Change, Commits, TextOutcome
from engine.indexing.preparation_processes import NotePreparation
from engine.indexing.session_ownership import INDEXED_ELSEWHERE, elsewhere, ownership_issues, ownership_message
from engine.indexing.session_rows import note_left_out, session_file
from engine.indexing.stage_data import StageWork
from engine.records import FileIssue
from engine.store import sessions
from engine.store.sessions import StoredTranscript
from engine.store.snapshot import StoredFile
from engine.store.writer import NewFile, Writer

_COPIED = "copied"

_A_COMMIT = 500


class TextStage:
    """Updates the text of one generation during one sync; used once."""

    def __init__(self, work: StageWork) -> None:
        self._work = work
        self._settings = work.parts.settings
        self._rules = work.parts.rules
        self._store = work.parts.store
        self._tables = work.tables
        self._meter = work.meter
        self._token = work.token
        self.outcome = TextOutcome()
        """Counts of the work done so far, also after an interrupted run."""
        self._commits = Commits(work, self.outcome)
        self._crashes = work.parts.crashes

    def run(self) -> TextOutcome:
        """Index new and changed notes and sessions. Raises `Cancelled` between files; committed changes stay."""
        try:
            self._notes()
            self._commits.flush()  # a transcript may crash its reader
            session_stage = SessionStage(self._work, self._commits, self.outcome)
            session_stage.list_new()
            session_stage.read()
        finally:
            # Cancelled or failed: the files read so far are complete, so commit them.
            self._commits.flush()
        self._keep_issues()
        return self.outcome

    def _notes(self) -> None:
        self._meter.start("discovering")
        workspace = self._work.parts.workspace
        found = discover(workspace, self._settings, cancel=self._token, listener=self._meter.step)
        with self._store.read(tables=self._tables) as snapshot:
            known = snapshot.files("memory")
            followed = snapshot.meta("names")
        wanted = found.files if "memory" in self._settings.sources else []
        outcome = self.outcome
        outcome.files_seen = len(wanted)
        outcome.skipped = found.skipped
        present = {file.name for file in wanted}
        for name in known.keys() - present:
            self._token.checkpoint()
            self._remove(name)
        if self._tables is None and followed != self._rules:
            self._commits.flush()
            with self._store.write() as writer:
                writer.set_meta("names", self._rules)
        due = [file for file in wanted if _differs(file, known.get(file.name))]
        outcome.files_unchanged = len(wanted) - len(due)
        due, passed_over = self._crashes.readable(due)
        outcome.failed += passed_over
        if not due:
            return
        self._meter.start("indexing", len(due))
        size = sum(file.size for file in due)
        with NotePreparation(self._settings.chunking, self._crashes, self._token, size) as preparation:
            for number, file in enumerate(due):
                self._token.checkpoint()
                self._meter.step(number, file.name)
                with self._crashes.reading(file):
                    note = self._read(file, known.get(file.name))
                if note is not None:
                    self._put(preparation.put(file, note))
            self._put(preparation.rest())
        self._meter.step(len(due), "")

    def _read(self, file: FoundFile, stored: StoredFile | None) -> NoteText | None:
        """Return the text of a note that is new or has changed; None if it can't be read or needs no preparation."""
        try:
            note = note_preparation.read(file, self._settings)
        except FileNotFoundError:
            if stored is not None:
                self._remove(file.name)
            return None
        except Unreadable as problem:
            self.outcome.failed.append(problem.issue)
            # A file that is no longer readable text must not be found any more.
            if stored is not None:
                self._remove(file.name)
            return None
        if stored is not None and stored.hash == note.hash:
            self._commits.put(_touching(file))
            self.outcome.files_unchanged += 1
            return None
        return note

    def _put(self, prepared: Iterable[NewFile]) -> None:
        for file in prepared:
            self._commits.put(_replacing(file), indexed=1)

    def _remove(self, name: str) -> None:
        self._commits.put(lambda writer: ([], writer.remove_file("memory", name)), removed=1)

    def _keep_issues(self) -> None:
        failed, skipped = (sorted(part, key=_by_path) for part in (self.outcome.failed, self.outcome.skipped))
        with self._store.read() as snapshot:
            if (list(snapshot.issues("failed")), list(snapshot.issues("skipped"))) == (failed, skipped):
                return
        with self._store.write() as writer:
            writer.replace_issues("failed", failed)
            writer.replace_issues("skipped", skipped)


def _replacing(file: NewFile) -> Change:
    return lambda writer: writer.replace_file(file)


def _touching(file: FoundFile) -> Change:
    def touch(writer: Writer) -> tuple[list[int], list[int]]:
        writer.touch_file(file.source, file.name, mtime_ns=file.mtime_ns, size=file.size)
        return [], []

    return touch


def _by_path(issue: FileIssue) -> tuple[str, str]:
    return issue.path, issue.rule


def _differs(file: FoundFile, stored: StoredFile | None) -> bool:
    return stored is None or (file.mtime_ns, file.size) != (stored.mtime_ns, stored.size)


class SessionStage:
    """Updates the sessions of one generation during one sync; used once."""

    def __init__(self, work: StageWork, commits: Commits, outcome: TextOutcome) -> None:
        self._work = work
        self._settings = work.parts.settings
        self._commits = commits
        self._outcome = outcome
        self._crashes = work.parts.crashes
        self._token = work.token
        self._meter = work.meter
        self._looked = False
        self._known: dict[str, StoredTranscript] = {}
        self._listed: set[str] = set()
        self._found = FoundTranscripts([], [])
        self._external: dict[str, str] = {}
        """Transcripts that belong to other workspaces, with the folder of each workspace."""

    def list_new(self) -> None:
        """Add new sessions to the list of sessions, before they are read.

        A generation that isn't published yet needs no list. Raises `Cancelled`.
        """
        if self._work.tables is not None or not self._settings.sessions.folders:
            return
        self._find()
        known = self._known.keys() | self._listed | self._external.keys()
        new = [file for file in self._found.files if file.name not in known and not self._crashes.deaths(file)]
        if not new:
            return
        self._meter.start("discovering", len(new))
        self._listed |= list_sessions(new, self._work, self._commits)

    def read(self) -> None:
        """Read all new and changed transcripts.

        Raises `Cancelled` between transcripts and within long ones; committed changes stay.
        """
        self._find()
        found, known = self._found, self._known
        self._outcome.skipped += found.skipped
        self._outcome.files_seen += len(found.files) - len(self._external)
        present = {file.name for file in found.files}
        for name in (known.keys() | self._listed) - present:
            self._token.checkpoint()
            self._forget(name)
        self._leave_to_others()
        own = [file for file in found.files if file.name not in self._external]
        copies = self._copies()
        due = [file for file in own if _transcript_differs(file, known.get(file.name), file.name in copies)]
        names = {file.name for file in due}
        for name, stored in known.items():
            if name in present and name not in names and name not in self._external:
                self._outcome.files_unchanged += 1
                if stored.rule:
                    self._outcome.skipped.append(FileIssue(path=name, rule=stored.rule, detail=stored.detail))
        self._name_machines()
        self._read(due, copies)

    def _name_machines(self) -> None:
        """Store the names of other machines whose sessions are indexed, as in the settings."""
        names, store = machine_names(self._settings), self._work.parts.store
        with store.read() as snapshot:
            if sessions.machines(snapshot) == names:
                return
        with store.write() as writer:
            sessions.name_machines(writer, names)

    def _find(self) -> None:
        """List all transcripts and load their stored state, once per sync."""
        if self._looked:
            return
        self._looked = True
        with self._work.parts.store.read(tables=self._work.tables) as snapshot:
            self._known = sessions.transcripts(snapshot)
            self._listed = sessions.listed_transcripts(snapshot)
        if self._settings.sessions.folders:
            self._meter.start("discovering")
            self._found = find_transcripts(self._settings, cancel=self._token, listener=self._meter.step)
        parts = self._work.parts
        projects = self._projects()
        files = [file for file in self._found.files if not self._crashes.deaths(file)]
        self._external = elsewhere(
            files, projects, parts.workspace, parts.store.files, self._token, self._crashes.reading
        )
        self._crashes.rest()

    def _projects(self) -> dict[str, str]:
        """Return the project folder of each indexed session, by transcript name."""
        with self._work.parts.store.read(tables=self._work.tables) as snapshot:
            return {one.path: one.project for one in sessions.sessions(snapshot) if one.path in self._known}

    def _leave_to_others(self) -> None:
        """Record for each transcript of another workspace that it is indexed there, and remove its rows."""
        for file in self._found.files:
            if file.name not in self._external:
                continue
            where, stored = ownership_message(self._external[file.name]), self._known.get(file.name)
            if stored != (file.mtime_ns, file.size, INDEXED_ELSEWHERE, where):
                self._token.checkpoint()
                was_here = file.name in self._listed or (stored is not None and not stored.rule)
                self._commits.put(note_left_out(file, INDEXED_ELSEWHERE, where), removed=int(was_here))
        self._outcome.skipped += ownership_issues(self._external)

    def _copies(self) -> set[str]:
        """Return the names of transcripts whose sessions are also in another transcript."""
        before = {name for name, stored in self._known.items() if stored.rule == _COPIED}
        return copied_sessions(self._found.files, before, self._token)

    def _read(self, due: list[FoundFile], copies: set[str]) -> None:
        if not due:
            return
        from engine.indexing.transcript_stage import TranscriptRows  # brings every format with it

        due, passed_over = self._crashes.readable(due)
        self._outcome.failed += passed_over
        rows = TranscriptRows(self._work, self._commits)
        self._meter.start("indexing", len(due))
        for number, file in enumerate(due):
            self._token.checkpoint()
            self._meter.step(number, file.name)
            try:
                copied = file.name in copies
                with self._crashes.reading(file):
                    issue = rows.leave_out(file, _COPIED, skip_reasons.COPIED.said()) if copied else rows.take(file)
            except FileNotFoundError:
                self._forget(file.name)
            except PathRefused:
                self._fail(file, "symlink", skip_reasons.REPLACED.said())
            except OSError as error:
                self._fail(file, "unreadable", skip_reasons.unreadable(error))
            else:
                if issue is not None:
                    self._outcome.skipped.append(issue)
        self._meter.step(len(due), "")

    def _fail(self, file: FoundFile, rule: str, detail: str) -> None:
        self._outcome.failed.append(FileIssue(path=file.name, rule=rule, detail=detail))
        self._forget(file.name)

    def _forget(self, name: str) -> None:
        if name in self._known or name in self._listed:
            self._commits.put(_forgetting(name), removed=1)


def _forgetting(name: str) -> Change:
    return lambda writer: ([], sessions.forget_transcript(writer, name))


def _transcript_differs(file: FoundFile, stored: StoredTranscript | None, copied: bool) -> bool:
    if stored is None or stored.rule == INDEXED_ELSEWHERE or copied != (stored.rule == _COPIED):
        return True
    return (file.mtime_ns, file.size) != (stored.mtime_ns, stored.size)


# --- Lists sessions whose transcripts have not been read yet, from a short look at each ------------------------------


def list_sessions(files: Sequence[FoundFile], work: StageWork, commits: Commits) -> set[str]:
    """Add a preliminary row for each session, which reading it replaces. Returns the sessions'
    names. Raises Cancelled.
    """
    rows: list[NewFile] = []
    listed: set[str] = set()
    with closing(FolderFiles()) as folders:
        for number, file in enumerate(_by_folder(files)):
            work.token.checkpoint()
            work.meter.step(number, file.name)
            with work.parts.crashes.reading(file):
                row = _listed(file, folders)
            if row is not None:
                rows.append(row)
                listed.add(file.name)
            if len(rows) == _A_COMMIT:
                commits.put(_adding(rows))
                commits.flush()
                rows = []
    commits.put(_adding(rows))
    commits.flush()
    return listed


def _by_folder(files: Sequence[FoundFile]) -> Iterator[FoundFile]:
    """Return the files grouped by folder, in the order of each folder's first file."""
    folders: dict[str, list[FoundFile]] = {}
    for file in files:
        folders.setdefault(file.path.rpartition(os.sep)[0], []).append(file)
    return chain.from_iterable(folders.values())


def _listed(file: FoundFile, folders: FolderFiles) -> NewFile | None:
    """Return the preliminary row of a session from a short look at its transcript; None if that must be read first."""
    if is_compressed(file.path):
        return None  # its end can only be read after all of it
    try:
        descriptor, _ = folders.open(file.path)
        try:
            seen = glance(descriptor, file.path, file.size)
        finally:
            os.close(descriptor)
    except (OSError, PathRefused):
        return None
    return (
        None
        if seen is None
        else session_file(file, file.name, seen.facts, seen.messages, None, hash="", size=file.size)
    )


def _adding(rows: Sequence[NewFile]) -> Change:
    def add(writer: Writer) -> tuple[list[int], list[int]]:
        writer.list_files(rows)
        return [], []

    return add
