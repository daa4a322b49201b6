"""Sessions of newer agents and of copies of older ones, and of Open WebUI's database."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.source_detection import find_sources
from engine.corpus.transcripts import jsonl
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.parsers.codebuddy import CodeBuddyFormat
from engine.corpus.transcripts.parsers.zencoder import ZencoderFormat
from engine.corpus.transcripts.registry import (
    copied_sessions,
    owner_of_part,
    parts_changed,
    resume_command,
    session_folders,
)
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.transcripts.transcript_reader import conversations
from engine.corpus.user_environment import Machine
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.agent_databases import (
    DATABASES,
    DEVIN,
    LLM,
    LLM_NEWER,
    WARP,
    WARP_NEWER,
    field,
    forge_row,
    forge_text,
    llm_message,
    llm_response,
    llm_turn,
    warp_message,
    warp_rows,
    write_rows,
)
from tests.helpers.session_rows import FORGE
from tests.helpers.transcripts import fixture_lines, mangled, stored_after_every_line

FIXTURES = Path(__file__).parent / "fixtures"
AUGGIE = FIXTURES / "augment/sessions/0c1d2e3f-0000-4000-8000-000000000009.json"
JUNIE = FIXTURES / "junie/sessions"
CODEWHALE = FIXTURES / "codewhale/sessions/0c1d2e3f-0000-4000-8000-00000000000a.json"
CODEBUDDY = FIXTURES / "codebuddy/0c1d2e3f-0000-4000-8000-00000000000b.jsonl"
ZENCODER = FIXTURES / "zencoder/0c1d2e3f-0000-4000-8000-00000000000c.jsonl"
CODEBUFF = FIXTURES / "codebuff/projects"
VISUAL_STUDIO = FIXTURES / "visual_studio/VSGitHubCopilotLogs/traces"
START = 1777885200.0


def parts(session: Conversation) -> list[tuple[str, str, str, str]]:
    return [(part.role, part.kind, part.text, part.tool) for part in session.everything]


def uses(session: Conversation) -> list[tuple[str, str]]:
    return [(use.kind, use.value) for part in session.messages for use in uses_of(part)]


def test_a_session_of_auggie_is_read() -> None:
    (session,) = conversations(AUGGIE)
    assert [part[:3] for part in parts(session) if part[1] != "tool-call"] == [
        ("user", "text", "Why does it leak?"),
        ("assistant", "text", "Let me look."),
        ("tool", "tool-result", "seams = None"),
        ("tool", "tool-result", "File saved."),
        ("system", "text", "Keep it short."),
        ("assistant", "text", "It has no seams."),
    ]
    assert uses(session) == [("read", "/home/ada/boats/hull.py"), ("command", "cat hull.py"), ("created", "seams.py")]
    metadata = session.metadata
    assert (metadata.id, metadata.project) == ("0c1d2e3f-0000-4000-8000-000000000009", "/home/ada/boats")
    assert metadata.usage == {"m-1": Usage(100, 10, 50, 0), "m-2": Usage(7, 5)}
    assert (metadata.name, metadata.started, metadata.ended) == ("Why does it leak?", START, START + 180)
    assert resume_command("augment", "x") == "auggie --resume x"


def test_texts_of_auggie_may_be_in_nodes_alone(tmp_path: Path) -> None:
    value = json.loads(AUGGIE.read_text())
    for exchange in value["chatHistory"]:
        exchange["exchange"] |= {"request_message": "", "response_text": ""}
    path = tmp_path / "sessions" / AUGGIE.name
    path.parent.mkdir()
    path.write_text(json.dumps(value))
    ((was,), (now,)) = (list(conversations(one)) for one in (AUGGIE, path))
    assert parts(now) == parts(was)


def test_a_session_of_junie_is_read() -> None:
    (session,) = conversations(JUNIE / "session-260504-090000-abcd/events.jsonl")
    assert parts(session) == [
        ("user", "text", "Why does it leak?", ""),
        ("assistant", "thinking", "Look at the seams.", ""),
        ("assistant", "tool-call", "cat hull.py", "terminal"),
        ("tool", "tool-result", "seams = None", "terminal"),
        ("assistant", "tool-call", "plan.md", "view"),
        ("assistant", "tool-call", "hull.py", "edit_file"),
        ("assistant", "tool-call", "seams.py", "create_file"),
        ("assistant", "tool-call", "old.py", "delete_file"),
        ("assistant", "text", "It has no seams.", ""),
        ("assistant", "text", "I sewed two.", ""),
        ("user", "text", "Never mind.", ""),
    ]
    assert uses(session) == [
        ("read", "hull.py"),
        ("command", "cat hull.py"),
        ("read", "plan.md"),
        ("edited", "hull.py"),
        ("created", "seams.py"),
        ("deleted", "old.py"),
    ]
    metadata = session.metadata
    assert (metadata.id, metadata.title) == ("session-260504-090000-abcd", "A leaking hull")
    assert (metadata.project, metadata.started, metadata.ended) == ("/home/ada/boats", START, START + 300)
    assert metadata.rewound == [(8, 8)], "the user undid it"
    assert metadata.usage == {"m-1": Usage(100, 40, 20, 30, cost=0.25)}
    assert session.unknown == {"update HologramUpdatedEvent": 1}


def test_list_of_junie_is_not_a_transcript(tmp_path: Path) -> None:
    folder = tmp_path / ".junie" / "sessions"
    shutil.copytree(JUNIE, folder)
    found = find_transcripts(Settings(sessions=SessionSettings(folders=(str(folder),))))
    assert [file.name for file in found.files] == ["sessions/junie/session-260504-090000-abcd/events.jsonl"]
    assert found.skipped == []


def test_change_in_the_list_of_junie_changes_its_session_only(tmp_path: Path) -> None:
    folder = tmp_path / ".junie" / "sessions"
    shutil.copytree(JUNIE, folder)
    events = folder / "session-260504-090000-abcd/events.jsonl"
    os.utime(events, ns=(10**18, 10**18))

    def changed(**line: Any) -> int:
        with (folder / "index.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        return parts_changed(str(events))

    before = changed()
    assert 10**18 <= before < 10**18 + 10**9
    assert changed(sessionId="session-260505-090000-efgh", taskName="Yet another") == before
    after = changed(sessionId="session-260504-090000-abcd", taskName="Two leaks")
    assert after != before
    assert 10**18 <= after < 10**18 + 10**9
    (session,) = conversations(events)
    assert session.metadata.title == "Two leaks"
    (folder / "index.jsonl").unlink()
    assert parts_changed(str(events)) == 0


def test_the_list_of_junie_is_parsed_once_for_all_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"session-{number}" for number in range(5)]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "events.jsonl").write_text(json.dumps({"kind": "UserPromptEvent", "prompt": "Sew."}) + "\n")
    lines = (json.dumps({"sessionId": name, "taskName": f"About {name}"}) + "\n" for name in names)
    (tmp_path / "index.jsonl").write_text("".join(lines))
    parsed: list[bytes] = []

    def noting(data: bytes) -> Any:
        parsed.append(data)
        return parse_line(data)

    monkeypatch.setattr(jsonl, "parse_line", noting)
    titles = [session.metadata.title for name in names for session in conversations(tmp_path / name / "events.jsonl")]
    assert titles == [f"About {name}" for name in names]
    assert sum(b"sessionId" in data for data in parsed) == len(names)


def test_junie_without_its_list_is_named_by_its_events(tmp_path: Path) -> None:
    path = tmp_path / "session-1/events.jsonl"
    path.parent.mkdir()
    events = [
        {"kind": "UserPromptEvent", "prompt": "Sew it."},
        {"kind": "SessionTitleSetEvent", "name": "Sewing"},
        {"kind": "SessionA2uxEvent", "event": {"agentEvent": {"kind": "ResultBlockUpdatedEvent", "result": "Empty"}}},
        {"kind": "SessionA2uxEvent", "event": {"agentEvent": {"kind": "AgentFailureEvent", "message": "No thread."}}},
    ]
    path.write_text("".join(json.dumps(event) + "\n" for event in events) + "{half\n")
    (session,) = conversations(path)
    assert parts(session) == [("user", "text", "Sew it.", ""), ("system", "text", "No thread.", "")]
    assert (session.metadata.title, session.metadata.started) == ("Sewing", None)
    assert session.unknown == {"no JSON": 1}


def _read(name: str, folder: Path) -> Conversation:
    database = next(one for one in DATABASES if one.name == name)
    (session,) = conversations(database.write(folder))
    return session


@pytest.mark.parametrize("name", ["devin: texts", "warp: 2026", "open-webui: 0.5"])
def test_metadata_of_a_session_is_read(name: str, tmp_path: Path) -> None:
    metadata = _read(name, tmp_path).metadata
    assert metadata.title == "A leaking hull"
    assert metadata.project == ("" if name.startswith("open-webui") else "/boats/old")


@pytest.mark.parametrize("name", ["devin: texts", "warp: 2026"])
def test_commands_of_a_session_are_found(name: str, tmp_path: Path) -> None:
    session = _read(name, tmp_path)
    assert uses(session) == [("read", "/boats/hull.py"), ("command", "cat /boats/hull.py")]
    results = [part[2:] for part in parts(session) if part[1] == "tool-result"]
    assert results == [("seams = 1 of 2", "exec" if name.startswith("devin") else "run_shell_command")]


def _node(number: int, above: int | None, text: str, message: str, **more: Any) -> tuple[str, dict[str, Any]]:
    role = "user" if number % 2 else "assistant"
    held = json.dumps({"message_id": message, "role": role, "content": text, **more})
    place = {"row_id": number, "node_id": number, "parent_node_id": above}
    return "message_nodes", {"session_id": "d1", "chat_message": held, "created_at": 1777885200 + number, **place}


def test_devin_abandoned_branch_has_no_copies(tmp_path: Path) -> None:
    metrics = {"input_tokens": 7, "output_tokens": 5, "cache_read_tokens": 3, "cache_creation_tokens": 2}
    session = {"id": "d1", "title": "Knots", "model": "m-1", "created_at": 1777885200, "last_activity_at": 1777885206}
    rows = [
        ("sessions", {**session, "main_chain_id": 2}),
        _node(1, None, "Tie a bowline.", "a"),
        _node(2, 1, "Tied.", "b", metadata={"metrics": metrics}),
        _node(3, None, "Tie a bowline.", "a"),
        _node(4, 3, "Tied twice.", "c"),
    ]
    write_rows(tmp_path / "cli/sessions.db", DEVIN, rows)
    (found,) = conversations(tmp_path / "cli/sessions.db")
    assert [message.text for message in found.messages] == ["Tie a bowline.", "Tied."]
    assert [message.text for message in found.abandoned] == ["Tied twice."]
    assert found.metadata.usage == {"m-1": Usage(7, 5, 3, 2)}


def _warp(tmp_path: Path, *messages: bytes, **more: Any) -> Conversation:
    path = tmp_path / "warp.sqlite"
    write_rows(path, WARP, warp_rows(*messages, **more))
    (session,) = conversations(path)
    return session


def test_files_that_warp_changed_are_found(tmp_path: Path) -> None:
    diffs = (
        field(2, field(1, "hull.py") + field(2, "seams = None") + field(3, "seams = 2")),
        field(5, field(1, "a.py") + field(2, "b.py") + field(3, field(3, "x") + field(4, "y"))),
        field(3, field(1, "seams.py") + field(2, "2")),
        field(4, field(1, "old.py")),
    )
    files = field(1, field(1, "plan.md")) + field(1, field(1, "keel.md"))
    session = _warp(
        tmp_path,
        warp_message(1, 2, field(1, "Sew it.")),
        warp_message(2, 4, field(1, "c") + field(6, b"".join(diffs))),
        warp_message(3, 4, field(1, "d") + field(5, files)),
    )
    assert uses(session) == [
        ("edited", "hull.py"),
        ("edited", "b.py"),
        ("created", "seams.py"),
        ("deleted", "old.py"),
        ("read", "plan.md"),
        ("read", "keel.md"),
    ]


def test_warps_answering_model_counts_before_the_chosen_one(tmp_path: Path) -> None:
    asked = ("ai_queries", {"conversation_id": "c1", "start_ts": "2026-04-02 08:01:00", "model_id": "chosen"})
    query, answer = warp_message(1, 2, field(1, "Tie it.")), warp_message(2, 25, field(1, "m-1"))
    found = {}
    for name, messages in {"chosen": (query,), "m-1": (query, answer)}.items():
        path = tmp_path / name / "warp.sqlite"
        write_rows(path, WARP + WARP_NEWER, (*warp_rows(*messages), asked))
        (session,) = conversations(path)
        found[name] = list(session.metadata.usage)
    assert found == {"chosen": ["chosen"], "m-1": ["m-1"]}


def test_arguments_of_warps_mcp_tools_are_read(tmp_path: Path) -> None:
    def entry(name: str, value: bytes) -> bytes:
        return field(1, field(1, name) + field(2, value))

    number = b"\x11" + b"\0\0\0\0\0\0\x08\x40"  # 3.0
    inner = field(5, entry("deep", field(4, 1)))
    given = entry("knot", field(3, "bowline")) + entry("turns", number) + entry("more", inner)
    given += entry("list", field(6, field(1, field(3, "a")) + field(1, field(1, 0))))
    session = _warp(
        tmp_path,
        warp_message(1, 2, field(1, "Tie it.")),
        warp_message(2, 4, field(1, "c") + field(12, field(1, "tie") + field(2, given))),
        warp_message(3, 5, field(1, "c") + field(16, field(1, field(1, field(1, field(1, "Tied.")))))),
    )
    call, result = session.messages[1:]
    assert (call.tool, json.loads(call.text)) == (
        "tie", {"knot": "bowline", "turns": 3.0, "more": {"deep": True}, "list": ["a", None]},
    )  # fmt: skip
    assert (result.tool, result.text) == ("tie", "Tied.")


@pytest.mark.parametrize("name", ["name", "self", "arguments"])
def test_mcp_arguments_of_warp_can_have_any_name(name: str, tmp_path: Path) -> None:
    given = field(1, field(1, name) + field(2, field(3, "bowline")))
    call = field(1, "c") + field(12, field(1, "tie") + field(2, given))
    session = _warp(tmp_path, warp_message(1, 2, field(1, "Tie it.")), warp_message(2, 4, call))
    assert parts(session)[1] == ("assistant", "tool-call", "bowline", "tie")


def test_a_truncated_task_of_warp_is_read_up_to_its_end(tmp_path: Path) -> None:
    whole = warp_message(1, 2, field(1, "Sew it.")) + warp_message(2, 3, field(1, "Sewn."))
    assert [part[2] for part in parts(_warp(tmp_path, whole[:-3]))] == ["Sew it."]


def test_sub_agents_of_warp_name_their_parent(tmp_path: Path) -> None:
    about = json.dumps({"parent_conversation_id": "c0"})
    session = _warp(tmp_path, warp_message(1, 2, field(1, "Search.")), conversation_data=about)
    assert session.metadata.parent == "c0"
    assert all(message.side for message in session.messages)


def test_databases_are_found_in_their_folders() -> None:
    machine = Machine("/home/ada", {})
    found = {(agent, path) for agent, _, path in session_folders(machine)}
    assert {
        ("augment", "/home/ada/.augment/sessions"),
        ("junie", "/home/ada/.junie/sessions"),
        ("warp", "/home/ada/.local/state/warp-terminal/warp.sqlite"),
        ("devin", "/home/ada/.local/share/devin/cli/sessions.db"),
        ("llm", "/home/ada/.config/io.datasette.llm/logs.db"),
        ("codebuff", "/home/ada/.config/manicode/projects"),
        ("codewhale", "/home/ada/.codewhale/sessions"),
        ("codebuddy", "/home/ada/.codebuddy/projects"),
        ("workbuddy", "/home/ada/.workbuddy/projects"),
        ("codewhale", "/home/ada/.deepseek/sessions"),
    } <= found


def test_a_session_of_forge_is_read(tmp_path: Path) -> None:
    path = tmp_path / ".forge" / ".forge.db"
    question = forge_text("User", "<task>Why?</task>", raw_content={"Text": "Why does it leak?"})
    looked = {"name": "read", "call_id": "a", "arguments": {"file_path": "hull.py", "start_line": 1}}
    mended = {"name": "multi_patch", "call_id": "b", "arguments": '{"file_path": "hull.py", "edits": []}'}
    messages = (
        forge_text("System", "<current_working_directory>/home/ada/boats</current_working_directory>"),
        question,
        {**forge_text("Assistant", "", model="m-1", tool_calls=[looked, mended]), "usage": {}},
        {"message": {"tool": {"name": "read", "call_id": "a", "output": {"values": [{"text": "seam = None"}]}}}},
        forge_text("User", "template", raw_content={"Command": {"name": "plan", "parameters": ["the", "hull"]}}),
        forge_text("User", "<file_content>keel</file_content>", droppable=True),
        {"message": {"image": {"url": "data:image/png"}}},
        {"message": {"hologram": {}}},
    )
    write_rows(path, FORGE, [forge_row(*messages)])
    (found,) = find_sources(tmp_path, {}).sources
    assert (found.agent, found.path) == ("forge", str(path))
    (session,) = conversations(path)
    assert [part[:3] for part in parts(session) if part[1] != "tool-call"] == [
        ("user", "text", "Why does it leak?"),
        ("tool", "tool-result", "seam = None"),
        ("user", "text", "/plan the hull\n[image]"),
        ("system", "text", "<file_content>keel</file_content>"),
    ]
    assert uses(session) == [("read", "hull.py"), ("edited", "hull.py")]
    metadata = session.metadata
    assert (metadata.id, metadata.title, metadata.project) == ("f1", "A leaking hull", "/home/ada/boats")
    assert session.unknown == {"message": 1}


@pytest.mark.parametrize("version", ["responses", "0.32"])
def test_a_conversation_of_llm_is_read(version: str, tmp_path: Path) -> None:
    path = next(one for one in DATABASES if one.name == f"llm: {version}").write(tmp_path)
    (session,) = conversations(path)
    assert [part for part in parts(session) if part[1] != "thinking"] == [
        ("system", "text", "Be short.", ""),
        ("user", "text", "Why does /boats/hull.py leak?", ""),
        ("assistant", "text", "Let me look there.", ""),
        ("assistant", "tool-call", "cat /boats/hull.py", "shell"),
        ("tool", "tool-result", "seams = 1 of 2", "shell"),
        ("assistant", "text", "A seam is open.", ""),
    ]
    metadata = session.metadata
    assert (metadata.id, metadata.title, metadata.usage) == ("c1", "A leaking hull", {"m-1": Usage(110, 11)})
    assert resume_command("llm", "c1") == "llm chat --cid c1"


@pytest.mark.parametrize(
    ("newer", "prompt"),
    [(False, "Why?\n[file: hull.py]\n[image: hull.png]"), (True, "[file: hull.py] Why?\n[image: hull.png]")],
)
def test_fragments_and_attachments_of_llm_are_named(newer: bool, prompt: str, tmp_path: Path) -> None:
    path = tmp_path / "logs.db"
    pieces = json.dumps({"text_ref": [{"fragment": 1}, {"literal": " Why?"}]})
    text, image = {"type": "text", "payload": pieces}, {"id": 9, "type": "attachment", "payload": "{}"}
    old = [
        llm_response(1, "Why?", "A seam."),
        ("prompt_fragments", {"response_id": "r1", "fragment_id": 1}),
        ("prompt_attachments", {"response_id": "r1", "attachment_id": "i"}),
    ]
    new = [
        ("threads", {"id": "c1", "name": "Why?", "tip_message_hash": "b2:1"}),
        *llm_message(1, "user", text, image),
        ("part_attachments", {"part_id": 9, "attachment_id": "i"}),
    ]
    shared = [
        ("fragments", {"id": 1, "content": "seams = None", "source": "hull.py"}),
        ("attachments", {"id": "i", "type": "image/png", "path": "hull.png"}),
    ]
    write_rows(path, LLM + LLM_NEWER, [*shared, *(new if newer else old)])
    (session,) = conversations(path)
    assert [message.text for message in session.messages if message.role == "user"] == [prompt]


def test_chat_that_llm_continued_after_an_upgrade_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "logs.db"
    texts = ("Why does it leak?", "A seam.", "Since when?", "May.")
    roles = ("user", "assistant") * 2
    copied = [
        llm_message(at, role, {"type": "text", "text": text})
        for at, role, text in zip((1, 2, 3, 4), roles, texts, strict=True)
    ]
    rows = [
        ("conversations", {"id": "c1", "name": "A leaking hull", "model": "m-1"}),
        llm_response(1, *texts[:2], input_tokens=50, output_tokens=5),
        ("threads", {"id": "c1", "name": "Since when?", "tip_message_hash": "b2:4"}),
        *(row for rows in copied for row in rows),
        llm_turn(5, 3, 4, input_tokens=60, output_tokens=6),
    ]
    write_rows(path, LLM + LLM_NEWER, rows)
    (session,) = conversations(path)
    assert [part[2] for part in parts(session)] == list(texts)
    assert [message.time is None for message in session.messages] == [False] * 4
    assert (session.metadata.title, session.metadata.usage) == ("A leaking hull", {"m-1": Usage(110, 11)})


def test_message_of_llm_that_is_its_own_parent_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "logs.db"
    message, part = llm_message(1, "user", {"type": "text", "text": "Why?"})
    message[1]["parent_hash"] = "b2:1"
    thread = ("threads", {"id": "c1", "tip_message_hash": "b2:1"})
    write_rows(path, LLM + LLM_NEWER, [thread, message, part])
    (session,) = conversations(path)
    assert [part[2] for part in parts(session)] == ["Why?"]


def test_a_chat_of_codebuff_is_read(tmp_path: Path) -> None:
    shutil.copytree(CODEBUFF, tmp_path / ".config/manicode/projects")
    (found,) = find_sources(tmp_path, {}).sources
    assert found.agent == "codebuff"
    listed = find_transcripts(Settings(sessions=SessionSettings(folders=(found.path,))))
    assert listed.skipped == []
    (session,) = conversations(listed.files[0].path)
    assert [part for part in parts(session) if part[1] != "tool-call"] == [
        ("user", "text", "Why does it leak?", ""),
        ("user", "text", "water in the bilge\n[image: hull.png]\n[file: plan.md]", ""),
        ("assistant", "thinking", "Look at the seams.", ""),
        ("assistant", "text", "Let me look.", ""),
        ("tool", "tool-result", "seams = None", "read_files"),
        ("tool", "tool-result", "They open when dry.", "Thinker"),
        ("tool", "tool-result", "keel = 1", "run_terminal_command"),
        ("assistant", "text", "Sew it?\n- Yes\n- No", ""),
        ("user", "text", "Yes", ""),
        ("assistant", "text", "1. Sew the seam.", ""),
        ("assistant", "text", "It has two seams now.", ""),
        ("system", "text", "Rate limit.", ""),
    ]
    assert uses(session) == [
        ("read", "hull.py"),
        ("read", "keel.py"),
        ("command", "cat keel.py"),
        ("created", "seams.py"),
    ]
    metadata = session.metadata
    assert (metadata.id, metadata.project) == ("2026-05-04T09-00-00.000Z", "/home/ada/boats")
    assert (metadata.started, metadata.ended, metadata.usage) == (START, START + 180, {"": Usage(cost=0.25)})
    assert session.unknown == {"block hologram": 1}


def test_project_of_codebuff_without_its_folder_is_a_name(tmp_path: Path) -> None:
    (path,) = (CODEBUFF / "boats/chats").glob("*/chat-messages.json")
    alone = tmp_path / "projects/hull/chats/x/chat-messages.json"
    alone.parent.mkdir(parents=True)
    shutil.copy(path, alone)
    (session,) = conversations(alone)
    assert (session.metadata.project, session.metadata.started) == ("hull", START + 60)


def test_a_session_of_codewhale_is_read() -> None:
    (session,) = conversations(CODEWHALE)
    assert [part for part in parts(session) if part[1] != "tool-call"] == [
        ("user", "text", "Why does it leak?", ""),
        ("assistant", "thinking", "Look at the seams.", ""),
        ("assistant", "text", "Let me look.", ""),
        ("tool", "tool-result", "seams = None", "read_file"),
        ("tool", "tool-result", '{\n  "tool_references": [\n    "seams"\n  ]\n}', "web_search"),
        ("tool", "tool-result", "1 failed", "exec_shell"),
        ("user", "text", "[image]", ""),
        ("assistant", "text", "It has no seams.", ""),
        ("system", "text", "The hull leaks.", ""),
        ("assistant", "text", "It is the keel.", ""),
    ]
    assert [part.text for part in session.abandoned] == ["It is the keel."]
    assert uses(session) == [("read", "hull.py"), ("command", "pytest hull")]
    metadata = session.metadata
    assert (metadata.id, metadata.title) == ("0c1d2e3f-0000-4000-8000-00000000000a", "A leaking hull")
    assert (metadata.project, metadata.started, metadata.ended) == ("/home/ada/boats", START, START + 300)
    assert metadata.usage == {"deepseek-v4": Usage(cost=0.3)}
    assert session.unknown == {"entry hologram": 1}


def _codewhale(folder: Path, **held: Any) -> Conversation:
    path = folder / CODEWHALE.name
    path.write_text(json.dumps({"schema_version": 1, "metadata": {"id": "a", "workspace": "/boats"}, **held}))
    (session,) = conversations(path)
    return session


def test_entries_of_codewhale_without_an_id_are_read(tmp_path: Path) -> None:
    texts = ["Why does it leak?", "A seam.", "Since when?"]
    entries = [{"kind": kind, "text": text} for kind, text in zip(["user", "assistant", "user"], texts, strict=True)]
    assert [part.text for part in _codewhale(tmp_path, journal={"entries": entries}).messages] == texts
    entries[1] |= {"id": "1"}
    assert sorted(part.text for part in _codewhale(tmp_path, journal={"entries": entries}).everything) == sorted(texts)


def test_codewhale_many_states_in_a_message_are_skipped(tmp_path: Path) -> None:
    states = " <turn_meta>a</turn_meta>" * 400_000
    before = time.process_time()
    session = _codewhale(tmp_path, messages=[{"role": "user", "content": f"{states} Sew it. {states[:24]}"}])
    assert time.process_time() - before < 10  # a copy of the rest for each one takes a minute
    assert [part.text for part in session.messages] == [f"Sew it. {states[:24]}"]


def test_session_that_codewhale_copied_is_read_once(tmp_path: Path) -> None:
    folders = [tmp_path / home / "sessions" for home in (".codewhale", ".deepseek")]
    for folder in folders:
        (folder / "checkpoints").mkdir(parents=True)
        shutil.copy(CODEWHALE, folder)
        shutil.copy(CODEWHALE, folder / "checkpoints")
    own = CODEWHALE.name.replace("a.json", "b.json")
    shutil.copy(CODEWHALE, folders[1] / own)
    files = find_transcripts(Settings(sessions=SessionSettings(folders=tuple(map(str, folders))))).files
    assert len(files) == 3
    assert copied_sessions(files, set()) == {f"sessions/deepseek-tui/{CODEWHALE.name}"}


def test_a_session_of_codebuddy_is_read() -> None:
    (session,) = conversations(CODEBUDDY)
    assert parts(session) == [
        ("system", "text", "<system-reminder>Be short.</system-reminder>", ""),
        ("user", "text", "Why does it leak?", ""),
        ("assistant", "thinking", "Look at the seams.", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", "hull.py", "Read"),
        ("tool", "tool-result", "seams = None", "Read"),
        ("assistant", "text", "It has no seams.\n[image]", ""),
    ]
    assert uses(session) == [("read", "hull.py")]
    metadata = session.metadata
    assert (metadata.id, metadata.title, metadata.project) == (CODEBUDDY.stem, "A leaking hull", "/home/ada/boats")
    assert (metadata.started, metadata.ended) == (START + 60, START + 240)
    assert session.unknown == {"hologram": 1}
    assert resume_command("codebuddy", "x") == "codebuddy --resume x"


@pytest.mark.parametrize(("folder", "agent"), [(".codebuddy", "codebuddy"), (".workbuddy", "workbuddy")])
def test_sub_agents_of_codebuddy_name_their_parent(folder: str, agent: str, tmp_path: Path) -> None:
    path = tmp_path / folder / "projects/home-ada-boats/s1/subagents/agent-1.jsonl"
    path.parent.mkdir(parents=True)
    shutil.copy(CODEBUDDY, path)
    (session,) = conversations(path)
    assert (session.metadata.agent, session.metadata.id, session.metadata.parent) == (agent, "agent-1", "s1")
    assert all(message.side for message in session.messages)


@given(st.lists(mangled([value for _, value in fixture_lines(CODEBUDDY)])))
def test_any_line_of_codebuddy_parses_and_resumes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(CodeBuddyFormat(), values)


def test_a_session_of_zencoder_is_read(tmp_path: Path) -> None:
    path = tmp_path / ".zencoder" / "sessions" / ZENCODER.name
    path.parent.mkdir(parents=True)
    shutil.copy(ZENCODER, path)
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("zencoder", 1)
    (session,) = conversations(path)
    assert parts(session) == [
        ("system", "text", "Keep it short.", ""),
        ("user", "text", "Why does it leak?", ""),
        ("system", "text", "How to caulk.", ""),
        ("assistant", "thinking", "Look at the hull.", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", "/home/ada/boats/hull.py", "Read"),
        ("assistant", "tool-call", "pytest -q", "Bash"),
        ("tool", "tool-result", "seams = None", "Read"),
        ("tool", "tool-result", "1 failed", "Bash"),
        ("assistant", "text", "It has no seams.", ""),
    ]
    assert uses(session) == [("read", "/home/ada/boats/hull.py"), ("command", "pytest -q")]
    metadata = session.metadata
    assert (metadata.id, metadata.project, metadata.name) == (ZENCODER.stem, "/home/ada/boats", "Why does it leak?")
    assert (metadata.started, metadata.ended, session.unknown.total()) == (START, START + 60, 0)


@given(st.lists(mangled([value for _, value in fixture_lines(ZENCODER)])))
def test_any_line_of_zencoder_parses_and_resumes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(ZencoderFormat(), values)


@pytest.mark.parametrize(
    ("agent", "folder", "store"),
    [
        ("qclaw", ".qclaw/agents/main/sessions", "sessions/qclaw-main"),
        ("openclaw", ".openclaw/agents/main/sessions", "sessions/main"),
        ("prime-agent", ".prime/agent/sessions", "sessions/prime-agent"),
        ("prime-agent", ".prime/agent/session-artifacts", "sessions/prime-agent-artifacts"),
    ],
)
def test_copies_of_openclaw_and_pi_are_read_as_their_own(tmp_path: Path, agent: str, folder: str, store: str) -> None:
    path = tmp_path / folder / "0c1d2e3f-0000-4000-8000-00000000000d.jsonl"
    path.parent.mkdir(parents=True)
    shutil.copy(next((FIXTURES / "openclaw").glob("*.jsonl")), path)
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.path, source.files) == (agent, str(path.parent), 1)
    (session,) = conversations(path)
    assert session.metadata.agent == agent
    (file,) = find_transcripts(Settings(sessions=SessionSettings(folders=(str(path.parent),)))).files
    assert file.name == f"{store}/{path.name}"


def test_conversation_in_several_traces_of_visual_studio_is_one() -> None:
    first, second = sorted(VISUAL_STUDIO.iterdir())
    session, other = conversations(first)
    assert parts(session) == [
        ("user", "text", "Why does it leak?", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", '{\n  "filename": "hull.cs",\n  "startLine": 1\n}', "get_file"),
        ("tool", "tool-result", "var seams = null;", "get_file"),
        ("assistant", "text", "It has no seams.", ""),
        (
            "assistant",
            "tool-call",
            '{\n  "command": "dotnet test",\n  "background": false\n}',
            "run_command_in_terminal",
        ),
        ("tool", "tool-result", "Passed.", "run_command_in_terminal"),
        ("user", "text", "Why does it leak?", ""),
        ("assistant", "thinking", "Again.", ""),
        ("assistant", "text", "It still does.", ""),
    ]
    assert uses(session) == [("read", "hull.cs"), ("command", "dotnet test")]
    metadata = session.metadata
    assert (metadata.id, metadata.name) == ("0c1d2e3f-0000-4000-8000-00000000000d", "Why does it leak?")
    assert (metadata.started, metadata.ended) == (START, START + 130)
    assert metadata.usage == {"m-1-2026": Usage(390, 55, 60)}
    assert [part[:3] for part in parts(other)] == [("user", "text", "Paint it."), ("assistant", "text", "Red.")]
    assert [one.messages for one in conversations(second)] == [session.messages, other.messages], "in any order"


@pytest.mark.parametrize("result", ['{"exitCode": 1}', '{"Value": null, "result": {"a": 0}}'])
def test_results_of_visual_studio_may_have_no_text(result: str, tmp_path: Path) -> None:
    # A look for text below values that hold none would take hours.
    first, second = sorted(VISUAL_STUDIO.iterdir())
    path = tmp_path / first.name
    path.write_bytes(first.read_bytes())
    other = second.read_text(encoding="utf-8").replace('"Passed."', json.dumps(result))
    path.with_name(second.name).write_text(other, encoding="utf-8")
    session, _ = conversations(path)
    assert ("tool", "tool-result", result, "run_command_in_terminal") in parts(session)


def test_traces_of_visual_studio_are_read_with_the_first(tmp_path: Path) -> None:
    folder = tmp_path / "AppData/Local/Temp/VSGitHubCopilotLogs/traces"
    shutil.copytree(VISUAL_STUDIO, folder)
    first, second = sorted(folder.iterdir())
    (folder / "notes.jsonl").write_text("{}\n")
    assert ("visual-studio-copilot", "", str(folder)) in session_folders(Machine(str(tmp_path), {}))
    found = find_transcripts(Settings(sessions=SessionSettings(folders=(str(folder),))))
    assert {file.path for file in found.files} == {str(first), str(folder / "notes.jsonl")}
    assert found.skipped == [], "the others are no skipped files"
    assert (owner_of_part(str(second)), owner_of_part(str(first))) == (str(first), "")
    os.utime(second, ns=(10**18, 2 * 10**18))
    assert parts_changed(str(first)) == 2 * 10**18


def test_questions_of_junie_and_the_answers_are_speech(tmp_path: Path) -> None:
    def asks(kind: str, **update: Any) -> dict[str, Any]:
        return {"kind": "SessionA2uxEvent", "event": {"agentEvent": {"kind": kind, "stepId": kind, **update}}}

    options = [{"id": "Yes", "description": "Sew it"}, {"id": "No", "description": "Glue it"}]
    events: list[dict[str, Any]] = [
        {"kind": "UserPromptEvent", "prompt": "Mend the sail."},
        asks("ChoiceRequestUpdatedEvent", title="How?", choiceRequest={"id": "1", "options": options}),
        {"kind": "UserResponseEvent", "prompt": "Sew it", "isChoice": True},
        asks("AskRequestUpdatedEvent", title="Junie asks", askRequest={"id": "2", "question": "Which thread?"}),
        {"kind": "UserAsyncResponseEvent", "entries": [{"requestId": "2", "response": "The red one."}]},
        {"kind": "SystemMessageEvent", "text": "Free", "details": "For a while"},
        {"kind": "CancelAgentEvent"},
        asks(
            "McpBlockUpdatedEvent", toolName="idea/list", input='{"path": "sails"}', details="jib", status="COMPLETED"
        ),
    ]
    path = tmp_path / "sessions/s/events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    (session,) = conversations(path)
    assert [(message.role, message.kind, message.text) for message in session.messages] == [
        ("user", "text", "Mend the sail."),
        ("assistant", "text", "How?\n- Sew it\n- Glue it"),
        ("user", "text", "Sew it"),
        ("assistant", "text", "Which thread?"),
        ("user", "text", "The red one."),
        ("system", "text", "Free\nFor a while"),
        ("assistant", "tool-call", "sails"),
        ("tool", "tool-result", "jib"),
    ]
    assert not session.unknown
