"""Sessions of Junie, JetBrains' agent: `~/.junie/sessions/<session>/events.jsonl`, with `index.jsonl` next to them.

There is no published specification. Written from programs that read them, as of February to October 2026
(idea-de-espend-ml-llm, agentsview and others; one lists all events that it found in its sessions, July 2026): a line is
an event with a `kind` and, since summer 2026, `timestampMs`.
`UserPromptEvent` has the user's words. `SessionA2uxEvent` holds an `agentEvent`, mostly a block of the screen, which is
written again, whole, under the same `stepId` until it is complete: the last one counts, at the position of the first.
The list has the title, the folder and the start of each session.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.agents import JUNIE_LIST
from engine.corpus.transcripts.export_reader import read_branches
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import items, mapping, objects, seconds, string
from engine.corpus.transcripts.jsonl import cached_by_version, json_lines
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import arguments
from engine.corpus.transcripts.token_usage import Usage, counted

_OURS = re.compile(
    rb'"kind"\s*:\s*"(?:UserPromptEvent|SessionA2uxEvent|UserMessagesCommittedToHistory|SessionTitleSetEvent)"'
)
_PROMPT, _UPDATE, _TITLE = "UserPromptEvent", "SessionA2uxEvent", "SessionTitleSetEvent"
_DROPPED = "UserMessagesDroppedFromHistory"
_EMPTY = "Empty"
"""Result of a task that has no text."""
_ANSWER, _ANSWERS, _SYSTEM = "UserResponseEvent", "UserAsyncResponseEvent", "SystemMessageEvent"
_OF_USER = (_PROMPT, _ANSWER, _ANSWERS)
_SILENT = frozenset(
    """CancelAgentEvent SendToAgentEvent SkillsStatusEvent TaskContinueStopped TaskStartedEvent TaskState
    UserMessagesCommittedToHistory""".split()
)
_SILENT_UPDATES = frozenset(
    f"{name}Event"
    for name in """AgentCurrentStatusUpdated AgentPatchCreated AgentPlanUpdated AgentStarted AgentStateUpdated
    AgentTaskNameUpdated AuthorizationAvailability AvailablePullRequests ContextWindowReport
    EnvironmentVariablesUpdated NextPromptSuggestion ShowPlanProgress SubagentSpawned SuggestPlan
    TipSuggestionCreated""".split()
)
_FAILED = ("CANCELED", "FAILED", "REJECTED")
"""States of a block whose tool failed, or that the user stopped or refused."""


class _Parser(LineParser, kw_only=True):
    """Parses events, after the events of each step were merged."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        time, id_ = seconds(value.get("timestampMs")), string(value, "requestId")
        if value.get("kind") in _OF_USER:
            words = [string(entry, "response") for entry in [value, *items(value, "entries")]]
            text = string(value, "prompt") or "\n".join(filter(None, words))
            return self.next_message([Part("user", "text", text)], id=id_, time=time)
        if value.get("kind") == _SYSTEM:
            texts = filter(None, (string(value, "text"), string(value, "details")))
            return self.next_message([Part("system", "text", "\n".join(texts))], time=time)
        update = mapping(value, "event", "agentEvent")
        return self.next_message(list(self._update(update)), id=string(update, "stepId"), time=time)

    def _update(self, update: Mapping[str, Any]) -> Iterator[Part]:
        kind = string(update, "kind")
        if kind in _READERS:
            failed = update.get("status") in _FAILED
            for part in _READERS[kind](update):
                yield part._replace(failed=True) if failed and part.kind in ("tool-call", "tool-result") else part
        elif kind == "LlmResponseMetadataEvent":
            for used in objects(update, "modelUsage"):
                self.use(used.get("model"), _usage(used))
        elif kind == "CurrentDirectoryUpdatedEvent":
            self.metadata.project = self.metadata.project or clean(update, "currentDirectory")
        elif kind not in _SILENT_UPDATES:
            self.count_unknown(f"update {kind}")


def _result(update: Mapping[str, Any]) -> Iterator[Part]:
    result = string(update, "result")
    yield Part("assistant", "text", "" if result == _EMPTY else result)


def _terminal(update: Mapping[str, Any]) -> Iterator[Part]:
    yield tool_call(string(update, "command"), "terminal")
    yield tool_result(string(update, "output") or string(update, "details"), "terminal")


def _tool(update: Mapping[str, Any]) -> Iterator[Part]:
    yield tool_call(string(update, "text"), "tool")
    yield tool_result(string(update, "details"), "tool")


def _server(update: Mapping[str, Any]) -> Iterator[Part]:
    """Yield a call of a server's tool; in sessions of spring 2026, `details` has the arguments alone."""
    name, given = clean(update, "toolName"), string(update, "input")
    yield tool_call(arguments(given or update.get("details")), name)
    yield tool_result(string(update, "details") if given else "", name)


def _named(tool: str) -> Callable[[Mapping[str, Any]], Iterable[Part]]:
    return lambda update: [tool_call(string(update, "name"), tool)]


def _question(update: Mapping[str, Any]) -> Iterator[Part]:
    asked = mapping(update, "askRequest") or mapping(update, "choiceRequest") or mapping(update, "request")
    options = (string(option, "description") for option in items(asked, "options"))
    question = string(asked, "question") or string(update, "question") or string(update, "title")
    yield Part("assistant", "text", "\n".join([question, *(f"- {option}" for option in options if option)]))


def _viewed(update: Mapping[str, Any]) -> Iterator[Part]:
    for file in objects(update, "files"):
        yield tool_call(string(file, "relativePath"), "view")


def _changed(change: Mapping[str, Any]) -> Part:
    before, after = string(change, "beforeRelativePath"), string(change, "afterRelativePath")
    if not after:
        return tool_call(before, "delete_file")
    created = not before or not mapping(change, "beforeContent")
    return tool_call(after, "create_file" if created else "edit_file")


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Iterable[Part]]] = {
    "MarkdownBlockUpdatedEvent": lambda update: [Part("assistant", "text", string(update, "text"))],
    "AgentThoughtBlockUpdatedEvent": lambda update: [Part("assistant", "thinking", string(update, "text"))],
    "ResultBlockUpdatedEvent": _result,
    "TerminalBlockUpdatedEvent": _terminal,
    "ToolBlockUpdatedEvent": _tool,
    "ViewFilesBlockUpdatedEvent": _viewed,
    "FileChangesBlockUpdatedEvent": lambda update: map(_changed, objects(update, "changes")),
    "McpBlockUpdatedEvent": _server,
    "TestRunBlockUpdatedEvent": _named("test"),
    "CustomAgentBlockUpdatedEvent": _named("agent"),
    **dict.fromkeys(("AskRequestUpdatedEvent", "AskAsyncRequestUpdatedEvent", "ChoiceRequestUpdatedEvent"), _question),
    "AgentTaskFailedEvent": lambda update: [Part("system", "text", string(update, "message"))],
    "AgentFailureEvent": lambda update: [Part("system", "text", string(update, "message"))],
}


def _usage(used: Mapping[str, Any]) -> Usage:
    return counted(used, "inputTokens outputTokens cacheInputTokens cacheCreateTokens", cost="cost")


class JunieEvents(DocumentFormat):
    agent = "junie"

    def matches(self, path: str, head: bytes) -> bool:
        return os.path.basename(path) == "events.jsonl" and bool(_OURS.search(head))

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        session = os.path.basename(os.path.dirname(path))
        listed = listed_sessions(list_of(path)).get(session, _UNLISTED)
        parser = _Parser(metadata=SessionMetadata.of(session, title=listed.title))
        parser.metadata.started, parser.metadata.project = listed.started, listed.project
        current, dropped = _merged(json_lines(path, cancel), parser)
        conversation = read_branches(parser, "", current, dropped)
        if conversation.everything:
            yield conversation


def _merged(events: Iterable[Mapping[str, Any] | None], parser: _Parser) -> tuple[list[Any], list[Any]]:
    """Return the events, one for each step, and the prompts that were dropped."""
    slots: dict[str, Mapping[str, Any]] = {}
    dropped: set[str] = set()
    for number, value in enumerate(events):
        kind = "" if value is None else string(value, "kind")
        if value is None:
            parser.count_unknown("no JSON")
        elif kind in (*_OF_USER, _SYSTEM, _UPDATE):
            step = string(value, "event", "agentEvent", "stepId")
            key = f"step {step}" if step else f"line {number}"
            first = seconds(slots.get(key, {}).get("timestampMs"), value.get("timestampMs"))
            slots[key] = value if first is None else {**value, "timestampMs": first}
        elif kind == _TITLE:
            parser.metadata.title = one_line(value, "name") or parser.metadata.title
        elif kind == _DROPPED:
            dropped.update(map(string, items(value, "userMessageIds")))
        elif kind not in _SILENT:
            parser.count_unknown(kind or None)
    current: list[Any] = []
    abandoned: list[Any] = []
    for value in slots.values():
        (abandoned if string(value, "requestId") in dropped else current).append(value)
    return current, abandoned


class Listed(NamedTuple):
    """Metadata of a session in the list of sessions."""

    title: str = ""
    project: str = ""
    started: float | None = None


_UNLISTED = Listed()


def list_of(path: str) -> str:
    """Return the path of the list of sessions that has the transcript at `path`."""
    return os.path.join(os.path.dirname(os.path.dirname(path)), JUNIE_LIST)


@cached_by_version
def listed_sessions(index: str) -> Mapping[str, Listed]:
    """Return the sessions in a list by id, from the last line about each. Raises OSError, ValueError, `PathRefused`."""
    return {
        string(value, "sessionId"): Listed(
            one_line(value, "taskName"), clean(value, "projectDir"), seconds(value.get("createdAt"))
        )
        for value in json_lines(index, None)
        if value is not None
    }
