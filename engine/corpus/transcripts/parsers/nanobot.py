"""nanobot: `~/.nanobot/sessions/<workspace>/<name>.jsonl`, before autumn 2026 `~/.nanobot/sessions/<name>.jsonl`.

Written from a description of its public source (`session/manager.py`, `runtime_context.py`, version 0.3.5 of October
2026). The first line describes the session, whose key names the channel and the chat; the other lines are messages of
the chat completions API with the local time. `.workspace` next to them has the folder. Text that the program appended
to the user's is repeated in `_runtime_context`; a message with `_hidden_history` replaces older ones. The file is
always rewritten as a whole. Models and tokens are not recorded.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts.formats import LineFormat, Part
from engine.corpus.transcripts.json_values import items, local_time, mapping, string
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import ChatParser

_FOLDER = ".workspace"
_LONGEST_FOLDER = 4096


class NanobotParser(ChatParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind = value.get("_type")
        if kind == "metadata":
            self.metadata.id = clean(value, "key") or self.metadata.id
            self.metadata.started = local_time(value.get("created_at"))
            return []
        if kind is not None:
            if kind != "provider_state":
                self.count_unknown(kind)
            return []
        return self.next_message(list(self._parts(value)), line, time=local_time(value.get("timestamp")))

    def _parts(self, message: Mapping[str, Any]) -> Iterator[Part]:
        marked = mapping(message, "_runtime_context")
        own, added = _divided(message.get("content"), marked)
        for part in self.chat_parts({**message, "content": own}):
            hidden = part.role == "user" and message.get("_hidden_history") is True
            yield part._replace(role="system") if hidden else part
        for text in added:
            yield Part("system", "text", text)


def _divided(content: object, marked: Mapping[str, Any]) -> tuple[object, list[str]]:
    """Return the user's content, and the texts that the program appended to it."""
    added, blocks = string(marked, "suffix"), items(marked, "blocks")
    if isinstance(content, str) and added and content.endswith(added):
        return content[: -len(added)].rstrip("\n"), [added]
    if isinstance(content, list) and blocks and content[-len(blocks) :] == blocks:
        return content[: -len(blocks)], [string(block, "text") for block in blocks]
    return content, []


class NanobotFormat(LineFormat):
    agent = "nanobot"
    parses = NanobotParser
    speech_marks = (b'"role": "user"', b'"role": "assistant"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return value.get("_type") == "metadata" and isinstance(value.get("key"), str) and "created_at" in value

    def metadata(self, path: str) -> SessionMetadata:
        folder, name = os.path.split(path)
        project = first_bytes(os.path.join(folder, _FOLDER), _LONGEST_FOLDER).decode(errors="replace").strip()
        return SessionMetadata.of(name.removesuffix(".jsonl"), project=project)
