"""Sessions are read again when the parser of their agent has changed."""

import shutil
from pathlib import Path

import pytest

from engine.corpus.transcripts import formats
from engine.corpus.transcripts.messages import clean
from engine.settings.options import SessionSettings
from tests.helpers.invented_agent import declare, write_task
from tests.helpers.opencode_database import OLDER, OpencodeWriter

FIXTURES = Path(__file__).parents[1] / "corpus" / "transcripts" / "fixtures"


def write_sessions(folder: Path) -> Path:
    """Write a session of each kind: lines, a document, a database."""
    store = folder / "past"
    store.mkdir()
    shutil.copy(next((FIXTURES / "codex").glob("*.jsonl")), store / "a.jsonl")
    shutil.copy(next((FIXTURES / "amp").glob("T-*.json")), store)
    writer = OpencodeWriter(store / "opencode.db", OLDER)
    writer.session("ses_1", "Repairing the boat")
    writer.said("ses_1", "msg_1", "user", "Why does the hull leak?")
    writer.said("ses_1", "msg_2", "assistant", "The varnish has cracked at the keel.")
    writer.close()
    return store


@pytest.mark.parametrize("agent", ["codex", "amp", "opencode"])
def test_changed_parser_reads_its_sessions_again(
    open_memory, provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    memory = open_memory(sessions=SessionSettings(folders=(str(write_sessions(tmp_path)),)))
    report = memory.sync()
    assert (report.failed, report.skipped) == ((), ())
    assert memory.sync().files_indexed == 0
    (before,) = [one for one in memory.sessions() if one.agent == agent]
    embedded = len(provider.embedded)

    with monkeypatch.context() as correction:  # it adds a word to each message
        declare(correction, newer=agent)
        correction.setattr(formats, "clean", lambda text: f"{clean(text)} Zanzibar" if text else "")
        report = memory.sync()
        assert (report.files_indexed, report.failed, report.skipped) == (1, (), ())
        assert {one.path for one in memory.search("zanzibar").results} == {before.path}
        assert len(provider.embedded) > embedded
        assert memory.sync().files_indexed == 0

    # Back to the former text, whose vectors are stored.
    embedded = len(provider.embedded)
    assert memory.sync().files_indexed == 1
    assert memory.search("zanzibar", min_score=0.9).results == ()
    assert len(provider.embedded) == embedded


def test_new_agent_reads_files_of_unknown_format(open_memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = write_task(tmp_path)
    (tasks / "t-1" / "task.md").rename(tasks / "task.jsonl")
    (tasks / "t-1" / "title.json").rename(tasks / "title.json")
    memory = open_memory(sessions=SessionSettings(folders=(str(tasks),)))
    memory.sync()
    assert memory.sessions() == ()
    declare(monkeypatch)
    memory.sync()
    assert [one.agent for one in memory.sessions()] == ["quill"]
