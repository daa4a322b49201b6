"""Transcripts of CodeBuddy Code and WorkBuddy: `~/.codebuddy/projects/<folder>/<id>.jsonl`.

There is no published specification. Written from the readers of claude-code-history-viewer and agentsview (August
2026) and of another public program: messages, tool calls, their results and reasoning are separate lines, like
items of OpenAI's Responses API, each with `sessionId`, `cwd` and the time in milliseconds. A line `topic` or `summary`
has the title; the last topic counts. Text that the program inserted has `providerData.skipRun`. A
sub-agent's file is in `<id>/subagents`. Tokens are not read, since readers differ in which lines repeat them.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.transcripts.formats import LineFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, items, mapping, seconds, string
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import ROLES, arguments

_KINDS = frozenset({"message", "function_call", "function_call_result", "reasoning"})
_IGNORED = frozenset({"file-history-snapshot"})
_PARTS = "subagents"


class CodeBuddyParser(LineParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind, metadata = string(value, "type"), self.metadata
        metadata.id = metadata.id or clean(value, "sessionId")
        metadata.project = metadata.project or clean(value, "cwd")
        if kind in ("topic", "summary"):
            title = one_line(value, kind)
            if kind == "topic" or not metadata.title:
                metadata.title = title or metadata.title
        elif kind not in _KINDS:
            if kind not in _IGNORED:
                self.count_unknown(kind)
        else:
            parts = self._parts(kind, value)
            time, side = seconds(value.get("timestamp")), bool(metadata.parent)
            return self.next_message(parts, line, id=string(value, "id"), time=time, side=side)
        return []

    def _parts(self, kind: str, value: Mapping[str, Any]) -> Iterator[Part]:
        id = clean(value, "callId")
        if kind == "function_call":
            name = string(value, "name")
            yield tool_call(arguments(value.get("arguments")), name, id)
        elif kind == "function_call_result":
            name, failed = string(value, "name"), value.get("status") == "incomplete"
            yield tool_result(content(value, "output"), name, id, failed)
        elif kind == "reasoning":
            thoughts = (string(part, "text") for part in items(value, "rawContent"))
            yield Part("assistant", "thinking", "\n".join(thoughts) or content(value, "content"))
        else:
            role = self.role(ROLES, string(value, "role"))
            about = mapping(value, "providerData")
            inserted = about.get("skipRun") is True
            if role == "assistant":
                self.use_model(about.get("model"))
            yield Part("system" if inserted else role, "text", content(value, "content"))


class CodeBuddyFormat(LineFormat):
    agent = "codebuddy"
    parses = CodeBuddyParser
    speech_marks = (b'"type":"input_text"', b'"type":"output_text"')
    title_marks = (b'"type":"topic"', b'"type":"summary"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return (
            string(value, "type") in _KINDS
            and isinstance(value.get("sessionId"), str)
            and isinstance(value.get("timestamp"), int)
            and "message" not in value
        )

    def metadata(self, path: str) -> SessionMetadata:
        folder, name = os.path.split(path)
        part = os.path.basename(folder) == _PARTS
        parent = os.path.basename(os.path.dirname(folder)) if part else ""
        id_ = name.removesuffix(".jsonl") if part else ""
        return SessionMetadata.of(id_, parent=parent)
