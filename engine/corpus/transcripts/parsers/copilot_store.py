"""GitHub Copilot CLI's list of all sessions, `~/.copilot/session-store.db`, for sessions whose own file is gone.

There is no published specification. Written from descriptions of the tables (issues of github/copilot-cli, since
version 0.0.412 of February 2026): `sessions`, and `turns` with a prompt and the text of its answer, perhaps shortened;
`session_files` names the files that a turn read or changed. The program makes it from the files in `session-state`,
which have more; sessions are left out if such a file exists, not only a folder without `events.jsonl`.
"""

import os
from collections.abc import Iterator

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, columns, rows_with, whole
from engine.corpus.transcripts.formats import Conversation, LineParser
from engine.corpus.transcripts.json_values import seconds
from engine.corpus.transcripts.message_builder import Part, next_turn, tool_call
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean

_SESSION = """SELECT CAST(summary AS BLOB), CAST(cwd AS BLOB), CAST(branch AS BLOB), CAST(created_at AS BLOB),
    CAST(updated_at AS BLOB) FROM sessions WHERE id = ?"""
_TURNS = """SELECT turn_index, CAST(user_message AS BLOB), CAST(assistant_response AS BLOB), CAST(timestamp AS BLOB)
    FROM turns WHERE {rows} ORDER BY turn_index"""
_FILES = """SELECT turn_index, CAST(file_path AS BLOB), CAST(tool_name AS BLOB) FROM session_files WHERE {rows}
    ORDER BY rowid"""
_FILE_COLUMNS = frozenset({"session_id", "turn_index", "file_path", "tool_name"})


def _with_file(path: str) -> frozenset[str]:
    """Return the sessions whose events are in files next to the database."""
    folder = os.path.join(os.path.dirname(path), "session-state")
    try:
        names = os.listdir(folder)
    except OSError:
        return frozenset()
    return frozenset(
        name.removesuffix(".jsonl")
        for name in names
        if name.endswith(".jsonl") or os.path.lexists(os.path.join(folder, name, "events.jsonl"))
    )


def _turns(reader: LineParser, connection: apsw.Connection, key: str) -> Iterator[list[Message]]:
    """Yield the messages of a session: prompt, then files and answer of each turn."""
    files: dict[object, list[Part]] = {}
    if columns(connection, "session_files") >= _FILE_COLUMNS:
        query = _FILES.format(rows=rows_with(connection, "session_files", "session_id"))
        for turn, file, tool in connection.execute(query, (key,)):
            files.setdefault(turn, []).append(tool_call(as_text(file), as_text(tool)))
    query = _TURNS.format(rows=rows_with(connection, "turns", "session_id"))
    for turn, prompt, answer, stated in connection.execute(query, (key,)).fetchall():
        time = seconds(as_text(stated))
        yield next_turn(reader, [Part("user", "text", as_text(prompt))], time=time)
        yield next_turn(reader, [*files.get(turn, ()), Part("assistant", "text", as_text(answer))], time=time)


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation | None:
    row = connection.execute(_SESSION, (key,)).fetchone()
    if row is None:
        return None
    title, project, branch, started, ended = map(as_text, row)
    metadata = SessionMetadata.of(key, title=title, project=project)
    metadata.branch, metadata.started, metadata.ended = clean(branch), seconds(started), seconds(ended)
    reader = LineParser(metadata=metadata)
    messages = whole(reader, _turns(reader, connection, key))
    return reader.conversation(key, messages)


COPILOT_STORE = RowFormat(
    agent="copilot-cli",
    needed={
        "sessions": frozenset("id cwd branch summary created_at updated_at".split()),
        "turns": frozenset("session_id turn_index user_message assistant_response timestamp".split()),
    },
    listed="""SELECT CAST(s.id AS BLOB), CAST(s.updated_at AS BLOB), CAST(s.summary AS BLOB), count(*),
        max(t.turn_index), sum(octet_length(t.user_message)), sum(octet_length(t.assistant_response))
        FROM sessions s JOIN turns t ON t.session_id = s.id GROUP BY s.id""",
    conversation=_conversation,
    elsewhere=_with_file,
)
