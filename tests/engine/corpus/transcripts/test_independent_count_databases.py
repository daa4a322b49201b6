"""Counts the databases of all agents that have one, as `test_independent_count` does, with SQL."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.corpus.transcripts.transcript_reader import database_format, opened
from tests.helpers.agent_databases import DATABASES, AgentDatabase
from tests.helpers.session_counts import Count, count, counted


def _count(path: Path, database: AgentDatabase) -> Count:
    with closing(sqlite3.connect(path)) as connection:
        spoken, times = ([value for (value,) in connection.execute(sql)] for sql in (database.spoken, database.times))
    return count(spoken, times)


@pytest.mark.parametrize("database", DATABASES, ids=[database.name for database in DATABASES])
def test_parser_agrees_with_an_independent_count(tmp_path: Path, database: AgentDatabase) -> None:
    path = database.write(tmp_path)
    with opened(path) as (source, _):
        known = database_format(source, str(path))
    assert known is not None
    with known.opened(str(path)) as sessions:
        (key,) = sessions.keys()
        found = sessions.conversation(key)
    assert found is not None
    assert found.facts.agent == database.name.partition(":")[0]
    assert counted(found) == _count(path, database)
    assert not found.unknown
