"""Chats of Codebuff: `~/.config/manicode/projects/<project>/chats/<time>/chat-messages.json`, a list of messages.

Written from its public source (`cli/src/types/chat.ts`, August 2026) and agentsview's reader. A message has a `variant`
(user, ai, error), and text in `content` or `blocks`; a block `agent` has the blocks of a sub-agent. Only the time of
day is stored as such, in the user's language; ids of most messages end in the time in milliseconds. `run-state.json`
next to them names the folder. One credit is one US cent; models are not recorded. Freebuff stores the same.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts import export_reader
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import attached, items, mapping, objects, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata
from engine.corpus.transcripts.token_usage import Usage, dollars

_HEAD = 64 * 1024
_FOLDER = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
_SENT = re.compile(r"[a-z]+-(\d{13})(?:-|\Z)")
_STARTED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d(?:\.\d+)?Z?)")
_ROLES: dict[str, Role] = {"user": "user", "ai": "assistant", "agent": "assistant", "error": "system"}
_IGNORED = frozenset({"agent-list", "gate-state", "html", "mode-divider"})
_FAILED = ("cancelled", "failed")
_CENTS = 100


def _tool_failed(block: Mapping[str, Any]) -> bool:
    """Return whether a tool's output, a list of JSON values, has an error or a command's exit code."""
    raw = block.get("outputRaw")
    values = (mapping(mapping(item).get("value", item)) for item in (raw if isinstance(raw, list) else [raw]))
    return any(value.get("errorMessage") or value.get("exitCode") for value in values)


class _Parser(LineParser):
    def message(self, value: Mapping[str, Any]) -> list[Message]:
        role, id_ = self.role(_ROLES, string(value, "variant"), "message"), string(value, "id")
        credits = value.get("credits")
        self.use("", Usage(cost=None if (cost := dollars(credits)) is None else cost / _CENTS))
        sent = _SENT.match(id_)
        time = seconds(int(sent[1]) if sent else value.get("timestamp"))
        return self.next_message(self._parts(value, "system" if id_.startswith("sys-") else role), id=id_, time=time)

    def _parts(self, value: Mapping[str, Any], role: Role) -> Iterator[Part]:
        if blocks := items(value, "blocks"):
            yield from self._blocks(blocks, role)
        else:
            yield Part(role, "text", string(value, "content"))
        for pasted in objects(value, "textAttachments"):
            yield Part(role, "text", string(pasted, "content"))
        for image in objects(value, "attachments"):
            yield Part(role, "text", attached(string(image, "filename"), image=True))
        for file in objects(value, "fileAttachments"):
            yield Part(role, "text", attached(string(file, "filename")))
        yield Part("system", "text", string(value, "userError"))

    def _blocks(self, blocks: list[Any], role: Role, agent: str = "") -> Iterator[Part]:
        """Yield the parts of blocks; `agent` is the name of the sub-agent that has them."""
        for block in map(mapping, blocks):
            kind, text = string(block, "type"), string(block, "content")
            if kind in ("text", "plan"):
                thinks = block.get("textType") == "reasoning"
                spoken = tool_result(text, agent) if agent else Part(role, "text", text)
                yield Part(role, "thinking", text) if thinks else spoken
            elif kind == "tool":
                name, id, failed = string(block, "toolName"), string(block, "toolCallId"), _tool_failed(block)
                yield tool_call(tool_input(block, "input"), name, id, failed)
                yield tool_result(string(block, "output"), name, id, failed)
            elif kind == "agent":
                name = string(block, "agentName") or string(block, "agentType")
                yield tool_call(string(block, "initialPrompt"), name)
                yield from self._blocks(items(block, "blocks"), role, name or kind)
                yield tool_result(text, name, failed=block.get("status") in _FAILED)
            elif kind == "image":
                image = {"media_type": block.get("mediaType"), "data": block.get("image")}
                yield Part(role, "text", attached(string(block, "filename"), image=True, value=image))
            elif kind == "ask-user":
                yield from _question(block)
            elif kind not in _IGNORED:
                self.count_unknown(f"block {kind}" if kind else None)


def _question(block: Mapping[str, Any]) -> Iterator[Part]:
    for question in objects(block, "questions"):
        options = (string(option, "label") for option in items(question, "options"))
        question_lines = [string(question, "question"), *(f"- {option}" for option in options if option)]
        yield Part("assistant", "text", "\n".join(question_lines))
    for answer in objects(block, "answers"):
        chosen = [answer.get("selectedOption"), *items(answer, "selectedOptions"), answer.get("otherText")]
        yield Part("user", "text", "\n".join(filter(None, map(string, chosen))))


class CodebuffChat(DocumentFormat):
    agent = "codebuff"
    opening = re.compile(rb'\A[\s\xef\xbb\xbf]*\[\s*\{(?=[^{}]*"variant"\s*:\s*"(?:ai|user|agent|error)")')

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        """Yield the file's only session; of a truncated file the complete messages, before the ValueError."""
        parser = _Parser(metadata=_metadata(os.path.dirname(path)))
        yield from export_reader.whole_conversation(path, parser, parser.message, cancel)


def _metadata(folder: str) -> SessionMetadata:
    id_ = os.path.basename(folder)
    began = _STARTED.fullmatch(id_)
    started = seconds(":".join(began.groups())) if began else None
    return SessionMetadata.of(id_, project=_project(folder), started=started)


def _project(folder: str) -> str:
    """Return the path of the folder in which a chat began; its name if the path is unknown."""
    found = _FOLDER.search(first_bytes(os.path.join(folder, "run-state.json"), _HEAD))
    stated = mapping(parse_line(b'{"cwd":' + found[1] + b"}")) if found else {}
    return string(stated, "cwd") or os.path.basename(os.path.dirname(os.path.dirname(folder)))
