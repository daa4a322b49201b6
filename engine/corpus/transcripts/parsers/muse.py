"""Muse Code: `~/.local/share/muse/sessions/<year>/<month>/<day>/<id>/session.jsonl`, one record per line.

There is no published specification. Written from descriptions of sessions of versions 1.0 to 1.4 (September and October
2026) by the readers of deja-vu and two others. A record has a time in microseconds, the `stream` that it belongs to, a
`payload_type` and a `payload`. The conversation is in the events of runs. The log also has records of sub-agents'
tasks, in streams of their own, which are skipped: a sub-agent's log is in `subagent/<id>/` of its caller's folder. A
name is the session's title only if the user gave it; the automatic ones are random words.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.transcripts.formats import LineFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import items, mapping, member, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean, one_line
from engine.corpus.transcripts.token_usage import counted

_SUBAGENTS = "subagent"
_RESULTS = frozenset({"tool_result", "tool_result_committed", "tool_result_batch_committed", "tool_results_committed"})
_SILENT = re.compile(
    r"""context_\w+|goal_\w+|hook_\w+|memory_\w+|model_(?:input|request|response)_\w+|provider_\w+_configured
    |reasoning_(?:delta|summary_delta)|reminder_\w+|resource_\w+|skill_\w+|task_\w+|text_delta|todo_snapshot_updated
    |tool_results_cleared|user_input_prompt_\w+|user_prompt_display|workflow_\w+""",
    re.VERBOSE,
)
"""Kinds of a run's events that are neither speech nor tools, or that repeat others."""
_RECORDS = re.compile(r"(?:approval|context|reminder|run|runtime|session|subagent|tool_batch)[._]\S*")
"""Types of records other than the user's own commands; `_record` reads the relevant ones first."""


class MuseParser(LineParser, kw_only=True):
    stream: str = ""
    """Id of the session's own records."""
    model: str = ""
    steered: str = ""
    """Prompt that the user typed during a run; another one may begin with it."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind, payload, stream = string(value, "payload_type"), mapping(value, "payload"), value.get("stream")
        if not kind:
            if not any(mark in value for mark in ("retained_frame", "retained_marker")):
                self.count_unknown(None)
            return []
        self.stream = self.stream or clean(stream, "id")
        if clean(stream, "id") != self.stream:
            return []
        event = mapping(payload, "event")
        if kind == "runtime.session":
            parts = list(self._event(event)) if payload.get("kind") == "run" else []
        else:
            parts = list(self._record(kind, payload, mapping(payload, "record") or payload))
        stamp = value.get("recorded_at")
        time = seconds(stamp // 1000) if isinstance(stamp, int | float) else None  # `/` fails on a number of 400 digits
        return self.next_message(parts, line, id=string(event, "message_id") or string(value, "id"), time=time)

    def _record(self, kind: str, payload: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[Part]:
        if kind in ("runtime.session.metadata", "session.workspace_branch.observed"):
            self.metadata.project = clean(record, "workspace_root") or self.metadata.project
            self.metadata.branch = clean(record, "reference", "name") or self.metadata.branch
        elif kind == "runtime.session.route_facts":
            self.metadata.project = self.metadata.project or clean(record, "cwd")
        elif kind == "session.name.changed" and record.get("source") == "user":
            self.metadata.title = one_line(record, "new_name")
        elif kind == "user_shell.command":
            yield Part("user", "tool-call", string(record, "command_text"), "shell")
        elif kind == "user_shell.result":
            yield tool_result(string(record, "visible_output"), "shell")
        elif _RECORDS.fullmatch(kind) is None:
            self.count_unknown(kind)
        self.model = clean(record, "model_id") or self.model
        self.use_model(self.model)

    def _event(self, event: Mapping[str, Any]) -> Iterator[Part]:
        kind = string(event, "kind")
        if kind == "started":
            prompt, before, self.steered = clean(event, "prompt"), self.steered, ""
            if prompt != before:
                yield Part("user", "text", prompt)
        elif kind == "inbox_item_queued":
            own = member(event, "source", "source") == "user_steer"
            text = string(event, "payload", "prompt") or string(event, "body")
            self.steered = clean(text) if own else self.steered
            yield Part("user" if own else "system", "text", text)
        elif kind == "assistant_message_committed":
            yield Part("assistant", "text", string(event, "text"))
        elif kind in ("reasoning_committed", "reasoning_summary_committed"):
            yield Part("assistant", "thinking", string(event, "text"))
        elif kind == "assistant_tool_calls_committed":
            yield from map(self._call, map(mapping, items(event, "tool_calls") or items(event, "calls")))
        elif kind in _RESULTS:
            yield from map(self._result, map(mapping, items(event, "results") or [event]))
        elif kind == "model_completed":
            self._count(string(event, "model"), mapping(event, "usage"))
        elif kind == "terminal":
            yield Part("system", "text", string(event, "reason"))
        elif _SILENT.fullmatch(kind) is None:
            self.count_unknown(f"event {kind}" if kind else None)

    def _call(self, call: Mapping[str, Any]) -> Part:
        name, sent, id = clean(call, "name"), call.get("args"), string(call, "call_id")
        given = parse_line(sent.encode(errors="replace")) or sent if isinstance(sent, str) else sent
        if name == "bash" and string(given, "command"):
            given = mapping(given)["command"]  # the description, its other argument, is not the command
        return tool_call(tool_input(given), name, id)

    def _result(self, result: Mapping[str, Any]) -> Part:
        text = next(filter(None, (string(result, key) for key in ("text", "output", "result"))), "")
        given = parse_line(text.encode(errors="replace")) if text.startswith("{") else None
        output = member(given, "output")
        id = string(result, "tool_call_id") or string(result, "call_id")
        failed = bool(member(given, "exit_code"))
        return tool_result(output if isinstance(output, str) else text, "", id, failed)

    def _count(self, model: str, counts: Mapping[str, Any]) -> None:
        """Count one answer of the model; the recorded input includes the cached tokens."""
        read = "cache_read_tokens" if counts.get("cache_read_tokens") else "cached_tokens"
        names = f"input_tokens output_tokens {read} cache_write_tokens"
        self.use(model or self.model, counted(counts, names, with_cached=True))


class MuseFormat(LineFormat):
    agent = "muse"
    parses = MuseParser
    speech_marks = (b'"kind":"assistant_message_committed"', b'"prompt":"')
    title_marks = (b'"session.name.changed"',)

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return "retained_frame" in value or (
            isinstance(value.get("payload_type"), str)
            and isinstance(value.get("payload"), dict)
            and member(value, "stream", "kind") == "session"
        )

    def metadata(self, path: str) -> SessionMetadata:
        folder = os.path.dirname(path)
        above = os.path.dirname(folder)
        called = os.path.basename(above) == _SUBAGENTS
        parent = clean(os.path.basename(os.path.dirname(above))) if called else ""
        return SessionMetadata.of(os.path.basename(folder), parent=parent)
