"""Damaged transcripts of every agent are read, or refused, without a crash; the benchmark of that name reads more."""

import gc
import json
from pathlib import Path

import pytest

from engine.corpus.transcripts.transcript_reader import conversations
from tests.helpers.agent_databases import DATABASES, SINGLE, AgentDatabase
from tests.helpers.mutated_transcripts import Sample, read_damaged, read_damaged_database, samples

INPUTS = 20


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.main)
def test_damaged_files_are_read_or_refused(sample: Sample, tmp_path: Path) -> None:
    outcome = read_damaged(sample, INPUTS, tmp_path / "files", seed=2)
    assert outcome.crashes == ()
    assert outcome.messages > 0


@pytest.mark.parametrize("database", [*DATABASES, *SINGLE], ids=lambda database: database.name)
def test_damaged_databases_are_read_or_refused(database: AgentDatabase, tmp_path: Path) -> None:
    outcome = read_damaged_database(database, INPUTS, tmp_path, seed=2)
    assert outcome.crashes == ()
    assert outcome.messages > 0


@pytest.mark.parametrize("automatic", [True, False])
def test_reading_leaves_collection_as_it_was(automatic: bool, tmp_path: Path) -> None:
    """The window's tests disable it for their process, which other tests may share."""
    before = gc.isenabled()
    try:
        (gc.enable if automatic else gc.disable)()
        read_damaged(samples()[0], 1, tmp_path / "files")
        assert gc.isenabled() == automatic
    finally:
        (gc.enable if before else gc.disable)()


def test_message_with_unusable_id_is_skipped(tmp_path: Path) -> None:
    cursor = next(one for one in DATABASES if one.name == "cursor: messages in rows")
    rows = [(table, dict(values)) for table, values in cursor.rows]
    chat = json.loads(rows[0][1]["value"])
    chat["fullConversationHeadersOnly"].append({"bubbleId": "\ud800"})
    rows[0][1]["value"] = json.dumps(chat)
    (session,) = conversations(cursor.write(tmp_path, rows))
    assert sum(message.is_speech for message in session.messages) == 3
    assert session.unknown == {"missing message": 1}


def test_message_listed_many_times_is_read_once(tmp_path: Path) -> None:
    cursor = next(one for one in DATABASES if one.name == "cursor: messages in rows")
    rows = [(table, dict(values)) for table, values in cursor.rows]
    chat = json.loads(rows[0][1]["value"])
    chat["fullConversationHeadersOnly"] *= 100
    rows[0][1]["value"] = json.dumps(chat)
    (session,) = conversations(cursor.write(tmp_path, rows))
    assert sum(message.is_speech for message in session.messages) == 3
