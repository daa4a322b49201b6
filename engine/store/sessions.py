"""Read and write metadata of sessions and of the transcripts that they are read from."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

import msgspec

from engine.records import ModelUsage
from engine.store.snapshot import Snapshot, typed
from engine.store.writer import StoredRequest, Writer

_REQUESTS = msgspec.json.Decoder(StoredRequest)

_Time = Annotated[float, msgspec.Meta(ge=0, lt=253_402_300_800)]
"""Seconds since the epoch, before the year 10000."""


class StoredTranscript(NamedTuple):
    """A file that sessions are read from: its state at the last read, and why it is not indexed, if so."""

    path: str
    mtime_ns: int
    size: int
    rule: str
    """Rule by which nothing of it is indexed; empty if some of it is."""
    detail: str


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
    """Time at which the session ended, else its transcript was last changed."""
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
    one = "" if path is None else " WHERE path = ?"
    rows = snapshot.connection.execute(query + one, () if path is None else (path,))
    return {row.path: row for row in typed(rows, StoredTranscript)}


def listed_transcripts(snapshot: Snapshot) -> set[str]:
    """Return the names of all transcripts with a listed session, even if not read yet."""
    rows = snapshot.connection.execute(f"SELECT DISTINCT transcript FROM {snapshot.tables.sessions}")
    return {name for (name,) in rows}


def projects(snapshot: Snapshot) -> dict[str, str]:
    """Return the working folder of each session, by stable name."""
    rows = snapshot.connection.execute(
        f"""SELECT f.path, s.project FROM {snapshot.tables.sessions} s
            CROSS JOIN {snapshot.tables.files} f ON f.id = s.file_id"""
    )
    return dict(typed(rows, tuple[str, str]))


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
    found, names = typed(rows, StoredSession), machines(snapshot)
    # Two sorts take a third of the time that SQLite takes.
    found.sort(key=attrgetter("path"))
    found.sort(key=attrgetter("modified"), reverse=True)
    return [one._replace(machine=machine_of(one.path, names)) for one in found] if names else found


def machines(snapshot: Snapshot) -> dict[str, str]:
    """Return the names of other machines, by the prefix of their sessions' stable names."""
    stored = snapshot.meta("machines")
    return msgspec.json.decode(stored, type=dict[str, str]) if isinstance(stored, str) else {}


def machine_of(path: str, names: dict[str, str]) -> str:
    """Return the machine of the session with this stable name; empty for this machine."""
    return names[max(fitting, key=len)] if (fitting := [name for name in names if path.startswith(name)]) else ""


def name_machines(writer: Writer, names: dict[str, str]) -> None:
    """Store the names of other machines, replacing all earlier ones."""
    writer.set_meta("machines", msgspec.json.encode(names).decode() if names else None)
    writer.advance_stamp()  # cached answers to `machine:` are outdated


def usage_of_sessions(snapshot: Snapshot, file_id: int | None = None) -> dict[int, tuple[ModelUsage, ...]]:
    """Return tokens and cost by the file id of the session, of all or only of this one; sessions without recorded
    usage are missing.

    Requests that a fork or a resumed session has copied count once, in the session that ended first.
    """
    query = f"""SELECT file_id, model, input, output, cache_read, cache_write, cache_write_hour, cost
        FROM {snapshot.tables.session_usage} WHERE ?1 IS NULL OR file_id = ?1"""
    found: dict[int, tuple[ModelUsage, ...]] = {}
    copied = _copied_usage(snapshot, file_id)
    for row in snapshot.connection.execute(query, (file_id,)):
        session = row[0]
        again = copied.get(row[:2]) if copied else None
        usage = ModelUsage(*row[1:]) if again is None else ModelUsage(row[1], *_without(row[2:], again))
        found[session] = (*found[session], usage) if session in found else (usage,)
    return found


def _copied_usage(snapshot: Snapshot, file_id: int | None) -> dict[tuple[int, str], list[float]]:
    """Return the usage of requests that were copied from an earlier session, by session and model.

    `file_id`: limits the result to this session.
    """
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
    owners: dict[int, int] = {}
    copied: dict[tuple[int, str], list[float]] = {}
    for session, stored in typed(rows, tuple[int, bytes]):
        try:
            requests = _REQUESTS.decode_lines(stored)
        except msgspec.DecodeError:
            continue  # of a damaged index: then they count twice
        for request in requests:
            if owners.setdefault(request.digest, session) != session:
                sums = copied.setdefault((session, request.model), [0.0] * len(request.usage))
                copied[session, request.model] = [a + (b or 0) for a, b in zip(sums, request.usage, strict=True)]
    return copied


def _without(counts: Sequence[Any], copied: list[float]) -> list[Any]:
    """Return token counts and cost without those of copied requests; unknown numbers stay unknown."""
    return [None if now is None else max(0, now - type(now)(again)) for now, again in zip(counts, copied, strict=True)]


def note_transcript(
    writer: Writer, path: str, *, mtime_ns: int, size: int, state: bytes | None, rule: str = "", detail: str = ""
) -> None:
    """Record how far a transcript was read, or the rule that excludes it."""
    writer.connection.execute(
        f"INSERT OR REPLACE INTO {writer.tables.transcripts} VALUES (?, ?, ?, ?, ?, ?)",
        (path, mtime_ns, size, state, rule, detail),
    )


def forget_transcript(writer: Writer, path: str) -> list[int]:
    """Remove a transcript with all its sessions; returns the ids of their chunks."""
    removed = [id_ for name in sessions_of(writer, path) for id_ in writer.remove_file("sessions", name)]
    writer.connection.execute(f"DELETE FROM {writer.tables.transcripts} WHERE path = ?", (path,))
    return removed
