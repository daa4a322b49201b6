"""`mnemoscope remember`, on a real index of real transcripts."""

import io
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from engine.backends.opening import open_memory
from engine.settings import load_settings
from tests.helpers.command_line import Answer, Run
from tests.helpers.embedding_servers.chat_server import KEY, ChatServer

BEGAN = datetime(2026, 5, 31, 17, 0, tzinfo=UTC)
NAME = "2026-05-31-drip-valve-open-relay.md"


@pytest.fixture
def store(tmp_path: Path, settings: Path) -> Path:
    """Create a folder of Claude Code's sessions that is indexed in addition to the notes."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    settings.write_text(f'{settings.read_text()}[defaults.sessions]\nfolders = ["{folder.as_posix()}"]\n')
    return folder


@pytest.fixture
def session(store: Path, folder: Path) -> str:
    (folder / "garden.md").write_text("# Garden\n\nCompost.\n")
    write_session(store, "0a1b2c3d-1111", ["Why does the drip valve open?", "Its relay sticks."])
    return "0a1b2c3d-1111"


def write_session(store: Path, id_: str, texts: list[str], *, days: int = 0, parent: str = "") -> None:
    """Write alternating messages of user and agent, a minute apart; a parent makes it a sub-agent's session."""
    lines = []
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        time = (BEGAN + timedelta(days=days, minutes=number)).isoformat().replace("+00:00", "Z")
        lines.append(
            {
                "type": role,
                "uuid": f"{id_}-{number}",
                "sessionId": parent or id_,
                "timestamp": time,
                "isSidechain": bool(parent),
                "cwd": "/home/ines/src/greenhouse",
                "message": {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]},
            }
            | ({"agentId": id_} if parent else {})
        )
    folder = store / "-home-ines" / parent / "subagents" if parent else store / "-home-ines"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"agent-{id_}" if parent else id_
    (folder / f"{name}.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def test_remember_writes_and_indexes_note(verb: Run, session: str, folder: Path) -> None:
    assert verb("index").code == 0
    answer = verb("remember", session[:8])
    assert answer == Answer(0, f"{folder / 'memory' / NAME}\n", "")
    text = (folder / "memory" / NAME).read_text()
    assert text.startswith("# Session: 2026-05-31 17:01:00 UTC\n")
    assert text.endswith("user: Why does the drip valve open?\nassistant: Its relay sticks.\n")
    found = verb("search", "relay", "--source", "memory", "--json").json["results"]
    assert [result["path"] for result in found] == [f"memory/{NAME}"]
    assert verb("search", "compost", "--json").json["results"], "the notes next to the folder stay indexed"


def test_latest_is_found_without_an_index(verb: Run, session: str, store: Path, folder: Path) -> None:
    write_session(store, "9f9f9f9f-2222", ["Which compost?", "The old one."], days=-3)
    write_session(store, "77", ["Look for the relay.", "Here."], days=3, parent=session)
    printed = verb("remember", "--latest", "--json").json
    assert printed["file"] == str(folder / printed["path"])
    assert printed["path"].startswith("memory/2026-05-31-drip-valve-")
    assert (printed["messages"], printed["written"]) == (2, True)


def test_session_without_messages_is_not_the_latest(verb: Run, session: str, store: Path) -> None:
    write_session(store, "9f9f9f9f-2222", ["/new"], days=1)
    write_session(store, "8e8e8e8e-3333", ["/clear", " "], days=2)
    assert verb("remember", "--latest", "--json").json["path"] == f"memory/{NAME}"
    refused = verb("remember", "9f9f9f9f-2222")
    assert (refused.code, "This session has no messages" in refused.err) == (1, True)
    (store / "-home-ines" / f"{session}.jsonl").unlink()
    assert "This session has no messages" in verb("remember", "--latest").err


def test_session_remembered_once_until_continued(verb: Run, session: str, store: Path, folder: Path) -> None:
    assert verb("remember", "--latest").code == 0
    again = verb("remember", "--latest")
    assert again == Answer(0, f"This session already has a note: {folder / 'memory' / NAME}\n", "")
    printed = verb("remember", session, "--json").json
    assert (printed["path"], printed["written"], printed["existing"]) == (f"memory/{NAME}", False, True)
    assert len(list((folder / "memory").glob("*.md"))) == 1
    write_session(store, session, ["Why does the drip valve open?", "Its relay sticks.", "Thanks, that was it."])
    assert verb("remember", "--latest", "--slug", NAME.removesuffix(".md")[11:]).out.endswith("-2.md\n")
    assert verb("remember", session, "--again", "--slug", "drip").out.endswith("-drip.md\n")


def test_preview_writes_nothing(verb: Run, session: str, folder: Path) -> None:
    preview = verb("remember", "--latest", "--dry-run", "--messages", "1", "--slug", "Drip valve!")
    first, _, note = preview.out.partition("\n\n")
    assert first == f"Would be written to {folder / 'memory' / '2026-05-31-drip-valve.md'}, with 1 of 2 messages:"
    assert note.startswith("# Session: 2026-05-31 17:01:00 UTC\n")
    assert note.endswith("## Conversation Summary\n\nassistant: Its relay sticks.\n")
    printed = verb("remember", "--latest", "--dry-run", "--json").json
    assert printed["text"].startswith("# Session: ")
    assert not printed["written"]
    assert not (folder / "memory").exists()


def test_wrong_usage_and_errors_are_one_line(verb: Run, session: str, store: Path, folder: Path) -> None:
    assert verb("remember").code == 2
    assert verb("remember", "--latest", session).code == 2
    assert verb("remember", "--latest", "--messages", "0").code == 2
    verb("index")
    unknown = verb("remember", "abc")
    assert unknown == Answer(
        1, "", "mnemoscope: No session has the id abc, or a title with it: see mnemoscope sessions.\n"
    )
    nameless = verb("remember", session, "--slug", "京都")
    assert (nameless.code, nameless.out) == (1, "")
    assert "A note can't be named 京都" in nameless.err
    next(store.rglob("0a1b*.jsonl")).unlink()
    assert "no longer exists" in verb("remember", session).err
    assert not (folder / "memory").exists()


def test_no_session_is_an_error(verb: Run, folder: Path) -> None:
    answer = verb("remember", "--latest")
    assert (answer.code, answer.out) == (1, "")
    assert (
        answer.err == "mnemoscope: No session is indexed yet: choose sessions in the settings, then update the index.\n"
    )


def test_failing_chat_model_falls_back_to_default_name(
    verb: Run, session: str, settings: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("CHAT_KEY", KEY)
    with ChatServer("sticky-relay") as server:
        settings.write_text(
            f'{settings.read_text()}[defaults.remember.slug]\nmodel = "{server.model}"\n'
            f'base_url = "{server.base_url}"\napi_key_env = "CHAT_KEY"\n'
        )
        assert verb("remember", "--latest", "--dry-run", "--json").json["path"] == "memory/2026-05-31-sticky-relay.md"
        server.faults.append(server.out_of_quota())
        answer = verb("remember", "--latest")
    assert answer.out == f"{folder / 'memory' / NAME}\n"
    assert answer.err.startswith("mnemoscope: The note is named by the session's own words. The server 127.0.0.1")


def test_hook_names_ended_session(verb: Run, session: str, store: Path, monkeypatch) -> None:
    write_session(store, "9f9f9f9f-2222", ["Which compost?", "The old one."], days=3)

    def hook(given: str) -> Answer:
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        return verb("remember", "--hook", "--json")

    printed = hook(f'{{"session_id": "{session}", "hook_event_name": "SessionEnd", "reason": "clear"}}').json
    assert printed["session"].endswith(f"{session}.jsonl")
    assert printed["written"]
    for nothing in ("", "{", "[]", '{"session_id": 7}', '{"session_id": " "}'):
        assert hook(nothing).err == (
            "mnemoscope: Standard input is not the JSON of a hook with a session_id: name a session.\n"
        )
    assert "No session has the id" in hook('{"session_id": "gone"}').err


def test_only_unrequested_notes_are_announced(
    verb: Run, session: str, folder: Path, settings: Path, typing: Callable[..., Answer], monkeypatch
) -> None:
    def unseen_notes() -> list[str]:
        memory = open_memory(folder, load_settings(folder, config=settings))
        try:
            return [note.path for note in memory.unseen_notes.all()]
        finally:
            memory.close()

    assert typing("", "remember", "--latest").code == 0
    assert unseen_notes() == []
    monkeypatch.setattr(sys, "stdin", None)  # like the hook of a program without a terminal
    assert verb("remember", session, "--again").code == 0
    assert unseen_notes() == [f"memory/{NAME.removesuffix('.md')}-2.md"]
