"""OpenHands: a folder for each conversation, with one JSON file per event.

Written from the public source of its SDK of autumn 2026 (`openhands-sdk`), and from the reader of
claude-code-history-viewer (August 2026) for the versions 0.x:

* since version 1.0 (November 2025), `~/.openhands/conversations/<id>/base_state.json` and `events/event-<n>-<id>.json`,
  whose `kind` is the class of the event; since summer 2026 events name their `parent_id`, and the state has the end of
  the current branch, `leaf_event_id`; a call by an agent that it controls (`ACPToolCallEvent`) is rewritten, whole,
  with each change of its state; its server, which Agent Canvas uses, adds `meta.json` with a title;
* before, `~/.openhands/sessions/<id>/events/<n>.json` with an `action` or an `observation`, and perhaps `metadata.json`
  with a title.

The document is `base_state.json` or the first event. Times have no zone: they are local.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.safe_open import is_link
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, items, local_time, mapping, member, string, tool_input
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ChatParser, arguments, sidecar
from engine.corpus.transcripts.token_usage import Usage, dollars, tokens, without_cached

_STATE, _FIRST, _EVENTS = "base_state.json", "0.json", "events"
_EVENT = re.compile(r"(?:event-(\d{5,})-[\w-]+|(\d+))\.json")
_MAX_BYTES = 128 * 1024**2
"""Maximum number of bytes of the events of one session, which is held in memory as a whole."""
_DRIVEN = "ACPToolCallEvent"
_SOURCES: dict[str, Role] = {"user": "user", "agent": "assistant"}
_IGNORED_KINDS = frozenset(
    """CondensationRequest ConversationStateUpdateEvent HookExecutionEvent InterruptEvent
    LLMCompletionLogEvent PauseEvent StreamingDeltaEvent SystemPromptEvent TokenEvent""".split()
)
_IGNORED_ACTIONS = frozenset("change_agent_state condensation condensation_request null recall system".split())
_FAILED = ("error", "user_rejected")
"""Observations of an action that failed or was refused."""
_IGNORED_OBSERVATIONS = frozenset("agent_state_changed null recall think".split())


class OpenHandsReader(ChatParser):
    """Parses the events of one conversation."""

    def parts(self, event: Mapping[str, Any]) -> Iterator[Part]:
        if "kind" in event:
            yield from self._newer_event(string(event["kind"]), event)
        elif "action" in event:
            yield from self._action(string(event["action"]), mapping(event, "args"), event)
        elif "observation" in event:
            if (kind := string(event["observation"])) not in _IGNORED_OBSERVATIONS:
                failed = kind in _FAILED or _exit_code(mapping(event, "extras")) != 0
                yield tool_result(content(event, "content"), kind, _cause(event), failed)
        elif event:
            self.count_unknown(None)

    def _newer_event(self, kind: str, event: Mapping[str, Any]) -> Iterator[Part]:
        tool = string(event, "tool_name")
        if kind == "MessageEvent":
            message = mapping(event, "llm_message")
            role = _SOURCES.get(string(event, "source"), "system")
            yield Part(role, "thinking", content(message, "reasoning_content"))
            yield Part(role, "text", content(message, "content"))
            yield Part("system", "text", content(event, "extended_content"))
        elif kind == "ActionEvent":
            yield from self._call(tool, event)
        elif kind == "ObservationEvent":
            observation = mapping(event, "observation")
            if tool not in ("finish", "think"):
                text = content(observation, "content") or string(observation, "output")
                failed = observation.get("is_error") is True or _exit_code(observation) != 0
                yield tool_result(text, tool, string(event, "tool_call_id"), failed)
        elif kind == _DRIVEN:
            yield from self._agent_call(mapping(event, "begins"), mapping(event, "ends"))
        elif kind in ("UserRejectObservation", "AgentErrorEvent"):
            text, id = string(event, "rejection_reason") or string(event, "error"), event.get("tool_call_id")
            yield tool_result(text, tool, string(id), failed=True)
        elif kind in ("Condensation", "CondensationSummaryEvent"):
            yield Part("system", "text", string(event, "summary"))
        elif kind == "ConversationErrorEvent":
            yield Part("system", "text", string(event, "detail"))
        elif kind not in _IGNORED_KINDS:
            self.count_unknown(kind)

    def _call(self, tool: str, event: Mapping[str, Any]) -> Iterator[Part]:
        """Yield a tool call after its reasoning and text. The agent's last answer is the input of a tool, `finish`."""
        action = mapping(event, "action")
        yield Part("assistant", "thinking", content(event, "reasoning_content"))
        yield Part("assistant", "text", content(event, "thought"))
        if tool == "finish":
            yield Part("assistant", "text", string(action, "message"))
        elif tool == "think":
            yield Part("assistant", "thinking", string(action, "thought"))
        else:
            call = mapping(event, "tool_call")
            given, id = arguments(call.get("arguments")) or tool_input(action), string(event, "tool_call_id")
            yield tool_call(given, tool, id or string(call, "id"))

    def _agent_call(self, call: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[Part]:
        """Yield a call by another agent, or its result, or both."""
        title = string(call, "title")
        id, failed = string((result or call).get("tool_call_id")), result.get("status") == "failed"
        yield tool_call(tool_input(call, "raw_input") or title, _tool(call), id, failed)
        blocks = [mapping(block, "content") for block in items(result, "content")]
        yield tool_result(content(blocks) or tool_input(result, "raw_output"), _tool(result), id, failed)

    def _action(self, kind: str, arguments: Mapping[str, Any], event: Mapping[str, Any]) -> Iterator[Part]:
        if kind == "message":
            yield Part(_SOURCES.get(string(event, "source"), "system"), "text", string(arguments, "content"))
        elif kind == "finish":
            yield Part("assistant", "text", string(arguments, "final_thought") or string(event, "message"))
        elif kind == "think":
            yield Part("assistant", "thinking", string(arguments, "thought"))
        elif kind not in _IGNORED_ACTIONS:
            yield Part("assistant", "text", string(arguments, "thought"))
            command = string(arguments, "command") or string(arguments, "code")
            others = {
                key: value for key, value in arguments.items() if key != "thought" and value not in (None, "", False)
            }
            yield tool_call(command or tool_input(others), kind, f"{event.get('id')}")


def _exit_code(result: Mapping[str, Any]) -> int:
    """Return the exit code of a command; 0 if the result has none. A command that still runs has -1."""
    codes = (member(result, "metadata", "exit_code"), result.get("exit_code"))
    return next((code for code in codes if isinstance(code, int) and code != -1), 0)


def _cause(event: Mapping[str, Any]) -> str:
    """Return the id of the action that an observation is the result of, in the older form of events."""
    cause = event.get("cause")
    return f"{cause}" if isinstance(cause, int) else ""


class OpenHandsConversation(DocumentFormat):
    agent = "openhands"

    def matches(self, path: str, head: bytes) -> bool:
        folder, name = os.path.split(path)
        if name == _STATE:
            return os.path.isdir(os.path.join(folder, _EVENTS))
        return name == _FIRST and os.path.basename(folder) == _EVENTS and b'"source"' in head

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        """Yield the file's only conversation. Truncated events are left out."""
        events = events_folder(path)
        folder = os.path.dirname(events)
        state = sidecar(os.path.join(folder, _STATE))
        metadata = SessionMetadata.of(
            string(state, "id") or os.path.basename(folder),
            title=_title(folder),
            project=member(state, "workspace", "working_dir"),
        )
        reader = OpenHandsReader(metadata=metadata)
        for metrics in mapping(state, "stats", "usage_to_metrics").values():
            if (usage := _usage(mapping(metrics))).is_recorded:  # other models are only configured
                reader.use(member(metrics, "model_name"), usage)
        read = list(_merge_repeated(list(_read(_event_files(events), reader, cancel))))
        current = _current_branch(read, state)
        # The current branch first: the reader's metadata follows the order in which events are fed to it.
        messages = tuple(_messages(reader, [event for event in read if _id(event) in current]))
        abandoned = tuple(_messages(reader, [event for event in read if _id(event) not in current]))
        sums = [metrics for event in read if (metrics := mapping(event, "llm_metrics"))]
        if sums:  # of the versions 0.x, running totals
            reader.use("", _usage(sums[-1]))
        yield reader.conversation("", messages, abandoned)


def _messages(reader: OpenHandsReader, events: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
    for event in events:
        time = local_time(event.get("timestamp"))
        yield from reader.next_message(list(reader.parts(event)), id=_id(event)[:100], time=time)


def _read(files: Iterable[str], reader: OpenHandsReader, cancel: CancelToken | None) -> Iterator[Mapping[str, Any]]:
    """Yield the events in these files. Raises Cancelled."""
    size = 0
    for file in files:
        if cancel:
            cancel.checkpoint()
        if size > _MAX_BYTES:
            reader.count_unknown("event of a session that is too long")
        elif event := sidecar(file):
            size += os.lstat(file).st_size
            yield event
        else:
            reader.count_unknown("unreadable file")


def _merge_repeated(events: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the events; the first and the last event of a call by another agent are marked as such."""
    last = {_call_id(event): event for event in events if event.get("kind") == _DRIVEN}
    begun: set[str] = set()
    for event in events:
        if event.get("kind") != _DRIVEN:
            yield event
            continue
        call = _call_id(event)
        end = last[call]
        yield {**event, "begins": None if call in begun else end, "ends": end if event is end else None}
        begun.add(call)


def _call_id(event: Mapping[str, Any]) -> str:
    return string(event, "tool_call_id") or _id(event)


def _tool(call: Mapping[str, Any]) -> str:
    return string(call, "tool_kind") or string(call, "title")


def _title(folder: str) -> str:
    """Return the title of a conversation, of a version 0.x or on a server."""
    names = ("metadata.json", "meta.json")
    return next(filter(None, (string(sidecar(os.path.join(folder, name)).get("title")) for name in names)), "")


def _id(event: Mapping[str, Any]) -> str:
    return str(event.get("id", ""))


def _current_branch(events: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> set[str]:
    """Return the ids of the events on the user's current branch: all, if no branch was abandoned."""
    ids = list(map(_id, events))
    parents = dict(zip(ids, ["", *ids], strict=False))
    for event in events:
        if parent := string(event, "parent_id"):
            parents[_id(event)] = parent
    branch: set[str] = set()
    at = string(state, "leaf_event_id")
    while at in parents and at not in branch:
        branch.add(at)
        at = parents[at]
    return branch or set(ids)


def _usage(metrics: Mapping[str, Any]) -> Usage:
    """Return the usage of one model. The recorded prompts include cached tokens, unless another agent counted them."""
    counts = mapping(metrics, "accumulated_token_usage")
    sent, read, written = (counts.get(f"{name}_tokens") for name in ("prompt", "cache_read", "cache_write"))
    within = (tokens(read) or 0) <= (tokens(sent) or 0)
    return Usage(
        without_cached(sent, read, written) if within else tokens(sent),
        tokens(counts.get("completion_tokens")),
        tokens(read),
        tokens(written),
        cost=dollars(metrics.get("accumulated_cost")),
    )


def events_folder(path: str) -> str:
    """Return the folder with the events of the conversation that has this document."""
    folder, name = os.path.split(path)
    return os.path.join(folder, _EVENTS) if name == _STATE else folder


def _event_files(folder: str) -> list[str]:
    """Return the files of events, in order. Raises OSError."""
    if is_link(os.lstat(folder)):
        return []
    files: list[tuple[int, str]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = _EVENT.fullmatch(entry.name)
            if name and entry.is_file(follow_symlinks=False):
                files.append((int((name[1] or name[2])[:18]), entry.path))
    return [path for _, path in sorted(files)]
