"""Jan: `threads/<id>/messages.jsonl` in its data folder, with `thread.json` next to it.

Written from its public source up to November 2026 (`core/src/types/message/messageEntity.ts`,
`src-tauri/src/core/threads/commands.rs`, `web-app/src/lib/completion.ts`): a line has `role`, `created_at` and blocks
in `content`, whose text is in `text.value`; tool results are in the blocks of their calls. Until 2026 calls were in
`metadata.tool_calls`, and thoughts in the text, in `<think>`. The user may edit and delete messages, which writes the
file again. `thread.json` has the title, and the model that was chosen last.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.transcripts.formats import LineFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import (
    content,
    image_mark,
    mapping,
    objects,
    seconds,
    string,
    tool_input,
)
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES, arguments, sidecar

_OBJECT = "thread.message"
_THOUGHT, _THOUGHT_END = "<think>", "</think>"
_UNTITLED = "New Thread"


class JanParser(LineParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(ROLES, string(value, "role"))
        blocks = objects(value, "content")
        parts = [part for block in blocks for part in self._block(block, role)]
        parts += _calls(mapping(value, "metadata"))
        return self.next_message(parts, line, id=string(value, "id"), time=seconds(value.get("created_at")))

    def _block(self, block: Mapping[str, Any], role: Role) -> Iterator[Part]:
        kind, text = block.get("type"), string(block, "text", "value")
        if kind == "text":
            thought, end, rest = text.lstrip().removeprefix(_THOUGHT).partition(_THOUGHT_END)
            if role == "assistant" and end and text.lstrip().startswith(_THOUGHT):
                yield Part(role, "thinking", thought.strip("\n"))
                text = rest.lstrip("\n")
            yield Part(role, "tool-result" if role == "tool" else "text", text)
        elif kind == "reasoning":
            yield Part(role, "thinking", text)
        elif kind == "image_url":
            yield Part(role, "text", image_mark(block))
        elif kind == "tool_call":
            name, output = string(block, "tool_name"), block.get("output")
            yield from _results(tool_input(block, "input") or name, name, string(block, "tool_call_id"), output)
        else:
            self.count_unknown(f"block {kind}" if isinstance(kind, str) else None)


def _calls(metadata: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the tool calls and results of a message in the form of older versions."""
    for call in objects(metadata, "tool_calls"):
        function = mapping(call, "tool", "function")
        name = string(function, "name")
        id = string(call, "tool", "id")
        yield from _results(arguments(function.get("arguments")) or name, name, id, call.get("response"))


def _results(given: str, name: str, id: str, output: object) -> Iterator[Part]:
    """Yield a call and its result, which has an `error` if the tool failed."""
    error = string(output, "error")
    yield tool_call(given, name, id)
    text = content(mapping(output).get("content", output)) or error
    text = text or ("" if "content" in mapping(output) else tool_input(output))
    yield tool_result(text, name, id, bool(error))


class JanFormat(LineFormat):
    agent = "jan-ai"
    parses = JanParser
    speech_marks = (b'"role":"user"', b'"role":"assistant"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return value.get("object") == _OBJECT and isinstance(value.get("content"), list)

    def begin(self, path: str) -> JanParser:
        folder = os.path.dirname(path)
        thread = sidecar(os.path.join(folder, "thread.json"))
        metadata = SessionMetadata.of(os.path.basename(folder), title=thread.get("title"), untitled=(_UNTITLED,))
        parser = JanParser(metadata=metadata)
        assistants = objects(thread, "assistants")
        chosen = (mapping(holder, "model") for holder in (thread, *assistants))
        parser.use_model(next((id_ for model in chosen if (id_ := string(model, "id"))), ""))
        return parser
