"""Transcripts of Pi, and of OpenClaw, Oh My Pi and others made from Pi: a tree of entries, one per line.

Written from Pi's session format (version 3, https://pi.dev/docs/latest/session-format), and from OpenClaw's public
source and documentation between February and November 2026. OpenClaw stores
`~/.openclaw/agents/<agent>/sessions/<session>.jsonl`, since 2026.8 in a database (`openclaw_database.py`), Pi
`~/.pi/agent/sessions/--<folder>--/<time>_<session>.jsonl` (its public source, March 2026), and Oh My Pi the same below
`~/.omp`, with a title in the header (January 2026) or in a line of its own in front of it (July 2026). `parentSession`
in the header, earlier `branchedFrom`, is the session that the user forked, not one that started a sub-agent. A fork
copies entries with their ids and times. Pi's totals include the usage of summaries and of tools that asked a model
(`usage-totals.ts`, autumn 2026); other requests, such as those that fill a cache, have lines of their own. A
sub-agent's session of Oh My Pi and Gajae-Code is in a folder named as the transcript of its parent session; one of
Prime Agent is in `session-artifacts`, has an `rlmDepth` above 0, and `parentSession` names its parent, whose transcript
repeats its usage (`child_usage_attributed`). Senpi and Kimchi write Pi's lines (public sources of all five, August
2026).

A line is an entry of a tree; all branches are read, in the order in which they were written. If the `parentId` of an
entry isn't the entry before it, the user went back to that parent, and abandoned the branch between them. Text written
neither by the user nor by the agent has the role "system"; heartbeats and silent replies are left out.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from engine.base.bounded_json import DividedStrings, bounded
from engine.corpus.safe_open import first_bytes, open_binary
from engine.corpus.transcripts.agents import OPENCLAW_ARCHIVED
from engine.corpus.transcripts.formats import LineFormat, LineParser, Part, digest, tool_result
from engine.corpus.transcripts.json_values import mapping, member, objects, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import cached_by_version, parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.parsers import openclaw_injected_text as injected
from engine.corpus.transcripts.token_usage import Usage, counted, dollars

_ARCHIVE = re.compile(rf"\.jsonl{OPENCLAW_ARCHIVED}$")
_COPY = re.compile(r"\.checkpoint\.[0-9a-fA-F-]{36}\.jsonl$|\.trajectory\.jsonl$|\.jsonl\.bak\b")
_NAME_START = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_")  # of a session of Pi
_NAME_END = re.compile(r"(?:\.checkpoint\.[0-9a-fA-F-]{36}|\.trajectory)?\.jsonl.*$", re.DOTALL)
_RUNTIME_CONTEXT = "openclaw.runtime-context"

_SILENT_LINES = frozenset(
    """active_tools_change agent_status archive child_usage_attributed context_edit credential_pin custom git_state
    label leaf mcp_tool_selection mode_change model_change reset reset_boundary service_tier_change session_init
    session_state thinking_level_change ttsr_injection""".split()
)
_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})
_CALL_BLOCKS = frozenset({"toolCall", "toolUse", "tool_use", "tool_call", "functionCall"})
_CALL_IDS = "toolCallId tool_use_id toolUseId tool_call_id".split()
"""Members of a tool result with the id of its call."""
_RESULT_BLOCKS = frozenset({"toolResult", "tool_result"})
_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom", "system"})
_RUN: Mapping[str, tuple[str, str]] = {"bashExecution": ("command", "bash"), "pythonExecution": ("code", "python")}
"""By role: the member with the code that the user ran, and the tool's name."""

_DREAM = "dreaming-narrative-"
_DREAMED = re.compile(rf"(?:agent:[^:]*:)?{_DREAM}", re.IGNORECASE)
_CRON_RUN = re.compile(r"agent:[^:]+:cron:[^:]+:run:[^:]+(?::|$)", re.IGNORECASE)
_BLOCK = 256 * 1024
_HEAD = 16 * 1024
"""Bytes at the beginning of a transcript that are searched for its first line."""


class StoredSession(NamedTuple):
    label: str = ""
    """Session name given by the user."""
    generated: bool = False
    parent: str = ""
    """Id of the session that started this one as its sub-agent."""


def is_generated(*, key: object = None, run: object = None) -> bool:
    """Whether a session with this key, or a run with this id, is internal to the agent."""
    if isinstance(run, str) and run.startswith(_DREAM):
        return True
    return isinstance(key, str) and bool(_DREAMED.match(key.strip()) or _CRON_RUN.match(key.strip()))


def stored_session(folder: str, session: str) -> StoredSession:
    """Return the entry of a session in the folder's `sessions.json`; an empty one if there is none."""
    return _sessions(os.path.join(folder, "sessions.json")).get(session, StoredSession())


@cached_by_version
def _sessions(path: str) -> Mapping[str, StoredSession]:
    """Read all entries of a file by session id. Raises OSError, `PathRefused`."""
    import ijson

    ids: dict[str, str] = {}
    sessions: dict[str, StoredSession] = {}  # `parent` holds a key until all ids are known
    with open_binary(path) as file:
        events = ijson.basic_parse(DividedStrings(file), use_float=True, buf_size=_BLOCK)
        try:
            for key, value in ijson.kvitems(ijson.parse(bounded(events)), ""):
                entry = mapping(value)
                if session := string(entry, "sessionId"):
                    label, parent = clean(entry, "label"), string(entry, "spawnedBy")
                    ids[key] = clean(session)
                    sessions[session] = StoredSession(label, is_generated(key=key) or is_generated(key=parent), parent)
        except (ijson.JSONError, ValueError):  # truncated: use the complete part
            pass
    return {session: stored._replace(parent=ids.get(stored.parent, "")) for session, stored in sessions.items()}


class OpenClawParser(LineParser, kw_only=True):
    archive: bool = False
    headed: bool = False
    asked: bool = False
    side: bool = False
    lines: dict[int, int] = msgspec.field(default_factory=dict)
    """Line number of each entry, by the digest of its id."""
    last: int = 0
    """Line number of the last entry."""
    linked: bool = False
    """Whether entries name their parents."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        data = mapping(value, "data")
        for record in (value, data):
            if is_generated(key=record.get("sessionKey"), run=record.get("runId")):
                self.metadata.generated = True
        self.take_branch(value, line)
        kind = value.get("type")
        if kind == "message":
            message = mapping(value, "message")
            return self._message(message, value, line)
        if kind == "session":
            self._head(value)
        elif kind == "session_info":
            self.metadata.title = one_line(value, "name") or self.metadata.title
        elif kind in ("title", "title_change"):  # Oh My Pi's, in front of the session: the header can have an older one
            self.metadata.title = one_line(value, "title") or self.metadata.title
        elif kind in ("compaction", "branch_summary"):
            self._use(self._only_model(), value.get("usage"), value)
            return self._emit([Part("system", "text", string(value, "summary"))], value, line, value.get("timestamp"))
        elif kind == "custom_message":
            return self._emit(self._custom(value), value, line, value.get("timestamp"))
        elif kind in ("usage", "model_usage"):  # of a separate request, such as one that fills a cache
            self._use(value.get("model"), value.get("usage"), value)
        elif not isinstance(kind, str) or kind not in _SILENT_LINES:
            self.count_unknown(kind)
        return []

    def take_branch(self, entry: Mapping[str, Any], line: int) -> None:
        """Mark the entries since this one's parent as abandoned.

        Without parent it begins a branch only if it is the user's, and other entries have parents.
        """
        id, parent = entry.get("id"), entry.get("parentId", "")
        if not isinstance(id, str) or entry.get("type") == "session":
            return
        origin = self.lines.get(digest(parent)) if isinstance(parent, str) else None
        self.linked = self.linked or origin is not None
        if parent is None and self.linked and member(entry, "message", "role") == "user":
            origin = 0
        if origin is not None and origin < self.last:
            first = origin + 1 if origin else min(self.lines.values())
            self.metadata.mark_abandoned(first, line - 1, origin)
        self.lines[digest(id)] = self.last = line

    def _use(self, model: object, counts: object, entry: Mapping[str, Any]) -> None:
        """Add the usage in an entry, which a fork has copied with its id and time."""
        id, time = string(entry, "id"), string(entry, "timestamp")
        self.use(model, _usage(mapping(counts)), copied=f"{id} {time}" if id and time else "")

    def _only_model(self) -> str:
        """Return the session's model, for usage recorded without one; empty if it has none or several."""
        return next(iter(self.metadata.usage)) if len(self.metadata.usage) == 1 else ""

    def _head(self, value: Mapping[str, Any]) -> None:
        """Read the metadata in the first `session` line; later lines were copied from other sessions."""
        if self.headed:
            return
        self.headed = True
        metadata = self.metadata
        metadata.id = clean(value, "id") or metadata.id
        metadata.title = metadata.title or one_line(value, "title")
        metadata.project = clean(value, "cwd")
        metadata.started = seconds(value.get("timestamp")) or metadata.started
        if value.get("rlmDepth"):  # of a sub-agent of Prime Agent
            metadata.parent = clean(_session_id(os.path.basename(string(value, "parentSession"))))
            self.side = True

    def _message(self, message: Mapping[str, Any], entry: Mapping[str, Any], line: int) -> list[Message]:
        role = message.get("role")
        content = message.get("content")
        parts: Iterable[Part]
        if role == "user":
            parts = self._user(message)
        elif role == "assistant":
            self._use(message.get("responseModel") or message.get("model"), message.get("usage"), entry)
            author_role: Role = "system" if _between_sessions(message) else "assistant"
            parts = self._blocks(content, author_role)
        elif role == "toolResult":
            self._use(self._only_model(), message.get("usage"), entry)  # of requests that the tool made
            name, id, failed = string(message, "toolName"), string(message, "toolCallId"), _has_failed(message)
            parts = [tool_result(self._flat(content), name, id, failed)]
        elif run := _RUN.get(string(role)):
            code, tool = run
            failed = _has_failed(message)
            parts = [
                Part("user", "tool-call", string(message, code), tool, failed=failed),
                tool_result(string(message, "output"), tool, failed=failed),
            ]
        elif role == "fileMention":  # the program reads files that the user names with @
            parts = _mentioned(message)
        elif role in ("custom", "hookMessage"):
            parts = self._custom(message)
        elif role in ("branchSummary", "compactionSummary"):
            parts = [Part("system", "text", string(message, "summary"))]
        elif role in ("system", "developer"):
            parts = [Part("system", "text", self._flat(content))]
        else:
            self.count_unknown(f"role {role}" if isinstance(role, str) else None)
            return []
        return self._emit(parts, entry, line, message.get("timestamp"), entry.get("timestamp"))

    def _emit(self, parts: Iterable[Part], entry: Mapping[str, Any], line: int, *times: object) -> list[Message]:
        """Return the parts with text as one message."""
        return self.next_message(parts, line, id=string(entry, "id"), time=seconds(*times), side=self.side)

    def _user(self, message: Mapping[str, Any]) -> list[Part]:
        """Return the parts of a user's message, parsed as a whole: blocks may split an envelope from its contents."""
        blocks = self._blocks(message.get("content"), "user")
        text = "\n".join(part.text for part in blocks if part.kind == "text")
        if not self.asked and text.strip():
            self.asked = True
            # The transcript of a scheduled run begins with its prompt; its key was removed with its entry in the store.
            if self.archive and injected.is_cron_prompt(text):
                self.metadata.generated = True
        others = [part for part in blocks if part.kind != "text"]
        if _between_sessions(message):
            return [Part("system", "text", injected.without_runtime_context(text)), *others]
        parts = [
            Part("user" if origin == "user" else "system", "text", piece)
            for origin, piece in injected.pieces(text)
            if origin != "ignored"
        ]
        return parts + others

    def _blocks(self, content: object, role: Role) -> list[Part]:
        """Return the blocks of a message in order; consecutive texts are joined."""
        parts: list[Part] = []
        for block in content if isinstance(content, list) else [content]:
            part = self._block(block, role)
            if part is None:
                continue
            if parts and part[:2] == parts[-1][:2] == (role, "text"):
                part = Part(role, "text", f"{parts.pop().text}\n{part.text}")
            parts.append(part)
        if role != "user":
            parts = [part for part in (_agent_part(part) for part in parts) if part]
        return parts

    def _block(self, block: object, role: Role) -> Part | None:
        if isinstance(block, str):
            return Part(role, "text", block)
        if block is None:
            return None
        block = mapping(block)
        kind = block.get("type")
        if not isinstance(kind, str):
            self.count_unknown("block without a type")
            return None
        if kind in _TEXT_BLOCKS:
            return Part(role, "text", string(block, "text"))
        if kind == "thinking":
            return Part(role, "thinking", string(block, "thinking"))
        if kind in _CALL_BLOCKS:
            arguments = block.get("arguments", block.get("input", block.get("args")))
            return Part(role, "tool-call", tool_input(arguments), string(block, "name"), string(block, "id"))
        if kind in _RESULT_BLOCKS:
            result = block.get("content", block.get("text"))
            name = string(block, "name") or string(block, "toolName")
            id = next((named for key in _CALL_IDS if (named := string(block, key))), "")
            return tool_result(self._flat(result), name, id, _has_failed(block))
        if kind in ("image", "image_url", "audio", "document", "file"):
            return Part(role, "text", f"[{kind.removesuffix('_url')}]")
        self.count_unknown(f"block {kind}")
        return None

    def _flat(self, content: object) -> str:
        if isinstance(content, dict) and "type" not in content:
            return tool_input(content)
        return "\n".join(part.text for part in self._blocks(content, "user"))

    def _custom(self, message: Mapping[str, Any]) -> list[Part]:
        """Return an extension's text for the agent, if it was displayed to the user."""
        if message.get("display") is False or message.get("customType") == _RUNTIME_CONTEXT:
            return []
        return [Part("system", "text", self._flat(message.get("content")))]


class OpenClawFormat(LineFormat):
    """Format of OpenClaw's sessions, and of other agents with the same format."""

    # The last one is speech after a thought; a tool result is one text.
    agent = "openclaw"
    parses = OpenClawParser
    speech_marks: tuple[bytes, ...] = (
        b'"role":"user","content":',
        b'"role":"assistant","content":[{"type":"text"',
        b'"},{"type":"text","text":"',
    )
    title_marks: tuple[bytes, ...] = (b'"session_info"', b'"type":"title"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return _is_header(value) or _is_message(value)

    def begin(self, path: str) -> OpenClawParser:
        """Return a new parser. The file's name has the session's id, and shows whether it is an archive or a copy."""
        folder, name = os.path.split(path)
        session = _session_id(name)
        stored = stored_session(folder, session)
        generated = stored.generated or bool(_COPY.search(name))
        parent = stored.parent or _parent_session(folder)
        metadata = SessionMetadata.of(session, title=stored.label.strip(), parent=parent, generated=generated)
        return OpenClawParser(metadata=metadata, archive=bool(_ARCHIVE.search(name)), side=bool(parent))


def _is_header(value: Mapping[str, Any]) -> bool:
    return (
        value.get("type") == "session" and isinstance(value.get("id"), str) and bool(value.keys() & {"cwd", "version"})
    )


def _is_message(value: Mapping[str, Any]) -> bool:
    message = value.get("message")
    return value.get("type") == "message" and isinstance(message, dict) and string(message, "role") in _ROLES


def _usage(counts: Mapping[str, Any]) -> Usage:
    usage = counted(counts, "input output cacheRead cacheWrite")
    usage.cost = dollars(member(counts, "cost", "total"))
    return usage


def _parent_session(folder: str) -> str:
    """Return the id of the session with the transcript `<folder>.jsonl`; empty if there is none."""
    path = f"{folder}.jsonl"
    if "\0" in path or not os.path.isfile(path):  # usually; opening one without following links takes much longer
        return ""
    lines = map(parse_line, first_bytes(path, _HEAD).split(b"\n"))
    return next((clean(line, "id") for line in lines if line and _is_header(line)), "")


def _has_failed(result: Mapping[str, Any]) -> bool:
    code = result.get("exitCode")
    return True in (result.get("isError"), result.get("is_error")) or (isinstance(code, int) and code != 0)


def _mentioned(message: Mapping[str, Any]) -> Iterator[Part]:
    for file in objects(message, "files"):
        yield Part("system", "tool-call", string(file, "path"), "read")
        yield tool_result(string(file, "content"), "read")


def _session_id(name: str) -> str:
    return _NAME_END.sub("", _NAME_START.sub("", name, count=1))


def _between_sessions(message: Mapping[str, Any]) -> bool:
    return member(message, "provenance", "kind") in ("inter_session", "internal_system")


def _agent_part(part: Part) -> Part | None:
    """Return a part of an agent's message without inserted text; None if nothing is left."""
    if part.kind != "text":
        return part
    text = injected.without_runtime_context(part.text)
    return None if injected.is_silent(text) or injected.is_heartbeat_answer(text) else part._replace(text=text)
