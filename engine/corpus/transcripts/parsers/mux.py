"""Xum, formerly Mux: `~/.xum/sessions/<workspace>/chat.jsonl`, before summer 2026 below `~/.mux`.

Written from its public source (`message.ts`, `historyService.ts` and `config.ts`, August 2026). A line is a message of
the AI SDK with `parts`; `chat-archive.jsonl` next to it has the messages before the last summary. `config.json` above
all sessions has title, folder and a sub-agent's parent workspace; a sub-agent's finished session is in
`subagent-transcripts/<task>` in the parent's folder. A message that the user edits replaces all after it, so there are
no branches. Synthetic messages are the program's own; tokens sent include cached ones.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import (
    attached,
    content,
    items,
    mapping,
    member,
    objects,
    seconds,
    string,
    tool_input,
)
from engine.corpus.transcripts.jsonl import cached_by_version, json_lines
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import ROLES, sidecar
from engine.corpus.transcripts.token_usage import Usage, tokens, without_cached

_CHAT, _ARCHIVE, _SUBAGENTS = "chat.jsonl", "chat-archive.jsonl", "subagent-transcripts"
_OURS = re.compile(rb'"role"\s*:\s*"'), re.compile(rb'"parts"\s*:\s*\[')
_RESULTS = ("output", "content", "diff", "report", "error", "message")
"""Members of a tool's result with its text, in the order of preference."""
_INSERTED = ("compaction-request", "heartbeat-request", "bash-monitor-wake", "workflow-result")


class _Workspace(NamedTuple):
    title: str = ""
    project: str = ""
    parent: str = ""


class _Parser(LineParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        about = mapping(value, "metadata")
        role = self.role(ROLES, string(value, "role"))
        sort = mapping(about.get("muxMetadata", about.get("cmuxMetadata")))
        shown = string(sort, "rawCommand")
        if about.get("synthetic") is True or sort.get("type") in _INSERTED or about.get("compacted"):
            role, shown = "system", ""
        parts = list(self._parts(value.get("parts"), role, shown))
        parts.append(Part("system", "text", string(about, "error")))
        self._use(about)
        time = seconds(about.get("timestamp"), value.get("createdAt"))
        return self.next_message(parts, id=string(value, "id"), time=time)

    def _use(self, about: Mapping[str, Any]) -> None:
        """Add the usage of a message, and of tools that asked a model."""
        for used in (about, *objects(about, "toolModelUsages")):
            counts = mapping(used, "usage")
            detail = mapping(counts, "inputTokenDetails")
            anthropic = mapping(used, "providerMetadata", "anthropic")
            cached = counts.get("cachedInputTokens", detail.get("cacheReadTokens"))
            written = anthropic.get("cacheCreationInputTokens", detail.get("cacheWriteTokens"))
            sent = without_cached(counts.get("inputTokens"), cached, written)
            usage = Usage(sent, tokens(counts.get("outputTokens")), tokens(cached), tokens(written))
            model = string(used, "model")
            self.use(model.partition(":")[2] or model, usage)

    def _parts(self, parts: object, role: Role, shown: str) -> Iterator[Part]:
        """Yield the parts of a message; `shown` is the command that the user typed in place of its first text."""
        for part in objects(parts):
            kind = part.get("type")
            if kind == "text":
                yield Part(role, "text", shown or string(part, "text"))
                shown = ""
            elif kind == "reasoning":
                yield Part("assistant", "thinking", string(part, "text"))
            elif kind == "file":
                image = string(part, "mediaType").startswith("image/")
                yield Part(role, "text", attached(string(part, "filename"), image=image, value=part))
            elif kind == "dynamic-tool":
                for call in (part, *objects(part, "nestedCalls")):
                    name, output, id = string(call, "toolName"), call.get("output"), string(call, "toolCallId")
                    failed = member(output, "success") is False
                    yield tool_call(tool_input(call, "input"), name, id, failed)
                    yield tool_result(_result(output), name, id, failed)
            else:
                self.count_unknown(f"part {kind}" if isinstance(kind, str) else None)


def _result(output: object) -> str:
    fields = mapping(output)
    text = next(filter(None, (string(fields, name) for name in _RESULTS)), "")
    return text or (content(output) if isinstance(output, str | list) else tool_input(output))


class MuxChat(DocumentFormat):
    agent = "mux"

    def matches(self, path: str, head: bytes) -> bool:
        return os.path.basename(path) == _CHAT and all(mark.search(head) for mark in _OURS)

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        folder = os.path.dirname(path)
        above, task = os.path.split(folder)
        if os.path.basename(above) == _SUBAGENTS:
            parent = os.path.dirname(above)
            known = _workspace(parent)._replace(title="", parent=os.path.basename(parent))
        else:
            known = _workspace(folder)
        metadata = SessionMetadata.of(task, title=known.title, project=known.project, parent=known.parent)
        parser = _Parser(metadata=metadata)
        messages: list[Message] = []
        for line in chain(_archived(os.path.join(folder, _ARCHIVE), cancel), json_lines(path, cancel)):
            if line is None:
                parser.count_unknown("no JSON")
            else:
                messages += parser.feed(line, 0)
        if messages:
            yield parser.conversation("", messages)


def _archived(path: str, cancel: CancelToken | None) -> Iterator[Mapping[str, Any] | None]:
    with suppress(FileNotFoundError):
        yield from json_lines(path, cancel)


def _workspace(folder: str) -> _Workspace:
    """Return title, project folder and parent of the workspace whose sessions are in this folder."""
    config = os.path.join(os.path.dirname(os.path.dirname(folder)), "config.json")
    id_ = os.path.basename(folder)
    if found := _workspaces(config).get(id_):
        return found
    about = sidecar(os.path.join(folder, "metadata.json"))  # of a version before autumn 2025
    return _Workspace(one_line(about, "name"), clean(about, "projectPath"))


@cached_by_version
def _workspaces(config: str) -> Mapping[str, _Workspace]:
    """Read all workspaces by id."""
    found: dict[str, _Workspace] = {}
    for pair in map(items, items(sidecar(config).get("projects"))):
        project = clean(next(iter(pair), ""))
        for workspace in objects(pair[-1] if pair else None, "workspaces"):
            title = one_line(string(workspace, "title") or string(workspace, "name"))
            parent = clean(workspace, "parentWorkspaceId")
            if id_ := string(workspace, "id"):
                found[id_] = _Workspace(title, project, parent)
    return found
