"""GitHub Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl`, in 2025 `session-state/<session>.jsonl`.

For versions 0.0.354 to 1.0 of the program. Written from the types of events that GitHub publishes with its SDK
(`session-events.ts` of github/copilot-sdk, autumn 2026), and from the readers of agentsview (March 2026) and
claude-code-history-viewer (August 2026). `COPILOT_HOME` names another folder than `~/.copilot`. `workspace.yaml` next
to the events has the session's name (`name`, in older versions `summary`).

A line is an event with `type`, `data`, `id`, `timestamp` and, in a sub-agent, `agentId`. The prompt is read as typed
(`content`), not as sent (`transformedContent`); prompts of another `source` than the user have the role "system". The
system prompt and the texts of skills are left out. `session.snapshot_rewind` names the prompt to which the user went
back: events from there on that are still in the file are abandoned. If several models work on one answer, a review by
another model is in `assistant.fusion_phase_completed`; the answer itself is an ordinary message.

Copilot's chat in VS Code writes the same lines, with the editor's version in the first one, into
`workspaceStorage/<workspace>/GitHub.copilot-chat/transcripts/<session>.jsonl` (its public source of March 2026; users
report that VS Code 1.137 of September 2026 may write nothing else).

The first versions, of autumn 2025, wrote a document for each session: `session_*.json` in
`~/.copilot/history-session-state`, with `sessionId`, `startTime` and `chatMessages` as in the API for chat completions
(from readers of that time).
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.base.cancellation import CancelToken
from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts.formats import (
    Conversation,
    DocumentFormat,
    LineFormat,
    LineParser,
    Part,
    digest,
    tool_call,
    tool_result,
)
from engine.corpus.transcripts.json_values import attached, mapping, objects, seconds, string, tool_input
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import ChatParser, sidecar
from engine.corpus.transcripts.parsers.copilot_chat import window_folder
from engine.corpus.transcripts.token_usage import counted

_AGENT, _IN_EDITOR = "copilot-cli", "copilot-chat"
_TRANSCRIPTS = "transcripts"
_EVENTS = "events.jsonl"
_WORKSPACE = "workspace.yaml"
_LARGEST_WORKSPACE = 64 * 1024
_PROMPT, _REWOUND = "user.message", "session.snapshot_rewind"
_SPEECH = frozenset({_PROMPT, "assistant.message"})
_PHASE = "assistant.fusion_phase_completed"
_SIDE_EVENTS = ("tool.execution_start", "tool.execution_complete", "tool.user_requested", "assistant.reasoning", _PHASE)
_NOTICES = {  # type of event: key of its text
    "session.compaction_complete": "summaryContent",
    "session.error": "message",
    "session.handoff": "summary",
    "session.warning": "message",
    "system.notification": "content",
}
_IGNORED = frozenset(
    """abort agent.interrupted assistant.fusion_phase_activity assistant.fusion_phase_failed
    assistant.fusion_phase_started assistant.idle assistant.intent assistant.message_delta assistant.message_start
    assistant.reasoning_delta assistant.server_tool_progress assistant.streaming_delta assistant.tool_call_delta
    assistant.turn_end assistant.turn_start assistant.usage capabilities.changed hook.end hook.progress hook.start
    model.call_failure model.call_finished prompt_cache_break sandbox.decision skill.invoked subagent.completed
    subagent.configured subagent.deselected subagent.failed subagent.selected subagent.started system.message
    tool.execution_partial_result tool.execution_progress tool_search.activated""".split()
)
_IGNORED_GROUPS = frozenset(
    """auto_mode_switch command commands elicitation exit_plan_mode external_tool factory mcp mcp_app pending_messages
    permission sampling session session_limits_exhausted ui user_input""".split()
)


class CopilotParser(LineParser, kw_only=True):
    named: bool = False
    """Whether the title is from `workspace.yaml`."""
    model: str = ""
    """The model that was chosen last: older versions don't name it in the messages."""
    thought: str = ""
    """Beginning of the last reasoning event, which the message may repeat."""
    prompts: dict[int, int] = msgspec.field(default_factory=dict)
    """Line of each prompt, by the digest of the event's id."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind, data = string(value, "type"), mapping(value, "data")
        if kind in ("session.start", "session.resume"):
            self._start(data, value.get("timestamp"))
        elif kind == "session.model_change":
            self.model = clean(data, "newModel")
        elif kind == "session.title_changed":
            self._take_title(string(data, "title"))
        elif kind == "session.shutdown":
            self._count_tokens(mapping(data, "modelMetrics"))
        elif kind == _REWOUND:
            if first := self.prompts.get(digest(string(data, "upToEventId"))):
                self.metadata.mark_abandoned(first, line - 1)
        elif kind in _SPEECH or kind in _SIDE_EVENTS or kind in _NOTICES:
            side = bool(value.get("agentId") or data.get("parentToolCallId"))
            time, id_ = seconds(value.get("timestamp")), string(value, "id")
            if kind == _PROMPT and not side:
                self.prompts[digest(id_)] = line
            return self.next_message(list(self._parts(kind, data)), line, id=id_, time=time, side=side)
        elif kind not in _IGNORED and kind.partition(".")[0] not in _IGNORED_GROUPS:
            self.count_unknown(kind)
        return []

    def _start(self, data: Mapping[str, Any], written: object) -> None:
        self.model = clean(data, "selectedModel") or self.model
        metadata, context = self.metadata, mapping(data, "context")
        metadata.agent = _IN_EDITOR if "vscodeVersion" in data else metadata.agent
        metadata.id = clean(data, "sessionId") or metadata.id
        metadata.project = metadata.project or clean(string(context, "cwd") or string(context, "gitRoot"))
        metadata.branch = metadata.branch or clean(context, "branch")
        metadata.started = metadata.started or seconds(data.get("startTime"), written)

    def _count_tokens(self, models: Mapping[str, Any]) -> None:
        """Add the usage of one run of the program; the recorded tokens of prompts include cached ones."""
        for model, metrics in models.items():
            counts = mapping(metrics, "usage")
            names = "inputTokens outputTokens cacheReadTokens cacheWriteTokens"
            self.use(model, counted(counts, names, with_cached=True))

    def _take_title(self, title: str) -> None:
        if not self.named and title.strip():
            self.metadata.title = one_line(title)

    def _parts(self, kind: str, data: Mapping[str, Any]) -> Iterator[Part]:
        if kind == _PROMPT:
            yield from self._prompt(data)
        elif kind == "assistant.message":
            yield from self._answer(data)
        elif kind == "assistant.reasoning":
            text = string(data, "content")
            self.thought = clean(text[:200])
            yield Part("assistant", "thinking", text)
        elif kind == _PHASE:
            review = data.get("conversationScope") == "review"
            yield Part("assistant", "thinking", string(data, "content") if review else "")
        elif kind == "tool.execution_complete":
            yield self._result(data)
        elif kind in _NOTICES:
            yield Part("system", "text", string(data, _NOTICES[kind]))
        elif (call := clean(data, "toolCallId")) not in self.calls:
            # The message of the agent usually has the call; this call is of the user, or of an older version.
            name = string(data, "toolName")
            role: Role = "user" if kind == "tool.user_requested" else "assistant"
            yield Part(role, "tool-call", tool_input(data, "arguments"), name, call)

    def _prompt(self, data: Mapping[str, Any]) -> Iterator[Part]:
        source = string(data, "source")
        inserted = (source and source != "user") or data.get("isAutopilotContinuation") is True
        role: Role = "system" if inserted else "user"
        yield Part(role, "text", string(data, "content"))
        for attachment in objects(data, "attachments"):
            name = string(attachment, "displayName") or os.path.basename(string(attachment, "path"))
            image = string(attachment, "mimeType").startswith("image/")
            yield Part(role, "text", attached(name, image=image, value=attachment))

    def _answer(self, data: Mapping[str, Any]) -> Iterator[Part]:
        thought = string(data, "reasoningText")
        if clean(thought[:200]) != self.thought:
            yield Part("assistant", "thinking", thought)
        self.thought = ""
        self.use_model(data.get("model") or self.model)
        yield Part("assistant", "text", string(data, "content"))
        for request in objects(data, "toolRequests"):
            name, id = clean(request, "name"), clean(request, "toolCallId")
            yield tool_call(tool_input(request, "arguments"), name, id)

    def _result(self, data: Mapping[str, Any]) -> Part:
        result, error = data.get("result"), data.get("error")
        text = string(result) or string(result, "content")
        failure = string(error) or string(error, "message")
        id, failed = clean(data, "toolCallId"), data.get("success") is False
        return tool_result("\n".join(filter(None, (text, failure))), "", id, failed)


class CopilotDocument(DocumentFormat):
    """Format of the first versions: one document for each session."""

    agent = _AGENT

    def matches(self, path: str, head: bytes) -> bool:
        return path.endswith(".json") and b'"chatMessages"' in head and b'"sessionId"' in head

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        """Yield the file's only session; messages have no times of their own. Raises ValueError."""
        document = sidecar(path)
        if not document:
            raise ValueError(skip_reasons.NO_JSON_OBJECT.message(file=os.path.basename(path)))
        started = seconds(document.get("startTime"))
        metadata = SessionMetadata.of(document.get("sessionId"), started=started)
        reader = ChatParser(metadata=metadata)
        messages: list[Message] = []
        for message in objects(document, "chatMessages"):
            if cancel:
                cancel.checkpoint()
            if message.get("role") not in ("system", "developer"):
                messages += reader.next_message(list(reader.chat_parts(message)), time=started)
        yield reader.conversation("", messages)


class CopilotFormat(LineFormat):
    agent = _AGENT
    parses = CopilotParser
    speech_marks = (b'"type":"user.message"', b'"type":"assistant.message"')
    title_marks = (b'"session.title_changed"',)

    def is_line(self, value: Mapping[str, Any]) -> bool:
        kind, data = string(value, "type"), mapping(value, "data")
        if not data or not isinstance(value.get("timestamp"), str):
            return False
        if kind == "session.start":
            return isinstance(data.get("sessionId"), str)
        return kind in _SPEECH and isinstance(data.get("content"), str)

    def begin(self, path: str) -> CopilotParser:
        folder, name = os.path.split(path)
        if name == _EVENTS:
            title, id_ = _workspace_title(os.path.join(folder, _WORKSPACE)), os.path.basename(folder)
        else:
            title, id_ = "", name.removesuffix(".jsonl")
        metadata = SessionMetadata.of(id_, title=title)
        if os.path.basename(folder) == _TRANSCRIPTS:
            metadata.project = clean(window_folder(folder))
        return CopilotParser(metadata=metadata, named=bool(title))


def _workspace_title(path: str) -> str:
    """Return the session's name from `workspace.yaml`, which has one value per line; empty if missing."""
    lines = first_bytes(path, _LARGEST_WORKSPACE).decode("utf-8", "replace").splitlines()
    values = dict(line.partition(":")[::2] for line in lines if not line.startswith((" ", "#")))
    titles = (values.get(key, "").strip() for key in ("name", "summary"))
    return next((one_line(_unquoted(title)) for title in titles if title and title[0] not in "|>"), "")


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
