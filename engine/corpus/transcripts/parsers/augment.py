"""Sessions of Auggie, Augment's command line: `~/.augment/sessions/<id>.json`, one object each.

There is no published specification. Written from programs that read them and from one that writes them for version 0.36
(October 2026): `chatHistory` has exchanges, each with a request and its answer. The first request of a turn is the
user's text; the following ones are the results of the tools that the answer before them called. Requests and answers
also have lists of nodes, whose `type` is a number: in a request, 0 is a text, 1 a tool result, and 4 names the folder;
in an answer, 0 is a text and 5 a tool call. The plain texts may be empty if there are nodes. Only the end of an
exchange has a time. An answer's node may have the answer's `token_usage`, as Anthropic's API counts it; the exchange
names the model, or else the session's `agentState` does (tokscale, August 2026). Augment's extensions for editors store
their chats elsewhere.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.export_reader import SessionDocument
from engine.corpus.transcripts.formats import Conversation, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, items, mapping, member, objects, seconds, string
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import BlockParser
from engine.corpus.transcripts.token_usage import Usage, anthropic_usage

_TEXT, _RESULT, _CALL, _STATE = 0, 1, 5, 4


class _Parser(BlockParser, kw_only=True):
    model: str = ""
    """The session's model, used for exchanges that don't name one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        exchange = mapping(value, "exchange")
        counts = (anthropic_usage(node.get("token_usage")) for node in _nodes(exchange.get("response_nodes")))
        usage = next((usage for usage in counts if usage.is_recorded), Usage())
        self.use(exchange.get("model_id") or self.model, usage)
        request = self.next_message(list(self._request(exchange)), id=string(exchange, "request_id"))
        answer = self.next_message(list(self._answer(exchange)), time=seconds(value.get("finishedAt")))
        return [*request, *answer]

    def _request(self, exchange: Mapping[str, Any]) -> Iterator[Part]:
        nodes = _nodes(exchange.get("request_nodes"))
        results = [mapping(node, "tool_result_node") for node in nodes if node.get("type") == _RESULT]
        for result in results:
            id = string(result, "tool_use_id")
            text, failed = content(result, "content"), self.failed(result)
            yield tool_result(text, call=id, failed=failed)
        text = string(exchange, "request_message") or "\n".join(
            string(node, "text_node", "content") for node in nodes if node.get("type") == _TEXT
        )
        yield Part("system" if results else "user", "text", text)

    def _answer(self, exchange: Mapping[str, Any]) -> Iterator[Part]:
        nodes = _nodes(exchange.get("response_nodes"))
        written = "".join(string(node, "content") for node in nodes if node.get("type") == _TEXT)
        yield Part("assistant", "text", written or string(exchange, "response_text"))
        for node in nodes:
            if node.get("type") == _CALL:
                call = mapping(node, "tool_use")
                name, id = string(call, "tool_name"), string(call, "tool_use_id")
                yield tool_call(string(call, "input_json"), name, id)


def _nodes(value: object) -> list[Mapping[str, Any]]:
    return objects(value)


class AuggieSession(SessionDocument):
    agent = "augment"
    members = "chatHistory sessionId"

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        history = items(value, "chatHistory")
        metadata = SessionMetadata.of(
            value.get("sessionId"),
            title=value.get("title"),
            project=_folder(mapping(history[0] if history else None)),
            started=value.get("created"),
        )
        parser = _Parser(metadata=metadata, model=string(value, "agentState", "modelId"))
        messages = [message for exchange in history for message in parser.feed(mapping(exchange), 0)]
        return parser.conversation("", messages)


def _folder(exchange: Mapping[str, Any]) -> str:
    for node in _nodes(member(exchange, "exchange", "request_nodes")):
        folders = items(node, "ide_state_node", "workspace_folders")
        if node.get("type") == _STATE and folders:
            folder = mapping(folders[0])
            return string(folder, "folder_root") or string(folder, "repository_root")
    return ""
