"""Counts the databases of all agents that have one, as `test_independent_count` does, with SQL."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from engine.corpus.transcripts.transcript_reader import database_format, opened
from tests.helpers.agent_databases import DATABASES, SINGLE, AgentDatabase
from tests.helpers.session_counts import Count, count, counted


def _count(path: Path, database: AgentDatabase) -> Count:
    with closing(sqlite3.connect(path)) as connection:
        spoken, times = ([value for (value,) in connection.execute(sql)] for sql in (database.spoken, database.times))
    return count(spoken, times)


@pytest.mark.parametrize("database", [*DATABASES, *SINGLE], ids=lambda database: database.name)
def test_parser_agrees_with_an_independent_count(tmp_path: Path, database: AgentDatabase) -> None:
    path = database.write(tmp_path)
    with opened(path) as (source, _):
        known = database_format(source, str(path))
    assert known is not None
    with known.opened(str(path)) as sessions:
        (key,) = sessions.keys()
        found = sessions.conversation(key)
    assert found is not None
    assert found.metadata.agent == database.name.partition(":")[0]
    assert counted(found) == _count(path, database)
    assert not found.unknown


def _scanned(path: Path, *, others: int) -> int:
    """Return how many rows are passed in searches of whole tables when a session that was read is read again."""
    scanned = 0

    def note(event: dict[str, Any]) -> None:
        nonlocal scanned
        scanned += event["stmt_status"]["SQLITE_STMTSTATUS_FULLSCAN_STEP"]

    def trace(connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)

    apsw.connection_hooks.append(trace)
    try:
        with opened(path) as (source, _):
            known = database_format(source, str(path))
        assert known is not None
        with known.opened(str(path)) as sessions:
            keys = sessions.keys()
            assert len(keys) == others + 1
            key = min(keys, key=len)
            before = sessions.conversation(key)
            scanned = 0
            assert sessions.conversation(key) == before
    finally:
        apsw.connection_hooks.remove(trace)
    return scanned


@pytest.mark.parametrize("database", DATABASES, ids=[database.name for database in DATABASES])
def test_other_sessions_are_not_searched(tmp_path: Path, database: AgentDatabase) -> None:
    alone = _scanned(database.write(tmp_path / "alone"), others=0)
    many = database.write(tmp_path / "many", database.with_others(20))
    assert _scanned(many, others=20) == alone
