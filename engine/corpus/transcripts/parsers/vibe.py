"""Mistral Vibe: `~/.vibe/logs/session/session_<time>_<id>/messages.jsonl`, with `meta.json` next to it.

Written from its public source of July 2026 (`vibe/core/session/session_logger.py`, `vibe/core/types.py`): one message
per line, without a time; `meta.json` has id, title, folder, branch, times, and the sums of tokens, whose prompts
include cached ones. `VIBE_HOME` names another folder than `~/.vibe`. Version 1, of 2025, wrote one JSON document per
session, which isn't read.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.transcripts.formats import LineFormat, Part
from engine.corpus.transcripts.json_values import attached, items, mapping, member, string
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES, ChatParser, sidecar
from engine.corpus.transcripts.token_usage import counted

_MAX_IMAGES = 100


class VibeParser(ChatParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        return self.next_message(list(self._parts(value)), line, id=string(value, "message_id"))

    def _parts(self, value: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the parts of a message; one with the user's role may be inserted by the program."""
        for part in self.chat_parts(value):
            yield part._replace(role="system") if value.get("injected") is True and part.role == "user" else part
        for image in map(mapping, items(value, "images")[:_MAX_IMAGES]):
            data = mapping(image, "source").get("data", image.get("data"))
            held = {"mime_type": image.get("mime_type"), "data": data}
            yield Part("user", "text", attached(string(image, "alias"), image=True, value=held))


class VibeFormat(LineFormat):
    agent = "vibe"
    parses = VibeParser
    speech_marks = (b'"role": "user"', b'"role": "assistant"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        if string(value, "role") not in ROLES or "type" in value or "timestamp" in value:
            return False
        return isinstance(value.get("message_id"), str) or isinstance(value.get("injected"), bool)

    def begin(self, path: str) -> VibeParser:
        meta = sidecar(os.path.join(os.path.dirname(path), "meta.json"))
        metadata = SessionMetadata.of(
            string(meta, "session_id") or os.path.basename(os.path.dirname(path)),
            title=meta.get("title"),
            project=member(meta, "environment", "working_directory"),
            branch=meta.get("git_branch"),
            parent=meta.get("parent_session_id"),
            started=meta.get("start_time"),
            ended=meta.get("end_time"),
        )
        parser = VibeParser(metadata=metadata)
        names = "session_prompt_tokens session_completion_tokens session_cached_tokens"
        parser.use(member(meta, "config", "active_model"), counted(meta.get("stats"), names, with_cached=True))
        return parser
