"""Cortex Code: `~/.snowflake/cortex/conversations/<id>.json`, perhaps in a folder for the project.

There is no published specification. Written from readers of it, agentsview (August 2026) and others up to autumn 2026:
an object with `session_id`, `title`, `working_directory`, times and `history`. The messages of a long session are in
`<id>.history.jsonl` instead, one per line. Members of calls and results are in an object under the name of the block's
type; blocks with `internalOnly` or a system reminder were inserted by the program. Tokens are not recorded.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.export_reader import SessionDocument
from engine.corpus.transcripts.formats import Conversation, LineFormat, Part
from engine.corpus.transcripts.json_values import items, mapping, objects, seconds, string
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, one_line
from engine.corpus.transcripts.model_api_messages import ROLES, BlockParser, sidecar

_AGENT = "cortex"
_IN_FOLDER = re.compile(rb'\A[\s\xef\xbb\xbf]*\{(?=.*?"session_id"\s*:)(?=.*?"history"\s*:)', re.DOTALL)
_FOLDER = re.compile(r"[/\\]cortex[/\\]conversations[/\\]")
_UNTITLED = "Chat for session:"
_LINES, _SESSION = ".history.jsonl", ".json"
_TIMES = ("user_sent_time", "assistant_sent_time")
_NESTED = ("tool_use", "tool_result")


class CortexParser(BlockParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(ROLES, string(value, "role"))
        parts = self.blocks(value.get("content"), role)
        time = seconds(*map(value.get, _TIMES))
        return self.next_message(parts, line=line, id=string(value, "id"), time=time)

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        block = mapping(value)
        kind = string(block, "type")
        if kind in _NESTED:
            inner = mapping(block, kind)
            yield from super()._block({**inner, "type": kind, "id": inner.get("tool_use_id")}, role)
        elif kind == "text" and (block.get("internalOnly") is True or "<system-reminder>" in string(block, "text")):
            yield Part("system", "text", string(block, "text"))
        else:
            yield from super()._block(value, role)


class CortexHistory(LineFormat):
    agent = _AGENT
    parses = CortexParser
    speech_marks = (b'"role":"user"', b'"role":"assistant"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        if "type" in value or string(value, "role") not in ROLES:
            return False
        blocks = objects(value, "content")
        nested = any(isinstance(block.get(string(block, "type")), dict) for block in blocks)
        return any(key in value for key in _TIMES) or nested or any("internalOnly" in block for block in blocks)

    def metadata(self, path: str) -> SessionMetadata:
        about = sidecar(path.removesuffix(_LINES) + _SESSION) if path.endswith(_LINES) else {}
        return _metadata(about, os.path.basename(path).removesuffix(_LINES))


class CortexSession(SessionDocument):
    agent = _AGENT
    members = "session_id working_directory"

    def matches(self, path: str, head: bytes) -> bool:
        if super().matches(path, head):
            return True
        # The folder may be named after a long history, which begins within these bytes.
        return _FOLDER.search(path) is not None and _IN_FOLDER.match(head) is not None

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        parser = CortexParser(metadata=_metadata(value, ""))
        messages = tuple(message for entry in items(value, "history") for message in parser.feed(mapping(entry), 0))
        metadata = parser.metadata
        metadata.ended = max(filter(None, (metadata.ended, seconds(value.get("last_updated")))), default=None)
        return parser.conversation("", messages)


def _metadata(about: Mapping[str, Any], id_: str) -> SessionMetadata:
    title = string(about, "title")
    return SessionMetadata.of(
        string(about, "session_id") or id_,
        title="" if title.startswith(_UNTITLED) else one_line(title),
        project=string(about, "working_directory") or string(about, "git_root"),
        branch=about.get("git_branch"),
        started=about.get("created_at"),
    )
