"""Conversations with Warp's agent: all in `warp.sqlite` of the terminal's state folder.

Written from its public source of August 2026 (`crates/persistence/src/schema.rs`, `model.rs`,
`app/src/persistence/agent.rs`) and the definition of its messages (`task.proto` of warp-proto-apis, 2026). A row of
`agent_conversations` is a conversation; `agent_tasks` has its tasks as Protobuf, each with messages. Tasks that another
task started are a sub-agent's. `ai_queries` has the folder and the chosen model; newer messages name the model that
answered. Warp stores the last 200 conversations; those before June 2025 have only the user's words, and are not read.
The recorded numbers of tokens don't say which were sent.
"""

from collections.abc import Callable, Iterator, Mapping
from struct import unpack
from typing import Any, NamedTuple

import apsw
import msgspec

from engine.corpus.transcripts.database_format import RowFormat, as_text, columns, data_of, rows_with, whole
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import mapping
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import SessionMetadata, clean, one_line
from engine.corpus.transcripts.parsers.protobuf import Fields, fields_of
from engine.corpus.transcripts.sqlite_view import tables

_ABOUT = f"SELECT {data_of('conversation_data')} FROM agent_conversations WHERE conversation_id = ?"
_TASKS = f"SELECT {data_of('task')} FROM agent_tasks WHERE {{ours}} ORDER BY id"
_DEEPEST = 20
"""Maximum number of levels of a tool's arguments."""


def _last(fields: Fields, *path: int) -> Any:
    """Return the last value of a field of a field; None if it isn't set."""
    value: Any = None
    for depth, number in enumerate(path):
        values = (fields if depth == 0 else fields_of(value)).get(number)
        if not values:
            return None
        value = values[-1]
    return value


def _text(fields: Fields, *path: int) -> str:
    return _decoded(_last(fields, *path))


def _decoded(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _texts(fields: Fields, number: int) -> list[str]:
    return [text for value in fields.get(number, ()) if (text := _decoded(value))]


def _struct(data: object, depth: int = 0) -> Any:
    """Return a `google.protobuf.Struct` as a JSON object."""
    entries = map(fields_of, fields_of(data).get(1, ()))
    return {_text(entry, 1): _value(_last(entry, 2), depth + 1) for entry in entries}


def _value(data: object, depth: int) -> Any:
    fields = fields_of(data)
    if depth > _DEEPEST:
        return None
    if isinstance(number := _last(fields, 2), bytes) and len(number) == 8:
        return unpack("<d", number)[0]
    if 3 in fields:
        return _text(fields, 3)
    if 4 in fields:
        return bool(_last(fields, 4))
    if 5 in fields:
        return _struct(_last(fields, 5), depth)
    if 6 in fields:
        return [_value(item, depth + 1) for item in fields_of(_last(fields, 6)).get(1, ())]
    return None


# --- Calls of tools and their results, by the number of their field --------------------------------------------------


def _call(name: str, /, **arguments: object) -> Part:
    present = {key: value for key, value in arguments.items() if value}
    text = next(iter(present.values())) if len(present) == 1 else None
    encoded = text if isinstance(text, str) else msgspec.json.encode(present).decode()
    return tool_call(encoded if present else name, name)


def _diffs(fields: Fields) -> Iterator[Part]:
    for edit in map(fields_of, fields.get(2, ())):
        yield _call("edit_file", path=_text(edit, 1), old=_text(edit, 2), new=_text(edit, 3))
    for edit in map(fields_of, fields.get(5, ())):
        hunks = [fields_of(hunk) for hunk in edit.get(3, ())]
        old, new = ("\n".join(_text(hunk, number) for hunk in hunks) for number in (3, 4))
        yield _call("edit_file", path=_text(edit, 2) or _text(edit, 1), old=old, new=new)
    for edit in map(fields_of, fields.get(3, ())):
        yield _call("create_file", path=_text(edit, 1), content=_text(edit, 2))
    for edit in map(fields_of, fields.get(4, ())):
        yield _call("delete_file", path=_text(edit, 1))


def _read(fields: Fields) -> Iterator[Part]:
    for file in map(fields_of, fields.get(1, ())):
        yield _call("read_file", path=_text(file, 1))


def _documents(fields: Fields) -> Iterator[Part]:
    for document in map(fields_of, fields.get(1, ())):
        yield _call("document", title=_text(document, 2), content=_text(document, 1))


def _mcp(fields: Fields) -> Iterator[Part]:
    yield _call(_text(fields, 1) or "mcp", **_struct(_last(fields, 2)))


def _named(name: str, number: int = 1) -> Callable[[Fields], Iterator[Part]]:
    """Return a reader of calls whose argument is the text, or texts, in one field."""
    return lambda fields: iter([_call(name, query="\n".join(_texts(fields, number)))])


_CALLS: Mapping[int, Callable[[Fields], Iterator[Part]]] = {
    2: _named("run_shell_command"),
    3: _named("search_codebase"),
    5: _read,
    6: _diffs,
    7: _named("suggest_plan"),
    9: _named("grep"),
    10: _named("file_glob"),
    12: _mcp,
    13: _named("write_to_shell_command"),
    15: _named("file_glob"),
    19: _named("subagent", 2),
    22: _documents,
    29: _named("start_agent", 2),
}
_TEXTS: Mapping[int, tuple[tuple[int, ...], ...]] = {
    2: ((5, 1), (1,)),
    6: ((2, 1),),
    9: ((2, 1),),
    10: ((1, 1), (2, 1)),
    16: ((1, 1, 1, 1), (2, 1)),
    17: ((2, 1),),
    23: ((1,),),
    27: ((3, 1),),
}
"""Fields that can have the text of a result, each a path, by the number of the result's field."""
_ERRORS: Mapping[int, tuple[int, ...]] = {
    **dict.fromkeys((3, 5, 6, 9, 10, 15, 16, 19, 24, 25, 26, 28, 30, 32, 33, 34), (2,)),
    **dict.fromkeys((17, 29, 35), (3,)),
    2: (6, 7),
    27: (4,),
    31: (2, 3),
}
"""Fields that are set if the tool failed or was refused, by the number of the result's field."""
_FINISHED: Mapping[int, tuple[tuple[int, ...], ...]] = {
    2: ((5, 2), (2,)),
    17: ((2, 2),),
    27: ((3, 2),),
    35: ((2, 2),),
}
"""Fields that can have a command's exit code, each a path, by the number of the result's field."""
_CANCELLED = 14
_QUERY, _OUTPUT, _CALLED, _RESULT, _THOUGHT, _SUMMARY, _SKILL, _MODEL = 2, 3, 4, 5, 15, 16, 23, 25


class _TimedMessage(NamedTuple):
    """A message of a task."""

    time: float
    fields: Fields
    side: bool


class _Parser(LineParser, kw_only=True):
    def parts(self, fields: Fields) -> Iterator[Part]:
        yield Part("user", "text", _text(fields, _QUERY, 1) or _text(fields, _SKILL, 2, 1))
        yield Part("assistant", "text", _text(fields, _OUTPUT, 1))
        yield Part("assistant", "thinking", _text(fields, _THOUGHT, 1))
        yield Part("system", "text", _text(fields, _SUMMARY, 1, 1))
        self.use_model(_text(fields, _MODEL, 1))
        called = fields_of(_last(fields, _CALLED))
        for number, read in _CALLS.items():
            if number in called:
                id = _text(called, 1)
                yield from (part._replace(call=id) for part in read(fields_of(_last(called, number))))
        result = fields_of(_last(fields, _RESULT))
        id = _text(result, 1)
        for number in {**_TEXTS, **_ERRORS, _CANCELLED: ()}:
            if number in result:
                paths = *_TEXTS.get(number, ()), *((field, 1) for field in _ERRORS.get(number, ()))
                text = next(filter(None, (_text(result, number, *path) for path in paths)), "")
                yield tool_result(text, "", id, _failed(result, number))


def _failed(result: Fields, number: int) -> bool:
    of_tool = fields_of(_last(result, number))
    exits = (_last(result, number, *path) for path in _FINISHED.get(number, ()))
    return number == _CANCELLED or any(field in of_tool for field in _ERRORS.get(number, ())) or any(exits)


def _time(message: Fields) -> float:
    seconds, nanos = _last(message, 14, 1), _last(message, 14, 2)
    if not isinstance(seconds, int) or seconds >= 2**33:
        return 0.0
    return seconds + (nanos / 1e9 if isinstance(nanos, int) and nanos < 10**9 else 0.0)


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation | None:
    row = connection.execute(_ABOUT, (key,)).fetchone()
    if row is None:
        return None
    about = mapping(parse_line(row[0])) if isinstance(row[0], bytes) else {}
    metadata = SessionMetadata.of(key, parent=about.get("parent_conversation_id"))
    parser = _Parser(metadata=metadata)
    messages_by_time: list[_TimedMessage] = []
    ours = rows_with(connection, "agent_tasks", "conversation_id")
    for (data,) in connection.execute(_TASKS.format(ours=ours), (key,)):
        if not isinstance(data, bytes):
            parser.count_unknown("too long")
        task = fields_of(data)
        side = bool(_text(task, 3, 1))
        if not side:
            metadata.title = one_line(_text(task, 2))
        messages = list(map(fields_of, task.get(5, ())))
        messages_by_time += (_TimedMessage(_time(one), one, side or bool(metadata.parent)) for one in messages)
    messages_by_time.sort(key=lambda message: message.time)
    metadata.project, chosen = _folder_and_models(connection, key)
    turns = (
        parser.next_message(
            list(parser.parts(message.fields)),
            id=_text(message.fields, 1),
            time=message.time or None,
            side=message.side,
        )
        for message in messages_by_time
    )
    conversation = parser.conversation(key, whole(parser, turns))
    for model in () if metadata.usage else chosen:
        parser.use_model(model)
    return conversation


def _folder_and_models(connection: apsw.Connection, key: str) -> tuple[str, list[str]]:
    """Return the folder of a conversation, and the models that the user chose."""
    if "ai_queries" not in tables(connection):
        return "", []
    ours = rows_with(connection, "ai_queries", "conversation_id")
    query = f"""SELECT CAST(working_directory AS BLOB) FROM ai_queries
        WHERE {ours} AND working_directory <> '' ORDER BY start_ts LIMIT 1"""
    row = connection.execute(query, (key,)).fetchone()
    models = []
    if "model_id" in columns(connection, "ai_queries"):
        named = f"SELECT DISTINCT CAST(model_id AS BLOB) FROM ai_queries WHERE {ours} AND model_id <> '' LIMIT 32"
        models = [as_text(model) for (model,) in connection.execute(named, (key,))]
    return "" if row is None else clean(as_text(row[0])), models


WARP_DATABASE = RowFormat(
    agent="warp",
    needed={
        "agent_conversations": frozenset({"conversation_id", "conversation_data", "last_modified_at"}),
        "agent_tasks": frozenset({"id", "conversation_id", "task"}),
    },
    listed="""SELECT CAST(c.conversation_id AS BLOB), CAST(c.last_modified_at AS BLOB), count(*),
        sum(octet_length(t.task)), max(t.id) FROM agent_conversations c
        JOIN agent_tasks t ON t.conversation_id = c.conversation_id GROUP BY c.conversation_id""",
    conversation=_conversation,
)
