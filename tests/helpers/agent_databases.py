"""Small databases of all agents that keep their sessions in one, each in two versions, with hand-written rows."""

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tests.helpers.opencode_database import ENTRIES, NEWER, OLDER
from tests.helpers.session_counts import SECONDS, TIMES
from tests.helpers.session_rows import (
    CRUSH,
    CRUSH_NEWER,
    FORGE,
    FORGE_NEWER,
    GOOSE,
    GOOSE_NEWER,
    HERMES,
    HERMES_NEWER,
    OPENCLAW,
    OPENCLAW_NEWER,
    ZED,
    ZED_NEWER,
    write_rows,
)

MS = [1000 * second for second in SECONDS]
CURSOR = """CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
    CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"""
KIRO = """CREATE TABLE migrations (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, migration_time INTEGER NOT NULL);
    CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);"""
KIRO_NEWER = """CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id));"""
ASKED, LOOKING, ANSWERED = "Why does /boats/hull.py leak?", "Let me look there.", "A seam is open."
COMMAND, OUTPUT, FILE = "cat /boats/hull.py", "seams = 1 of 2", "/boats/hull.py"

Row = tuple[str, dict[str, Any]]


class AgentDatabase(NamedTuple):
    name: str
    """The agent, a colon and the version."""
    path: str
    schema: str
    rows: tuple[Row, ...]
    spoken: str
    """SQL that selects "user" or "agent" for each spoken message."""
    times: str
    """SQL that selects each time."""

    def with_others(self, number: int) -> list[Row]:
        """Return the rows, and as many copies of them in other sessions."""
        others = [
            (table, {column: _renamed(column, value, at) for column, value in values.items()})
            for at in range(1, number + 1)
            for table, values in self.rows
        ]
        return [*self.rows, *others]

    def write(self, folder: Path, rows: Iterable[Row] | None = None) -> Path:
        """Write the database, or one with other rows."""
        path = folder / self.path
        write_rows(path, self.schema, self.rows if rows is None else rows)
        return path


def _renamed(column: str, value: Any, number: int) -> Any:
    """Return the value of a column in a copy, which has other keys."""
    if isinstance(value, str) and value.startswith("{"):
        return re.sub(r'("(?:\w+_)?id": "[^"]*)', rf"\1-{number}", value)
    if not re.search(r"(^|_)(id|key|hash|name)$", column) or value is None:
        return value
    return value + 1000 * number if isinstance(value, int) else f"{value}-{number}"


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _json(value: object) -> str:
    return json.dumps(value)


# --- Cursor ----------------------------------------------------------------------------------------------------------


def _cursor(key: str, value: object) -> Row:
    return "cursorDiskKV", {"key": key, "value": _json(value)}


_CHAT = {"composerId": "c1", "name": "A leaking hull", "createdAt": MS[0], "lastUpdatedAt": MS[5]}
_RUN = {"name": "run_terminal_cmd", "rawArgs": _json({"command": COMMAND}), "result": _json({"output": OUTPUT})}
_BUBBLES = [
    {"type": 1, "bubbleId": "b1", "text": ASKED, "createdAt": MS[1]},
    {"type": 2, "bubbleId": "b2", "text": LOOKING, "createdAt": MS[2], "toolFormerData": _RUN},
    {"type": 2, "bubbleId": "b3", "text": ANSWERED, "createdAt": MS[3]},
]
_CURSOR = (
    _cursor("composerData:c1", {**_CHAT, "fullConversationHeadersOnly": [{"bubbleId": f"b{n}"} for n in (1, 2, 3)]}),
    *(_cursor(f"bubbleId:c1:{bubble['bubbleId']}", bubble) for bubble in _BUBBLES),
)
_BUBBLE_ROWS = "SELECT json(value) AS value FROM cursorDiskKV WHERE key LIKE 'bubbleId:%'"
_HELD_BUBBLES = "SELECT b.value AS value FROM cursorDiskKV, json_each(cursorDiskKV.value, '$.conversation') b"


def _cursor_counts(bubbles: str) -> tuple[str, str]:
    spoken = f"SELECT CASE value ->> '$.type' WHEN 1 THEN 'user' ELSE 'agent' END FROM ({bubbles})"
    times = f"SELECT value ->> '$.createdAt' FROM ({bubbles}) UNION SELECT value ->> '$.createdAt' FROM cursorDiskKV"
    return spoken, f"{times} WHERE key LIKE 'composerData:%'"


# --- Copilot CLI -----------------------------------------------------------------------------------------------------

COPILOT = """CREATE TABLE sessions (id TEXT PRIMARY KEY, repository TEXT, branch TEXT, summary TEXT, created_at TEXT,
    updated_at TEXT, cwd TEXT);
    CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT, assistant_response TEXT, timestamp TEXT,
    PRIMARY KEY (session_id, turn_index));"""
COPILOT_NEWER = """ALTER TABLE sessions ADD COLUMN host_type TEXT;
    CREATE TABLE session_files (session_id TEXT, file_path TEXT, tool_name TEXT, turn_index INTEGER,
    first_seen_at TEXT);"""
_COPILOT_SESSION = {"id": "p1", "branch": "main", "summary": "A leaking hull", "cwd": "/boats"}
_COPILOT: tuple[Row, ...] = (
    ("sessions", {**_COPILOT_SESSION, "created_at": TIMES[0], "updated_at": TIMES[5]}),
    (
        "turns",
        {
            "session_id": "p1",
            "turn_index": 0,
            "user_message": ASKED,
            "assistant_response": LOOKING,
            "timestamp": TIMES[1],
        },
    ),
    ("turns", {"session_id": "p1", "turn_index": 1, "user_message": "", "assistant_response": ANSWERED}),
)
_COPILOT_FILES: Row = (
    "session_files",
    {"session_id": "p1", "file_path": FILE, "tool_name": "view", "turn_index": 0, "first_seen_at": TIMES[1]},
)
_COPILOT_SPOKEN = """SELECT 'user' FROM turns WHERE user_message <> '' UNION ALL
    SELECT 'agent' FROM turns WHERE assistant_response <> ''"""
_COPILOT_TIMES = """SELECT created_at FROM sessions UNION SELECT updated_at FROM sessions UNION
    SELECT timestamp FROM turns WHERE timestamp IS NOT NULL"""


# --- Octofriend, Unsloth Studio --------------------------------------------------------------------------------------

OCTO = """CREATE TABLE trees (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, cwd TEXT NOT NULL, updated_at INTEGER);
    CREATE TABLE llm_irs (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
    CREATE TABLE notifications (id INTEGER PRIMARY KEY, content TEXT NOT NULL);
    CREATE TABLE history_items (id INTEGER PRIMARY KEY, request_failed_id INTEGER, compaction_failed_id INTEGER,
    notification_id INTEGER, llm_ir_id INTEGER);
    CREATE TABLE tree_nodes (id INTEGER PRIMARY KEY, history_item_id INTEGER NOT NULL, tree_id INTEGER NOT NULL,
    parent_id INTEGER, is_leaf INTEGER NOT NULL, launch_id INTEGER NOT NULL);
    CREATE INDEX tree_nodes_tree_id_idx ON tree_nodes (tree_id);"""
OCTO_NEWER = """ALTER TABLE tree_nodes ADD COLUMN created_at INTEGER;
    ALTER TABLE history_items ADD COLUMN model_json TEXT;"""
_OCTO_CALL = {"type": "tool-call", "name": "shell", "toolCallId": "t", "original": {"cmd": COMMAND}, "parsed": {}}
_OCTO_COUNTS = {"input": {"cached": 3, "uncached": 4, "total": 7}, "output": 5}
_OCTO_MESSAGES = (
    {"role": "user", "content": [{"type": "text", "content": ASKED}]},
    {"role": "assistant", "content": LOOKING, "reasoningContent": "A seam?", "toolCalls": [_OCTO_CALL]},
    {"role": "tool-output", "toolCall": _OCTO_CALL, "content": [{"type": "text", "content": OUTPUT}]},
    {"role": "assistant", "content": ANSWERED, "usage": _OCTO_COUNTS},
)


def _octo(*, newer: bool) -> tuple[Row, ...]:
    rows: list[Row] = [("trees", {"id": 1, "name": "o1", "cwd": "/boats", "updated_at": MS[5]})]
    for at, message in enumerate(_OCTO_MESSAGES, 1):
        model = {"version": "octo-model/v1", "model": {"nickname": "M", "model": "m-1"}}
        stated = {"model_json": _json(model)} if newer else {}
        created = {"created_at": MS[at]} if newer else {}
        node = {"id": at, "history_item_id": at, "tree_id": 1, "parent_id": at - 1 or None, "is_leaf": int(at == 4)}
        rows += [
            ("llm_irs", {"id": at, "json": _json({"version": "octo-llm-ir/v1", "ir": message})}),
            ("history_items", {"id": at, "llm_ir_id": at, **stated}),
            ("tree_nodes", {**node, "launch_id": 1, **created}),
        ]
    return tuple(rows)


_OCTO_SPOKEN = """SELECT CASE json ->> '$.ir.role' WHEN 'user' THEN 'user' ELSE 'agent' END FROM llm_irs
    WHERE json ->> '$.ir.role' IN ('user', 'assistant')"""
UNSLOTH = """CREATE TABLE chat_projects (id TEXT PRIMARY KEY, name TEXT NOT NULL, root_path TEXT);
    CREATE TABLE chat_threads (id TEXT PRIMARY KEY, title TEXT NOT NULL, model_type TEXT NOT NULL, model_id TEXT,
    pair_id TEXT, project_id TEXT, created_at INTEGER NOT NULL);
    CREATE TABLE chat_messages (id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, parent_id TEXT, role TEXT NOT NULL,
    content_json TEXT NOT NULL, attachments_json TEXT, metadata_json TEXT, created_at INTEGER NOT NULL);
    CREATE INDEX idx_chat_messages_thread_id_created_at ON chat_messages(thread_id, created_at);"""
UNSLOTH_NEWER = "ALTER TABLE chat_threads ADD COLUMN updated_at INTEGER;"
_UNSLOTH_CALL = {"type": "tool-call", "toolCallId": "t", "toolName": "terminal", "args": {"command": COMMAND}}
_UNSLOTH_MESSAGES: tuple[tuple[str, list[dict[str, Any]]], ...] = (
    ("user", [_text(ASKED)]),
    ("assistant", [{"type": "reasoning", "text": "A seam?"}, _text(LOOKING), {**_UNSLOTH_CALL, "result": OUTPUT}]),
    ("assistant", [_text(ANSWERED), {"type": "source", "url": "x"}]),
)


def _unsloth(*, newer: bool) -> tuple[Row, ...]:
    thread = {"id": "u1", "title": "A leaking hull", "model_type": "base", "model_id": "m-1", "project_id": "p1"}
    more = {"updated_at": MS[5]} if newer else {}
    rows: list[Row] = [
        ("chat_projects", {"id": "p1", "name": "Boats", "root_path": "/boats" if newer else None}),
        ("chat_threads", {**thread, "created_at": MS[0], **more}),
    ]
    for at, (role, blocks) in enumerate(_UNSLOTH_MESSAGES, 1):
        message = {"id": f"m{at}", "parent_id": f"m{at - 1}" if newer and at > 1 else None, "role": role}
        rows.append(
            ("chat_messages", {**message, "thread_id": "u1", "content_json": _json(blocks), "created_at": MS[at]})
        )
    return tuple(rows)


_UNSLOTH_SPOKEN = "SELECT CASE role WHEN 'user' THEN 'user' ELSE 'agent' END FROM chat_messages"
_UNSLOTH_TIMES = "SELECT created_at FROM chat_messages UNION SELECT created_at FROM chat_threads"


# --- Cherry Studio ---------------------------------------------------------------------------------------------------

CHERRY = """CREATE TABLE topic (id TEXT PRIMARY KEY, name TEXT, assistant_id TEXT, active_node_id TEXT,
    created_at INTEGER, updated_at INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, topic_id TEXT NOT NULL, parent_id TEXT, role TEXT NOT NULL,
    status TEXT NOT NULL, data TEXT NOT NULL, created_at INTEGER, model_id TEXT, stats TEXT);
    CREATE INDEX message_topic_created_idx ON message (topic_id, created_at);"""
CHERRY_NEWER = """ALTER TABLE topic ADD COLUMN deleted_at INTEGER;
    ALTER TABLE message ADD COLUMN deleted_at INTEGER;"""
_CHERRY_BLOCKS = {
    "blocks": [
        {"type": "thinking", "content": "A seam?"},
        {"type": "main_text", "content": LOOKING},
        {"type": "tool", "toolName": "shell", "arguments": {"command": COMMAND}, "content": OUTPUT},
    ]
}
_CHERRY_PARTS = {
    "parts": [
        {"type": "step-start"},
        {"type": "reasoning", "text": "A seam?"},
        _text(LOOKING),
        {"type": "tool-shell", "toolCallId": "t", "input": {"command": COMMAND}, "output": OUTPUT},
    ]
}


def _cherry(*, newer: bool) -> tuple[Row, ...]:
    def spoken(text: str) -> Any:
        return {"parts": [_text(text)]} if newer else {"blocks": [{"type": "main_text", "content": text}]}

    turns = [("user", spoken(ASKED)), ("assistant", _CHERRY_PARTS if newer else _CHERRY_BLOCKS)]
    turns.append(("assistant", spoken(ANSWERED)))
    topic = {"id": "y1", "name": "A leaking hull", "active_node_id": "m3", "created_at": MS[0], "updated_at": MS[5]}
    rows: list[Row] = [("topic", topic)]
    if newer:
        rows.append(("message", {**_CHERRY_ROW, "id": "m0", "role": "root", "data": "{}", "created_at": MS[0]}))
    for at, (role, data) in enumerate(turns, 1):
        message = {**_CHERRY_ROW, "id": f"m{at}", "parent_id": f"m{at - 1}" if newer or at > 1 else None, "role": role}
        counts = {"model_id": "p::m-1", "stats": _json({"promptTokens": 3, "completionTokens": 4})}
        rows.append(("message", {**message, "data": _json(data), "created_at": MS[at], **counts}))
    return tuple(rows)


_CHERRY_ROW = {"topic_id": "y1", "status": "success"}
_CHERRY_SPOKEN = "SELECT CASE role WHEN 'user' THEN 'user' ELSE 'agent' END FROM message WHERE role <> 'root'"
_CHERRY_TIMES = "SELECT created_at FROM message UNION SELECT created_at FROM topic"


# --- Zed -------------------------------------------------------------------------------------------------------------


def _zed(thread: object, **more: Any) -> Row:
    row = {"id": "z1", "summary": "A leaking hull", "updated_at": TIMES[5], "data_type": "json"}
    return "threads", {**row, "data": _json(thread), **more}


_ZED_OLD = {
    "version": "0.2.0",
    "summary": "A leaking hull",
    "updated_at": TIMES[5],
    "messages": [
        {"id": 1, "role": "user", "segments": [_text(ASKED)], "tool_uses": []},
        {
            "id": 2,
            "role": "assistant",
            "segments": [_text(LOOKING)],
            "tool_uses": [{"id": "t", "name": "terminal", "input": {"command": COMMAND}}],
            "tool_results": [{"tool_use_id": "t", "is_error": False, "content": OUTPUT}],
        },
        {"id": 3, "role": "assistant", "segments": [_text(ANSWERED)]},
    ],
}
_USED = {"ToolUse": {"id": "t", "name": "terminal", "input": {"command": COMMAND}}}
_ZED_NEW = {
    "version": "0.3.0",
    "title": "A leaking hull",
    "messages": [
        {"User": {"id": "u", "content": [{"Text": ASKED}]}},
        {
            "Agent": {
                "content": [{"Text": LOOKING}, _USED],
                "tool_results": {"t": {"tool_use_id": "t", "tool_name": "terminal", "content": [{"Text": OUTPUT}]}},
            }
        },
        "Resume",
        {"Agent": {"content": [{"Text": ANSWERED}], "tool_results": {}}},
    ],
}
_ZED_MESSAGES = "FROM threads, json_each(CAST(threads.data AS TEXT), '$.messages') m"

# --- Goose, Crush, Hermes Agent --------------------------------------------------------------------------------------


def _goose(minute: int, role: str, *items: dict[str, Any], **more: Any) -> Row:
    values = {"session_id": "20260402_1", "role": role, "created_timestamp": SECONDS[minute]}
    return "messages", {**values, "content_json": _json(items), **more}


_GOOSE_SESSION = {"id": "20260402_1", "working_dir": "/boats/old", "created_at": "2026-04-02 08:00:00"}
_SHELL = {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": COMMAND}}}
_SHOWN = {"status": "success", "value": {"content": [_text(OUTPUT)], "isError": False}}
_GOOSE = (
    _goose(1, "user", _text(ASKED)),
    _goose(2, "assistant", _text(LOOKING), {"type": "toolRequest", "id": "t", "toolCall": _SHELL}),
    _goose(3, "user", {"type": "toolResponse", "id": "t", "toolResult": _SHOWN}),
    _goose(4, "assistant", {"type": "thinking", "thinking": "A seam, maybe."}, _text(ANSWERED)),
)
_ITEMS = "FROM messages, json_each(messages.content_json) i WHERE i.value ->> '$.type' = 'text'"
_ROLES = "SELECT CASE messages.role WHEN 'user' THEN 'user' ELSE 'agent' END"


def _crush(minute: int, role: str, *parts: tuple[str, dict[str, Any]], **more: Any) -> Row:
    held = _json([{"type": kind, "data": data} for kind, data in parts])
    values = {"id": f"m{minute}", "session_id": "s1", "role": role, "parts": held, "created_at": SECONDS[minute]}
    return "messages", {**values, "updated_at": SECONDS[minute], **more}


_CRUSH = (
    ("sessions", {"id": "s1", "title": "A leaking hull", "created_at": SECONDS[0], "updated_at": SECONDS[4]}),
    _crush(1, "user", ("text", {"text": ASKED})),
    _crush(
        2,
        "assistant",
        ("text", {"text": LOOKING}),
        ("tool_call", {"id": "t", "name": "bash", "input": _json({"command": COMMAND}), "finished": True}),
    ),
    _crush(3, "tool", ("tool_result", {"tool_call_id": "t", "name": "bash", "content": OUTPUT, "is_error": False})),
    _crush(4, "assistant", ("reasoning", {"thinking": "A seam, maybe."}), ("text", {"text": ANSWERED})),
)


def _hermes(minute: int, role: str, text: str, **more: Any) -> Row:
    return "messages", {"session_id": "h1", "role": role, "content": text, "timestamp": SECONDS[minute] + 0.5, **more}


_TERMINAL = {"id": "t", "type": "function", "function": {"name": "terminal", "arguments": _json({"command": COMMAND})}}
_HERMES_SESSION = {"id": "h1", "source": "cli", "started_at": SECONDS[0] + 0.25, "title": "A leaking hull"}
_HERMES = (
    _hermes(1, "user", ASKED),
    _hermes(2, "assistant", LOOKING, tool_calls=_json([_TERMINAL])),
    _hermes(3, "tool", OUTPUT, tool_call_id="t"),
    _hermes(4, "assistant", ANSWERED),
)

# --- opencode and Kilo -----------------------------------------------------------------------------------------------


def _opencode(table: str, id: str, minute: int, **more: Any) -> Row:
    return table, {"id": id, "time_created": MS[minute], "time_updated": MS[minute], **more}


_SESSION = {
    "project_id": "p", "slug": "hull", "directory": "/boats/old", "title": "A leaking hull", "version": "1.2.0"
}  # fmt: skip
_STATE = {"status": "completed", "input": {"command": COMMAND}, "output": OUTPUT}
_PARTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("msg_1", _text(ASKED)),
    ("msg_2", {"type": "step-start"}),
    ("msg_2", _text(LOOKING)),
    ("msg_2", {"type": "tool", "tool": "bash", "state": _STATE}),
    ("msg_3", _text(ANSWERED)),
)
_OPENCODE = (
    _opencode("session", "ses_1", 0, **_SESSION),
    _opencode("message", "msg_1", 1, session_id="ses_1", data=_json({"role": "user"})),
    _opencode("message", "msg_2", 2, session_id="ses_1", data=_json({"role": "assistant"})),
    _opencode("message", "msg_3", 3, session_id="ses_1", data=_json({"role": "assistant"})),
    *(
        _opencode("part", f"prt_{number}", 3, message_id=message, session_id="ses_1", data=_json(part))
        for number, (message, part) in enumerate(_PARTS)
    ),
)
_BASH = {"type": "tool", "id": "t", "name": "bash", "state": {**_STATE, "content": [_text(OUTPUT)]}}
_ENTRIES = tuple(
    _opencode("session_message", f"msg_{seq}", seq + 1, session_id="ses_1", type=kind, seq=seq, data=_json(data))
    for seq, (kind, data) in enumerate(
        (
            ("user", {"text": ASKED}),
            ("assistant", {"content": [_text(LOOKING), _BASH]}),
            ("idle", {"outcome": "succeeded"}),
            ("assistant", {"content": [_text(ANSWERED)]}),
        )
    )
)
_OPENCODE_NEW = (_opencode("session_v2", "ses_1", 0, **_SESSION), *_ENTRIES)
_KILO_NEW = (_opencode("session", "ses_1", 0, **_SESSION), *_ENTRIES)
_OLDER_SPOKEN = """SELECT CASE m.data ->> '$.role' WHEN 'user' THEN 'user' ELSE 'agent' END
    FROM part p JOIN message m ON m.id = p.message_id WHERE p.data ->> '$.type' = 'text'"""
_OLDER_TIMES = "SELECT time_created FROM session UNION SELECT time_created FROM message"
_NEWER_SPOKEN = """SELECT 'user' FROM session_message WHERE type = 'user' UNION ALL
    SELECT 'agent' FROM session_message m, json_each(m.data, '$.content') c WHERE c.value ->> '$.type' = 'text'"""
_NEWER_TIMES = "SELECT time_created FROM session_v2 UNION SELECT time_created FROM session_message WHERE type <> 'idle'"

# --- Kiro ------------------------------------------------------------------------------------------------------------

_HISTORY = [
    {
        "user": {"content": {"Prompt": {"prompt": ASKED}}, "timestamp": TIMES[1]},
        "assistant": {
            "ToolUse": {
                "message_id": "m1",
                "content": LOOKING,
                "tool_uses": [{"id": "t", "name": "execute_bash", "args": {"command": COMMAND}}],
            }
        },
        "request_metadata": {"stream_end_timestamp_ms": MS[2]},
    },
    {
        "user": {
            "content": {"ToolUseResults": {"tool_use_results": [{"tool_use_id": "t", "content": [{"Text": OUTPUT}]}]}}
        },
        "assistant": {"Response": {"message_id": "m2", "content": ANSWERED}},
        "request_metadata": {"stream_end_timestamp_ms": MS[4]},
    },
]
_TALK = _json({"conversation_id": "k1", "history": _HISTORY, "transcript": [f"> {ASKED}"]})


def _kiro_counts(table: str) -> tuple[str, str]:
    turns = f"FROM {table} c, json_each(c.value, '$.history') h"
    spoken = f"SELECT 'agent' {turns} UNION ALL SELECT 'user' {turns} WHERE h.value ->> '$.user.content.Prompt' NOTNULL"
    times = f"""SELECT h.value ->> '$.request_metadata.stream_end_timestamp_ms' AS time {turns} UNION
        SELECT h.value ->> '$.user.timestamp' AS time {turns} WHERE time NOTNULL"""
    return spoken, times


_KIRO_TIMES = _kiro_counts("conversations_v2")[1] + " UNION SELECT created_at FROM conversations_v2"
_KIRO_ROW = {"key": "/boats/old", "conversation_id": "k1", "value": _TALK, "created_at": MS[0], "updated_at": MS[4]}

# --- Open WebUI, Devin, Warp -----------------------------------------------------------------------------------------

WEBUI = """CREATE TABLE chat (id VARCHAR(255) PRIMARY KEY, user_id VARCHAR(255), title TEXT, chat JSON,
    created_at BIGINT, updated_at BIGINT, share_id TEXT, archived BOOLEAN, meta JSON, folder_id TEXT);"""
DEVIN = """CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, working_directory TEXT, model TEXT, hidden INTEGER,
    created_at INTEGER, last_activity_at INTEGER, main_chain_id INTEGER);
    CREATE TABLE message_nodes (row_id INTEGER PRIMARY KEY, session_id TEXT, node_id INTEGER, parent_node_id INTEGER,
    chat_message TEXT, created_at INTEGER);
    CREATE INDEX idx_message_nodes_session ON message_nodes (session_id);"""
WARP = """CREATE TABLE agent_conversations (id INTEGER PRIMARY KEY, conversation_id TEXT NOT NULL,
    conversation_data TEXT NOT NULL, last_modified_at TIMESTAMP NOT NULL);
    CREATE TABLE agent_tasks (id INTEGER PRIMARY KEY, conversation_id TEXT NOT NULL, task_id TEXT NOT NULL,
    task BLOB NOT NULL, last_modified_at TIMESTAMP NOT NULL);
    CREATE UNIQUE INDEX ux_agent_conversations_conversation_id ON agent_conversations (conversation_id);
    CREATE UNIQUE INDEX ux_agent_tasks_task_id ON agent_tasks (task_id);"""
WARP_NEWER = """ALTER TABLE agent_conversations ADD COLUMN summary TEXT;
    CREATE TABLE ai_queries (id INTEGER PRIMARY KEY, exchange_id TEXT, conversation_id TEXT, start_ts DATETIME,
    input TEXT, working_directory TEXT, output_status TEXT, model_id TEXT);"""


def _in_history(minute: int, role: str, text: str, **more: Any) -> dict[str, Any]:
    above = f"m{minute - 1}" if minute > 1 else None
    return {"id": f"m{minute}", "parentId": above, "role": role, "content": text, "timestamp": SECONDS[minute], **more}


def _webui(*messages: dict[str, Any], **more: Any) -> Row:
    history = {"messages": {message["id"]: message for message in messages}, "currentId": messages[-1]["id"]}
    chat = {"title": "A leaking hull", "history": history}
    times = {"created_at": SECONDS[0], "updated_at": SECONDS[3]}
    return "chat", {"id": "w1", "user_id": "u", "title": "A leaking hull", "chat": _json(chat), **times, **more}


_LOOKED = f'<details type="reasoning" done="true">\n<summary>Thought</summary>\n> Hm.\n</details>\n{LOOKING}'
_WEBUI = (_in_history(1, "user", ASKED), _in_history(2, "assistant", LOOKING), _in_history(3, "assistant", ANSWERED))
_WEBUI_NEW = (_WEBUI[0], _in_history(2, "assistant", _LOOKED, model="m", usage={"prompt_tokens": 1}), _WEBUI[2])
_WEBUI_MESSAGES = "FROM chat, json_each(chat.chat, '$.history.messages') m WHERE chat.user_id = 'u'"
_WEBUI_SPOKEN = f"SELECT CASE m.value ->> '$.role' WHEN 'user' THEN 'user' ELSE 'agent' END {_WEBUI_MESSAGES}"
_WEBUI_TIMES = f"SELECT m.value ->> '$.timestamp' {_WEBUI_MESSAGES}"


def _node(number: int, minute: int, **message: Any) -> Row:
    times = {"created_at": SECONDS[minute], "row_id": number}
    above = number - 1 if number else None
    row = {"chat_message": _json(message), "node_id": number, "parent_node_id": above}
    return "message_nodes", {"session_id": "d1", **row, **times}


_DEVIN_SESSION = {"id": "d1", "title": "A leaking hull", "working_directory": "/boats/old", "model": "m-1"}
_DEVIN_CALL = {"id": "t", "type": "function", "function": {"name": "exec", "arguments": _json({"command": COMMAND})}}
_DEVIN = (
    ("sessions", {**_DEVIN_SESSION, "created_at": SECONDS[0], "last_activity_at": SECONDS[4]}),
    _node(0, 0, role="system", content="You sew."),
    _node(1, 1, role="user", content=ASKED),
    _node(2, 2, role="assistant", content=LOOKING, thinking="Hm.", tool_calls=[_DEVIN_CALL]),
    _node(3, 3, role="tool", content=OUTPUT, tool_call_id="t"),
    _node(4, 4, role="assistant", content=ANSWERED),
)
_DEVIN_BLOCKS = (
    *_DEVIN[:2],
    _node(1, 1, role="user", content=[_text(ASKED)]),
    _node(2, 2, role="assistant", content=[_text(LOOKING), {"type": "thinking", "thinking": "Hm."}]),
    _node(3, 4, role="assistant", content=[_text(ANSWERED)]),
)
_DEVIN_SPOKEN = """SELECT CASE chat_message ->> '$.role' WHEN 'user' THEN 'user' ELSE 'agent' END FROM message_nodes
    WHERE chat_message ->> '$.role' IN ('user', 'assistant')"""
_DEVIN_TIMES = "SELECT created_at FROM sessions UNION SELECT last_activity_at FROM sessions"


def forge_row(*messages: object, **more: Any) -> Row:
    times = {"created_at": "2026-04-02 08:00:00", "updated_at": "2026-04-02 08:05:00"}
    context = _json({"messages": messages})
    key = {"conversation_id": "f1", "title": "A leaking hull", "workspace_id": 7}
    return "conversations", {**key, "context": context, **times, **more}


def forge_text(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"message": {"text": {"role": role, "content": content, **more}}}


_FORGE = (
    forge_text("System", "<current_working_directory>/boats/old</current_working_directory>"),
    forge_text("User", ASKED),
    {
        **forge_text(
            "Assistant",
            LOOKING,
            model="m-1",
            reasoning_details=[{"text": "Hm."}],
            tool_calls=[{"name": "shell", "call_id": "t", "arguments": {"command": COMMAND}}],
        ),
        "usage": {"prompt_tokens": {"actual": 10}, "completion_tokens": {"actual": 2}},
    },
    {
        "message": {
            "tool": {"name": "shell", "call_id": "t", "output": {"is_error": False, "values": [{"text": OUTPUT}]}}
        }
    },
    forge_text("Assistant", ANSWERED),
)
_FORGE_TYPED = forge_text("User", f"<task>{ASKED}</task>", raw_content={"Text": ASKED})
_FORGE_COUNTS = (
    """SELECT CASE m.value ->> '$.message.text.role' WHEN 'User' THEN 'user' ELSE 'agent' END
    FROM conversations, json_each(context ->> '$.messages') m
    WHERE m.value ->> '$.message.text.role' IN ('User', 'Assistant')""",
    """SELECT strftime('%s', created_at) + 0 FROM conversations
    UNION SELECT strftime('%s', updated_at) + 0 FROM conversations""",
)


def _event(number: int, minute: int, kind: str, **more: Any) -> Row:
    value = {"type": kind, "id": f"e{number}", "timestamp": TIMES[minute], **more}
    above = {"parentId": f"e{number - 1}"} if number > 1 else {}
    row = {"session_id": "s1", "seq": number, "event_json": _json({**value, **above}), "created_at": MS[minute]}
    return "transcript_events", row


def _said(number: int, minute: int, role: str, *blocks: object, **more: Any) -> Row:
    return _event(number, minute, "message", message={"role": role, "content": blocks, **more})


_OPENCLAW_KEY = {"session_key": "agent:main:hull", "updated_at": MS[5]}
_OPENCLAW = (
    ("session_nodes", {**_OPENCLAW_KEY, "current_session_id": "s1", "entry_json": "{}", "label": "A leaking hull"}),
    ("session_windows", {**_OPENCLAW_KEY, "session_id": "s1", "created_at": MS[0]}),
    _event(0, 0, "session", version=3, cwd="/boats/old"),
    _said(1, 1, "user", _text(ASKED)),
    _said(
        2,
        2,
        "assistant",
        {"type": "thinking", "thinking": "Hm."},
        _text(LOOKING),
        {"type": "toolCall", "id": "t", "name": "exec", "arguments": {"command": COMMAND}},
        model="m-1",
        usage={"input": 10, "output": 2},
    ),
    _said(3, 3, "toolResult", _text(OUTPUT), toolName="exec", toolCallId="t"),
    _said(4, 4, "assistant", _text(ANSWERED)),
)
_OPENCLAW_NEW = (
    *_OPENCLAW[:3],
    _event(0, 0, "model_change", provider="p", modelId="m-1"),
    *(
        ("transcript_events", {**row, "event_utf8_bytes": len(row["event_json"]), "seq": row["seq"] + 1})
        for _, row in _OPENCLAW[3:]
    ),
)
_OPENCLAW_NEW[3][1]["seq"] = 1
_OPENCLAW_SPOKEN = """SELECT CASE event_json ->> '$.message.role' WHEN 'user' THEN 'user' ELSE 'agent' END
    FROM transcript_events WHERE event_json ->> '$.message.role' IN ('user', 'assistant')"""
_OPENCLAW_TIMES = """SELECT event_json ->> '$.timestamp' FROM transcript_events
    UNION SELECT created_at FROM session_windows"""


def field(number: int, value: bytes | str | int) -> bytes:
    """Return one field of a Protobuf message."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(found) + bytes([value])


def warp_message(minute: int, kind: int, content: bytes) -> bytes:
    """Return a message of a task, whose `kind` is the number of its field."""
    return field(5, field(1, f"m{minute}") + field(14, field(1, SECONDS[minute])) + field(kind, content))


def warp_rows(*messages: bytes, **more: Any) -> tuple[Row, ...]:
    """Return the rows of a conversation of one task."""
    task = field(1, "t1") + field(2, "A leaking hull") + b"".join(messages)
    key = {"conversation_id": "c1", "last_modified_at": "2026-04-02 08:04:00"}
    return (
        ("agent_conversations", {**key, "conversation_data": '{"server_conversation_token":null}', **more}),
        ("agent_tasks", {**key, "task_id": "t1", "task": task}),
    )


_WARP = (
    warp_message(1, 2, field(1, ASKED)),
    warp_message(2, 15, field(1, "Hm.")),
    warp_message(2, 3, field(1, LOOKING)),
    warp_message(2, 4, field(1, "t") + field(2, field(1, COMMAND))),
    warp_message(3, 5, field(1, "t") + field(2, field(3, COMMAND) + field(5, field(1, OUTPUT) + field(2, 0)))),
    warp_message(4, 3, field(1, ANSWERED)),
)
_WARP_ASKED = {"exchange_id": "e1", "conversation_id": "c1", "start_ts": "2026-04-02 08:01:00", "input": "[]"}
_WARP_SPOKEN = f"""SELECT said.role FROM agent_tasks, (SELECT 'user' AS role, '{ASKED}' AS text
    UNION SELECT 'agent', '{LOOKING}' UNION SELECT 'agent', '{ANSWERED}') said
    WHERE instr(agent_tasks.task, CAST(said.text AS BLOB))"""
_WARP_TIMES = f"""SELECT strftime('%s', last_modified_at) + 0 FROM agent_tasks UNION SELECT {SECONDS[1]}"""

# --- llm -------------------------------------------------------------------------------------------------------------

LLM = """CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
    CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT,
    options_json TEXT, response TEXT, response_json TEXT, conversation_id TEXT, duration_ms INTEGER,
    datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT);
    CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
    CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER,
    PRIMARY KEY (response_id, attachment_id));
    CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT);
    CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER,
    PRIMARY KEY (response_id, fragment_id, "order"));
    CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT, tool_call_id TEXT);
    CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT, tool_call_id TEXT);"""
LLM_NEWER = """ALTER TABLE responses ADD COLUMN resolved_model TEXT; ALTER TABLE responses ADD COLUMN reasoning TEXT;
    CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
    CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT,
    text TEXT, payload TEXT);
    CREATE UNIQUE INDEX parts_message ON parts (message_hash, position);
    CREATE TABLE part_attachments (part_id INTEGER, attachment_id TEXT, "order" INTEGER,
    PRIMARY KEY (part_id, attachment_id, "order"));
    CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
    CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT,
    model TEXT, resolved_model TEXT, input_tokens INTEGER, output_tokens INTEGER, duration_ms INTEGER,
    datetime_utc TEXT);
    CREATE INDEX turns_thread ON turns (thread_id);"""


def llm_response(number: int, prompt: str, response: str, **more: Any) -> Row:
    """Return the answer to a prompt in the tables before version 0.32, begun at a minute and taking another one."""
    times = {"datetime_utc": f"2026-04-02T08:{number:02}:00.000001", "duration_ms": 60_000}
    row = {"prompt": prompt, "response": response, "conversation_id": "c1", "model": "m-1"}
    return "responses", {"id": f"r{number}", **row, **times, **more}


def llm_message(number: int, role: str, *parts: dict[str, Any]) -> list[Row]:
    """Return a message after the one before it, with its parts, in the tables of version 0.32."""
    parent = f"b2:{number - 1}" if number > 1 else None
    held = [("parts", {"message_hash": f"b2:{number}", "position": at, **part}) for at, part in enumerate(parts)]
    return [("messages", {"hash": f"b2:{number}", "parent_hash": parent, "role": role}), *held]


def llm_turn(minute: int, last_sent: int, last_received: int, **more: Any) -> Row:
    ends = {"parent_message_hash": f"b2:{last_sent}", "tip_message_hash": f"b2:{last_received}"}
    times = {"datetime_utc": f"2026-04-02T08:{minute:02}:00+00:00", "duration_ms": 60_000}
    return "turns", {"id": f"t{minute}", "thread_id": "c1", "model": "m-1", **ends, **times, **more}


_LLM_CALL = {"name": "shell", "arguments": {"command": COMMAND}, "tool_call_id": "a"}
_LLM_FRAGMENT = ("fragments", {"id": 1, "content": "seams = None", "source": "hull.py"})
_LLM = (
    _LLM_FRAGMENT,
    ("conversations", {"id": "c1", "name": "A leaking hull", "model": "m-1"}),
    llm_response(1, ASKED, LOOKING, system="Be short.", input_tokens=50, output_tokens=5),
    ("tool_calls", {"response_id": "r1", "name": "shell", "arguments": _json(_LLM_CALL["arguments"])}),
    llm_response(2, "", ANSWERED, system="Be short.", input_tokens=60, output_tokens=6),
    ("tool_results", {"response_id": "r2", "name": "shell", "output": OUTPUT}),
)
_LLM_NEW: tuple[Row, ...] = (
    _LLM_FRAGMENT,
    ("threads", {"id": "c1", "name": "A leaking hull", "tip_message_hash": "b2:5", "datetime_utc": TIMES[1]}),
    *llm_message(1, "system", {"type": "text", "text": "Be short."}),
    *llm_message(2, "user", {"type": "text", "text": ASKED}),
    *llm_message(
        3,
        "assistant",
        {"type": "reasoning", "text": "Hm."},
        {"type": "text", "text": LOOKING},
        {"type": "tool_call", "tool_name": "shell", "payload": _json(_LLM_CALL)},
    ),
    *llm_message(
        4, "tool", {"type": "tool_result", "tool_name": "shell", "payload": _json({"name": "shell", "output": OUTPUT})}
    ),
    *llm_message(5, "assistant", {"type": "text", "text": ANSWERED}),
    llm_turn(1, 2, 3, input_tokens=50, output_tokens=5),
    llm_turn(2, 4, 5, input_tokens=60, output_tokens=6),
)
_LLM_SPOKEN = """SELECT 'user' FROM responses WHERE prompt <> '' UNION ALL SELECT 'agent' FROM responses
    WHERE response <> ''"""
_LLM_TIMES = """SELECT strftime('%s', datetime_utc) + 0.000001 FROM responses
    UNION SELECT strftime('%s', datetime_utc) + 0.000001 + duration_ms / 1000 FROM responses"""
_LLM_NEW_SPOKEN = """SELECT CASE m.role WHEN 'user' THEN 'user' ELSE 'agent' END FROM messages m
    JOIN parts p ON p.message_hash = m.hash WHERE p.type = 'text' AND m.role <> 'system'"""
_LLM_NEW_TIMES = """SELECT strftime('%s', datetime_utc) + 0 FROM turns
    UNION SELECT strftime('%s', datetime_utc) + duration_ms / 1000 FROM turns"""


# --- ZCode, Shelley, Piebald, Ollama, Omnigent ------------------------------------------------------------------------

ZCODE = """CREATE TABLE session (id TEXT PRIMARY KEY NOT NULL, project_id TEXT, workspace_id TEXT, directory TEXT,
    title TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE model_usage (session_id TEXT NOT NULL, model_id TEXT, input_tokens INTEGER, output_tokens INTEGER,
    reasoning_tokens INTEGER, cache_creation_input_tokens INTEGER, cache_read_input_tokens INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY NOT NULL, session_id TEXT NOT NULL, time_created TEXT, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY NOT NULL, message_id TEXT NOT NULL, session_id TEXT NOT NULL, data TEXT);"""
SHELLEY = """CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY, slug TEXT, created_at DATETIME,
    updated_at DATETIME, cwd TEXT, parent_conversation_id TEXT, model TEXT);
    CREATE TABLE messages (message_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, sequence_id INTEGER NOT NULL,
    type TEXT NOT NULL, llm_data TEXT, user_data TEXT, usage_data TEXT, created_at DATETIME NOT NULL);"""
PIEBALD = """CREATE TABLE projects (id INTEGER PRIMARY KEY, directory TEXT NOT NULL, name TEXT NOT NULL);
    CREATE TABLE chats (id INTEGER PRIMARY KEY, title TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    is_deleted BOOLEAN NOT NULL DEFAULT 0, current_directory TEXT, worktree_path TEXT, branch_name TEXT,
    project_id INTEGER);
    CREATE TABLE messages (id INTEGER PRIMARY KEY, parent_chat_id INTEGER NOT NULL, parent_message_id INTEGER,
    role TEXT NOT NULL, model TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, input_tokens BIGINT,
    output_tokens BIGINT, reasoning_tokens BIGINT, cache_read_tokens BIGINT, cache_write_tokens BIGINT, error TEXT,
    enabled INTEGER NOT NULL DEFAULT 1);
    CREATE TABLE message_parts (id INTEGER PRIMARY KEY, parent_chat_message_id INTEGER NOT NULL,
    part_index INTEGER NOT NULL, part_type TEXT NOT NULL);
    CREATE TABLE message_part_text (message_part_id INTEGER PRIMARY KEY, is_thinking BOOLEAN NOT NULL DEFAULT 0);
    CREATE TABLE message_content_nodes (id INTEGER PRIMARY KEY, parent_text_part_id INTEGER NOT NULL,
    node_index INTEGER NOT NULL, node_type TEXT NOT NULL);
    CREATE TABLE message_node_text (node_id INTEGER PRIMARY KEY, content TEXT NOT NULL);
    CREATE TABLE message_part_tool_call (message_part_id INTEGER PRIMARY KEY, tool_name TEXT NOT NULL,
    tool_input TEXT NOT NULL, tool_result TEXT, tool_error TEXT, sub_agent_chat_id INTEGER);"""
_OMNIGENT_TABLES = """CREATE TABLE conversations (workspace_id BIGINT NOT NULL DEFAULT 0, id {id} NOT NULL,
    created_at INTEGER, updated_at INTEGER, title TEXT, parent_conversation_id {id}, root_conversation_id {id},
    PRIMARY KEY (workspace_id, id));
    CREATE TABLE omnigent_conversation_metadata (workspace_id BIGINT NOT NULL DEFAULT 0, id {id} NOT NULL,
    kind SMALLINT, sub_agent_name TEXT, session_usage BLOB, workspace TEXT, git_branch TEXT,
    PRIMARY KEY (workspace_id, id));
    CREATE TABLE conversation_items (workspace_id BIGINT NOT NULL DEFAULT 0, conversation_id {id} NOT NULL,
    id {id}, position INTEGER NOT NULL, type SMALLINT NOT NULL, data TEXT NOT NULL, search_text TEXT NOT NULL{more});
    CREATE INDEX ix_items ON conversation_items (workspace_id, conversation_id, position);"""
OMNIGENT = _OMNIGENT_TABLES.format(id="VARCHAR(64)", more="")
OMNIGENT_NEWER = _OMNIGENT_TABLES.format(id="BLOB", more=", created_at INTEGER")


def _zcode(minute: int, role: str, *parts: object) -> list[Row]:
    rows: list[Row] = [
        ("part", {"id": f"p{minute}{at}", "message_id": f"m{minute}", "session_id": "z1", "data": _json(part)})
        for at, part in enumerate(parts)
    ]
    message = {"id": f"m{minute}", "session_id": "z1", "time_created": str(MS[minute]), "data": _json({"role": role})}
    return [("message", message), *rows]


_ZCODE_SESSION = {"id": "z1", "workspace_id": "w", "directory": "/boats/old", "title": "A leaking hull"}
_ZCODE_STATE = {"input": {"command": COMMAND}, "output": OUTPUT}
_ZCODE = (
    ("session", {**_ZCODE_SESSION, "time_created": MS[0], "time_updated": MS[5]}),
    ("model_usage", {"session_id": "z1", "model_id": "glm-5", "input_tokens": 10, "output_tokens": 2}),
    *_zcode(1, "user", _text(ASKED)),
    *_zcode(2, "assistant", _text(LOOKING), {"type": "tool", "tool": "bash", "callID": "t", "state": _ZCODE_STATE}),
    *_zcode(3, "assistant", {"type": "reasoning", "text": "Hm."}, _text(ANSWERED)),
)
_ZCODE_BLOCKS = (
    *_ZCODE[:4],
    *_zcode(2, "model", _text(LOOKING), {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": COMMAND}}),
    *_zcode(3, "user", {"type": "tool_result", "tool_use_id": "t", "content": OUTPUT}),
    *_zcode(4, "model", _text(ANSWERED)),
)
_ZCODE_SPOKEN = """SELECT CASE m.data ->> '$.role' WHEN 'user' THEN 'user' ELSE 'agent' END
    FROM message m JOIN part p ON p.message_id = m.id WHERE p.data ->> '$.type' = 'text'"""
_ZCODE_TIMES = "SELECT CAST(time_created AS INTEGER) FROM message UNION SELECT time_created FROM session"


def _shelley(minute: int, kind: str, *blocks: object, **more: Any) -> Row:
    held = _json({"Role": 0, "Content": blocks}) if blocks else None
    row = {"message_id": f"m{minute}", "conversation_id": "s1", "sequence_id": minute, "type": kind, "llm_data": held}
    return "messages", {**row, "created_at": f"2026-04-02 08:{minute:02}:00", **more}


_SHELLEY_CALL = {"Type": 5, "ID": "t", "ToolName": "bash", "ToolInput": {"command": COMMAND}}
_SHELLEY_TIMES = {"created_at": "2026-04-02 08:00:00", "updated_at": "2026-04-02 08:05:00"}
_SHELLEY = (
    ("conversations", {"conversation_id": "s1", "slug": "a-leaking-hull", "cwd": "/boats/old", **_SHELLEY_TIMES}),
    _shelley(1, "user", {"Type": 2, "Text": ASKED}),
    _shelley(2, "agent", {"Type": 3, "Thinking": "Hm."}, {"Type": 2, "Text": LOOKING}, _SHELLEY_CALL),
    _shelley(3, "tool", {"Type": 6, "ToolUseID": "t", "ToolResult": [{"Type": 2, "Text": OUTPUT}]}),
    _shelley(4, "agent", {"Type": 2, "Text": ANSWERED}),
)
_SHELLEY_NEW = (
    *_SHELLEY[:1],
    _shelley(1, "user", user_data=_json({"text": ASKED})),
    *_SHELLEY[2:4],
    _shelley(4, "agent", {"Type": 2, "Text": ANSWERED}, usage_data=_json({"input_tokens": 10, "output_tokens": 2})),
)
_SHELLEY_SPOKEN = """SELECT CASE type WHEN 'user' THEN 'user' ELSE 'agent' END FROM messages
    WHERE type IN ('user', 'agent')"""
_SHELLEY_TIMES_READ = """SELECT strftime('%s', created_at) + 0 FROM messages
    UNION SELECT strftime('%s', created_at) + 0 FROM conversations"""


def _piebald(number: int, above: int | None, role: str, *parts: str | dict[str, Any], **more: Any) -> list[Row]:
    """Return the rows of a message: texts, in pieces where they have a bar, and calls of tools."""
    times = {"created_at": TIMES[number], "updated_at": TIMES[number]}
    keys = {"id": number, "parent_chat_id": 7, "parent_message_id": above}
    rows: list[Row] = [("messages", {**keys, "role": role, "model": "m-1", **times, **more})]
    for at, part in enumerate(parts):
        id_ = 10 * number + at
        sort = "text" if isinstance(part, str) else "tool_call"
        rows.append(
            ("message_parts", {"id": id_, "parent_chat_message_id": number, "part_index": at, "part_type": sort})
        )
        if isinstance(part, dict):
            rows.append(("message_part_tool_call", {"message_part_id": id_, **part}))
            continue
        rows.append(("message_part_text", {"message_part_id": id_, "is_thinking": int(part == "Hm.")}))
        for index, piece in enumerate(part.split("|")):
            node = 10 * id_ + index
            text_part = {"id": node, "parent_text_part_id": id_, "node_index": index, "node_type": "text"}
            rows += ("message_content_nodes", text_part), ("message_node_text", {"node_id": node, "content": piece})
    return rows


_PIEBALD_CHAT = {"id": 7, "title": "A leaking hull", "created_at": TIMES[0], "updated_at": TIMES[5], "project_id": 3}
_PIEBALD_CALL = {"tool_name": "bash", "tool_input": _json({"command": COMMAND}), "tool_result": OUTPUT}
_PIEBALD = (
    ("projects", {"id": 3, "directory": "/boats/old", "name": "old"}),
    ("chats", _PIEBALD_CHAT),
    *_piebald(1, None, "user", "Why does |/boats/hull.py leak?"),
    *_piebald(2, 1, "assistant", "Hm.", LOOKING, _PIEBALD_CALL, input_tokens=10, output_tokens=2),
    *_piebald(3, 2, "assistant", ANSWERED),
)
_PIEBALD_SPOKEN = """SELECT CASE role WHEN 'user' THEN 'user' ELSE 'agent' END FROM messages m
    JOIN message_parts p ON p.parent_chat_message_id = m.id JOIN message_part_text t ON t.message_part_id = p.id
    WHERE NOT t.is_thinking AND m.enabled"""
_PIEBALD_TIMES = "SELECT created_at FROM messages WHERE enabled UNION SELECT created_at FROM chats"

OLLAMA = """CREATE TABLE settings (id INTEGER PRIMARY KEY, schema_version INTEGER NOT NULL DEFAULT 16);
    CREATE TABLE chats (id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '', created_at TIMESTAMP NOT NULL,
    browser_state TEXT); CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, chat_id TEXT NOT NULL,
    role TEXT NOT NULL, content TEXT NOT NULL DEFAULT '', thinking TEXT NOT NULL DEFAULT '', model_name TEXT,
    created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, tool_result TEXT);
    CREATE TABLE tool_calls (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id INTEGER NOT NULL, type TEXT NOT NULL,
    function_name TEXT NOT NULL, function_arguments TEXT NOT NULL, function_result TEXT);
    CREATE TABLE attachments (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id INTEGER NOT NULL,
    filename TEXT NOT NULL, data BLOB NOT NULL);"""
OLLAMA_NEWER = "ALTER TABLE settings ADD COLUMN onboarding_version INTEGER;"


def _ollama(number: int, role: str, text: str, **more: Any) -> Row:
    time = TIMES[number].replace("T", " ").replace("Z", "") + "+00:00"
    times = {"created_at": time, "updated_at": time}
    return "messages", {"id": number, "chat_id": "c1", "role": role, "content": text, **times, **more}


def _ollama_call(message: int, name: str, **given: str) -> Row:
    return "tool_calls", {
        "message_id": message,
        "type": "function",
        "function_name": name,
        "function_arguments": _json(given),
    }


_OLLAMA = (
    ("chats", {"id": "c1", "title": "A leaking hull", "created_at": TIMES[1]}),
    _ollama(1, "user", ASKED),
    _ollama(2, "assistant", LOOKING, thinking="Hm.", model_name="qwen3"),
    _ollama(5, "assistant", ANSWERED, model_name="qwen3"),
)
_OLLAMA_TOOLS = (
    *_OLLAMA,
    ("attachments", {"message_id": 1, "filename": "hull.PNG", "data": b"x"}),
    ("attachments", {"message_id": 1, "filename": "keel.pdf", "data": b"x"}),
    _ollama_call(2, "web_search", query="seams"),
    _ollama_call(2, "web_fetch", url="https://boats.example/"),
    _ollama(3, "tool", OUTPUT),
    _ollama(4, "tool", "Error: not found", tool_result="null"),
)
_OLLAMA_SPOKEN = """SELECT CASE role WHEN 'user' THEN 'user' ELSE 'agent' END FROM messages WHERE role <> 'tool'"""
_OLLAMA_TIMES = "SELECT created_at FROM messages UNION SELECT created_at FROM chats"


def _omnigent(id_: object, *items: tuple[object, object], timed: bool = False) -> list[Row]:
    times = {"created_at": SECONDS[0], "updated_at": SECONDS[5]}
    conversation = {"workspace_id": 0, "id": id_, "title": "A leaking hull", "root_conversation_id": id_, **times}
    about = {"workspace_id": 0, "id": id_, "kind": 1, "workspace": "/boats/old", "git_branch": "main"}
    rows: list[Row] = [("conversations", conversation), ("omnigent_conversation_metadata", about)]
    for position, (kind, data) in enumerate(items, 1):
        keys = {"workspace_id": 0, "conversation_id": id_, "id": f"i{position}", "position": position, "type": kind}
        created = {"created_at": SECONDS[position]} if timed else {}
        rows.append(("conversation_items", {**keys, "data": _json(data), "search_text": "", **created}))
    return rows


def _omnigent_said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "input_text" if role == "user" else "output_text", "text": text}]}


_OMNIGENT_CALL = {"name": "sys_os_shell", "arguments": _json({"command": COMMAND}), "call_id": "t"}
_OMNIGENT = (
    ("message", _omnigent_said("user", ASKED)),
    ("message", _omnigent_said("assistant", LOOKING)),
    ("function_call", _OMNIGENT_CALL),
    ("function_call_output", {"call_id": "t", "output": OUTPUT}),
    ("message", _omnigent_said("assistant", ANSWERED)),
)
_OMNIGENT_NUMBERS = {"message": 1, "function_call": 2, "function_call_output": 3}
_OMNIGENT_SPOKEN = """SELECT CASE data ->> '$.role' WHEN 'user' THEN 'user' ELSE 'agent' END FROM conversation_items
    WHERE data ->> '$.role' NOTNULL"""
_OMNIGENT_TIMES = "SELECT created_at FROM conversations UNION SELECT updated_at FROM conversations"


DATABASES = (
    AgentDatabase(
        "cursor: messages in rows", "User/globalStorage/state.vscdb", CURSOR, _CURSOR, *_cursor_counts(_BUBBLE_ROWS)
    ),
    AgentDatabase(
        "cursor: messages in the chat",
        "User/globalStorage/state.vscdb",
        CURSOR,
        (_cursor("composerData:c1", {**_CHAT, "conversation": _BUBBLES}),),
        *_cursor_counts(_HELD_BUBBLES),
    ),
    AgentDatabase(
        "zed: 0.2",
        "threads/threads.db",
        ZED,
        (_zed(_ZED_OLD),),
        f"SELECT CASE m.value ->> '$.role' WHEN 'user' THEN 'user' ELSE 'agent' END {_ZED_MESSAGES}",
        "SELECT updated_at FROM threads",
    ),
    AgentDatabase(
        "zed: 0.3",
        "threads/threads.db",
        ZED + ZED_NEWER,
        (_zed(_ZED_NEW, folder_paths="/boats/old", created_at=TIMES[0]),),
        f"""SELECT CASE WHEN m.value ->> '$.User' NOTNULL THEN 'user' ELSE 'agent' END {_ZED_MESSAGES}
            WHERE m.type = 'object'""",
        "SELECT updated_at FROM threads UNION SELECT created_at FROM threads",
    ),
    AgentDatabase(
        "goose: 1.10",
        "goose/sessions/sessions.db",
        GOOSE,
        (("sessions", {**_GOOSE_SESSION, "description": "A leaking hull"}), *_GOOSE),
        f"{_ROLES} {_ITEMS}",
        "SELECT created_timestamp FROM messages UNION SELECT strftime('%s', created_at) + 0 FROM sessions",
    ),
    AgentDatabase(
        "goose: with names",
        "goose/sessions/sessions.db",
        GOOSE + GOOSE_NEWER,
        (
            ("sessions", {**_GOOSE_SESSION, "name": "A leaking hull"}),
            *((table, {**row, "message_id": f"m{row['created_timestamp']}"}) for table, row in _GOOSE),
        ),
        f"{_ROLES} {_ITEMS}",
        "SELECT created_timestamp FROM messages UNION SELECT strftime('%s', created_at) + 0 FROM sessions",
    ),
    AgentDatabase(
        "crush: first",
        "boats/.crush/crush.db",
        CRUSH,
        _CRUSH,
        f"{_ROLES} FROM messages, json_each(messages.parts) p WHERE p.value ->> '$.type' = 'text'",
        "SELECT created_at FROM messages UNION SELECT created_at FROM sessions",
    ),
    AgentDatabase(
        "crush: with summaries",
        "boats/.crush/crush.db",
        CRUSH + CRUSH_NEWER,
        (*_CRUSH, _crush(5, "assistant", ("text", {"text": "So far: a leak."}), is_summary_message=1)),
        f"""{_ROLES} FROM messages, json_each(messages.parts) p
            WHERE p.value ->> '$.type' = 'text' AND NOT is_summary_message""",
        "SELECT created_at FROM messages UNION SELECT created_at FROM sessions",
    ),
    AgentDatabase(
        "hermes: first",
        ".hermes/state.db",
        HERMES,
        (("sessions", _HERMES_SESSION), *_HERMES),
        f"{_ROLES} FROM messages WHERE role <> 'tool'",
        "SELECT timestamp FROM messages UNION SELECT started_at FROM sessions",
    ),
    AgentDatabase(
        "hermes: with reasoning",
        ".hermes/state.db",
        HERMES + HERMES_NEWER,
        (
            ("sessions", {**_HERMES_SESSION, "cwd": "/boats/old", "git_branch": "main"}),
            *_HERMES[:3],
            _hermes(4, "assistant", ANSWERED, reasoning_content="A seam, maybe."),
        ),
        f"{_ROLES} FROM messages WHERE role <> 'tool'",
        "SELECT timestamp FROM messages UNION SELECT started_at FROM sessions",
    ),
    AgentDatabase("forge: first", ".forge/.forge.db", FORGE, (forge_row(*_FORGE),), *_FORGE_COUNTS),
    AgentDatabase(
        "forge: with words as typed",
        ".forge/.forge.db",
        FORGE + FORGE_NEWER,
        (forge_row(_FORGE[0], _FORGE_TYPED, *_FORGE[2:], metrics="{}"),),
        *_FORGE_COUNTS,
    ),
    AgentDatabase("opencode: 1", "opencode/opencode.db", OLDER, _OPENCODE, _OLDER_SPOKEN, _OLDER_TIMES),
    AgentDatabase("opencode: 2", "opencode/opencode.db", OLDER + NEWER, _OPENCODE_NEW, _NEWER_SPOKEN, _NEWER_TIMES),
    AgentDatabase("kilo: 1", "kilo/kilo.db", OLDER, _OPENCODE, _OLDER_SPOKEN, _OLDER_TIMES),
    *(
        AgentDatabase(f"{agent}: {version}", f"{agent}/{agent}.db", schema, rows, spoken, times)
        for agent in ("mimocode", "icodemate")
        for version, schema, rows, spoken, times in (
            ("1", OLDER, _OPENCODE, _OLDER_SPOKEN, _OLDER_TIMES),
            ("2", OLDER + ENTRIES, _KILO_NEW, _NEWER_SPOKEN, _NEWER_TIMES.replace("_v2", "")),
        )
    ),
    AgentDatabase(
        "kilo: 2", "kilo/kilo.db", OLDER + ENTRIES, _KILO_NEW, _NEWER_SPOKEN, _NEWER_TIMES.replace("_v2", "")
    ),
    AgentDatabase(
        "kiro: a session per folder",
        "amazon-q/data.sqlite3",
        KIRO,
        (("conversations", {"key": "/boats/old", "value": _TALK}),),
        *_kiro_counts("conversations"),
    ),
    AgentDatabase(
        "kiro: several sessions",
        "kiro-cli/data.sqlite3",
        KIRO + KIRO_NEWER,
        (("conversations_v2", _KIRO_ROW),),
        _kiro_counts("conversations_v2")[0],
        _KIRO_TIMES,
    ),
    AgentDatabase("open-webui: 0.5", "open-webui/webui.db", WEBUI, (_webui(*_WEBUI),), _WEBUI_SPOKEN, _WEBUI_TIMES),
    AgentDatabase(
        "open-webui: with thoughts and a shared copy",
        "open-webui/webui.db",
        WEBUI,
        (_webui(*_WEBUI_NEW), _webui(*_WEBUI_NEW, id="s1", user_id="shared-w1")),
        _WEBUI_SPOKEN,
        _WEBUI_TIMES,
    ),
    AgentDatabase("devin: texts", "devin/cli/sessions.db", DEVIN, _DEVIN, _DEVIN_SPOKEN, _DEVIN_TIMES),
    AgentDatabase("devin: blocks", "devin/cli/sessions.db", DEVIN, _DEVIN_BLOCKS, _DEVIN_SPOKEN, _DEVIN_TIMES),
    AgentDatabase(
        "openclaw: database",
        "agents/main/agent/openclaw-agent.sqlite",
        OPENCLAW,
        _OPENCLAW,
        _OPENCLAW_SPOKEN,
        _OPENCLAW_TIMES,
    ),
    AgentDatabase(
        "openclaw: database with archives",
        "agents/main/agent/openclaw-agent.sqlite",
        OPENCLAW + OPENCLAW_NEWER,
        _OPENCLAW_NEW,
        _OPENCLAW_SPOKEN,
        _OPENCLAW_TIMES,
    ),
    AgentDatabase("warp: 2025", "warp-terminal/warp.sqlite", WARP, warp_rows(*_WARP), _WARP_SPOKEN, _WARP_TIMES),
    AgentDatabase(
        "warp: 2026",
        "warp-terminal/warp.sqlite",
        WARP + WARP_NEWER,
        (
            *warp_rows(*_WARP, warp_message(4, 25, field(1, "m-1")), summary="{}"),
            ("ai_queries", {**_WARP_ASKED, "working_directory": "/boats/old"}),
        ),
        _WARP_SPOKEN,
        f"{_WARP_TIMES} UNION SELECT strftime('%s', start_ts) + 0 FROM ai_queries",
    ),
    AgentDatabase("llm: responses", "io.datasette.llm/logs.db", LLM, _LLM, _LLM_SPOKEN, _LLM_TIMES),
    AgentDatabase("llm: 0.32", "io.datasette.llm/logs.db", LLM + LLM_NEWER, _LLM_NEW, _LLM_NEW_SPOKEN, _LLM_NEW_TIMES),
    AgentDatabase("zcode: parts", ".zcode/cli/db/db.sqlite", ZCODE, _ZCODE, _ZCODE_SPOKEN, _ZCODE_TIMES),
    AgentDatabase("zcode: blocks", ".zcode/cli/db/db.sqlite", ZCODE, _ZCODE_BLOCKS, _ZCODE_SPOKEN, _ZCODE_TIMES),
    AgentDatabase("shelley: first", "shelley/shelley.db", SHELLEY, _SHELLEY, _SHELLEY_SPOKEN, _SHELLEY_TIMES_READ),
    AgentDatabase("shelley: typed", "shelley/shelley.db", SHELLEY, _SHELLEY_NEW, _SHELLEY_SPOKEN, _SHELLEY_TIMES_READ),
    AgentDatabase("piebald: one branch", "piebald/app.db", PIEBALD, _PIEBALD, _PIEBALD_SPOKEN, _PIEBALD_TIMES),
    AgentDatabase(
        "piebald: two branches",
        "piebald/app.db",
        PIEBALD,
        (*_PIEBALD, *_piebald(4, 1, "assistant", "All is well.", enabled=0)),
        _PIEBALD_SPOKEN,
        _PIEBALD_TIMES,
    ),
    AgentDatabase("copilot-cli: turns", "session-store.db", COPILOT, _COPILOT, _COPILOT_SPOKEN, _COPILOT_TIMES),
    AgentDatabase(
        "copilot-cli: files",
        "session-store.db",
        COPILOT + COPILOT_NEWER,
        (*_COPILOT, _COPILOT_FILES),
        _COPILOT_SPOKEN,
        _COPILOT_TIMES,
    ),
    AgentDatabase(
        "octofriend: first", "octofriend/sqlite.db", OCTO, _octo(newer=False), _OCTO_SPOKEN, "SELECT 1 WHERE 0"
    ),
    AgentDatabase(
        "octofriend: with times",
        "octofriend/sqlite.db",
        OCTO + OCTO_NEWER,
        _octo(newer=True),
        _OCTO_SPOKEN,
        "SELECT created_at FROM tree_nodes",
    ),
    AgentDatabase(
        "unsloth-studio: first", "studio/studio.db", UNSLOTH, _unsloth(newer=False), _UNSLOTH_SPOKEN, _UNSLOTH_TIMES
    ),
    AgentDatabase(
        "unsloth-studio: as a tree",
        "studio/studio.db",
        UNSLOTH + UNSLOTH_NEWER,
        _unsloth(newer=True),
        _UNSLOTH_SPOKEN,
        _UNSLOTH_TIMES,
    ),
    *(
        AgentDatabase(
            f"cherry-studio: {version}",
            "CherryStudio/Data/cherrystudio.sqlite",
            CHERRY + more,
            _cherry(newer=bool(more)),
            _CHERRY_SPOKEN,
            _CHERRY_TIMES,
        )
        for version, more in (("blocks", ""), ("parts", CHERRY_NEWER))
    ),
    AgentDatabase("ollama: first", "Ollama/db.sqlite", OLLAMA, _OLLAMA, _OLLAMA_SPOKEN, _OLLAMA_TIMES),
    AgentDatabase(
        "ollama: with tools",
        "Ollama/db.sqlite",
        OLLAMA + OLLAMA_NEWER,
        _OLLAMA_TOOLS,
        _OLLAMA_SPOKEN,
        _OLLAMA_TIMES,
    ),
    AgentDatabase(
        "omnigent: names",
        ".omnigent/chat.db",
        OMNIGENT,
        (*_omnigent("o1", *_OMNIGENT),),
        _OMNIGENT_SPOKEN,
        _OMNIGENT_TIMES,
    ),
    AgentDatabase(
        "omnigent: numbers",
        ".omnigent/chat.db",
        OMNIGENT_NEWER,
        (*_omnigent("o1", *((_OMNIGENT_NUMBERS[kind], data) for kind, data in _OMNIGENT), timed=True),),
        _OMNIGENT_SPOKEN,
        f"{_OMNIGENT_TIMES} UNION SELECT created_at FROM conversation_items",
    ),
)


# --- Cursor's command line: a database for each chat -----------------------------------------------------------------

CURSOR_STORE = (
    "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);"
)
_STAMP = "<timestamp>Thursday, Apr 2, 2026, 8:05 AM (UTC)</timestamp>\n"
_SHELL = {"toolCallId": "t", "toolName": "Shell"}


def cursor_store(messages: Iterable[object], *, end: bytes = b"", **about: object) -> tuple[Row, ...]:
    """Return the rows of a chat. `end`: data at the end of its root."""
    blobs = {sha256(data).hexdigest(): data for data in (json.dumps(message).encode() for message in messages)}
    root = b"".join(b"\x0a\x20" + bytes.fromhex(name) for name in blobs) + end
    stated = {"agentId": "chat-1", "createdAt": MS[0], "latestRootBlobId": sha256(root).hexdigest(), **about}
    blobs[sha256(root).hexdigest()] = root
    rows = [("blobs", {"id": name, "data": data}) for name, data in blobs.items()]
    return (*rows, ("meta", {"key": "0", "value": _json(stated).encode().hex()}))


_STORE_SPOKEN = """SELECT CASE CAST(data AS TEXT) ->> '$.role' WHEN 'user' THEN 'user' ELSE 'agent' END FROM blobs
    WHERE json_valid(CAST(data AS TEXT)) AND CAST(data AS TEXT) ->> '$.role' IN ('user', 'assistant')"""
SINGLE = (
    AgentDatabase(
        "cursor-cli: a chat",
        "chats/0a1b/chat-1/store.db",
        CURSOR_STORE,
        cursor_store(
            [
                {"role": "system", "content": "You are an agent."},
                {"role": "user", "content": [_text(f"{_STAMP}<user_query>{ASKED}</user_query>")]},
                {
                    "role": "assistant",
                    "content": [_text(LOOKING), {"type": "tool-call", **_SHELL, "args": {"command": COMMAND}}],
                },
                {"role": "tool", "content": [{"type": "tool-result", **_SHELL, "result": OUTPUT}]},
                {"role": "assistant", "content": ANSWERED},
            ],
            name="A leaking hull",
        ),
        _STORE_SPOKEN,
        f"SELECT {MS[0]} UNION SELECT {MS[5]}",
    ),
    AgentDatabase(
        "cursor-cli: a chat with thoughts",
        "chats/0a1b/chat-1/store.db",
        CURSOR_STORE,
        cursor_store(
            [
                {"role": "user", "content": f"{_STAMP}<user_query>{ASKED}</user_query>"},
                {"role": "assistant", "content": [{"type": "reasoning", "text": "Hm."}, _text(ANSWERED)]},
            ],
            lastUsedModel="m-1",
        ),
        _STORE_SPOKEN,
        f"SELECT {MS[0]} UNION SELECT {MS[5]}",
    ),
)
"""Those that hold one session each."""
