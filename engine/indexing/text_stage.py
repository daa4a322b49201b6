"""Brings the text of a generation up to date: first notes, then sessions."""

from engine.corpus.discovery import discover
from engine.corpus.folder_walk import FoundFile
from engine.corpus.note_reader import Unreadable
from engine.indexing import note_preparation
from engine.indexing.commits import Change, Commits, TextOutcome
from engine.indexing.session_stage import SessionStage
from engine.indexing.sync_parts import StageWork
from engine.records import FileIssue
from engine.store.snapshot import StoredFile
from engine.store.writer import NewFile, Writer


class TextStage:
    """One sync's text work on one generation, used once."""

    def __init__(self, work: StageWork) -> None:
        self._work = work
        self._settings = work.parts.settings
        self._rules = work.parts.rules
        self._store = work.parts.store
        self._tables = work.tables
        self._meter = work.meter
        self._token = work.token
        self.outcome = TextOutcome()
        """What was done so far; also true after a run that was stopped."""
        self._commits = Commits(work, self.outcome)
        self._crashes = work.parts.crashes

    def run(self) -> TextOutcome:
        """Update once. Raises `Cancelled` between files; committed changes stay."""
        try:
            self._notes()
            self._commits.flush()  # whatever a transcript may do to its reader
            sessions = SessionStage(self._work, self._commits, self.outcome)
            sessions.list_new()
            sessions.read()
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
        for number, file in enumerate(due):
            self._token.checkpoint()
            self._meter.step(number, file.name)
            with self._crashes.reading(file):
                self._take(file, known.get(file.name))
        self._meter.step(len(due), "")

    def _take(self, file: FoundFile, stored: StoredFile | None) -> None:
        try:
            note = note_preparation.read(file, self._settings)
        except FileNotFoundError:
            if stored is not None:
                self._remove(file.name)
            return
        except Unreadable as problem:
            self.outcome.failed.append(problem.issue)
            # A file that is no longer readable text must not be found any more.
            if stored is not None:
                self._remove(file.name)
            return
        if stored is not None and stored.hash == note.hash:
            self._commits.put(_touching(file))
            self.outcome.files_unchanged += 1
            return
        self._commits.put(_replacing(note_preparation.prepare(file, note, self._settings)), indexed=1)

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
