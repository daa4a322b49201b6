"""Tasks of Cline, Roo Code and Kilo Code: one folder each, `tasks/<id>/`, with the displayed messages.

Written from the public source of Cline 3 (2025 to August 2026: `ExtensionMessage.ts`, `disk.ts`) and of Roo Code 3 (to
3.52 of April 2026: `message.ts`, `history.ts` and `vscode-extension-host.ts` in `packages/types/src`). Kilo Code before
version 7 is a copy of Roo Code, and Zoo Code continues Roo Code (version 3.82 of 2026).
`ui_messages.json` is an array of messages. The type of each is in `say` or `ask`; `text` is plain text or JSON. The
first message is the user's task. `history_item.json` (Roo Code since version 3.40) names the folder and the parent
task. Other versions add the folder to the user's words in `api_conversation_history.json`. Nothing else is read from
that file: it repeats the messages in the form that the model gets.
"""

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts import export_reader
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import image_mark, items, mapping, member, objects, seconds, string
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.token_usage import Usage, counted, dollars

_HEAD = 256 * 1024
_COUNTS = "tokensIn tokensOut cacheReads cacheWrites"
_OURS = re.compile(rb'\A[\s\xef\xbb\xbf]*\[\s*\{(?=[^{}]*?"ts"\s*:)(?=[^{}]*?"(?:ask|say)"\s*:)')
_FOLDER = re.compile(r'# Current (?:Working|Workspace) Directory \(((?:[^"\\()\n]|\\\\|\([^"()\n]*\))+)\)')
_HISTORY_ITEM = "history_item.json"
_OWNERS = {
    "saoudrizwan.claude-dev": "cline",
    ".cline": "cline",
    "rooveterinaryinc.roo-cline": "roo-code",
    "rooveterinaryinc.roo-code-nightly": "roo-code",
    ".vscode-mock": "roo-code",
    "zoocodeorganization.zoo-code": "zoo-code",
    "kilocode.kilo-code": "kilo-code",
    ".kilocode": "kilo-code",
}
"""Agent by the folder of its extension or command line."""
_WRITING = frozenset(
    "editedExistingFile newFileCreated appliedDiff insertContent searchAndReplace fileDeleted updateTodoList".split()
)
"""Names of tools whose `content` is their input, not a result."""
_NAMED = tuple("path regex filePattern searchPattern query command args mode skill question description".split())
_LISTS = ("batchFiles", "batchDirs")
_FLAGS = {"command": "REQ_APP", "completion_result": "HAS_CHANGES"}
"""Marks for the program at the end of a text, by kind of message."""
_ANSWERS = frozenset("text completion_result plan_completion_result".split())
_TROUBLE = frozenset(
    """api_req_failed clineignore_error command_permission_denied condense_context_error diff_error error
    mistake_limit_reached rooignore_error""".split()
)
_REQUESTS = frozenset({"api_req_started", "deleted_api_reqs", "subagent_usage"})
_SILENT = frozenset(
    """api_req_deleted api_req_finished api_req_rate_limit_wait api_req_rate_limited api_req_retried
    api_req_retry_delayed api_req_started auto_approval_max_req_reached browser_session_status checkpoint_created
    checkpoint_saved compaction condense conditional_rules_applied deleted_api_reqs hook_output_stream hook_status image
    info load_mcp_documentation mcp_notification mcp_server_request_started mode_switch_compatibility_warning report_bug
    resume_completed_task resume_task shell_integration_warning shell_integration_warning_with_suggestion
    sliding_window_truncation subagent subagent_usage summarize_task task_progress too_many_tools_warning use_subagents
    user_edit_todos""".split()
)


class _Parser(LineParser, kw_only=True):
    last: str = ""
    """Text of the last message: a result that asks a question is stored twice."""

    def message(self, value: Mapping[str, Any]) -> list[Message]:
        kind = string(value, "say") or string(value, "ask")
        text = string(value, "text").removesuffix(_FLAGS.get(kind, ""))
        if kind in _REQUESTS:
            self.use(member(value, "modelInfo", "modelId"), counted(_decoded(text), _COUNTS, cost="cost"))
        elif kind == "condense_context":
            self.use("", Usage(cost=dollars(member(value, "contextCondense", "cost"))))
        if kind in _SILENT or (kind == "completion_result" and text == self.last):
            return []
        self.last = text
        return self.next_message(self._parts(kind, text, value), time=seconds(value.get("ts")))

    def _parts(self, kind: str, text: str, value: Mapping[str, Any]) -> Iterator[Part]:
        pictures = "".join(f"\n{image_mark(image)}" for image in items(value, "images")[:20])
        if kind in ("task", "user_feedback") or (kind == "text" and not self.ordinal):
            yield Part("user", "text", f"{text}{pictures}".strip("\n"))
        elif kind == "user_feedback_diff":
            yield Part("user", "tool-call", string(_decoded(text).get("diff")) or text, "edit")
        elif kind in _ANSWERS:
            yield Part("assistant", "text", text)
        elif kind == "reasoning":
            yield Part("assistant", "thinking", text or string(value, "reasoning"))
        elif kind in _TROUBLE:
            yield Part("system", "text", text)
        elif kind == "condense_context":
            yield Part("system", "text", string(value, "contextCondense", "summary"))
        elif kind in _PARTS:
            yield from _PARTS[kind](text)
        else:
            self.count_unknown(kind)


def _decoded(text: str) -> Mapping[str, Any]:
    return parse_line(text.encode(errors="replace")) or {}


def _question(text: str) -> Iterator[Part]:
    """Yield a question with its suggested answers, or a plan."""
    value = _decoded(text)
    options = [string(option) or string(option, "answer") for option in items(value, "options")]
    options += [string(option) or string(option, "answer") for option in items(value, "suggest")]
    question = string(value, "question") or string(value, "response") or text
    yield Part("assistant", "text", "\n".join([question, *(f"- {option}" for option in options if option)]))


def _tool(text: str) -> Iterator[Part]:
    value = _decoded(text)
    name, content = string(value, "tool"), string(value, "content")
    files = [string(file, "path") for key in _LISTS for file in items(value, key)]
    call = [*(string(value, key) for key in _NAMED), *files]
    written = string(value, "diff")
    if name in _WRITING:
        written, content = written or content, ""
    edits = [mapping(edit) for edit in items(value, "batchDiffs")]
    for edit in edits:
        yield tool_call("\n".join(filter(None, (string(edit, "path"), string(edit, "content")))), name)
    if not edits:
        yield tool_call("\n".join(filter(None, (*call, written))) or name or text, name)
    yield tool_result(content, name)


def _server(text: str) -> Iterator[Part]:
    value = _decoded(text)
    call = string(value, "arguments") or string(value, "uri") or text
    yield tool_call(call, string(value, "toolName") or string(value, "serverName"))


def _browser(text: str) -> Iterator[Part]:
    value = _decoded(text)
    stated = [string(value, key) for key in ("action", "coordinate", "text")]
    yield tool_call(" ".join(filter(None, stated)) or text, "browser")


def _page(text: str) -> Iterator[Part]:
    """Yield the page that the browser showed, without the image."""
    value = _decoded(text)
    yield tool_result("\n".join(filter(None, (string(value, "currentUrl"), string(value, "logs")))), "browser")


def _search(text: str) -> Iterator[Part]:
    content = mapping(_decoded(text).get("content"))
    yield tool_call(string(content, "query"), "codebaseSearch")
    results = objects(content, "results")
    lines = (f"{string(found.get('filePath'))}\n{string(found.get('codeChunk'))}" for found in results)
    yield tool_result("\n".join(lines), "codebaseSearch")


def _whole(role: Role, kind: Kind, tool: str) -> Callable[[str], Iterable[Part]]:
    """Return a parser for messages whose whole text is one part."""
    return lambda text: [Part(role, kind, text, tool)]


_PARTS: dict[str, Callable[[str], Iterable[Part]]] = {
    "followup": _question,
    "plan_mode_respond": _question,
    "act_mode_respond": _question,
    "tool": _tool,
    "command": _whole("assistant", "tool-call", "command"),
    "command_output": _whole("tool", "tool-result", "command"),
    "use_mcp_server": _server,
    "mcp_server_response": _whole("tool", "tool-result", "mcp"),
    "browser_action_launch": _browser,
    "browser_action": _browser,
    "browser_action_result": _page,
    "codebase_search_result": _search,
    "new_task": _whole("assistant", "tool-call", "newTask"),
    "subtask_result": _whole("tool", "tool-result", "newTask"),
}


class ClineTask(DocumentFormat):
    """Format of the tasks of Cline and its forks."""

    def matches(self, path: str, head: bytes) -> bool:
        return bool(_OURS.match(head)) and _owner(path) == self.agent

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        """Yield the file's only task; of a truncated file the complete messages, before the ValueError."""
        parser = _Parser(metadata=_metadata(os.path.dirname(path)))
        yield from export_reader.whole_conversation(path, parser, parser.message, cancel)


def _owner(path: str) -> str:
    """Return a task's agent by its folder; in a folder that the user chose, only Roo Code adds a file about it."""
    for folder, agent in _OWNERS.items():
        if f"{os.sep}{folder}{os.sep}" in path:
            return agent
    described = os.path.lexists(os.path.join(os.path.dirname(path), _HISTORY_ITEM))
    return "roo-code" if described else "cline"


def _metadata(folder: str) -> SessionMetadata:
    metadata = SessionMetadata.of(os.path.basename(folder))
    item: Mapping[str, Any] = {}
    with contextlib.suppress(ValueError, RecursionError):
        item = mapping(msgspec.json.decode(first_bytes(os.path.join(folder, _HISTORY_ITEM), _HEAD)))
    project = string(item, "workspace")
    if not project:
        match = _FOLDER.search(
            first_bytes(os.path.join(folder, "api_conversation_history.json"), _HEAD).decode(errors="replace")
        )
        project = match[1].replace("\\\\", "\\") if match else ""
    metadata.project = clean(project)
    metadata.parent = clean(item, "parentTaskId")
    return metadata
