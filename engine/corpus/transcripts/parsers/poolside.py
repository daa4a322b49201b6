"""Poolside's command line: `~/.local/state/poolside/trajectories/trajectory-<kind>_<id>.ndjson`.

There is no published specification. Written from agentsview's reader (August 2026): each line is an event with a time
and its members in an object under the name of its type. The model of a request is in the event that starts it, its
tokens are in the one that ends it; both have the same `step_id`. The input tokens include the cached ones, and the
names of events without text are from version 1.0.16, as another reader found in a session of September 2026.
"""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from engine.corpus.transcripts.formats import LineFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import items, mapping, seconds, string, tool_input
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean
from engine.corpus.transcripts.token_usage import counted

_SILENT = frozenset(
    """assistant_message.start session.exit session.input.processed thought.start tool_call.approval
    tool_call.approval.request tool_call.start""".split()
)


class PoolsideParser(LineParser, kw_only=True):
    models: dict[str, str] = msgspec.field(default_factory=dict)
    """Model of each request that has not ended, by its step."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind = string(value, "type")
        members = mapping(value, kind.replace(".", "_"))
        step = clean(value, "step_id")
        part: Part | None = None
        if kind == "session.start":
            folder = next(map(string, items(members, "working_directories")), "")
            self.metadata.project = clean(folder or string(members, "workspace"))
            self.metadata.started = seconds(self.metadata.started, value.get("timestamp"))
        elif kind == "session.input":
            part = Part("user", "text", string(members, "prompt"))
        elif kind == "assistant_message.end":
            part = Part("assistant", "text", string(members, "assistant_message"))
        elif kind == "thought.end":
            part = Part("assistant", "thinking", string(members, "thought"))
        elif kind == "tool_call.parsed":
            name = string(members, "name")
            part = tool_call(tool_input(members, "args"), name, string(members, "id"))
        elif kind == "tool_call.result":
            name, failed = string(members, "tool_name"), members.get("is_error") is True
            part = tool_result(string(members, "observation"), name, string(members, "id"), failed)
        elif kind == "session.error":
            part = Part("system", "text", string(members, "error"))
        elif kind == "tool_call.inference.start":
            self.models[step] = clean(members, "chat_completion_request", "model")
        elif kind == "tool_call.inference.end":
            self._count(members, step)
        elif kind not in _SILENT:
            self.count_unknown(kind)
        parts = () if part is None else (part,)
        return self.next_message(parts, line, id=string(value, "id"), time=seconds(value.get("timestamp")))

    def _count(self, counts: Mapping[str, Any], step: str) -> None:
        names = "input_tokens output_tokens cache_read_input_tokens cache_write_input_tokens"
        usage = counted(counts, names, with_cached=True)
        self.use(self.models.pop(step, ""), usage, request=step)


class PoolsideFormat(LineFormat):
    agent = "poolside"
    parses = PoolsideParser
    speech_marks = (b'"type":"session.input"', b'"type":"assistant_message.end"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return value.get("type") in ("session.start", "session.input") and isinstance(
            value.get(string(value, "type").replace(".", "_")), dict
        )

    def metadata(self, path: str) -> SessionMetadata:
        return SessionMetadata.of(os.path.basename(path).removesuffix(".ndjson").removeprefix("trajectory-"))
