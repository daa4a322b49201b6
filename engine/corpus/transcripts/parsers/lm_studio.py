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
from engine.corpus.transcripts.formats import Conversation, LineParser
from engine.corpus.transcripts.json_values import content, items, mapping, seconds, string, tool_input
from engine.corpus.transcripts.message_builder import Part, attached, next_turn
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.token_usage import counted

_ENDING = ".conversation.json"
_UNTITLED = "Unnamed Chat"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_STEPS_PASSED_OVER = ("debugInfoBlock", "status", "toolStatus", "citationBlock")
_TIME = re.compile(r"\d{13}(?=-)")


class _Parser(LineParser):
    """Parses the versions of messages that the user saw last, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(_ROLES, string(value.get("role"))) or "system"
        steps = list(map(mapping, items(value.get("steps"))))
        self._use(value, steps)
        times = (_TIME.match(string(step.get("stepIdentifier"))) for step in steps)
        time = next((seconds(int(found[0])) for found in times if found), None)
        blocks = [*self._blocks(value, role, "text"), *(part for step in steps for part in self._step(step, role))]
        return next_turn(self, blocks, time=time)

    def _use(self, version: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> None:
        """Count the models and tokens of an answer, or else the model that is named as its author."""
        requests: list[Mapping[str, Any]] = []
        for made in (mapping(step.get("genInfo")) for step in steps):
            if made and made not in requests:
                requests.append(made)
        for made in requests:
            stats = mapping(made.get("stats"))
            usage = counted(stats, "promptTokensCount predictedTokensCount")
            self.use(made.get("identifier") or made.get("indexedModelIdentifier"), usage)
        if steps and not requests:
            self.use_model(mapping(version.get("senderInfo")).get("senderName"))

    def _step(self, step: Mapping[str, Any], role: Role) -> Iterator[Part]:
        kind = step.get("type")
        if kind == "contentBlock":
            thinks = mapping(step.get("style")).get("type") == "thinking"
            yield from self._blocks(step, role, "thinking" if thinks else "text")
        elif kind not in _STEPS_PASSED_OVER:
            self.count_unknown(kind)

    def _blocks(self, value: Mapping[str, Any], role: Role, kind: Kind) -> Iterator[Part]:
        for block in map(mapping, items(value.get("content"))):
            sort = block.get("type")
            if sort == "text":
                yield Part(role, kind, string(block.get("text")))
            elif sort == "file":
                name, image = string(block.get("name")), string(block.get("fileType")) == "image"
                yield Part(role, "text", attached(name or string(block.get("fileIdentifier")), image=image))
            elif sort == "toolCallRequest":
                name = string(block.get("name"))
                yield Part("assistant", "tool-call", tool_input(block.get("parameters")) or name, name)
            elif sort == "toolCallResult":
                yield Part("tool", "tool-result", content(block.get("content")), string(block.get("name")))
            else:
                self.count_unknown(sort)


class LmStudioChat(SessionDocument):
    agent = "lm-studio"
    mark = b'"versions"'
    beginning = re.compile(
        rb'\A[\s\xef\xbb\xbf]*\{(?=.*?"messages"\s*:)(?=.*?"versions"\s*:)(?=.*?"(?:singleStep|multiStep)")', re.DOTALL
    )

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        title, id_ = one_line(string(value.get("name"))), os.path.basename(path).removesuffix(_ENDING)
        metadata = SessionMetadata(id=clean(id_), title="" if title == _UNTITLED else title)
        metadata.started = seconds(value.get("createdAt"))
        current: list[Mapping[str, Any]] = []
        others: list[Mapping[str, Any]] = []
        for message in map(mapping, items(value.get("messages"))):
            selected = message.get("currentlySelected", 0)
            for number, version in enumerate(map(mapping, items(message.get("versions")))):
                (current if number == selected else others).append(version)
        parser = _Parser(metadata=metadata)
        return read_branches(parser, "", current, others)
