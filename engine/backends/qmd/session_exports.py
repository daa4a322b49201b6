"""Exports sessions as Markdown, which `qmd` can index: with secrets masked, in our own folder alone.

Next to each export is a map of its lines to the transcript; one list has the metadata of all.
"""

import hashlib
import os
import re
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

import msgspec

from engine.base import skip_reasons
from engine.base.bounded_json import decode_json
from engine.base.cancellation import CancelToken
from engine.base.errors import PARSER_FAULTS, PathRefused
from engine.base.index_rule_versions import REDACTION_VERSION, TOOL_TEXTS_VERSION
from engine.base.private_files import make_folder, read_file, remove_leftovers, replace_file, write_aside
from engine.corpus.folder_walk import FoundFile, is_below, is_transient
from engine.corpus.note_reader import Unreadable
from engine.corpus.transcripts.chunk_packing import PART_SEPARATOR, SPEAKERS, ChunkPacker, IndexedMessage, SessionChunk
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.registry import continued_in, copied_sessions, parser_versions
from engine.corpus.transcripts.session_stores import find_transcripts, machine_names, session_name
from engine.indexing.crashing_files import CrashRecord
from engine.indexing.session_workspace_assignment import (
    INDEXED_ELSEWHERE,
    claim_transcripts,
    ownership_issues,
    ownership_message,
)
from engine.indexing.sync_progress import ProgressMeter
from engine.records import FileIssue
from engine.settings import Settings
from engine.store.index_paths import IndexFiles
from engine.store.sessions import StoredSession
from engine.store.snapshot import machine_of

_MAX_BYTES = 1024**3
"""Maximum size of an exported session in bytes; the longest transcripts have some hundred megabytes."""
_FORMAT = 2
"""Increase it when the same session would be exported differently."""
_OURS = re.compile(r"[0-9a-f]{32}\.(?:md|json)")
_ENDINGS = (".md", ".json")
_SECONDS_PER_DAY = 86_400.0
_FOLLOWING_MESSAGES = 20
"""Number of following messages that may be part of a found passage."""

_LONGEST_LIST = 1024**3


class _MessageStart(msgspec.Struct, frozen=True, array_like=True):
    """A message in an exported session."""

    first: int
    """First line in the export, from 1."""
    role: str
    line: int
    """Line of the transcript."""
    ordinal: int
    id: str


class Exported(msgspec.Struct):
    """Result of exporting the sessions for `qmd` once."""

    seen: int = 0
    written: int = 0
    """Sessions that are new or have changed."""
    removed: int = 0
    unchanged: int = 0
    """Transcripts."""
    failed: list[FileIssue] = []
    skipped: list[FileIssue] = []


class KnownTranscript(msgspec.Struct, frozen=True, array_like=True):
    mtime_ns: int
    size: int
    sessions: tuple[str, ...] = ()
    """Stable names of its sessions."""
    rule: str = ""
    """Rule by which the rest is missing; empty if it is complete."""
    detail: str = ""


class ExportedSession(msgspec.Struct, frozen=True, array_like=True):
    known: StoredSession
    mtime_ns: int
    """Time of its last message."""
    written: bool
    """False for one that is too old to be searched."""


class ExportList(msgspec.Struct):
    """List of all session files that were exported for `qmd`."""

    fingerprint: str = ""
    transcripts: dict[str, KnownTranscript] = {}
    sessions: dict[str, ExportedSession] = {}

    def copy_from(self, name: str, earlier: "ExportList") -> None:
        """Take over a transcript and its exports from an earlier list."""
        known = self.transcripts[name] = earlier.transcripts[name]
        self.sessions |= {
            session: earlier.sessions[session] for session in known.sessions if session in earlier.sessions
        }

    def copy_sessions_from(self, name: str, earlier: "ExportList") -> list[str]:
        """Take over the exports of a transcript that can't be read at the moment; return the added ones."""
        known = earlier.transcripts.get(name)
        missing = () if known is None else (session for session in known.sessions if session not in self.sessions)
        names = [session for session in missing if session in earlier.sessions]
        self.sessions |= {session: earlier.sessions[session] for session in names}
        return names


class _Duplicates(NamedTuple):
    """Transcripts that are not exported, since their sessions are searched elsewhere."""

    owners: Mapping[str, str]
    """The workspace that indexes a transcript, by its name."""
    copies: Set[str]
    """Names of transcripts whose sessions are also in another one."""
    own: Set[str]
    """Paths of all other transcripts."""

    def record(self, file: FoundFile, *, exported: bool) -> KnownTranscript | None:
        """Return the list entry of a transcript that needs no export, else None. `exported`: exported unchanged."""
        if file.name in self.owners:
            rule, detail = INDEXED_ELSEWHERE, ownership_message(self.owners[file.name])
        elif file.name in self.copies or (not exported and continued_in(file.path) in self.own):
            rule, detail = "copied", skip_reasons.COPIED.message()
        else:
            return None
        return KnownTranscript(file.mtime_ns, file.size, (), rule, detail)


class SessionExports:
    """Manages the exports. Thread-safe; the caller ensures one pass at a time."""

    def __init__(self, folder: Path, workspace: Path, index: IndexFiles, settings: Settings) -> None:
        """`folder`: where to export; `index`: folder of the data of this `workspace`."""
        self.folder = folder
        self._workspace = workspace
        self._index = index
        self._list = StoredExportList(folder.parent / "sessions.json")
        self._settings = settings
        self._crashes = CrashRecord(folder.parent)

    def all(self) -> list[ExportedSession]:
        """All known sessions, newest first."""
        return sorted(self._sessions().values(), key=lambda session: (-session.mtime_ns, session.known.path))

    def get(self, path: str) -> ExportedSession | None:
        return self._sessions().get(path)

    def _sessions(self) -> dict[str, ExportedSession]:
        """All known sessions by name, those from other machines with the names that the settings give these now."""
        found = self._list.current().sessions
        if not self._settings.sessions.machines:
            return found
        names = machine_names(self._settings)
        return {
            path: msgspec.structs.replace(one, known=one.known._replace(machine=machine_of(path, names)))
            for path, one in found.items()
        }

    def by_file(self) -> dict[str, ExportedSession]:
        """The sessions that can be found, by the names of their files."""
        return {f"{_stem(name)}.md": session for name, session in self._sessions().items() if session.written}

    def indexed_sizes(self) -> dict[str, int]:
        """Bytes of every transcript when it was last read, by its stable name."""
        return {name: transcript.size for name, transcript in self._list.current().transcripts.items()}

    def passage(self, session: ExportedSession, line: int) -> SessionChunk | None:
        """Return the chunk that begins with the message on this line of a session's export; None if there is none."""
        file = self._file(session)
        try:
            starts = decode_json(read_file(file.with_suffix(".json"), _MAX_BYTES), tuple[_MessageStart, ...])
            lines = read_file(file, _MAX_BYTES).decode().split("\n")
        except (OSError, ValueError):
            return None  # a concurrent sync has just removed the file
        if not starts:
            return None
        at = max(0, bisect_right([start.first for start in starts], line) - 1)
        chunking = self._settings.chunking
        packer = ChunkPacker(chunking.tokens, chunking.overlap)
        for number in range(at, min(at + _FOLLOWING_MESSAGES, len(starts))):
            packer.add(_message_at(starts, number, lines))
        searched = lines[min(line, len(lines)) - 1].strip()
        chunks = packer.finish()
        return next((chunk for chunk in chunks if searched in chunk.text), chunks[0] if chunks else None)

    # --- writing --------------------------------------------------------------------------------------------------

    def update(
        self,
        token: CancelToken,
        meter: ProgressMeter,
        before_reading: Callable[[], None],
        *,
        retry_crashed: bool = False,
    ) -> Exported:
        """Export new and changed transcripts, and delete exports of removed ones. Raises OSError, `Cancelled`.

        `before_reading` is called before the first new or changed transcript is read. `retry_crashed`: retry
        files that crashed a process, too.
        """
        make_folder(self._crashes.folder)
        with self._crashes.during_sync(forget=retry_crashed):
            return self._update(token, meter, before_reading)

    def _project_of(self, file: FoundFile, token: CancelToken) -> str:
        from engine.corpus.transcripts.transcript_reader import project_of

        token.checkpoint()
        try:
            with self._crashes.reading(file):
                return project_of(file.path)
        except Unreadable:  # exporting it reports it
            return ""

    def _update(self, token: CancelToken, meter: ProgressMeter, before_reading: Callable[[], None]) -> Exported:
        done, now = Exported(), self._list.current()
        fingerprint = self._fingerprint()
        known = now.transcripts if now.fingerprint == fingerprint else {}
        transcripts = find_transcripts(self._settings, cancel=token, listener=meter.step)
        done.skipped += transcripts.skipped
        done.seen = len(transcripts.files)
        if any(file.name not in known or _has_changed(known[file.name], file) for file in transcripts.files):
            before_reading()
        projects = {name: session.known.project for name, session in now.sessions.items() if name in known}
        duplicates = self._find_duplicates(transcripts.files, projects, token)
        present = {file.name for file in transcripts.files}
        unreachable = [name for name in known.keys() - present if is_below(name, transcripts.unreachable)]
        order, skipped = self._crashes.readable(transcripts.files)
        done.failed += skipped
        fresh = ExportList(fingerprint)
        for issue in skipped:
            if issue.path in known:
                fresh.copy_from(issue.path, now)
        for name in unreachable:  # the session may exist, though its folder can't be read
            fresh.copy_from(name, now)
        make_folder(self.folder)
        remove_leftovers(self.folder)
        meter.start("indexing", len(transcripts.files))
        for number, file in enumerate(order):
            token.checkpoint()
            meter.step(number, file.name)
            before = known.get(file.name)
            exported = before is not None and before.rule != INDEXED_ELSEWHERE and self._is_current(before, file, now)
            if (unused := duplicates.record(file, exported=exported)) is not None:
                fresh.transcripts[file.name] = unused
            elif exported:
                fresh.copy_from(file.name, now)
                done.unchanged += 1
            else:
                with self._crashes.reading(file):
                    self._export_transcript(file, fresh, now, done, token)
        listed = ((file.name, fresh.transcripts[file.name]) for file in order if file.name not in duplicates.owners)
        done.skipped += [
            FileIssue(path=name, rule=transcript.rule, detail=transcript.detail)
            for name, transcript in listed
            if transcript.rule
        ]
        done.skipped += ownership_issues(duplicates.owners)
        self._remove_old_exports(fresh)
        self._list.save(fresh)
        done.removed = len(now.sessions.keys() - fresh.sessions.keys())
        self._delete_unused_files(fresh)
        return done

    def _find_duplicates(
        self, transcripts: Sequence[FoundFile], projects: Mapping[str, str], token: CancelToken
    ) -> _Duplicates:
        """Find transcripts that are not exported; `projects`: known folders by transcript name."""
        copies = copied_sessions(transcripts, set(), token)
        files = [file for file in transcripts if not self._crashes.crashes(file)]

        def projects_of(unknown: Sequence[FoundFile]) -> Iterator[tuple[FoundFile, str]]:
            return ((file, self._project_of(file, token)) for file in unknown)

        owners = claim_transcripts(files, projects, self._workspace, self._index, projects_of)
        own = {file.path for file in files if file.name not in owners and file.name not in copies}
        return _Duplicates(owners, copies, own)

    def _export_transcript(
        self, file: FoundFile, fresh: ExportList, now: ExportList, done: Exported, token: CancelToken
    ) -> None:
        """Export one whole transcript."""
        names, issue, read_at = list[str](), ("", ""), file.mtime_ns
        try:
            from engine.corpus.transcripts.transcript_reader import conversations  # imports every format

            for conversation in conversations(Path(file.path), token):
                token.checkpoint()
                name = session_name(file.name, conversation.key)
                if name in names or conversation.metadata.generated or not conversation.messages:
                    continue
                session, changed = self._write(file, name, conversation, token)
                names.append(name)
                fresh.sessions[name] = session
                done.written += changed
        except PARSER_FAULTS as error:
            issue = "broken", skip_reasons.NOT_READ_TO_ITS_END.message(problem=skip_reasons.problem(error))
            names += fresh.copy_sessions_from(file.name, now)
        except PathRefused:
            issue = "symlink", skip_reasons.REPLACED.message()
        except OSError as error:
            issue = "unreadable", skip_reasons.unreadable(error)
            if is_transient(error):
                names += fresh.copy_sessions_from(file.name, now)
                read_at = 0
        if not names and not issue[0]:
            issue = "unknown-format", skip_reasons.NO_TRANSCRIPT_OR_EMPTY.message()
        fresh.transcripts[file.name] = KnownTranscript(read_at, file.size, tuple(names), *issue)

    def _write(
        self, file: FoundFile, name: str, conversation: Conversation, token: CancelToken
    ) -> tuple[ExportedSession, bool]:
        """Export one session; False if the same export exists."""
        from engine.indexing.session_row_builder import indexed_message, is_indexed, session_file

        metadata, options = conversation.metadata, self._settings.sessions
        count = sum(map(metadata.counts, conversation.messages))
        size = sum(len(message.text) for message in conversation.everything)
        row = session_file(file, name, metadata, count, None, hash="", size=size)
        assert row.session is not None
        session = row.session
        known = StoredSession(
            name,
            row.title,
            session.agent,
            session.id,
            session.project,
            session.branch,
            session.parent,
            session.started,
            session.ended,
            count,
            size,
            session.unknown,
            session.rewound,
            row.mtime_ns / 1e9,
            active=session.active,
            pauses=session.pauses,
        )
        title = " ".join(row.title.split()) or f"Session {session.id}".strip()
        parts = [f"# {title}", " ".join(filter(None, (session.agent, session.project, session.branch)))]
        line, starts = sum(part.count("\n") + 2 for part in parts) + 1, list[_MessageStart]()
        for message in conversation.everything:
            token.checkpoint()
            if is_indexed(message, options):
                indexed = indexed_message(message)
                starts.append(_MessageStart(line, indexed.role, indexed.line, indexed.ordinal, indexed.id))
                parts.append(indexed.with_speaker)
                line += indexed.with_speaker.count("\n") + 2
        text = PART_SEPARATOR.join(parts) + "\n"
        target = self.folder / f"{_stem(name)}.md"
        changed = _write_if_changed(target, text.encode("utf-8", "replace"))
        _write_if_changed(target.with_suffix(".json"), msgspec.json.encode(starts))
        return ExportedSession(known, row.mtime_ns, True), changed

    def _is_current(self, before: KnownTranscript, file: FoundFile, now: ExportList) -> bool:
        """Whether a transcript is unchanged, and all its exports still exist."""
        if before.rule == "copied" or _has_changed(before, file):
            return False
        sessions = [now.sessions.get(name) for name in before.sessions]
        return all(
            session is not None and (not session.written or self._file(session).exists()) for session in sessions
        )

    def _file(self, session: ExportedSession) -> Path:
        return self.folder / f"{_stem(session.known.path)}.md"

    def _remove_old_exports(self, fresh: ExportList) -> None:
        """Remove the exports of old sessions, which stay listed and readable but are no longer searched."""
        days = self._settings.qmd.sessions.retention_days
        oldest = time.time() - days * _SECONDS_PER_DAY if days else -1.0
        for name, session in fresh.sessions.items():
            written = session.mtime_ns / 1e9 >= oldest and self._file(session).exists()
            if written != session.written:
                fresh.sessions[name] = msgspec.structs.replace(session, written=written)

    def _delete_unused_files(self, fresh: ExportList) -> None:
        """Delete our obsolete files; files of others stay."""
        current = {
            f"{_stem(name)}{ending}"
            for name, session in fresh.sessions.items()
            if session.written
            for ending in _ENDINGS
        }
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if _OURS.fullmatch(entry.name) and entry.name not in current and entry.is_file(follow_symlinks=False):
                    os.unlink(entry.path)

    def _fingerprint(self) -> str:
        """Return a hash of everything else that exports depend on; if it changes, all are exported again."""
        options, days = self._settings.sessions, self._settings.qmd.sessions.retention_days
        return repr(
            (_FORMAT, REDACTION_VERSION, parser_versions(), options.thinking, options.tools * TOOL_TEXTS_VERSION, days)
        )


def _has_changed(before: KnownTranscript, file: FoundFile) -> bool:
    return (before.mtime_ns, before.size) != (file.mtime_ns, file.size)


def _message_at(starts: tuple[_MessageStart, ...], number: int, lines: list[str]) -> IndexedMessage:
    """Return the text of an exported message."""
    start = starts[number]
    after = starts[number + 1].first - 1 if number + 1 < len(starts) else len(lines)
    text = "\n".join(lines[start.first - 1 : after]).rstrip("\n")
    return IndexedMessage(
        start.role, text.removeprefix(f"{SPEAKERS[start.role]}: "), start.line, start.ordinal, start.id
    )


def _stem(name: str) -> str:
    """Return the file name for a session, whose own name may be too long or invalid."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _write_if_changed(file: Path, data: bytes) -> bool:
    """Write a file atomically; returns False if its content is unchanged."""
    try:
        if read_file(file, len(data)) == data:
            return False
    except OSError:  # the file is missing, or has another size
        pass
    replace_file(file, data)
    return True


class StoredExportList:
    """The list of exports in its file, which other processes write too. Thread-safe."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._read_as: tuple[int, int] = (0, 0)
        """Time and size of the file when it was last read."""
        self._list = ExportList()

    def current(self) -> ExportList:
        """Return the list as last written by any process."""
        with self._lock:
            try:
                state = self._file.stat()
                if (state.st_mtime_ns, state.st_size) != self._read_as:
                    self._list = decode_json(read_file(self._file, _LONGEST_LIST), ExportList)
                    self._read_as = state.st_mtime_ns, state.st_size
            except FileNotFoundError:
                self._list, self._read_as = ExportList(), (0, 0)
            except (OSError, ValueError):
                self._list = ExportList()  # the list is damaged or of another version: everything is exported again
            return self._list

    def save(self, fresh: ExportList) -> None:
        """Write the file as a whole. Raises OSError."""
        write_aside(self._file, msgspec.json.encode(fresh).decode())
