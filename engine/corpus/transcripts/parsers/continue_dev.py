"""Sessions of Continue: `~/.continue/sessions/<id>.json`, one object each.

Written from its public source up to June 2026 (`core/index.d.ts`, `core/util/history.ts`): `history` has items with a
`message`, the `reasoning` before it, and the tools that it called, with their results, in `toolCallStates`. Messages
have no times; `sessions.json` next to them says when each session began. The command line adds the session's total
`usage` (`extensions/cli/src/session.ts`); its messages repeat parts of it, under the providers' names.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.export_reader import SessionDocument, listed_time
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, items, mapping, member, objects, string, tool_input, uri_path
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata
from engine.corpus.transcripts.token_usage import Usage, counted

_OTHERS = {f"{os.sep}.pearai{os.sep}": "pearai", f"{os.sep}workspace-sessions{os.sep}": "kiro"}
"""Other agents that store sessions in this format, perhaps with more members, by their folder."""
_UNTITLED = ("New Session", "Untitled Session")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


class _Parser(LineParser, kw_only=True):
    done: set[str] = msgspec.field(default_factory=set)
    """Ids of tool calls whose results were read, since separate messages may repeat them."""

    def item(self, value: Mapping[str, Any]) -> list[Message]:
        return self.next_message(self._parts(value))

    def _parts(self, value: Mapping[str, Any]) -> Iterator[Part]:
        message = mapping(value, "message")
        kind = string(message, "role")
        yield Part("assistant", "thinking", string(value, "reasoning", "text"))
        yield Part("system", "text", string(value, "conversationSummary"))
        text = content(message, "content")
        if kind == "thinking":
            yield Part("assistant", "thinking", text)
        elif kind == "tool":
            if (id := string(message, "toolCallId")) not in self.done:
                yield tool_result(text, call=id)
        elif kind in _ROLES:
            files = _files(value) if kind == "user" else []
            yield Part(_ROLES[kind], "text", "\n".join(filter(None, (text, *files))))
        else:
            self.count_unknown(f"role {kind}" if kind else None)
        yield from self._calls(value, message)

    def _calls(self, value: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[Part]:
        states = objects(value, "toolCallStates")
        for call in items(message, "toolCalls") if not states else [state.get("toolCall") for state in states]:
            function = mapping(call, "function")
            name, arguments = string(function, "name"), string(function, "arguments")
            given = tool_input(parse_line(arguments.encode(errors="replace")) or arguments)
            yield tool_call(given, name, string(call, "id"))
        for state in states:
            name = string(state, "toolCall", "function", "name")
            output = (string(part, "content") for part in items(state, "output"))
            text = "\n".join(filter(None, output))
            id, failed = string(state, "toolCallId"), state.get("status") in ("canceled", "errored")
            if text.strip():
                self.done.add(id)
            yield tool_result(text, name, id, failed)


def _files(value: Mapping[str, Any]) -> list[str]:
    """Return the names of files that the user added to a message, as `[file: name]`."""
    added = objects(value, "contextItems")
    return [f"[file: {string(item.get('name'))}]" for item in added if member(item, "uri", "type") == "file"]


class ContinueSession(SessionDocument):
    agent = "continue"
    members = "workspaceDirectory sessionId history"

    def matches(self, path: str, head: bytes) -> bool:
        owner = next((name for folder, name in _OTHERS.items() if folder in path), "continue")
        return owner == self.agent and super().matches(path, head)

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        parser = _Parser(metadata=_metadata(path, value))
        parser.use(value.get("chatModelTitle"), _usage(mapping(value, "usage")))
        messages = [message for item in items(value, "history") for message in parser.item(mapping(item))]
        return parser.conversation("", messages)


def _usage(counts: Mapping[str, Any]) -> Usage:
    cached = mapping(counts, "promptTokensDetails")
    names = "promptTokens completionTokens cachedTokens cacheWriteTokens"
    return counted({**counts, **cached}, names, cost="totalCost")


def _metadata(path: str, value: Mapping[str, Any]) -> SessionMetadata:
    id_ = string(value, "sessionId") or os.path.basename(path).removesuffix(".json")
    return SessionMetadata.of(
        id_,
        title=value.get("title"),
        untitled=_UNTITLED,
        project=uri_path(string(value, "workspaceDirectory")),
        started=listed_time(os.path.dirname(path), id_),
    )
