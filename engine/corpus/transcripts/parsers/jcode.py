"""Jcode: `~/.jcode/sessions/session_<name>_<time>_<number>.json`.

Written from its public source (`jcode-session-types`, `jcode-message-types` and `session/journal.rs`, August 2026). The
document has the session with its messages; lines of `session_….journal.jsonl` next to it were added since it was
written, each with new messages and the metadata that has changed. Tool results are in messages of the user. A text
in `<system-reminder>` and a message with a `display_role` are the program's; a compaction keeps all messages. A session
may name the session that it was split from, that crashed before it, or whose swarm runs it as a task; only a task
counts as a part of the other session.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.export_reader import SessionDocument
from engine.corpus.transcripts.formats import Conversation, Part
from engine.corpus.transcripts.json_values import content, items, mapping, seconds, string
from engine.corpus.transcripts.jsonl import json_lines
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import ROLES, BlockParser
from engine.corpus.transcripts.token_usage import anthropic_usage

_NAME = re.compile(r"session_[a-z_]+_\d+\w*\.json")
_TASK = re.compile(r" \(@[^()]+ swarm\)\Z")
_REMINDER = "<system-reminder>"


class _Parser(BlockParser, kw_only=True):
    model: str = ""

    def describe(self, about: Mapping[str, Any]) -> None:
        """Take the metadata of the session; later values replace earlier ones."""
        metadata, title = self.metadata, string(about, "title").strip()
        metadata.title = one_line(string(about, "custom_title").strip() or title) or metadata.title
        metadata.project = clean(about, "working_dir") or metadata.project
        self.model = string(about, "model") or self.model
        if _TASK.search(title):
            metadata.parent = clean(about, "parent_id")

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(ROLES, string(value, "role"))
        if value.get("display_role") is not None:
            role = "system"
        self.use(self.model, anthropic_usage(value.get("token_usage")))
        parts = self.blocks(value.get("content"), role)
        return self.next_message(parts, id=string(value, "id"), time=seconds(value.get("timestamp")))

    def text(self, text: str, role: Role) -> Iterator[Part]:
        yield Part("system" if text.lstrip().startswith(_REMINDER) else role, "text", text)

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        block = mapping(value)
        kind = block.get("type")
        if kind in ("reasoning", "reasoning_trace"):
            yield Part("assistant", "thinking", string(block, "text"))
        elif kind == "anthropic_thinking":
            yield Part("assistant", "thinking", string(block, "thinking"))
        elif kind == "open_a_i_reasoning":
            yield Part("assistant", "thinking", content(items(block, "summary")))
        elif kind != "open_a_i_compaction":
            yield from super()._block(value, role)


class JcodeSession(SessionDocument):
    agent = "jcode"
    members = "created_at messages"

    def matches(self, path: str, head: bytes) -> bool:
        return _NAME.fullmatch(os.path.basename(path)) is not None and super().matches(path, head)

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        metadata = SessionMetadata.of(value.get("id"), started=value.get("created_at"))
        parser = _Parser(metadata=metadata)
        parser.describe(value)
        messages = [part for message in items(value, "messages") for part in parser.feed(mapping(message), 0)]
        with suppress(FileNotFoundError):
            for line in json_lines(f"{path.removesuffix('.json')}.journal.jsonl", cancel):
                if line is None:
                    parser.count_unknown("no JSON")
                    continue
                parser.describe(mapping(line, "meta"))
                for message in items(line, "append_messages"):
                    messages += parser.feed(mapping(message), 0)
        return parser.conversation("", messages)
