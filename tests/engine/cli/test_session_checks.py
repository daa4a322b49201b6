import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import Run

HEAD = {"type": "session", "id": "s1", "version": 3, "cwd": "/home/ada/boat", "timestamp": "2026-03-01T10:00:00.000Z"}
SAID = {"type": "message", "id": "m1", "message": {"role": "user", "content": "The varnish peels off the mast."}}


@pytest.fixture
def store(tmp_path: Path, settings: Path) -> Path:
    """Create a session folder with one transcript, and list it in the settings."""
    folder = tmp_path / "boats"
    folder.mkdir()
    settings.write_text(f'{settings.read_text()}[defaults.sessions]\nfolders = ["{folder.as_posix()}"]\n')
    (folder / "one.jsonl").write_text(f"{json.dumps(HEAD)}\n{json.dumps(SAID)}\n")
    return folder


def check(verb: Run, name: str) -> dict[str, Any]:
    return next(check for check in verb("doctor", "--json").json["checks"] if check["name"] == name)


def test_no_session_folders_cause_no_finding(verb: Run) -> None:
    verb("index")
    found = check(verb, "Transcripts")
    assert (found["state"], found["detail"]) == ("fine", "No session folder is listed in the settings.")


def test_known_sessions_counted(verb: Run, store: Path) -> None:
    (store / "shopping.jsonl").write_text('{"milk": 1}\n')
    verb("index")
    found = check(verb, "Transcripts")
    assert found["state"] == "fine"
    assert found["detail"] == "2 transcripts with 1 known session, 1 in an unknown format."
    found = check(verb, "sessions/boats")
    assert (found["state"], found["detail"]) == ("fine", f"2 transcripts in {store}")


def test_skipped_files_are_named_with_reasons(verb: Run, store: Path) -> None:
    (store / "shopping.jsonl").write_text('{"milk": 1}\n')
    (store / "notes.txt").write_text("Varnish.")
    for number in range(25):
        (store / f"page-{number:02}.html").write_text("x")
    before = check(verb, "Files not read in sessions/boats")
    assert before["detail"].startswith("26 files are not read: notes.txt: It is not named like a transcript ")
    verb("index")
    found = check(verb, "Files not read in sessions/boats")
    assert (found["state"], found["detail"][:23]) == ("fine", "27 files are not read: ")
    skipped = {issue["path"]: issue["rule"] for issue in verb("status", "--json").json["skippedFiles"]}
    assert skipped["sessions/boats/notes.txt"] == "no-transcript"
    assert skipped["sessions/boats/shopping.jsonl"] == "unknown-format"
    assert skipped["sessions/boats/…"] == "no-transcript"
    assert "notes.txt  It is not named like a transcript of a known agent." in verb("status").out


def test_no_skipped_files_prints_nothing(verb: Run, store: Path) -> None:
    verb("index")
    names = [check["name"] for check in verb("doctor", "--json").json["checks"]]
    assert not any(name.startswith("Files not read") for name in names)


def test_changes_since_the_last_update_are_counted(verb: Run, store: Path) -> None:
    (store / "two.jsonl").write_text(json.dumps(HEAD) + "\n")
    verb("index")
    (store / "two.jsonl").unlink()
    (store / "three.jsonl").write_text(json.dumps(HEAD) + "\n")
    with (store / "one.jsonl").open("a") as file:
        file.write(json.dumps(SAID) + "\n")
    found = check(verb, "Transcripts")
    assert (found["state"], found["advice"]) == ("degraded", "Run mnemoscope index.")
    assert found["detail"].endswith("1 new, 1 changed, 1 deleted since the last update.")


def test_truncated_export_is_counted(verb: Run, store: Path) -> None:
    (store / "conversations.json").write_text('[{"mapping": {}, "current_node": "a", "id": "c1"}, {"mapping": ')
    verb("index")
    found = check(verb, "Transcripts")
    assert (found["state"], found["advice"]) == ("degraded", "Run mnemoscope status to list these files.")
    assert ", 1 incomplete." in found["detail"]


def test_unreadable_transcript_is_one_finding(verb: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("engine.indexing.transcript_stage.opened", refuse)  # root ignores file permissions
    verb("index")
    found = check(verb, "Transcripts")
    assert (found["state"], found["detail"]) == (
        "fine",
        "0 transcripts with 0 known sessions, 1 cannot be read.",
    )
    found = check(verb, "sessions/boats/one.jsonl")
    assert (found["state"], found["detail"]) == ("degraded", "Can't be read: Permission denied.")
    assert found["advice"].startswith("Check the permissions")


def test_missing_or_empty_folder_reported(verb: Run, store: Path) -> None:
    (store / "one.jsonl").unlink()
    found = check(verb, "sessions/boats")
    assert (found["state"], found["detail"]) == ("degraded", f"No transcript is in {store}.")
    store.rmdir()
    found = check(verb, "sessions/boats")
    assert (found["state"], found["detail"]) == ("degraded", f"The session folder {store} does not exist.")
    assert "[defaults.sessions]" in found["advice"]
    line = next(of for of in verb("doctor").out.splitlines() if "sessions/boats" in of)
    assert line.split()[:5] == ["degraded", "sessions/boats", "The", "session", "folder"]


def _saved_chat(**id: str) -> dict[str, Any]:
    said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Which varnish for the rudder?"]}}
    node = {"id": "n1", "parent": None, "children": [], "message": said}
    return {"title": "Rudder", "create_time": 1777885200.0, "mapping": {"n1": node}, "current_node": "n1", **id}


@pytest.mark.parametrize("id", [{"conversation_id": "c1"}, {}])
def test_saved_conversation_with_any_name_is_a_session(verb: Run, store: Path, id: dict[str, str]) -> None:
    (store / "My rudder.json").write_text(json.dumps(_saved_chat(**id)))
    (store / "package.json").write_text(json.dumps({"name": "boats", "mapping": {}}))
    assert check(verb, "Files not read in sessions/boats")["detail"].startswith(
        "1 file is not read: package.json: The file is not a transcript of a known agent."
    )
    verb("index")
    (found,) = verb("search", "varnish rudder", "--json").json["results"][:1]
    assert found["path"].startswith("sessions/boats/My rudder.json/")
    assert "Which varnish for the rudder?" in verb("get", found["path"]).out
    skipped = verb("status", "--json").json["skippedFiles"]
    assert [issue["path"] for issue in skipped] == ["sessions/boats/package.json"]
