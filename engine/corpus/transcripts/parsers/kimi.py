"""Kimi's records of sessions: `wire.jsonl`, or the history for the model, `context.jsonl`, if there is no other.

Written from the public source of Kimi CLI 1.49 of July 2026 (`wire/file.py`, `wire/types.py`, `soul/context.py`,
`session.py`), and that of Kimi Code of August 2026 (`agent-core-v2/docs/wire-manifest.d.ts`, `sessionMetadata`):

* `~/.kimi/sessions/<hash of the folder>/<id>/wire.jsonl`: lines with a `timestamp` and a `message` of a `type`. A turn
  begins with the user's input; events of a sub-agent are nested in others. `~/.kimi/kimi.json` lists the folders.
* `~/.kimi-code/sessions/wd_<name>_<hash>/<id>/agents/main/wire.jsonl`: lines with a `type` and a `time`; other agents
  of the session are next to `main`. `~/.kimi-code/session_index.jsonl` has the folder of each session.
* `context.jsonl` in Kimi CLI's folders: messages without times, among lines with other roles such as `_checkpoint`.

`state.json` has the title. In Kimi Code, `context.undo` undoes the last `count` messages of the user and everything
after them.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts.formats import LineFormat, LineParser, Part, filled_parts, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, items, mapping, member, objects, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.token_usage import counted

_LONGEST_LIST = 8 * 1024**2
_FOLDER = re.compile(r"The current working directory is `([^`\n]{1,4096})`")
_CHECKPOINT = re.compile(r"\s*<system>CHECKPOINT \d+</system>\s*")
_SILENT_EVENTS = frozenset(
    """ApprovalRequest ApprovalRequestResolved ApprovalResponse CompactionBegin CompactionEnd HookRequest HookResolved
    HookTriggered MCPLoadingBegin MCPLoadingEnd StatusUpdate StepInterrupted StepRetry ToolCallPart ToolCallRequest
    TurnEnd""".split()
)
_SILENT_ENTRIES = frozenset(
    """cron forked full_compaction goal interruptionReminder llm mcp metadata permission plan plan_mode plugin profile
    prompt runtime staleGuard swarm_mode task token_counting tools tower_mode turn""".split()
)
"""Types of entries, before the dot, that repeat others or describe the program's state."""
_HOUSEKEEPERS = ("ctitle-", "sklsum-", "dvlt-")
"""Beginnings of ids of sessions in which the desktop program makes titles, sums up skills and tests."""
_COUNTS = "inputOther output inputCacheRead inputCacheCreation"
_BEGINNINGS = frozenset({"TurnBegin", "StepBegin", "SteerInput", "step.begin"})


class KimiParser(LineParser, kw_only=True):
    open: bool = False
    """Whether the next part belongs to the last message."""
    asked: list[int] = msgspec.field(default_factory=list)
    """Lines of the user's messages that the user can still undo."""
    questions: set[str] = msgspec.field(default_factory=set)
    """Ids of questions to the user without an answer yet."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        if "role" in value:
            return self._to_messages(list(self._history_parts(value)), line, None, begins=True)
        message = mapping(value, "message")
        if "payload" in message:
            time = seconds(value.get("timestamp"))
            return self._event(string(message, "type"), mapping(message, "payload"), line, time, side=False)
        return self._entry(value, line)

    def _to_messages(
        self, parts: list[Part], line: int, time: float | None, *, begins: bool, side: bool = False
    ) -> list[Message]:
        """Return the parts with text as a new message (`begins`), or as further parts of the last one."""
        filled = filled_parts(parts)
        if begins or side:
            self.open = False
        if filled and not self.open:
            self.ordinal += 1
            self.open = not side
        side = side or bool(self.metadata.parent)
        new = [
            self.part(role, kind, text, line, time=time, tool=tool, side=side, call=call, failed=failed)
            for role, kind, text, tool, call, failed in filled
        ]
        if any(part[0] == "user" for part in filled):
            self.open = False
        return new

    # --- Kimi CLI ---

    def _event(
        self, kind: str, payload: Mapping[str, Any], line: int, time: float | None, *, side: bool
    ) -> list[Message]:
        if kind == "SubagentEvent":
            inner = mapping(payload, "event")
            if side or inner.get("type") == "SubagentEvent":
                return []
            return self._event(string(inner, "type"), mapping(inner, "payload"), line, time, side=True)
        if kind == "StatusUpdate":
            names = "input_other output input_cache_read input_cache_creation"
            self.use("", counted(mapping(payload, "token_usage"), names))
        if kind not in _SILENT_EVENTS:
            return self._to_messages(
                list(self._event_parts(kind, payload)), line, time, begins=kind in _BEGINNINGS, side=side
            )
        return []

    def _event_parts(self, kind: str, payload: Mapping[str, Any]) -> Iterator[Part]:
        if kind in ("TurnBegin", "SteerInput"):
            yield Part("user", "text", content(payload, "user_input"))
        elif kind == "ContentPart":
            yield from self._content(payload, "assistant")
        elif kind == "ToolCall":
            yield self._call(payload)
        elif kind == "ToolResult":
            returned = mapping(payload, "return_value")
            output = content(returned, "output") or string(returned, "message")
            yield self._result(payload.get("tool_call_id"), output, failed=returned.get("is_error") is True)
        elif kind == "PlanDisplay":
            yield Part("assistant", "text", string(payload, "content"))
        elif kind == "BtwBegin":
            yield Part("user", "text", string(payload, "question"))
        elif kind == "BtwEnd":
            yield Part("assistant", "text", string(payload, "response") or string(payload, "error"))
        elif kind == "Notification":
            yield Part("system", "text", "\n".join(filter(None, map(string, map(payload.get, ("title", "body"))))))
        elif kind == "QuestionRequest":
            questions = (string(question, "question") for question in items(payload, "questions"))
            yield Part("assistant", "text", "\n".join(filter(None, questions)))
        elif kind == "QuestionResponse":
            yield Part("user", "text", "\n".join(filter(None, map(string, mapping(payload, "answers").values()))))
        elif kind != "StepBegin":
            self.count_unknown(kind)

    def _content(self, value: object, role: Role) -> Iterator[Part]:
        part = mapping(value)
        if part.get("type") == "think":
            yield Part("assistant", "thinking", string(part, "think"))
        else:
            yield Part(role, "text", content(part or value))

    def _call(self, call: Mapping[str, Any]) -> Part:
        function = mapping(call, "function")
        name, arguments = clean(function, "name"), string(function, "arguments")
        id = clean(call, "id")
        self.calls[id] = name
        return tool_call(tool_input(parse_line(arguments.encode(errors="replace")) or arguments), name, id)

    def _result(self, call: object, text: str, *, failed: bool = False) -> Part:
        id = clean(call)
        return tool_result(text, self.calls.pop(id, ""), id, failed)

    # --- the history for the model ---

    def _history_parts(self, value: Mapping[str, Any]) -> Iterator[Part]:
        role = string(value, "role")
        body = value.get("content")
        if role == "_system_prompt":
            named = _FOLDER.search(string(body))
            self.metadata.project = self.metadata.project or clean(named[1] if named else "")
        elif role in ("user", "assistant"):
            author: Role = "user" if role == "user" else "assistant"
            for block in body if isinstance(body, list) else [body]:
                for part in self._content(block, author):
                    inserted = author == "user" and _CHECKPOINT.fullmatch(part[2])
                    yield part._replace(role="system") if inserted else part
            for call in items(value, "tool_calls"):
                yield self._call(mapping(call))
        elif role == "tool":
            yield self._result(value.get("tool_call_id"), content(body))
        elif not role.startswith("_"):
            self.count_unknown(f"role {role}" if role else None)

    # --- Kimi Code ---

    def _entry(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind, time = string(value, "type"), seconds(value.get("time"))
        if kind == "context.append_loop_event":
            event = mapping(value, "event")
            begins = string(event, "type") in _BEGINNINGS
            return self._to_messages(list(self._loop_parts(event)), line, time, begins=begins)
        if kind == "context.append_message":
            parts = list(self._context_parts(mapping(value, "message")))
            self.asked += [line] * any(part.role == "user" for part in parts)
            return self._to_messages(parts, line, time, begins=True)
        if kind in ("interaction.request", "interaction.resolved", "context.apply_compaction"):
            return self._to_messages(list(self._between_turns(kind, value)), line, time, begins=True)
        if kind == "context.undo":
            self._undo(value.get("count"), line)
        elif kind == "usage.record":
            self.use(value.get("model"), counted(value.get("usage"), _COUNTS))
        elif kind == "config.update":
            self.metadata.project = clean(value, "cwd") or self.metadata.project
        elif kind != "context.clear" and kind.partition(".")[0] not in _SILENT_ENTRIES:
            self.count_unknown(value.get("type"))
        return []

    def _undo(self, count: object, line: int) -> None:
        """Mark the user's last messages as abandoned, with all that follows them."""
        if isinstance(count, int) and 0 < count <= len(self.asked):
            self.metadata.mark_abandoned(self.asked[-count], line)
            del self.asked[-count:]

    def _between_turns(self, kind: str, value: Mapping[str, Any]) -> Iterator[Part]:
        """Yield questions with the user's answers, as speech, and summaries that replace earlier messages."""
        id_ = clean(value, "id")
        if kind == "context.apply_compaction":
            yield Part("system", "text", string(value, "summary") or string(value, "contextSummary"))
        elif kind == "interaction.request":
            if value.get("kind") != "question":
                return
            self.questions.add(id_)
            for question in objects(value, "request", "questions"):
                options = (f"- {string(mapping(option).get('label'))}" for option in items(question, "options"))
                yield Part("assistant", "text", "\n".join((string(question, "question"), *options)))
        elif id_ in self.questions:
            self.questions.remove(id_)
            response = mapping(value, "response")
            answers = mapping(response, "answers") or response
            chosen = (question if answer is True else string(answer) for question, answer in answers.items())
            yield Part("user", "text", "\n".join(filter(None, chosen)))

    def _context_parts(self, message: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the parts of a message. The user wrote it only with the origin "user" or none.

        The agent's messages occur in sessions that were copied from Kimi CLI.
        """
        role, body = message.get("role"), message.get("content")
        if role == "user":
            origin = member(message, "origin", "kind")
            yield Part("user" if origin in ("user", None) else "system", "text", content(body))
        elif role == "assistant":
            for part in body if isinstance(body, list) else [body]:
                yield from self._content(part, "assistant")
            for call in objects(message, "toolCalls"):
                yield self._call({"id": call.get("id"), "function": call})
        elif role == "tool":
            yield self._result(message.get("toolCallId"), content(body), failed=message.get("isError") is True)

    def _loop_parts(self, event: Mapping[str, Any]) -> Iterator[Part]:
        kind = event.get("type")
        if kind == "content.part":
            yield from self._content(event.get("part"), "assistant")
        elif kind == "tool.call":
            name, id = clean(event, "name"), clean(event, "toolCallId")
            self.calls[id] = name
            yield tool_call(tool_input(event, "args"), name, id)
        elif kind == "tool.result":
            result = mapping(event, "result")
            failed = result.get("isError") is True
            yield self._result(event.get("toolCallId"), content(result, "output"), failed=failed)
        elif not string(kind).startswith("step."):
            self.count_unknown(kind)


class KimiWire(LineFormat):
    agent = "kimi"
    parses = KimiParser
    speech_marks: tuple[bytes, ...] = (b'"TurnBegin"', b'"context.append_message"', b'"StepBegin"', b'"step.begin"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        message = mapping(value, "message")
        if isinstance(message.get("type"), str) and isinstance(message.get("payload"), dict):
            return isinstance(value.get("timestamp"), int | float)
        kind = value.get("type")
        return (kind == "metadata" and isinstance(value.get("protocol_version"), str)) or (
            isinstance(kind, str) and kind.startswith("context.append_")
        )

    def metadata(self, path: str) -> SessionMetadata:
        return _metadata(path)


class KimiContext(KimiWire):
    """Format of the file in which Kimi stores the history for its model; read for sessions without a wire file."""

    speech_marks = (b'{"role": "user"', b'{"role": "assistant"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return value.get("role") in ("_system_prompt", "_checkpoint", "_usage")


def _metadata(path: str) -> SessionMetadata:
    """Return the metadata in the folders above a file, and in files about sessions there."""
    folder = os.path.dirname(path)
    metadata = SessionMetadata()
    if os.path.basename(os.path.dirname(folder)) == "agents":
        agent, folder = os.path.basename(folder), os.path.dirname(os.path.dirname(folder))
        if agent != "main":
            metadata.parent = clean(os.path.basename(folder))
            metadata.id = f"{metadata.parent}/{clean(agent)}"
        above = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
        metadata.project = clean(_indexed(os.path.join(above, "session_index.jsonl"), os.path.basename(folder)))
    else:
        listed = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(folder))), "kimi.json")
        metadata.project = clean(_listed(listed, os.path.basename(os.path.dirname(folder))))
    metadata.id = metadata.id or clean(os.path.basename(folder))
    metadata.generated = metadata.id.startswith(_HOUSEKEEPERS)
    if not metadata.parent:
        state = parse_line(first_bytes(os.path.join(folder, "state.json"), _LONGEST_LIST)) or {}
        metadata.title = one_line(_title(state))
        metadata.project = metadata.project or clean(string(state, "cwd") or string(state, "workDir"))
    return metadata


def _title(state: Mapping[str, Any]) -> str:
    """Return the title in a session's state, unless it is only a part of the first prompt."""
    chosen = state.get("isCustomTitle") is True or state.get("titleKind") in ("custom", "generated")
    title = string(state, "title") if chosen else ""
    return title or string(state, "custom_title") or string(state, "customTitle")


def _listed(path: str, folder: str) -> str:
    """Return the working folder whose hash is the name of this folder; empty if it isn't listed."""
    known = parse_line(first_bytes(path, _LONGEST_LIST)) or {}
    for entry in objects(known, "work_dirs"):
        named = string(entry, "path")
        digest = hashlib.md5(named.encode(errors="replace"), usedforsecurity=False).hexdigest()
        if named and folder.rpartition("_")[2] == digest:
            return named
    return ""


def _indexed(path: str, session: str) -> str:
    """Return the working folder of a session, from the last line about it; empty if there is none."""
    marked = session.encode(errors="replace")
    lines = [line for line in first_bytes(path, _LONGEST_LIST).split(b"\n") if marked in line]
    for value in map(parse_line, reversed(lines)):
        if value is not None and value.get("sessionId") == session:
            return string(value, "workDir")
    return ""
