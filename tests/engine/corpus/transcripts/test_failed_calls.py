"""Tool calls that failed or were refused, as the transcripts of several agents mark them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.transcripts.transcript_reader import conversations
from tests.helpers.agent_databases import DATABASES, field, warp_message, warp_rows

GOOD, BAD = "/boats/good.py", "/boats/bad.py"
AT = "2026-03-01T10:00:00.000Z"


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def claude(role: str, *blocks: Any) -> dict[str, Any]:
    ids = {"uuid": f"{role}-{len(blocks)}", "sessionId": "3f6c0a1e-0000-4000-8000-000000000001"}
    return {"type": role, **ids, "message": {"role": role, "content": list(blocks)}}


def tool_use(id: str, path: str) -> dict[str, Any]:
    given = {"file_path": path, "old_string": "a", "new_string": "b"}
    return {"type": "tool_use", "id": id, "name": "Edit", "input": given}


def tool_result(id: str, text: str, *, failed: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": "response_item", "payload": {"type": kind, **payload}}


def patch(path: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"


def codex_session(refusal: object) -> str:
    return lines(
        {"timestamp": AT, "type": "session_meta", "payload": {"id": "0197", "cwd": "/boats", "timestamp": AT}},
        codex("custom_tool_call", call_id="1", name="apply_patch", input=patch(GOOD)),
        codex("custom_tool_call_output", call_id="1", output="Exit code: 0\nWall time: 0.1 seconds\nOutput:\nDone"),
        codex("custom_tool_call", call_id="2", name="apply_patch", input=patch(BAD)),
        codex("custom_tool_call_output", call_id="2", output=refusal),
    )


def pi(role: str, **message: Any) -> dict[str, Any]:
    return {"type": "message", "id": "m", "timestamp": AT, "message": {"role": role, **message}}


def pi_call(id: str, path: str) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": "edit", "arguments": {"path": path, "oldText": "a", "newText": "b"}}


def copilot(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "id": "e", "timestamp": AT, "data": data}


def vscode_tool(id: str, path: str, **more: Any) -> dict[str, Any]:
    tool = {"kind": "toolInvocationSerialized", "toolId": "copilot_createFile", "toolCallId": id, **more}
    return {**tool, "toolSpecificData": {"kind": "input", "rawInput": {"filePath": path}}, "pastTenseMessage": "Done"}


VSCODE = {
    "responderUsername": "GitHub Copilot",
    "creationDate": 1765000000000,
    "sessionId": "s1",
    "requests": [{"message": {"text": "Mend it."}, "response": [vscode_tool("1", GOOD)]}],
}


def vscode_session(**refused: Any) -> str:
    request = {"message": {"text": "Mend it."}, "response": [vscode_tool("1", GOOD), vscode_tool("2", BAD, **refused)]}
    return json.dumps({**VSCODE, "requests": [request]})


def openhands(id: str, path: str) -> dict[str, Any]:
    call = {"id": id, "arguments": json.dumps({"command": "str_replace", "path": path})}
    return {"kind": "ActionEvent", "tool_name": "file_editor", "tool_call_id": id, "tool_call": call}


SESSIONS = {
    "claude": (
        ".claude/projects/-boats/3f6c0a1e-0000-4000-8000-000000000001.jsonl",
        lines(
            claude("assistant", tool_use("1", GOOD), tool_use("2", BAD)),
            claude("user", tool_result("2", "String not found.", failed=True), tool_result("1", "Done")),
        ),
    ),
    "codex: exit code": (".codex/sessions/rollout-1.jsonl", codex_session("Exit code: 1\nOutput:\nNo such file")),
    "codex: verification": (".codex/sessions/rollout-2.jsonl", codex_session("apply_patch verification failed: x")),
    "codex: first version": (
        ".codex/sessions/rollout-3.jsonl",
        codex_session('{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.1}}'),
    ),
    "codex: flag": (".codex/sessions/rollout-4.jsonl", codex_session({"content": "no", "success": False})),
    "pi": (
        ".pi/agent/sessions/1.jsonl",
        lines(
            {"type": "session", "version": 3, "id": "s1", "cwd": "/boats", "timestamp": AT},
            pi("assistant", content=[pi_call("1", GOOD), pi_call("2", BAD)]),
            pi("toolResult", toolCallId="2", toolName="edit", content=[], isError=True),
            pi("toolResult", toolCallId="1", toolName="edit", content=[{"type": "text", "text": "Done"}]),
        ),
    ),
    "copilot cli": (
        ".copilot/session-state/1/events.jsonl",
        lines(
            copilot("session.start", sessionId="1", version=1, copilotVersion="1.0"),
            copilot("tool.execution_start", toolCallId="1", toolName="edit", arguments={"path": GOOD}),
            copilot("tool.execution_start", toolCallId="2", toolName="edit", arguments={"path": BAD}),
            copilot("tool.execution_complete", toolCallId="2", success=False, error={"message": "No match"}),
            copilot("tool.execution_complete", toolCallId="1", success=True, result={"content": "Done"}),
        ),
    ),
    "copilot chat: failed": ("chatSessions/s1.json", vscode_session(resultDetails={"isError": True})),
    "copilot chat: denied": ("chatSessions/s2.json", vscode_session(isConfirmed={"type": 0})),
    "gemini": (
        ".gemini/tmp/1/chats/session-1.json",
        json.dumps(
            {
                "sessionId": "gem-1",
                "projectHash": "0" * 64,
                "startTime": AT,
                "messages": [
                    {
                        "id": "1",
                        "timestamp": AT,
                        "type": "gemini",
                        "content": "",
                        "toolCalls": [
                            {"id": "a", "name": "replace", "args": {"file_path": GOOD}, "status": "success"},
                            {"id": "b", "name": "replace", "args": {"file_path": BAD}, "status": "error"},
                        ],
                    }
                ],
            }
        ),
    ),
    "amp": (
        ".local/share/amp/threads/T-1.json",
        json.dumps(
            {
                "id": "T-1",
                "messages": [
                    {"role": "assistant", "content": [tool_use("1", GOOD), tool_use("2", BAD)]},
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "toolUseID": "2", "run": {"status": "error", "error": "No"}},
                            {"type": "tool_result", "toolUseID": "1", "run": {"status": "done", "result": "Done"}},
                        ],
                    },
                ],
            }
        ),
    ),
}


def messages(path: Path) -> Sequence[Message]:
    return next(iter(conversations(path))).everything


@pytest.mark.parametrize("name", SESSIONS)
def test_failed_edit_is_marked_where_its_result_is(tmp_path: Path, name: str) -> None:
    place, text = SESSIONS[name]
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text(text)
    found = messages(path)
    tried = [msgspec.structs.replace(message, failed=False) for message in found]
    called = {message.call: use.value for message in tried for use in uses_of(message)}
    assert {called.get(message.call) for message in found if message.failed} == {BAD}
    assert set(called.values()) == {GOOD, BAD}


@pytest.mark.parametrize(
    ("command", "counted"),
    [
        ("sed -i s/a/b/ hull.py && pytest", ["edited", "command"]),
        ("sed -i s/a/b/ hull.py", ["command"]),
        (f"apply_patch <<'E'\n{patch(BAD)}\nE", ["command"]),
    ],
)
def test_files_of_a_failed_command_count_if_others_follow(command: str, counted: list[str]) -> None:
    message = Message("assistant", "tool-call", command, 1, 1, tool="bash", failed=True)
    assert [use.kind for use in uses_of(message)] == counted


FLAGS = {
    "zed": ('"is_error": false', '"is_error": true'),
    "crush": ('"is_error": false', '"is_error": true'),
    "forge": ('"is_error": false', '"is_error": true'),
    "goose": ('"isError": false', '"isError": true'),
    "opencode": ('"status": "completed", "input"', '"status": "error", "input"'),
    "cursor": ('"toolFormerData": {', '"toolFormerData": {"status": "cancelled", '),
    "cursor:rejected": ('"toolFormerData": {', '"toolFormerData": {"userDecision": "rejected", '),
    "octofriend": ('"role": "tool-output"', '"role": "tool-error"'),
    "shelley": ('"ToolUseID"', '"ToolError": true, "ToolUseID"'),
}


@pytest.mark.parametrize("mark", FLAGS)
def test_failed_call_in_a_database_is_marked(tmp_path: Path, mark: str) -> None:
    changed = 0
    for database in DATABASES:
        rows = [
            (table, {name: _replaced(value, *FLAGS[mark]) for name, value in row.items()})
            for table, row in database.rows
        ]
        if database.name.partition(":")[0] == mark.partition(":")[0] and rows != list(database.rows):
            changed += 1
            path = database.write(tmp_path / str(changed), rows)
            assert any(message.failed and message.kind == "tool-result" for message in messages(path)), database.name
            path = database.write(tmp_path / f"{changed}-good")
            assert not any(message.failed for message in messages(path)), database.name
    assert changed


def _replaced(value: Any, old: str, new: str) -> Any:
    return value.replace(old, new) if isinstance(value, str) else value


def muse_run(kind: str, **event: Any) -> dict[str, Any]:
    stream = {"kind": "session", "id": "s"}
    payload = {"kind": "run", "event": {"kind": kind, **event}}
    return {"payload_type": "runtime.session", "stream": stream, "recorded_at": 1_765_000_000_000, "payload": payload}


def junie(id: str, kind: str, **event: Any) -> dict[str, Any]:
    update = {"kind": f"{kind}BlockUpdatedEvent", "stepId": id, **event}
    return {"kind": "SessionA2uxEvent", "event": {"state": "IN_PROGRESS", "agentEvent": update}}


def pool(kind: str, **members: Any) -> dict[str, Any]:
    return {"id": "e", "timestamp": AT, "type": kind, kind.replace(".", "_"): members}


def jan(*blocks: Any, **more: Any) -> dict[str, Any]:
    line = {"id": "m", "object": "thread.message", "thread_id": "t", "role": "assistant", "created_at": 1765000000}
    return {**line, "content": list(blocks), **more}


def jan_call(id: str, output: Any) -> dict[str, Any]:
    return {"type": "tool_call", "tool_call_id": id, "tool_name": "read", "input": {"path": GOOD}, "output": output}


def span(id: str, error: str = "", **more: Any) -> dict[str, Any]:
    values = {
        **({"error.type": error} if error else {}),
        "gen_ai.conversation.id": "c",
        "gen_ai.tool.name": "run",
        "gen_ai.tool.call.id": id,
        "gen_ai.tool.call.result": "x",
    }
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]
    made = {"spanId": id, "startTimeUnixNano": f"17650000000000000{id}", "attributes": attributes, **more}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [made]}]}]}


def buff(id: str, value: Any) -> dict[str, Any]:
    raw = [{"type": "json", "value": value}]
    return {"type": "tool", "toolCallId": id, "toolName": "str_replace", "input": {}, "output": "x", "outputRaw": raw}


def hermes(id: str, content: str) -> list[dict[str, Any]]:
    function = {"name": "terminal", "arguments": '{"command": "make"}'}
    calls = [{"id": id, "type": "function", "function": function}]
    call = {"role": "assistant", "content": "", "tool_calls": calls}
    return [call, {"role": "tool", "tool_call_id": id, "content": content}]


MARKED = {
    "muse": (
        "muse/sessions/2026/03/01/s/session.jsonl",
        lines(
            muse_run("assistant_tool_calls_committed", tool_calls=[{"call_id": id, "name": "bash"} for id in "123"]),
            muse_run(
                "tool_result_batch_committed",
                results=[
                    {"tool_call_id": "1", "text": '{"exit_code": 0, "output": "ok"}'},
                    {"tool_call_id": "2", "text": '{"exit_code": 1, "output": "no"}'},
                    {"tool_call_id": "3", "text": "noted"},
                ],
            ),
        ),
        [False, True, False],
    ),
    "junie": (
        ".junie/sessions/s/events.jsonl",
        lines(
            junie("1", "Terminal", command="ls", status="COMPLETED", output="hull.py"),
            junie("2", "Terminal", command="rm", status="FAILED", details="no"),
            junie("3", "Mcp", toolName="idea/apply_patch", input="{}", status="REJECTED", details="no"),
        ),
        [False, True, True],
    ),
    "poolside": (
        "trajectory-cli_1.ndjson",
        lines(
            pool("session.start", workspace="/boats"),
            *(pool("tool_call.parsed", id=id, name="shell", args={"cmd": "ls"}) for id in "12"),
            pool("tool_call.result", id="1", tool_name="shell", observation="ok", is_error=False),
            pool("tool_call.result", id="2", tool_name="shell", observation="no", is_error=True),
        ),
        [False, True],
    ),
    "jan": (
        "threads/t/messages.jsonl",
        lines(jan(jan_call("1", {"content": "ok"}), jan_call("2", {"error": "no", "content": []}))),
        [False, True],
    ),
    "visual studio": (
        "1_VSGitHubCopilot_traces.jsonl",
        lines(span("1", status={}), span("2", status={"code": 2}), span("3", error="timeout")),
        [False, True, True],
    ),
    "codebuff": (
        "chats/2026-03-01/chat-messages.json",
        json.dumps(
            [{"id": "1", "variant": "ai", "blocks": [buff("1", {"file": GOOD}), buff("2", {"errorMessage": "no"})]}]
        ),
        [False, True],
    ),
    "codebuff: agents": (
        "chats/2026-03-01/chat-messages.json",
        json.dumps(
            [
                {
                    "id": "1",
                    "variant": "ai",
                    "blocks": [
                        {"type": "agent", "agentName": "Editor", "content": status, "status": status}
                        for status in ("complete", "failed", "cancelled")
                    ],
                }
            ]
        ),
        [False, True, True],
    ),
    "hermes": (
        "s.jsonl",
        lines(
            {"role": "session_meta", "platform": "cli", "model": "m"},
            *hermes("1", '{"output": "ok", "exit_code": 0, "error": null}'),
            *hermes("2", '{"output": "no", "exit_code": 2, "error": null}'),
        ),
        [False, True],
    ),
}


@pytest.mark.parametrize("name", MARKED)
def test_result_of_failed_call_is_marked(tmp_path: Path, name: str) -> None:
    place, text, failed = MARKED[name]
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    found = messages(path)
    assert [message.failed for message in found if message.kind == "tool-result"] == failed


WARP_RESULTS = {
    "finished": (field(2, field(5, field(1, "ok") + field(2, 0))), False),
    "exit code": (field(2, field(5, field(1, "no") + field(2, 1))), True),
    "denied": (field(2, field(6, b"")), True),
    "edits made": (field(6, field(1, b"")), False),
    "edits failed": (field(6, field(2, field(1, "no"))), True),
    "server's tool": (field(16, field(2, field(1, "no"))), True),
    "cancelled": (field(14, b""), True),
}


@pytest.mark.parametrize(("result", "failed"), WARP_RESULTS.values(), ids=WARP_RESULTS)
def test_failed_call_of_warp_is_marked(tmp_path: Path, result: bytes, failed: bool) -> None:
    call = warp_message(2, 4, field(1, "t") + field(2, field(1, "make")))
    rows = warp_rows(warp_message(1, 2, field(1, "Why?")), call, warp_message(3, 5, field(1, "t") + result))
    database = next(one for one in DATABASES if one.name == "warp: 2025")
    found = messages(database.write(tmp_path, rows))
    assert any(message.failed for message in found) == failed
    assert len({message.call for message in found if message.kind in ("tool-call", "tool-result")}) == 1
