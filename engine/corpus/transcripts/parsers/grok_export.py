"""The data export of Grok's website: `prod-grok-backend.json`, an object with all `conversations`.

There is no published specification. Written from programs that read it, as of 2025 and 2026. An entry has metadata in
`conversation`, and `responses`, each a message in `response` with its `sender` ("human" or "assistant") and the id of
the one that it answers. Times are in ISO 8601, or as databases write them: `{"$date": {"$numberLong": "…"}}`.
"""

from collections.abc import Mapping
from typing import Any

from engine.corpus.transcripts.export_reader import Export, divided, read_branches
from engine.corpus.transcripts.formats import Conversation, LineParser, Part
from engine.corpus.transcripts.json_values import items, mapping, seconds, string
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean

_CONVERSATIONS = "conversations"
_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}
_THOUGHTS = "thinking_trace"


class _Parser(LineParser):
    """Parses the messages of one branch, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(_ROLES, string(value, "sender"), "sender")
        if role == "assistant":
            self.use_model(value.get("model"))
        pictures = ["[image]" for _ in items(value, "generated_image_urls")[:20]]
        text = "\n".join(filter(None, (string(value, "message"), *pictures)))
        parts = Part(role, "thinking", string(value, _THOUGHTS)), Part(role, "text", text)
        return self.next_message(parts, id=_id(value), time=_time(value.get("create_time")))


class GrokExport(Export):
    agent = "grok-web"
    members = "responses conversations response"
    array = _CONVERSATIONS
    member = "responses"

    def conversation(self, path: str, value: Mapping[str, Any]) -> Conversation:
        described = mapping(value, "conversation")
        responses = [mapping(entry, "response") for entry in items(value, "responses")]
        by_name = {_id(message) or f"number {number}": message for number, message in enumerate(responses)}
        names = list(by_name)
        named = {name: string(message, "parent_response_id") for name, message in by_name.items()}
        # A message that doesn't name an earlier one answers the one before it.
        parents = {name: above or (names[at - 1] if at else "") for at, (name, above) in enumerate(named.items())}
        times = {name: _time(message.get("create_time")) for name, message in by_name.items()}
        key = clean(described, "id")
        parser = _Parser(metadata=SessionMetadata.of(key, title=described.get("title")))
        started, ended = _time(described.get("create_time")), _time(described.get("modify_time"))
        return read_branches(parser, key, *divided(by_name, parents, times), started=started, ended=ended)


def _id(message: Mapping[str, Any]) -> str:
    return clean(message, "_id")


def _time(value: object) -> float | None:
    """Return a time, in any of the forms of the export, as seconds since the epoch; None if it is not a time."""
    inner = mapping(value).get("$date", value)
    number = string(inner, "$numberLong")
    return seconds(int(number) if number.isdecimal() and len(number) < 16 else inner)
