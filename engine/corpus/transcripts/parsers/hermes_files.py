"""Hermes Agent's sessions as files: `~/.hermes/sessions/<id>.jsonl`, and `session_<id>.json` with one object.

Written from public source of programs that read them (agentsview, agent-sessions, August 2026; Hermes 0.11): before its
database, the program wrote a line `session_meta` and the messages of a chat; a document has `session_start`, model and
`messages` without times. The files may remain when a session is also in `state.db`, which is read then. A session with
both files is read from the lines.
"""

import os
import re
from collections.abc import Mapping
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.export_reader import SessionDocument
from engine.corpus.transcripts.formats import Conversation, LineFormat
from engine.corpus.transcripts.json_values import items, local_time, mapping, seconds, string
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ChatParser
from engine.corpus.transcripts.parsers.hermes import parts_by_author

_AGENT = "hermes"
_META, _PREFIX = "session_meta", "session_"
_OURS = re.compile(rb'\A[\s\xef\xbb\xbf]*\{[^{}\[\]]*"session_id"\s*:')


class HermesFileParser(ChatParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        time = _time(value.get("timestamp"))
        if value.get("role") == _META:
            self.use_model(value.get("model"))
            self.metadata.started = self.metadata.started or time
            return []
        thought = string(value, "reasoning_content") or string(value, "reasoning")
        message = {**value, "reasoning_content": thought, "name": value.get("tool_name") or value.get("name")}
        return self.next_message(parts_by_author(self.chat_parts(message)), line, time=time)


def _time(value: object) -> float | None:
    """Return a time, which is local if it has no zone, in seconds since the epoch."""
    return local_time(value) if isinstance(value, str) else seconds(value)


def session_of(path: str) -> str:
    """Return the id of the session in a file."""
    return os.path.basename(path).partition(".")[0].removeprefix(_PREFIX)


class HermesLines(LineFormat):
    agent = _AGENT
    parses = HermesFileParser
    speech_marks = (b'"role": "user"', b'"role": "assistant"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return value.get("role") == _META and ("platform" in value or "tools" in value)

    def metadata(self, path: str) -> SessionMetadata:
        return SessionMetadata.of(session_of(path))


class HermesDocument(SessionDocument):
    agent = _AGENT

    def matches(self, path: str, head: bytes) -> bool:
        if b'"session_start"' not in head or not _OURS.match(head):
            return False
        return not os.path.exists(os.path.join(os.path.dirname(path), f"{session_of(path)}.jsonl"))

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        metadata = SessionMetadata.of(value.get("session_id"), project=string(value, "model_config", "cwd"))
        metadata.started = _time(value.get("session_start"))
        parser = HermesFileParser(metadata=metadata)
        parser.use_model(value.get("model"))
        messages = tuple(message for entry in items(value, "messages") for message in parser.feed(mapping(entry), 0))
        metadata.ended = metadata.ended or _time(value.get("last_updated"))
        return parser.conversation("", messages)
