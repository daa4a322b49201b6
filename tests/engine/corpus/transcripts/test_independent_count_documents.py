"""Counts samples of the formats that are one document, or several files, as `test_independent_count` does."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.session_counts import SECONDS, TIMES, Count, Sample, Value, check, count, lines

ID = "5e6f7a8b-0000-4000-8000-000000000001"
MS = [1000 * second for second in SECONDS]
LOCAL = [datetime.fromtimestamp(second).isoformat() for second in SECONDS]
"""A time of the machine's clock, without a zone."""


def _text(text: str) -> list[Value]:
    return [{"type": "text", "text": text}]


# --- Copilot Chat ----------------------------------------------------------------------------------------------------

INVOCATION = {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "toolCallId": "c", "isComplete": True}


def _request(minute: int, question: str, *response: Value) -> Value:
    message = {"text": question, "parts": []}
    return {"requestId": f"r{minute}", "message": message, "response": response, "timestamp": MS[minute]}


CHAT = {
    "version": 3,
    "sessionId": ID,
    "creationDate": MS[0],
    "lastMessageDate": MS[2],
    "customTitle": "Knots",
    "requests": [
        _request(1, "Tie a bowline.", {"value": "Like this. "}, {"value": "Then pull."}),
        _request(2, "And a hitch?", INVOCATION, {"value": "Twice around."}),
    ],
}
CHAT_LINES: tuple[Value, ...] = (
    {"kind": 0, "v": {**CHAT, "requests": []}},
    *({"kind": 2, "k": ["requests"], "v": [request]} for request in CHAT["requests"]),  # type: ignore[attr-defined]
    {"kind": 1, "k": ["customTitle"], "v": "Knots and hitches"},
)


def _count_chat(text: str) -> Count:
    """Count messages; pieces of one answer are one text, and the last time is that of the request."""
    values = [json.loads(line) for line in text.splitlines()]
    requests = values[0]["requests"] if len(values) == 1 else [v["v"][0] for v in values if v.get("k") == ["requests"]]
    spoken = [role for request in requests if request["response"] for role in ("user", "agent")]
    return count(spoken, [MS[0], *(request["timestamp"] for request in requests)])


# --- Roo Code, Kilo Code ---------------------------------------------------------------------------------------------


def _say(minute: int, kind: str, text: str, **more: Any) -> Value:
    return {"ts": MS[minute], "type": "say", "say": kind, "text": text, **more}


ROO = [
    _say(0, "text", "Tie a bowline.", images=[]),
    _say(1, "api_req_started", '{"tokensIn": 1}'),
    {"ts": MS[2], "type": "ask", "ask": "tool", "text": '{"tool": "readFile", "path": "knots.md"}', "partial": False},
    _say(3, "text", "I look.", partial=False),
    _say(4, "completion_result", "Tied."),
]
ROO_NEW = [
    *ROO[:1],
    _say(1, "reasoning", "Rope."),
    *ROO[2:],
    _say(5, "user_feedback", "Tighter."),
    _say(6, "text", "Yes."),
]


def _count_roo(text: str) -> Count:
    """Count messages; the first text is the task. Those without displayed text don't count for the times."""
    values = [value for value in json.loads(text) if value.get("say") != "api_req_started"]
    roles = {"text": "agent", "completion_result": "agent", "user_feedback": "user"}
    spoken = [roles[value["say"]] for value in values if value.get("say") in roles]
    return count(["user", *spoken[1:]], [value["ts"] for value in values])


# --- Amp, Continue ---------------------------------------------------------------------------------------------------

AMP_MESSAGES: list[Value] = [
    {"role": "user", "content": _text("Tie a bowline.")},
    {
        "role": "assistant",
        "content": [*_text("I look."), {"type": "tool_use", "id": "t", "name": "Read", "input": {"path": "knots.md"}}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a loop"}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "Rope."}, *_text("Tied.")]},
]
AMP = {
    "v": 1,
    "id": f"T-{ID}",
    "created": MS[0],
    "messages": AMP_MESSAGES,
    "env": {"initial": {"trees": [{"displayName": "boats", "uri": "file:///boats"}]}},
    "meta": {"traces": [{"name": "inference", "startTime": TIMES[1], "endTime": TIMES[2]}, {"endTime": TIMES[4]}]},
}
AMP_NEW = {
    **AMP,
    "meta": {},
    "messages": [{**AMP_MESSAGES[0], "meta": {"sentAt": MS[1]}}, *AMP_MESSAGES[1:3], AMP_MESSAGES[3]],
}


def _count_blocks(messages: list[Any]) -> list[str]:
    roles = [message["role"] for message in messages for block in message["content"] if block["type"] == "text"]
    return ["user" if role == "user" else "agent" for role in roles]


def _count_amp(text: str) -> Count:
    value = json.loads(text)
    ends = [trace["endTime"] for trace in value["meta"].get("traces", [])]
    sent = [one["meta"]["sentAt"] for one in value["messages"] if "meta" in one]
    return count(_count_blocks(value["messages"]), [value["created"], *ends, *sent])


CONTINUE = {
    "sessionId": ID,
    "title": "Knots",
    "workspaceDirectory": "/boats",
    "history": [
        {"message": {"role": "user", "content": "Tie a bowline."}, "contextItems": []},
        {"message": {"role": "assistant", "content": "Tied."}, "contextItems": []},
    ],
}
CALL = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": '{"filepath": "knots.md"}'}}
CONTINUE_NEW = {
    **CONTINUE,
    "workspaceDirectory": "file:///boats",
    "mode": "agent",
    "history": [
        {"message": {"role": "user", "content": _text("Tie a bowline.")}, "contextItems": []},
        {
            "message": {"role": "assistant", "content": "I look.", "toolCalls": [CALL]},
            "reasoning": {"active": False, "text": "Rope."},
            "toolCallStates": [
                {"toolCallId": "c", "toolCall": CALL, "status": "done", "output": [{"content": "loop"}]}
            ],
        },
        {"message": {"role": "tool", "content": "loop", "toolCallId": "c"}},
        {"message": {"role": "assistant", "content": "Tied."}},
    ],
}
CONTINUE_LIST = json.dumps([{"sessionId": ID, "title": "Knots", "dateCreated": str(MS[0])}])


def _count_continue(text: str) -> Count:
    """Count messages, which have no times; the list next to them has the start of the session."""
    roles = [item["message"]["role"] for item in json.loads(text)["history"]]
    spoken = ["user" if role == "user" else "agent" for role in roles if role != "tool"]
    return count(spoken, [MS[0]])._replace(last=None)


# --- Downloads of ChatGPT and Claude.ai ------------------------------------------------------------------------------


def _node(minute: int, role: str, text: str) -> Value:
    return {
        "id": f"n{minute}",
        "parent": f"n{minute - 1}" if minute else None,
        "children": [f"n{minute + 1}"],
        "message": {
            "id": f"m{minute}",
            "author": {"role": role},
            "create_time": SECONDS[minute] + 0.5,
            "content": {"content_type": "text", "parts": [text]},
            "recipient": "all",
            "metadata": {},
        },
    }


NODES = [_node(0, "user", "Tie a bowline."), _node(1, "assistant", "Tied."), _node(2, "user", "Thanks.")]
NODES[2]["children"].clear()
CHATGPT = {
    "title": "Knots",
    "create_time": SECONDS[0] + 0.5,
    "update_time": SECONDS[2] + 0.5,
    "mapping": {node["id"]: node for node in NODES},
    "current_node": "n2",
}
CHATGPT_NEW = {**CHATGPT, "conversation_id": ID, "id": ID, "default_model_slug": "m", "is_archived": False}

CHATGPT_PLAIN = json.loads(json.dumps(CHATGPT_NEW).replace('"content_type": "text", ', ""))


def _count_nodes(text: str) -> Count:
    value = json.loads(text)
    nodes = (value[0] if isinstance(value, list) else value)["mapping"].values()
    messages = [node["message"] for node in nodes]
    spoken = ["user" if message["author"]["role"] == "user" else "agent" for message in messages]
    return count(spoken, [message["create_time"] for message in messages])


def _letter(minute: int, sender: str, text: str, **more: Any) -> Value:
    return {"uuid": f"m{minute}", "sender": sender, "created_at": TIMES[minute], "text": text, **more}


CLAUDE: dict[str, Any] = {"uuid": ID, "name": "Knots", "created_at": TIMES[0], "updated_at": TIMES[2]}
LETTERS = [_letter(1, "human", "Tie a bowline."), _letter(2, "assistant", "Tied.")]
LETTERS_NEW = [
    {**LETTERS[0], "content": _text("Tie a bowline."), "attachments": [], "files": []},
    {**LETTERS[1], "text": "", "content": [{"type": "thinking", "thinking": "Rope."}, *_text("Tied.")]},
]


def _count_letters(text: str) -> Count:
    letters = json.loads(text)[0]["chat_messages"]
    spoken = ["user" if letter["sender"] == "human" else "agent" for letter in letters]
    return count(spoken, [letter["created_at"] for letter in letters])


def _fragments(minute: int, kind: str, text: str) -> Value:
    message = {"inserted_at": TIMES[minute], "files": [], "fragments": [{"type": kind, "content": text}]}
    return {"id": str(minute), "parent": str(minute - 1) if minute > 1 else "root", "message": message}


DEEPSEEK = {
    "id": ID,
    "title": "Knots",
    "inserted_at": TIMES[1],
    "updated_at": TIMES[2],
    "mapping": {"1": _fragments(1, "REQUEST", "Tie a bowline."), "2": _fragments(2, "RESPONSE", "Tied.")},
}
DEEPSEEK_NEW = {**DEEPSEEK, "mapping": {"root": {"id": "root", "message": None}, **DEEPSEEK["mapping"]}}


def _count_fragments(text: str) -> Count:
    held = [node["message"] for node in json.loads(text)[0]["mapping"].values() if node["message"]]
    kinds = [fragment["type"] for message in held for fragment in message["fragments"]]
    spoken = ["user" if kind == "REQUEST" else "agent" for kind in kinds]
    return count(spoken, [message["inserted_at"] for message in held])


def _answer(minute: int, sender: str, text: str, time: object) -> Value:
    return {"response": {"_id": f"r{minute}", "sender": sender, "message": text, "create_time": time}}


GROK = [_answer(1, "human", "Tie a bowline.", TIMES[1]), _answer(2, "assistant", "Tied.", TIMES[2])]
GROK_NEW = [
    _answer(minute, sender, text, {"$date": {"$numberLong": str(MS[minute])}})
    for minute, sender, text in ((1, "human", "Tie a bowline."), (2, "ASSISTANT", "Tied."))
]


def _backend(responses: list[Value]) -> str:
    return json.dumps({"conversations": [{"conversation": {"id": ID, "title": "Knots"}, "responses": responses}]})


def _count_backend(text: str) -> Count:
    responses = [one["response"] for one in json.loads(text)["conversations"][0]["responses"]]
    times = [one["create_time"] for one in responses]
    moments = [int(time["$date"]["$numberLong"]) if isinstance(time, dict) else time for time in times]
    return count(["user" if one["sender"] == "human" else "agent" for one in responses], moments)


def _in_history(minute: int, role: str, text: str, **more: Any) -> Value:
    above = f"m{minute - 1}" if minute > 1 else None
    return {"id": f"m{minute}", "parentId": above, "role": role, "content": text, "timestamp": SECONDS[minute], **more}


def _history(*messages: Value) -> str:
    held = {message["id"]: message for message in messages}
    chat = {"title": "Knots", "history": {"messages": held, "currentId": messages[-1]["id"]}}
    return json.dumps([{"id": ID, "user_id": "u", "title": "Knots", "chat": chat}])


WEBUI = (_in_history(1, "user", "Tie a bowline."), _in_history(2, "assistant", "Tied.", model="m"))
THOUGHT = '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> Rope.\n</details>\nTied.'
WEBUI_NEW = (WEBUI[0], {**WEBUI[1], "content": THOUGHT, "usage": {"prompt_tokens": 1, "completion_tokens": 2}})


def _count_history(text: str) -> Count:
    held = list(json.loads(text)[0]["chat"]["history"]["messages"].values())
    spoken = ["user" if message["role"] == "user" else "agent" for message in held]
    return count(spoken, [message["timestamp"] for message in held])


GEMINI = [
    {"header": "Gemini Apps", "title": "Used Gemini Apps", "time": TIMES[3]},
    *(
        {
            "header": "Gemini Apps",
            "title": f"Prompted {text}",
            "time": TIMES[at],
            "safeHtmlItem": [{"html": "<p>Tied.</p>"}],
        }
        for at, text in ((2, "Again."), (1, "Tie a bowline."))
    ),
]
GEMINI_ALONE = [{key: value for key, value in one.items() if key != "safeHtmlItem"} for one in GEMINI]


def _count_activity(text: str) -> Count:
    records = [one for one in json.loads(text) if one["title"].startswith("Prompted")]
    spoken = [role for one in records for role in ("user", *("agent" for _ in one.get("safeHtmlItem", ())))]
    return count(spoken, [one["time"] for one in records])


def _version(**version: Any) -> Value:
    return {"versions": [version], "currentlySelected": 0}


def _studio(*answer: Value) -> str:
    question = _version(type="singleStep", role="user", content=_text("Tie a bowline."))
    answered = _version(type="multiStep", role="assistant", steps=list(answer))
    return json.dumps({"name": "Knots", "createdAt": MS[0], "messages": [question, answered]})


STUDIO = {"type": "contentBlock", "stepIdentifier": f"{MS[1]}-0.1", "content": _text("Tied.")}
STUDIO_THOUGHT = {**STUDIO, "content": _text("Rope."), "style": {"type": "thinking"}}


def _count_versions(text: str) -> Count:
    chat = json.loads(text)
    held = [one["versions"][0] for one in chat["messages"]]
    steps = [step for version in held for step in version.get("steps", ())]
    times = [int(step["stepIdentifier"].partition("-")[0]) for step in steps]
    spoken = ["user" if version["role"] == "user" else "agent" for version in held]
    return count(spoken, [chat["createdAt"], *times])


# --- Auggie, Junie ---------------------------------------------------------------------------------------------------


def _exchange(minute: int, question: str, answered: str, **more: Any) -> Value:
    nodes = {"request_nodes": [], "response_nodes": [], **more}
    return {"exchange": {"request_message": question, "response_text": answered, **nodes}, "finishedAt": TIMES[minute]}


def _asked(text: str) -> list[Value]:
    return [{"id": 1, "type": 0, "text_node": {"content": text}}]


AUGGIE = [_exchange(1, "Tie a bowline.", "Tied."), _exchange(2, "And a hitch?", "Twice around.")]
AUGGIE_NODES = [
    _exchange(1, "", "", request_nodes=_asked("Tie a bowline."), response_nodes=[{"type": 0, "content": "Tied."}])
]


def _auggie(history: list[Value]) -> str:
    return json.dumps({"sessionId": ID, "created": TIMES[0], "modified": TIMES[3], "chatHistory": history})


def _count_auggie(text: str) -> Count:
    """Count messages; the end of a session is that of its last exchange."""
    held = json.loads(text)
    exchanges = held["chatHistory"]
    return count(["user", "agent"] * len(exchanges), [held["created"], *(one["finishedAt"] for one in exchanges)])


def _junie(minute: int | None, kind: str, **more: Any) -> Value:
    time = {} if minute is None else {"timestampMs": MS[minute]}
    if kind == "UserPromptEvent":
        return {"kind": kind, **more, **time}
    return {"kind": "SessionA2uxEvent", "event": {"agentEvent": {"kind": kind, **more}}, **time}


JUNIE = (
    _junie(None, "UserPromptEvent", prompt="Tie a bowline."),
    _junie(None, "ResultBlockUpdatedEvent", stepId="1", cancelled=False, result="Tied."),
)
JUNIE_NEW = (
    _junie(1, "UserPromptEvent", prompt="Tie a bowline."),
    _junie(2, "MarkdownBlockUpdatedEvent", stepId="1", text="Ti"),
    _junie(3, "MarkdownBlockUpdatedEvent", stepId="1", text="Tied."),
    _junie(4, "ResultBlockUpdatedEvent", stepId="2", result="Tied well."),
)


def _count_junie(text: str) -> Count:
    """Count messages; a step is written repeatedly until it is complete, and its first time counts."""
    steps: dict[str, Value] = {}
    for value in map(json.loads, text.splitlines()):
        steps.setdefault(value.get("event", {}).get("agentEvent", {}).get("stepId", "prompt"), value)
    times = [step["timestampMs"] for step in steps.values() if "timestampMs" in step]
    return count(["user", *("agent" for name in steps if name != "prompt")], times)


# --- opencode, OpenHands: one file a message or an event -------------------------------------------------------------

SESSION = {"id": "ses_1", "title": "Knots", "directory": "/boats", "projectID": "p", "time": {"created": MS[0]}}
STORED = {"user": "Tie a bowline.", "assistant": "Tied."}


def _stored(**more: Any) -> dict[str, str]:
    files = {}
    for number, (role, text) in enumerate(STORED.items()):
        message = {"id": f"msg_{number}", "sessionID": "ses_1", "role": role, "time": {"created": MS[number + 1]}}
        part = {"id": "prt_1", "messageID": f"msg_{number}", "type": "text", "text": text}
        files[f"storage/message/ses_1/msg_{number}.json"] = json.dumps({**message, **more})
        files[f"storage/part/msg_{number}/prt_1.json"] = json.dumps(part)
        files[f"storage/part/msg_{number}/prt_0.json"] = json.dumps({**part, "type": "step-start"})
    return files


def _count_stored(_text: str) -> Count:
    return count(["user", "agent"], [MS[0], MS[1], MS[2]])


def _happened(minute: int, source: str, kind: str, **more: Any) -> Value:
    return {"id": f"e{minute}", "timestamp": LOCAL[minute], "source": source, "kind": kind, **more}


HANDS = [
    _happened(0, "agent", "SystemPromptEvent", system_prompt={"type": "text", "text": "You tie."}),
    _happened(1, "user", "MessageEvent", llm_message={"role": "user", "content": _text("Tie a bowline.")}),
    _happened(2, "environment", "ConversationStateUpdateEvent", key="stats", value={}),
    _happened(3, "agent", "MessageEvent", llm_message={"role": "assistant", "content": _text("Tied.")}),
]
HANDS_OLD = [
    {"id": 0, "timestamp": LOCAL[0], "source": "user", "action": "message", "args": {"content": "Tie a bowline."}},
    {"id": 1, "timestamp": LOCAL[1], "source": "environment", "observation": "agent_state_changed", "content": ""},
    {"id": 2, "timestamp": LOCAL[3], "source": "agent", "action": "message", "args": {"content": "Tied."}},
]


def _count_hands(text: str) -> Count:
    """Count messages, without the system prompt and events of the program's state."""
    events = HANDS if "events" not in json.loads(text) and "action" not in json.loads(text) else HANDS_OLD
    counted = [one for one in events if one.get("kind", "MessageEvent") == "MessageEvent" and "observation" not in one]
    roles = {"user": "user", "agent": "agent"}
    return count([roles[one["source"]] for one in counted], [one["timestamp"] for one in counted])


# --- Aider, Copilot CLI's and Qwen Code's first documents ------------------------------------------------------------

AIDER = """
# aider chat started at 2026-04-02 08:00:00

> Aider v0.86.1

#### Tie a bowline.

I look.

> Applied edit to knots.md

#### Tighter.

Tied.
"""
AIDER_PASTED = AIDER.replace("#### Tighter.", "#### Tighter.  \n####   \n#### Please.")


def _count_aider(text: str) -> Count:
    """Count messages; the only time is that of the start. A prompt may have several lines."""
    kinds = ["user" if line.startswith("####") else "agent" for line in text.splitlines() if line and line[0] != ">"]
    spoken = [kind for number, kind in enumerate(kinds[1:]) if number == 0 or kinds[number] != kind]
    return count(spoken, [datetime.fromisoformat(text.split(" at ")[1].partition("\n")[0]).timestamp()])


COPILOT_OLD = {
    "sessionId": ID,
    "startTime": TIMES[0],
    "chatMessages": [
        {"role": "system", "content": "You tie."},
        {"role": "user", "content": "Tie a bowline."},
        {"role": "assistant", "content": "Tied."},
    ],
}


def _count_copilot(text: str) -> Count:
    """Count messages, which have no times except that of the session."""
    roles = [message["role"] for message in json.loads(text)["chatMessages"] if message["role"] != "system"]
    return count(["user" if role == "user" else "agent" for role in roles], [TIMES[0]])


QWEN_OLD = {
    "sessionId": ID,
    "projectHash": "0" * 64,
    "startTime": TIMES[0],
    "lastUpdated": TIMES[2],
    "messages": [
        {"id": "1", "timestamp": TIMES[1], "type": "user", "content": "Tie a bowline."},
        {"id": "2", "timestamp": TIMES[2], "type": "qwen", "content": "Tied.", "thoughts": [], "model": "m"},
    ],
}


def _count_qwen(text: str) -> Count:
    value = json.loads(text)
    spoken = ["user" if message["type"] == "user" else "agent" for message in value["messages"]]
    return count(spoken, [value["startTime"], *(message["timestamp"] for message in value["messages"])])


ROO_TASK = f"rooveterinaryinc.roo-cline/tasks/{ID}/ui_messages.json"
ZOO_TASK = f"zoocodeorganization.zoo-code/tasks/{ID}/ui_messages.json"
KILO_TASK = f"kilocode.kilo-code/tasks/{ID}/ui_messages.json"
ITEM = {f"rooveterinaryinc.roo-cline/tasks/{ID}/history_item.json": '{"workspace": "/boats"}'}
EVENTS = {f"c/events/event-{number:05}-e{number}.json": json.dumps(event) for number, event in enumerate(HANDS)}
EVENTS_OLD = {f"s/events/{number}.json": json.dumps(event) for number, event in enumerate(HANDS_OLD)}
STORAGE = "storage/session/p/ses_1.json"
LISTED = {"sessions/sessions.json": CONTINUE_LIST}
LISTED_BY_PEAR = {".pearai/sessions/sessions.json": CONTINUE_LIST}
# --- Codebuff --------------------------------------------------------------------------------------------------------

CHATS = "projects/boats/chats/2026-04-02T08-00-00.000Z/chat-messages.json"
_SAID = {"id": f"ai-{MS[2]}-5e6f", "variant": "ai", "content": ""}
BUFF = [
    {"id": f"user-{MS[1]}", "variant": "user", "content": "Tie a bowline.", "timestamp": "08:01 AM"},
    {**_SAID, "content": "Like this.", "timestamp": "08:02 AM"},
    {"id": "error-1", "variant": "error", "content": "Rate limit.", "timestamp": TIMES[3]},
]
BUFF_NEW = [
    {**BUFF[0], "content": "", "blocks": [{"type": "text", "content": "Tie a bowline."}]},
    {
        **_SAID,
        "blocks": [
            {"type": "text", "textType": "reasoning", "content": "Hm."},
            {"type": "text", "content": "I look."},
            {"type": "tool", "toolName": "read_files", "input": {"paths": ["knots.md"]}, "output": "Knots"},
            {"type": "text", "content": "Like this."},
        ],
    },
]


def _count_buff(text: str) -> Count:
    spoken = []
    for message in json.loads(text):
        blocks = message.get("blocks") or [{"type": "text", "content": message["content"]}]
        if message["variant"] != "error":
            role = "user" if message["variant"] == "user" else "agent"
            spoken += [role for block in blocks if block["type"] == "text" and "textType" not in block]
    times = [message["timestamp"] for message in json.loads(text) if "T" in message.get("timestamp", "")]
    return count(spoken, [TIMES[0], *times, *(MS[at + 1] for at in range(2))])


# --- CodeWhale -------------------------------------------------------------------------------------------------------

_WHALE = {"id": ID, "title": "Knots", "created_at": TIMES[0], "updated_at": TIMES[5], "workspace": "/home/ada"}
WHALE_SAID = [
    {"role": "user", "content": _text("Tie a bowline.")},
    {"role": "assistant", "content": [*_text("I look."), {"type": "tool_use", "id": "a", "name": "ls", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "knots.md"}]},
    {"role": "assistant", "content": _text("Like this.")},
]
WHALE_ENTRIES = [
    {"id": f"e{at}", "parent_id": f"e{at - 1}", "kind": "message", "message": text, "created_at": TIMES[at]}
    for at, text in enumerate(WHALE_SAID, 1)
]


def _whale(**more: Any) -> str:
    return json.dumps({"schema_version": 1, "metadata": _WHALE, "messages": WHALE_SAID, **more})


def _count_whale(text: str) -> Count:
    value = json.loads(text)
    spoken = [
        "user" if message["role"] == "user" else "agent"
        for message in value["messages"]
        for block in message["content"]
        if block["type"] == "text"
    ]
    return count(spoken, [value["metadata"]["created_at"], value["metadata"]["updated_at"]])


SAMPLES = (
    Sample("copilot-chat: document", f"chatSessions/{ID}.json", json.dumps(CHAT), _count_chat),
    Sample("copilot-chat: changes", f"chatSessions/{ID}.jsonl", lines(*CHAT_LINES), _count_chat),
    Sample("roo-code: first", ROO_TASK, json.dumps(ROO), _count_roo),
    Sample("roo-code: with history", ROO_TASK, json.dumps(ROO_NEW), _count_roo, ITEM),
    Sample("zoo-code: first", ZOO_TASK, json.dumps(ROO), _count_roo),
    Sample("zoo-code: with feedback", ZOO_TASK, json.dumps(ROO_NEW), _count_roo),
    Sample("kilo-code: first", KILO_TASK, json.dumps(ROO), _count_roo),
    Sample("kilo-code: with feedback", KILO_TASK, json.dumps(ROO_NEW), _count_roo),
    Sample("amp: with traces", f"T-{ID}.json", json.dumps(AMP), _count_amp),
    Sample("amp: with times", f"T-{ID}.json", json.dumps(AMP_NEW), _count_amp),
    Sample("continue: first", f"sessions/{ID}.json", json.dumps(CONTINUE), _count_continue, LISTED),
    Sample("continue: with tools", f"sessions/{ID}.json", json.dumps(CONTINUE_NEW), _count_continue, LISTED),
    *(
        Sample(f"pearai: {version}", f".pearai/sessions/{ID}.json", json.dumps(value), _count_continue, LISTED_BY_PEAR)
        for version, value in (("first", CONTINUE), ("newer", CONTINUE_NEW))
    ),
    Sample("chatgpt: one file", "conversations.json", json.dumps([CHATGPT]), _count_nodes),
    Sample("chatgpt: a file for each", f"conversations/{ID}.json", json.dumps(CHATGPT_NEW), _count_nodes),
    Sample("chatgpt: contents without a type", f"conversations/{ID}.json", json.dumps(CHATGPT_PLAIN), _count_nodes),
    Sample("claude: texts", "conversations.json", json.dumps([{**CLAUDE, "chat_messages": LETTERS}]), _count_letters),
    Sample(
        "claude: blocks", "conversations.json", json.dumps([{**CLAUDE, "chat_messages": LETTERS_NEW}]), _count_letters
    ),
    Sample("deepseek: without a root", "conversations.json", json.dumps([DEEPSEEK]), _count_fragments),
    Sample("deepseek: with a root", "conversations.json", json.dumps([DEEPSEEK_NEW]), _count_fragments),
    Sample("grok-web: dates", "prod-grok-backend.json", _backend(GROK), _count_backend),
    Sample("grok-web: numbers", "prod-grok-backend.json", _backend(GROK_NEW), _count_backend),
    Sample("gemini-web: with answers", "MyActivity.json", json.dumps(GEMINI), _count_activity),
    Sample("gemini-web: prompts alone", "MyActivity.json", json.dumps(GEMINI_ALONE), _count_activity),
    Sample("open-webui: first", "chat-export-1.json", _history(*WEBUI), _count_history),
    Sample("open-webui: with thoughts", "chat-export-1.json", _history(*WEBUI_NEW), _count_history),
    Sample("lm-studio: first", "1.conversation.json", _studio(STUDIO), _count_versions),
    Sample("lm-studio: with thoughts", "1.conversation.json", _studio(STUDIO_THOUGHT, STUDIO), _count_versions),
    Sample("augment: texts", f"sessions/{ID}.json", _auggie(AUGGIE), _count_auggie),
    Sample("augment: nodes", f"sessions/{ID}.json", _auggie(AUGGIE_NODES), _count_auggie),
    Sample("codebuff: texts", CHATS, json.dumps(BUFF), _count_buff),
    Sample("codebuff: blocks", CHATS, json.dumps(BUFF_NEW), _count_buff),
    Sample("codewhale: messages", f"sessions/{ID}.json", _whale(), _count_whale),
    Sample("codewhale: journal", f"sessions/{ID}.json", _whale(journal={"entries": WHALE_ENTRIES}), _count_whale),
    Sample("junie: without times", "s/events.jsonl", lines(*JUNIE), _count_junie),
    Sample("junie: with times", "s/events.jsonl", lines(*JUNIE_NEW), _count_junie),
    Sample("opencode: first", STORAGE, json.dumps(SESSION), _count_stored, _stored()),
    Sample(
        "opencode: with models",
        STORAGE,
        json.dumps({**SESSION, "version": "1.1.0"}),
        _count_stored,
        _stored(modelID="m", providerID="p", cost=0, tokens={"input": 1, "output": 1}),
    ),
    Sample("openhands: sdk", "c/base_state.json", json.dumps({"id": "c", "agent": {}}), _count_hands, EVENTS),
    Sample("openhands: first", "s/events/0.json", json.dumps(HANDS_OLD[0]), _count_hands, EVENTS_OLD),
    Sample("aider: one session", "boats/.aider.chat.history.md", AIDER, _count_aider),
    Sample("aider: lines of a prompt", "boats/.aider.chat.history.md", AIDER_PASTED, _count_aider),
    Sample(
        "copilot-cli: document", f"history-session-state/session_{ID}.json", json.dumps(COPILOT_OLD), _count_copilot
    ),
    Sample("qwen: document", ".qwen/tmp/h/chats/session-a.json", json.dumps(QWEN_OLD), _count_qwen),
)


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.name for sample in SAMPLES])
def test_parser_agrees_with_an_independent_count(tmp_path: Path, sample: Sample) -> None:
    check(tmp_path, sample)
