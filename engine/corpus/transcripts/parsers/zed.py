"""Zed: threads of its agent panel, in `threads/threads.db` of its data folder.

Written from its public source (`crates/agent/src/db.rs`, `legacy_thread.rs`, summer 2026) and from the reader of
claude-code-history-viewer (August 2026). The table `threads` has one row per thread. Its `data` is a JSON document,
compressed with zstd or not (`data_type`), in one of two versions:

* since the version 0.3.0 of the document (2025), `messages` are `{"User": {...}}`, `{"Agent": {...}}` or `"Resume"`;
* before, they had a `role`, `segments`, and `tool_uses` and `tool_results` next to these.

Messages have no time: they get the thread's. Columns for folders, parent and creation came in 2026.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, columns, unpacked, whole
from engine.corpus.transcripts.formats import Conversation, LineParser
from engine.corpus.transcripts.json_values import items, mapping, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line
from engine.corpus.transcripts.message_builder import Part, attached, next_turn
from engine.corpus.transcripts.messages import Role, SessionFacts, clean, one_line
from engine.corpus.transcripts.token_usage import anthropic_usage

_AGENT = "zed"
"""Largest decompression window in bytes."""
_OPTIONAL = ("folder_paths", "parent_id", "created_at")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


class ZedReader(LineParser):
    """Parses the messages of one thread."""

    def parts(self, message: object) -> Iterator[Part]:
        tagged = mapping(message)
        if message == "Resume" or "Compaction" in tagged:
            return
        if "User" in tagged:
            for block in items(mapping(tagged["User"]).get("content")):
                yield from self._of_user(block)
        elif "Agent" in tagged:
            answer = mapping(tagged["Agent"])
            results = mapping(answer.get("tool_results"))
            for block in items(answer.get("content")):
                yield from self._of_agent(block)
            for result in map(mapping, results.values()):
                yield _result(result, string(result.get("tool_name")))
        elif (role := _ROLES.get(string(tagged.get("role")))) is not None:
            yield from self._older(tagged, role)
        else:
            self.count_unknown("message")

    def _of_user(self, block: object) -> Iterator[Part]:
        """Yield the user's text; a mention includes the text of the named file."""
        tagged = mapping(block)
        if "Text" in tagged:
            yield Part("user", "text", string(tagged["Text"]))
        elif "Mention" in tagged:
            yield Part("system", "text", string(mapping(tagged["Mention"]).get("content")))
        elif "Image" in tagged:
            yield Part("user", "text", attached("", image=True))
        else:
            self.count_unknown("block")

    def _of_agent(self, block: object) -> Iterator[Part]:
        tagged = mapping(block)
        if "Text" in tagged:
            yield Part("assistant", "text", string(tagged["Text"]))
        elif "Thinking" in tagged:
            yield Part("assistant", "thinking", string(mapping(tagged["Thinking"]).get("text")))
        elif "ToolUse" in tagged:
            yield _call(mapping(tagged["ToolUse"]))
        elif "RedactedThinking" not in tagged:
            self.count_unknown("block")

    def _older(self, message: Mapping[str, Any], role: Role) -> Iterator[Part]:
        for segment in map(mapping, items(message.get("segments"))):
            kind = segment.get("type")
            if kind in ("text", "thinking"):
                yield Part(role, "thinking" if kind == "thinking" else "text", string(segment.get("text")))
        names = {}
        for call in map(mapping, items(message.get("tool_uses"))):
            names[string(call.get("id"))] = string(call.get("name"))
            yield _call(call)
        for result in map(mapping, items(message.get("tool_results"))):
            yield _result(result, names.get(string(result.get("tool_use_id")), ""))


def _call(call: Mapping[str, Any]) -> Part:
    return Part("assistant", "tool-call", tool_input(call.get("input")), string(call.get("name")))


def _result(result: Mapping[str, Any], tool: str) -> Part:
    content = result.get("content")
    blocks = content if isinstance(content, list) else [content]
    return Part("tool", "tool-result", "\n".join(filter(None, map(_output, blocks))), tool)


def _output(block: object) -> str:
    tagged = {key.lower(): value for key, value in mapping(block).items()}
    return string(block) or string(tagged.get("text")) or ("[image]" if "image" in tagged else "")


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation | None:
    known = columns(connection, "threads")
    optional = ", ".join(f"CAST({name} AS BLOB)" if name in known else "NULL" for name in _OPTIONAL)
    query = f"""SELECT CAST(summary AS BLOB), CAST(updated_at AS BLOB), CAST(data_type AS BLOB),
        CASE WHEN octet_length(data) <= {LONGEST_LINE} THEN CAST(data AS BLOB) END, {optional}
        FROM threads WHERE id = ?"""
    row = connection.execute(query, (key,)).fetchone()
    if row is None:
        return None
    title, updated, sort, data, folders, parent, created = row
    ended = seconds(as_text(updated))
    facts = SessionFacts(
        agent=_AGENT,
        id=clean(key),
        title=one_line(as_text(title)),
        project=clean(_first(as_text(folders))),
        parent=clean(as_text(parent)),
        started=seconds(as_text(created)) or ended,
        ended=ended,
    )
    reader = ZedReader(facts=facts)
    document = _document(reader, as_text(sort), data)
    facts.project = facts.project or clean(_snapshot_folder(document))
    reader.use(mapping(document.get("model")).get("model"), anthropic_usage(document.get("cumulative_token_usage")))
    turns = (
        next_turn(reader, reader.parts(message), time=ended, side=bool(facts.parent))
        for message in items(document.get("messages"))
    )
    return Conversation(key, facts, whole(reader, turns), Counter(reader.unknown))


def _first(folders: str) -> str:
    """Return the first of a list of folders, which is JSON or has one on each line."""
    listed = items((parse_line(b'{"value":' + folders.encode() + b"}") or {}).get("value"))
    return string(listed[0]) if listed else folders.partition("\n")[0]


def _snapshot_folder(document: Mapping[str, Any]) -> str:
    trees = items(mapping(document.get("initial_project_snapshot")).get("worktree_snapshots"))
    return string(mapping(trees[0]).get("worktree_path")) if trees else ""


def _document(reader: ZedReader, sort: str, data: object) -> Mapping[str, Any]:
    held = data if isinstance(data, bytes) else None
    if held is not None and sort == "zstd":
        held = unpacked(held)
    value = None if held is None else parse_line(held)
    if value is None:
        reader.count_unknown("too long or damaged" if held is None else "no JSON")
    return value or {}


ZED_DATABASE = RowFormat(
    agent=_AGENT,
    needed={"threads": frozenset({"id", "summary", "updated_at", "data_type", "data"})},
    listed="""SELECT CAST(id AS BLOB), CAST(updated_at AS BLOB), CAST(summary AS BLOB), octet_length(data)
        FROM threads""",
    version=1,
    conversation=_conversation,
)
