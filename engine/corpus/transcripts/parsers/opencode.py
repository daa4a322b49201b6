"""opencode: a session file, and the files of its messages and of their parts in folders next to it.

Written from its public source up to autumn 2026: under `~/.local/share/opencode/storage`,
`session/<project>/<session>.json` describes a session, `message/<session>/<message>.json` its messages and
`part/<message>/<part>.json` has their contents. Names sort by time. Since February 2026 (version 1.2) sessions are in a
database next to `storage` (`opencode_database`): older ones were copied into it, their files remain. The program moved
the layout before September 2025 (`project/<project>/storage`) here. Sessions of that time don't name their folder;
their answers do, in `path`.

The session file is the document. Messages may be newer than that file, so the time of `message/<session>` counts as
well (`agents.opencode`).
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.base.cancellation import CancelToken
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import attached, content, items, mapping, member, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.token_usage import Usage, counted

# --- Messages of opencode: in parts (first generation), or in one piece (version 2) ----------------------------------

_SILENT_PARTS = frozenset("step-start step-finish snapshot patch agent retry compaction".split())
_SILENT_ENTRIES = frozenset("agent-switched model-switched location-switched idle".split())
_INSTRUCTIONS = frozenset({"synthetic", "system", "skill"})


class OpencodeReader(LineParser, kw_only=True):
    """Parses the messages of one session, given in order; a message's number is used as its line."""

    def message(self, name: str, value: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> list[Message]:
        """Return a message of the first generation, with its parts."""
        kind = value.get("role")
        if kind not in ("user", "assistant"):
            self.count_unknown(f"role {kind}" if isinstance(kind, str) else None)
            return []
        role: Role = "assistant" if kind == "assistant" else "user"
        self.metadata.project = self.metadata.project or clean(value, "path", "cwd")
        if role == "assistant" and value.get("summary") is True:  # replaces the messages before it
            role = "system"
        return self._to_messages(name, value, [piece for part in parts for piece in self._part(part, role)])

    def entry(self, name: str, kind: str, value: Mapping[str, Any]) -> list[Message]:
        """Return a message of the second generation."""
        return self._to_messages(name, value, list(self._entry(kind, value)))

    def _to_messages(self, name: str, value: Mapping[str, Any], parts: list[Part]) -> list[Message]:
        parts.append(Part("system", "text", _failure(value)))
        model = string(value, "modelID") or string(value, "model", "id")
        usage, time = _usage(value), seconds(member(value, "time", "created"))
        # A fork has copies of the messages with other ids.
        copied = "" if time is None else f"{time} {msgspec.structs.astuple(usage)}"
        self.use(model, usage, request=name, copied=copied)
        return self.next_message(parts, id=name, time=time)

    def _part(self, part: Mapping[str, Any], role: Role) -> Iterator[Part]:
        kind = part.get("type")
        if kind == "text":
            put_in = part.get("synthetic") is True or part.get("ignored") is True
            yield Part("system" if put_in else role, "text", string(part, "text"))
        elif kind == "reasoning":
            yield Part(role, "thinking", string(part, "text"))
        elif kind == "tool":
            name, state = string(part, "tool"), mapping(part, "state")
            id, failed = string(part, "callID"), state.get("status") == "error"
            yield tool_call(tool_input(state, "input") or string(state, "title"), name, id, failed)
            yield tool_result(string(state, "output") or string(state, "error"), name, id, failed)
        elif kind == "file":
            yield Part(role, "text", _file(part, "filename"))
        elif kind == "subtask":
            yield Part(role, "tool-call", string(part, "prompt"), string(part, "agent"))
        elif part and (not isinstance(kind, str) or kind not in _SILENT_PARTS):
            self.count_unknown(f"part {kind}" if isinstance(kind, str) else None)

    def _entry(self, kind: str, value: Mapping[str, Any]) -> Iterator[Part]:
        if kind == "user":
            yield Part("user", "text", string(value, "text"))
            for file in items(value, "files"):
                yield Part("user", "text", _file(mapping(file), "name"))
        elif kind == "assistant":
            for part in items(value, "content"):
                yield from self._content(mapping(part))
        elif kind in _INSTRUCTIONS:
            yield Part("system", "text", string(value, "text"))
        elif kind == "compaction":
            yield Part("system", "text", string(value, "summary"))
        elif kind == "shell":  # a command run by the user
            output = value.get("output")
            yield Part("user", "tool-call", string(value, "command"), "shell")
            yield tool_result(string(output) or string(output, "output"), "shell")
        elif kind not in _SILENT_ENTRIES:
            self.count_unknown(kind)

    def _content(self, part: Mapping[str, Any]) -> Iterator[Part]:
        kind = part.get("type")
        if kind != "tool":
            yield from self._part(part, "assistant")
            return
        name, state = string(part, "name"), mapping(part, "state")
        id, failed = string(part, "id"), state.get("status") == "error"
        yield tool_call(tool_input(state, "input"), name, id, failed)
        failure = string(state, "error", "message")
        yield tool_result("\n".join(filter(None, (content(state, "content"), failure))), name, id, failed)


def _failure(message: Mapping[str, Any]) -> str:
    """Return why an answer, of either generation, failed; empty if it did not, or if the user ended it."""
    error = mapping(message, "error")
    kind = string(error, "name") or string(error, "type")
    text = string(error, "message") or string(error, "data", "message")
    return "" if "abort" in kind.casefold() else text


def mark_undone(metadata: SessionMetadata, messages: Sequence[Message], revert: Mapping[str, Any]) -> None:
    """Mark messages that the user has undone as abandoned: until the next message, the program can restore them.

    `revert` names the first one, perhaps after some of its parts. Ids grow with time.
    """
    first = clean(revert, "messageID")
    undone = [
        message.line for message in messages if message.id > first or (message.id == first and not revert.get("partID"))
    ]
    if first and undone:
        metadata.mark_abandoned(min(undone), max(undone))


def _usage(message: Mapping[str, Any]) -> Usage:
    """Return the tokens and cost of an answer, of either generation."""
    names = "tokens.input tokens.output+tokens.reasoning tokens.cache.read tokens.cache.write"
    return counted(message, names, cost="cost")


def _file(value: Mapping[str, Any], key: str) -> str:
    return attached(string(value, key), image=string(value, "mime").startswith("image/"), value=value)


# ---------------------------------------------------------------------------------------------------------------------

_ID = re.compile(rb'"id"\s*:\s*"ses_')
_NO_TITLE = re.compile(r"(?:New|Child) session - \d{4}-\d{2}-\d{2}T")


class OpencodeDocument(DocumentFormat):
    agent = "opencode"

    def matches(self, path: str, head: bytes) -> bool:
        above = os.path.basename(os.path.dirname(os.path.dirname(path)))
        return above == "session" and path.endswith(".json") and bool(_ID.search(head))

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        """Yield the file's only session. Truncated files of messages or parts are left out."""
        storage = os.path.dirname(os.path.dirname(os.path.dirname(path)))
        session = os.path.basename(path).removesuffix(".json")
        value = _read(path)
        reader = OpencodeReader(metadata=session_metadata(session, value))
        messages: list[Message] = []
        for name, file in _files(os.path.join(storage, "message", session)):
            if cancel:
                cancel.checkpoint()
            parts = _files(os.path.join(storage, "part", name))
            messages += reader.message(name, _object(file, reader), [_object(part, reader) for _, part in parts])
        mark_undone(reader.metadata, messages, mapping(value, "revert"))
        requests = tuple(reader.take_requests())
        yield reader.conversation("", messages, requests=requests)


def _object(path: str, reader: OpencodeReader) -> Mapping[str, Any]:
    """Return the JSON object in a file; empty if the file is incomplete or was just deleted."""
    try:
        return _read(path)
    except (OSError, ValueError):
        reader.count_unknown("unreadable file")
        return {}


def session_metadata(session: str, value: Mapping[str, Any]) -> SessionMetadata:
    """Return the metadata in a session's own file, or in its database row."""
    title = one_line(value, "title")
    return SessionMetadata.of(
        session,
        title="" if _NO_TITLE.match(title) else title,
        project=value.get("directory"),
        parent=value.get("parentID"),
        started=member(value, "time", "created"),
    )


def _read(path: str) -> Mapping[str, Any]:
    """Return the JSON object in a file. Raises OSError, ValueError."""
    with open_binary(path) as file:
        value = parse_line(file.read())
    if value is None:
        raise ValueError(skip_reasons.NO_JSON_OBJECT.message(file=os.path.basename(path)))
    return value


def _files(folder: str) -> list[tuple[str, str]]:
    """Return stem and path of the JSON files in a folder, in the order of their names."""
    if os.path.islink(folder):
        return []
    try:
        with os.scandir(folder) as entries:
            files = [
                entry for entry in entries if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted((entry.name.removesuffix(".json"), entry.path) for entry in files)
