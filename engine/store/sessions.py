"""Read and write metadata of sessions and of the transcripts that they are read from, and read the files and commands
of their tool calls."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec

from engine.records import FileUse, ModelUsage
from engine.store.connection import id_array
from engine.store.snapshot import Snapshot, machine_of, validated

if TYPE_CHECKING:
    from engine.store.writer import Writer

_Time = Annotated[float, msgspec.Meta(ge=0, lt=253_402_300_800)]
"""Seconds since the epoch, before the year 10000."""


class StoredTranscript(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file that sessions are read from: its state when it was last read, and the reason if it is not indexed."""

    path: str
    mtime_ns: int
    size: int
    rule: str = ""
    """The rule that excludes all of it; empty if some of it is indexed."""
    detail: str = ""


class StoredSession(NamedTuple):
    """Metadata of one indexed session."""

    path: str
    title: str
    agent: str
    id: str
    project: str
    branch: str
    parent: str
    started: _Time | None
    ended: _Time | None
    messages: int
    bytes: int
    unknown: int = 0
    rewound: str = ""
    modified: float | None = None
    """Time at which the session ended; if that is unknown, when its transcript was last changed."""
    machine: str = ""
    """Name of the machine that the session was synchronised from; empty for this machine."""
    active: float | None = None
    """Seconds of work, as in `SessionSummary.active_seconds`."""
    pauses: str = ""
    """Long times without a message, as encoded by `write_ranges`."""
    file_id: int = 0


def transcripts(snapshot: Snapshot, path: str | None = None) -> dict[str, StoredTranscript]:
    """Return all transcripts that were examined for sessions, or only the one named `path`, by name."""
    query = f"SELECT path, mtime_ns, size, rule, detail FROM {snapshot.tables.transcripts}"
    where = "" if path is None else " WHERE path = ?"
    rows = snapshot.connection.execute(query + where, () if path is None else (path,))
    return {row.path: row for row in validated(rows, StoredTranscript)}


def listed_transcripts(snapshot: Snapshot) -> dict[str, str]:
    """Return the working folder of each transcript that has a session, by name, even if it was not read yet.

    The folder is empty for a file that may have several sessions.
    """
    rows = snapshot.connection.execute(
        f"""SELECT s.transcript, iif(f.path = s.transcript, s.project, '') FROM {snapshot.tables.sessions} s
            CROSS JOIN {snapshot.tables.files} f ON f.id = s.file_id"""
    )
    return dict(validated(rows, tuple[str, str]))


def newest_transcripts(
    snapshot: Snapshot, files: Sequence[int] | None, limit: int, largest: int
) -> list[tuple[str, int, str]]:
    """Return name, size and the title of a session of the `limit` newest transcripts smaller than `largest` bytes.

    `files`: ids of sessions; a transcript must have one of them. None for all.
    """
    tables = snapshot.tables
    # The unary plus keeps SQLite from testing every id for each transcript.
    one = "" if files is None else "AND +s.file_id IN (SELECT value FROM carray(?))"
    rows = snapshot.connection.execute(
        f"""SELECT t.path, t.size, f.title FROM {tables.transcripts} t
            CROSS JOIN {tables.sessions} s ON s.transcript = t.path CROSS JOIN {tables.files} f ON f.id = s.file_id
            WHERE t.rule = '' AND t.size < ? {one} GROUP BY t.path ORDER BY t.mtime_ns DESC LIMIT ?""",
        (largest, *(() if files is None else (id_array(files),)), limit),
    )
    return list(validated(rows, tuple[str, int, str]))


def transcript_state(snapshot: Snapshot, path: str) -> bytes | None:
    """Return the state from which reading this transcript resumes; None if it must be read from the start."""
    query = f"SELECT state FROM {snapshot.tables.transcripts} WHERE path = ?"
    row = snapshot.connection.execute(query, (path,)).fetchone()
    return None if row is None else row[0]


def sessions_of(snapshot: Snapshot, transcript: str) -> dict[str, str]:
    """Return the hashes of the sessions that were read from a transcript, by session name."""
    query = f"""SELECT f.path, f.hash FROM {snapshot.tables.sessions} s
                CROSS JOIN {snapshot.tables.files} f ON f.id = s.file_id WHERE s.transcript = ?"""
    return dict(snapshot.connection.execute(query, (transcript,)))


def agents_of(snapshot: Snapshot, transcript: str) -> set[str]:
    """Return the names of the agents whose sessions were read from a transcript."""
    query = f"SELECT DISTINCT agent FROM {snapshot.tables.sessions} WHERE transcript = ?"
    return {agent for (agent,) in snapshot.connection.execute(query, (transcript,))}


def sessions(snapshot: Snapshot, path: str | None = None) -> list[StoredSession]:
    """Return all indexed sessions, or only the one named `path`; newest first."""
    rows = snapshot.connection.execute(
        f"""SELECT f.path, f.title, s.agent, s.session_id, s.project, s.branch, s.parent, s.started, s.ended,
                s.messages, s.bytes, s.unknown, s.rewound,
                f.mtime_ns / 1e9, '', s.active, s.pauses, s.file_id
            FROM {snapshot.tables.sessions} s CROSS JOIN {snapshot.tables.files} f ON f.id = s.file_id
            WHERE ?1 IS NULL OR f.path = ?1""",
        (path,),
    )
    found, names = validated(rows, StoredSession), snapshot.machines()
    # Two sorts take a third of the time that SQLite takes.
    found.sort(key=attrgetter("path"))
    found.sort(key=attrgetter("modified"), reverse=True)
    return [session._replace(machine=machine_of(session.path, names)) for session in found] if names else found


def name_machines(writer: "Writer", names: dict[str, str]) -> None:
    """Store the names of other machines, replacing all earlier ones."""
    writer.set_meta("machines", msgspec.json.encode(names).decode() if names else None)
    writer.advance_stamp()  # cached answers to `machine:` are outdated


def parser_versions(snapshot: Snapshot) -> dict[str, int]:
    """Return the versions of the parsers that have read this generation's transcripts, by agent; empty if unknown."""
    return _parser_versions(snapshot).get(str(snapshot.tables.generation), {})


def _parser_versions(snapshot: Snapshot) -> dict[str, dict[str, int]]:
    stored = snapshot.meta("parsers")
    return msgspec.json.decode(stored, type=dict[str, dict[str, int]]) if isinstance(stored, str) else {}


def change_parsers(writer: "Writer", agents: Sequence[str], versions: dict[str, int]) -> None:
    """Store the versions of all parsers, and mark the transcripts of these agents to be read again.

    Transcripts that no parser could read are marked as well. Their rows stay until then.
    """
    tables, listed = writer.tables, msgspec.json.encode(agents).decode()
    of_agents = f"SELECT %s FROM {tables.sessions} WHERE agent IN (SELECT value FROM json_each(?))"
    writer.connection.execute(
        f"""UPDATE {tables.transcripts} SET mtime_ns = 0, state = NULL
            WHERE rule IN ('broken', 'generated', 'unknown-format') OR path IN ({of_agents % "transcript"})""",
        (listed,),
    )
    writer.connection.execute(f"UPDATE {tables.files} SET hash = '' WHERE id IN ({of_agents % 'file_id'})", (listed,))
    current = str(writer.generation)
    known = {name: version for name, version in _parser_versions(writer).items() if name == current}
    writer.set_meta("parsers", msgspec.json.encode(known | {str(tables.generation): versions}).decode())


def usage_of_sessions(snapshot: Snapshot, file_id: int | None = None) -> dict[int, tuple[ModelUsage, ...]]:
    """Return tokens and cost of all sessions, or only of one, by file id; sessions without usage are left out.

    Requests that a fork or a resumed session has copied count once, in the session that ended first.
    """
    query = f"""SELECT file_id, model, input, output, cache_read, cache_write, cache_write_hour, cost
        FROM {snapshot.tables.session_usage} WHERE ?1 IS NULL OR file_id = ?1"""
    usages: dict[int, tuple[ModelUsage, ...]] = {}
    copied = _copied_usage(snapshot, file_id)
    for row in snapshot.connection.execute(query, (file_id,)):
        session = row[0]
        again = copied.get(row[:2]) if copied else None
        usage = ModelUsage(*row[1:]) if again is None else ModelUsage(row[1], *_usage_without(row[2:], again))
        usages[session] = (*usages[session], usage) if session in usages else (usage,)
    return usages


def _copied_usage(snapshot: Snapshot, file_id: int | None) -> dict[tuple[int, str], list[float]]:
    """Return the usage of requests that were copied from an earlier session, by session and model.

    `file_id`: limits the result to this session.
    """
    from engine.store.writer import StoredRequest  # a search reads no usage, and should not load what writing needs

    tables = snapshot.tables
    if file_id is None:
        shared = f"SELECT digest FROM {tables.request_marks} GROUP BY digest HAVING count(*) > 1"
    else:
        shared = f"SELECT digest FROM {tables.request_marks} WHERE file_id = ?"
    rows = snapshot.connection.execute(
        f"""SELECT r.file_id, r.requests FROM {tables.session_requests} r
            CROSS JOIN {tables.sessions} s ON s.file_id = r.file_id CROSS JOIN {tables.files} f ON f.id = r.file_id
            WHERE r.file_id IN (SELECT file_id FROM {tables.request_marks} WHERE digest IN ({shared}))
            ORDER BY s.ended, s.started, f.path""",
        () if file_id is None else (file_id,),
    )
    decoder = msgspec.json.Decoder(StoredRequest)
    owners: dict[int, int] = {}
    copied: dict[tuple[int, str], list[float]] = {}
    for session, stored in validated(rows, tuple[int, bytes]):
        try:
            requests = decoder.decode_lines(stored)
        except msgspec.DecodeError:
            continue  # in a damaged index; the copied requests then count twice
        for request in requests:
            if owners.setdefault(request.digest, session) != session:
                sums = copied.setdefault((session, request.model), [0.0] * len(request.usage))
                copied[session, request.model] = [a + (b or 0) for a, b in zip(sums, request.usage, strict=True)]
    return copied


def _usage_without(counts: Sequence[Any], copied: list[float]) -> list[Any]:
    """Subtract the tokens and cost of copied requests; unknown numbers stay unknown."""
    return [None if now is None else max(0, now - type(now)(again)) for now, again in zip(counts, copied, strict=True)]


def record_transcript(writer: "Writer", transcript: StoredTranscript, state: bytes | None) -> None:
    """Record that a transcript was read, with the `state` at which reading it resumes, or the rule that excludes it."""
    writer.connection.execute(
        f"""INSERT OR REPLACE INTO {writer.tables.transcripts} (path, mtime_ns, size, rule, detail, state)
            VALUES (?, ?, ?, ?, ?, ?)""",
        (*msgspec.structs.astuple(transcript), state),
    )


def forget_transcript(writer: "Writer", path: str) -> list[int]:
    """Remove a transcript with all its sessions; returns the ids of their chunks."""
    removed = [id_ for name in sessions_of(writer, path) for id_ in writer.remove_file("sessions", name)]
    writer.connection.execute(f"DELETE FROM {writer.tables.transcripts} WHERE path = ?", (path,))
    return removed


_CHANGES = "('created', 'deleted', 'edited')"


def uses_in_session(snapshot: Snapshot, session: str) -> list[FileUse]:
    """Return the files of one session's tool calls, in the order of the transcript."""
    return _uses(
        snapshot,
        f"u.file_id = (SELECT id FROM {snapshot.tables.files} WHERE source = 'sessions' AND path = ?)",
        "u.line, u.rowid",
        (session,),
    )


FileMatcher = Callable[[str, str], bool]
"""Function that says whether a file, given by path and project, is searched for."""


def uses_of_files(snapshot: Snapshot, part: str, matches: FileMatcher) -> list[FileUse]:
    """Return the tool calls with files for which `matches` is true, newest first; see `sessions_with`."""
    uses: list[FileUse] = []
    for path, files in _matching(snapshot, part, matches).items():
        uses += (
            use
            for id_ in files
            for use in _uses(snapshot, "u.value = ? AND u.file_id = ?", "u.line, u.rowid", (path, id_))
        )
    return sorted(uses, key=lambda use: (-(use.time or 0), use.session, -use.line))


def sessions_with(snapshot: Snapshot, part: str, matches: FileMatcher) -> list[int]:
    """Return the file ids of the sessions that use a file for which `matches` is true.

    `part`: a lower-case ASCII text that the path or the project of each such file contains; may be empty.
    """
    return sorted({id_ for files in _matching(snapshot, part, matches).values() for id_ in files})


def used_paths(snapshot: Snapshot) -> list[str]:
    """Return the paths of all files that tool calls used."""
    rows = snapshot.connection.execute(
        f"SELECT DISTINCT value FROM {snapshot.tables.tool_uses} WHERE kind <> 'command'"
    )
    return [path for (path,) in rows]


def sessions_with_paths(snapshot: Snapshot, paths: Sequence[str], matches: FileMatcher) -> set[int]:
    """Return the file ids of the sessions that use a file with one of these paths for which `matches` is true."""
    tables, ids = snapshot.tables, set[int]()
    for path in paths:
        rows = snapshot.connection.execute(
            f"""SELECT u.file_id, ifnull(s.project, '') FROM
                (SELECT DISTINCT file_id FROM {tables.tool_uses} WHERE kind <> 'command' AND value = ?) u
                LEFT JOIN {tables.sessions} s ON s.file_id = u.file_id""",
            (path,),
        )
        ids.update(id_ for id_, project in rows if matches(path, project))
    return ids


def calls_in_session(snapshot: Snapshot, session: str) -> list[tuple[int, int, str, str]]:
    """Return line, message number, kind and value of all files and commands of one session's tool calls, in order."""
    tables = snapshot.tables
    rows = snapshot.connection.execute(
        f"""SELECT u.line, u.ordinal, u.kind, u.value FROM {tables.tool_uses} u
            WHERE u.file_id = (SELECT id FROM {tables.files} WHERE source = 'sessions' AND path = ?)
            ORDER BY u.line, u.rowid""",
        (session,),
    )
    return list(rows)


def chunk_before(snapshot: Snapshot, chunk: int, line: int) -> int:
    """Return the last chunk of the same session that begins at this line or before; `chunk` if there is none."""
    chunks = snapshot.tables.chunks
    query = f"""SELECT id FROM {chunks} WHERE file_id = (SELECT file_id FROM {chunks} WHERE id = ?)
        AND start_line <= ? ORDER BY id DESC LIMIT 1"""
    return next((id_ for (id_,) in snapshot.connection.execute(query, (chunk, line))), chunk)


def last_changes(snapshot: Snapshot, limit: int) -> list[FileUse]:
    """Return the last `limit` tool calls that edited, created or deleted a file, newest first."""
    return _uses(snapshot, f"u.kind IN {_CHANGES}", f"u.time DESC, u.rowid DESC LIMIT {limit:d}", ())


def frequent_paths(snapshot: Snapshot, limit: int) -> list[str]:
    """Return the paths of files that tool calls used, those in most sessions first."""
    return _frequent(snapshot, "value", "kind <> 'command'", limit)


def frequent_programs(snapshot: Snapshot, limit: int) -> list[str]:
    """Return the first words of commands that tool calls ran, those in most sessions first."""
    return _frequent(snapshot, "substr(value, 1, instr(value || ' ', ' ') - 1)", "kind = 'command'", limit)


def _frequent(snapshot: Snapshot, value: str, condition: str, limit: int) -> list[str]:
    rows = snapshot.connection.execute(
        f"""SELECT {value} AS found FROM {snapshot.tables.tool_uses} WHERE {condition}
            GROUP BY found ORDER BY count(DISTINCT file_id) DESC, found LIMIT ?""",
        (limit,),
    )
    return [found for (found,) in rows]


def _matching(snapshot: Snapshot, part: str, matches: FileMatcher) -> dict[str, list[int]]:
    """Return the file ids of the sessions that use a file for which `matches` is true, by path."""
    tables, connection = snapshot.tables, snapshot.connection
    projects = dict(connection.execute(f"SELECT file_id, project FROM {tables.sessions}"))
    # SQLite compares ASCII alone without case, so all other paths are looked at.
    rows = connection.execute(
        f"""SELECT DISTINCT value, file_id FROM {tables.tool_uses} WHERE kind <> 'command' AND (
                value LIKE ?1 OR value GLOB '*[^ -~]*' OR file_id IN (
                    SELECT file_id FROM {tables.sessions} WHERE project LIKE ?1 OR project GLOB '*[^ -~]*'))""",
        (f"%{part}%",),
    )
    found: dict[str, list[int]] = {}
    known: dict[tuple[str, str], bool] = {}
    for path, id_ in rows:
        key = path, projects.get(id_, "")
        if key not in known:
            known[key] = matches(*key)
        if known[key]:
            found.setdefault(path, []).append(id_)
    return found


def _uses(snapshot: Snapshot, condition: str, order: str, values: Sequence[object]) -> list[FileUse]:
    """Return file uses that satisfy an SQL condition.

    A file that was written as a whole counts as created, unless the session used it before.
    """
    tables = snapshot.tables
    rows = snapshot.connection.execute(
        f"""SELECT f.path, f.title, s.agent, s.project,
                CASE WHEN u.kind = 'created' AND EXISTS (
                    SELECT 1 FROM {tables.tool_uses} e WHERE e.value = u.value AND e.file_id = u.file_id
                    AND e.kind <> 'command' AND e.kind <> 'deleted' AND e.rowid < u.rowid) THEN 'edited'
                ELSE u.kind END, u.value, u.line, u.ordinal, u.time
            FROM {tables.tool_uses} u CROSS JOIN {tables.files} f ON f.id = u.file_id
            CROSS JOIN {tables.sessions} s ON s.file_id = u.file_id
            WHERE u.kind <> 'command' AND {condition} ORDER BY {order}""",
        tuple(values),
    )
    # A record has named fields only.
    return validated((dict(zip(FileUse.__struct_fields__, row, strict=True)) for row in rows), FileUse)
