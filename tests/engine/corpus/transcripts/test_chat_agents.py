"""Sessions of Grok, gptme and Mistral Vibe: messages of a chat, with the session's metadata in a file next to them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.transcripts.formats import LineFormat
from engine.corpus.transcripts.parsers.gptme import GptmeFormat
from engine.corpus.transcripts.parsers.grok import GrokFormat
from engine.corpus.transcripts.parsers.vibe import VibeFormat
from engine.corpus.transcripts.registry import owner_of_part, parts_changed, resume_command, session_folders
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.user_environment import Machine
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.session_rows import parts_of
from tests.helpers.transcripts import (
    feed,
    fixture_lines,
    json_values,
    mangled,
    read_with_pauses,
    stored_after_every_line,
)

FIXTURES = Path(__file__).parent / "fixtures"
GROK = FIXTURES / "grok" / "chat_history.jsonl"
GPTME = FIXTURES / "gptme" / "conversation.jsonl"
VIBE = FIXTURES / "vibe" / "messages.jsonl"
ALL: list[tuple[LineFormat, Path]] = [(GrokFormat(), GROK), (GptmeFormat(), GPTME), (VibeFormat(), VIBE)]
SAMPLES = {format.agent: [value for _, value in fixture_lines(path)] for format, path in ALL}
START = 1777885200.0


def test_a_session_of_grok_is_read() -> None:
    parser = GrokFormat().parser(str(GROK))
    assert parts_of(feed(parser, fixture_lines(GROK))) == [
        (1, "user", "text", "Why does it leak?", ""),
        (2, "assistant", "thinking", "Look at the seams.", ""),
        (3, "assistant", "text", "Let me look.", ""),
        (3, "assistant", "tool-call", "hull.py", "read_file"),
        (4, "tool", "tool-result", "seams = None", "read_file"),
        (5, "assistant", "tool-call", '{\n  "type": "search",\n  "query": "seams"\n}', "web_search"),
        (6, "assistant", "text", "It has no seams.", ""),
    ]
    metadata = parser.metadata
    assert (metadata.agent, metadata.id, metadata.title, metadata.project) == (
        "grok",
        "g-1",
        "A leaking hull",
        "/home/ada/boats",
    )
    assert (metadata.opening, metadata.started, metadata.ended) == ("Why does it leak?", START, START + 600)
    assert parser.unknown == {"hologram": 1}


@pytest.mark.parametrize(
    ("text", "reason", "parts"),
    [
        ("Sew.", None, [("user", "Sew.")]),
        ("Sew.", "interjection", [("user", "Sew.")]),
        ("Be brief.", "project_instructions", [("system", "Be brief.")]),
        ("<user_query>\nSew.\n</user_query>", None, [("user", "Sew.")]),
        (
            "<user_info>x</user_info>\n<user_query>Sew.</user_query>",
            None,
            [("user", "Sew."), ("system", "<user_info>x</user_info>")],
        ),
        (
            "<user_info>x</user_info>\n<git_status>y</git_status>\nSew.",
            None,
            [("user", "Sew."), ("system", "<user_info>x</user_info>\n<git_status>y</git_status>")],
        ),
        ("<system-reminder>cut off", None, [("system", "<system-reminder>cut off")]),
        ("What is <user_info>?", None, [("user", "What is <user_info>?")]),
    ],
)
def test_only_typed_text_of_grok_has_the_role_user(text: str, reason: str | None, parts: list[tuple[str, str]]) -> None:
    newer = {"type": "user", "content": [{"type": "text", "text": text}], "synthetic_reason": reason}
    older = {"role": "user", "content": text, "synthetic_reason": reason}
    for line in (newer, older):
        messages = GrokFormat().parser(str(GROK)).feed(line, 1)
        assert [(message.role, message.text) for message in messages] == parts


def _turn(id: str, **usage: Any) -> str:
    update = {"sessionUpdate": "turn_completed", "prompt_id": id, "usage": usage}
    return json.dumps({"timestamp": 1784575476, "params": {"update": update}}, separators=(",", ":"))


def test_usage_of_grok_is_the_sum_of_its_turns(tmp_path: Path) -> None:
    counts = {"inputTokens": 1100, "outputTokens": 10, "cachedReadTokens": 1000}
    lines = [
        _turn("p1", modelUsage={"grok-9": {**counts, "outputTokens": 5}}),
        _turn("p1", modelUsage={"grok-9": counts}),  # again: the last one counts
        _turn("p2", modelUsage={"grok-9": {**counts, "costUsdTicks": 2_500_000_000}, "grok-small": {"inputTokens": 7}}),
        _turn("p3", inputTokens=3, outputTokens=0, modelUsage={}),
        _turn("p4", inputTokens="many"),
        '{"params":{"update":{"sessionUpdate":"turn_completed"}}}',
        '{"half',
    ]
    (tmp_path / "updates.jsonl").write_text("\n".join(lines))
    assert GrokFormat().parser(str(tmp_path / "chat_history.jsonl")).metadata.usage == {
        "grok-9": Usage(input=200, output=20, cache_read=2000, cost=0.25),
        "grok-small": Usage(input=7),
        "": Usage(input=3, output=0),
    }


def test_only_the_history_in_a_folder_of_grok_is_a_transcript(tmp_path: Path) -> None:
    folder = tmp_path / ".grok" / "sessions" / "%2Fboats" / "g-1"
    folder.mkdir(parents=True)
    names = ("chat_history.jsonl", "rewind_points.jsonl", "summary.json", "updates.jsonl")
    for name in names:
        (folder / name).write_text("{}\n")
    (folder.parent / "updates.jsonl").write_text("{}\n")
    found = find_transcripts(Settings(sessions=SessionSettings(folders=(str(tmp_path / ".grok" / "sessions"),))))
    assert [file.name for file in found.files if "g-1" in file.name] == [
        "sessions/grok/%2Fboats/g-1/chat_history.jsonl"
    ]
    assert len(found.files) == 2  # no history is next to the other file
    assert found.skipped == []
    owners = [owner_of_part(str(folder / name)) for name in names]
    assert owners == ["", "", str(folder / names[0]), str(folder / names[0])]


def test_branches_of_gptme_are_not_sessions(tmp_path: Path) -> None:
    logs = tmp_path / "gptme" / "logs"
    for name in ("boats/conversation.jsonl", "boats/branches/main-edit-0.jsonl", "branches/conversation.jsonl"):
        (logs / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(GPTME, logs / name)
    found = find_transcripts(Settings(sessions=SessionSettings(folders=(str(logs),))))
    names = {file.name for file in found.files}
    assert names == {f"sessions/gptme/{name}/conversation.jsonl" for name in ("boats", "branches")}
    assert found.skipped == []


def test_a_session_of_gptme_is_read() -> None:
    parser = GptmeFormat().parser(str(GPTME))
    assert parts_of(feed(parser, fixture_lines(GPTME))) == [
        (1, "system", "text", "You are careful.", ""),
        (2, "user", "text", "Why does it leak?\n[file: hull.py]", ""),
        (3, "assistant", "text", "Let me look.", ""),
        (3, "assistant", "tool-call", "cat hull.py", "shell"),
        (4, "tool", "tool-result", "seams = None", "shell"),
        (5, "assistant", "text", "It has no seams.", ""),
    ]
    metadata = parser.metadata
    assert (metadata.agent, metadata.id, metadata.title) == ("gptme", "gptme", "A leaking hull")
    assert (metadata.project, metadata.started, metadata.ended) == ("/home/ada/boats", START, START + 4)


@pytest.mark.parametrize(
    ("text", "speech", "uses"),
    [
        ("Run:\n```shell\npytest -q\n```", "Run:", [("command", "pytest -q")]),
        ("```save my hull.py\nx = 1\n```\nSaved.", "Saved.", [("created", "my hull.py")]),
        ("```append log.txt\ndone\n```", "", [("edited", "log.txt")]),
        ("```patch a/b.py\n<<<<<<< ORIGINAL\nx\n=======\ny\n>>>>>>> UPDATED\n```", "", [("edited", "a/b.py")]),
        ("```save a.md\n```py\nx\n```\nend\n```\n```shell\nls\n```", "", [("created", "a.md"), ("command", "ls")]),
        ("Like this:\n```python\nx = 1\n```\n", "Like this:\n```python\nx = 1\n```", []),
        ("```shell\ncut off", "```shell\ncut off", []),
        ("```save\nno name\n```", "```save\nno name\n```", []),
    ],
)
def test_code_blocks_of_gptme_are_uses_of_tools(text: str, speech: str, uses: list[tuple[str, str]]) -> None:
    line = {"role": "assistant", "content": text, "timestamp": "2026-05-04T09:00:02+00:00"}
    messages = GptmeFormat().parser(str(GPTME)).feed(line, 1)
    assert "".join(message.text for message in messages if message.is_speech) == speech
    assert [use for message in messages for use in uses_of(message)] == uses
    question = GptmeFormat().parser(str(GPTME)).feed({**line, "role": "user"}, 1)
    assert [message.text for message in question] == [text]


def test_a_session_of_vibe_is_read() -> None:
    parser = VibeFormat().parser(str(VIBE))
    assert parts_of(feed(parser, fixture_lines(VIBE))) == [
        (1, "user", "text", "Why does it leak?", ""),
        (2, "assistant", "thinking", "Look at the seams.", ""),
        (2, "assistant", "text", "Let me look.", ""),
        (2, "assistant", "tool-call", "cat hull.py", "bash"),
        (3, "tool", "tool-result", "seams = None", "bash"),
        (4, "system", "text", "Keep to the plan.", ""),
        (5, "assistant", "text", "It has no seams.", ""),
        (6, "system", "text", "?", ""),
    ]
    metadata = parser.metadata
    assert (metadata.agent, metadata.id, metadata.title, metadata.project) == (
        "vibe",
        "v-1",
        "A leaking hull",
        "/home/ada/boats",
    )
    assert (metadata.branch, metadata.parent, metadata.started) == ("main", "", START)
    assert parser.unknown == {"role wizard": 1}


@pytest.mark.parametrize(("format", "path"), ALL, ids=list(SAMPLES))
def test_without_metadata_file_the_folder_is_the_id(format: LineFormat, path: Path, tmp_path: Path) -> None:
    copied = tmp_path / "session-7" / path.name
    copied.parent.mkdir()
    shutil.copy(path, copied)
    for other in ("summary.json", "meta.json", "config.toml"):
        (copied.parent / other).write_text("[half")
    metadata = format.parser(str(copied)).metadata
    assert (metadata.id, metadata.title, metadata.project) == ("session-7", "", "")
    assert parts_changed(str(copied)) > 0
    for other in ("summary.json", "meta.json", "config.toml"):
        (copied.parent / other).unlink()
    assert parts_changed(str(copied)) == 0


def test_lines_of_others_are_not_recognised() -> None:
    others: list[list[dict[str, Any]]] = [
        [{"role": "user", "content": "x"}],
        [{"role": "user", "content": "x", "timestamp": 7}],
        [{"role": "user", "content": "x", "timestamp": "t", "id": "1"}],
        [{"type": "user", "message": {"content": "x"}}],
        [{"type": "user", "content": "x", "sessionId": "s"}],
        [{"type": "note", "content": "x"}],
        [],
    ]
    for format, _ in ALL:
        for values in others:
            assert not format.matches(values)


def test_sessions_are_found_and_resumed(tmp_path: Path) -> None:
    variables = {"GROK_HOME": "/g", "VIBE_HOME": "/v", "GPTME_LOGS_HOME": "/p"}
    found: dict[str, list[str]] = {}
    for agent, _, path in session_folders(Machine(str(tmp_path), variables)):
        found.setdefault(agent, []).append(path)
    assert found["grok"] == ["/g/sessions", str(tmp_path / ".grok/sessions")]
    assert found["vibe"] == ["/v/logs/session", str(tmp_path / ".vibe/logs/session")]
    homes = (".local/share", "AppData/Local", "Library/Application Support")
    assert found["gptme"] == ["/p", *(str(tmp_path / home / "gptme" / "logs") for home in homes)]
    assert [resume_command(agent, "x") for agent in SAMPLES] == ["grok --resume x", "gptme --name x", "vibe --resume x"]


@pytest.mark.parametrize(("format", "path"), ALL, ids=list(SAMPLES))
def test_reading_resumes(format: LineFormat, path: Path) -> None:
    read_with_pauses(format, str(path), fixture_lines(path))


@pytest.mark.parametrize("format", [format for format, _ in ALL], ids=list(SAMPLES))
@given(data=st.data())
def test_any_line_parses_and_state_serializes(format: LineFormat, data: st.DataObject) -> None:
    odd = st.dictionaries(st.sampled_from(["type", "role", "content", "tool_calls", "metadata"]), json_values)
    values = data.draw(st.lists(mangled(SAMPLES[format.agent]) | odd))
    parser, messages = stored_after_every_line(format, values)
    assert {message.ordinal for message in messages} == set(range(1, parser.ordinal + 1))
