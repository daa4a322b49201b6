"""Antigravity and its command line: `brain/<id>/.system_generated/logs/transcript_full.jsonl` below their data folders.

There is no published specification. Written from the reader of claude-code-history-viewer (August 2026) and from public
samples of the versions of June to October 2026: a line is a step with `step_index`, `source`, `type` and `content`.
`transcript.jsonl` next to it is shorter, and is read if the other one is missing. `history.jsonl` in the data folder
names the folder of each conversation. Conversations in Protobuf (`conversations/*.db`, `*.pb`) are not read.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.transcripts.formats import LineFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import between, content, objects, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import cached_by_version, json_lines
from engine.corpus.transcripts.messages import Message, SessionMetadata

_OPENING, _CLOSING = "<USER_REQUEST>", "</USER_REQUEST>"
_SOURCES = frozenset({"USER_EXPLICIT", "MODEL", "SYSTEM"})
_IGNORED = frozenset({"CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "KNOWLEDGE_ARTIFACTS"})
_ANSWERS = frozenset({"PLANNER_RESPONSE", "NOTIFY_USER"})


class AntigravityParser(LineParser):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        index = value.get("step_index")
        step = str(index) if isinstance(index, int) else ""
        return self.next_message(list(self._parts(value)), line, id=step[:20], time=seconds(value.get("created_at")))

    def _parts(self, value: Mapping[str, Any]) -> Iterator[Part]:
        kind, source, text = string(value, "type"), string(value, "source"), content(value, "content")
        if kind == "USER_INPUT" or source == "USER_EXPLICIT":
            yield from _request(text)
        elif kind in _IGNORED:
            return
        elif kind in _ANSWERS:
            yield Part("assistant", "thinking", string(value, "thinking"))
            yield Part("assistant", "text", text)
            for call in objects(value, "tool_calls"):
                yield tool_call(_arguments(call.get("args")), string(call, "name"))
        elif source == "MODEL":
            yield tool_result(text, kind.lower())
        elif source == "SYSTEM":
            yield Part("system", "text", text)
        else:
            self.count_unknown(f"source {source}" if source else None)


def _request(text: str) -> Iterator[Part]:
    """Split a text into the user's request and the text that the program adds around it."""
    request = between(text, _OPENING, _CLOSING)
    if not request:
        yield Part("user", "text", text)
        return
    before, _, rest = text.partition(_OPENING)
    yield Part("user", "text", request.strip())
    yield Part("system", "text", (before + rest.partition(_CLOSING)[2]).strip())


def _arguments(arguments: object) -> str:
    """Return the input of a tool call; its values are JSON strings, whose quotes are removed."""
    if isinstance(arguments, dict):
        return tool_input({key: _unquoted(value) for key, value in arguments.items()})
    return tool_input(arguments)


def _unquoted(value: object) -> object:
    quoted = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"'
    return value[1:-1] if quoted and isinstance(value, str) else value


class AntigravityFormat(LineFormat):
    agent = "antigravity"
    parses = AntigravityParser
    speech_marks = (b'"type":"USER_INPUT"', b'"type":"PLANNER_RESPONSE"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        known = string(value, "source") in _SOURCES or value.get("type") == "USER_INPUT"
        return known and isinstance(value.get("step_index"), int) and string(value, "type").isupper()

    def metadata(self, path: str) -> SessionMetadata:
        conversation = os.path.dirname(os.path.dirname(os.path.dirname(path)))
        id_, root = os.path.basename(conversation), os.path.dirname(os.path.dirname(conversation))
        return SessionMetadata.of(id_, project=_workspace(root, id_))


def _workspace(root: str, conversation: str) -> str:
    """Return the folder of a conversation from `history.jsonl` in the data folder; empty if unknown."""
    return _workspaces(os.path.join(root, "history.jsonl")).get(conversation, "")


@cached_by_version
def _workspaces(path: str) -> Mapping[str, str]:
    """Read the folder of each conversation. Raises OSError, ValueError, `PathRefused`."""
    return {string(entry, "conversationId"): string(entry, "workspace") for entry in json_lines(path)}
