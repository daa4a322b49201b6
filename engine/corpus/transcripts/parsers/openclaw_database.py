"""OpenClaw's sessions since version 2026.8 (September 2026): `~/.openclaw/agents/<agent>/agent/openclaw-agent.sqlite`.

Written from its public source and documentation between September and November 2026. `transcript_events` has the lines
of the former files, one row each; since 2026.9.6, long lines are compressed. `session_windows` have a session's key,
and for a sub-agent's session the key of the session that started it. A key is used by several sessions in turn;
`session_nodes` has the name of the current session. Sessions that were reset or deleted are in
`session_transcript_archives`, unused sessions perhaps in files in `sessions/cold`.
"""

import os
from collections.abc import Iterator
from typing import Any

import apsw

from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts.database_format import RowFormat, as_text, columns, data_of, lines_in, unpacked, whole
from engine.corpus.transcripts.export_reader import read_branches
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.json_values import string
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean
from engine.corpus.transcripts.parsers.openclaw import OpenClawParser, is_generated

_EVENTS = f"SELECT {data_of('event_json')}, {{packed}} FROM transcript_events WHERE session_id = ? ORDER BY seq"
_COLD, _ARCHIVED = "session_transcript_cold_archives", "session_transcript_archives"
# The parent is the session that had the key when this one began, else a later one.
_WINDOW = """SELECT w.created_at, CAST(w.session_key AS BLOB), CAST(w.spawned_by AS BLOB),
    (SELECT CAST(p.session_id AS BLOB) FROM session_windows p WHERE p.session_key = w.spawned_by
    ORDER BY p.created_at <= w.created_at DESC, p.created_at DESC LIMIT 1),
    (SELECT CAST(max(n.label) AS BLOB) FROM session_nodes n WHERE n.current_session_id = w.session_id)
    FROM session_windows w WHERE w.session_id = ?"""
_LISTED = """SELECT CAST(e.id AS BLOB), e.latest, e.events, e.last, e.size, CAST(w.session_key AS BLOB),
    CAST(w.spawned_by AS BLOB), CAST(n.label AS BLOB) FROM (SELECT session_id AS id, max(created_at) AS latest,
    count(*) AS events, max(seq) AS last, sum(octet_length(event_json)) AS size FROM transcript_events
    GROUP BY session_id {archived}) e LEFT JOIN session_windows w ON w.session_id = e.id LEFT JOIN
    (SELECT current_session_id AS id, max(label) AS label FROM session_nodes GROUP BY current_session_id) n
    ON n.id = e.id"""
_LISTED_ARCHIVES = """UNION ALL SELECT session_id, max({time}), 0, 0, {size} FROM {table}
    WHERE session_id NOT IN (SELECT session_id FROM transcript_events) GROUP BY session_id"""


def _listed(connection: apsw.Connection) -> str:
    archived = []
    for table, time in ((_COLD, "archived_at"), (_ARCHIVED, "created_at")):
        if known := columns(connection, table):
            size = "octet_length(archive_blob)" if "archive_blob" in known else "0"
            archived.append(_LISTED_ARCHIVES.format(table=table, time=time, size=size))
    return _LISTED.format(archived=" ".join(archived))


def _conversation(connection: apsw.Connection, key: str, path: str) -> Conversation | None:
    parser = _parser(connection, key)
    branches = OpenClawParser(metadata=SessionMetadata())

    def turns() -> Iterator[list[Message]]:
        for number, value in enumerate(_entries(connection, key, path), 1):
            branches.take_branch(value, number)
            yield parser.feed(value, 0)

    def entries(*, abandoned: bool) -> Iterator[dict[str, Any]]:
        for number, value in enumerate(_entries(connection, key, path), 1):
            if branches.metadata.is_abandoned(number) is abandoned:
                yield value

    messages, others = whole(parser, turns()), tuple[Message, ...]()
    if branches.metadata.rewound:
        parser = _parser(connection, key)
        found = read_branches(parser, key, entries(abandoned=False), entries(abandoned=True))
        messages, others = found.messages, found.abandoned
    parser.metadata.id = clean(key)  # the first line can be a copy of another session's
    requests = tuple(parser.take_requests())
    return parser.conversation(key, messages, others, requests)


def _parser(connection: apsw.Connection, key: str) -> OpenClawParser:
    """Return a new parser with the metadata in a session's row, which an archived session may not have."""
    row = connection.execute(_WINDOW, (key,)).fetchone()
    if row is None and columns(connection, _ARCHIVED):
        query = f"SELECT NULL, CAST(session_key AS BLOB), NULL, NULL, NULL FROM {_ARCHIVED} WHERE session_id = ?"
        row = connection.execute(query, (key,)).fetchone()
    time, *texts = row or (None,) * 5
    own, starter, parent, label = map(as_text, texts)
    generated = is_generated(key=own) or is_generated(key=starter)
    metadata = SessionMetadata.of(title=label, parent=parent, generated=generated, started=time)
    return OpenClawParser(metadata=metadata, side=bool(metadata.parent))


def _entries(connection: apsw.Connection, key: str, path: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a session; an empty one in place of one that can't be read."""
    packed = "event_zstd" if "event_zstd" in columns(connection, "transcript_events") else "NULL"
    live = False
    for data, compressed in connection.execute(_EVENTS.format(packed=packed), (key,)):
        live = True
        entry = unpacked(compressed) if isinstance(compressed, bytes) else data
        yield (parse_line(entry) if isinstance(entry, bytes) else None) or {}
    for line in () if live else lines_in(_archive(connection, key, path)):
        value = parse_line(line) or {}
        if value.get("kind") == "event":
            value = parse_line(string(value, "row", "event_json").encode()) or {}
        if value.get("kind") != "header":
            yield value


def _can_read(connection: apsw.Connection, key: str, path: str) -> bool:
    """Whether a session can be read: it is not archived, or its archive exists and is undamaged."""
    if connection.execute("SELECT 1 FROM transcript_events WHERE session_id = ?", (key,)).fetchone():
        return True
    last = b""
    for last in lines_in(_archive(connection, key, path)):
        if not last:
            return False
    return parse_line(last) is not None  # an incomplete archive ends within a line


def _archive(connection: apsw.Connection, key: str, path: str) -> bytes:
    """Return the lines of an archived session; empty if they can't be read."""
    cold = columns(connection, _COLD)
    data = data_of("archive_blob") if "archive_blob" in cold else "NULL"
    query = f"SELECT CAST(archive_name AS BLOB), {data} FROM {_COLD} WHERE session_id = ?"
    for name, blob in connection.execute(query, (key,)) if cold else ():
        if isinstance(blob, bytes):
            return blob
        folder = os.path.join(os.path.dirname(os.path.dirname(path)), "sessions", "cold")
        return first_bytes(os.path.join(folder, os.path.basename(as_text(name))), LONGEST_LINE)
    query = f"SELECT {data_of('archive_blob')} FROM {_ARCHIVED} WHERE session_id = ? ORDER BY created_at DESC LIMIT 1"
    row = connection.execute(query, (key,)).fetchone() if columns(connection, _ARCHIVED) else None
    return row[0] if row and isinstance(row[0], bytes) else b""


OPENCLAW_DATABASE = RowFormat(
    agent="openclaw",
    needed={
        "transcript_events": frozenset({"session_id", "seq", "event_json", "created_at"}),
        "session_windows": frozenset({"session_id", "session_key", "spawned_by", "created_at"}),
        "session_nodes": frozenset({"current_session_id", "label"}),
    },
    listed=_listed,
    conversation=_conversation,
    can_read=_can_read,
)
