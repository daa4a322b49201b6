"""GitHub Copilot's chat in Visual Studio: traces of OpenTelemetry, `<date>_<id>_VSGitHubCopilot_traces.jsonl`.

There is no published specification. Written from agentsview's description and reader (August 2026, for Visual Studio
18.6): each line is an export of spans, whose attributes follow OpenTelemetry's conventions for generative AI, by which
the input tokens include the cached ones. The spans of a conversation may be in any file of the folder; a span may be in
several files, more complete in one. A `chat` span is a request to a model, with the last messages as JSON in
`gen_ai.input.messages` and `gen_ai.output.messages`; an `execute_tool` span is a tool call with its result. Several
requests of one turn repeat the user's question.

Files of Visual Studio 2026 below `.vs/<solution>/copilot-chat` have no published format, and aren't read.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.agents import TRACES, trace_files
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import items, mapping, member, objects, seconds, string
from engine.corpus.transcripts.jsonl import json_lines, parse_line
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import arguments
from engine.corpus.transcripts.token_usage import Usage, tokens, without_cached

_CONVERSATION, _SERVICE = "gen_ai.conversation.id", b'"vs-copilot"'
_SENT, _RECEIVED = "gen_ai.input.messages", "gen_ai.output.messages"
_TOOL, _CALL, _RESULT = "gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.call.result"
_ARGUMENTS, _TURN = "gen_ai.tool.call.arguments", "copilot_chat.root_request_id"
_ERROR = "error.type"
_FAILED = (2, "STATUS_CODE_ERROR")
"""Status of a span that failed, as number or name."""
_MODELS = ("gen_ai.response.model", "gen_ai.request.model")
_COUNTS = tuple(
    f"gen_ai.usage.{name}_tokens" for name in ("input", "output", "cache_read.input", "cache_creation.input")
)
_READ = frozenset(
    {_CONVERSATION, _SENT, _RECEIVED, _TOOL, _CALL, _RESULT, _ARGUMENTS, _TURN, _ERROR, *_MODELS, *_COUNTS}
)
"""Attributes that are read; others, such as the definitions of all tools, are much larger."""
_RESULT_TEXTS = "Value value Content content Text text Output output Result result".split()
_DEEPEST = 8
_NANOSECONDS = 1e9
_LONGEST_NUMBER = 20


class _Span(msgspec.Struct, frozen=True):
    id: str
    start: float | None
    end: float | None
    attributes: Mapping[str, str]
    failed: bool
    question: str
    """Text of the last message of the user that was sent; the rest of `_SENT` repeats earlier messages."""

    def text(self, key: str) -> str:
        return self.attributes.get(key, "")

    @property
    def completeness(self) -> tuple[int, float]:
        """Return a key that is greater for the more complete of two copies of a span."""
        return sum(map(len, self.attributes.values())) + len(self.question), self.end or 0.0


class _Parser(LineParser, kw_only=True):
    def read(self, spans: list[_Span]) -> list[Message]:
        """Return the messages of all spans of a conversation, which are in the order of their start."""
        executed = {span.text(_CALL) for span in spans if span.text(_TOOL)}
        questions: set[str] = set()
        messages: list[Message] = []
        for span in spans:
            key = span.text(_TURN) or span.question
            if span.question and key not in questions:
                questions.add(key)
                messages += self.next_message([Part("user", "text", span.question)], id=span.id, time=span.start)
            parts = self._tool(span) if span.text(_TOOL) else self._answer(span, executed)
            time = span.start if span.text(_TOOL) else span.end
            messages += self.next_message(parts, id=span.id, time=time or span.start)
            model = next(filter(None, map(span.text, _MODELS)), "")
            sent, received, *cached = (_number(span.text(key)) for key in _COUNTS)
            usage = Usage(without_cached(sent, *cached), tokens(received), *map(tokens, cached))
            self.use(model, usage, request=span.id)
        return messages

    def _tool(self, span: _Span) -> Iterator[Part]:
        name, raw = span.text(_TOOL), span.text(_ARGUMENTS)
        yield tool_call(arguments(raw), name, failed=span.failed)
        yield tool_result(_result(span.text(_RESULT)), name, failed=span.failed)

    def _answer(self, span: _Span, executed: set[str]) -> Iterator[Part]:
        for message in _messages(span.text(_RECEIVED)):
            for part in objects(message, "parts"):
                kind, name = part.get("type"), string(part, "name")
                if kind == "text":
                    yield Part("assistant", "text", string(part, "content"))
                elif kind == "reasoning":
                    yield Part("assistant", "thinking", string(part, "content"))
                elif kind != "tool_call":
                    self.count_unknown(f"part {kind}" if isinstance(kind, str) else None)
                elif string(part, "id") not in executed:
                    yield tool_call(arguments(part.get("arguments")), name)


def _messages(raw: str) -> list[Mapping[str, Any]]:
    """Return the messages in an attribute, a JSON array; empty if it isn't one."""
    parsed = parse_line(f'{{"messages": {raw}}}'.encode("utf-8", "surrogatepass")) if raw else None
    return [mapping(message) for message in items(parsed, "messages")]


def _question(raw: str) -> str:
    for message in reversed(_messages(raw)):
        if message.get("role") == "user":
            parts = objects(message, "parts")
            text = "\n".join(string(part, "content") for part in parts if part.get("type") == "text").strip()
            if text:
                return text
    return ""


def _result(raw: str) -> str:
    parsed = parse_line(raw.encode("utf-8", "surrogatepass")) if raw.lstrip().startswith("{") else None
    return raw if parsed is None else _text(parsed) or raw


def _text(value: object, depth: int = 0) -> str:
    """Return the text in a tool result, which may be several objects deep."""
    if isinstance(value, str) or depth > _DEEPEST:
        return string(value)
    if isinstance(value, list):
        return "\n".join(filter(None, (_text(item, depth + 1) for item in value)))
    held = mapping(value)
    return next(filter(None, (_text(held[key], depth + 1) for key in _RESULT_TEXTS if key in held)), "")


def _number(value: object) -> int | None:
    """Return a number that OTLP's JSON writes as a string."""
    text = string(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER else None


def _time(value: object) -> float | None:
    nanoseconds = _number(value)
    return None if nanoseconds is None else seconds(nanoseconds / _NANOSECONDS)


def _spans(line: Mapping[str, Any]) -> Iterator[_Span]:
    for resource in objects(line, "resourceSpans"):
        for scope in objects(resource, "scopeSpans"):
            for span in objects(scope, "spans"):
                attributes = dict[str, str]()
                for attribute in objects(span, "attributes"):
                    key, value = string(attribute, "key"), mapping(attribute, "value")
                    if key in _READ:
                        attributes[key] = string(value, "stringValue") or str(value.get("intValue", ""))
                question = _question(attributes.pop(_SENT, ""))
                start, end = (_time(span.get(key)) for key in ("startTimeUnixNano", "endTimeUnixNano"))
                failed = member(span, "status", "code") in _FAILED or _ERROR in attributes
                yield _Span(clean(span, "spanId"), start, end, attributes, failed, question)


class VisualStudioTraces(DocumentFormat):
    agent = "visual-studio-copilot"

    def matches(self, path: str, head: bytes) -> bool:
        return b'"resourceSpans"' in head[:64] and (path.endswith(TRACES) or _SERVICE in head)

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        """Yield the conversations of all trace files in the folder. Raises OSError, ValueError, Cancelled."""
        found: dict[str, dict[object, _Span]] = {}
        broken = 0
        for file in trace_files(path) if path.endswith(TRACES) else [path]:
            for line in json_lines(file, cancel):
                broken += line is None
                for span in _spans(mapping(line)):
                    if conversation := span.text(_CONVERSATION):
                        spans = found.setdefault(conversation, {})
                        call = span.text(_CALL) if span.text(_TOOL) else ""
                        key = ("call", call) if call else span.id or len(spans)
                        before = spans.get(key)
                        if before is None or before.completeness < span.completeness:
                            spans[key] = span
        for name, spans in found.items():
            parser = _Parser(metadata=SessionMetadata.of(name))
            if broken:
                parser.count_unknown("no JSON")
            messages = parser.read(sorted(spans.values(), key=lambda span: span.start or 0.0))
            if messages:
                yield parser.conversation(name, messages)
