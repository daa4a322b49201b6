"""Zencoder: `~/.zencoder/sessions/<id>.jsonl`.

There is no published specification. Written from agentsview's reader (August 2026): the first line describes the
session (`id`, `chatId`, `modelId`, `createdAt`, `creationReason`), every other one is a message with `role` and blocks
in `content`, as in Vercel's AI SDK. The system prompt, a text, names the folder. A block of a user's message with
another `tag` than `user-input` was inserted by the program, as were blocks with a `tag` in a tool's result and skills.
Lines `finish` and `permission` have no text. Tokens are not recorded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.corpus.transcripts.formats import LineFormat, Part
from engine.corpus.transcripts.json_values import content, items, mapping, member, seconds, string
from engine.corpus.transcripts.messages import Message, Role, clean
from engine.corpus.transcripts.model_api_messages import SdkParser

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
_IGNORED = frozenset({"finish", "permission"})
_FOLDER = re.compile(r"Working directory:[ \t]+([^\r\n]{1,4096})")
_HEADER = frozenset({"id", "createdAt"})
_HEADER_MARKS = frozenset({"chatId", "creationReason", "modelId"})


class ZencoderParser(SdkParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = string(value, "role")
        if not role:
            if _is_header(value):
                self.use_model(value.get("modelId"))
                self.metadata.started = seconds(value.get("createdAt"), self.metadata.started)
            else:
                self.count_unknown(None)
            return []
        if role == "system":
            match = _FOLDER.search(content(value, "content"))
            self.metadata.project = self.metadata.project or clean(match[1].strip() if match else "")
            return []
        if role not in _ROLES:
            if role not in _IGNORED:
                self.count_unknown(f"role {role}")
            return []
        parts = self.blocks(value.get("content"), _ROLES[role])
        return self.next_message(parts, line=line, time=seconds(value.get("createdAt")))

    def result(self, block: Mapping[str, Any]) -> str:
        body = block.get("content")
        parts = [part for part in items(body) if not member(part, "tag")] if isinstance(body, list) else body
        return content(parts)

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        block = mapping(value)
        kind = block.get("type")
        if kind == "skill":
            yield Part("system", "text", string(block, "content"))
        elif kind == "text" and role == "user" and block.get("tag") not in (None, "", "user-input"):
            yield Part("system", "text", string(block, "text"))
        else:
            yield from super()._block(value, role)


class ZencoderFormat(LineFormat):
    agent = "zencoder"
    parses = ZencoderParser
    speech_marks = (b'"role":"user"', b'"role":"assistant"')

    def matches(self, values: Sequence[Mapping[str, Any]]) -> bool:
        if not values or not _is_header(values[0]):
            return False
        return len(values) == 1 or any(string(value, "role") for value in values[1:])


def _is_header(value: Mapping[str, Any]) -> bool:
    return "role" not in value and value.keys() >= _HEADER and bool(value.keys() & _HEADER_MARKS)
