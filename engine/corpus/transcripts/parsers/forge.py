"""ForgeCode: all sessions of a machine in `~/.forge/.forge.db`, formerly `~/forge/.forge.db`.

Written from its public source (`forge_domain/src/context.rs`, autumn 2026) and from the readers of agentsview and
claude-code-history-viewer (August 2026). `conversations` has a title, times, and the context for the model as JSON:
`messages` with a `message`, which is a `text` of a role or the result of a `tool`; a text may call tools. The user's
words before they were inserted into a template are in `raw_content`. They are followed by images, and by files and
other context that the program added as `droppable` texts of the user (`forge_app/src/user_prompt.rs`, April 2026). Only
the system prompt names the folder.

Messages have no time: they get the session's. Numbers of tokens sent are not read, since providers differ in
whether they include cached ones.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, cell, row_of, whole
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import between, image_mark, items, mapping, member, objects, seconds, string
from engine.corpus.transcripts.messages import SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import arguments
from engine.corpus.transcripts.token_usage import Usage, tokens

_FOLDER = ("<current_working_directory>", "</current_working_directory>")


class ForgeReader(LineParser):
    """Parses the messages of one conversation."""

    def parts(self, entry: Mapping[str, Any]) -> Iterator[Part]:
        message = mapping(entry, "message")
        if "text" in message:
            yield from self._text(mapping(message["text"]))
            received = tokens(member(entry, "usage", "completion_tokens", "actual"))
            self.use(member(message["text"], "model"), Usage(output=received))
        elif "tool" in message:
            result = mapping(message["tool"])
            output, id = mapping(result, "output"), string(result, "call_id")
            text = "\n".join(map(_value, objects(output, "values")))
            yield tool_result(text, string(result, "name"), id, output.get("is_error") is True)
        elif "image" in message:
            yield Part("user", "text", image_mark(message["image"]))
        else:
            self.count_unknown("message")

    def _text(self, text: Mapping[str, Any]) -> Iterator[Part]:
        role, content = string(text, "role").lower(), string(text, "content")
        if role == "system":
            self.metadata.project = self.metadata.project or clean(between(content, *_FOLDER))
        elif role == "user" and text.get("droppable") is True:
            yield Part("system", "text", content)
        elif role == "user":
            yield Part("user", "text", _typed(mapping(text, "raw_content")) or content)
        elif role == "assistant":
            thoughts = [string(thought, "text") for thought in items(text, "reasoning_details")]
            yield Part("assistant", "thinking", "".join(thoughts))
            yield Part("assistant", "text", content)
            for call in objects(text, "tool_calls"):
                yield tool_call(arguments(call.get("arguments")), string(call, "name"), string(call, "call_id"))
        else:
            self.count_unknown(f"role {role}" if role else None)


def _typed(raw: Mapping[str, Any]) -> str:
    """Return the user's words: a text, or a command with its parameters."""
    command = mapping(raw, "Command")
    words = [f"/{string(command.get('name'))}", *map(string, items(command, "parameters"))]
    return string(raw, "Text") or (" ".join(words).strip() if command else "")


def _value(value: Mapping[str, Any]) -> str:
    return string(value, "text") or (image_mark(value["image"]) if "image" in value else "")


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    names = "title created_at updated_at context{}"
    row = row_of(connection, "conversations", names, key, "conversation_id")
    started = seconds(row["created_at"])
    ended = seconds(row["updated_at"]) or started
    reader = ForgeReader(metadata=SessionMetadata.of(key, title=row["title"], started=started, ended=ended))
    entries = items(cell(reader, row["context"]), "messages")
    turns = (reader.next_message(turn, time=ended) for turn in _turns(reader, entries))
    return reader.conversation(key, whole(reader, turns))


def _turns(reader: ForgeReader, entries: list[Any]) -> Iterator[list[Part]]:
    """Yield the parts of each message; images and context belong to the user's words before them."""
    turn: list[Part] = []
    for entry in map(mapping, entries):
        parts = list(reader.parts(entry))
        added = "image" in mapping(entry, "message") or any(part.role == "system" for part in parts)
        if not (added and turn and turn[0].role == "user"):
            yield turn
            turn = []
        turn += parts
    yield turn


FORGE_DATABASE = RowFormat(
    agent="forge",
    needed={"conversations": frozenset({"conversation_id", "title", "workspace_id", "context", "created_at"})},
    listed="""SELECT CAST(conversation_id AS BLOB), CAST(COALESCE(updated_at, created_at) AS BLOB),
        CAST(title AS BLOB), octet_length(context) FROM conversations WHERE context IS NOT NULL""",
    conversation=_conversation,
)
