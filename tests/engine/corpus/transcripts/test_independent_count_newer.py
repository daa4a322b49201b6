"""Counts samples of the formats of newer agents, two of each, as `test_independent_count` does.

Each counter finds messages by the shape of the file alone: the role of each spoken message, and all times.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.corpus.transcripts.test_independent_count_lines import CHANGES, ENTRIES, HEADER, count_entries
from tests.helpers.session_counts import SECONDS, TIMES, Count, Sample, Value, check, count, lines, read

ID = "0c1d2e3f-0000-4000-8000-000000000041"
MS = [1000 * second for second in SECONDS]
LOCAL = [time.replace("T", " ").removesuffix("Z") for time in TIMES]
Found = Iterator[tuple[str, object]]
"""Role ("" for anything that isn't spoken) and time (None without one) of each part of a file."""


def _counted(find: Callable[[Any], Found], values: Callable[[str], Any] = read) -> Callable[[str], Count]:
    def counter(text: str) -> Count:
        found = list(find(values(text)))
        return count([role for role, _ in found if role], [time for _, time in found if time is not None])

    return counter


def _named(role: str) -> str:
    return {"user": "user", "assistant": "agent"}.get(role, "")


def _text(text: str, **more: Any) -> Value:
    return {"type": "text", "text": text, **more}


# --- Command Code, Zencoder, Jan, Reasonix: lines with a role --------------------------------------------------------


def _spoken_blocks(blocks: Any) -> int:
    return 1 if isinstance(blocks, str) else sum(block["type"] == "text" and "tag" not in block for block in blocks)


def _roles(values: Any) -> Found:
    for value in values:
        time = value.get("createdAt") or value.get("timestamp") or value.get("created_at")
        yield "", time
        for _ in range(_spoken_blocks(value.get("content", []))):
            yield _named(value.get("role", "")), None


def _command(minute: int, role: str, *blocks: Value) -> Value:
    place = {"metadata": {"version": 2, "cwd": "/boats"}} if minute == 0 else {"metadata": {"version": 2}}
    return {"id": f"m{minute}", "timestamp": TIMES[minute], "sessionId": ID, "role": role, "content": blocks, **place}


_CALL = {"type": "tool-call", "toolCallId": "c", "toolName": "Read", "input": {"file_path": "oar.py"}}
_RESULT = {"type": "tool-result", "toolCallId": "c", "toolName": "Read", "output": {"type": "text", "value": "ash"}}
COMMAND = (
    _command(0, "user", _text("Shape the oar.")),
    _command(1, "assistant", {"type": "reasoning", "text": "Ash."}, _text("I look."), _CALL),
    _command(2, "tool", _RESULT),
    _command(3, "assistant", _text("Shaped.")),
)


def _entries_of_command(values: Any) -> Found:
    for value in values:
        yield "", value["timestamp"]
        if value["type"] == "message" and value["message"]["meta"].get("source") != "reminder":
            for block in value["message"]["content"]:
                yield _named(value["message"]["role"]) if block["type"] == "text" else "", None


def _new_command(minute: int, role: str, source: str, *blocks: Value) -> Value:
    message = {"role": role, "content": blocks, "meta": {"messageId": f"m{minute}", "createdAt": 0, "source": source}}
    return {"id": f"m{minute}", "parentId": None, "timestamp": TIMES[minute], "type": "message", "message": message}


COMMAND_NEW = (
    {"type": "session", "version": 3, "id": ID, "cwd": "/boats", "timestamp": TIMES[0]},
    _new_command(1, "user", "user", _text("Shape the oar.")),
    _new_command(2, "assistant", "", {"type": "tool_use", "id": "c", "name": "read_file", "input": {"path": "oar"}}),
    _new_command(3, "user", "tool", {"type": "tool_result", "tool_use_id": "c", "content": [_text("ash")]}),
    _new_command(4, "user", "reminder", _text("Be brief.")),
    _new_command(5, "assistant", "", _text("Shaped.")),
)


def _zen(minute: int, role: str, *blocks: Value) -> Value:
    return {"role": role, "content": blocks, "createdAt": TIMES[minute]}


ZENCODER = (
    {"id": ID, "chatId": "c", "modelId": "m", "parentId": "", "creationReason": "newChat", "createdAt": TIMES[0]},
    _zen(1, "user", _text("Shape the oar.")),
    _zen(2, "assistant", _text("I look."), _CALL),
    _zen(3, "tool", {"type": "tool-result", "toolCallId": "c", "content": "ash"}),
    _zen(4, "assistant", _text("Shaped.")),
)
ZENCODER_NEW = (
    {**ZENCODER[0], "version": "1", "updatedAt": TIMES[4]},
    _zen(1, "user", _text("Be brief.", tag="instructions"), {"type": "text", "text": "Shape the oar."}),
    {"role": "permission", "content": "granted"},
    *ZENCODER[2:],
    {"role": "finish", "reason": "endTurn", "createdAt": TIMES[4]},
)


def _jan(minute: int, role: str, *blocks: Value, **more: Any) -> Value:
    line = {"id": f"m{minute}", "object": "thread.message", "thread_id": "t", "created_at": MS[minute]}
    return {**line, "role": role, "content": blocks, **more}


def _value(text: str) -> Value:
    return {"type": "text", "text": {"value": text, "annotations": []}}


_JAN_CALL = {"tool": {"id": "c", "function": {"name": "read", "arguments": "{}"}}, "response": {"content": "ash"}}
JAN = (
    _jan(0, "user", _value("Shape the oar.")),
    _jan(1, "assistant", _value("I look."), metadata={"tool_calls": [_JAN_CALL]}),
    _jan(2, "assistant", _value("Shaped.")),
)
JAN_NEW = (
    JAN[0],
    _jan(
        1,
        "assistant",
        {"type": "reasoning", "text": {"value": "Ash."}},
        {"type": "tool_call", "tool_call_id": "c", "tool_name": "read", "input": {"path": "oar"}, "output": "ash"},
        _value("Shaped."),
    ),
)
REASONIX = (
    {"role": "system", "content": "You shape oars."},
    {"role": "user", "content": "Shape the oar."},
    {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c", "name": "read", "arguments": "{}"}]},
    {"role": "tool", "content": "ash", "tool_call_id": "c", "name": "read"},
    {"role": "assistant", "content": "Shaped.", "reasoning_content": "Ash."},
)
REASONIX_METADATA = {"id": "r", "created_at": TIMES[0], "updated_at": TIMES[5], "workspace_root": "/boats"}


def _reasonix(values: Any) -> Found:
    """Yield the messages, and the times in the file next to them."""
    yield from ((_named(value["role"]), None) for value in values)
    yield from (("", time) for time in (TIMES[0], TIMES[5]))


HERMES = (
    {"role": "session_meta", "tools": [], "model": "m", "platform": "cli", "timestamp": TIMES[0]},
    {"role": "user", "content": "Shape the oar.", "timestamp": TIMES[1]},
    {"role": "assistant", "content": "Shaped.", "timestamp": TIMES[3], "finish_reason": "stop"},
)
HERMES_NEW = (
    *HERMES[:2],
    {"role": "tool", "content": "ash", "tool_call_id": "c", "tool_name": "read", "timestamp": TIMES[2]},
    {**HERMES[2], "reasoning": "Ash."},
)

# --- DeepSeek Harness, Poolside, Visual Studio: events ---------------------------------------------------------------


def _harness(minute: int, kind: str, role: str, source: str, *blocks: Value) -> Value:
    message = {"id": f"m{minute}", "role": role, "source": {"kind": source}, "content": blocks}
    data = message if kind == "user/message" else {"turn": 1, "step": 1, "message": message}
    return {"type": kind, "seq": minute, "time": MS[minute], "data": data, "surfaceOp": "append"}


HARNESS = (
    {"type": "session", "version": 0, "id": "h", "createdAt": MS[0], "cwd": "/boats", "delegationDepth": 0},
    _harness(1, "user/message", "user", "user", _text("Shape the oar.")),
    _harness(2, "assistant/message", "assistant", "model", {"type": "reasoning", "text": "Ash."}, _text("I look.")),
    _harness(3, "assistant/message", "assistant", "model", _text("Shaped.")),
)
HARNESS_NEW = (
    HARNESS[0],
    {"type": "turn/start", "seq": 0, "time": MS[1], "data": {"turn": 1}},
    HARNESS[1],
    _harness(1, "user/message", "user", "plugin", _text("Today is Monday.")),
    *HARNESS[2:],
    {"type": "session/title", "seq": 9, "time": MS[3], "data": {"title": "An oar", "source": {"kind": "user"}}},
)


def _harness_found(values: Any) -> Found:
    for value in values:
        yield "", value.get("time") or value["createdAt"]
        message = value.get("data", {}).get("message") or value.get("data", {})
        if value["type"] in ("user/message", "assistant/message") and message["source"]["kind"] != "plugin":
            for block in message["content"]:
                yield _named(message["role"]) if block["type"] == "text" else "", None


def _pool(minute: int, kind: str, **data: Any) -> Value:
    event = {"id": f"e{minute}", "timestamp": TIMES[minute], "type": kind}
    return {**event, kind.replace(".", "_"): data}


POOLSIDE = (
    _pool(0, "session.start", workspace="", working_directories=["/boats"], prompt=""),
    _pool(1, "session.input", id="", prompt="Shape the oar.", mode="build"),
    _pool(2, "thought.end", thought="Ash."),
    _pool(3, "assistant_message.end", assistant_message="Which oar?"),
    _pool(4, "session.input", id="", prompt="The left one.", mode="build"),
    _pool(5, "assistant_message.end", assistant_message="Shaped."),
)
POOLSIDE_NEW = (
    *POOLSIDE[:3],
    _pool(3, "tool_call.parsed", id="c", name="shell", args={"cmd": "cat oar"}),
    _pool(4, "tool_call.result", id="c", tool_name="shell", observation="ash"),
    _pool(5, "assistant_message.end", assistant_message="Shaped."),
)


def _pool_found(values: Any) -> Found:
    spoken = {"session.input": "user", "assistant_message.end": "agent"}
    return ((spoken.get(value["type"], ""), value["timestamp"]) for value in values)


def _span(minute: int, operation: str, **attributes: str) -> Value:
    members = {"gen_ai.conversation.id": ID, "gen_ai.operation.name": operation, **attributes}
    nano = str(MS[minute] * 10**6)
    span = {"traceId": "0a" * 16, "spanId": f"{minute:02}", "startTimeUnixNano": nano, "endTimeUnixNano": nano}
    stated = [{"key": key, "value": {"stringValue": value}} for key, value in members.items()]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "vs-copilot"}}]}
    spans = [{**span, "name": operation, "kind": 1, "attributes": stated}]
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


def _chat(minute: int, answer: str, *asked: str) -> Value:
    said = [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in asked]
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]
    messages = {"gen_ai.input.messages": json.dumps(said), "gen_ai.output.messages": json.dumps(answered)}
    return _span(minute, "chat", **messages)


TRACES = (_chat(1, "Shaped.", "Shape the oar."),)
TRACES_NEW = (
    _span(0, "invoke_agent"),
    *TRACES,
    _span(2, "execute_tool", **{"gen_ai.tool.name": "get_file", "gen_ai.tool.call.id": "c"}),
)


def _spans(values: Any) -> Found:
    for value in values:
        (span,) = value["resourceSpans"][0]["scopeSpans"][0]["spans"]
        stated = {member["key"]: member["value"]["stringValue"] for member in span["attributes"]}
        for key, role in (("gen_ai.input.messages", "user"), ("gen_ai.output.messages", "agent")):
            for _ in json.loads(stated.get(key, "[]")):
                yield role, None
        if stated["gen_ai.operation.name"] != "invoke_agent":
            yield "", int(span["startTimeUnixNano"]) // 10**6


# --- Xum, Jcode, Cortex Code, Posit Assistant, QwenPaw ---------------------------------------------------------------


def _mux(minute: int, role: str, *parts: Value, **more: Any) -> Value:
    return {"id": f"m{minute}", "role": role, "metadata": {"timestamp": MS[minute], **more}, "parts": parts}


MUX = (
    _mux(0, "user", _text("Shape the oar.", state="done"), historySequence=0),
    _mux(1, "assistant", {"type": "reasoning", "text": "Ash."}, _text("Which oar?"), historySequence=1),
    _mux(2, "user", _text("The left one."), historySequence=2),
    _mux(3, "assistant", _text("Shaped."), historySequence=3),
)
MUX_NEW = tuple({**line, "workspaceId": "w"} for line in (*MUX, _mux(4, "user", _text("Done."), synthetic=True)))


def _mux_found(values: Any) -> Found:
    for value in values:
        yield "", value["metadata"]["timestamp"]
        for part in value["parts"]:
            yield _named(value["role"]) if part["type"] == "text" and "synthetic" not in value["metadata"] else "", None


def _jcode(minute: int, role: str, *blocks: Value) -> Value:
    return {"id": f"m{minute}", "role": role, "content": blocks, "timestamp": TIMES[minute]}


JCODE: dict[str, Any] = {
    "id": "session_fox_1_a",
    "title": "An oar",
    "created_at": TIMES[0],
    "updated_at": TIMES[3],
    "messages": [
        _jcode(1, "user", _text("Shape the oar.")),
        _jcode(2, "assistant", {"type": "reasoning", "text": "Ash."}, _text("I look.")),
        _jcode(3, "assistant", _text("Shaped.")),
    ],
}
JCODE_NEW = {
    **JCODE,
    "messages": [
        *JCODE["messages"][:1],
        _jcode(2, "assistant", {"type": "tool_use", "id": "c", "name": "read", "input": {"path": "oar"}}),
        _jcode(3, "user", {"type": "tool_result", "tool_use_id": "c", "content": "ash"}),
        _jcode(4, "assistant", _text("Shaped.")),
    ],
}


def _document(text: str) -> Any:
    value = json.loads(text)
    return [{"content": [], "timestamp": value["created_at"]}, *value.get("messages", value.get("history", []))]


def _cortex(minute: int, role: str, *blocks: Value) -> Value:
    return {"role": role, "id": f"x{minute}", "content": blocks, f"{role}_sent_time": TIMES[minute]}


CORTEX: dict[str, Any] = {
    "session_id": ID,
    "title": "An oar",
    "working_directory": "/boats",
    "created_at": TIMES[0],
    "last_updated": TIMES[5],
    "session_type": "cli",
    "history": [
        _cortex(1, "user", _text("Shape the oar.")),
        _cortex(3, "assistant", _text("Shaped.")),
    ],
}
CORTEX_NEW = {
    **CORTEX,
    "history": [
        _cortex(1, "user", _text("Monday.", internalOnly=True), _text("Shape the oar.", is_user_prompt=True)),
        _cortex(2, "assistant", {"type": "tool_use", "tool_use": {"tool_use_id": "c", "name": "read", "input": {}}}),
        _cortex(3, "assistant", _text("Shaped.")),
    ],
}


def _cortex_found(value: Any) -> Found:
    yield from (("", value[name]) for name in ("created_at", "last_updated"))
    for turn in value["history"]:
        for block in turn["content"]:
            yield _named(turn["role"]) if block["type"] == "text" and "internalOnly" not in block else "", None


def _posit(minute: int, role: str, content: object) -> Value:
    stated = {"providerMetadata": {"positai": {"timestamp": MS[minute]}}}
    return {"id": minute, "message": {"role": role, "content": content, "providerOptions": stated}}


def _posit_tree(*numbers: int, **metadata: object) -> str:
    """Return the document of a conversation whose messages are those with these numbers, one after another."""
    nodes = [
        {"id": f"n{at}", "parentId": f"n{at - 1}" if at else "r", "isActive": True, "lmMessageIds": [number]}
        for at, number in enumerate(numbers)
    ]
    stamped = [{**node, "timestamp": MS[number]} for node, number in zip(nodes, numbers, strict=True)]
    root = {"id": "r", "title": "An oar", "timestamp": MS[0], "metadata": {"kind": "main", **metadata}}
    return json.dumps({"schemaVersion": "3", "root": root, "messages": stamped, "files": []})


POSIT = (_posit(1, "user", "Shape the oar."), _posit(2, "assistant", [_text("Shaped.")]))
POSIT_NEW = (
    POSIT[0],
    _posit(2, "assistant", [{"type": "tool-call", "toolCallId": "c", "toolName": "read", "input": {"path": "oar"}}]),
    _posit(3, "assistant", [_text("Shaped.")]),
)


def _posit_count(values: tuple[Value, ...]) -> Callable[[str], Count]:
    """Return a counter of the messages next to the document, which has the time of the beginning."""
    spoken = [
        _named(value["message"]["role"])
        for value in values
        if isinstance(value["message"]["content"], str) or value["message"]["content"][0]["type"] == "text"
    ]
    return lambda _text: count(spoken, [MS[0], *(MS[value["id"]] for value in values)])


def _paw(minute: int, role: str, *blocks: Value) -> list[Any]:
    return [{"id": f"q{minute}", "name": "x", "role": role, "content": blocks, "timestamp": LOCAL[minute]}, []]


def _paw_document(*pairs: list[Any], **more: object) -> str:
    return json.dumps({"agent": {"memory": {"content": pairs}, "toolkit": {}, **more}})


PAW = (_paw(0, "user", _text("Shape the oar.")), _paw(3, "assistant", _text("Shaped.")))
_PAW_CALL = {"type": "tool_use", "id": "c", "name": "read_file", "input": {"file_path": "oar"}}
_PAW_RESULT = {"type": "tool_result", "id": "c", "name": "read_file", "output": [_text("ash")]}
PAW_NEW = (PAW[0], _paw(1, "assistant", _PAW_CALL), _paw(2, "system", _PAW_RESULT), PAW[1])


def _paw_found(value: Any) -> Found:
    for message, _marks in value["agent"]["memory"]["content"]:
        yield "", message["timestamp"]
        for block in message["content"]:
            yield _named(message["role"]) if block["type"] == "text" else "", None


# --- Proma, output of droid exec, Cursor's text ----------------------------------------------------------------------

PROMA = (
    {"id": "1", "role": "user", "content": "Shape the oar.", "createdAt": MS[0]},
    {"id": "2", "role": "assistant", "content": "Shaped.", "createdAt": MS[1], "reasoning": "Ash."},
)


def _sdk(minute: int, role: str, *blocks: Value) -> Value:
    line = {"type": role, "message": {"content": blocks}, "parent_tool_use_id": None, "uuid": f"u{minute}"}
    return {**line, "_createdAt": MS[minute]}


PROMA_NEW = (
    _sdk(0, "user", _text("Shape the oar.")),
    _sdk(1, "assistant", {"type": "tool_use", "id": "c", "name": "Read", "input": {"file_path": "oar"}}),
    _sdk(2, "user", {"type": "tool_result", "tool_use_id": "c", "content": "ash"}),
    _sdk(3, "assistant", _text("Shaped.")),
)


def _proma_found(values: Any) -> Found:
    for value in values:
        yield "", value.get("createdAt") or value["_createdAt"]
        for _ in range(_spoken_blocks(value["content"] if "content" in value else value["message"]["content"])):
            yield _named(value.get("role") or value["type"]), None


def _run(minute: int, kind: str, **more: Any) -> Value:
    return {"type": kind, "session_id": "d", "timestamp": TIMES[minute], "id": f"i{minute}", **more}


RUN = (
    _run(0, "message", role="user", text="Shape the oar."),
    _run(1, "tool_call", toolCallId="c", toolName="Shell", parameters={"command": "cat oar"}),
    _run(2, "tool_result", toolCallId="c", value={"stdout": "ash", "exitCode": 0}),
    _run(3, "completion", finalText="Shaped."),
)


def _run_found(values: Any) -> Found:
    for value in values:
        spoken = {"message": _named(value.get("role", "")), "completion": "agent"}
        yield spoken.get(value["type"], ""), value["timestamp"]


def _text_found(text: Any) -> Found:
    return ((_named(line.removesuffix(":")), None) for line in text.split("\n") if line in ("user:", "assistant:"))


def _tau_found(values: Any) -> Found:
    for value in values:
        yield _named(value["message"]["role"]) if "message" in value else "", value["timestamp"]


def _tau(number: int, kind: str, **more: object) -> dict[str, Any]:
    above = {"parent_id": f"t{number - 1}"} if number else {}
    return {"id": f"t{number}", **above, "timestamp": 1775116800.0 + number, "type": kind, **more}


TAU = (
    _tau(0, "session_info", created_at=1775116800.0, cwd="/boats"),
    _tau(1, "message", message={"role": "user", "content": "Shape the oar."}),
    _tau(2, "leaf", entry_id="t1"),
    _tau(3, "message", message={"role": "assistant", "content": [{"type": "text", "text": "Of ash?"}]})
    | {"parent_id": "t1"},
    _tau(4, "message", message={"role": "user", "content": "Of ash."}) | {"parent_id": "t3"},
)
TEXT = "user:\n<user_query>\nShape the oar.\n</user_query>\nassistant:\nShaped.\n"
TEXT_NEW = TEXT.replace("Shaped.", "[Thinking]\n  Ash.\n[Tool call] Read\n  path=oar\n[Tool result]\n  ash\nShaped.")

# ---------------------------------------------------------------------------------------------------------------------

_PI = (
    ("gajae-code", ".gjc/agent/sessions/--b--"),
    ("senpi", ".senpi/agent/sessions/--b--"),
    ("kimchi", ".config/kimchi/harness/sessions/--b--"),
    ("prime-agent", ".prime/agent/sessions/--b--"),
    ("qclaw", ".qclaw/agents/main/sessions"),
)
_POSIT_FOLDER = "workspaces/w/r"


def _two(
    agent: str, path: str, first: str, newer: str, counter: Callable[[str], Count], **beside: str
) -> tuple[Sample, Sample]:
    return (
        Sample(f"{agent}: first", path, first, counter, beside),
        Sample(f"{agent}: newer", path, newer, counter, beside),
    )


SAMPLES = (
    *(
        sample
        for agent, folder in _PI
        for sample in _two(
            agent, f"{folder}/{ID}.jsonl", lines(HEADER, *ENTRIES), lines(HEADER, *CHANGES, *ENTRIES), count_entries
        )
    ),
    Sample("command-code: first", f"{ID}.jsonl", lines(*COMMAND), _counted(_roles)),
    Sample("command-code: with a header", f"{ID}.jsonl", lines(*COMMAND_NEW), _counted(_entries_of_command)),
    *_two("zencoder", f"{ID}.jsonl", lines(*ZENCODER), lines(*ZENCODER_NEW), _counted(_roles)),
    *_two("jan-ai", "t/messages.jsonl", lines(*JAN), lines(*JAN_NEW), _counted(_roles)),
    *_two(
        "reasonix",
        ".reasonix/sessions/r.jsonl",
        lines(*REASONIX),
        lines(*REASONIX, REASONIX[1], REASONIX[4]),
        _counted(_reasonix),
        **{".reasonix/sessions/r.jsonl.meta": json.dumps(REASONIX_METADATA)},
    ),
    *_two("deepseek-harness", "h/session.jsonl", lines(*HARNESS), lines(*HARNESS_NEW), _counted(_harness_found)),
    *_two("poolside", f"trajectory-cli_{ID}.ndjson", lines(*POOLSIDE), lines(*POOLSIDE_NEW), _counted(_pool_found)),
    *_two(
        "visual-studio-copilot",
        "traces/20260402T080000_0a_VSGitHubCopilot_traces.jsonl",
        lines(*TRACES),
        lines(*TRACES_NEW),
        _counted(_spans),
    ),
    *_two("mux", ".xum/sessions/w/chat.jsonl", lines(*MUX), lines(*MUX_NEW), _counted(_mux_found)),
    *_two(
        "jcode",
        ".jcode/sessions/session_fox_1_a.json",
        json.dumps(JCODE),
        json.dumps(JCODE_NEW),
        _counted(_roles, _document),
    ),
    *_two("cortex", f"{ID}.json", json.dumps(CORTEX), json.dumps(CORTEX_NEW), _counted(_cortex_found, json.loads)),
    *(
        Sample(
            f"posit-assistant: {version}",
            f"{_POSIT_FOLDER}/conversation.json",
            _posit_tree(*(value["id"] for value in values), **metadata),
            _posit_count(values),
            {f"{_POSIT_FOLDER}/lm-messages.jsonl": lines(*values)},
        )
        for version, values, metadata in (("first", POSIT, {}), ("with tools", POSIT_NEW, {"gitBranch": "main"}))
    ),
    *_two(
        "qwenpaw",
        ".qwenpaw/workspaces/w/sessions/a_b.json",
        _paw_document(*PAW),
        _paw_document(*PAW_NEW, name="Friday"),
        _counted(_paw_found, json.loads),
    ),
    *_two("hermes", "20260402_080000_5a.jsonl", lines(*HERMES), lines(*HERMES_NEW), _counted(_roles)),
    *_two(
        "tau",
        f".tau/sessions/boats-0a1b2c/{ID}.jsonl",
        lines(*TAU),
        lines(*(entry for entry in TAU if entry["type"] != "leaf"), {**TAU[-1], "id": "t9", "parent_id": "t4"}),
        _counted(_tau_found),
    ),
    *_two("proma", f"{ID}.jsonl", lines(*PROMA), lines(*PROMA_NEW), _counted(_proma_found)),
    Sample("droid: output of a run", "run.jsonl", lines(*RUN), _counted(_run_found)),
    *_two("cursor-cli", f"agent-transcripts/{ID}.txt", TEXT, TEXT_NEW, _counted(_text_found, str)),
)


def test_parsers_agree_with_an_independent_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    failures = []
    for number, sample in enumerate(SAMPLES):
        try:
            check(tmp_path / str(number), sample)
        except Exception as error:
            failures.append(f"{sample.name}: {error!r}")
    assert not failures, "\n".join(failures)
