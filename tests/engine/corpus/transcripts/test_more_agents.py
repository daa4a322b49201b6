"""Sessions of agents that few people use yet: each fixture is the same conversation, as that agent stores it."""

import json
import os
import shutil
from pathlib import Path

import pytest
import zstandard

from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.parsers.deepseek_harness import HarnessFormat
from engine.corpus.transcripts.registry import copied_sessions, parts_changed, resume_command
from engine.corpus.transcripts.session_stores import find_transcripts, locate_transcript
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.transcripts.transcript_reader import conversations, line_format, opened
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.agent_databases import DATABASES
from tests.helpers.transcripts import fixture_lines, stored_after_every_line

FIXTURES = Path(__file__).parent / "fixtures"
ID = "0c1d2e3f-0000-4000-8000-0000000000"
COMMAND_CODE = FIXTURES / f"command_code/{ID}21.jsonl"
COMMAND_CODE_3 = FIXTURES / f"command_code/{ID}22.jsonl"
REASONIX = FIXTURES / "reasonix/20260504-090000-hull.jsonl"
QWENPAW = FIXTURES / "qwenpaw/workspaces/shipyard/sessions/main_main.json"
CORTEX = FIXTURES / f"cortex/conversations/{ID}23.json"
CORTEX_LINES = FIXTURES / f"cortex/conversations/{ID}24.history.jsonl"
POOLSIDE = FIXTURES / f"poolside/trajectory-cli_{ID}25.ndjson"
HARNESS = FIXTURES / "deepseek_harness/--home-ada-boats--/h-1/session.jsonl"
POSIT = FIXTURES / "posit_assistant/workspaces/a1b2c3d4/11111111/conversation.json"
START = 1777885200.0
SPOKEN = [("user", "Why does it leak?"), ("assistant", "It has no seams.")]
USAGE = {"m-1": Usage(100, 20, 50)}
ZCODE_USED = {"glm-5": Usage(10, 2)}
AGENTS = {
    COMMAND_CODE: ("command-code", f"{ID}21", {}),
    COMMAND_CODE_3: ("command-code", f"{ID}22", {"m-1": Usage(50, 20, 50, 0, cost=0.5)}),
    REASONIX: ("reasonix", "20260504-090000-hull", {"m-1": Usage()}),
    QWENPAW: ("qwenpaw", "main_main", {}),
    CORTEX: ("cortex", f"{ID}23", {}),
    CORTEX_LINES: ("cortex", f"{ID}24", {}),
    POOLSIDE: ("poolside", f"cli_{ID}25", {"laguna": Usage(50, 20, 50, 0)}),
    HARNESS: ("deepseek-harness", "h-1", USAGE),
    POSIT: ("posit-assistant", "11111111", {"m-1": Usage(100, 20, 50, 0)}),
}
LINES = [path for path in AGENTS if path.suffix != ".json"]


def read(path: Path) -> Conversation:
    (session,) = conversations(path)
    return session


@pytest.mark.parametrize("path", AGENTS, ids=lambda path: AGENTS[path][0])
def test_session_of_each_agent_is_read(path: Path) -> None:
    session = read(path)
    agent, id_, usage = AGENTS[path]
    metadata = session.metadata
    assert (metadata.agent, metadata.id, metadata.usage) == (agent, id_, usage)
    assert [(part.role, part.text) for part in session.messages if part.is_speech] == SPOKEN
    (result,) = (part for part in session.messages if part.kind == "tool-result")
    (call,) = (part for part in session.messages if part.kind == "tool-call")
    assert (result.text, result.tool) == ("seams = None", call.tool)
    kind, value = ("command", "cat hull.py") if path == POOLSIDE else ("read", "hull.py")
    assert (kind, value) in uses_of(call)
    assert metadata.name in ("A leaking hull", "Why does it leak?")
    assert metadata.project == ("shipyard" if path == QWENPAW else "/home/ada/boats")


@pytest.mark.parametrize("path", [path for path in AGENTS if path != QWENPAW], ids=lambda path: AGENTS[path][0])
def test_times_of_each_agent_are_read(path: Path) -> None:
    assert read(path).metadata.started == START


@pytest.mark.parametrize("path", LINES, ids=lambda path: AGENTS[path][0])
def test_stored_state_of_each_line_format_resumes(path: Path) -> None:
    with opened(path) as (descriptor, _):
        known = line_format(descriptor)
    assert known is not None
    assert known.agent == AGENTS[path][0], "known by its content alone"
    stored_after_every_line(known, [value for _, value in fixture_lines(path)])


def test_title_next_to_a_session_counts(tmp_path: Path) -> None:
    for path, described in (
        (COMMAND_CODE, COMMAND_CODE.with_suffix(".meta.json")),
        (REASONIX, Path(f"{REASONIX}.meta")),
        (CORTEX_LINES, CORTEX_LINES.with_name(f"{ID}24.json")),
    ):
        assert read(path).metadata.title == "A leaking hull"
        folder = tmp_path / f".commandcode/projects/.reasonix/cortex/conversations/{path.stem}"
        folder.mkdir(parents=True)
        for one in (path, described):
            shutil.copy(one, folder)
        os.utime(folder / described.name, (1, 2))
        assert parts_changed(str(folder / path.name)) == 2 * 10**9


def test_inserted_message_has_the_system_role() -> None:
    for path, text in ((COMMAND_CODE_3, "Keep it short."), (HARNESS, "Today is Monday."), (CORTEX, "Today is Monday.")):
        assert [part.text for part in read(path).messages if part.role == "system"] == [text]


def test_unknown_line_of_command_code_is_counted() -> None:
    assert read(COMMAND_CODE).unknown == {"future": 1}


def test_posit_assistant_abandoned_branch_is_read() -> None:
    session = read(POSIT)
    assert [part.text for part in session.abandoned] == ["All is well."]
    assert session.metadata.rewound == [(5, 5)]
    (sub_agent,) = conversations(POSIT.parent / "subagents/22222222/conversation.json")
    assert (sub_agent.metadata.parent, sub_agent.metadata.project) == ("11111111", "/home/ada/boats")


def test_piebald_abandoned_branch_is_read(tmp_path: Path) -> None:
    database = next(one for one in DATABASES if one.name == "piebald: two branches")
    session = read(database.write(tmp_path))
    assert [part.text for part in session.abandoned] == ["All is well."]
    assert session.metadata.usage == {"m-1": Usage(10, 2)}


def test_files_next_to_transcripts_are_not_listed(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in (".commandcode/projects", ".posit/assistant/workspaces")]
    shutil.copytree(COMMAND_CODE.parent, folders[0] / "boats")
    for name in (f"{ID}21.checkpoints.jsonl", f"hooks-audit-{ID}21.jsonl"):
        (folders[0] / "boats" / name).write_text('{"prompt": "Why?"}\n')
    shutil.copytree(POSIT.parents[1], folders[1] / "a1b2c3d4")
    settings = Settings(sessions=SessionSettings(folders=tuple(map(str, folders))))
    found = find_transcripts(settings)
    assert sorted(file.name for file in found.files) == [
        f"sessions/command-code/boats/{ID}21.jsonl",
        f"sessions/command-code/boats/{ID}22.jsonl",
        "sessions/posit-assistant/a1b2c3d4/11111111/conversation.json",
        "sessions/posit-assistant/a1b2c3d4/11111111/subagents/22222222/conversation.json",
    ]
    assert found.skipped == []


def test_split_session_and_backup_of_cortex_are_read_once(tmp_path: Path) -> None:
    folder = tmp_path / ".snowflake/cortex/conversations"
    shutil.copytree(CORTEX.parent, folder)
    shutil.copy(CORTEX, folder / f"{ID}23.back.1777885200.json")
    found = find_transcripts(Settings(sessions=SessionSettings(folders=(str(folder),))))
    assert copied_sessions(found.files, frozenset()) == {
        f"sessions/cortex/{ID}23.back.1777885200.json",
        f"sessions/cortex/{ID}24.json",
    }


def test_session_of_cortex_is_known_before_a_long_history_ends(tmp_path: Path) -> None:
    value = json.loads(CORTEX.read_text())
    history = value.pop("history")
    value = {"session_id": value.pop("session_id"), "history": history * (100_000 // len(str(history)) + 1), **value}
    for folder, agents in (("cortex/conversations", ["cortex"]), ("elsewhere", [])):
        path = tmp_path / folder / CORTEX.name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(value))
        assert [session.metadata.agent for session in conversations(path)] == agents


def test_compressed_session_of_deepseek_harness_is_read(tmp_path: Path) -> None:
    folder = tmp_path / ".dsh/sessions"
    path = folder / "--home-ada-boats--/h-1/session.jsonl.zstd"
    path.parent.mkdir(parents=True)
    header, *events = HARNESS.read_bytes().splitlines(keepends=True)
    path.write_bytes(zstandard.compress(header) + zstandard.compress(b"".join(events)))
    settings = Settings(sessions=SessionSettings(folders=(str(folder),)))
    (file,) = find_transcripts(settings).files
    assert file.name == "sessions/deepseek-harness/--home-ada-boats--/h-1/session.jsonl"
    assert locate_transcript(file.name, settings)[0] == path
    assert [part.text for part in read(path).messages] == [part.text for part in read(HARNESS).messages]


def test_older_format_of_deepseek_harness_is_a_copy(tmp_path: Path) -> None:
    folder = tmp_path / ".dsh/sessions"
    for name in ("session.jsonl", "session.v2.jsonl", "session.v10.jsonl"):
        path = folder / "--home-ada-boats--/h-1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HARNESS, path)
    found = find_transcripts(Settings(sessions=SessionSettings(folders=(str(folder),)))).files
    copies = copied_sessions(found, frozenset())
    assert [Path(file.path).name for file in found if file.name not in copies] == ["session.v10.jsonl"]


def test_reminder_of_deepseek_harness_has_the_system_role() -> None:
    line = {"type": "user/message", "data": {"content": [{"type": "text", "text": "<system-reminder>Be brief."}]}}
    for message in ({**line, "surfaceOp": "append"}, line):
        (read_message,) = HarnessFormat().parser("s.jsonl").feed(message, 1)
        assert read_message.role == "system"


@pytest.mark.parametrize("semantics", [{"kind": "system_reminder"}, {"transcriptVisibility": "hidden"}])
def test_inserted_message_of_zcode_has_the_system_role(tmp_path: Path, semantics: dict[str, str]) -> None:
    database = next(one for one in DATABASES if one.name == "zcode: parts")
    message = {"role": "user", "semantics": semantics}
    rows = [
        (table, {**row, "data": json.dumps(message)} if row["id"] == "m1" else row)
        for table, row in database.rows
        if table != "model_usage"
    ]
    session = read(database.write(tmp_path, rows))
    assert session.messages[0].role == "system"


def test_chat_lines_with_other_members_are_not_reasonix(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"role": "user", "content": "Hi", "label": 1}\n')
    with opened(path) as (descriptor, _):
        assert line_format(descriptor) is None


def test_resume_command_of_each_agent_has_its_form() -> None:
    assert resume_command("command-code", "x") == "command-code --resume x"
    assert resume_command("cortex", "x") == "cortex -r x"


def test_database_sessions_have_tool_commands_and_tokens(tmp_path: Path) -> None:
    for name, used in (
        ("omnigent: numbers", {}),
        ("shelley: typed", {"": Usage(10, 2)}),
        ("zcode: blocks", ZCODE_USED),
    ):
        database = next(one for one in DATABASES if one.name == name)
        session = read(database.write(tmp_path / name.partition(":")[0]))
        (call,) = (part for part in session.messages if part.kind == "tool-call")
        assert ("command", "cat /boats/hull.py") in uses_of(call)
        assert session.metadata.usage == used
