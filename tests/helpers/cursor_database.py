"""Cursor's database, with hand-written rows."""

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path


class CursorWriter:
    """Writes a database as Cursor does; closing it merges the WAL into the database."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        for table in ("ItemTable", "cursorDiskKV"):
            self.connection.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")

    def close(self) -> None:
        self.connection.close()

    def put(self, key: str, value: object) -> None:
        """Write the JSON of a value, or a text or bytes unchanged."""
        text = value if isinstance(value, str | bytes) or value is None else json.dumps(value)
        self.connection.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, text))

    def chat(self, id: str, bubbles: Iterable[tuple[str, object]], **metadata: object) -> None:
        """Write a chat and its messages, each with its id."""
        headers = []
        for name, bubble in bubbles:
            headers.append({"bubbleId": name, "type": 1})
            self.put(f"bubbleId:{id}:{name}", bubble)
        self.put(f"composerData:{id}", {"composerId": id, "fullConversationHeadersOnly": headers, **metadata})
