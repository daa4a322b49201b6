"""Sessions of Factory's Droid: `~/.factory/sessions/<folder>/<id>.jsonl`.

There is no published specification. Written from public source of programs that read them (franken_agent_detection of
February 2026, SpecStory of 2026) and from descriptions of versions up to September 2026: first a line `session_start`
with `title`, `sessionTitle` and `cwd`, perhaps in an object `session`, then lines `message` with blocks. Lines with
`visibility` `llm_only`, and text in `<system-reminder>`, were inserted for the model; lines with `user_only` notify the
user, for example of a missing subscription (July 2026). `<id>.settings.json` has the model and the sums of tokens, as
tokscale (December 2025) and ccusage (June 2026) read them.

The output of `droid exec --output-format stream-json` is also read, as agent-sessions does (versions of December 2025
and January 2026, in `~/.factory/projects`): lines `system`, `message`, `tool_call`, `tool_result`, `completion` and
`error`, each with the session's id.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.transcripts.formats import LineFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import mapping, member, seconds, string, tool_input
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import BlockParser, sidecar
from engine.corpus.transcripts.token_usage import anthropic_usage, counted

_AGENT = "droid"
_INSERTED = re.compile(r"<(system-reminder|system-notification)\b[^<>]*>(.*?)(?:</\1>|\Z)", re.DOTALL)
_OWN_MODEL = re.compile(r"\Acustom:|-?\[[^\]]*\](?:-\d+\Z)?")
_SILENT = frozenset({"agent_turn_outcome", "todo_state", "session_end"})
_UNTITLED = "New Session"
_INSERTED_FOR = ("llm_only", "user_only")


class DroidParser(BlockParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind = value.get("type")
        if kind == "session_start":
            self._begin(value)
        elif kind == "message":
            return self._message(value, line)
        elif kind == "compaction_state":
            summary = string(value, "summaryText") or string(value, "summary", "body")
            return self.next_message([Part("system", "text", summary)], line=line, time=seconds(value.get("timestamp")))
        elif string(kind) not in _SILENT:
            self.count_unknown(kind)
        return []

    def _begin(self, value: Mapping[str, Any]) -> None:
        metadata = self.metadata
        value = _session_members(value)
        metadata.id = clean(value, "id") or metadata.id
        title = one_line(string(value, "sessionTitle") or string(value, "title"))
        metadata.title = metadata.title if title in ("", _UNTITLED) else title
        metadata.project = clean(string(value, "cwd") or string(value, "workspace_root")) or metadata.project

    def _message(self, value: Mapping[str, Any], line: int) -> list[Message]:
        message = mapping(value, "message")
        kind = message.get("role")
        if kind not in ("user", "assistant"):
            self.count_unknown(f"role {kind}" if isinstance(kind, str) else None)
            return []
        parts = self.blocks(message.get("content"), "assistant" if kind == "assistant" else "user")
        if value.get("visibility") in _INSERTED_FOR:
            parts = [part._replace(role="system") if part.role == "user" else part for part in parts]
        return self.next_message(parts, line=line, id=string(value, "id"), time=seconds(value.get("timestamp")))

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        thought = member(value, "type") in ("reasoning", "thought")
        yield from super()._block({**mapping(value), "type": "thinking"} if thought else value, role)

    def text(self, text: str, role: Role) -> Iterator[Part]:
        """Yield the user's words, and separately the text inserted for the model, without its tags."""
        yield from _typed(text) if role == "user" else super().text(text, role)


def _typed(text: str) -> Iterator[Part]:
    """Yield the user's words, and before them text inserted for the model, without its tags."""
    for inserted in _INSERTED.finditer(text if "<system-" in text else ""):
        yield Part("system", "text", inserted[2].strip())
    yield Part("user", "text", _INSERTED.sub("", text).strip() if "<system-" in text else text)


class DroidStreamParser(LineParser, kw_only=True):
    """Parses the output of one run; its last text is usually repeated when it ends."""

    model: str = ""
    answer: str = ""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        metadata, kind = self.metadata, string(value, "type")
        metadata.id = clean(_stream_id(value)) or metadata.id
        parts = list(self._parts(kind, value))
        return self.next_message(parts, line, id=string(value, "id"), time=seconds(value.get("timestamp")))

    def _parts(self, kind: str, value: Mapping[str, Any]) -> Iterator[Part]:
        call = clean(string(value, "toolCallId") or string(value, "id"))
        if kind == "system":
            self.metadata.project = clean(value, "cwd") or self.metadata.project
            self.metadata.started = seconds(value.get("timestamp"), self.metadata.started)
            self.model = string(value, "model")
        elif kind == "message" and value.get("role") in ("user", "assistant"):
            yield from self._spoken("user" if value["role"] == "user" else "assistant", string(value, "text"))
        elif kind == "tool_call":
            yield tool_call(tool_input(value, "parameters"), clean(value, "toolName"), call)
        elif kind == "tool_result":
            yield tool_result(tool_input(value, "value"), "", call, value.get("isError") is True)
        elif kind == "completion":
            self.use(self.model, anthropic_usage(mapping(value, "usage")))
            if string(value, "finalText").strip() != self.answer.strip():
                yield Part("assistant", "text", string(value, "finalText"))
        elif kind == "error":
            yield Part("system", "text", string(value, "message"))
        else:
            self.count_unknown(f"role {value.get('role')}" if kind == "message" else kind)

    def _spoken(self, role: Role, text: str) -> Iterator[Part]:
        if role == "assistant":
            self.answer = text
            yield Part(role, "text", text)
        else:
            yield from _typed(text)


def _stream_id(value: Mapping[str, Any]) -> str:
    return string(value, "session_id") or string(value, "sessionId")


def _session_members(start: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of the first line, which some versions put into an object `session`."""
    return {**mapping(start, "session"), **start}


def _model(name: str) -> str:
    """Return the name of a model; a model added by the user is stored like `custom:Claude-Opus-4.5-[Anthropic]-0`."""
    return _OWN_MODEL.sub("", name).lower() if name.startswith("custom:") else name


class DroidFormat(LineFormat):
    agent = _AGENT
    parses = DroidParser
    speech_marks = (
        b'"message":{"role":"user","content":[{"type":"text"',
        b'"message":{"role":"assistant"',
    )

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return (
            value.get("type") == "session_start"
            and isinstance(_session_members(value).get("id"), str)
            and ("cwd" in _session_members(value) or "workspace_root" in _session_members(value) or "session" in value)
            and "model" not in value
        )

    def begin(self, path: str) -> DroidParser:
        parser = DroidParser(metadata=SessionMetadata.of(os.path.basename(path).partition(".")[0]))
        settings = sidecar(f"{path.removesuffix('.jsonl')}.settings.json")
        names = "inputTokens outputTokens+thinkingTokens cacheReadTokens cacheCreationTokens"
        parser.use(_model(string(settings, "model")), counted(settings.get("tokenUsage"), names))
        return parser


class DroidStream(LineFormat):
    agent = _AGENT
    parses = DroidStreamParser
    speech_marks = (b'"type":"message"',)

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return bool(_stream_id(value)) and (
            (value.get("type") == "tool_call" and "toolName" in value and "parameters" in value)
            or (value.get("type") == "completion" and isinstance(value.get("finalText"), str))
        )

    def metadata(self, path: str) -> SessionMetadata:
        return SessionMetadata.of(os.path.basename(path).partition(".")[0])
