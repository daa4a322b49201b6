"""Tokens and cost of sessions in the index: stored by a sync, with growing, changed and removed transcripts."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.corpus.transcripts import usage as usage_module
from engine.records import ModelUsage
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from tests.helpers.fake_provider import FakeProvider, selection_of

NAME = "sessions/store/a.jsonl"


def line(id: str, output: int) -> str:
    """One block of an answer in a transcript of Claude Code."""
    counts = {"input_tokens": 3, "output_tokens": output, "cache_creation_input_tokens": 50}
    message = {"id": id, "model": "claude-opus-4-5", "content": f"Answer {id} {output}.", "usage": counts}
    value: dict[str, Any] = {"type": "assistant", "uuid": f"{id}-{output}", "sessionId": "s", "message": message}
    return json.dumps(value) + "\n"


def sums(input: int, output: int, written: int) -> tuple[ModelUsage, ...]:
    one = ModelUsage(model="claude-opus-4-5", input_tokens=input, output_tokens=output, cache_write_tokens=written)
    return (one,)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


@pytest.fixture
def memory(tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    return _open(tmp_path, store, FakeProvider(), monkeypatch)


def _open(tmp_path: Path, store: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> BuiltinMemory:
    monkeypatch.setattr("engine.backends.builtin.select_provider", lambda *_, **__: selection_of(provider))
    notes = tmp_path / "notes"
    notes.mkdir(exist_ok=True)
    settings = Settings(
        sessions=SessionSettings(folders=(str(store),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    return BuiltinMemory(notes, settings, executor=None, background=False)


def test_usage_follows_a_growing_transcript(memory: BuiltinMemory, store: Path) -> None:
    path = store / "a.jsonl"
    try:
        path.write_text(line("m1", 1) + line("m1", 20))
        assert memory.sync().error == ""
        assert memory.sessions()[0].usage == sums(3, 20, 50)
        with path.open("a") as file:
            file.write(line("m1", 30) + line("m2", 7))
        memory.sync()
        assert memory.sessions()[0].usage == sums(6, 37, 100)
        with path.open("a") as file:
            file.write(line("m3", 5).rstrip("\n"))  # a last line that is still being written
        memory.sync()
        assert memory.sessions()[0].usage == sums(9, 42, 150)
        with path.open("a") as file:
            file.write("\n" + line("m4", 1))
        memory.sync()
        assert memory.sessions()[0].usage == sums(12, 43, 200)
        read = memory.read_session(NAME).summary
        assert read.usage == sums(12, 43, 200)
        assert read.spent is not None
        assert read.spent.cost == pytest.approx((12 * 5 + 43 * 25 + 200 * 6.25) / 1e6)
        path.write_text(line("n", 2))
        memory.sync()
        assert memory.sessions()[0].usage == sums(3, 2, 50)
        path.unlink()
        memory.sync()
        with memory.store.read() as snapshot:
            table = snapshot.tables.session_usage
            assert snapshot.connection.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]
    finally:
        memory.close()


def test_session_without_recorded_usage_has_none(memory: BuiltinMemory, store: Path) -> None:
    spoken = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "Hello there"}}
    (store / "a.jsonl").write_text(json.dumps(spoken) + "\n")
    try:
        memory.sync()
        assert memory.sessions()[0].usage == ()
    finally:
        memory.close()


def test_older_index_reads_usage_without_embedding_again(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store / "a.jsonl").write_text(line("m1", 20))
    provider = FakeProvider()
    memory = _open(tmp_path, store, provider, monkeypatch)
    memory.sync()
    with memory.store.write() as writer:  # an index of the version before
        writer.connection.execute(f"DELETE FROM {writer.tables.session_usage}")
        writer.set_meta("fingerprint", "of old")
    memory.close()
    embedded = len(provider.embedded)
    memory = _open(tmp_path, store, provider, monkeypatch)
    try:
        report = memory.sync()
        assert (report.error, report.full) == ("", True)
        assert memory.sessions()[0].usage == sums(3, 20, 50)
        assert len(provider.embedded) == embedded > 0
    finally:
        memory.close()


def test_reading_usage_differently_rebuilds_the_index(tmp_path: Path) -> None:
    from engine.indexing.note_preparation import fingerprint

    assert f"usage {usage_module.USAGE_VERSION}" in fingerprint(Settings())
