"""Files and commands of tool calls, from the transcripts of several agents to queries and lists."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.agent.memory_access import AgentAccess
from engine.agent.memory_tools import memory_search
from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from tests.helpers.fake_provider import FakeProvider, selection_of

SECRET = "ghp_" + "a1B2c3D4" * 5
ROOT = "/home/ada/boat"
PATCH = """*** Begin Patch
*** Update File: src/keel.py
@@
-old
+new
*** Add File: src/rudder.py
+pass
*** Delete File: notes/old.md
*** End Patch"""


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def claude(number: int, role: str, *blocks: Any) -> dict[str, Any]:
    return {
        "type": role,
        "uuid": f"u{number}",
        "sessionId": "3f6c0a1e-0000-4000-8000-000000000001",
        "cwd": ROOT,
        "timestamp": f"2026-03-01T10:{number:02}:00.000Z",
        "message": {"role": role, "content": list(blocks)},
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"call-{name}", "name": name, "input": given}


CLAUDE = (
    claude(1, "user", text("The sail is torn.")),
    claude(2, "assistant", call("Read", file_path=f"{ROOT}/src/sail.py")),
    claude(3, "assistant", call("Edit", file_path=f"{ROOT}/src/sail.py", old_string="a", new_string="b")),
    claude(4, "assistant", call("Write", file_path=f"{ROOT}/src/patch.py", content="x")),
    claude(5, "assistant", call("Write", file_path=f"{ROOT}/src/patch.py", content="y")),
    claude(6, "assistant", call("Read", file_path="/etc/rigging.conf", limit=5)),
    claude(7, "assistant", call("Bash", command=f"GH_TOKEN={SECRET} pytest -q \\\n --sw", description="Run tests")),
    claude(8, "assistant", text("Mended.")),
)


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-02T10:00:00.000Z", "type": "response_item", "payload": {"type": kind, **payload}}


CODEX = (
    {
        "timestamp": "2026-03-02T10:00:00.000Z",
        "type": "session_meta",
        "payload": {"id": "0197-codex", "cwd": ROOT, "timestamp": "2026-03-02T10:00:00.000Z"},
    },
    codex("message", role="user", content=[{"type": "input_text", "text": "Shorten the keel."}]),
    codex("custom_tool_call", call_id="1", name="apply_patch", input=PATCH),
    codex(
        "function_call",
        call_id="2",
        name="exec_command",
        arguments=json.dumps({"cmd": "sed -n 1,40p keel.py && make", "workdir": f"{ROOT}/src"}),
    ),
    codex("message", role="assistant", content=[{"type": "output_text", "text": "Done."}]),
)
GEMINI = {
    "sessionId": "gem-1",
    "projectHash": "0" * 64,
    "startTime": "2026-03-03T10:00:00.000Z",
    "lastUpdated": "2026-03-03T10:00:00.000Z",
    "messages": [
        {"id": "1", "timestamp": "2026-03-03T10:00:00.000Z", "type": "user", "content": "Look at the mast."},
        {
            "id": "2",
            "timestamp": "2026-03-03T10:01:00.000Z",
            "type": "gemini",
            "content": "It is bent.",
            "toolCalls": [
                {"id": "a", "name": "read_file", "args": {"absolute_path": "/home/eve/mast.py"}},
                {"id": "b", "name": "replace", "args": {"file_path": "/home/eve/mast.py", "old_string": "1"}},
                {"id": "c", "name": "run_shell_command", "args": {"command": "python mast.py"}},
            ],
        },
    ],
}
OPENCLAW = (
    {"type": "session", "id": "s1", "cwd": "/home/ada/clawd", "timestamp": "2026-03-04T10:00:00.000Z"},
    {
        "type": "message",
        "id": "m1",
        "timestamp": "2026-03-04T10:00:00.000Z",
        "message": {"role": "user", "content": [text("Note the tides.")]},
    },
    {
        "type": "message",
        "id": "m2",
        "timestamp": "2026-03-04T10:01:00.000Z",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "toolCall", "id": "t", "name": "write", "arguments": {"path": "tides.md", "content": "x"}},
                {"type": "toolCall", "id": "u", "name": "exec", "arguments": {"command": "date"}},
                text("Noted."),
            ],
        },
    },
)
CLINE = [
    {"ts": 1772700000000, "type": "say", "say": "text", "text": "Paint the hull."},
    {
        "ts": 1772700001000,
        "type": "say",
        "say": "tool",
        "text": json.dumps({"tool": "editedExistingFile", "path": "src/hull.py", "diff": "-red\n+blue"}),
    },
    {"ts": 1772700002000, "type": "ask", "ask": "command", "text": "make paint"},
    {"ts": 1772700003000, "type": "say", "say": "completion_result", "text": "Painted."},
]
NAMES = {
    "claude": "sessions/claude-code/-home-ada-boat/3f6c0a1e-0000-4000-8000-000000000001.jsonl",
    "codex": "sessions/codex/rollout-2026-03-02T10-00-00-0197.jsonl",
    "openclaw": "sessions/main/tides.jsonl",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for path, content in {
        ".claude/projects/-home-ada-boat/3f6c0a1e-0000-4000-8000-000000000001.jsonl": lines(*CLAUDE),
        ".codex/sessions/rollout-2026-03-02T10-00-00-0197.jsonl": lines(*CODEX),
        ".gemini/tmp/boats/chats/session-2026-03-03T10-00-gem1.json": json.dumps(GEMINI),
        "agents/main/sessions/tides.jsonl": lines(*OPENCLAW),
        "globalStorage/saoudrizwan.claude-dev/tasks/17/ui_messages.json": json.dumps(CLINE),
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    return tmp_path


@pytest.fixture
def memory(home: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> Iterator[BuiltinMemory]:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(provider))
    (home / "notes").mkdir()
    opened = make(home)
    opened.sync()
    yield opened
    opened.close()


def make(home: Path, *, tools: bool = False) -> BuiltinMemory:
    folders = (".claude/projects", ".codex/sessions", ".gemini/tmp", "agents/main/sessions", "globalStorage")
    sessions = SessionSettings(folders=tuple(str(home / folder) for folder in folders), tools=tools)
    settings = Settings(sessions=sessions, store=StoreSettings(path=str(home / "data")))
    return BuiltinMemory(home / "notes", settings, executor=None, background=False)


def agents(memory: BuiltinMemory, query: str) -> list[str]:
    """The agents of the sessions that a query finds, first ones first."""
    known = {session.path: session.agent for session in memory.sessions()}
    return [known[result.path] for result in memory.search(query, max_results=20).results]


def files(memory: BuiltinMemory, agent: str) -> list[tuple[str, str]]:
    path = next(session.path for session in memory.sessions() if session.agent == agent)
    return [(use.kind, use.path) for use in memory.insight.session_files(path)]


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (
            "claude-code",
            [
                ("read", "src/sail.py"),
                ("edited", "src/sail.py"),
                ("created", "src/patch.py"),
                ("edited", "src/patch.py"),
                ("read", "/etc/rigging.conf"),
            ],
        ),
        (
            "codex",
            [
                ("edited", "src/keel.py"),
                ("created", "src/rudder.py"),
                ("deleted", "notes/old.md"),
                ("read", "src/keel.py"),
            ],
        ),
        ("gemini", [("read", "/home/eve/mast.py"), ("edited", "/home/eve/mast.py")]),
        ("openclaw", [("created", "tides.md")]),
        ("cline", [("edited", "src/hull.py")]),
    ],
)
def test_files_of_session_are_from_its_tool_calls(
    memory: BuiltinMemory, agent: str, expected: list[tuple[str, str]]
) -> None:
    assert files(memory, agent) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("file:sail.py", ["claude-code"]),
        ("file:src/sail.py", ["claude-code"]),
        ("file:SRC/Sail.py", ["claude-code"]),
        ("file:ail.py", []),
        (f"file:{ROOT}/src/sail.py", ["claude-code"]),
        (f"file://{ROOT}/src/keel.py", ["codex"]),
        ("file:/src/sail.py", []),
        ("file:mast.py", ["gemini"]),
        ("file:*.md", ["openclaw", "codex"]),
        ("file:boat/src/*", ["codex", "claude-code"]),
        ("file:boat/", ["codex", "claude-code"]),
        ("file:src/", ["cline", "codex", "claude-code"]),
        ("file:sail.py file:patch.py", ["claude-code"]),
        ("file:sail.py file:keel.py", []),
        ("file:src/ -file:hull.py", ["codex", "claude-code"]),
        ("command:pytest", ["claude-code"]),
        ("command:MAKE", ["cline", "codex"]),
        ('command:"make paint"', ["cline"]),
        ("command:%", []),
        ("command:pytes*q", ["claude-code"]),
        ('command:"make *paint"', ["cline"]),
        ("command:paint*make", []),
        ("command:m*k*e*p*t", ["cline"]),
        ('command:"make   paint"', ["cline"]),
        ("keel file:rudder.py", ["codex"]),
        ("sail file:rudder.py", []),
    ],
)
def test_operators_filter_sessions_newest_first(memory: BuiltinMemory, query: str, expected: list[str]) -> None:
    assert agents(memory, query) == expected


@pytest.mark.parametrize(
    ("query", "line", "snippet"),
    [
        ("file:sail.py", 3, "src/[sail.py]"),
        ("file:rigging.conf", 6, "/etc/[rigging.conf]"),
        ("file:boat/src/*", 5, "[src/patch.py]"),
        ("command:PYTEST", 7, "GH_TOKEN=ghp_a1…c3D4 [pytest] -q \\\n --sw"),
        ("command:py*est", 7, "GH_TOKEN=ghp_a1…c3D4 [pytest] -q \\\n --sw"),
        ("command:pytest*sw", 7, "GH_TOKEN=ghp_a1…c3D4 [pytest] -q \\\n --[sw]"),
        ("agent:claude-code", 1, None),
        ("sail file:patch.py", 1, None),
        ("-command:pytest agent:claude-code", None, None),
    ],
)
def test_hit_by_operators_is_the_last_tool_call(
    memory: BuiltinMemory, query: str, line: int | None, snippet: str | None
) -> None:
    found = [result for result in memory.search(query).results if result.message.agent == "claude-code"]
    assert [result.snippet_line for result in found] == ([] if line is None else [line])
    if snippet is not None:
        text = found[0].snippet
        for start, end in reversed(found[0].match_ranges):
            text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
        assert text == snippet
        message = next(m for m in memory.read_session(found[0].path).messages if m.line == line)
        assert found[0].message.ordinal == message.ordinal
        assert found[0].context.text == "The sail is torn."


def test_hit_of_a_role_is_not_a_tool_call_of_another_role(memory: BuiltinMemory) -> None:
    (result,) = memory.search("file:src/sail.py role:user", min_score=0).results
    assert result.message is not None
    assert (result.message.role, result.snippet.split("\n")[0]) == ("user", "User: The sail is torn.")
    (result,) = memory.search("file:src/sail.py role:assistant", min_score=0).results
    assert result.snippet == "src/sail.py"


def test_uses_of_a_file_are_newest_first(memory: BuiltinMemory) -> None:
    found = [(use.agent, use.kind, use.path, use.title) for use in memory.insight.uses_of_file("src/")]
    assert found[0] == ("cline", "edited", "src/hull.py", "Paint the hull.")
    assert [agent for agent, *_ in found] == ["cline", "codex", "codex", "codex", *["claude-code"] * 4]


def test_recent_edits_are_changes_newest_first(memory: BuiltinMemory) -> None:
    found = [(use.kind, use.path) for use in memory.insight.recent_edits(4)]
    assert found[:2] == [("edited", "src/hull.py"), ("created", "tides.md")]
    assert len(found) == 4
    assert all(use.kind != "read" for use in memory.insight.recent_edits(100))
    edit = next(use for use in memory.insight.recent_edits(100) if use.path == "src/sail.py")
    assert (edit.line, edit.project) == (3, ROOT)
    message = next(m for m in memory.read_session(edit.session).messages if m.line == edit.line)
    assert (message.ordinal, message.tool) == (edit.ordinal, "Edit")


def test_growth_adds_files_once(memory: BuiltinMemory, home: Path) -> None:
    path = next((home / ".claude").rglob("*.jsonl"))
    half = json.dumps(claude(9, "assistant", call("Write", file_path=f"{ROOT}/log.md", content="z")))
    path.write_text(lines(*CLAUDE) + half)  # its line is not ended yet
    memory.sync()
    path.write_text(lines(*CLAUDE) + half + "\n" + lines(claude(10, "user", text("And the log?"))))
    memory.sync()
    assert [kind for kind, name in files(memory, "claude-code") if name == "log.md"] == ["created"]
    assert len(files(memory, "claude-code")) == 6


def result(name: str, *, failed: bool) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"call-{name}", "content": "…", "is_error": failed}


@pytest.mark.parametrize("pause", [0, 1, 2, 3, 4])
def test_failed_calls_use_no_file(memory: BuiltinMemory, home: Path, pause: int) -> None:
    session = [
        claude(1, "user", text("Where is the oar?")),
        claude(2, "assistant", call("Edit", file_path="oar.py"), call("Write", file_path="oar.py", content="x")),
        claude(3, "user", result("Edit", failed=True), result("Write", failed=False)),
        claude(4, "assistant", call("Bash", command="pytest oar.py")),
        claude(5, "user", result("Bash", failed=True)),
        claude(6, "assistant", call("Edit", file_path="oar.py")),
    ]
    path = home / ".claude/projects/-home-ada-boat/oar.jsonl"
    for end in (pause, len(session)):  # reading may pause between a call and its result
        path.write_text(lines(*session[:end]))
        memory.sync()
    found = [(use.kind, use.line) for use in memory.insight.uses_of_file("oar.py")]
    assert found == [("edited", 6), ("created", 2)]
    assert [use.line for use in memory.insight.recent_edits(100) if use.path == "oar.py"] == [6, 2]
    assert len(agents(memory, 'command:"pytest oar.py"')) == 1
    name = next(session.path for session in memory.sessions() if session.path.endswith("oar.jsonl"))
    failed = [(message.line, message.kind) for message in memory.read_session(name).messages if message.failed]
    assert failed == [(2, "tool-call"), (3, "tool-result"), (4, "tool-call"), (5, "tool-result")]


def test_files_before_the_first_message_are_not_lost(memory: BuiltinMemory, home: Path) -> None:
    path = home / ".claude/projects/-home-ada-boat/late.jsonl"
    first = claude(1, "assistant", call("Read", file_path=f"{ROOT}/oar.py"))
    path.write_text(lines(first))
    memory.sync()
    path.write_text(lines(first, claude(2, "user", text("Where is the oar?"))))
    memory.sync()
    assert [use.path for use in memory.insight.uses_of_file("oar.py")] == ["oar.py"]


def test_deleted_session_has_no_files(memory: BuiltinMemory, home: Path) -> None:
    next((home / ".codex").rglob("*.jsonl")).unlink()
    memory.sync()
    assert memory.insight.uses_of_file("keel.py") == ()
    assert agents(memory, "file:keel.py") == []


def test_secrets_of_commands_and_paths_are_masked(memory: BuiltinMemory, home: Path) -> None:
    path = home / ".claude/projects/-home-ada-boat/secret.jsonl"
    path.write_text(
        lines(
            claude(1, "user", text("Hide it.")),
            claude(2, "assistant", call("Read", file_path=f"{ROOT}/{SECRET}.txt")),
            claude(3, "assistant", call("Write", file_path=f"/tmp/token={SECRET}", content="x")),
        )
    )
    memory.sync()
    paths = [use.path for use in (*memory.insight.recent_edits(100), *memory.insight.uses_of_file("*"))]
    assert not any(SECRET in one for one in paths)
    assert agents(memory, f"command:{SECRET}") == []
    assert agents(memory, "command:GH_TOKEN") == ["claude-code"]
    for database in (home / "data").rglob("index.sqlite*"):
        assert SECRET.encode() not in database.read_bytes()


def test_completion_offers_paths_and_programs(memory: BuiltinMemory) -> None:
    assert memory.query_values("file", "sail") == ("src/sail.py",)
    assert "src/keel.py" in memory.query_values("file", "")
    assert set(memory.query_values("command", "")) >= {"make", "python", "sed"}
    assert {"file:", "command:"} <= {*memory.query_values("", "file"), *memory.query_values("", "comm")}


def test_empty_answer_says_which_condition_emptied_it(memory: BuiltinMemory) -> None:
    outcome = memory.search("keel file:anchor.py", explain=True)
    advice = " ".join(remedy.advice for remedy in outcome.explanation.remedies)
    assert "Without “file:anchor.py”, the query finds" in advice


def test_accents_and_case_of_a_path_do_not_matter(memory: BuiltinMemory, home: Path) -> None:
    path = home / ".claude/projects/-home-ada-boat/accents.jsonl"
    path.write_text(
        lines(
            claude(1, "user", text("Measure it.")),
            claude(2, "assistant", call("Read", file_path=f"{ROOT}/maße/Größe_[1].py")),
        )
    )
    memory.sync()
    for typed in ("grosse_[1].py", "Größe_[1].py", "MASSE/", "Größe*.py", "masse/gro*"):
        assert [use.path for use in memory.insight.uses_of_file(typed)] == ["maße/Größe_[1].py"], typed


def test_unknown_agent_suggests_those_of_similar_names(memory: BuiltinMemory) -> None:
    for query, suggested in {"agent:codx": ["agent:codex"], "agent:c0d": []}.items():
        explanation = memory.search(query, explain=True).explanation
        assert explanation is not None
        assert [remedy.query for remedy in explanation.remedies if remedy.query.startswith("agent:")] == suggested


def test_empty_answer_names_session_with_words_in_a_tool_text(memory: BuiltinMemory, home: Path) -> None:
    path = home / ".claude/projects/-home-ada-boat/oar.jsonl"
    output = {"type": "tool_result", "tool_use_id": "call-Bash", "content": "The Thole pin is ZQ-7781."}
    calls = claude(2, "assistant", call("Bash", command="cat thole.txt"))
    path.write_text(lines(claude(1, "user", text("Where is the oar?")), calls, claude(3, "user", output)))
    memory.sync()

    def remedies(query: str, **options: Any) -> list[str]:
        explanation = memory.search(query, explain=True, **options).explanation
        assert explanation is not None
        return [remedy.advice for remedy in explanation.remedies if remedy.name == "tools"]

    (advice,) = remedies("zq-7781 PIN")
    assert "Where is the oar?" in advice
    assert remedies("zq-7781 sail") == []  # not in the same text
    assert remedies("zq-7781", sources=["memory"]) == []
    assert remedies("oar") == []  # it has results
    written = next(session.modified for session in memory.sessions() if session.title == "Where is the oar?")
    pin = "zq-7781 PIN"
    assert remedies(pin, since=written - 60) == remedies(f"{pin} project:boat agent:claude") == [advice]
    limits: tuple[dict[str, Any], ...] = {"since": written + 60}, {"until": written - 60}, {"path_glob": "*.md"}
    assert [remedies(pin, **limit) for limit in limits] == [[], [], []]
    assert [remedies(f"{pin} {condition}") for condition in ("project:sail", "agent:codex", "title:sail")] == [[]] * 3
    path.write_text(lines(claude(1, "user", text("Where is the oar?"))))
    assert remedies(pin) == []  # not from a cached answer, though the index has not changed


def test_advice_on_tool_texts_reveals_no_secret(memory: BuiltinMemory, home: Path) -> None:
    path = home / ".claude/projects/-home-ada-boat/oar.jsonl"
    output = {"type": "tool_result", "tool_use_id": "call-Bash", "content": f"The thole is {SECRET}."}
    calls = claude(2, "assistant", call("Bash", command="cat thole.txt"))
    path.write_text(lines(claude(1, "user", text("Where is the oar?")), calls, claude(3, "user", output)))
    memory.sync()
    advised = {
        word: any(remedy.name == "tools" for remedy in memory.search(word, explain=True).explanation.remedies)
        for word in ("thole", SECRET[7:20], SECRET)
    }
    assert advised == {"thole": True, SECRET[7:20]: False, SECRET: False}


def test_transcript_that_no_parser_can_read_costs_no_answer(
    memory: BuiltinMemory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".claude/projects/-home-ada-boat/oar.jsonl"
    output = {"type": "tool_result", "tool_use_id": "call-Bash", "content": "The thole pin is new."}
    calls = claude(2, "assistant", call("Bash", command="cat thole.txt"))
    path.write_text(lines(claude(1, "user", text("Where is the oar?")), calls, claude(3, "user", output)))
    memory.sync()
    for fault in (KeyError("content"), TypeError("no list"), RecursionError()):

        def parse(*_args: Any, fault: Exception = fault) -> None:
            raise fault

        monkeypatch.setattr("engine.corpus.transcripts.transcript_reader.conversations", parse)
        assert "tools" not in [remedy.name for remedy in memory.search("thole", explain=True).explanation.remedies]


def test_advice_on_tool_texts_reads_few_transcripts(memory: BuiltinMemory, home: Path) -> None:
    outputs = [("oar-0", "The thole pin."), *((f"oar-{number}", "The pin.\nThe thole.") for number in (1, 2, 3))]
    for number, (name, text_of_tool) in enumerate(outputs):
        results = [
            {"type": "tool_result", "tool_use_id": "call-Bash", "content": part} for part in text_of_tool.split("\n")
        ]
        calls = claude(2, "assistant", call("Bash", command="cat"))
        path = home / f".claude/projects/-home-ada-boat/{name}.jsonl"
        path.write_text(lines(claude(1, "user", text("Where is it?")), calls, *(claude(3, "user", r) for r in results)))
        os.utime(path, (2_000_000_000 + number,) * 2)

    def is_advised(memory: BuiltinMemory) -> bool:
        remedies = memory.search("thole pin", explain=True).explanation.remedies
        return "tools" in [remedy.name for remedy in remedies]

    memory.sync()
    assert not is_advised(memory)  # three newer ones are read in vain
    (home / ".claude/projects/-home-ada-boat/oar-3.jsonl").unlink()
    memory.sync()
    assert is_advised(memory)


def test_tool_texts_that_are_indexed_need_no_advice(memory: BuiltinMemory, home: Path) -> None:
    path = home / ".claude/projects/-home-ada-boat/oar.jsonl"
    output = {"type": "tool_result", "tool_use_id": "call-Bash", "content": "The gudgeons are new."}
    calls = claude(2, "assistant", call("Bash", command="cat"))
    path.write_text(lines(claude(1, "user", text("Where is the oar?")), calls, claude(3, "user", output)))
    memory.sync()
    memory.close()
    advised = []
    for tools in (False, True):
        opened = make(home, tools=tools)
        opened.sync()
        remedies = opened.search("udgeo", explain=True).explanation.remedies
        advised.append("tools" in [remedy.name for remedy in remedies])
        opened.close()
    assert advised == [True, False]


def test_snippet_of_a_tool_call_is_its_readable_text(memory: BuiltinMemory, home: Path) -> None:
    calls = (
        call("Edit", file_path=f"{ROOT}/src/sail.py", old_string="reef = 1", new_string='reef = 2\nprint("gooseneck")'),
        call("Bash", command="make halyard", description="Splice it"),
        call("Bash", command=f"export TOKEN=\\\n{SECRET}\nmake cringle"),
        call("Bash", command=f"make grommet {SECRET[:2]}\x1b[31m{SECRET[2:]}", description="Tie it"),
    )
    path = home / ".claude/projects/-home-ada-boat/oar.jsonl"
    path.write_text(
        lines(claude(1, "user", text("Oar?")), *(claude(2 + n, "assistant", c) for n, c in enumerate(calls)))
    )
    memory.close()
    opened = make(home, tools=True)
    opened.sync()
    answer = memory_search(AgentAccess(lambda: opened, Settings()), "gooseneck")
    for snippet in (opened.search("gooseneck").results[0].snippet, answer.results[0].snippet):
        assert '-reef = 1\n+reef = 2\n+print("gooseneck")' in snippet
        assert "new_string" not in snippet
        assert "make halyard\ndescription: Splice it" in snippet
    result = opened.search("halyard").results[0]
    assert [result.snippet[start:end] for start, end in result.match_ranges] == ["halyard"]
    assert SECRET not in opened.search("cringle").results[0].snippet
    (hidden,) = [hit.snippet for hit in opened.search("grommet").results if "grommet" in hit.snippet]
    assert SECRET[2:] not in hidden  # terminal colours separate its characters
    opened.close()
