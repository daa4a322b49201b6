"""Command Code: `~/.commandcode/projects/<folder>/<id>.jsonl`.

There is no published specification. Written from readers of it, agentsview (August 2026) and others up to autumn 2026.
Until summer 2026 each line is a message with `role`, `sessionId` and blocks of the AI SDK; `metadata` names the folder.
Version 3 begins with a line `session` that has id and folder, and its messages are in lines `message`, with blocks of
Anthropic's API; `meta.source` says whether the user wrote one. `<id>.meta.json` has the title. Next to an answer of
version 3 are its model and its `usage`, whose input tokens include the cached ones (1.4.5 of July 2026).
"""

import os
from collections.abc import Mapping
from typing import Any

from engine.corpus.transcripts.formats import LineFormat
from engine.corpus.transcripts.json_values import mapping, member, seconds, string
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import ROLES, SdkParser, sidecar
from engine.corpus.transcripts.token_usage import Usage, counted

_NOT_INSERTED = (None, "user", "tool")
"""Sources of messages that the program did not insert."""


class CommandCodeParser(SdkParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind = value.get("type")
        if kind == "session":
            self._describe(value)
            self.metadata.started = seconds(self.metadata.started, value.get("timestamp"))
            return []
        if kind not in (None, "message"):
            if kind != "model_change":
                self.count_unknown(kind)
            return []
        message = mapping(value, "message") if kind else value
        self._describe({**value, **mapping(value, "metadata")})
        role = self.role(ROLES, string(message, "role"))
        if role == "user" and member(message, "meta", "source") not in _NOT_INSERTED:
            role = "system"
        self.use(value.get("model"), _usage(mapping(value, "usage")))
        parts = self.blocks(message.get("content"), role)
        return self.next_message(parts, line=line, id=string(value, "id"), time=seconds(value.get("timestamp")))

    def _describe(self, value: Mapping[str, Any]) -> None:
        """Take folder and branch from the first line that has them."""
        folder = next((text for key in ("cwd", "projectPath") if (text := string(value, key))), "")
        self.metadata.project = self.metadata.project or clean(folder)
        self.metadata.branch = self.metadata.branch or clean(value, "gitBranch")


def _usage(counts: Mapping[str, Any]) -> Usage:
    names = "inputTokens outputTokens cacheReadTokens cacheWriteTokens"
    return counted(counts, names, cost="costUsd", with_cached=True)


class CommandCodeFormat(LineFormat):
    agent = "command-code"
    parses = CommandCodeParser
    speech_marks = (b'"role":"user"', b'"role":"assistant"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        if value.get("type") == "message":
            message = mapping(value, "message")
            return "parentId" in value and "messageId" in mapping(message, "meta")
        return "type" not in value and "version" in mapping(value, "metadata") and isinstance(value.get("role"), str)

    def metadata(self, path: str) -> SessionMetadata:
        about = sidecar(f"{path.removesuffix('.jsonl')}.meta.json")
        return SessionMetadata.of(os.path.basename(path).removesuffix(".jsonl"), title=about.get("title"))
