"""Zed: threads of its agent panel, in `threads/threads.db` of its data folder.

Written from its public source (`crates/agent/src/db.rs`, `thread.rs`, `legacy_thread.rs`, autumn 2026) and from the
reader of claude-code-history-viewer (August 2026). The table `threads` has one row per thread. Its `data` is a JSON
document, compressed with zstd or not (`data_type`), in one of two versions:

* since the version 0.3.0 of the document (2025), `messages` are `{"User": {...}}`, `{"Agent": {...}}` or `"Resume"`;
* before, they had a `role`, `segments`, and `tool_uses` and `tool_results` next to these.

Messages have no time: they get the thread's. Tools begin a path with the name of one of the project's folders
(`tools/write_file_tool.rs`): such paths are made absolute. Columns for folders, parent and creation came in 2026.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, row_of, unpacked, whole
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import (
    image_mark,
    items,
    mapping,
    member,
    objects,
    seconds,
    string,
    tool_input,
)
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Role, SessionMetadata, clean
from engine.corpus.transcripts.token_usage import anthropic_usage

_THREAD = "summary updated_at data_type data{} folder_paths parent_id created_at"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


class ZedReader(LineParser, kw_only=True):
    """Parses the messages of one thread."""

    roots: Mapping[str, str] = {}
    """Folders of the project by their names, with which tools begin their paths."""

    def parts(self, message: object) -> Iterator[Part]:
        tagged = mapping(message)
        if message == "Resume":
            return
        if "Compaction" in tagged:  # one made by the provider has no text
            yield Part("system", "text", string(tagged["Compaction"], "Summary"))
        elif "User" in tagged:
            yield from self._user_parts(items(tagged["User"], "content"))
        elif "Agent" in tagged:
            answer = mapping(tagged["Agent"])
            results = mapping(answer, "tool_results")
            for block in items(answer, "content"):
                yield from self._agent_parts(block)
            for result in map(mapping, results.values()):
                yield _result(result, string(result, "tool_name"))
        elif (role := _ROLES.get(string(tagged, "role"))) is not None:
            yield from self._older_message(tagged, role)
        else:
            self.count_unknown("message")

    def _user_parts(self, blocks: Sequence[object]) -> Iterator[Part]:
        """Yield the user's text with the names of its mentions, then images and the texts of mentioned files."""
        typed, others = "", list[Part]()
        for block in blocks:
            tagged = mapping(block)
            if "Text" in tagged:
                typed += string(tagged["Text"])
            elif "Mention" in tagged:
                mention = mapping(tagged["Mention"])
                typed += _mentioned(mention.get("uri"))
                others.append(Part("system", "text", string(mention, "content")))
            elif "Image" in tagged:
                others.append(Part("user", "text", _picture(tagged["Image"])))
            else:
                self.count_unknown("block")
        yield Part("user", "text", typed)
        yield from others

    def _agent_parts(self, block: object) -> Iterator[Part]:
        tagged = mapping(block)
        if "Text" in tagged:
            yield Part("assistant", "text", string(tagged["Text"]))
        elif "Thinking" in tagged:
            yield Part("assistant", "thinking", string(tagged["Thinking"], "text"))
        elif "ToolUse" in tagged:
            yield self._call(mapping(tagged["ToolUse"]))
        elif "RedactedThinking" not in tagged:
            self.count_unknown("block")

    def _older_message(self, message: Mapping[str, Any], role: Role) -> Iterator[Part]:
        for segment in objects(message, "segments"):
            kind = segment.get("type")
            if kind in ("text", "thinking"):
                yield Part(role, "thinking" if kind == "thinking" else "text", string(segment, "text"))
        names = {}
        for call in objects(message, "tool_uses"):
            names[string(call, "id")] = string(call, "name")
            yield self._call(call)
        for result in objects(message, "tool_results"):
            yield _result(result, names.get(string(result, "tool_use_id"), ""))

    def _call(self, call: Mapping[str, Any]) -> Part:
        arguments = call.get("input")
        root, slash, rest = string(arguments, "path").partition("/")
        if root and slash and root in self.roots:
            arguments = {**mapping(arguments), "path": f"{self.roots[root]}/{rest}"}
        return tool_call(tool_input(arguments), string(call, "name"), string(call, "id"))


def _mentioned(uri: object) -> str:
    """Return the name of a mention in a user's text, such as "@hull.py", as Zed shows it."""
    kind, value = next(iter(mapping(uri).items()), (string(uri), None))
    about = mapping(value)
    path = next((text for key in ("abs_path", "path", "file_path") if (text := string(about, key))), "")
    name = string(about, "name") or string(about, "url") or PurePosixPath(path.replace("\\", "/")).name or kind
    return f"@{name}" if name else ""


def _result(result: Mapping[str, Any], tool: str) -> Part:
    content = result.get("content")
    blocks = content if isinstance(content, list) else [content]
    id, failed = string(result, "tool_use_id"), result.get("is_error") is True
    return tool_result("\n".join(filter(None, map(_output, blocks))), tool, id, failed)


def _output(block: object) -> str:
    tagged = {key.lower(): value for key, value in mapping(block).items()}
    return string(block) or string(tagged, "text") or (_picture(tagged["image"]) if "image" in tagged else "")


def _picture(image: object) -> str:
    return image_mark({"media_type": "image/png", "data": member(image, "source")})


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    row = row_of(connection, "threads", _THREAD, key)
    title, updated, sort, data, folders, parent, created = row.values()
    ended = seconds(updated)
    started = seconds(created) or ended
    metadata = SessionMetadata.of(key, title=title, parent=parent, started=started, ended=ended)
    reader = ZedReader(metadata=metadata)
    document = _document(reader, string(sort), data)
    roots = _listed(string(folders)) or _snapshot_folders(document)
    metadata.project = clean(next(iter(roots), ""))
    metadata.branch = clean(_snapshot_branch(document))
    reader.roots = {PurePosixPath(root.replace("\\", "/")).name: root for root in roots}
    reader.use(member(document, "model", "model"), anthropic_usage(document.get("cumulative_token_usage")))
    turns = (reader.next_message(reader.parts(message), time=ended) for message in items(document, "messages"))
    return reader.conversation(key, whole(reader, turns))


def _listed(folders: str) -> list[str]:
    """Return the folders of a list, which is JSON or has one on each line."""
    listed = items((parse_line(b'{"value":' + folders.encode() + b"}") or {}).get("value"))
    return [text for folder in listed or folders.splitlines() if (text := string(folder))]


def _snapshot_folders(document: Mapping[str, Any]) -> list[str]:
    trees = items(document, "initial_project_snapshot", "worktree_snapshots")
    return [text for tree in trees if (text := string(tree, "worktree_path"))]


def _snapshot_branch(document: Mapping[str, Any]) -> str:
    """Return the branch of the first folder that has one, when the thread began."""
    trees = objects(document, "initial_project_snapshot", "worktree_snapshots")
    branches = (string(tree, "git_state", "current_branch") for tree in trees)
    return next(filter(None, branches), "")


def _document(reader: ZedReader, sort: str, data: object) -> Mapping[str, Any]:
    encoded = data if isinstance(data, bytes) else None
    if encoded is not None and sort == "zstd":
        encoded = unpacked(encoded)
    value = None if encoded is None else parse_line(encoded)
    if value is None:
        reader.count_unknown("too long or damaged" if encoded is None else "no JSON")
    return value or {}


ZED_DATABASE = RowFormat(
    agent="zed",
    needed={"threads": frozenset({"id", "summary", "updated_at", "data_type", "data"})},
    listed="""SELECT CAST(id AS BLOB), CAST(updated_at AS BLOB), CAST(summary AS BLOB), octet_length(data)
        FROM threads""",
    conversation=_conversation,
)
