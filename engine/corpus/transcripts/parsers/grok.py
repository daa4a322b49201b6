"""Grok CLI: `~/.grok/sessions/<folder>/<session>/chat_history.jsonl`, with `summary.json` next to it.

Written from the reader of claude-code-history-viewer (August 2026, version 0.1 of the program): a line has a `type` and
`content`, without id and time; `summary.json` has id, folder, title and start. The first versions wrote messages of the
API for chat completions (the public `chat-history-downgrade` of July 2026 makes them). `GROK_HOME` names another folder
than `~/.grok`. The system prompt is left out. A message that the program inserted has the user's role and a
`synthetic_reason`; the user's own text may be in `<user_query>`, or after blocks with facts about the machine (public
source of Grok Build of July 2026, and agentsview's reader of it). `updates.jsonl` has the tokens and cost of each turn,
some of them twice.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from engine.base.errors import PathRefused
from engine.corpus.transcripts.formats import LineFormat, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, mapping, objects, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import json_lines
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import ChatParser, sidecar
from engine.corpus.transcripts.token_usage import Usage, add_usage, counted, dollars, tokens

_TYPES = frozenset("system user assistant reasoning tool_result backend_tool_call".split())
_KEYS_OF_OTHERS = frozenset("message uuid sessionId timestamp parentUuid payload role".split())
"""Keys that only occur in lines of other agents with the same types."""
_BY_USER = frozenset({"", "human", "interjection"})
"""Values of `synthetic_reason` of messages that the user typed, some of them while the agent worked."""
_BLOCK = re.compile(r"\s*<(user_info|git_status|system-reminder|agent_skills|mcp_servers)>")
_TYPED, _TYPED_END = "<user_query>", "</user_query>"
_TICKS = 10**10
"""Units of recorded costs in a US dollar."""
_OLDER_KEYS = frozenset("role content tool_calls tool_call_id model_id reasoning_content".split())
"""Keys of a line of the first versions, which has no type."""


class GrokParser(ChatParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        self.use_model(value.get("model_id"))
        return self.next_message(list(self._parts(value)), line, id=string(value, "id"))

    def _parts(self, value: Mapping[str, Any]) -> Iterator[Part]:
        kind = string(value, "type")
        if kind == "user" or (not kind and value.get("role") == "user"):
            text = content(value, "content")
            typed, inserted = _split(text) if string(value, "synthetic_reason") in _BY_USER else ("", text)
            yield Part("user", "text", typed)
            yield Part("system", "text", inserted)
        elif kind == "assistant":
            yield Part("assistant", "text", content(value, "content"))
            for call in objects(value, "tool_calls"):
                yield self.call(call)
        elif kind == "reasoning":
            yield Part("assistant", "thinking", content(value, "content") or content(value, "summary"))
        elif kind == "tool_result":
            yield tool_result(content(value, "content"), call=string(value, "tool_call_id"))
        elif kind == "backend_tool_call":
            call = mapping(value, "kind")
            yield tool_call(tool_input(call, "action"), string(call, "tool_type"))
        elif not kind and value.get("role") != "system":
            yield from self.chat_parts(value)
        elif kind and kind != "system":
            self.count_unknown(kind)


class GrokFormat(LineFormat):
    agent = "grok"
    parses = GrokParser
    speech_marks = (
        b'"type":"user"',
        b'"type":"assistant"',
        b'"role":"user"',
        b'"role":"assistant"',
    )

    def matches(self, values: Sequence[Mapping[str, Any]]) -> bool:
        if any(map(_is_line, values)):
            return not any(value.keys() & _KEYS_OF_OTHERS for value in values)
        return all(value.keys() <= _OLDER_KEYS for value in values) and any("model_id" in value for value in values)

    def metadata(self, path: str) -> SessionMetadata:
        folder = os.path.dirname(path)
        summary = sidecar(os.path.join(folder, "summary.json"))
        info = mapping(summary, "info")
        metadata = SessionMetadata.of(
            string(info, "id") or os.path.basename(folder),
            title=string(summary, "generated_title") or string(summary, "session_summary"),
            project=info.get("cwd"),
            started=summary.get("created_at"),
            ended=seconds(summary.get("last_active_at"), summary.get("updated_at")),
        )
        metadata.usage = _usage(os.path.join(folder, "updates.jsonl"))
        return metadata


def _split(text: str) -> tuple[str, str]:
    """Return the text that the user typed, and the text that the program put around it."""
    before, mark, rest = text.partition(_TYPED)
    if mark:
        typed, _, after = rest.partition(_TYPED_END)
        return typed.strip(), f"{before.strip()}\n{after.strip()}".strip()
    end = 0
    while opened := _BLOCK.match(text, end):
        closing = f"</{opened[1]}>"
        start = text.find(closing, opened.end())
        end = len(text) if start < 0 else start + len(closing)
    return (text[end:].strip(), text[:end].strip()) if end else (text, "")


def _usage(path: str) -> dict[str, Usage]:
    """Return the session's tokens and cost by model, from the ends of its turns; empty without a readable file."""
    turns = dict[tuple[str, str], Usage]()
    with suppress(OSError, ValueError, PathRefused):
        for number, line in enumerate(json_lines(path, mark=b'"turn_completed"')):
            update = mapping(line, "params", "update")
            turn, usage = clean(string(update, "prompt_id")[:100]) or str(number), mapping(update, "usage")
            for model, counts in (mapping(usage, "modelUsage") or {"": usage}).items():
                turns[turn, model] = _turn_usage(mapping(counts))
    totals = dict[str, Usage]()
    for (_, model), of_turn in turns.items():
        if of_turn.is_recorded:
            add_usage(totals, GrokParser.model_name(model), of_turn)
    return totals


def _turn_usage(counts: Mapping[str, Any]) -> Usage:
    usage = counted(counts, "inputTokens outputTokens cachedReadTokens", with_cached=True)
    ticks = tokens(counts.get("costUsdTicks"))
    usage.cost = None if ticks is None else dollars(ticks / _TICKS)
    return usage


def _is_line(value: Mapping[str, Any]) -> bool:
    if string(value, "type") not in _TYPES:
        return False
    return isinstance(value.get("content"), str | list) or bool(value.keys() & {"summary", "kind", "tool_calls"})
