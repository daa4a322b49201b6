"""Databases that agents keep their sessions in, with hand-written rows."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.corpus.transcripts.formats import Conversation, DatabaseFormat
from engine.corpus.transcripts.messages import Message

ZED = """CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL,
    data_type TEXT NOT NULL, data BLOB NOT NULL);"""
ZED_NEWER = """ALTER TABLE threads ADD COLUMN parent_id TEXT; ALTER TABLE threads ADD COLUMN folder_paths TEXT;
    ALTER TABLE threads ADD COLUMN folder_paths_order TEXT; ALTER TABLE threads ADD COLUMN created_at TEXT;"""
CRUSH = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL
    DEFAULT 0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL
    DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER);
CREATE INDEX idx_messages_session_id ON messages (session_id);"""
CRUSH_NEWER = "ALTER TABLE messages ADD COLUMN is_summary_message INTEGER DEFAULT 0 NOT NULL;"
GOOSE = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL);
CREATE INDEX idx_messages_session ON messages (session_id);"""
GOOSE_NEWER = """ALTER TABLE messages ADD COLUMN metadata_json TEXT; ALTER TABLE messages ADD COLUMN message_id TEXT;
    ALTER TABLE sessions ADD COLUMN name TEXT DEFAULT '';
    ALTER TABLE sessions ADD COLUMN session_type TEXT NOT NULL DEFAULT 'user';"""

HERMES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, parent_session_id TEXT,
    started_at REAL NOT NULL, ended_at REAL, message_count INTEGER DEFAULT 0, title TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, timestamp REAL NOT NULL);
CREATE INDEX idx_messages_session ON messages (session_id, timestamp);"""
FORGE = """CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY NOT NULL, title TEXT,
    workspace_id BIGINT NOT NULL, context TEXT, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP);"""
FORGE_NEWER = "ALTER TABLE conversations ADD COLUMN metrics TEXT;"
HERMES_ENDS = """ALTER TABLE sessions ADD COLUMN end_reason TEXT;
    ALTER TABLE sessions ADD COLUMN model_config TEXT;"""
HERMES_NEWER = """ALTER TABLE sessions ADD COLUMN cwd TEXT; ALTER TABLE sessions ADD COLUMN git_branch TEXT;
    ALTER TABLE messages ADD COLUMN tool_name TEXT; ALTER TABLE messages ADD COLUMN reasoning TEXT;
    ALTER TABLE messages ADD COLUMN reasoning_content TEXT;
    ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;"""
OPENCLAW = """
CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL,
    entry_json TEXT NOT NULL, updated_at INTEGER NOT NULL, spawned_by TEXT, label TEXT) STRICT;
CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, spawned_by TEXT) STRICT;
CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT,
    created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq)) STRICT;
CREATE INDEX idx_agent_session_nodes_current_session_id ON session_nodes (current_session_id);
CREATE INDEX idx_agent_session_windows_session_key ON session_windows (session_key, updated_at DESC, session_id);"""
OPENCLAW_NEWER = """ALTER TABLE transcript_events ADD COLUMN event_zstd BLOB;
    ALTER TABLE transcript_events ADD COLUMN event_utf8_bytes INTEGER;
    CREATE TABLE session_transcript_archives (session_id TEXT NOT NULL, generation TEXT NOT NULL,
    session_key TEXT NOT NULL, reason TEXT NOT NULL, encoding TEXT NOT NULL, archive_blob BLOB NOT NULL,
    archive_name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, generation)) STRICT;
    CREATE TABLE session_transcript_cold_archives (session_id TEXT NOT NULL PRIMARY KEY, archive_name TEXT NOT NULL,
    archived_at INTEGER NOT NULL, storage TEXT NOT NULL, archive_blob BLOB) STRICT;"""


def write_rows(path: Path, schema: str, rows: Iterable[tuple[str, dict[str, Any]]] = ()) -> None:
    """Make a database with these rows, each with its table; without a schema, add them to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.executescript(schema)
        for table, values in rows:
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))
    finally:
        connection.close()


def read_rows(format: DatabaseFormat, path: Path, key: str) -> Conversation | None:
    with format.opened(str(path)) as sessions:
        return sessions.conversation(key)


def marks_of(format: DatabaseFormat, path: Path) -> dict[str, str]:
    with format.opened(str(path)) as sessions:
        assert sessions.keys() == set(sessions.marks())
        return dict(sessions.marks())


def check_read(conversation: Conversation | None) -> None:
    """Check that the result of reading any values can be stored."""
    assert conversation is not None
    metadata = conversation.metadata
    for text in (metadata.id, metadata.title, metadata.project, metadata.parent, *conversation.unknown):
        text.encode()
    numbers = [message.ordinal for message in conversation.messages]
    assert sorted(set(numbers)) == list(range(1, len(set(numbers)) + 1))
    for message in conversation.messages:
        message.text.encode()
        message.tool.encode()
        message.id.encode()
        assert message.line == message.ordinal


def parts_of(messages: Iterable[Message]) -> list[tuple[int, str, str, str, str]]:
    return [(message.ordinal, message.role, message.kind, message.text, message.tool) for message in messages]
