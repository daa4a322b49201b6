"""Tokens and cost of sessions in the index: stored by a sync, with growing, changed and removed transcripts."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.base.index_rule_versions import USAGE_VERSION
from engine.records import ModelUsage
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from tests.helpers.fake_provider import FakeProvider, selection_of
from tests.helpers.opencode_database import MS, OpencodeWriter

NAME = "sessions/store/a.jsonl"


def line(id: str, output: int) -> str:
    """Return one block of an answer in a transcript of Claude Code."""
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
        assert read.total_usage is not None
        assert read.total_usage.cost == pytest.approx((12 * 5 + 43 * 25 + 200 * 6.25) / 1e6)
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


def test_open_session_counts_shown_messages(memory: BuiltinMemory, store: Path) -> None:
    path, began = store / "a.jsonl", 1_772_359_200

    def timed(id: str, minutes: int) -> str:
        return json.dumps(json.loads(line(id, 1)) | {"timestamp": f"2026-03-01T10:{minutes:02}:00.000Z"}) + "\n"

    try:
        path.write_text(timed("m1", 0))
        memory.sync()
        first = memory.read_session(NAME).summary
        assert (first.messages, first.started, first.ended) == (1, began, began)
        with path.open("a") as file:
            file.write(timed("m2", 20) + timed("m3", 30))
        again = memory.read_session(NAME).summary
        assert (again.messages, again.started, again.ended) == (3, began, began + 30 * 60)
        assert memory.sessions()[0].messages == 1  # it was not indexed again
        memory.sync()
        assert memory.sessions()[0].messages == 3
    finally:
        memory.close()


def test_sessions_are_found_by_model(memory: BuiltinMemory, store: Path) -> None:
    try:
        (store / "a.jsonl").write_text(line("m1", 1))
        (store / "b.jsonl").write_text(
            line("m2", 1).replace("claude-opus-4-5", "claude-haiku-4-5").replace('"s"', '"t"')
        )
        memory.sync()

        def found(query: str) -> list[str]:
            return [result.path for result in memory.search(query, min_score=0.0).results]

        assert found("model:Opus") == found("answer model:opus") == [NAME]
        assert len(found("answer model:claude")) == 2
        assert found("model:opus model:haiku") == [], "no session has both"
        assert found("answer -model:opus") == [NAME.replace("a.jsonl", "b.jsonl")]
        assert memory.query_values("model", "ha") == ("claude-haiku-4-5",)
        untold = json.loads(line("m3", 1).replace("claude-opus-4-5", "gpt-99").replace('"s"', '"u"'))
        del untold["message"]["usage"]
        (store / "c.jsonl").write_text(json.dumps(untold) + "\n")
        memory.sync()
        assert found("model:gpt") == [NAME.replace("a.jsonl", "c.jsonl")], "its tokens are unknown"
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
    from engine.indexing.stage_data import fingerprint

    assert f"usage {USAGE_VERSION}" in fingerprint(Settings())


def test_copied_requests_count_once(memory: BuiltinMemory, store: Path) -> None:
    """A fork begins with a copy of the session's lines, with other ids of lines and of the session."""
    shared = "".join(line(f"m{number}", number) for number in range(1, 6))
    fork = shared.replace('"uuid": "', '"uuid": "f').replace('"sessionId": "s"', '"sessionId": "t"')
    try:
        (store / "b.jsonl").write_text(fork + line("n1", 100) + line("n2", 200))
        memory.sync()
        assert _outputs(memory) == {"b": 315}
        (store / "a.jsonl").write_text(shared + line("o1", 1000))
        memory.sync()
        assert _outputs(memory) == {"a": 1015, "b": 300}
        with (store / "b.jsonl").open("a") as file:
            file.write(line("n3", 400) + line("n3", 500).rstrip("\n"))
        memory.sync()
        assert _outputs(memory) == {"a": 1015, "b": 800}
        with (store / "b.jsonl").open("a") as file:
            file.write("\n" + line("m2", 2).replace("m2-2", "m2-again"))
        memory.sync()
        assert _outputs(memory) == {"a": 1015, "b": 800}
        assert memory.read_session("sessions/store/b.jsonl").summary.usage[0].output_tokens == 815, (
            "the transcript's own usage"
        )
        (store / "a.jsonl").write_text(line("p1", 7))
        memory.sync()
        assert _outputs(memory) == {"a": 7, "b": 815}
        (store / "b.jsonl").unlink()
        memory.sync()
        with memory.store.read() as snapshot:
            tables = snapshot.tables
            for table, rows in ((tables.session_requests, 1), (tables.request_marks, 1)):
                assert snapshot.connection.execute(f"SELECT count(*) FROM {table}").fetchall() == [(rows,)]
    finally:
        memory.close()


def _outputs(memory: BuiltinMemory) -> dict[str, int | None]:
    return {one.path.split("/")[-1][0]: one.usage[0].output_tokens for one in memory.sessions()}


def _rollout(id: str, *totals: int, original: str = "") -> str:
    """A transcript of Codex with these running totals of received tokens; a fork repeats the header of the original."""
    metas = [
        {"type": "session_meta", "payload": {"id": one, "timestamp": "2026-03-02T10:00:00Z"}} for one in (id, original)
    ]
    counts = [{"input_tokens": 10 * total, "cached_input_tokens": 0, "output_tokens": total} for total in totals]
    events = [
        {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": one}}} for one in counts
    ]
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Shorten the keel."}]}
    lines = [*metas[: 2 if original else 1], {"type": "response_item", "payload": message}, *events]
    return "".join(json.dumps({"timestamp": "2026-03-02T10:00:00Z", **one}) + "\n" for one in lines)


def test_fork_of_codex_counts_its_own_requests(memory: BuiltinMemory, store: Path) -> None:
    try:
        (store / "rollout-a.jsonl").write_text(_rollout("a", 5, 9))
        (store / "rollout-b.jsonl").write_text(_rollout("b", 5, 9, 30, original="a"))
        (store / "rollout-c.jsonl").write_text(_rollout("c", 5, 9))
        memory.sync()
        found = {one.id: one.usage[0].output_tokens for one in memory.sessions()}
        assert sum(found.values()) == 30 + 9, "equal numbers don't make a session a copy"
        assert found["a"] + found["b"] == 30
    finally:
        memory.close()


def test_usage_next_to_a_transcript_follows_its_growth(memory: BuiltinMemory, store: Path) -> None:
    path, meta = store / "session_1/messages.jsonl", store / "session_1/meta.json"
    path.parent.mkdir()
    try:
        for number, sent in enumerate((100, 250), 1):
            meta.write_text(json.dumps({"stats": {"session_prompt_tokens": sent, "session_completion_tokens": number}}))
            with path.open("a") as file:
                file.write(
                    json.dumps({"role": "user", "content": f"Hello {number}", "message_id": f"m{number}"}) + "\n"
                )
            memory.sync()
            (session,) = memory.sessions()
            assert session.usage == (ModelUsage(model="", input_tokens=sent, output_tokens=number),)
            opened = memory.read_session(session.path)  # it stays in use, so that the next read continues
            assert opened.summary.usage == session.usage
    finally:
        memory.close()


def test_fork_of_opencode_counts_its_own_requests(memory: BuiltinMemory, store: Path) -> None:
    writer = OpencodeWriter(store / "opencode.db")
    try:
        for session, times in (("ses_1", (1, 2)), ("ses_2", (1, 2, 3))):
            writer.session(session)
            for created in times:
                answer = {"role": "assistant", "modelID": "m", "tokens": {"input": 5, "output": 10 * created}}
                answer["time"] = {"created": MS + created}
                writer.message(session, f"{session}-{created}", answer, [{"type": "text", "text": "A seam."}])
        memory.sync()
        found = {one.id: one.usage[0].output_tokens for one in memory.sessions()}
        assert sorted(map(str, found.values())) == ["30", "30"], "the fork's own answer has 30"
    finally:
        writer.close()
        memory.close()
