"""Exports: many sessions in one file, indexed separately."""

import errno
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.backends.qmd.session_exports import Exported, SessionExports
from engine.base.cancellation import CancelToken
from engine.base.errors import TranscriptUnreadable
from engine.corpus.transcripts.formats import LineParser
from engine.corpus.transcripts.messages import Kind, Message, Role
from engine.indexing.sync_progress import ProgressMeter
from engine.records import Passage
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from engine.store.index_paths import index_files
from tests.helpers.fake_provider import FakeProvider, selection_of

PREFIX = "sessions/exports/conversations.json"


def conversation(key: str, *texts: str) -> dict[str, Any]:
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    above = "root"
    for number, text in enumerate(texts, 1):
        author = {"role": "user" if number % 2 else "assistant"}
        content = {"content_type": "text", "parts": [text]}
        message = {"id": f"{key}-m{number}", "author": author, "create_time": 1.77e9 + number, "content": content}
        nodes[f"n{number}"] = {"id": f"n{number}", "message": message, "parent": above, "children": []}
        nodes[above]["children"] = [f"n{number}"]
        above = f"n{number}"
    return {
        "title": f"About {key}",
        "conversation_id": key,
        "mapping": nodes,
        "current_node": above,
        "create_time": 1.77e9,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "exports"
    path.mkdir()
    return path


@pytest.fixture
def memory(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BuiltinMemory]:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(FakeProvider()))
    (tmp_path / "notes").mkdir()
    settings = Settings(
        sessions=SessionSettings(folders=(str(folder),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    opened = BuiltinMemory(tmp_path / "notes", settings, executor=None, background=False)
    yield opened
    opened.close()


_PART = LineParser.part


def faulty_part(parser: LineParser, role: Role, kind: Kind, text: str, *arguments: Any, **named: Any) -> Message:
    if "odd" in text:
        raise KeyError(text)
    return _PART(parser, role, kind, text, *arguments, **named)


def write(folder: Path, *conversations: dict[str, Any]) -> Path:
    path = folder / "conversations.json"
    path.write_text(json.dumps(conversations))
    return path


def test_every_conversation_is_a_session_of_its_own(memory: BuiltinMemory, folder: Path) -> None:
    write(
        folder, conversation("c1", "Why is my loaf flat?", "It proofed too long."), conversation("c2", "Fix the tap?")
    )
    report = memory.sync()
    assert report.files_indexed == 2
    assert {(one.path, one.title, one.messages) for one in memory.sessions()} == {
        (f"{PREFIX}/c1", "About c1", 2),
        (f"{PREFIX}/c2", "About c2", 1),
    }
    (result,) = memory.search("proofed too long").results
    assert (result.path, result.citation) == (f"{PREFIX}/c1", f"{PREFIX}/c1#L1-L2")
    assert result.message is not None
    assert (result.message.ordinal, result.message.id) == (2, "c1-m2")
    assert [message.text for message in memory.read_session(f"{PREFIX}/c1").messages][1] == "It proofed too long."
    assert memory.read_file(f"{PREFIX}/c1", start=2, lines=1).text == "Assistant: It proofed too long."


def test_newer_export_changes_only_new(memory: BuiltinMemory, folder: Path) -> None:
    one, two = conversation("c1", "Why is my loaf flat?"), conversation("c2", "Fix the tap?")
    write(folder, one, two)
    memory.sync()
    write(folder, one, conversation("c2", "Fix the tap?", "Turn the water off first."), conversation("c3", "Paint?"))
    report = memory.sync()
    assert (report.files_indexed, len(memory.sessions())) == (2, 3)
    write(folder, one)
    memory.sync()
    assert [session.path for session in memory.sessions()] == [f"{PREFIX}/c1"]


def test_zip_file_is_read_without_unpacking(memory: BuiltinMemory, folder: Path) -> None:
    with zipfile.ZipFile(folder / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([conversation("c1", "Why is my loaf flat?")]))
        archive.writestr("chat.html", "<html></html>")
    memory.sync()
    assert [session.path for session in memory.sessions()] == ["sessions/exports/export.zip/c1"]
    assert memory.read_session("sessions/exports/export.zip/c1").messages[0].text == "Why is my loaf flat?"
    assert sorted(path.name for path in folder.iterdir()) == ["export.zip"]


def test_incomplete_zip_file_keeps_its_sessions(memory: BuiltinMemory, folder: Path) -> None:
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([conversation("c1", "Why is my loaf flat?")]))
    memory.sync()
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    (issue,) = memory.sync().skipped
    assert (issue.rule, len(memory.sessions())) == ("broken", 1)
    assert issue.detail.endswith("the zip file is damaged or incomplete; download it again")
    path.write_bytes(whole)
    assert memory.sync().skipped == ()


def test_truncated_export_keeps_complete_part(memory: BuiltinMemory, folder: Path) -> None:
    both = [conversation("c1", "Why is my loaf flat?"), conversation("c2", "Fix the tap?")]
    path = write(folder, *both)
    memory.sync()
    whole = path.read_text()
    path.write_text(whole[: len(whole) * 3 // 4])
    for _ in range(2):
        (issue,) = memory.sync().skipped
        assert (issue.path, issue.rule) == (PREFIX, "broken")
    assert len(memory.sessions()) == 2
    with pytest.raises(TranscriptUnreadable, match="breaks off or is damaged"):
        memory.read_session(f"{PREFIX}/c2")
    path.write_text(whole)
    assert memory.sync().skipped == ()


def test_fault_in_one_conversation_keeps_all_others(
    memory: BuiltinMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, conversation("c1", "Why is my loaf flat?"), conversation("c2", "Fix the tap?"))
    memory.sync()
    write(
        folder, conversation("c0", "Paint?"), conversation("c1", "Why is it odd?"), conversation("c2", "Fix the tap?")
    )
    monkeypatch.setattr(LineParser, "part", faulty_part)
    report = memory.sync()
    assert (report.failed, {one.path for one in memory.sessions()}) == ((), {f"{PREFIX}/c{key}" for key in range(3)})
    (issue,) = report.skipped
    assert issue.detail == "The file breaks off after 1 sessions, which are indexed: KeyError."


@pytest.fixture
def exports(folder: Path, tmp_path: Path) -> SessionExports:
    settings = Settings(
        sessions=SessionSettings(folders=(str(folder),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    (tmp_path / "notes").mkdir()
    files = index_files(tmp_path / "notes", settings.store.path)
    return SessionExports(files.folder / "qmd/sessions", tmp_path / "notes", files, settings)


def update(exports: SessionExports) -> Exported:
    return exports.update(CancelToken(), ProgressMeter("manual", lambda update: None), lambda: None)


def exported(exports: SessionExports) -> set[str]:
    return {Path(one.known.path).name for one in exports.all() if one.written}


@pytest.mark.parametrize(
    "reader", ["corpus.folder_walk.scan_folder", "corpus.transcripts.transcript_reader.conversations"]
)
def test_qmd_exports_of_an_unreachable_folder_stay(
    exports: SessionExports, folder: Path, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    def disconnected(*_: object) -> object:
        raise OSError(errno.ESTALE, "Stale file handle")

    write(folder, conversation("c1", "Why is my loaf flat?"))
    update(exports)
    changed = write(folder, conversation("c1", "Why is my loaf flat?"), conversation("c2", "Fix the tap?"))
    with monkeypatch.context() as patch:
        patch.setattr(f"engine.{reader}", disconnected)
        done = update(exports)
    assert ([issue.rule for issue in done.skipped], done.removed, exported(exports)) == (["unreadable"], 0, {"c1"})
    update(exports)
    assert exported(exports) == {"c1", "c2"}
    changed.unlink()
    assert update(exports).removed == 2


def test_qmd_exports_survive_a_fault_in_one_transcript(
    exports: SessionExports, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, conversation("c1", "Why is my loaf flat?"), conversation("c2", "Fix the tap?"))
    update(exports)
    write(
        folder, conversation("c0", "Paint?"), conversation("c1", "Why is it odd?"), conversation("c2", "Fix the tap?")
    )
    other = folder / "other"
    other.mkdir()
    write(other, conversation("c3", "Where is the ladder?"))
    monkeypatch.setattr(LineParser, "part", faulty_part)
    issues = [issue.detail for issue in update(exports).skipped if issue.rule == "broken"]
    assert (issues, exported(exports)) == (
        ["The file could not be read to its end: KeyError."],
        {"c0", "c1", "c2", "c3"},
    )


def test_session_key_like_a_path_gets_valid_name(memory: BuiltinMemory, folder: Path) -> None:
    write(folder, conversation("../../etc/passwd", "Why is my loaf flat?"))
    memory.sync()
    (session,) = memory.sessions()
    assert session.path.startswith(f"{PREFIX}/")
    assert "/" not in session.path.removeprefix(f"{PREFIX}/")
    assert memory.read_session(session.path).messages[0].text == "Why is my loaf flat?"


def test_similar_messages_only_in_other_sessions(memory: BuiltinMemory, folder: Path) -> None:
    write(
        folder,
        conversation("c1", "Why is my loaf flat?", "The dough proofed too long in the warm kitchen."),
        conversation("c2", "The dough proofed too long again, what now?"),
        conversation("c3", "Fix the tap?"),
    )
    memory.sync()
    chunk = Passage(path=f"{PREFIX}/c1", start_line=1, end_line=2, message=2)
    assert [result.path for result in memory.search_like(chunk).results] == [f"{PREFIX}/c2"]
    passage = Passage(path=f"{PREFIX}/c1", start_line=2, end_line=2, text="dough proofed too long", message=2)
    assert [result.path for result in memory.search_like(passage).results] == [f"{PREFIX}/c2"]
    assert f"{PREFIX}/c1" in [result.path for result in memory.search("dough proofed").results]
