"""Databases in both of opencode's schema generations, with hand-written rows."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MS = 1_765_000_000_000

OLDER = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text NOT NULL, version text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_idx ON message (session_id);
CREATE INDEX part_message_idx ON part (message_id);
CREATE INDEX part_session_idx ON part (session_id);
"""
ENTRIES = """
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE UNIQUE INDEX session_message_session_seq_idx ON session_message (session_id, seq);
"""
NEWER = f"""
CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text, version text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL);
{ENTRIES}"""


class OpencodeWriter:
    """Writes a database as opencode does; closing it merges the WAL into the database."""

    def __init__(self, path: Path, schema: str = OLDER) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.executescript(schema)
        self._now = MS

    def close(self) -> None:
        self.connection.close()

    def checkpoint(self) -> None:
        """Merge the WAL into the database and restart it."""
        self.connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()

    def session(
        self, key: str, title: str | None = "", *, parent: str | None = None, directory: str = "/home/ada/boats"
    ) -> None:
        self._session("session", key, title, parent, directory)

    def session_v2(
        self, key: str, title: str | None = None, *, parent: str | None = None, directory: str = "/home/ada/boats"
    ) -> None:
        self._session("session_v2", key, title, parent, directory)

    def message(
        self, session: str, key: str, data: object, parts: Mapping[str, object] | Sequence[object] = ()
    ) -> None:
        """Add a message and its parts; their ids sort in the order of creation."""
        now = self._tick()
        self._put("message", (key, session, now, now, _text(data)))
        named = parts if isinstance(parts, Mapping) else {f"{key}-{n:03}": part for n, part in enumerate(parts)}
        for name, part in named.items():
            self._put("part", (name, key, session, now, now, _text(part)))

    def said(self, session: str, key: str, role: str, text: str) -> None:
        """Add a message of the first generation with a text."""
        self.message(session, key, {"role": role}, [{"type": "text", "text": text}])

    def entry(self, session: str, key: str, kind: str, data: object) -> None:
        """Add an entry of the second generation."""
        now = self._tick()
        seq = self.connection.execute("SELECT count(*) FROM session_message").fetchone()[0]
        self._put("session_message", (key, session, kind, seq, now, now, _text(data)))

    def _session(self, table: str, key: str, title: str | None, parent: str | None, directory: str) -> None:
        now = self._tick()
        self._put(table, (key, "p", parent, "slug", directory, title, "1.2.0", now, now))

    def _put(self, table: str, row: tuple[Any, ...]) -> None:
        self.connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)

    def _tick(self) -> int:
        self._now += 1000
        return self._now


def _text(data: object) -> object:
    return data if isinstance(data, str | bytes) else json.dumps(data)
