"""Read files and commands of tool calls from the index."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from engine.store.snapshot import Snapshot, typed

_CHANGES = "('created', 'deleted', 'edited')"


class StoredUse(NamedTuple):
    """A file of one tool call."""

    session: str
    """Stable name."""
    title: str
    agent: str
    project: str
    kind: Literal["read", "edited", "created", "deleted"]
    path: str
    line: int
    ordinal: int
    time: float | None
    """Of the message, else of the session's end."""


def uses_in_session(snapshot: Snapshot, session: str) -> list[StoredUse]:
    """The files of one session's tool calls, in the order of the transcript."""
    return _uses(
        snapshot,
        f"u.file_id = (SELECT id FROM {snapshot.tables.files} WHERE source = 'sessions' AND path = ?)",
        "u.line, u.rowid",
        (session,),
    )


def uses_of_files(snapshot: Snapshot, fits: Callable[[str, str], bool]) -> list[StoredUse]:
    """The calls with files that fit, newest first; see `sessions_with`."""
    uses: list[StoredUse] = []
    for path, files in _fitting(snapshot, fits).items():
        uses += (
            use
            for id_ in files
            for use in _uses(snapshot, "u.value = ? AND u.file_id = ?", "u.line, u.rowid", (path, id_))
        )
    return sorted(uses, key=lambda use: (-(use.time or 0.0), use.session, -use.line))


def sessions_with(snapshot: Snapshot, fits: Callable[[str, str], bool]) -> list[int]:
    """Ids of the sessions with a file that fits: `fits` gets its path and the session's project."""
    return sorted({id_ for files in _fitting(snapshot, fits).values() for id_ in files})


def last_changes(snapshot: Snapshot, limit: int) -> list[StoredUse]:
    """The last `limit` calls that edited, created or deleted a file, newest first."""
    order = f"coalesce(u.time, f.mtime_ns / 1e9) DESC, f.path, u.line DESC, u.rowid DESC LIMIT {limit:d}"
    return _uses(snapshot, f"u.kind IN {_CHANGES}", order, ())


def frequent_paths(snapshot: Snapshot, limit: int) -> list[str]:
    """Paths of files, those that most sessions used first."""
    return _frequent(snapshot, "value", "kind <> 'command'", limit)


def frequent_programs(snapshot: Snapshot, limit: int) -> list[str]:
    """First words of commands, those that most sessions ran first."""
    return _frequent(snapshot, "substr(value, 1, instr(value || ' ', ' ') - 1)", "kind = 'command'", limit)


def _frequent(snapshot: Snapshot, value: str, condition: str, limit: int) -> list[str]:
    rows = snapshot.connection.execute(
        f"""SELECT {value} AS found FROM {snapshot.tables.tool_uses} WHERE {condition}
            GROUP BY found ORDER BY count(DISTINCT file_id) DESC, found LIMIT ?""",
        (limit,),
    )
    return [found for (found,) in rows]


def _fitting(snapshot: Snapshot, fits: Callable[[str, str], bool]) -> dict[str, list[int]]:
    """By path, the sessions with it."""
    tables = snapshot.tables
    projects = dict(snapshot.connection.execute(f"SELECT file_id, project FROM {tables.sessions}"))
    rows = snapshot.connection.execute(
        f"SELECT DISTINCT value, file_id FROM {tables.tool_uses} WHERE kind <> 'command' ORDER BY value"
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
    """A file that is written as a whole was created, unless the session used it before."""
    tables = snapshot.tables
    rows = snapshot.connection.execute(
        f"""SELECT f.path, f.title, s.agent, s.project,
                CASE WHEN u.kind = 'created' AND EXISTS (
                    SELECT 1 FROM {tables.tool_uses} e WHERE e.value = u.value AND e.file_id = u.file_id
                    AND e.kind <> 'command' AND e.kind <> 'deleted' AND e.rowid < u.rowid) THEN 'edited'
                ELSE u.kind END, u.value, u.line, u.ordinal, coalesce(u.time, f.mtime_ns / 1e9)
            FROM {tables.tool_uses} u CROSS JOIN {tables.files} f ON f.id = u.file_id
            CROSS JOIN {tables.sessions} s ON s.file_id = u.file_id
            WHERE u.kind <> 'command' AND {condition} ORDER BY {order}""",
        tuple(values),
    )
    return typed(rows, StoredUse)
