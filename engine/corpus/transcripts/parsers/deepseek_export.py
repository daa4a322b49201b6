"""DeepSeek's data export: `conversations.json`, an array of conversations, each a tree of messages.

There is no published specification. Written from programs that read it, and the stream of its website, as of 2025 and
2026: `mapping` has the nodes by id, as in ChatGPT's export, but no node is named as the last one. A message is a list
of `fragments`: REQUEST is the user's, RESPONSE and THINK are the model's. Messages of early 2025 have no fragments and
don't name their author: they are counted, not read.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.transcripts.export_reader import Export, divided, read_branches
from engine.corpus.transcripts.formats import OBJECTS, Conversation, LineParser, Part, tool_result
from engine.corpus.transcripts.json_values import attached, mapping, objects, seconds, string, tool_input
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionMetadata, clean

_FRAGMENTS: dict[str, tuple[Role, Kind]] = {
    "REQUEST": ("user", "text"),
    "RESPONSE": ("assistant", "text"),
    "TEMPLATE_RESPONSE": ("assistant", "text"),
    "THINK": ("assistant", "thinking"),
}
_FOUND = ("SEARCH", "READ_LINK", "TOOL_SEARCH", "TOOL_OPEN")


class _Parser(LineParser):
    """Parses the messages of one branch, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        time = seconds(value.get("inserted_at"))
        self.use_model(value.get("model"))
        return self.next_message(self._parts(value), id=string(value, "id"), time=time)

    def _parts(self, value: Mapping[str, Any]) -> Iterator[Part]:
        author: Role = "assistant"
        if "fragments" not in value:
            self.count_unknown("message without fragments")
        for fragment in objects(value, "fragments"):
            sort = string(fragment, "type")
            if sort in _FRAGMENTS:
                author, kind = _FRAGMENTS[sort]
                yield Part(author, kind, string(fragment, "content"))
            elif sort in _FOUND:
                yield tool_result(tool_input(fragment.get("results", fragment.get("content"))), sort.lower())
            else:
                self.count_unknown(sort)
        for file in objects(value, "files"):
            yield Part(author, "text", attached(string(file, "file_name")))


class DeepSeekExport(Export):
    agent = "deepseek"
    opening = OBJECTS
    members = "inserted_at mapping"
    member = "mapping"

    def conversation(self, path: str, value: Mapping[str, Any]) -> Conversation:
        key = clean(value, "id")
        nodes = {name: mapping(node) for name, node in mapping(value, "mapping").items()}
        by_name = {
            name: {**mapping(node["message"]), "id": name} for name, node in nodes.items() if node.get("message")
        }
        parents = {name: string(node, "parent") for name, node in nodes.items()}
        times = {name: seconds(message.get("inserted_at")) for name, message in by_name.items()}
        parser = _Parser(metadata=SessionMetadata.of(key, title=value.get("title")))
        started, ended = seconds(value.get("inserted_at")), seconds(value.get("updated_at"))
        return read_branches(parser, key, *divided(by_name, parents, times), started=started, ended=ended)
