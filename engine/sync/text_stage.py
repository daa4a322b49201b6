"""Brings the text half of a generation to what is on disk: discover, diff, read, write."""

import time
from dataclasses import dataclass, field

from engine.corpus.discovery import FoundFile, discover
from engine.corpus.reading import Unreadable
from engine.records import FileIssue, Source
from engine.store.snapshot import StoredFile
from engine.store.writer import NewFile, Writer
from engine.sync import preparing
from engine.sync.parts import StageWork

_FILES_A_COMMIT = 100
_SECONDS_A_COMMIT = 1.0
_FIRST_COMMIT_SECONDS = 0.15
_PAUSE_BETWEEN_COMMITS = 0.02


@dataclass
class TextOutcome:
    """What the text stage did."""

    files_seen: int = 0
    files_indexed: int = 0
    files_unchanged: int = 0
    files_removed: int = 0
    chunks_indexed: int = 0
    chunks_removed: int = 0
    failed: list[FileIssue] = field(default_factory=list)
    skipped: list[FileIssue] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return bool(self.files_indexed or self.files_removed)

    def add(self, later: "TextOutcome") -> None:
        """Take in a later pass over the same files: its view of them counts, the work adds up."""
        self.files_seen = later.files_seen
        self.files_unchanged = later.files_unchanged
        self.files_indexed += later.files_indexed
        self.files_removed += later.files_removed
        self.chunks_indexed += later.chunks_indexed
        self.chunks_removed += later.chunks_removed
        self.failed, self.skipped = later.failed, later.skipped


class TextStage:
    """One sync's text work on one generation, used once."""

    def __init__(self, work: StageWork) -> None:
        self._workspace = work.parts.workspace
        self._settings = work.parts.settings
        self._rules = work.parts.rules
        self._store = work.parts.store
        self._vectors = work.parts.vectors
        self._committed = work.parts.committed
        self._tables = work.tables
        self._meter = work.meter
        self._token = work.token
        self._model = work.model
        self._waiting: list[NewFile] = []
        self._touched: list[FoundFile] = []
        self._last_commit = 0.0
        self._commits = 0
        self.outcome = TextOutcome()
        """What was done so far; also true after a run that was stopped."""

    def run(self) -> TextOutcome:
        """One pass. Raises `Cancelled` between files; what was committed stays."""
        self._meter.start("discovering")
        found = discover(self._workspace, self._settings, cancel=self._token, listener=self._meter.step)
        with self._store.read(tables=self._tables) as snapshot:
            known = snapshot.files()
            followed = snapshot.meta("names")
        wanted = [file for file in found.files if file.source in self._settings.sources]
        outcome = self.outcome
        outcome.files_seen = len(wanted)
        outcome.skipped = found.skipped
        present = {(file.source, file.name) for file in wanted}
        self._remove([key for key in known if key not in present])
        if self._tables is None and followed != self._rules:
            with self._store.write() as writer:
                writer.set_meta("names", self._rules)
        due = [file for file in wanted if _differs(file, known.get((file.source, file.name)))]
        outcome.files_unchanged = len(wanted) - len(due)
        self._index(due, known)
        self._keep_issues()
        return outcome

    def _index(self, due: list[FoundFile], known: dict[tuple[Source, str], StoredFile]) -> None:
        if not due:
            return
        self._meter.start("indexing", len(due))
        self._last_commit = time.monotonic()
        try:
            for number, file in enumerate(due):
                self._token.checkpoint()
                self._meter.step(number, file.name)
                self._take(file, known.get((file.source, file.name)))
                if self._commit_is_due():
                    self._commit()
            self._meter.step(len(due), "")
        finally:
            # Cancelled or failed: what was read up to here is whole, so it is kept.
            self._commit()

    def _take(self, file: FoundFile, stored: StoredFile | None) -> None:
        try:
            note = preparing.read(file, self._settings)
        except FileNotFoundError:
            self._remove([(file.source, file.name)] if stored else [])
            return
        except Unreadable as problem:
            self.outcome.failed.append(problem.issue)
            # Text that can no longer be read for what it is must not be found any more.
            self._remove([(file.source, file.name)] if stored else [])
            return
        if stored is not None and stored.hash == note.hash:
            self._touched.append(file)
            self.outcome.files_unchanged += 1
            return
        self._waiting.append(preparing.prepare(file, note, self._settings))

    def _commit_is_due(self) -> bool:
        # The first commit comes early: someone waits for something to search.
        patience = _SECONDS_A_COMMIT if self._commits else _FIRST_COMMIT_SECONDS
        return len(self._waiting) >= _FILES_A_COMMIT or time.monotonic() - self._last_commit >= patience

    def _commit(self) -> None:
        if not self._waiting and not self._touched:
            return
        if self._commits:
            # Reading and chunking the next files is the pause that other writers need; only a short one is drawn out.
            time.sleep(max(0.0, _PAUSE_BETWEEN_COMMITS - (time.monotonic() - self._last_commit)))
        files, self._waiting = self._waiting, []
        touched, self._touched = self._touched, []
        new = 0
        removed: list[int] = []
        with self._store.write(self._tables) as writer:
            for file in files:
                added, gone = writer.replace_file(file)
                new += len(added)
                removed += gone
            for seen in touched:
                writer.touch_file(seen.source, seen.name, mtime_ns=seen.mtime_ns, size=seen.size)
            stamps = self._stamps(writer)
        self._follow(stamps, removed)
        self.outcome.files_indexed += len(files)
        self.outcome.chunks_indexed += new
        self._commits += 1
        self._last_commit = time.monotonic()

    def _remove(self, keys: list[tuple[Source, str]]) -> None:
        for start in range(0, len(keys), _FILES_A_COMMIT):
            self._token.checkpoint()
            group = keys[start : start + _FILES_A_COMMIT]
            with self._store.write(self._tables) as writer:
                removed = [id_ for key in group for id_ in writer.remove_file(*key)]
                stamps = self._stamps(writer)
            self._follow(stamps, removed)
            self.outcome.files_removed += len(group)

    def _stamps(self, writer: Writer) -> tuple[int, int]:
        """The stamp before and after this commit. A generation that nobody reads yet has none."""
        before = writer.stamp
        return before, writer.advance_stamp() if self._tables is None else before

    def _follow(self, stamps: tuple[int, int], removed: list[int]) -> None:
        self.outcome.chunks_removed += len(removed)
        if self._tables is None:
            self._vectors.changed(*stamps, self._model, removed=removed)
        self._committed()

    def _keep_issues(self) -> None:
        failed, skipped = (sorted(part, key=_by_path) for part in (self.outcome.failed, self.outcome.skipped))
        with self._store.read() as snapshot:
            if (list(snapshot.issues("failed")), list(snapshot.issues("skipped"))) == (failed, skipped):
                return
        with self._store.write() as writer:
            writer.replace_issues("failed", failed)
            writer.replace_issues("skipped", skipped)


def _by_path(issue: FileIssue) -> tuple[str, str]:
    return issue.path, issue.rule


def _differs(file: FoundFile, stored: StoredFile | None) -> bool:
    return stored is None or (file.mtime_ns, file.size) != (stored.mtime_ns, stored.size)
