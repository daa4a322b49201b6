"""Counts a second sample of the formats that one agent has besides its main one, as `test_independent_count` does.

Every format of every agent is counted in two versions at least.
"""

import json
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from engine.corpus.transcripts.database_format import RowFormat
from engine.corpus.transcripts.registry import AGENTS, formats
from engine.corpus.transcripts.transcript_reader import database_format, document_format, line_format, opened
from tests.engine.corpus.transcripts import (
    test_independent_count,
    test_independent_count_documents,
    test_independent_count_lines,
    test_independent_count_newer,
)
from tests.helpers.agent_databases import DATABASES, SINGLE
from tests.helpers.session_counts import SECONDS, TIMES, Count, Sample, Value, check, count, lines, read

ID = "5e6f7a8b-0000-4000-8000-000000000001"
MS = [1000 * second for second in SECONDS]


def _text(text: str) -> list[Value]:
    return [{"type": "text", "text": text}]


def _function(name: str, arguments: str) -> Value:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


# --- Gemini CLI, Qwen Code -------------------------------------------------------------------------------------------

_LS = {"id": "c", "name": "ls", "args": {"path": "sails"}, "status": "success", "result": [{"text": "jib"}]}


def _sewn(answers: str) -> list[Value]:
    return [
        {"id": "1", "timestamp": TIMES[1], "type": "user", "content": [{"text": "Sew the sail."}]},
        {"id": "2", "timestamp": TIMES[2], "type": answers, "content": "", "toolCalls": [_LS], "thoughts": []},
        {"id": "3", "timestamp": TIMES[3], "type": "info", "content": "Context is short."},
        {"id": "4", "timestamp": TIMES[4], "type": answers, "content": "Sewn.", "tokens": {"input": 1, "output": 2}},
    ]


_HEAD = {"sessionId": "g", "projectHash": "0" * 64, "startTime": TIMES[0], "lastUpdated": TIMES[4]}
GEMINI_LINES = lines(_HEAD, *_sewn("gemini"), {"$set": {"summary": "A sail"}}, _sewn("gemini")[3])
SAVED = [
    {"role": "user", "parts": [{"text": "Sew the sail."}]},
    {"role": "model", "parts": [{"text": "Of hemp?", "thought": True}, {"text": "Sewn."}]},
]


def _count_sewn(text: str) -> Count:
    """Count the user's messages and answers with text; a message may be written again."""
    values = json.loads(text)["messages"] if text.count("\n") < 2 else read(text)
    told = {value["id"]: value for value in values if "type" in value}.values()
    spoken = [
        "user" if value["type"] == "user" else "agent" for value in told if value["type"] != "info" and value["content"]
    ]
    return count(spoken, [TIMES[0], *(value["timestamp"] for value in told)])


def _count_saved(text: str) -> Count:
    spoken = [
        "user" if turn["role"] == "user" else "agent"
        for turn in json.loads(text)
        for part in turn["parts"]
        if not part.get("thought")
    ]
    return count(spoken, [])


# --- Droid, Cline, Kimi ----------------------------------------------------------------------------------------------


def _run(minute: int, kind: str, **more: Any) -> Value:
    return {"type": kind, "session_id": "d", "timestamp": TIMES[minute], **more}


RUN = (
    _run(0, "system", subtype="init", cwd="/boats", model="m-1"),
    _run(1, "message", role="user", text="Shape the oar."),
    _run(2, "message", role="assistant", text="Of ash?"),
    _run(3, "message", role="user", text="Of ash."),
    _run(4, "message", role="assistant", text="Shaped."),
    _run(5, "completion", finalText="Shaped."),
)


def _count_run(text: str) -> Count:
    """Count messages; the end of a run repeats the last one."""
    values = read(text)
    roles = [value["role"] for value in values if value["type"] == "message"]
    return count(["user" if role == "user" else "agent" for role in roles], [one["timestamp"] for one in values[:-1]])


CLINE = [
    {"ts": MS[0], "type": "say", "say": "task", "text": "Oil the winch.", "images": []},
    {"ts": MS[1], "type": "say", "say": "reasoning", "text": "Oil.", "partial": False},
    {"ts": MS[2], "type": "ask", "ask": "tool", "text": json.dumps({"tool": "readFile", "path": "winch.md"})},
    {"ts": MS[3], "type": "ask", "ask": "followup", "text": json.dumps({"question": "Which oil?", "options": []})},
    {"ts": MS[4], "type": "say", "say": "user_feedback", "text": "Linseed."},
    {"ts": MS[5], "type": "say", "say": "completion_result", "text": "Oiled."},
    {"ts": MS[5], "type": "ask", "ask": "completion_result", "text": ""},
]


def _count_cline(text: str) -> Count:
    roles = {"task": "user", "user_feedback": "user", "followup": "agent", "completion_result": "agent"}
    kinds = [(value.get("say") or value["ask"], value["text"]) for value in json.loads(text)]
    return count([roles[kind] for kind, said in kinds if said and kind in roles], [MS[0], MS[5]])


HISTORY = (
    {"role": "_system_prompt", "content": "The current working directory is `/boats`."},
    {"role": "_checkpoint", "id": 0},
    {"role": "user", "content": "Rig the mast."},
    {"role": "assistant", "content": [{"type": "think", "think": "Oak."}, {"type": "text", "text": "Rigged."}]},
)
HISTORY_NEW = (
    *HISTORY[:3],
    {"role": "user", "content": "<system>CHECKPOINT 1</system>"},
    {"role": "assistant", "content": _text("I look."), "tool_calls": [_function("ls", "{}")]},
    {"role": "tool", "content": "mast", "tool_call_id": "c"},
    {"role": "_usage", "token_count": 5},
    HISTORY[3],
)


def _count_history(text: str) -> Count:
    spoken = []
    for line in read(text):
        blocks = line.get("content", "")
        texts = [blocks] if isinstance(blocks, str) else [block.get("text", "") for block in blocks]
        said = [held for held in texts if held and not held.startswith("<system>")]
        spoken += [{"user": "user", "assistant": "agent"}[line["role"]] for _ in said if line["role"] in _SPEAKERS]
    return count(spoken, [])


_SPEAKERS = ("user", "assistant")

# --- Kiro, Copilot CLI, Hermes, Cortex Code --------------------------------------------------------------------------


def _said(role: str, text: Any, id: str) -> Value:
    return {"message": {"role": role, "content": text, "id": id}}


KIRO = {
    "sessionId": ID,
    "title": "A mast",
    "workspaceDirectory": "/boats",
    "history": [_said("user", _text("Rig the mast."), "1"), _said("assistant", "Rigged.", "2")],
}
KIRO_NEW = {
    **KIRO,
    "selectedModel": "auto",
    "history": [
        *KIRO["history"],
        _said("user", "And the boom?", "3"),
        {**_said("assistant", "", "4"), "promptLogs": [{"completion": "Rigged, too."}]},
    ],
}


def _count_kiro(text: str) -> Count:
    roles = [entry["message"]["role"] for entry in json.loads(text)["history"]]
    return count(["user" if role == "user" else "agent" for role in roles], [])


COPILOT = {
    "sessionId": ID,
    "startTime": TIMES[0],
    "chatMessages": [
        {"role": "user", "content": "Tie a bowline."},
        {"role": "assistant", "content": "I look.", "tool_calls": [_function("view", '{"path": "rope"}')]},
        {"role": "tool", "tool_call_id": "c", "content": "hemp"},
        {"role": "assistant", "content": "Tied."},
    ],
    "timeline": [],
}


def _count_copilot(text: str) -> Count:
    roles = [message["role"] for message in json.loads(text)["chatMessages"] if message["role"] != "tool"]
    return count(["user" if role == "user" else "agent" for role in roles], [TIMES[0]])


HERMES: dict[str, Any] = {
    "session_id": "20260402_080000_5a",
    "model": "m",
    "session_start": TIMES[0],
    "last_updated": TIMES[4],
    "messages": [{"role": "user", "content": "Shape the oar."}, {"role": "assistant", "content": "Shaped."}],
}
HERMES_NEW = {
    **HERMES,
    "platform": "cli",
    "messages": [
        HERMES["messages"][0],
        {"role": "assistant", "content": "", "reasoning": "Ash.", "tool_calls": [_function("read", "{}")]},
        {"role": "tool", "tool_call_id": "c", "content": "ash"},
        HERMES["messages"][1],
    ],
}


def _count_hermes(text: str) -> Count:
    value = json.loads(text)
    told = [message for message in value["messages"] if message["role"] != "tool" and message["content"]]
    spoken = ["user" if message["role"] == "user" else "agent" for message in told]
    return count(spoken, [value["session_start"], value["last_updated"]])


def _cortex(minute: int, role: str, *blocks: Value) -> Value:
    return {"role": role, "content": blocks, "id": f"m{minute}", f"{role}_sent_time": TIMES[minute]}


CORTEX = (_cortex(1, "user", *_text("Shape the oar.")), _cortex(3, "assistant", *_text("Shaped.")))
CORTEX_NEW = (
    CORTEX[0],
    _cortex(2, "assistant", {"type": "tool_use", "tool_use": {"tool_use_id": "c", "name": "read", "input": {}}}),
    _cortex(2, "user", {"type": "tool_result", "tool_result": {"tool_use_id": "c", "content": _text("ash")}}),
    CORTEX[1],
)


def _count_cortex(text: str) -> Count:
    values = read(text)
    spoken = [
        "user" if value["role"] == "user" else "agent"
        for value in values
        for block in value["content"]
        if block["type"] == "text"
    ]
    times = [value[name] for value in values for name in value if name.endswith("_sent_time")]
    return count(spoken, times)


_KIRO_PATH = f"workspace-sessions/L2JvYXRz/{ID}.json"
SAMPLES = (
    Sample("gemini: lines written again", "session-a.jsonl", GEMINI_LINES, _count_sewn),
    Sample("gemini: with tools", "session-a.json", json.dumps({**_HEAD, "messages": _sewn("gemini")}), _count_sewn),
    Sample("gemini: saved history", "checkpoint-a.json", json.dumps(SAVED), _count_saved),
    Sample(
        "qwen: document with tools",
        ".qwen/tmp/h/chats/session-a.json",
        json.dumps({**_HEAD, "messages": _sewn("qwen")}),
        _count_sewn,
    ),
    Sample("droid: output of a run with a header", "run.jsonl", lines(*RUN), _count_run),
    Sample("cline: task with questions", "tasks/17/ui_messages.json", json.dumps(CLINE), _count_cline),
    Sample("kimi: history", "h/s/context.jsonl", lines(*HISTORY), _count_history),
    Sample("kimi: history with tools", "h/s/context.jsonl", lines(*HISTORY_NEW), _count_history),
    Sample("kiro: document", _KIRO_PATH, json.dumps(KIRO), _count_kiro),
    Sample("kiro: document with logs", _KIRO_PATH, json.dumps(KIRO_NEW), _count_kiro),
    Sample(
        "copilot-cli: document with tools",
        f"history-session-state/session_{ID}.json",
        json.dumps(COPILOT),
        _count_copilot,
    ),
    Sample("hermes: document", "session_20260402_080000_5a.json", json.dumps(HERMES), _count_hermes),
    Sample("hermes: document with tools", "session_20260402_080000_5a.json", json.dumps(HERMES_NEW), _count_hermes),
    Sample("cortex: lines", f"{ID}.history.jsonl", lines(*CORTEX), _count_cortex),
    Sample("cortex: lines with tools", f"{ID}.history.jsonl", lines(*CORTEX_NEW), _count_cortex),
)


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.name for sample in SAMPLES])
def test_parser_agrees_with_an_independent_count(tmp_path: Path, sample: Sample) -> None:
    check(tmp_path, sample)


def _name(known: Any) -> tuple[str, str]:
    """Return the agent and the class of a format, or the module of a database's."""
    return known.agent, known.conversation.__module__ if isinstance(known, RowFormat) else type(known).__name__


def _format_of(path: Path) -> tuple[str, str]:
    with opened(path) as (source, _):
        known = database_format(source, str(path)) or document_format(source, str(path))
        return _name(known or line_format(source, str(path)))


def test_every_format_is_counted_in_two_versions(tmp_path: Path) -> None:
    counted = Counter[tuple[str, str]]()
    others = (
        test_independent_count.SAMPLES,
        test_independent_count_documents.SAMPLES,
        test_independent_count_lines.SAMPLES,
        test_independent_count_newer.SAMPLES,
    )
    for number, sample in enumerate(chain(SAMPLES, *others)):
        folder = tmp_path / str(number)
        for name, content in {sample.path: sample.content, **sample.beside}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        counted[_format_of(folder / sample.path)] += 1
    for database in (*DATABASES, *SINGLE):
        counted[_format_of(database.write(tmp_path / database.name.replace(":", "")))] += 1
    known = {_name(one) for held in formats() for one in (*held.lines, *held.documents, *held.databases)}
    assert {name for name in known if counted[name] < 2} == set()
    assert {agent.name for agent in AGENTS} == {agent for agent, _ in known}
