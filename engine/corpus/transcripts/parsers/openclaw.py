"""OpenClaw: a database of each agent, or `~/.openclaw/agents/<agent>/sessions/<session>.jsonl`; also Pi and Oh My Pi.

Written from the session format of Pi (version 3, https://pi.dev/docs/latest/session-format), which OpenClaw stores, and
from OpenClaw's public source and documentation between February and November 2026. Since 2026.8 (September 2026),
`~/.openclaw/agents/<agent>/agent/openclaw-agent.sqlite` has the lines of the former files in `transcript_events`, one
row each; since 2026.9.6, long ones are compressed. `session_windows` have a session's key, and that of the session that
started it as its sub-agent; a key has one session after the other, the current one's name is in `session_nodes`.
Sessions that were reset or deleted are in `session_transcript_archives`, unused ones perhaps in files in
`sessions/cold`. Pi stores `~/.pi/agent/sessions/--<folder>--/<time>_<session>.jsonl` (its public source, March 2026),
and Oh My Pi the same below `~/.omp`, with a title in the header (January 2026) or in a line of its own in front of it
(July 2026). `parentSession` in the header, earlier `branchedFrom`, is the session that the user forked, so it makes no
part of it. It copies entries with their ids and times. Pi's totals include the usage of summaries and of tools that
asked a model (`usage-totals.ts`, autumn 2026); requests such as those that fill a cache have lines of their own.

A line is an entry of a tree; all branches are read, in the order in which they were written. If the `parentId` of an
entry isn't the entry before it, the user went back to that parent, and abandoned the branch between them. Text written
neither by the user nor by the agent has the role "system"; heartbeats and silent replies are left out.
"""

import functools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from engine.base.bounded_json import bounded, decode_json
from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.agents import OPENCLAW_ARCHIVED
from engine.corpus.transcripts.database_format import RowFormat, as_text, columns, data_of, lines_in, unpacked, whole
from engine.corpus.transcripts.export_reader import read_branches
from engine.corpus.transcripts.formats import Conversation, LineParser, digest
from engine.corpus.transcripts.json_values import mapping, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line
from engine.corpus.transcripts.message_builder import Part, next_turn
from engine.corpus.transcripts.messages import Message, Role, SessionFacts, clean, one_line
from engine.corpus.transcripts.parsers import openclaw_injected_text as injected
from engine.corpus.transcripts.token_usage import Usage, dollars, tokens

_AGENT = "openclaw"
_ARCHIVE = re.compile(rf"\.jsonl{OPENCLAW_ARCHIVED}$")
_COPY = re.compile(r"\.checkpoint\.[0-9a-fA-F-]{36}\.jsonl$|\.trajectory\.jsonl$|\.jsonl\.bak\b")
_NAME_START = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_")  # of a session of Pi
_NAME_END = re.compile(r"(?:\.checkpoint\.[0-9a-fA-F-]{36}|\.trajectory)?\.jsonl.*$", re.DOTALL)
_RUNTIME_CONTEXT = "openclaw.runtime-context"

_SILENT_LINES = frozenset(
    """active_tools_change agent_status context_edit custom git_state label leaf model_change reset
    service_tier_change session_state thinking_level_change ttsr_injection""".split()
)
_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})
_CALL_BLOCKS = frozenset({"toolCall", "toolUse", "tool_use", "tool_call", "functionCall"})
_RESULT_BLOCKS = frozenset({"toolResult", "tool_result"})
_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom", "system"})

_DREAM = "dreaming-narrative-"
_DREAMED = re.compile(rf"(?:agent:[^:]*:)?{_DREAM}", re.IGNORECASE)
_CRON_RUN = re.compile(r"agent:[^:]+:cron:[^:]+:run:[^:]+(?::|$)", re.IGNORECASE)
_BLOCK = 256 * 1024


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
    path = os.path.join(folder, "sessions.json")
    try:
        stat = os.stat(path)
        return _sessions(path, stat.st_mtime_ns, stat.st_size).get(session, StoredSession())
    except (OSError, ValueError, PathRefused):
        return StoredSession()


@functools.lru_cache(maxsize=16)
def _sessions(path: str, _mtime: int, _size: int) -> Mapping[str, StoredSession]:
    """Read all entries of a file by session id; cached by the file's time and size. Raises OSError."""
    import ijson

    ids: dict[str, str] = {}
    sessions: dict[str, StoredSession] = {}  # `parent` holds a key until all ids are known
    with open_binary(path) as file:
        events = ijson.basic_parse(file, use_float=True, buf_size=_BLOCK)
        try:
            for key, value in ijson.kvitems(ijson.parse(bounded(events)), ""):
                entry = mapping(value)
                if session := string(entry.get("sessionId")):
                    label, starter = clean(string(entry.get("label"))), string(entry.get("spawnedBy"))
                    ids[key] = clean(session)
                    sessions[session] = StoredSession(
                        label, is_generated(key=key) or is_generated(key=starter), starter
                    )
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
        data = mapping(value.get("data"))
        for record in (value, data):
            if is_generated(key=record.get("sessionKey"), run=record.get("runId")):
                self.facts.generated = True
        self.take_branch(value, line)
        kind = value.get("type")
        if kind == "message":
            message = mapping(value.get("message"))
            return self._message(message, value, line)
        if kind == "session":
            self._head(value)
        elif kind == "session_info":
            self.facts.title = clean(string(value.get("name"))).strip() or self.facts.title
        elif kind == "title":  # Oh My Pi's, in front of the session: the header can have an older one
            self.facts.title = clean(string(value.get("title"))).strip() or self.facts.title
        elif kind in ("compaction", "branch_summary"):
            self._use(self._only_model(), value.get("usage"), value)
            return self._emit(
                [Part("system", "text", string(value.get("summary")))], value, line, value.get("timestamp")
            )
        elif kind == "custom_message":
            return self._emit(self._custom(value), value, line, value.get("timestamp"))
        elif kind == "child_usage_attributed":  # work of Prime Agent for a message, without a session
            self._use(self._only_model(), value.get("childUsage"), value)
        elif kind == "usage":  # of a separate request, such as one that fills a cache
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
        if parent is None and self.linked and mapping(entry.get("message")).get("role") == "user":
            origin = 0
        if origin is not None and origin < self.last:
            first = origin + 1 if origin else min(self.lines.values())
            self.facts.leave(first, line - 1, origin)
        self.lines[digest(id)] = self.last = line

    def _use(self, model: object, counts: object, entry: Mapping[str, Any]) -> None:
        """Add the usage in an entry, which a fork has copied with its id and time."""
        id, time = string(entry.get("id")), string(entry.get("timestamp"))
        self.use(model, _usage(mapping(counts)), copied=f"{id} {time}" if id and time else "")

    def _only_model(self) -> str:
        """Return the session's model, for usage recorded without one; empty if it has none or several."""
        return next(iter(self.facts.usage)) if len(self.facts.usage) == 1 else ""

    def _head(self, value: Mapping[str, Any]) -> None:
        """Read the facts in the first `session` line; later ones were copied from other sessions."""
        if self.headed:
            return
        self.headed = True
        facts = self.facts
        facts.id = clean(string(value.get("id"))) or facts.id
        facts.title = facts.title or clean(string(value.get("title"))).strip()
        facts.project = clean(string(value.get("cwd")))
        facts.started = seconds(value.get("timestamp")) or facts.started

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
            parts = [Part("tool", "tool-result", self._flat(content), string(message.get("toolName")))]
        elif role == "bashExecution":
            parts = [
                Part("user", "tool-call", string(message.get("command")), "bash"),
                Part("tool", "tool-result", string(message.get("output")), "bash"),
            ]
        elif role in ("custom", "hookMessage"):
            parts = self._custom(message)
        elif role in ("branchSummary", "compactionSummary"):
            parts = [Part("system", "text", string(message.get("summary")))]
        elif role == "system":
            parts = [Part("system", "text", self._flat(content))]
        else:
            self.count_unknown(f"role {role}" if isinstance(role, str) else None)
            return []
        return self._emit(parts, entry, line, message.get("timestamp"), entry.get("timestamp"))

    def _emit(self, parts: Iterable[Part], entry: Mapping[str, Any], line: int, *times: object) -> list[Message]:
        """Return the parts with text as one message."""
        return next_turn(self, parts, line, id=string(entry.get("id")), time=seconds(*times), side=self.side)

    def _user(self, message: Mapping[str, Any]) -> list[Part]:
        """Return the parts of a user's message, parsed as a whole: blocks may split an envelope from its contents."""
        blocks = self._blocks(message.get("content"), "user")
        text = "\n".join(part.text for part in blocks if part.kind == "text")
        if not self.asked and text.strip():
            self.asked = True
            # The transcript of a scheduled run begins with its prompt; its key was removed with its entry in the store.
            if self.archive and injected.is_cron_prompt(text):
                self.facts.generated = True
        others = [part for part in blocks if part.kind != "text"]
        if _between_sessions(message):
            return [Part("system", "text", injected.without_runtime_context(text)), *others]
        parts = [
            Part("user" if origin == "person" else "system", "text", piece)
            for origin, piece in injected.pieces(text)
            if origin != "nobody"
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
            parts = [part for part in (_of_agent(part) for part in parts) if part]
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
            return Part(role, "text", string(block.get("text")))
        if kind == "thinking":
            return Part(role, "thinking", string(block.get("thinking")))
        if kind in _CALL_BLOCKS:
            arguments = block.get("arguments", block.get("input", block.get("args")))
            return Part(role, "tool-call", tool_input(arguments), string(block.get("name")))
        if kind in _RESULT_BLOCKS:
            result = block.get("content", block.get("text"))
            return Part(
                "tool", "tool-result", self._flat(result), string(block.get("name")) or string(block.get("toolName"))
            )
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


class OpenClawFormat:
    """Format of OpenClaw's sessions, and of other agents with the same format."""

    # The last one is speech after a thought; the result of a tool is one text.
    speech_marks: tuple[bytes, ...] = (
        b'"role":"user","content":',
        b'"role":"assistant","content":[{"type":"text"',
        b'"},{"type":"text","text":"',
    )
    title_marks: tuple[bytes, ...] = (b'"session_info"', b'"type":"title"')

    def __init__(self, agent: str = _AGENT) -> None:
        self.agent = agent

    def matches(self, values: Sequence[Mapping[str, Any]]) -> bool:
        return any(_is_header(value) or _is_message(value) for value in values)

    def parser(self, path: str) -> OpenClawParser:
        """Return a new parser. The file's name has the session's id, and shows whether it is an archive or a copy."""
        folder, name = os.path.split(path)
        session = _session_id(name)
        stored = stored_session(folder, session)
        generated = stored.generated or bool(_COPY.search(name))
        facts = SessionFacts(
            agent=self.agent, id=clean(session), title=stored.label.strip(), parent=stored.parent, generated=generated
        )
        return OpenClawParser(facts=facts, archive=bool(_ARCHIVE.search(name)), side=bool(stored.parent))

    def resume(self, state: bytes) -> OpenClawParser:
        return decode_json(state, OpenClawParser)


def _is_header(value: Mapping[str, Any]) -> bool:
    return (
        value.get("type") == "session" and isinstance(value.get("id"), str) and bool(value.keys() & {"cwd", "version"})
    )


def _is_message(value: Mapping[str, Any]) -> bool:
    message = value.get("message")
    return value.get("type") == "message" and isinstance(message, dict) and string(message.get("role")) in _ROLES


def _usage(counts: Mapping[str, Any]) -> Usage:
    return Usage(
        tokens(counts.get("input")),
        tokens(counts.get("output")),
        tokens(counts.get("cacheRead")),
        tokens(counts.get("cacheWrite")),
        cost=dollars(mapping(counts.get("cost")).get("total")),
    )


def _session_id(name: str) -> str:
    return _NAME_END.sub("", _NAME_START.sub("", name, count=1))


def _between_sessions(message: Mapping[str, Any]) -> bool:
    return mapping(message.get("provenance")).get("kind") in ("inter_session", "internal_system")


def _of_agent(part: Part) -> Part | None:
    """Return a part of the agent without inserted text; None if nothing is left of it."""
    if part.kind != "text":
        return part
    text = injected.without_runtime_context(part.text)
    return None if injected.is_silent(text) or injected.is_heartbeat_answer(text) else part._replace(text=text)


_EVENTS = f"SELECT {data_of('event_json')}, {{packed}} FROM transcript_events WHERE session_id = ? ORDER BY seq"
_COLD, _ARCHIVED = "session_transcript_cold_archives", "session_transcript_archives"
# The parent is the session that had the key when this one began, else a later one.
_WINDOW = """SELECT w.created_at, CAST(w.session_key AS BLOB), CAST(w.spawned_by AS BLOB),
    (SELECT CAST(p.session_id AS BLOB) FROM session_windows p WHERE p.session_key = w.spawned_by
    ORDER BY p.created_at <= w.created_at DESC, p.created_at DESC LIMIT 1),
    (SELECT CAST(max(n.label) AS BLOB) FROM session_nodes n WHERE n.current_session_id = w.session_id)
    FROM session_windows w WHERE w.session_id = ?"""
_LISTED = """SELECT CAST(e.id AS BLOB), e.latest, e.events, e.last, e.size, CAST(w.session_key AS BLOB),
    CAST(w.spawned_by AS BLOB), CAST(n.label AS BLOB) FROM (SELECT session_id AS id, max(created_at) AS latest,
    count(*) AS events, max(seq) AS last, sum(octet_length(event_json)) AS size FROM transcript_events
    GROUP BY session_id {archived}) e LEFT JOIN session_windows w ON w.session_id = e.id LEFT JOIN
    (SELECT current_session_id AS id, max(label) AS label FROM session_nodes GROUP BY current_session_id) n
    ON n.id = e.id"""
_LISTED_ARCHIVES = """UNION ALL SELECT session_id, max({time}), 0, 0, {size} FROM {table}
    WHERE session_id NOT IN (SELECT session_id FROM transcript_events) GROUP BY session_id"""


def _listed(connection: apsw.Connection) -> str:
    archived = []
    for table, time in ((_COLD, "archived_at"), (_ARCHIVED, "created_at")):
        if known := columns(connection, table):
            size = "octet_length(archive_blob)" if "archive_blob" in known else "0"
            archived.append(_LISTED_ARCHIVES.format(table=table, time=time, size=size))
    return _LISTED.format(archived=" ".join(archived))


def _conversation(connection: apsw.Connection, key: str, path: str) -> Conversation | None:
    parser = _parser(connection, key)
    branches = OpenClawParser(facts=SessionFacts(agent=_AGENT))

    def turns() -> Iterator[list[Message]]:
        for number, value in enumerate(_entries(connection, key, path), 1):
            branches.take_branch(value, number)
            yield parser.feed(value, 0)

    def entries(*, abandoned: bool) -> Iterator[dict[str, Any]]:
        for number, value in enumerate(_entries(connection, key, path), 1):
            if branches.facts.is_abandoned(number) is abandoned:
                yield value

    messages, others = whole(parser, turns()), tuple[Message, ...]()
    if branches.facts.rewound:
        parser = _parser(connection, key)
        messages, others = read_branches(parser, entries(abandoned=False), entries(abandoned=True))
    parser.facts.id = clean(key)  # the first line can be a copy of another session's
    requests = tuple(parser.take_requests())
    return Conversation(key, parser.facts, messages, Counter(parser.unknown), others, requests)


def _parser(connection: apsw.Connection, key: str) -> OpenClawParser:
    """Return a new parser with the facts in a session's row, which an archived session needn't have."""
    row = connection.execute(_WINDOW, (key,)).fetchone()
    if row is None and columns(connection, _ARCHIVED):
        query = f"SELECT NULL, CAST(session_key AS BLOB), NULL, NULL, NULL FROM {_ARCHIVED} WHERE session_id = ?"
        row = connection.execute(query, (key,)).fetchone()
    time, *texts = row or (None,) * 5
    own, starter, parent, label = map(as_text, texts)
    generated = is_generated(key=own) or is_generated(key=starter)
    facts = SessionFacts(agent=_AGENT, title=one_line(label), parent=clean(parent), generated=generated)
    facts.started = seconds(time)
    return OpenClawParser(facts=facts, side=bool(facts.parent))


def _entries(connection: apsw.Connection, key: str, path: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a session; an empty one in place of one that can't be read."""
    packed = "event_zstd" if "event_zstd" in columns(connection, "transcript_events") else "NULL"
    live = False
    for data, compressed in connection.execute(_EVENTS.format(packed=packed), (key,)):
        live = True
        entry = unpacked(compressed) if isinstance(compressed, bytes) else data
        yield (parse_line(entry) if isinstance(entry, bytes) else None) or {}
    for line in () if live else lines_in(_archive(connection, key, path)):
        value = parse_line(line) or {}
        if value.get("kind") == "event":
            value = parse_line(string(mapping(value.get("row")).get("event_json")).encode()) or {}
        if value.get("kind") != "header":
            yield value


def _can_read(connection: apsw.Connection, key: str, path: str) -> bool:
    """Whether the archive of a session is there and undamaged, if the session is in one."""
    if connection.execute("SELECT 1 FROM transcript_events WHERE session_id = ?", (key,)).fetchone():
        return True
    last = b""
    for last in lines_in(_archive(connection, key, path)):
        if not last:
            return False
    return parse_line(last) is not None  # an incomplete archive ends within a line


def _archive(connection: apsw.Connection, key: str, path: str) -> bytes:
    """Return the lines of a session that the program has put away; empty if it can't be read."""
    cold = columns(connection, _COLD)
    data = data_of("archive_blob") if "archive_blob" in cold else "NULL"
    query = f"SELECT CAST(archive_name AS BLOB), {data} FROM {_COLD} WHERE session_id = ?"
    for name, blob in connection.execute(query, (key,)) if cold else ():
        if isinstance(blob, bytes):
            return blob
        folder = os.path.join(os.path.dirname(os.path.dirname(path)), "sessions", "cold")
        try:
            with open_binary(os.path.join(folder, os.path.basename(as_text(name)))) as file:
                return file.read(LONGEST_LINE)
        except (OSError, ValueError, PathRefused):
            return b""
    query = f"SELECT {data_of('archive_blob')} FROM {_ARCHIVED} WHERE session_id = ? ORDER BY created_at DESC LIMIT 1"
    row = connection.execute(query, (key,)).fetchone() if columns(connection, _ARCHIVED) else None
    return row[0] if row and isinstance(row[0], bytes) else b""


OPENCLAW_DATABASE = RowFormat(
    agent=_AGENT,
    needed={
        "transcript_events": frozenset({"session_id", "seq", "event_json", "created_at"}),
        "session_windows": frozenset({"session_id", "session_key", "spawned_by", "created_at"}),
        "session_nodes": frozenset({"current_session_id", "label"}),
    },
    listed=_listed,
    conversation=_conversation,
    can_read=_can_read,
)
