"""Sessions of CodeWhale, formerly DeepSeek TUI: `~/.codewhale/sessions/<id>.json`, one object each.

Written from its public source (`session_manager.rs` of May 2026, and with `session_tree.rs` of version 0.9.10, August
2026): `metadata` has title, folder, model, times and cost; `messages` have content as in Anthropic's API. Since version
0.9.5, the entries of `journal` have the messages of all branches with their times; `leaf_id` is the end of the current
one. The program inserts a block with the state of the folder into the user's messages. Tokens are only recorded as one
sum.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.export_reader import SessionDocument, divided, read_branches
from engine.corpus.transcripts.formats import Conversation, Part
from engine.corpus.transcripts.json_values import (
    content,
    image_mark,
    items,
    mapping,
    objects,
    seconds,
    string,
    tool_input,
)
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES, BlockParser
from engine.corpus.transcripts.token_usage import Usage, dollars

_UNTITLED = "New Session"
_STATE = re.compile(r"\s*<turn_meta>.*?(?:</turn_meta>\s*|\Z)", re.DOTALL)
_RESULTS = ("tool_search_tool_result", "code_execution_tool_result")
_SUMMARIES = ("compaction", "branch_summary")


class _Parser(BlockParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        """Return the message of an entry of the journal."""
        kind = string(value, "kind")
        parts: list[Part] = []
        if kind == "message":
            message = mapping(value, "message")
            parts = self.blocks(message.get("content"), self.role(ROLES, string(message, "role")))
        elif kind in ("user", "assistant"):
            parts = [*self.text(string(value, "text"), "user" if kind == "user" else "assistant")]
        elif kind in _SUMMARIES:
            parts = [Part("system", "text", string(value, "summary"))]
        elif kind == "system":
            parts = [Part("system", "text", string(value, "content"))]
        else:
            self.count_unknown(f"entry {kind}" if kind else None)
        return self.next_message(parts, id=string(value, "id"), time=seconds(value.get("created_at")))

    def text(self, text: str, role: Role) -> Iterator[Part]:
        start = 0
        while role == "user" and (state := _STATE.match(text, start)):
            start = state.end()
        yield Part(role, "text", text[start:])

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        block = mapping(value)
        kind = block.get("type")
        if kind == "server_tool_use":
            yield from super()._block({**block, "type": "tool_use"}, role)
        elif kind in _RESULTS:
            body = block.get("content")
            text = tool_input(body) if isinstance(body, dict) else content(body)
            yield from super()._block({**block, "type": "tool_result", "content": text}, role)
        elif kind == "image_url":
            yield Part(role, "text", image_mark(block))
        else:
            yield from super()._block(value, role)


class CodeWhaleSession(SessionDocument):
    agent = "codewhale"
    members = "schema_version metadata workspace"

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        about = mapping(value, "metadata")
        metadata = SessionMetadata.of(
            about.get("id"),
            title=about.get("title"),
            untitled=(_UNTITLED,),
            project=about.get("workspace"),
            started=about.get("created_at"),
        )
        parser = _Parser(metadata=metadata)
        cost = mapping(about, "cost")
        costs = [dollars(cost.get(name)) or 0.0 for name in ("session_cost_usd", "subagent_cost_usd")]
        parser.use(about.get("model"), Usage(cost=sum(costs) or None))
        journal = mapping(value, "journal")
        entries = objects(journal, "entries")
        if entries:
            nodes: dict[str, Mapping[str, Any]] = {}
            parents: dict[str, str] = {}
            before = ""
            for number, entry in enumerate(entries):
                id_, parent = string(entry, "id"), string(entry, "parent_id")
                name = id_ or f"entry {number}"  # an entry without an id follows the previous one
                nodes[name], parents[name] = entry, parent if id_ else parent or before
                before = name
            times = {name: seconds(entry.get("created_at")) for name, entry in nodes.items()}
            tip = string(journal, "leaf_id") or string(value, "leaf_id")
            current, others = divided(nodes, parents, times, tip)
        else:
            current, others = [{"kind": "message", "message": message} for message in items(value, "messages")], []
        conversation = read_branches(parser, "", current, others)
        metadata.ended = max(filter(None, (metadata.ended, seconds(about.get("updated_at")))), default=None)
        return conversation
