"""Posit Assistant: `~/.posit/assistant/workspaces/<workspace>/<id>/conversation.json`.

There is no published specification. Written from agentsview's reader (August 2026), version 3: `root` has title, start
and, in `metadata`, branch and a sub-agent's parent session; `messages` is a tree whose nodes name lines of
`lm-messages.jsonl`, messages of the AI SDK with a number. Inactive nodes belong to branches that the user abandoned.
`workspace.json` above names the folder. The model adds summaries to its answers for the program.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.export_reader import SessionDocument, read_branches
from engine.corpus.transcripts.formats import Conversation, Part
from engine.corpus.transcripts.json_values import items, mapping, member, objects, seconds, string
from engine.corpus.transcripts.jsonl import json_lines
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import ROLES, SdkParser, sidecar
from engine.corpus.transcripts.token_usage import counted

_NAME, _LINES = "conversation.json", "lm-messages.jsonl"
_SUBAGENTS = "subagents"
_SUMMARY = re.compile(r"\s*<(MESSAGE|CONVERSATION)SUMMARY>.*?</\1SUMMARY>", re.DOTALL)


class _Parser(SdkParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        """Return a message of the AI SDK, with the time of its node."""
        message = mapping(value, "message")
        role = self.role(ROLES, string(message, "role"))
        about = mapping(message, "providerOptions", "providerMetadata", "positai")
        names = "inputTokens outputTokens cacheReadTokens cacheWriteTokens cacheWrite1hTokens"
        self.use(about.get("modelId"), counted(about.get("usage"), names))
        time = seconds(about.get("timestamp"), value.get("time"))
        return self.next_message(self.blocks(message.get("content"), role), time=time)

    def text(self, text: str, role: Role) -> Iterator[Part]:
        yield Part(role, "text", _SUMMARY.sub("", text).strip() if role == "assistant" else text)


class PositConversation(SessionDocument):
    agent = "posit-assistant"
    members = "schemaVersion root"

    def matches(self, path: str, head: bytes) -> bool:
        return os.path.basename(path) == _NAME and super().matches(path, head)

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        folder = os.path.dirname(path)
        stored: dict[object, object] = {}
        with suppress(FileNotFoundError):  # a conversation without an answer
            for line in json_lines(os.path.join(folder, _LINES), cancel):
                number = member(line, "id")
                if isinstance(number, int):
                    stored[number] = member(line, "message")
        root = mapping(value, "root")
        about = mapping(root, "metadata")
        metadata = SessionMetadata.of(
            os.path.basename(folder),
            title=root.get("title"),
            project=_project(folder),
            branch=about.get("gitBranch"),
            parent=clean(about, "parentTreeId") if about.get("kind") == "subagent" else "",
            started=root.get("timestamp"),
        )
        parser = _Parser(metadata=metadata)
        current: list[Mapping[str, Any]] = []
        others: list[Mapping[str, Any]] = []
        for node in objects(value, "messages"):
            for number in items(node, "lmMessageIds"):
                if isinstance(number, int) and number in stored:
                    branch = current if node.get("isActive") is True else others
                    branch.append({"message": stored[number], "time": node.get("timestamp")})
                else:
                    parser.count_unknown("message without a line")
        return read_branches(parser, "", current, others)


def _project(folder: str) -> str:
    """Return the workspace folder of a conversation, or of a sub-agent's conversation inside one."""
    above = os.path.dirname(folder)
    while os.path.basename(above) == _SUBAGENTS:
        above = os.path.dirname(os.path.dirname(above))
    return string(sidecar(os.path.join(above, "workspace.json")).get("path"))
