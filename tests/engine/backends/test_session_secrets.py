"""A token planted in the texts of all sample transcripts appears in nothing that is stored, shown or exported."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.agent.session_export import export_session, session_context
from engine.backends.builtin import BuiltinMemory
from engine.insight.session_stats import load_prices, session_stats
from engine.records import StatsKey, to_json
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from tests.helpers.agent_databases import DATABASES, field, warp_message

SAMPLES = Path(__file__).parents[1] / "corpus/transcripts/fixtures"
TOKEN = "ghp_" + "a1B2c3D4" * 5
_TEXT = re.compile(r"[\s/]")
"""In texts, paths and commands, not in types and ids, by which a transcript is recognised."""


def planted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: planted(held) for key, held in value.items()}
    if isinstance(value, list):
        return [planted(held) for held in value]
    if isinstance(value, bytes):  # Protobuf, to which fields may be added
        call = field(1, "c") + field(2, field(1, f"echo {TOKEN}"))
        return value + warp_message(5, 3, field(1, f"Here: {TOKEN}")) + warp_message(6, 4, call)
    if not isinstance(value, str) or not _TEXT.search(value):
        return value
    try:
        inner = json.loads(value)
    except ValueError:
        return f"{value} {TOKEN}"
    return json.dumps(planted(inner)) if isinstance(inner, dict | list) else value


def plant(text: str) -> str:
    """Return the text of a file with the token planted in it."""
    try:
        return json.dumps(planted(json.loads(text)))
    except ValueError:
        return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    try:
        return json.dumps(planted(json.loads(line)), separators=(",", ":"))
    except ValueError:
        # A history of Aider, but not the line that begins a session.
        return f"{line} {TOKEN}" if line[:1] not in ("", "#", "{") or line.startswith("#### ") else line


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuiltinMemory]:
    home = tmp_path_factory.mktemp("planted")
    for path in SAMPLES.rglob("*"):
        if path.suffix in (".json", ".jsonl", ".md"):
            copy = home / "samples" / path.relative_to(SAMPLES)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(plant(path.read_text()))
    for number, database in enumerate(DATABASES):
        rows = [(table, {name: planted(value) for name, value in row.items()}) for table, row in database.rows]
        database.write(home / "samples" / f"database-{number}", rows)
    (home / "notes").mkdir()
    folders = tuple(str(folder) for folder in (home / "samples").iterdir())
    settings = Settings(
        provider="none", sessions=SessionSettings(folders=folders), store=StoreSettings(path=str(home / "data"))
    )
    opened = BuiltinMemory(home / "notes", settings, executor=None, background=False)
    opened.sync()
    yield opened
    opened.close()


def _encoded(value: object) -> str:
    return to_json(value)


def test_planted_token_is_in_sessions_of_most_agents(memory: BuiltinMemory) -> None:
    sessions = memory.sessions()
    with_database = {database.name.partition(":")[0] for database in DATABASES}
    assert len({session.agent for session in sessions} - with_database) >= 12
    revealed = [memory.read_session(session.path, reveal=True) for session in sessions]
    reached = {read.summary.agent for read in revealed if TOKEN in _encoded(read.messages) and read.masked}
    assert len(reached - with_database) >= 12
    assert reached >= with_database
    in_databases = [session for session in sessions if "database-" in session.path]
    assert len(in_databases) == len(DATABASES)


def test_lists_of_sessions_and_values_contain_no_token(memory: BuiltinMemory) -> None:
    sessions = memory.sessions()
    assert TOKEN not in _encoded(sessions)
    assert TOKEN not in _encoded([memory.insight.session_files(session.path) for session in sessions])
    assert TOKEN not in _encoded(memory.insight.recent_edits(1000))
    keys: tuple[StatsKey, ...] = ("agent", "project", "machine", "model", "day")
    for by in keys:
        assert TOKEN not in _encoded(session_stats(sessions, load_prices(), by))
    for operator in ("file", "command", "project"):
        assert TOKEN not in _encoded(memory.query_values(operator, ""))
    assert TOKEN not in _encoded(memory.status())


def test_session_texts_and_exports_contain_no_token(memory: BuiltinMemory) -> None:
    for session in memory.sessions():
        read = memory.read_session(session.path)
        assert TOKEN not in _encoded(read), session.path
        assert TOKEN not in export_session(read, "html") + export_session(read, "markdown"), session.path
        assert TOKEN not in session_context(read, 20_000), session.path
        assert TOKEN not in memory.read_file(session.path).text, session.path


def test_results_and_index_files_contain_no_token(memory: BuiltinMemory) -> None:
    for query in ("file:*", "file:boats/", "command:a", "command:ghp", "the boat", "agent:codex", TOKEN):
        assert TOKEN not in _encoded(memory.search(query, max_results=50).results), query
    with memory.store.read() as snapshot:
        database = Path(snapshot.connection.filename)
    for file in database.parent.rglob("index.sqlite*"):
        assert TOKEN.encode() not in file.read_bytes(), file.name
