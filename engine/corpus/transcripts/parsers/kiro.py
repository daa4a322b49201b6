"""Sessions of Kiro in four formats: a database (2025), messages in files, events in files (since summer 2026), and one
document for each older session of the editor.

The database is `kiro-cli/data.sqlite3`, in Amazon Q's format. Events came with version 1.0 of the editor and 3 of the
command line.

Written from Amazon Q's public source of April 2026 (`database/mod.rs`, `cli/chat/conversation.rs` and `message.rs`);
Kiro's is not public, and is described by programs that read its sessions (claude-code-history-viewer of August 2026;
for the events, several of September 2026). In the database a session is one JSON object: in `conversations_v2` one per
folder and id, in the older `conversations` the last one of each folder. Each entry of `history` has the user's prompt
or the tool results, and the answer.

Files: `~/.kiro/sessions/cli/<id>.jsonl`, as descriptions of version 2 have them, with a message per line, and
`<id>.json` with folder, title, model and the whole last request. Events: `~/.kiro/sessions/<digest of the
folder>/sess_<id>/messages.jsonl`, with `session.json`. An event has a time and a `payload`, whose `type` is its kind.

Documents: `kiro.kiroagent/workspace-sessions/<folder in base64>/<id>.json`, as the readers of agentsview (August 2026)
and of ai-engineering-fluency (July 2026) describe them. `history` has the user's messages and placeholders ("On it.")
for the answers. Each answer names an execution, whose file in `kiro.kiroagent/<digest of the folder>/<constant>` has
its `actions`. The editor's first sessions, `.chat` files of 2025 that repeat each other, are not read.
"""

import functools
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import apsw
import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts import export_reader
from engine.corpus.transcripts.database_format import OpenSessions, data_of, whole
from engine.corpus.transcripts.export_reader import SessionDocument
from engine.corpus.transcripts.formats import (
    Conversation,
    DatabaseFormat,
    LineFormat,
    LineParser,
    Part,
    SessionDatabase,
    tool_call,
    tool_result,
)
from engine.corpus.transcripts.json_values import (
    attached,
    content,
    image_mark,
    items,
    mapping,
    member,
    objects,
    seconds,
    string,
    tool_input,
)
from engine.corpus.transcripts.jsonl import LONGEST_LINE, list_in
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import sidecar
from engine.corpus.transcripts.sqlite_view import SqliteView, tables

_AGENT = "kiro"
_LINES = frozenset({"Prompt", "AssistantMessage", "ToolResults"})
_EVENTS = frozenset(
    "assistant session_start sub_agent_complete sub_agent_start tool_call tool_result turn_start user".split()
)
_IGNORED_EVENTS = frozenset(
    """ContextualHookInvoked interaction_resolved pending_interaction session_event session_metadata session_start
    steering_inclusion turn_end turn_start usage_summary""".split()
)
_OPERATIONS: Mapping[str, tuple[Role, Kind]] = {
    "Say": ("assistant", "text"),
    "Print": ("assistant", "text"),
    "Reasoning": ("assistant", "thinking"),
    "Summary": ("system", "text"),
}
_UNTITLED = "New Session"
_NEWER, _OLDER = "conversations_v2", "conversations"
# Read as bytes: invalid UTF-8 in one session would be an error for all of them.
_LISTED = {
    _NEWER: f"""SELECT CAST(conversation_id AS BLOB), rowid, octet_length(value), updated_at FROM {_NEWER}
        ORDER BY 4 DESC""",
    _OLDER: f"""SELECT CAST(CASE WHEN octet_length(value) <= {LONGEST_LINE} AND json_valid(value)
        THEN json_extract(value, '$.conversation_id') END AS BLOB),
        rowid, octet_length(value), 0 FROM {_OLDER} ORDER BY 2 DESC""",
}
_ONE = f"""SELECT CAST(key AS BLOB), {{times}}, {data_of("value")} FROM {{table}} WHERE rowid = ?"""
_EDITORS = "sess_"
"""Prefix of the ids of the editor's sessions since 1.0; the command line resumes all others."""
_DOCUMENTS = f"{os.sep}workspace-sessions{os.sep}"
_EXECUTIONS = hashlib.sha256(b"KIRO::EXECUTION::SAVES").hexdigest()[:32]
"""Name of the folder of executions in each project's folder."""
_HEAD = 2048
"""Bytes at the beginning of an execution that contain its id and time."""
_EXECUTION = re.compile(rb'"executionId"\s*:\s*"([^"\\]{1,200})"')
_EXECUTED = re.compile(rb'"startTime"\s*:\s*(\d{13})\b')
_MAX_EXECUTIONS = 20_000
_FAILED = ("error", "Error")
"""States of a result that is a failure."""
_NO_ACTIONS = frozenset({"intentClassification", "model"})
"""Kinds of actions that are neither speech nor tools."""
_MAX_ATTACHED = 20
_MAX_NESTED = 50
"""Maximum number of executions that are read within each other; each one keeps its file open."""
_MAX_ENTRIES = 100_000
"""Maximum number of entries of one session that are read; parsing more would take minutes."""


class KiroDatabase(DatabaseFormat):
    agent = _AGENT

    def matches(self, path: str, connection: apsw.Connection) -> bool:
        known = tables(connection)
        return "migrations" in known and not known.isdisjoint(_LISTED)

    @contextmanager
    def opened(self, path: str, cancel: CancelToken | None = None) -> Iterator[SessionDatabase]:
        with closing(SqliteView(path, cancel)) as view:
            yield _Sessions(view, self.agent, cancel)


class _Sessions(OpenSessions):
    def __init__(self, view: SqliteView, agent: str, cancel: CancelToken | None) -> None:
        super().__init__(view, agent)
        self._cancel = cancel
        self._rows: dict[str, _Row] = {}
        """Rows of the last listing; listing them again for each session would parse all of them."""

    def rows(self, connection: apsw.Connection) -> Mapping[str, object]:
        self._rows = _listed(connection)
        return self._rows

    def read(self, connection: apsw.Connection, key: str) -> Conversation | None:
        row = self._rows.get(key) or _listed(connection).get(key)
        return None if row is None else _conversation(connection, key, row, self._cancel)


_Row = tuple[str, int, int, float]


def _listed(connection: apsw.Connection) -> dict[str, _Row]:
    """Return table, row number, length and time of change of each session's row, by key; last changed first."""
    known = tables(connection)
    sessions: dict[str, _Row] = {}
    for table, query in _LISTED.items():
        for id_, number, length, changed in connection.execute(query).fetchall() if table in known else ():
            key = id_.decode(errors="replace") if isinstance(id_, bytes) else ""
            if key and isinstance(number, int) and isinstance(length, int):
                sessions.setdefault(key, (table, number, length, changed if isinstance(changed, int | float) else 0))
    return sessions


def _conversation(connection: apsw.Connection, key: str, row: _Row, cancel: CancelToken | None) -> Conversation | None:
    """Return the session in a listed row; None if it doesn't exist any more, or its entries can't be read."""
    times = "created_at, updated_at" if row[0] == _NEWER else "NULL, NULL"
    found = connection.execute(_ONE.format(table=row[0], times=times), (row[1],)).fetchone()
    folder, created, updated, data = found or (None, None, None, None)
    if not isinstance(data, bytes):
        return None
    project = folder.decode(errors="replace") if isinstance(folder, bytes) else ""
    metadata = SessionMetadata.of(key, project=project, started=created)
    parser = _Parser(metadata=metadata)
    messages = whole(parser, parser.entries(data, cancel))
    metadata.ended = metadata.ended or seconds(updated)
    return parser.conversation(key, messages)


class _Parser(LineParser, kw_only=True):
    def entries(self, data: bytes, cancel: CancelToken | None) -> Iterator[list[Message]]:
        """Yield the messages of each entry, one entry at a time. Raises Cancelled."""
        try:
            for number, value in enumerate(list_in(data, "history")):
                if cancel is not None:
                    cancel.checkpoint()
                if number == _MAX_ENTRIES:
                    self.count_unknown("entry of a session that is too long")
                    return
                yield self.entry(mapping(value))
        except ValueError:
            self.count_unknown("no JSON")

    def entry(self, value: Mapping[str, Any]) -> list[Message]:
        """Return the user's prompt or the tools' results, and the answer, as messages."""
        user, answer, request = map(mapping, map(value.get, ("user", "assistant", "request_metadata")))
        prompt_time = seconds(user.get("timestamp"), request.get("request_start_timestamp_ms"))
        answer_time = seconds(request.get("stream_end_timestamp_ms")) or prompt_time
        self.use_model(request.get("model_id"))
        prompt = self.next_message(self._prompt_parts(user), time=prompt_time)
        return [*prompt, *self.next_message(self._answer_parts(answer), time=answer_time)]

    def _prompt_parts(self, user: Mapping[str, Any]) -> Iterator[Part]:
        for kind, value in mapping(user, "content").items():
            prompt = mapping(value)
            if kind in ("Prompt", "CancelledToolUses"):
                pictures = ["[image]" for _ in items(user, "images")[:_MAX_ATTACHED]]
                yield Part("user", "text", "\n".join(filter(None, (string(prompt, "prompt"), *pictures))))
            elif kind != "ToolUseResults":
                self.count_unknown(kind)
            for result in objects(prompt, "tool_use_results"):
                blocks = objects(result, "content")
                texts = (string(block, "Text") or tool_input(block, "Json") for block in blocks)
                id, failed = string(result, "tool_use_id"), result.get("status") in _FAILED
                yield tool_result("\n".join(filter(None, texts)), "", id, failed)

    def _answer_parts(self, answer: Mapping[str, Any]) -> Iterator[Part]:
        for kind, value in answer.items():
            part = mapping(value)
            if kind not in ("Response", "ToolUse"):
                self.count_unknown(kind)
                continue
            yield Part("assistant", "text", string(part, "content"))
            for call in objects(part, "tool_uses"):
                yield tool_call(tool_input(call, "args"), string(call, "name"), string(call, "id"))


# --- Files -----------------------------------------------------------------------------------------------------------


class KiroParser(LineParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind, data = string(value, "kind"), mapping(value, "data")
        if kind not in _LINES:
            if kind != "Clear":
                self.count_unknown(kind)
            return []
        author: Role = "assistant" if kind == "AssistantMessage" else "user"
        parts = [part for block in items(data, "content") for part in self._block(mapping(block), author)]
        id_ = string(data, "message_id")
        time = seconds(member(data, "meta", "timestamp"), value.get("timestamp"))
        return self.next_message(parts, line, id=id_, time=time)

    def _block(self, block: Mapping[str, Any], author: Role) -> Iterator[Part]:
        kind, data = block.get("kind"), block.get("data")
        body = mapping(data)
        if kind == "text":
            yield Part(author, "text", string(data))
        elif kind == "thinking":
            yield Part("assistant", "thinking", string(data) or string(body, "text"))
        elif kind == "image":
            yield Part(author, "text", image_mark(data))
        elif kind == "toolUse":
            name, id = clean(body, "name"), clean(body, "toolUseId")
            arguments = {key: item for key, item in mapping(body, "input").items() if key != "__tool_use_purpose"}
            yield tool_call(tool_input(arguments), name, id)
        elif kind == "toolResult":
            id, failed = clean(body, "toolUseId"), body.get("status") in _FAILED
            texts = (string(block, "data") or tool_input(block, "data") for block in objects(body, "content"))
            yield tool_result("\n".join(filter(None, texts)), "", id, failed)
        else:
            self.count_unknown(f"block {kind}" if isinstance(kind, str) else None)


class KiroFormat(LineFormat):
    agent = _AGENT
    parses = KiroParser
    speech_marks = (b'"kind":"Prompt"', b'"kind":"AssistantMessage"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return string(value, "kind") in _LINES and isinstance(member(value, "data", "content"), list)

    def begin(self, path: str) -> KiroParser:
        described = sidecar(f"{path.removesuffix('.jsonl')}.json")
        metadata = SessionMetadata.of(
            os.path.basename(path).partition(".")[0],
            title=described.get("title"),
            project=described.get("cwd"),
            parent=described.get("parent_session_id"),
            started=described.get("created_at"),
        )
        parser = KiroParser(metadata=metadata)
        state = mapping(described, "session_state", "rts_model_state")
        parser.use_model(member(state, "model_info", "model_id"))
        return parser


# --- Events ----------------------------------------------------------------------------------------------------------


class KiroEventParser(LineParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        event = mapping(value, "payload")
        side = self.metadata.parent != ""
        id_, time = string(value, "id"), seconds(value.get("timestamp"))
        return self.next_message(self._parts(string(event, "type"), event), line, id=id_, time=time, side=side)

    def _parts(self, kind: str, event: Mapping[str, Any]) -> Iterator[Part]:
        if kind == "user":
            pictures = [image_mark(image) for image in items(event, "images")[:_MAX_ATTACHED]]
            files = (mapping(document) for document in items(event, "documents")[:_MAX_ATTACHED])
            named = (attached(string(document, "displayName")) for document in files)
            yield Part("user", "text", "\n".join(filter(None, (content(event, "content"), *pictures, *named))))
        elif kind == "assistant":
            operation = string(event, "operationType") or "Say"
            if operation not in _OPERATIONS:
                self.count_unknown(f"assistant {operation}")
            yield Part(*_OPERATIONS.get(operation, ("assistant", "text")), content(event, "content"))
        elif kind in ("tool_call", "sub_agent_start"):
            yield from self._call(event)
        elif kind in ("tool_result", "sub_agent_complete"):
            id, result = _call_id(event), event.get("content", event.get("response"))
            text = content(result) if isinstance(result, list) else tool_input(result)
            yield tool_result(text, "", id, event.get("success") is False)
        elif kind not in _IGNORED_EVENTS and (kind, event.get("kind")) != ("tombstone", "summarization"):
            self.count_unknown(kind)

    def _call(self, event: Mapping[str, Any]) -> Iterator[Part]:
        """Yield a call of a tool or a sub-agent once: some are repeated when the user has approved them."""
        id_ = _call_id(event)
        if id_ in self.calls:
            return
        name = clean(string(event, "toolName") or string(event, "subAgentName") or "tool")
        yield tool_call(tool_input(event.get("args", event.get("prompt"))), name, id_)


class KiroEventFormat(LineFormat):
    agent = _AGENT
    parses = KiroEventParser
    speech_marks = (b'"payload":{"type":"user"', b'"operationType":"Say"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return (
            "type" not in value
            and isinstance(value.get("timestamp"), str)
            and string(value, "payload", "type") in _EVENTS
        )

    def begin(self, path: str) -> KiroEventParser:
        folder = os.path.dirname(path)
        described = sidecar(os.path.join(folder, "session.json"))
        forked = described.get("createdReason") == "tangent"
        folders = (*items(described, "workspacePaths"), *items(described, "rootPaths"))
        metadata = SessionMetadata.of(
            string(described, "id") or os.path.basename(folder),
            title=described.get("title"),
            untitled=(_UNTITLED,),
            project=next(filter(None, map(string, folders)), ""),
            parent="" if forked else clean(described, "parentSessionId"),
            started=described.get("createdAt"),
        )
        parser = KiroEventParser(metadata=metadata)
        parser.use_model(described.get("modelId"))
        return parser


def _call_id(event: Mapping[str, Any]) -> str:
    return clean(string(event, "toolCallId") or string(event, "subSessionId"))


# --- Documents -------------------------------------------------------------------------------------------------------


class KiroDocument(SessionDocument):
    agent = _AGENT

    def matches(self, path: str, head: bytes) -> bool:
        return _DOCUMENTS in path and head.lstrip().startswith(b"{") and b'"history"' in head

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        folder = os.path.dirname(path)
        project = string(value, "workspaceDirectory") or string(value, "workspacePath")
        id_ = string(value, "sessionId") or os.path.basename(path).removesuffix(".json")
        title, created = one_line(value, "title"), export_reader.listed_time(folder, id_)
        metadata = SessionMetadata.of(
            _EDITORS + clean(id_.removeprefix(_EDITORS)),
            title=title,
            untitled=(_UNTITLED,),
            project=project,
            started=created,
        )
        executions = _executions(os.path.dirname(os.path.dirname(folder)), project)
        parser = _DocumentParser(metadata=metadata, executions=executions, cancel=cancel)
        parser.use_model(value.get("selectedModel"))
        messages = tuple(parser.messages([mapping(entry) for entry in items(value, "history")]))
        return parser.conversation("", messages)


class _Execution(NamedTuple):
    path: str
    started: float | None


class _DocumentParser(LineParser, kw_only=True):
    executions: dict[str, _Execution] = msgspec.field(default_factory=dict)
    cancel: CancelToken | None = None

    def messages(self, entries: list[Mapping[str, Any]]) -> Iterator[Message]:
        for number, entry in enumerate(entries):
            message = mapping(entry, "message")
            role, text = string(message, "role"), content(message, "content")
            id_ = string(message, "id")
            if role == "user":
                answer = entries[number + 1] if number + 1 < len(entries) else {}
                execution = self._execution(answer)
                asked = [Part("user", "text", text)]
                yield from self.next_message(asked, id=id_, time=execution and execution.started)
            elif role == "assistant":
                yield from self._answer(entry, text, id_)
            elif role != "tool":  # results are in the executions
                self.count_unknown(f"role {role}" if role else None)

    def _execution(self, entry: Mapping[str, Any]) -> _Execution | None:
        return self.executions.get(string(entry, "executionId"))

    def _answer(self, entry: Mapping[str, Any], text: str, id_: str) -> Iterator[Message]:
        execution = self._execution(entry)
        parts = list(self._actions(execution, {string(entry, "executionId")}, 1)) if execution else []
        if not any(part.text.strip() for part in parts):
            logs = (string(log, "completion") for log in items(entry, "promptLogs"))
            parts = [Part("assistant", "text", text or "\n\n".join(filter(None, logs)))]
        yield from self.next_message(parts, id=id_, time=execution and execution.started)

    def _actions(self, execution: _Execution, seen: set[str], depth: int) -> Iterator[Part]:
        """Yield the parts of an execution's actions, including executions that it has started."""
        try:
            for action in export_reader.conversations(execution.path, self.cancel, array="actions"):
                yield from self._action(action)
                started = string(action, "output", "executionId")
                if started not in self.executions or started in seen:
                    continue
                seen.add(started)
                if depth < _MAX_NESTED:
                    yield from self._actions(self.executions[started], seen, depth + 1)
                else:
                    self.count_unknown("execution within too many others")
        except (OSError, ValueError, PathRefused):
            self.count_unknown("execution that can't be read")

    def _action(self, action: Mapping[str, Any]) -> Iterator[Part]:
        kind, sent, result = string(action, "actionType"), mapping(action, "input"), action.get("output")
        given = mapping(result)
        text = next((string(given[key]) for key in ("message", "output", "response") if string(given, key)), "")
        if kind == "say":
            yield Part("assistant", "text", text)
        elif kind not in _NO_ACTIONS:
            name = clean(string(sent, "toolName") or kind)
            yield tool_call(tool_input(sent.get("toolArgs", sent)), name)
            yield tool_result(text or (result if isinstance(result, str) else ""), name)


def _executions(storage: str, project: str) -> dict[str, _Execution]:
    """Return the executions in a project's folder, by id; empty if there are none."""
    digest = hashlib.sha256(project.encode(errors="replace")).hexdigest()[:32]
    folder = os.path.join(storage, digest, _EXECUTIONS)
    try:
        return _executions_in(folder, os.stat(folder, follow_symlinks=False).st_mtime_ns) if project else {}
    except (OSError, ValueError):
        return {}


@functools.lru_cache(maxsize=4)  # all sessions of a project have their executions in one folder
def _executions_in(folder: str, _changed: int) -> dict[str, _Execution]:
    """Return the executions in a folder; `_changed` is its time, a key of the cache. Raises OSError."""
    found: dict[str, _Execution] = {}
    for name in sorted(os.listdir(folder))[:_MAX_EXECUTIONS]:
        head = first_bytes(os.path.join(folder, name), _HEAD)
        if match := _EXECUTION.search(head):
            began = _EXECUTED.search(head)
            id_ = match[1].decode(errors="replace")
            found[id_] = _Execution(os.path.join(folder, name), seconds(int(began[1])) if began else None)
    return found
