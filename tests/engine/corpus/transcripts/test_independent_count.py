"""Counts samples of the formats again, with counters that share nothing with the parsers.

The shapes are those of public test data of programs that read these transcripts (August 2026), two versions of each.
A counter returns the messages of the user and of the agent, and the first and the last time.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.session_counts import TIMES, Count, Sample, Value, check, count, lines, read

# --- Claude Code -----------------------------------------------------------------------------------------------------


def _claude(number: int, role: str, content: object, **more: Any) -> Value:
    message = {"role": role, "content": content, **({"id": f"m{number}"} if role == "assistant" else {})}
    link = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s"}
    return {"type": role, **link, "timestamp": TIMES[number], "message": message, **more}


def _count_claude(text: str) -> Count:
    spoken, times = [], []
    for value in read(text):
        if value["type"] not in ("user", "assistant"):
            continue
        times.append(value["timestamp"])
        content = value["message"]["content"]
        texts = [content] if isinstance(content, str) else [part["text"] for part in content if part["type"] == "text"]
        spoken += ["user" if value["type"] == "user" else "agent"] * len(texts)
    return count(spoken, times)


CLAUDE = (
    _claude(0, "user", "Tar the hull."),
    _claude(1, "assistant", [{"type": "text", "text": "Which tar?"}]),
    _claude(2, "user", [{"type": "text", "text": "The black one."}]),
    _claude(3, "assistant", [{"type": "thinking", "thinking": "Black."}]),
    _claude(4, "assistant", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "tar"}}]),
    _claude(5, "user", [{"type": "tool_result", "tool_use_id": "t", "content": "tarred"}]),
    _claude(6, "assistant", [{"type": "text", "text": "Tarred."}]),
)
CLAUDE_NEW = (
    {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "timestamp": TIMES[0]},
    {"type": "file-history-snapshot", "messageId": "u0", "snapshot": {}},
    *CLAUDE,
    {"type": "last-prompt", "sessionId": "s", "lastPrompt": "The black one."},
)


def _without_ids(line: Value) -> Value:
    """Return the shortest lines that readers of transcripts accept."""
    return {
        "type": line["type"], "timestamp": line["timestamp"], "message": {"content": line["message"]["content"]}
    }  # fmt: skip


# --- Codex -----------------------------------------------------------------------------------------------------------


def _codex_says(role: str, text: str) -> Value:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _envelope(minute: int, kind: str, payload: Value) -> Value:
    return {"timestamp": TIMES[minute], "type": kind, "payload": payload}


CODEX_OLD = (
    {"id": "c", "timestamp": TIMES[0], "instructions": None},
    {"record_type": "state"},
    _codex_says("user", "Sand the deck."),
    {"type": "function_call", "name": "shell", "arguments": '{"command": ["sand"]}', "call_id": "1"},
    {"type": "function_call_output", "call_id": "1", "output": "sanded"},
    _codex_says("assistant", "Sanded."),
)
CODEX = (
    _envelope(0, "session_meta", {"id": "c", "cwd": "/boats", "timestamp": TIMES[0]}),
    _envelope(1, "response_item", _codex_says("user", "Sand the deck.")),
    _envelope(1, "event_msg", {"type": "user_message", "message": "Sand the deck."}),
    _envelope(2, "response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Deck."}]}),
    _envelope(3, "response_item", _codex_says("assistant", "Sanded.")),
    _envelope(3, "event_msg", {"type": "agent_message", "message": "Sanded."}),
)


def _turn_item(minute: int, kind: str, **item: Any) -> Value:
    return _envelope(minute, "event_msg", {"type": "item_completed", "turn_id": "1", "item": {"type": kind, **item}})


CODEX_FORK = {"id": "c", "timestamp": TIMES[0], "forked_from_id": "p", "history_mode": "paginated"}
CODEX_PAGES = (
    _envelope(0, "session_meta", {**CODEX_FORK, "history_base": {"thread_id": "p", "end_ordinal_exclusive": 4}}),
    _envelope(1, "response_item", _codex_says("user", "Varnish it.")),
    _turn_item(1, "UserMessage", id="u", content=[{"type": "text", "text": "Varnish it."}]),
    _envelope(2, "response_item", _codex_says("assistant", "Twice?")),
    _turn_item(2, "AgentMessage", id="a", content=[{"type": "Text", "text": "Twice?"}]),
    _envelope(3, "response_item", _codex_says("user", "Once.")),
    _turn_item(3, "UserMessage", id="v", content=[{"type": "text", "text": "Once."}]),
    _turn_item(4, "Sleep", id="z", duration_ms=5),
    _envelope(4, "response_item", _codex_says("assistant", "Varnished.")),
)


def _count_codex(text: str) -> Count:
    """Count items; events for the screen repeat them. A header alone has no time of a message."""
    spoken, times = [], []
    for value in read(text):
        item = value.get("payload", value)
        if "timestamp" in value:
            times.append(value["timestamp"])
        if item.get("type") == "message":
            spoken.append("user" if item["role"] == "user" else "agent")
    counted = count(spoken, times)
    return counted._replace(last=None) if len(times) == 1 else counted


# --- Gemini CLI ------------------------------------------------------------------------------------------------------

GEMINI = [
    {"id": "1", "timestamp": TIMES[1], "type": "user", "content": "Sew the sail."},
    {"id": "2", "timestamp": TIMES[2], "type": "gemini", "content": "Sewn.", "toolCalls": []},
    {"id": "3", "timestamp": TIMES[3], "type": "user", "content": [{"text": "And the flag?"}]},
    {"id": "4", "timestamp": TIMES[4], "type": "gemini", "content": "Sewn, too."},
]
GEMINI_HEAD = {"sessionId": "g", "projectHash": "0" * 64, "startTime": TIMES[0], "lastUpdated": TIMES[4]}


def _count_gemini(text: str) -> Count:
    values = json.loads(text)["messages"] if text.count("\n") == 0 else read(text)
    roles = {"user": "user", "gemini": "agent"}
    return count(
        [roles[value["type"]] for value in values if "type" in value],
        [TIMES[0], *(value["timestamp"] for value in values if "type" in value)],
    )


# --- Cline -----------------------------------------------------------------------------------------------------------

CLINE = [
    {"ts": 1775116800000, "type": "say", "say": "text", "text": "Oil the winch."},
    {"ts": 1775116801000, "type": "say", "say": "api_req_started", "text": "{}"},
    {"ts": 1775116802000, "type": "say", "say": "text", "text": "I look for oil."},
    {"ts": 1775116803000, "type": "say", "say": "completion_result", "text": "Oiled."},
    {"ts": 1775116804000, "type": "say", "say": "user_feedback", "text": "More."},
]
CLINE_NEW = {
    "sessionId": "n",
    "origin": "cli",
    "agent": "lead",
    "messages": [
        {"role": "user", "content": "Oil the winch.", "ts": 1775116800000},
        {"role": "assistant", "content": [{"type": "text", "text": "Oiled."}], "ts": 1775116802000},
    ],
}


def _count_cline(text: str) -> Count:
    """Count messages; the first text is the task."""
    values = [value for value in json.loads(text) if value["say"] != "api_req_started"]
    users = {0, *(index for index, value in enumerate(values) if value["say"] == "user_feedback")}
    spoken = ["user" if index in users else "agent" for index in range(len(values))]
    return count(spoken, [value["ts"] for value in values])


def _count_new_cline(text: str) -> Count:
    values = json.loads(text)["messages"]
    return count(["user" if value["role"] == "user" else "agent" for value in values], [one["ts"] for one in values])


# --- Vibe, Grok, gptme -----------------------------------------------------------------------------------------------

CHAT = (
    {"role": "user", "content": "Paint the buoy.", "message_id": "1"},
    {"role": "assistant", "content": "Which colour?", "message_id": "2"},
    {"role": "user", "content": "Red.", "message_id": "3"},
)
GROK = (
    {"type": "system", "content": "You paint."},
    {"type": "user", "content": [{"type": "text", "text": "Paint the buoy."}]},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Red."}]},
    {"type": "assistant", "content": "Painted."},
)
GROK_NEW = (
    GROK[0],
    {"type": "user", "content": [{"type": "text", "text": "Be brief."}], "synthetic_reason": "project_instructions"},
    {**GROK[1], "prompt_index": 0},
    *GROK[2:],
    {"type": "user", "content": [{"type": "text", "text": "Twice."}], "synthetic_reason": "interjection"},
)
GROK_OLD = (
    {"role": "system", "content": "You paint."},
    {"role": "user", "content": "Paint the buoy."},
    {
        "role": "assistant",
        "content": "Which tin?",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "list", "arguments": "{}"}}],
        "model_id": "grok-9",
        "reasoning_content": "Red.",
    },
    {"role": "tool", "content": "red.tin", "tool_call_id": "c"},
    {"role": "assistant", "content": "Painted.", "model_id": "grok-9"},
)
GPTME = (
    {"role": "system", "content": "You paint.", "timestamp": TIMES[0]},
    {"role": "user", "content": "Paint the buoy.", "timestamp": TIMES[1]},
    {"role": "assistant", "content": "Painted.", "timestamp": TIMES[2]},
    {"role": "system", "content": "done", "timestamp": TIMES[3], "call_id": "c"},
)


def _count_chat(text: str) -> Count:
    """Count messages without times; the file next to them contains the first and the sixth of `TIMES`."""
    inserted = {"project_instructions"}
    kinds = [
        value.get("role") or value["type"] for value in read(text) if value.get("synthetic_reason") not in inserted
    ]
    roles = {"user": "user", "assistant": "agent"}
    times = [value["timestamp"] for value in read(text) if "timestamp" in value] or [TIMES[0], TIMES[5]]
    return count([roles[kind] for kind in kinds if kind in roles], times)


VIBE_META = json.dumps({"session_id": "v", "start_time": TIMES[0], "end_time": TIMES[5]})
GROK_SUMMARY = {"info": {"id": "k", "cwd": "/boats"}, "created_at": TIMES[0], "updated_at": TIMES[5]}
QODER_NEW = [
    {"type": "workspace-directories", "sessionId": "s", "directories": ["/boats"]},
    *CLAUDE_NEW,
    {"type": "active-leaf", "sessionId": "s"},
]
SAMPLES = (
    Sample("claude-code: 2026", "a.jsonl", lines(*CLAUDE), _count_claude),
    Sample("claude-code: with other lines", "a.jsonl", lines(*CLAUDE_NEW), _count_claude),
    Sample("claude-code: without ids", "a.jsonl", lines(*map(_without_ids, CLAUDE)), _count_claude),
    Sample("codex: without envelopes", "rollout-a.jsonl", lines(*CODEX_OLD), _count_codex),
    Sample("codex: with envelopes", "rollout-a.jsonl", lines(*CODEX), _count_codex),
    Sample("codex: pages of a fork", "rollout-a.jsonl", lines(*CODEX_PAGES), _count_codex),
    *(
        Sample(f"{agent}: {version}", f"{folder}/a.jsonl", content, count_lines)
        for agent, folder, count_lines, older, newer in (
            (
                "claude-cowork",
                "local-agent-mode-sessions/a/o/local_s/.claude/projects/boats",
                _count_claude,
                CLAUDE,
                CLAUDE_NEW,
            ),
            ("qoder", ".qoder/projects/boats", _count_claude, CLAUDE, QODER_NEW),
            ("openclaude", ".openclaude/projects/boats", _count_claude, CLAUDE, CLAUDE_NEW),
            ("trae-cli", ".trae/cli/sessions", _count_codex, CODEX_OLD, CODEX),
            ("open-interpreter", ".openinterpreter/sessions", _count_codex, CODEX_OLD, CODEX),
            ("augure-code", ".augure/sessions", _count_codex, CODEX_OLD, CODEX),
        )
        for version, content in (("first", lines(*older)), ("newer", lines(*newer)))
    ),
    Sample("gemini: document", "session-a.json", json.dumps({**GEMINI_HEAD, "messages": GEMINI}), _count_gemini),
    Sample("gemini: lines", "session-a.jsonl", lines(GEMINI_HEAD, *GEMINI), _count_gemini),
    Sample("cline: task", "tasks/17/ui_messages.json", json.dumps(CLINE), _count_cline),
    Sample("cline: session", "n/n.messages.json", json.dumps(CLINE_NEW), _count_new_cline),
    Sample(
        "cline: session without origin",
        "n/n.messages.json",
        json.dumps({key: value for key, value in CLINE_NEW.items() if key != "origin"}),
        _count_new_cline,
    ),
    Sample("vibe: first", "v/messages.jsonl", lines(*CHAT), _count_chat, {"v/meta.json": VIBE_META}),
    Sample(
        "vibe: with injected messages",
        "v/messages.jsonl",
        lines(*({**value, "injected": False} for value in CHAT)),
        _count_chat,
        {"v/meta.json": VIBE_META},
    ),
    Sample(
        "grok: first", "k/chat_history.jsonl", lines(*GROK), _count_chat, {"k/summary.json": json.dumps(GROK_SUMMARY)}
    ),
    Sample(
        "grok: with activity",
        "k/chat_history.jsonl",
        lines(*GROK),
        _count_chat,
        {"k/summary.json": json.dumps({**GROK_SUMMARY, "last_active_at": TIMES[5], "updated_at": TIMES[6]})},
    ),
    Sample(
        "grok: with inserted messages",
        "k/chat_history.jsonl",
        lines(*GROK_NEW),
        _count_chat,
        {"k/summary.json": json.dumps(GROK_SUMMARY)},
    ),
    Sample(
        "grok: chat completions",
        "k/chat_history.jsonl",
        lines(*GROK_OLD),
        _count_chat,
        {"k/summary.json": json.dumps(GROK_SUMMARY)},
    ),
    Sample("gptme: first", "g/conversation.jsonl", lines(*GPTME), _count_chat),
    Sample(
        "gptme: with metadata",
        "g/conversation.jsonl",
        lines(*GPTME[:3], {**GPTME[3], "metadata": {"tool": "shell"}}),
        _count_chat,
    ),
    Sample(
        "gptme: with results of tools",
        "g/conversation.jsonl",
        lines(*GPTME[:3], {"role": "tool", "content": "done", "timestamp": TIMES[3]}),
        _count_chat,
    ),
)


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.name for sample in SAMPLES])
def test_parser_agrees_with_an_independent_count(tmp_path: Path, sample: Sample) -> None:
    check(tmp_path, sample)
