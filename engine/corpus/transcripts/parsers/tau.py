"""Tau: `~/.tau/sessions/<project>-<digest>/<id>.jsonl`, entries of a tree as Pi's, with other member names.

Written from its public source of August 2026 (`tau_agent/session/entries.py`, `messages.py`, `jsonl.py`), and the
descriptions of its changes until September (pull requests 702 and 710): since then no entry `leaf` repeats the end of
the current branch. The first lines, `session_info`, have the folder; `index.jsonl` next to the sessions has their
titles. In version 1, tool results have the role "tool", and calls are next to the text.
"""

import os
from collections.abc import Mapping
from typing import Any

from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.agents import LINES_END
from engine.corpus.transcripts.formats import LineFormat
from engine.corpus.transcripts.json_values import items, mapping, seconds, string
from engine.corpus.transcripts.jsonl import cached_by_version, parse_line
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean, one_line
from engine.corpus.transcripts.parsers.openclaw import OpenClawParser

_INDEX = "index.jsonl"
_LARGEST_INDEX = 4 * 1024**2
_UNKNOWN = "unknown"
"""Model name of an answer whose model the program doesn't know."""
_ENTRIES = frozenset(
    """branch_summary compaction custom custom_message label leaf message model_change session_info
    thinking_level_change""".split()
)


class TauParser(OpenClawParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind = value.get("type")
        if kind == "leaf":  # the end of a branch, which the next entry names as its parent
            return []
        if kind == "session_info":
            metadata = self.metadata
            metadata.title = metadata.title or one_line(value, "title")
            metadata.project = clean(value, "cwd") or metadata.project
            metadata.started = metadata.started or seconds(value.get("created_at"))
        entry = {**value, "customType": value.get("custom_type")}
        if "parent_id" in value:
            entry["parentId"] = value["parent_id"]
        if kind == "message":
            entry["message"] = _pi_message(mapping(value, "message"))
        return super().feed(entry, line)


class TauFormat(LineFormat):
    agent = "tau"
    parses = TauParser
    speech_marks = (b'"role":"user","content":', b'"type":"text","text":"')
    title_marks = (b'"session_info"',)

    def is_line(self, value: Mapping[str, Any]) -> bool:
        if value.get("type") == "session_info":
            return "created_at" in value and isinstance(value.get("id"), str)
        return string(value, "type") in _ENTRIES and isinstance(value.get("parent_id"), str)

    def metadata(self, path: str) -> SessionMetadata:
        folder, name = os.path.split(path)
        id_ = name.partition(LINES_END)[0]
        return SessionMetadata.of(id_, title=listed_titles(folder).get(id_, ""))


def listed_titles(folder: str) -> Mapping[str, str]:
    """Return the titles in the list of a folder's sessions, by id; none if it can't be read."""
    return _titles(os.path.join(folder, _INDEX))


@cached_by_version
def _titles(path: str) -> Mapping[str, str]:
    """Read a list. Raises OSError, `PathRefused`."""
    with open_binary(path) as file:
        records = map(parse_line, file.read(_LARGEST_INDEX).split(b"\n"))
        found = {string(record, "id"): one_line(record, "title") for record in records if record}
    return {id_: title for id_, title in found.items() if title}


def _pi_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message with Pi's member names."""
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        named = {"toolName": message.get("name"), "toolCallId": message.get("tool_call_id")}
        text, failed = content or message.get("error"), message.get("ok") is False
        return {**message, **named, "role": "toolResult", "content": text, "isError": failed}
    if "custom_type" in message:  # in version 1, with the user's role
        return {**message, "role": "custom", "customType": message["custom_type"]}
    if role != "assistant":
        return message
    calls = [{**mapping(call), "type": "toolCall"} for call in items(message, "tool_calls")]
    blocks = content if isinstance(content, list) else [content]
    model = message.get("model")
    return {**message, "content": [*blocks, *calls], "model": "" if model == _UNKNOWN else model}
