"""GitHub Copilot CLI's list of all sessions, `~/.copilot/session-store.db`, for sessions whose own file is gone.

There is no published specification. Written from descriptions of the tables (issues of github/copilot-cli, since
version 0.0.412 of February 2026): `sessions`, and `turns` with a prompt and the text of its answer, perhaps shortened;
`session_files` names the files that a turn read or changed. The program makes it from the files in `session-state`,
which have more; sessions are left out if such a file exists, not only a folder without `events.jsonl`.
"""

import os
from collections.abc import Iterator

import apsw

from engine.corpus.transcripts.database_format import RowFormat, row_of, rows_of, whole
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call
from engine.corpus.transcripts.json_values import seconds, string
from engine.corpus.transcripts.messages import Message, SessionMetadata

_TURNS = "turn_index user_message assistant_response timestamp"
_FILES = "turn_index file_path tool_name"


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
    found = rows_of(connection, "session_files", _FILES, "session_id", key, "rowid", has_index=False)
    for row in found:
        call = tool_call(string(row, "file_path"), string(row, "tool_name"))
        files.setdefault(row["turn_index"], []).append(call)
    for row in rows_of(connection, "turns", _TURNS, "session_id", key, "turn_index", has_index=False):
        time, answer = seconds(row["timestamp"]), Part("assistant", "text", string(row, "assistant_response"))
        yield reader.next_message([Part("user", "text", string(row, "user_message"))], time=time)
        yield reader.next_message([*files.get(row["turn_index"], ()), answer], time=time)


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    row = row_of(connection, "sessions", "summary cwd branch created_at updated_at", key)
    title, project, branch, started, ended = row.values()
    metadata = SessionMetadata.of(key, title=title, project=project, branch=branch, started=started, ended=ended)
    reader = LineParser(metadata=metadata)
    return reader.conversation(key, whole(reader, _turns(reader, connection, key)))


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
