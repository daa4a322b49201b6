"""Chats of LM Studio: `~/.lmstudio/conversations/<folder>/<time>.conversation.json`, one object each.

There is no published specification. Written from programs that read and write them, up to summer 2026: each of
`messages` has `versions`; the user sees the one that `currentlySelected` numbers. A version is a message
(`singleStep`), or an answer in `steps`, whose identifiers begin with the time. Times of the user's messages are not
stored. `genInfo` of a step has the model and the numbers of tokens of the request, as in the type `LLMGenInfo` of
lmstudio-js (2026); several steps of a request may repeat it.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.export_reader import SessionDocument, read_branches
from engine.corpus.transcripts.formats import OBJECT, Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import (
    attached,
    content,
    mapping,
    member,
    objects,
    seconds,
    string,
    tool_input,
)
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionMetadata, one_line
from engine.corpus.transcripts.token_usage import counted

_ENDING = ".conversation.json"
_UNTITLED = "Unnamed Chat"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_IGNORED_STEPS = ("debugInfoBlock", "status", "toolStatus", "citationBlock")
_TIME = re.compile(r"\d{13}(?=-)")


class _Parser(LineParser):
    """Parses the versions of messages that the user saw last, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(_ROLES, string(value, "role"))
        steps = objects(value, "steps")
        self._use(value, steps)
        times = (_TIME.match(string(step, "stepIdentifier")) for step in steps)
        time = next((seconds(int(found[0])) for found in times if found), None)
        blocks = [*self._blocks(value, role, "text"), *(part for step in steps for part in self._step(step, role))]
        return self.next_message(blocks, time=time)

    def _use(self, version: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> None:
        """Count the models and tokens of an answer, or else the model that is named as its author."""
        requests: list[Mapping[str, Any]] = []
        for made in (mapping(step, "genInfo") for step in steps):
            if made and made not in requests:
                requests.append(made)
        for made in requests:
            stats = mapping(made, "stats")
            usage = counted(stats, "promptTokensCount predictedTokensCount")
            self.use(made.get("identifier") or made.get("indexedModelIdentifier"), usage)
        if steps and not requests:
            self.use_model(member(version, "senderInfo", "senderName"))

    def _step(self, step: Mapping[str, Any], role: Role) -> Iterator[Part]:
        kind = step.get("type")
        if kind == "contentBlock":
            thinks = member(step, "style", "type") == "thinking"
            yield from self._blocks(step, role, "thinking" if thinks else "text")
        elif kind not in _IGNORED_STEPS:
            self.count_unknown(kind)

    def _blocks(self, value: Mapping[str, Any], role: Role, kind: Kind) -> Iterator[Part]:
        for block in objects(value, "content"):
            sort = block.get("type")
            if sort == "text":
                yield Part(role, kind, string(block, "text"))
            elif sort == "file":
                name, image = string(block, "name"), string(block, "fileType") == "image"
                yield Part(role, "text", attached(name or string(block, "fileIdentifier"), image=image))
            elif sort == "toolCallRequest":
                name = string(block, "name")
                yield tool_call(tool_input(block, "parameters"), name)
            elif sort == "toolCallResult":
                yield tool_result(content(block, "content"), string(block, "name"))
            else:
                self.count_unknown(sort)


class LmStudioChat(SessionDocument):
    agent = "lm-studio"
    opening = re.compile(OBJECT.pattern + rb'(?=.*?"(?:singleStep|multiStep)")', re.DOTALL)
    members = "versions messages"

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        title, id_ = one_line(value, "name"), os.path.basename(path).removesuffix(_ENDING)
        metadata = SessionMetadata.of(id_, title=title, untitled=(_UNTITLED,), started=value.get("createdAt"))
        current: list[Mapping[str, Any]] = []
        others: list[Mapping[str, Any]] = []
        for message in objects(value, "messages"):
            selected = message.get("currentlySelected", 0)
            for number, version in enumerate(objects(message, "versions")):
                (current if number == selected else others).append(version)
        parser = _Parser(metadata=metadata)
        return read_branches(parser, "", current, others)
