"""Brings the sessions of a generation up to date: lists new transcripts, then reads those that have changed."""

import functools
import os
import stat
from bisect import bisect_right
from collections.abc import Generator, Iterator, Mapping, Sequence, Set
from contextlib import closing, suppress
from itertools import chain

import msgspec

from engine.base import skip_reasons
from engine.base.errors import PARSER_FAULTS, PathRefused
from engine.corpus.folder_walk import LATEST_NS, FoundFile, is_below, is_transient
from engine.corpus.note_reader import Unreadable
from engine.corpus.safe_open import FolderFiles
from engine.corpus.transcripts.agents import LINES_END
from engine.corpus.transcripts.quick_summary import read_quick_summary
from engine.corpus.transcripts.registry import (
    continued_in,
    copied_sessions,
    may_have_copies,
    owner_of_part,
    parser_versions,
)
from engine.corpus.transcripts.session_stores import (
    FoundTranscripts,
    find_stores,
    find_transcripts,
    machine_names,
    transcript_at,
)
from engine.corpus.transcripts.transcript_files import is_compressed, last_change, transcript_of
from engine.corpus.transcripts.transcript_reader import project_of
from engine.indexing.commit_groups import Change, Commits, TextOutcome
from engine.indexing.session_row_builder import session_file, skipped_transcript
from engine.indexing.session_workspace_assignment import (
    INDEXED_ELSEWHERE,
    claim_transcripts,
    ownership_issues,
    ownership_message,
)
from engine.indexing.stage_data import StageWork
from engine.records import FileIssue
from engine.store import sessions
from engine.store.sessions import StoredTranscript
from engine.store.snapshot import Snapshot
from engine.store.writer import NewFile, Writer

_COPIED = "copied"
_ROWS_PER_COMMIT = 2500
_FILES_PER_TASK = 100
"""Number of transcripts that one process reads quickly before it gets the next ones."""
_MIN_FOR_PROCESSES = 2_000
"""Number of new transcripts from which other processes are started, which takes as long as looking at 1,000."""
_DAY_NS = 24 * 3600 * 10**9
_QuickRead = tuple[FoundFile, NewFile | None, str]
"""A transcript with the row of its session, None if it must be read first, and the session's project."""


class SessionStage:
    """One sync's work on the sessions of one generation, used once."""

    def __init__(self, work: StageWork, commits: Commits, outcome: TextOutcome) -> None:
        self._work = work
        self._settings = work.context.settings
        self._commits = commits
        self._outcome = outcome
        self._crashes = work.context.crashes
        self._token = work.token
        self._meter = work.meter
        self._found = False
        self._stored: dict[str, StoredTranscript] = {}
        self._listed: dict[str, str] = {}
        """Names of transcripts with a listed session, and its working folder if they have only one."""
        self._transcripts = FoundTranscripts([], [])
        self._changed: set[str] = set()
        """Names of the transcripts that are new, or have changed since they were last read."""
        self._owned_elsewhere: dict[str, str] = {}
        """Transcripts that belong to other workspaces, with the folders of these."""
        self._listed_rows: dict[str, NewFile | None] = {}
        """Result of `_listed_row` for each transcript that was opened to find its project."""
        self._own_paths: set[str] = set()
        """Paths of the transcripts that are read if they have changed, perhaps as one that continues another."""

    def list_new(self) -> None:
        """Add sessions that the index doesn't know to the list of sessions, long before they are read.

        A generation that isn't published yet needs no list. Raises `Cancelled`.
        """
        if self._work.tables is not None or not self._settings.sessions.folders:
            return
        self._find()
        known = self._stored.keys() | self._listed.keys() | self._owned_elsewhere.keys()
        new = self._crashes.without_suspects([file for file in self._transcripts.files if file.name not in known])
        if not new:
            return
        self._meter.start("discovering", len(new))
        self._listed |= dict.fromkeys(list_sessions(new, self._work, self._commits, self._listed_rows), "")

    def read(self) -> None:
        """Read all transcripts once.

        Raises `Cancelled` between transcripts and within long ones; committed changes stay.
        """
        self._find()
        found, known = self._transcripts, self._stored
        self._outcome.skipped += found.skipped
        self._outcome.unreachable["sessions"] |= {*found.unreachable}
        self._outcome.files_seen += len(found.files) - len(self._owned_elsewhere)
        present = {file.name for file in found.files}
        for name in (known.keys() | self._listed.keys()) - present:
            self._token.checkpoint()
            if not is_below(name, found.unreachable):
                self._forget(name)
        self._exclude_owned_elsewhere()
        elsewhere, changed = self._owned_elsewhere, self._changed
        own = [file for file in found.files if file.name not in elsewhere]
        left_out = {name: stored for name, stored in known.items() if stored.rule}
        copies_before = {name for name, stored in left_out.items() if stored.rule == _COPIED}
        copies = self._copies(own, copies_before)
        others = (copies ^ copies_before).union(name for name, one in left_out.items() if one.rule == INDEXED_ELSEWHERE)
        due = [file for file in own if file.name in changed or file.name in others]
        unchanged = (known.keys() & present) - {file.name for file in due} - elsewhere.keys()
        for name, stored in left_out.items():
            if name in unchanged:
                self._outcome.skipped.append(FileIssue(path=name, rule=stored.rule, detail=stored.detail))
        self._name_machines()
        self._read(due, copies)

    def read_changed(self, paths: Set[str]) -> bool:
        """Read only these files, without listing any folder.

        Returns False if that is not enough: one of them belongs to no transcript that the index has, another transcript
        may have the same sessions, or it can't be read. Raises as `read`.
        """
        self._change_parsers()
        stores = [(os.path.realpath(store.path), store) for store in find_stores(self._settings)]
        found = {transcript_at(transcript_of(owner_of_part(path) or path), stores) for path in paths}
        with self._work.context.store.read() as snapshot:
            for name, path in found:
                self._stored |= sessions.transcripts(snapshot, name)
                stored = self._stored.get(name)
                file = None if stored is None or stored.rule else _found_file(name, path)
                if file is None or self._crashes.crashes(file) or _may_be_copy(file, snapshot):
                    return False
                self._transcripts.files.append(file)
        due = self._find_changed()
        if not all(not file.path.endswith(LINES_END) or self._has_only_grown(file) for file in due):
            return False
        self._outcome.files_seen = len(self._transcripts.files)
        self._read(due, set())
        return not (self._outcome.failed or self._outcome.skipped)

    def _find_changed(self) -> list[FoundFile]:
        """Return the transcripts that are new, or have changed since they were last read, and remember their names."""
        known = self._stored
        changed = [
            file
            for file in self._transcripts.files
            if (stored := known.get(file.name)) is None or stored.mtime_ns != file.mtime_ns or stored.size != file.size
        ]
        self._changed = {file.name for file in changed}
        return changed

    def _has_only_grown(self, file: FoundFile) -> bool:
        """Return whether a transcript has the beginning that it had when its first messages were read."""
        from engine.indexing.transcript_stage import has_only_grown  # brings every format with it

        return has_only_grown(file, self._work)

    def _change_parsers(self) -> None:
        """Mark the transcripts that a parser of another version has read."""
        versions, store, tables = parser_versions(), self._work.context.store, self._work.tables
        with store.read(tables=tables) as snapshot:
            before = sessions.parser_versions(snapshot)
        if before != versions:
            changed = [agent for agent, version in versions.items() if before.get(agent) != version]
            with store.write(tables) as writer:
                sessions.change_parsers(writer, changed, versions)

    def _name_machines(self) -> None:
        """Store which sessions are from other machines, as the settings say now."""
        names, store = machine_names(self._settings), self._work.context.store
        with store.read() as snapshot:
            if snapshot.machines() == names:
                return
        with store.write() as writer:
            sessions.name_machines(writer, names)

    def _find(self) -> None:
        """List all transcripts and their stored state, once per sync."""
        if self._found:
            return
        self._found = True
        self._change_parsers()
        with self._work.context.store.read(tables=self._work.tables) as snapshot:
            self._stored = sessions.transcripts(snapshot)
            self._listed = sessions.listed_transcripts(snapshot)
        if self._settings.sessions.folders:
            self._meter.start("discovering")
            with self._work.drives("sessions") as drives:
                self._transcripts = find_transcripts(
                    self._settings, cancel=self._token, listener=self._meter.step, drives=drives
                )
        self._find_changed()
        context = self._work.context
        projects = {name: project for name, project in self._listed.items() if name in self._stored}
        files = self._crashes.without_suspects(self._transcripts.files)
        self._owned_elsewhere = claim_transcripts(
            files, projects, context.workspace, context.store.files, self._projects_of
        )

    def _projects_of(self, files: Sequence[FoundFile]) -> Iterator[tuple[FoundFile, str]]:
        """Yield the working folder of new sessions, from the quick read if that finds it."""
        for file, row, project in _quick_reads(files, self._work):
            self._token.checkpoint()
            self._listed_rows[file.name] = row
            found = project
            if not project:
                with suppress(Unreadable), self._crashes.reading(file):  # reading reports it
                    found = project_of(file.path)
            yield file, found

    def _exclude_owned_elsewhere(self) -> None:
        """Record the workspace of each transcript that belongs to another one, and remove its rows."""
        for file in self._transcripts.files if self._owned_elsewhere else ():
            if file.name not in self._owned_elsewhere:
                continue
            where, stored = ownership_message(self._owned_elsewhere[file.name]), self._stored.get(file.name)
            if stored != StoredTranscript(file.name, file.mtime_ns, file.size, INDEXED_ELSEWHERE, where):
                self._token.checkpoint()
                was_here = file.name in self._listed or (stored is not None and not stored.rule)
                self._commits.add(skipped_transcript(file, INDEXED_ELSEWHERE, where), removed=int(was_here))
        self._outcome.skipped += ownership_issues(self._owned_elsewhere)

    def _copies(self, own: list[FoundFile], before: set[str]) -> set[str]:
        """Return the names of the transcripts whose sessions are also in another one; `before`: the last result."""
        copies = copied_sessions(self._transcripts.files, before, self._token)
        self._own_paths = {file.path for file in own if file.name not in copies}
        again = before - copies
        still = {file.name for file in own if file.name in again and self._is_still_continued(file)}
        return copies | still | {file.name for file in self._possibly_continued(own) if self._is_continued(file)}

    def _possibly_continued(self, own: list[FoundFile]) -> Iterator[FoundFile]:
        """Yield unchanged transcripts that a new or rewritten one in their folder may continue: at most a day apart."""
        begun: dict[str, list[int]] = {}
        for file in own if self._stored else ():
            if file.name in self._changed and not (file.name in self._stored and self._has_only_grown(file)):
                begun.setdefault(os.path.dirname(file.path), []).append(file.mtime_ns)
        for times in begun.values():
            times.sort()
        for file in own if begun else ():
            times = begun.get(os.path.dirname(file.path), [])
            first = bisect_right(times, file.mtime_ns - _DAY_NS)
            near = first < len(times) and times[first] < file.mtime_ns + _DAY_NS
            if near and file.name not in self._changed and not self._stored[file.name].rule:
                yield file

    def _is_continued(self, file: FoundFile) -> bool:
        return continued_in(file.path) in self._own_paths

    def _is_still_continued(self, file: FoundFile) -> bool:
        """Return whether a transcript that was left out before is still continued by another one.

        It is only opened if something changed.
        """
        return _successor(file.path, file.mtime_ns, file.size) in self._own_paths or self._is_continued(file)

    def _read(self, due: list[FoundFile], copies: set[str]) -> None:
        if not due:
            return
        from engine.indexing.transcript_stage import TranscriptIndexer  # brings every format with it

        due, skipped = self._crashes.readable(due)
        self._outcome.failed += skipped
        # Copies first: a sync that ends early must not leave one next to the transcript that continues it.
        due.sort(key=lambda file: file.name not in copies)
        rows = TranscriptIndexer(self._work, self._commits)
        self._meter.start("indexing", len(due))
        for number, file in enumerate(due):
            self._token.checkpoint()
            self._meter.step(number, file.name)
            try:
                with self._crashes.reading(file):
                    copied = file.name in copies or self._is_continued(file)
                    issue = rows.leave_out(file, _COPIED, skip_reasons.COPIED.message()) if copied else rows.index(file)
            except FileNotFoundError:
                self._forget(file.name)
            except PathRefused:
                self._fail(FileIssue(path=file.name, rule="symlink", detail=skip_reasons.REPLACED.message()))
            except OSError as error:
                issue = FileIssue(path=file.name, rule="unreadable", detail=skip_reasons.unreadable(error))
                self._fail(issue, transient=is_transient(error))
            except Unreadable as problem:
                self._fail(problem.issue, transient=problem.transient)
            else:
                if issue is not None:
                    self._outcome.skipped.append(issue)
        self._meter.step(len(due), "")

    def _fail(self, issue: FileIssue, *, transient: bool = False) -> None:
        self._outcome.failed.append(issue)
        if transient:
            self._outcome.unreachable["sessions"].add(issue.path)
        else:
            self._forget(issue.path)

    def _forget(self, name: str) -> None:
        if name in self._stored or name in self._listed:
            self._commits.add(_deletion(name), removed=1)


@functools.lru_cache(maxsize=4096)
def _successor(path: str, _mtime_ns: int, _size: int) -> str:
    """Return the transcript that continues this one, as it was found when the transcript had this time and size."""
    return continued_in(path)


def _found_file(name: str, path: str) -> FoundFile | None:
    """Return a transcript in the form that discovery gives it; None for a missing file."""
    try:
        state = os.lstat(path)
    except OSError:
        return None
    size, changed = last_change(path, state)
    return FoundFile(name, path, "sessions", size, min(changed, LATEST_NS)) if stat.S_ISREG(state.st_mode) else None


def _may_be_copy(file: FoundFile, snapshot: Snapshot) -> bool:
    """Whether an indexed transcript may have the same sessions as another one now."""
    if file.path.endswith(LINES_END):
        return bool(continued_in(file.path))
    agents = sessions.agents_of(snapshot, file.name)
    return not agents or may_have_copies(agents)


def _deletion(name: str) -> Change:
    return lambda writer: ([], sessions.forget_transcript(writer, name))


# --- Lists sessions whose transcripts have not been read yet, from a short look at each ------------------------------


def list_sessions(
    files: Sequence[FoundFile], work: StageWork, commits: Commits, known_rows: Mapping[str, NewFile | None]
) -> set[str]:
    """Add a row for each session, which reading it replaces; returns their names. Raises Cancelled.

    `known_rows`: rows of transcripts that were read quickly before.
    """
    rows: list[NewFile] = []
    listed: set[str] = set()
    with closing(_quick_reads([file for file in files if file.name not in known_rows], work)) as new:
        known = ((file, known_rows[file.name], "") for file in _by_folder(files) if file.name in known_rows)
        for number, (file, row, _) in enumerate(chain(known, new)):
            work.token.checkpoint()
            work.meter.step(number, file.name)
            if row is not None:
                rows.append(row)
                listed.add(file.name)
            if len(rows) == _ROWS_PER_COMMIT:
                commits.add(_addition(rows))
                commits.flush()
                rows = []
    commits.add(_addition(rows))
    commits.flush()
    return listed


def _quick_reads(files: Sequence[FoundFile], work: StageWork) -> Generator[_QuickRead]:
    """Look at each transcript, in other processes too if there are many. Raises `Cancelled`."""
    ordered = list(_by_folder(files))
    parts = [ordered[start : start + _FILES_PER_TASK] for start in range(0, len(ordered), _FILES_PER_TASK)]

    def read_files(part: Sequence[FoundFile]) -> Sequence[_QuickRead]:
        reads: list[_QuickRead] = []
        for file in part:
            work.token.checkpoint()
            row, project = None, ""
            with suppress(Unreadable), work.context.crashes.reading(file):
                row, project = _listed_row(file, folders)
            reads.append((file, row, project))
        work.context.crashes.finish_reading()
        return reads

    with closing(FolderFiles()) as folders:
        if len(files) < _MIN_FOR_PROCESSES:
            yield from chain.from_iterable(map(read_files, parts))
        else:
            from engine.indexing.worker_processes import run_in_processes

            with closing(run_in_processes(parts, read_files, _quick_read_in_process, _decoded, work.token)) as reads:
                yield from chain.from_iterable(reads)


def _quick_read_in_process(message: bytes) -> bytes:
    """Look at transcripts in another process."""
    reads: list[_QuickRead] = []
    with closing(FolderFiles()) as folders:
        for file in msgspec.msgpack.decode(message, type=list[FoundFile]):
            row, project = None, ""
            with suppress(*PARSER_FAULTS):
                row, project = _listed_row(file, folders)
            reads.append((file, row, project))
    return msgspec.msgpack.encode(reads)


def _decoded(message: bytes) -> Sequence[_QuickRead]:
    from engine.indexing.worker_processes import PreparedFile

    return msgspec.msgpack.decode(message, type=list[tuple[FoundFile, PreparedFile | None, str]])


def _by_folder(files: Sequence[FoundFile]) -> Iterator[FoundFile]:
    """Return files grouped by folder, in the order of each folder's first file."""
    folders: dict[str, list[FoundFile]] = {}
    for file in files:
        folders.setdefault(file.path.rpartition(os.sep)[0], []).append(file)
    return chain.from_iterable(folders.values())


def _listed_row(file: FoundFile, folders: FolderFiles) -> tuple[NewFile | None, str]:
    """Return the row of a session and its project; no row if it must be read first. Reading reports the errors."""
    if is_compressed(file.path):
        return None, ""  # its end can only be read after all of it
    try:
        descriptor, _ = folders.open(file.path)
        try:
            summary = read_quick_summary(descriptor, file.path, file.size)
        finally:
            os.close(descriptor)
    except (OSError, PathRefused):
        return None, ""
    if summary is None:
        return None, ""
    row = session_file(file, file.name, summary.metadata, summary.messages, None, hash="", size=file.size)
    return row, summary.metadata.project


def _addition(rows: Sequence[NewFile]) -> Change:
    def add(writer: Writer) -> tuple[list[int], list[int]]:
        writer.add_unread_sessions(rows)
        return [], []

    return add
