"""Sessions are listed from a quick scan long before they are read; the data from reading replaces it."""

import errno
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus import folder_walk
from engine.corpus.transcripts.quick_summary import read_quick_summary
from engine.indexing import note_preparation, session_stage, text_stage, transcript_stage
from engine.indexing.crashing_files import CrashRecord
from engine.indexing.transcript_stage import TranscriptIndexer
from engine.records import SessionSummary
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from tests.helpers.fake_provider import FakeProvider, selection_of
from tests.helpers.health import inconsistencies

COUNT = 7


def spoken(role: str, text: str | list[dict[str, object]]) -> str:
    return json.dumps({"type": "message", "id": "m", "message": {"role": role, "content": text}}) + "\n"


def head(number: int) -> str:
    return json.dumps({"type": "session", "id": f"s{number}", "cwd": "/home/ada/boat"}) + "\n"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "agents/main/sessions"
    folder.mkdir(parents=True)
    for number in range(COUNT):
        question = spoken("user", f"Where is anchor {number}?")
        (folder / f"{number}.jsonl").write_text(head(number) + question + spoken("assistant", "In the bow."))
    return folder


@pytest.fixture
def memory(tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BuiltinMemory]:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(FakeProvider()))
    (tmp_path / "notes").mkdir()
    settings = Settings(
        sessions=SessionSettings(folders=(str(store),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    opened = BuiltinMemory(tmp_path / "notes", settings, executor=None, background=False)
    yield opened
    opened.close()


def list_only(memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a sync that is cancelled at the first transcript that it would read."""

    def cancelled(*_: object) -> None:
        raise Cancelled

    with monkeypatch.context() as patch:
        patch.setattr(TranscriptIndexer, "index", cancelled)
        assert memory.sync().cancelled


def summaries(memory: BuiltinMemory) -> list[SessionSummary]:
    """Return the sessions; a copied row is a nanosecond newer, which may change the last digit of its time."""
    return [msgspec.structs.replace(one, modified=round(one.modified or 0.0, 3)) for one in memory.sessions()]


def texts(memory: BuiltinMemory) -> list[tuple[str, object]]:
    with memory.store.read() as snapshot:
        found = snapshot.chunks(snapshot.chunks_of_files([file.id for file in snapshot.files("sessions").values()]))
    return sorted((chunk.path, chunk.text, chunk.message_offsets) for chunk in found.values())


def test_all_are_listed_before_one_is_read(memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    list_only(memory, monkeypatch)
    listed = memory.sessions()
    assert {one.title for one in listed} == {f"Where is anchor {number}?" for number in range(COUNT)}
    assert {(one.agent, one.project, one.messages) for one in listed} == {("openclaw", "/home/ada/boat", 2)}
    assert memory.search("anchor").results == ()
    assert memory.read_session("sessions/main/3.jsonl").messages[0].text == "Where is anchor 3?"


def test_many_are_listed_by_other_processes_too(
    memory: BuiltinMemory, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = 2_600
    for number in range(COUNT, many):
        (store / f"{number}.jsonl").write_text(head(number) + spoken("user", f"Where is anchor {number}?"))
    seen: list[str] = []

    def look(descriptor: int, path: str, size: int) -> object:
        time.sleep(0.002 if len(seen) < many - 500 else 0.2)  # the other process needs time to start
        seen.append(path)
        return read_quick_summary(descriptor, path, size)

    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(session_stage, "read_quick_summary", look)
    list_only(memory, monkeypatch)
    assert 0 < len(seen) < many
    listed = memory.sessions()
    assert {one.path: one.title for one in listed} == {
        f"sessions/main/{number}.jsonl": f"Where is anchor {number}?" for number in range(many)
    }
    assert {(one.agent, one.project) for one in listed} == {("openclaw", "/home/ada/boat")}
    assert sum(one.messages for one in listed) == many + COUNT


def test_kill_after_the_look_counts_against_no_session(memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere, crashes = session_stage.claim_transcripts, list[int]()

    def killed_after(files: Any, projects: Any, workspace: Any, store: Any, projects_of: Any) -> object:
        def looked(unknown: Any) -> Iterator[object]:
            yield from projects_of(unknown)
            later = CrashRecord(memory.store.files.folder)
            with later.during_sync(forget=False):  # as after a kill
                crashes.extend(map(later.crashes, unknown))

        return elsewhere(files, projects, workspace, store, looked)

    monkeypatch.setattr(session_stage, "claim_transcripts", killed_after)
    memory.sync()
    assert crashes == [0] * COUNT


def test_complete_reading_replaces_quick_summary(memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    list_only(memory, monkeypatch)
    monkeypatch.setattr(session_stage, "read_quick_summary", lambda *_: pytest.fail("the file was read twice"))
    report = memory.sync()
    assert (report.files_indexed, report.files_removed) == (COUNT, 0)
    assert len(memory.sessions()) == COUNT
    assert len(memory.search("anchor", max_results=20).results) == COUNT
    assert memory.sync().files_unchanged == COUNT


def test_deleted_before_reading_is_forgotten(
    memory: BuiltinMemory, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_only(memory, monkeypatch)
    (store / "3.jsonl").unlink()
    memory.sync()
    assert len(memory.sessions()) == COUNT - 1


def test_sessions_of_an_unreachable_folder_stay(memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.sync()

    def disconnected(path: str) -> object:
        raise OSError(errno.ESTALE, "Stale file handle")

    with monkeypatch.context() as patch:
        patch.setattr(folder_walk, "scan_folder", disconnected)
        report = memory.sync()
    assert report.files_removed == 0
    assert ("sessions/main", "unreadable") in {(issue.path, issue.rule) for issue in report.skipped}
    assert len(memory.sessions()) == COUNT
    assert len(memory.search("anchor", max_results=20).results) == COUNT


def test_sessions_of_a_drive_stay_while_it_is_not_connected(
    memory: BuiltinMemory, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ismount, connected = os.path.ismount, [True]
    monkeypatch.setattr(os.path, "ismount", lambda path: (connected[0] and Path(path) == store) or ismount(path))
    memory.sync()
    away = store.rename(tmp_path / "away")
    connected[0] = False
    report = memory.sync()
    assert report.files_removed == 0
    assert [issue.path for issue in report.skipped if "drive" in issue.detail] == ["sessions/main"]
    assert len(memory.sessions()) == COUNT
    before = summaries(memory), texts(memory)
    assert memory.sync(force=True).full
    assert (summaries(memory), texts(memory)) == before
    assert not inconsistencies(memory)
    assert len(memory.search("anchor", max_results=20).results) == COUNT
    away.rename(store)
    connected[0] = True
    assert memory.sync().files_indexed == COUNT
    assert (summaries(memory), texts(memory)) == before
    assert memory.sync().files_unchanged == COUNT
    shutil.rmtree(store)
    connected[0] = False
    monkeypatch.undo()
    store.mkdir()
    (store / "3.jsonl").write_text("")
    memory.sync()
    assert not memory.sessions(), "a folder with files in it is read"


@pytest.mark.parametrize("place", ["text", "command", "project", "chunks"])
def test_unmasked_session_of_a_drive_leaves_with_old_rules(
    memory: BuiltinMemory, store: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    secret = dict.fromkeys(("text", "command", "project"), "coat") | {place: "hidden"}
    call = {"type": "toolCall", "id": "c", "name": "exec", "arguments": {"command": f"find {secret['command']}"}}
    (store / "3.jsonl").write_text(
        json.dumps({"type": "session", "id": "s3", "cwd": f"/home/ada/{secret['project']}"})
        + "\n"
        + spoken("user", "Where is it?")
        + spoken("assistant", [call])
        + spoken("assistant", f"In the {secret['text']}.")
        + (spoken("user", "lee " * 2000 + "password:") + spoken("user", "hidden") if place == "chunks" else "")
    )
    memory.sync()
    with memory.store.write() as writer:
        writer.set_meta("fingerprint", "redaction 1;")

    def disconnected(path: str) -> object:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(folder_walk, "scan_folder", disconnected)
    named = "password:" if place == "chunks" else ""
    monkeypatch.setattr(text_stage, "holds_secret", lambda text: "hidden" in text and named in text)
    assert not any("hidden" in text and "password:" in text for _, text, _ in texts(memory))
    assert memory.sync().full
    assert {one.title for one in memory.sessions()} == {f"Where is anchor {n}?" for n in range(COUNT) if n != 3}


def test_copying_a_long_session_of_a_drive_can_be_cancelled(
    memory: BuiltinMemory, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store / "3.jsonl").write_text(head(3) + spoken("user", "lee and luff " * 60_000))
    memory.sync()
    before, token, rows = texts(memory), CancelToken(), text_stage.keyword_rows

    def disconnected(path: str) -> object:
        raise OSError(errno.ESTALE, "Stale file handle")

    def cancelling(*given: Any) -> object:
        assert not token.cancelled, "rows were read after the cancellation"
        if len(given[2]) > 100:
            token.cancel()
        return rows(*given)

    monkeypatch.setattr(folder_walk, "scan_folder", disconnected)
    monkeypatch.setattr(text_stage, "keyword_rows", cancelling)
    assert memory.sync(force=True, cancel=token).cancelled
    assert token.cancelled
    assert texts(memory) == before
    assert not inconsistencies(memory)


@pytest.mark.parametrize(("number", "stays"), [(errno.EIO, True), (errno.EACCES, False)])
def test_session_that_a_drive_fails_to_read_stays(
    memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch, number: int, stays: bool
) -> None:
    memory.sync()
    before = summaries(memory), texts(memory)
    opened = transcript_stage.opened

    def failing(path: Path | str) -> object:
        if str(path).endswith("3.jsonl"):
            raise OSError(number, "Input/output error")
        return opened(path)

    monkeypatch.setattr(transcript_stage, "opened", failing)
    report = memory.sync(force=True)
    assert [issue.path for issue in report.failed] == ["sessions/main/3.jsonl"]
    assert ((summaries(memory), texts(memory)) == before) == stays
    assert not inconsistencies(memory)


def test_internal_session_removed_from_list(
    memory: BuiltinMemory, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = spoken("assistant", "Let me look. " * 400) * 4
    mark = json.dumps({"type": "custom", "data": {"runId": "dreaming-narrative-1"}}) + "\n"
    (store / "dream.jsonl").write_text(head(99) + spoken("user", "Dream of anchors.") + filler + mark + filler)
    list_only(memory, monkeypatch)
    assert "Dream of anchors." in {one.title for one in memory.sessions()}
    memory.sync()
    assert len(memory.sessions()) == COUNT


def test_only_new_transcripts_examined(memory: BuiltinMemory, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.sync()
    seen: list[str] = []
    real = session_stage.read_quick_summary
    monkeypatch.setattr(
        session_stage, "read_quick_summary", lambda d, path, size: seen.append(path) or real(d, path, size)
    )
    with (store / "1.jsonl").open("a") as file:
        file.write(spoken("user", "And the chain?"))
    (store / "new.jsonl").write_text(head(8) + spoken("user", "Where is the rope?"))
    memory.sync()
    assert seen == [str(store / "new.jsonl")]
    memory.sync(force=True)
    assert len(seen) == 1


@pytest.mark.parametrize("step", ["read_quick_summary", "project_of"])
def test_sync_is_cancelled_between_looks_at_sessions(
    memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    token = CancelToken()
    read: list[object] = []

    def cancelled(*file: object) -> None:
        read.append(file)
        token.cancel()

    monkeypatch.setattr(session_stage, "read_quick_summary", lambda *_: None)
    monkeypatch.setattr(session_stage, step, cancelled)
    assert memory.sync(cancel=token).cancelled
    assert len(read) == 1


def test_cancelled_listing_of_sessions_is_resumed(memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    token = CancelToken()
    real = session_stage.read_quick_summary

    def fourth(descriptor: int, path: str, size: int) -> object:
        if path.endswith("/4.jsonl"):
            token.cancel()
        return real(descriptor, path, size)

    monkeypatch.setattr(session_stage, "read_quick_summary", fourth)
    assert memory.sync(cancel=token).cancelled
    assert len(memory.sessions()) < COUNT
    memory.sync()
    assert len(memory.sessions()) == COUNT


def test_rows_spilled_to_a_file_are_stored_unchanged(
    memory: BuiltinMemory, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [spoken("user" if number % 2 else "assistant", f"Word{number} " * 80) for number in range(300)]
    (store / "long.jsonl").write_text(head(50) + "".join(lines))
    memory.sync()
    whole = texts(memory)
    spilled: list[int] = []
    write = note_preparation.ChunkRows._write
    monkeypatch.setattr(note_preparation, "_MAX_BUFFERED", 20_000)
    monkeypatch.setattr(note_preparation, "_CHARACTERS_PER_PORTION", 5_000)
    monkeypatch.setattr(
        note_preparation.ChunkRows,
        "_write",
        lambda self, portion: (spilled.append(len(portion)), write(self, portion)),
    )
    memory.sync(force=True)
    assert len(spilled) > 10
    assert texts(memory) == whole
