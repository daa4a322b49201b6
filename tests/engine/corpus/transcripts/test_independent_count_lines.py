"""Counts samples of more formats with one JSON object per line, as `test_independent_count` does."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.session_counts import SECONDS, TIMES, Count, Sample, Value, check, count, lines, read

ID = "5e6f7a8b-0000-4000-8000-000000000001"


def _text(text: str) -> list[Value]:
    return [{"type": "text", "text": text}]


# --- Qwen Code, iFlow ------------------------------------------------------------------------------------------------


def _qwen(minute: int, kind: str, *parts: Value, **more: Any) -> Value:
    record = {"uuid": f"u{minute}", "sessionId": ID, "timestamp": TIMES[minute], "type": kind, "cwd": "/boats"}
    return {**record, "message": {"role": "user" if kind == "user" else "model", "parts": parts}, **more}


QWEN = (
    _qwen(0, "user", {"text": "Plane the oar."}),
    _qwen(1, "assistant", {"text": "Ash.", "thought": True}, {"text": "I look."}),
    _qwen(2, "assistant", {"functionCall": {"id": "c", "name": "ls", "args": {"path": "oars"}}}),
    _qwen(3, "tool_result", {"functionResponse": {"id": "c", "name": "ls", "response": {"output": "oar"}}}),
    _qwen(4, "assistant", {"text": "Planed."}),
)
QWEN_NEW = (
    {"uuid": "s", "sessionId": ID, "timestamp": TIMES[0], "type": "system", "subtype": "ui_telemetry", "cwd": "/boats"},
    *({**line, "version": "0.9.0", "gitBranch": "main", "provenance": "real_user"} for line in QWEN),
)


def _count_qwen(text: str) -> Count:
    spoken = []
    records = [line for line in read(text) if line["type"] != "system"]
    for record in records:
        texts = [part for part in record["message"]["parts"] if "text" in part and not part.get("thought")]
        spoken += ["user" if record["type"] == "user" else "agent"] * len(texts)
    return count(spoken, [record["timestamp"] for record in records])


def _iflow(minute: int, role: str, content: object, **more: Any) -> Value:
    line = {"uuid": f"u{minute}", "parentUuid": None, "sessionId": f"session-{ID}", "timestamp": TIMES[minute]}
    return {**line, "type": role, "cwd": "/boats", "message": {"role": role, "content": content}, **more}


RESPONSE = {"functionResponse": {"id": "t", "name": "list_directory", "response": {"output": "oar"}}}
IFLOW = (
    _iflow(0, "user", "Plane the oar.", isMeta=False),
    _iflow(1, "assistant", [{"type": "tool_use", "id": "t", "name": "list_directory", "input": {"path": "oars"}}]),
    _iflow(2, "user", [{"type": "tool_result", "tool_use_id": "t", "content": RESPONSE}]),
    _iflow(3, "assistant", _text("Planed.")),
)
IFLOW_NEW = (
    *IFLOW[:2],
    _iflow(
        2,
        "user",
        [
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": {"responseParts": RESPONSE, "resultDisplay": "1 file"},
            }
        ],
    ),
    *IFLOW[3:],
)


def _count_envelopes(text: str) -> Count:
    """Count messages of Anthropic's API: tool results have the user's role, but aren't the user's."""
    spoken, times = [], []
    for line in read(text):
        if "message" not in line or line.get("visibility") == "llm_only":
            continue
        content, role = line["message"]["content"], line["message"]["role"]
        blocks = [{"type": "text"}] if isinstance(content, str) else content
        if role in ("user", "assistant"):
            spoken += ["user" if role == "user" else "agent"] * sum(block["type"] == "text" for block in blocks)
        times.append(line["timestamp"])
    return count(spoken, times)


# --- OpenClaw, Pi, Oh My Pi, Droid -----------------------------------------------------------------------------------


def _entry(minute: int, role: str, content: object, **more: Any) -> Value:
    message = {"role": role, "content": content, **more}
    return {"type": "message", "id": f"m{minute}", "parentId": None, "timestamp": TIMES[minute], "message": message}


ENTRIES = (
    _entry(1, "user", _text("Coil the rope.")),
    _entry(2, "assistant", [{"type": "thinking", "thinking": "Clockwise."}, *_text("I look.")]),
    _entry(3, "assistant", [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls"}}]),
    _entry(4, "toolResult", _text("rope"), toolCallId="c", toolName="bash"),
    _entry(5, "assistant", _text("Coiled.")),
)
HEADER = {"type": "session", "version": 3, "id": ID, "timestamp": TIMES[0], "cwd": "/boats"}
CHANGES = (
    {"type": "model_change", "id": "c1", "timestamp": TIMES[0], "provider": "p", "modelId": "m"},
    {"type": "thinking_level_change", "id": "c2", "timestamp": TIMES[0], "thinkingLevel": "low"},
)
TITLE = {"type": "title", "v": 1, "title": "A rope", "source": "auto", "updatedAt": TIMES[5], "pad": "   "}


def count_entries(text: str) -> Count:
    """Count messages; the header's time counts, too."""
    counted = _count_envelopes(text)
    times = [line["timestamp"] for line in read(text) if line["type"] == "session"]
    return counted._replace(first=count((), times).first)


DROID = (
    {"type": "session_start", "id": ID, "title": "coil the rope", "owner": "ada", "version": 2, "cwd": "/boats"},
    _entry(1, "user", _text("Coil the rope.")),
    _entry(2, "assistant", [*_text("I look."), {"type": "tool_use", "id": "t", "name": "LS", "input": {"path": "."}}]),
    _entry(3, "user", [{"type": "tool_result", "tool_use_id": "t", "content": "rope"}]),
    {"type": "todo_state", "id": "d", "timestamp": TIMES[3], "todos": {}},
    _entry(4, "assistant", "Coiled."),
)
DROID_NEW = (
    {**DROID[0], "sessionTitle": "Rope work"},
    *DROID[1:4],
    {**_entry(3, "user", "Go on."), "visibility": "llm_only"},
    *DROID[5:],
)

# --- Copilot CLI, Cursor's command line ------------------------------------------------------------------------------


def _event(minute: int, kind: str, **data: Any) -> Value:
    return {"type": kind, "data": data, "timestamp": TIMES[minute]}


COPILOT = (
    _event(0, "session.start", sessionId=ID, context={"cwd": "/boats", "branch": "main"}),
    _event(1, "user.message", content="Scrub the keel."),
    _event(
        2,
        "assistant.message",
        content="",
        toolRequests=[{"toolCallId": "c", "name": "view", "arguments": '{"path": "keel"}'}],
    ),
    _event(3, "tool.execution_start", toolCallId="c"),
    _event(4, "tool.execution_complete", toolCallId="c", success=True, result="clean"),
    _event(5, "assistant.message", content="Scrubbed."),
)
COPILOT_NEW = (
    _event(0, "session.start", sessionId=ID, version=1, startTime=TIMES[0], context={"cwd": "/boats"}),
    _event(0, "system.message", role="system", content="You scrub."),
    _event(1, "user.message", content="Scrub the keel.", transformedContent="<now/>Scrub the keel.", attachments=[]),
    _event(1, "assistant.turn_start", turnId="0"),
    _event(2, "assistant.reasoning", reasoningId="r", content="Copper."),
    _event(3, "assistant.message", messageId="m", content="Scrubbed.", toolRequests=[], outputTokens=3),
    _event(4, "assistant.turn_end", turnId="0"),
)


EDITOR_START = {"sessionId": ID, "version": 1, "producer": "copilot-agent", "vscodeVersion": "1.137.0"}
EDITOR = (
    _event(0, "session.start", **EDITOR_START, startTime=TIMES[0]),
    _event(1, "user.message", content="Scrub the keel.", attachments=[]),
    _event(2, "assistant.message", messageId="m", content="Which keel?", toolRequests=[], reasoningText="Copper."),
    _event(3, "user.message", content="The old one.", attachments=[]),
    _event(4, "tool.execution_start", toolCallId="c", toolName="read_file", arguments={"filePath": "keel"}),
    _event(5, "tool.execution_complete", toolCallId="c", success=True, result={"content": "clean"}),
)


def _count_events(text: str) -> Count:
    roles = {"user.message": "user", "assistant.message": "agent"}
    messages = [line for line in read(text) if line["type"] in roles and line["data"]["content"]]
    # Events without a text that is shown have no message, and no time of one, except of the tools and the start.
    counted_lines = [line for line in read(text) if line["type"] in COPILOT_SHOWN]
    return count([roles[line["type"]] for line in messages], [line["timestamp"] for line in counted_lines])


COPILOT_SHOWN = frozenset(
    "session.start user.message assistant.message assistant.reasoning tool.execution_complete".split()
)


def _cursor(role: str, text: str, *more: Value) -> Value:
    return {"role": role, "message": {"content": [*_text(text), *more]}}


CURSOR = (
    _cursor("user", "<user_query>\nScrub the keel.\n</user_query>"),
    _cursor("assistant", "I look.", {"type": "tool_use", "name": "Read", "input": {"path": "keel"}}),
    _cursor("assistant", "Scrubbed."),
)
STAMP = "<timestamp>Thursday, Apr 2, 2026, 8:00 AM (UTC+0)</timestamp>\n"
CURSOR_NEW = (
    _cursor("user", f"{STAMP}<user_query>\nScrub the keel.\n</user_query>"),
    *CURSOR[1:],
    {"type": "turn_ended", "status": "completed"},
)


def _count_cursor(text: str) -> Count:
    """Count messages; the only times precede the text that the user typed."""
    messages = [line for line in read(text) if "role" in line]
    times = [TIMES[0]] if "<timestamp>" in text else []
    return count(["user" if line["role"] == "user" else "agent" for line in messages], times)


# --- Kimi, Kiro, Antigravity -----------------------------------------------------------------------------------------


def _wire(minute: int, kind: str, **payload: Any) -> Value:
    return {"timestamp": SECONDS[minute] + 0.5, "message": {"type": kind, "payload": payload}}


KIMI = (
    {"type": "metadata", "protocol_version": "1.2"},
    _wire(0, "TurnBegin", user_input=_text("Rig the mast.")),
    _wire(1, "StepBegin", n=1),
    _wire(2, "ContentPart", type="think", think="Oak."),
    _wire(3, "ContentPart", type="text", text="Rigged."),
    _wire(4, "TurnEnd"),
)


def _loop(minute: int, kind: str, **event: Any) -> Value:
    return {"type": "context.append_loop_event", "time": SECONDS[minute] * 1000, "event": {"type": kind, **event}}


KIMI_CODE = (
    {"type": "metadata", "protocol_version": "1.4", "created_at": SECONDS[0] * 1000},
    {"type": "config.update", "cwd": "/boats", "modelAlias": "m", "time": SECONDS[0] * 1000},
    {
        "type": "context.append_message",
        "time": SECONDS[0] * 1000,
        "message": {"role": "user", "content": _text("Rig the mast."), "toolCalls": [], "origin": {"kind": "user"}},
    },
    _loop(1, "step.begin", uuid="s", step=1),
    _loop(2, "content.part", part={"type": "text", "text": "Rigged."}),
)


def _count_kimi(text: str) -> Count:
    """Count the records of both agents: the start of a turn is the user's, a text part is the agent's."""
    spoken, times = [], []
    for line in read(text):
        inner = line.get("message") or line.get("event") or {}
        held = inner.get("payload") or inner.get("part") or {}
        if inner.get("type") == "TurnBegin" or inner.get("role") == "user":
            spoken.append("user")
        elif held.get("type") == "text":
            spoken.append("agent")
        elif held.get("type") != "think":
            continue
        times.append(line.get("timestamp") or line.get("time"))
    return count(spoken, times)


def _kiro(kind: str, text: str, **more: Any) -> Value:
    content = [{"kind": "text", "data": text}]
    return {"version": "v1", "kind": kind, "data": {"message_id": text, "content": content, **more}}


KIRO = (
    _kiro("Prompt", "Rig the mast.", meta={"timestamp": SECONDS[1]}),
    _kiro("AssistantMessage", "Which rope?"),
    _kiro("Prompt", "The thick one.", meta={"timestamp": SECONDS[3]}),
    _kiro("AssistantMessage", "Rigged."),
)
KIRO_MORE = (*KIRO, _kiro("Clear", ""))
KIRO_METADATA = '{"session_id": "k", "cwd": "/boats", "created_at": "2026-04-02T08:00:00Z", "title": "Mast"}'


def _count_kiro(text: str) -> Count:
    """Count messages; prompts have times, and the file next to them has that of the start."""
    messages = [line for line in read(text) if line["kind"] != "Clear"]
    roles = ["user" if line["kind"] == "Prompt" else "agent" for line in messages]
    times = [line["data"]["meta"]["timestamp"] for line in messages if "meta" in line["data"]]
    return count(roles, [SECONDS[0], *times])


def _event(minute: int, kind: str, **more: Any) -> Value:
    return {"id": f"e{minute}", "timestamp": TIMES[minute], "payload": {"type": kind, **more}}


KIRO_EVENTS = (
    _event(0, "session_start", agentType="vibe"),
    _event(0, "user", content="Rig the mast.", images=[], documents=[]),
    _event(1, "assistant", operationType="Say", content="Which rope?"),
    _event(2, "user", content=[{"type": "text", "text": "The thick one."}], source="steer"),
    _event(3, "assistant", operationType="Say", content="Rigged."),
)
KIRO_EVENTS_MORE = (
    *KIRO_EVENTS[:3],
    _event(1, "assistant", operationType="Reasoning", content="Oak."),
    _event(1, "tool_call", toolCallId="t", toolName="read_file", args={"path": "mast"}),
    _event(1, "tool_result", toolCallId="t", content="a mast", success=True),
    *KIRO_EVENTS[3:],
)


def _muse(minute: int, kind: str, payload: Value, stream: str = ID) -> Value:
    times = {"recorded_at": SECONDS[minute] * 1_000_000, "stream": {"kind": "session", "id": stream}}
    return {"schema_version": 1, "id": f"e{minute}", **times, "payload_type": kind, "payload": payload}


def _run(minute: int, kind: str, **event: Any) -> Value:
    return _muse(minute, "runtime.session", {"kind": "run", "run_id": "r", "event": {"kind": kind, **event}})


MUSE = (
    _muse(0, "runtime.session.metadata", {"kind": "metadata", "record": {"workspace_root": "/boats"}}),
    _run(0, "started", prompt="Rig the mast."),
    _run(1, "assistant_message_committed", message_id="m1", text="Which rope?"),
    _run(2, "started", prompt="The thick one."),
    _run(3, "assistant_message_committed", message_id="m2", text="Rigged."),
)
MUSE_MORE = (
    {"retained_frame": "session_permission_transaction", "frame_schema_version": 1, "children": []},
    *MUSE[:3],
    _muse(1, "runtime.session", {"kind": "task", "event": {"kind": "started", "prompt": "A task"}}),
    _muse(1, "runtime.session", {"kind": "run", "event": {"kind": "started", "prompt": "Of a sub-agent"}}, "task"),
    _run(1, "assistant_tool_calls_committed", tool_calls=[{"call_id": "c", "name": "read_file", "args": "{}"}]),
    _run(1, "tool_result_batch_committed", results=[{"tool_call_id": "c", "text": "a mast"}]),
    *MUSE[3:],
)


def _count_muse(text: str) -> Count:
    own = [line for line in read(text) if line.get("stream", {}).get("id") == ID]
    events = [line["payload"].get("event", {}) for line in own if line["payload"]["kind"] == "run"]
    spoken = [event["kind"] for event in events if event["kind"] in ("started", "assistant_message_committed")]
    return count(
        ["user" if kind == "started" else "agent" for kind in spoken], [line["recorded_at"] / 1e6 for line in own]
    )


def _count_kiro_events(text: str) -> Count:
    events = [(line["timestamp"], line["payload"]) for line in read(text)]
    messages = [one for _, one in events if one.get("operationType", "Say") == "Say" and "content" in one]
    roles = ["user" if one["type"] == "user" else "agent" for one in messages if one["type"] in ("user", "assistant")]
    return count(roles, [time for time, _ in events])


def _step(minute: int, source: str, kind: str, text: str, **more: Any) -> Value:
    step = {"step_index": minute, "source": source, "type": kind, "status": "DONE", "created_at": TIMES[minute]}
    return {**step, "content": text, **more}


ANTIGRAVITY = (
    _step(0, "USER_EXPLICIT", "USER_INPUT", "<USER_REQUEST>\nRig the mast.\n</USER_REQUEST>"),
    _step(1, "MODEL", "PLANNER_RESPONSE", "I look.", tool_calls=[{"name": "view_file", "args": {"Path": "mast"}}]),
    _step(2, "MODEL", "VIEW_FILE", "a mast"),
    _step(3, "MODEL", "PLANNER_RESPONSE", "Rigged."),
)
ANTIGRAVITY_NEW = (
    ANTIGRAVITY[0],
    _step(0, "SYSTEM", "CONVERSATION_HISTORY", "# Conversation History"),
    {**ANTIGRAVITY[1], "thinking": "Oak."},
    *ANTIGRAVITY[2:],
)


def _count_steps(text: str) -> Count:
    roles = {"USER_INPUT": "user", "PLANNER_RESPONSE": "agent"}
    steps = read(text)
    return count([roles[step["type"]] for step in steps if step["type"] in roles], [one["created_at"] for one in steps])


LOGS = "brain/b/.system_generated/logs"
AGENTS = "kimi-code/sessions/wd_a/s/agents/main/wire.jsonl"
# --- CodeBuddy, WorkBuddy --------------------------------------------------------------------------------------------


def _buddy(kind: str, minute: int, **more: Any) -> Value:
    return {"type": kind, "timestamp": 1000 * SECONDS[minute], "sessionId": ID, "cwd": "/home/ada", **more}


BUDDY = [
    _buddy("message", 1, role="user", content=[{"type": "input_text", "text": "Tie a bowline."}]),
    _buddy("function_call", 2, callId="c", name="Bash", arguments='{"command": "ls"}'),
    _buddy("function_call_result", 3, callId="c", output={"type": "text", "text": "knots.md"}),
    _buddy("message", 4, role="assistant", content=[{"type": "output_text", "text": "Tied."}]),
]
BUDDY_NEW = [*BUDDY, _buddy("topic", 5, topic="Knots"), {**BUDDY[0], "id": "i", "timestamp": 1000 * SECONDS[6]}]


def _count_buddy(text: str) -> Count:
    values = [value for value in read(text) if value["type"] != "topic"]
    spoken = ["user" if one["role"] == "user" else "agent" for one in values if one["type"] == "message"]
    return count(spoken, [value["timestamp"] for value in values])


# --- Letta Code, nanobot ---------------------------------------------------------------------------------------------


def _letta(minute: int, role: str, content: object, **more: Any) -> Value:
    message = {"id": f"letta-msg-{minute}", "role": role, "content": content, "timestamp": 1000 * SECONDS[minute]}
    entry = {"type": "message", "id": f"e{minute}", "parentId": None, "timestamp": TIMES[minute]}
    return {**entry, "message": {**message, **more}}


LETTA = (
    {"type": "session", "version": 3, "id": ID, "timestamp": TIMES[0], "cwd": "/boats"},
    _letta(1, "user", "Plane the oar."),
    _letta(2, "assistant", [{"type": "toolCall", "id": "c", "name": "Bash", "arguments": {"command": "ls"}}]),
    _letta(3, "toolResult", _text("oar"), toolCallId="c", toolName="Bash"),
    _letta(4, "assistant", _text("Planed.")),
)
LETTA_AGAIN = (*LETTA, {**LETTA[3], "id": "e5", "timestamp": TIMES[5]})


def _count_letta(text: str) -> Count:
    entries = {value["message"]["id"]: value for value in reversed(read(text)) if value["type"] == "message"}
    roles = {"user": "user", "assistant": "agent"}
    spoken = [
        roles[one["message"]["role"]]
        for one in entries.values()
        if one["message"]["role"] in roles and "toolCall" not in str(one["message"]["content"])
    ]
    return count(spoken, [read(text)[0]["timestamp"], *(one["timestamp"] for one in entries.values())])


def _captured(minute: int, kind: str, **more: Any) -> Value:
    return {"kind": kind, "captured_at": TIMES[minute], "source_line_id": f"ui-{minute}", **more}


CAPTURED = (
    _captured(1, "user", text="Plane the oar."),
    _captured(1, "tool_call", name="Bash", argsText='{"command": "ls"}', resultText="oar", resultOk=True),
    _captured(1, "assistant", text="Planed."),
)
CAPTURED_MORE = (*CAPTURED, _captured(3, "error", text="No connection."), _captured(4, "user", text="Again."))


def _count_captured(text: str) -> Count:
    kinds = {"user": "user", "assistant": "agent"}
    values = read(text)
    return count([kinds[one["kind"]] for one in values if one["kind"] in kinds], [one["captured_at"] for one in values])


def _nanobot(minute: int, role: str, content: str, **more: Any) -> Value:
    moment = datetime.fromtimestamp(SECONDS[minute], UTC).astimezone().replace(tzinfo=None)  # local, without a zone
    return {"role": role, "content": content, "timestamp": moment.isoformat(), **more}


_KEY = {"_type": "metadata", "key": "cli:direct", "created_at": _nanobot(0, "", "")["timestamp"], "metadata": {}}
_RUN = {"id": "c", "type": "function", "function": {"name": "exec", "arguments": '{"command": "ls"}'}}
NANOBOT = (
    _KEY,
    _nanobot(1, "user", "Plane the oar."),
    _nanobot(2, "assistant", "", tool_calls=[_RUN]),
    _nanobot(3, "tool", "oar", tool_call_id="c", name="exec"),
    _nanobot(4, "assistant", "Planed."),
)
NANOBOT_HIDDEN = (_KEY, _nanobot(1, "user", "Earlier: ash.", _hidden_history=True), *NANOBOT[1:])


def _count_nanobot(text: str) -> Count:
    head, *values = read(text)
    roles = {"user": "user", "assistant": "agent"}
    spoken = [roles[one["role"]] for one in values if one["role"] in roles and one["content"] and len(one) == 3]
    times = [datetime.fromisoformat(one).timestamp() for one in (head["created_at"], *(v["timestamp"] for v in values))]
    return count(spoken, times)


SAMPLES = (
    Sample("letta: on this machine", "c/messages.jsonl", lines(*LETTA), _count_letta),
    Sample("letta: written again", "c/messages.jsonl", lines(*LETTA_AGAIN), _count_letta),
    Sample("letta: transcript", "a/c/transcript.jsonl", lines(*CAPTURED), _count_captured),
    Sample("letta: two turns", "a/c/transcript.jsonl", lines(*CAPTURED_MORE), _count_captured),
    Sample("nanobot: first", "w/Y2xpOmRpcmVjdA.jsonl", lines(*NANOBOT), _count_nanobot),
    Sample("nanobot: with older messages", "w/Y2xpOmRpcmVjdA.jsonl", lines(*NANOBOT_HIDDEN), _count_nanobot),
    Sample("qwen: first", f"chats/{ID}.jsonl", lines(*QWEN), _count_qwen),
    Sample("qwen: with telemetry", f"chats/{ID}.jsonl", lines(*QWEN_NEW), _count_qwen),
    Sample("iflow: first", f"session-{ID}.jsonl", lines(*IFLOW), _count_envelopes),
    Sample("iflow: with response parts", f"session-{ID}.jsonl", lines(*IFLOW_NEW), _count_envelopes),
    Sample("openclaw: first", f"{ID}.jsonl", lines(HEADER, *ENTRIES), count_entries),
    Sample("openclaw: with changes", f"{ID}.jsonl", lines(HEADER, *CHANGES, *ENTRIES), count_entries),
    Sample("pi: first", f".pi/agent/sessions/--b--/{ID}.jsonl", lines(HEADER, *ENTRIES), count_entries),
    Sample(
        "pi: with changes", f".pi/agent/sessions/--b--/{ID}.jsonl", lines(HEADER, *CHANGES, *ENTRIES), count_entries
    ),
    Sample(
        "oh-my-pi: title in the header",
        f".omp/agent/sessions/--b--/{ID}.jsonl",
        lines({**HEADER, "title": "A rope"}, *ENTRIES),
        count_entries,
    ),
    Sample(
        "oh-my-pi: title in a line of its own",
        f".omp/agent/sessions/--b--/{ID}.jsonl",
        lines(TITLE, HEADER, *ENTRIES),
        count_entries,
    ),
    Sample("droid: first", f"{ID}.jsonl", lines(*DROID), _count_envelopes),
    Sample("droid: with a title and a reminder", f"{ID}.jsonl", lines(*DROID_NEW), _count_envelopes),
    Sample("copilot-cli: first", f"{ID}/events.jsonl", lines(*COPILOT), _count_events),
    Sample("copilot-cli: with turns", f"{ID}/events.jsonl", lines(*COPILOT_NEW), _count_events),
    Sample("copilot-chat: transcript", f"GitHub.copilot-chat/transcripts/{ID}.jsonl", lines(*EDITOR), _count_events),
    Sample("cursor-cli: without times", f"{ID}.jsonl", lines(*CURSOR), _count_cursor),
    Sample("cursor-cli: with times", f"{ID}.jsonl", lines(*CURSOR_NEW), _count_cursor),
    Sample("kimi: command line", "h/s/wire.jsonl", lines(*KIMI), _count_kimi),
    Sample("kimi: code", AGENTS, lines(*KIMI_CODE), _count_kimi),
    *(
        Sample(f"{agent}: {version}", f".{agent}/projects/p/{ID}.jsonl", lines(*values), _count_buddy)
        for agent in ("codebuddy", "workbuddy")
        for version, values in (("first", BUDDY), ("with topics", BUDDY_NEW))
    ),
    Sample("kiro: first", f"{ID}.jsonl", lines(*KIRO), _count_kiro, {f"{ID}.json": KIRO_METADATA}),
    Sample("kiro: cleared", f"{ID}.jsonl", lines(*KIRO_MORE), _count_kiro, {f"{ID}.json": KIRO_METADATA}),
    Sample("kiro: events", "sess_a/messages.jsonl", lines(*KIRO_EVENTS), _count_kiro_events),
    Sample("kiro: events with tools", "sess_a/messages.jsonl", lines(*KIRO_EVENTS_MORE), _count_kiro_events),
    Sample("muse: conversation", f"{ID}/session.jsonl", lines(*MUSE), _count_muse),
    Sample("muse: with tools and tasks", f"{ID}/session.jsonl", lines(*MUSE_MORE), _count_muse),
    Sample("antigravity: first", f"{LOGS}/transcript_full.jsonl", lines(*ANTIGRAVITY), _count_steps),
    Sample("antigravity: with history", f"{LOGS}/transcript_full.jsonl", lines(*ANTIGRAVITY_NEW), _count_steps),
)


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.name for sample in SAMPLES])
def test_parser_agrees_with_an_independent_count(tmp_path: Path, sample: Sample) -> None:
    check(tmp_path, sample)
