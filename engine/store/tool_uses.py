"""Reads from the index which files and commands the tool calls of sessions have used."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from engine.store.snapshot import Snapshot, typed

_CHANGES = "('created', 'deleted', 'edited')"


class StoredUse(NamedTuple):
    """One use of a file by a tool call in a session."""

    session: str
    """Stable name of the session."""
    title: str
    agent: str
    project: str
    kind: Literal["read", "edited", "created", "deleted"]
    path: str
    line: int
    ordinal: int
    time: float
    """Time of the message or, if unknown, of the last message of the session."""


def uses_in_session(snapshot: Snapshot, session: str) -> list[StoredUse]:
    """Return the files of one session's tool calls, in the order of the transcript."""
    return _uses(
        snapshot,
        f"u.file_id = (SELECT id FROM {snapshot.tables.files} WHERE source = 'sessions' AND path = ?)",
        "u.line, u.rowid",
        (session,),
    )


Fits = Callable[[str, str], bool]
"""Function that says whether a file, given by path and project, is searched for."""


def uses_of_files(snapshot: Snapshot, part: str, fits: Fits) -> list[StoredUse]:
    """Return the tool calls with files for which `fits` is true, newest first; see `sessions_with`."""
    uses: list[StoredUse] = []
    for path, files in _fitting(snapshot, part, fits).items():
        uses += (
            use
            for id_ in files
            for use in _uses(snapshot, "u.value = ? AND u.file_id = ?", "u.line, u.rowid", (path, id_))
        )
    return sorted(uses, key=lambda use: (-use.time, use.session, -use.line))


def sessions_with(snapshot: Snapshot, part: str, fits: Fits) -> list[int]:
    """Return the file ids of the sessions that use a file for which `fits` is true.

    `part`: a lower-case ASCII text that the path or the project of each such file contains; may be empty.
    """
    return sorted({id_ for files in _fitting(snapshot, part, fits).values() for id_ in files})


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


def last_changes(snapshot: Snapshot, limit: int) -> list[StoredUse]:
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


def _fitting(snapshot: Snapshot, part: str, fits: Fits) -> dict[str, list[int]]:
    """Return the file ids of the sessions that use a file for which `fits` is true, by path."""
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
            known[key] = fits(*key)
        if known[key]:
            found.setdefault(path, []).append(id_)
    return found


def _uses(snapshot: Snapshot, condition: str, order: str, values: Sequence[object]) -> list[StoredUse]:
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
    return typed(rows, StoredUse)
