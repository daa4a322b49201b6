"""Shelley: all sessions in `~/.config/shelley/shelley.db`.

Written from agentsview's reader (August 2026), which was checked against real databases: `conversations` have a name, a
folder, a model and a sub-agent's parent; a row of `messages` has a type, and a message of the model in `llm_data`: Go's
objects with capitalised names and numbers for the types of blocks. Rows of all generations are read; a new generation
begins after a compaction.
"""

from collections.abc import Iterator, Mapping

import apsw

from engine.corpus.transcripts.database_format import (
    RowFormat,
    cell,
    row_of,
    rows_of,
    whole,
)
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import mapping, member, objects, seconds, string, tool_input
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.token_usage import counted

_ROLES: Mapping[str, Role] = {"user": "user", "agent": "assistant", "tool": "tool"}
"""Roles by type of a row; all other rows were inserted by the program."""
_TEXT, _THOUGHT, _HIDDEN_THOUGHT, _CALL, _RESULT, _SERVER_CALL, _SEARCH, _FOUND = range(2, 10)
_TYPED = ("text", "content", "prompt", "message")
_COUNTS = "input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens"


class ShelleyReader(LineParser, kw_only=True):
    def parts(self, blocks: object, role: Role) -> Iterator[Part]:
        for block in objects(blocks):
            kind = block.get("Type")
            if kind == _TEXT:
                yield Part(role, "text", string(block, "Text"))
            elif kind == _THOUGHT:
                yield Part("assistant", "thinking", string(block, "Thinking"))
            elif kind in (_CALL, _SERVER_CALL):
                name, id = string(block, "ToolName"), clean(block, "ID")
                yield tool_call(tool_input(block, "ToolInput"), name, id)
            elif kind in (_RESULT, _SEARCH):
                id, failed = clean(block, "ToolUseID"), block.get("ToolError") is True
                yield tool_result(_result(block.get("ToolResult")), "", id, failed)
            elif kind == _FOUND:
                yield tool_result(_result([block]))
            elif kind != _HIDDEN_THOUGHT:
                self.count_unknown(f"block {kind}" if isinstance(kind, int) else None)


def _result(blocks: object) -> str:
    """Return the text of a tool's result, or titles and addresses of pages."""
    texts = []
    for block in objects(blocks):
        named = " ".join(filter(None, (string(block, "Title"), string(block, "URL"))))
        texts.append(string(block, "Text") or named)
    return "\n".join(filter(None, texts))


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    names = "slug cwd created_at parent_conversation_id model"
    row = row_of(connection, "conversations", names, key, "conversation_id")
    name, folder, created, parent, used = row.values()
    metadata = SessionMetadata.of(key, title=name, project=folder, parent=parent, started=created)
    reader = ShelleyReader(metadata=metadata)
    turns = _turns(connection, key, reader, string(used))
    return reader.conversation(key, whole(reader, turns))


def _turns(connection: apsw.Connection, key: str, reader: ShelleyReader, model: str) -> Iterator[list[Message]]:
    for row in rows_of(
        connection,
        "messages",
        "type created_at llm_data{} user_data{} usage_data{}",
        "conversation_id",
        key,
        "sequence_id",
        has_index=False,
    ):
        kind, created, message, typed, used = row.values()
        counts = mapping(cell(reader, used)) if used is not None else {}
        reader.use(string(counts, "model") or model, counted(counts, _COUNTS, cost="cost_usd"))
        role = _ROLES.get(string(kind), "system")
        parts = list(reader.parts(member(cell(reader, message), "Content"), role)) if message is not None else []
        if not parts and typed is not None:
            value = cell(reader, typed)
            words = string(value) or next(filter(None, (string(value, name) for name in _TYPED)), "")
            parts = [Part(role, "text", words)]
        yield reader.next_message(parts, time=seconds(created))


SHELLEY_DATABASE = RowFormat(
    agent="shelley",
    needed={
        "conversations": frozenset({"conversation_id", "slug", "cwd", "created_at", "parent_conversation_id"}),
        "messages": frozenset({"conversation_id", "sequence_id", "type", "llm_data", "user_data", "usage_data"}),
    },
    listed="""SELECT CAST(c.conversation_id AS BLOB), CAST(c.updated_at AS BLOB), CAST(c.slug AS BLOB), count(*),
        max(m.sequence_id), sum(octet_length(m.llm_data)) FROM conversations c JOIN messages m USING (conversation_id)
        GROUP BY c.conversation_id""",
    conversation=_conversation,
)
