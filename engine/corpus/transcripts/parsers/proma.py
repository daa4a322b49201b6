"""Proma: `~/.proma/agent-sessions/<id>.jsonl`, and chats without tools in `~/.proma/conversations/<id>.jsonl`.

Written from its public source (version 0.12.4, June 2026: `packages/shared/src/types`,
`apps/electron/src/main/lib/agent-session-manager.ts`): a line of an agent is a message of Anthropic's Agent SDK with
`_createdAt` added; in older versions, and in chats, it has `role`, `content` and `createdAt`. `agent-sessions.json` and
`conversations.json` next to the folders have the titles, and since version 0.13 `parentSessionId` of the sessions that
an agent delegated (its pull requests 888 and 923). Sub-agents' messages have `parent_tool_use_id`.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from engine.corpus.transcripts.formats import LineFormat, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import attached, items, mapping, objects, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import cached_by_version
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import BlockParser, sidecar
from engine.corpus.transcripts.token_usage import anthropic_usage

_SILENT = frozenset({"system", "result", "tool_progress", "prompt_suggestion", "tool_use_summary"})
_UNTITLED = ("新 Agent 会话", "新对话")
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "status": "system"}


class Listed(NamedTuple):
    """Metadata of a session in a list."""

    title: str = ""
    folder: str = ""
    parent: str = ""


class PromaParser(BlockParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind = value.get("type")
        if not isinstance(kind, str):
            id_, time = string(value, "id"), seconds(value.get("createdAt"))
            return self.next_message(self._chat(value), line, id=id_, time=time)
        if kind not in ("user", "assistant"):
            if kind not in _SILENT:
                self.count_unknown(kind)
            return []
        message = mapping(value, "message")
        if kind == "assistant":
            self.use(message.get("model"), anthropic_usage(message.get("usage")), request=string(message, "id"))
        parts = self.blocks(message.get("content"), "user" if kind == "user" else "assistant")
        if value.get("isSynthetic") is True:
            parts = [part._replace(role="system") if part.role == "user" else part for part in parts]
        if not any(part.text.strip() for part in parts):
            parts = [Part("system", "text", string(value, "error", "message"))]
        side = bool(self.metadata.parent) or isinstance(value.get("parent_tool_use_id"), str)
        id_, time = string(value, "uuid"), seconds(value.get("_createdAt"))
        return self.next_message(parts, line, id=id_, time=time, side=side)

    def _chat(self, value: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the parts of a message of a chat, or of an older version."""
        role = self.role(_ROLES, string(value, "role"))
        yield Part("assistant", "thinking", string(value, "reasoning"))
        for activity in map(mapping, (*items(value, "toolActivities"), *items(value, "events"))):
            yield from self._activity(activity)
        yield Part(role, "text", string(value, "content") or string(value, "error"))
        for file in objects(value, "attachments"):
            yield Part(role, "text", attached(string(file, "filename")))
        if role == "assistant":
            self.use_model(value.get("model"))

    def _activity(self, activity: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the call or the result in one event; in chats the call's input may be with the result."""
        kind = activity.get("type")
        key = clean(string(activity, "toolCallId") or string(activity, "toolUseId"))
        name, text = clean(activity, "toolName"), tool_input(activity, "input")
        if kind in ("start", "tool_start"):
            yield tool_call(text, name, key)
        elif kind in ("result", "tool_result"):
            failed = self.failed(activity)
            if not self.calls.get(key) and text:
                yield tool_call(text, name, key, failed)
            yield tool_result(string(activity, "result"), name, key, failed)


class PromaFormat(LineFormat):
    agent = "proma"
    parses = PromaParser
    speech_marks = (b'"type":"text"', b'"role":"user"', b'"role":"assistant"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        if "type" in value:
            return "_createdAt" in value and "parent_tool_use_id" in value
        texts = (value.get(name) for name in ("id", "role", "content"))
        return all(isinstance(text, str) for text in texts) and isinstance(value.get("createdAt"), int)

    def metadata(self, path: str) -> SessionMetadata:
        id_ = session_of(path)
        listed = listed_sessions(os.path.dirname(path)).get(id_, Listed())
        metadata = SessionMetadata.of(id_, title=listed.title)
        metadata.project, metadata.parent = listed.folder, listed.parent
        return metadata


def session_of(path: str) -> str:
    """Return the id of the session in the transcript at `path`."""
    return os.path.basename(path).partition(".")[0]


def listed_sessions(folder: str) -> Mapping[str, Listed]:
    """Return the sessions in the list next to a folder of transcripts, by id; none if it can't be read."""
    return _listed(f"{folder}.json")


@cached_by_version
def _listed(path: str) -> Mapping[str, Listed]:
    index = sidecar(path)
    listed = dict[str, Listed]()
    for session in map(mapping, items(index, "sessions") or items(index, "conversations")):
        title = string(session, "title")
        folder = next(filter(None, map(string, items(session, "attachedDirectories"))), "")
        title, parent = "" if title in _UNTITLED else one_line(title), clean(session, "parentSessionId")
        listed[string(session, "id")] = Listed(title, clean(folder), parent)
    return listed
