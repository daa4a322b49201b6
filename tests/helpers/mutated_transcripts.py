"""Damage the sample transcripts of every agent in random ways, with a seed, and read the result."""

import copy
import json
import random
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from engine.base.errors import PathRefused
from engine.corpus.transcripts.transcript_reader import conversations
from tests.helpers.agent_databases import AgentDatabase
from tests.helpers.garbage_collection import without_collection

FIXTURES = Path(__file__).parents[1] / "engine/corpus/transcripts/fixtures"
_MAIN = (
    *(".jsonl", "ui_messages.json", ".messages.json", ".chat.history.md", "conversations.json", "base_state.json"),
    *("T-0c1d2e3f-0000-4000-8000-000000000004.json", "0c1d2e3f-0000-4000-8000-000000000005.json"),
    *("0c1d2e3f-0000-4000-8000-000000000001.json", "checkpoint-boats%20and%20more.json", "ses_1.json"),
    *("session-2025-10-01T08-00-5e6f7a8b.json", "prod-grok-backend.json", ".conversation.json"),
    "MyActivity.json",
    "3f2e1d00-0000-4000-8000-000000000002.txt",
    "chat-messages.json",
    "0c1d2e3f-0000-4000-8000-00000000000a.json",
    "chat-export-1777885200000.json",
    "0c1d2e3f-0000-4000-8000-000000000009.json",
    *(".ndjson", "0c1d2e3f-0000-4000-8000-000000000023.json", "main_main.json", "conversation.json"),
    "session_fox_1777885200000_deadbeefcafebabe.json",
)
"""Endings of the files that are read; the others are next to them."""
_PARTS = (
    *("index.jsonl", "lm-messages.jsonl", "chat-archive.jsonl"),
    "session_fox_1777885200000_deadbeefcafebabe.journal.jsonl",
)
"""Junie's list of sessions, lines of Posit Assistant, and parts of sessions of Xum and Jcode."""
_PI = (
    {"type": "session", "version": 3, "id": "5e6f7a8b", "timestamp": "2026-05-04T09:00:00.000Z", "cwd": "/boats"},
    {"type": "message", "id": "a1", "message": {"role": "user", "content": "Why does it leak?"}},
    {"type": "message", "id": "a2", "message": {"role": "assistant", "content": [{"type": "text", "text": "A seam."}]}},
)
_EVENTS = (
    {"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": [{"text": "Why?"}]}},
    {
        "kind": "ActionEvent",
        "source": "agent",
        "tool_name": "terminal",
        "tool_call": {"id": "c", "name": "terminal", "arguments": '{"command": "cat hull.py"}'},
    },
    {"kind": "ObservationEvent", "source": "environment", "observation": {"content": [{"text": "seams = None"}]}},
)
_HERMES = {
    "session_id": "20260504_090000_5a3e2ff2",
    "model": "m-1",
    "session_start": "2026-05-04T09:00:00Z",
    "model_config": {"cwd": "/boats"},
    "messages": [
        {"role": "user", "content": "Why does it leak?"},
        {
            "role": "assistant",
            "content": "A seam.",
            "reasoning_content": "Look at the hull.",
            "tool_calls": [{"id": "c", "function": {"name": "terminal", "arguments": '{"command": "cat hull.py"}'}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "seams = None"},
    ],
}
_OPENCODE = {
    "storage/session/p/ses_1.json": {"id": "ses_1", "directory": "/boats", "title": "Repair", "time": {"created": 1}},
    "storage/message/ses_1/msg_1.json": {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1}},
    "storage/part/msg_1/prt_1.json": {"id": "prt_1", "type": "text", "text": "Why does it leak?"},
}


class Sample(NamedTuple):
    """One transcript with the files that belong to it."""

    agent: str
    main: str
    """The file to read, of `files`."""
    files: Mapping[str, bytes]


class Outcome(NamedTuple):
    """The result of reading damaged transcripts."""

    inputs: int
    messages: int
    """Number of messages that were read despite the damage."""
    refused: int
    """Inputs that were refused with an error that callers expect."""
    crashes: tuple[str, ...]
    """Type and text of each other error, with the number of its input."""
    slowest: float
    """CPU seconds of the slowest input."""
    slowest_input: int
    """Number of that input, from 1."""


def samples() -> list[Sample]:
    """Return all samples that are files."""
    found = []
    for path in sorted(FIXTURES.rglob("*")):
        name = path.relative_to(FIXTURES).as_posix()
        if path.is_file() and name.endswith(_MAIN) and path.name not in _PARTS:
            beside = [
                path,
                *(
                    one
                    for one in path.parent.iterdir()
                    if one.is_file() and (one.name in _PARTS or not one.name.endswith(_MAIN))
                ),
            ]
            files = {one.relative_to(FIXTURES).as_posix(): one.read_bytes() for one in beside}
            found.append(Sample(name.split("/")[0], name, files))
    pi = b"".join(json.dumps(line).encode() + b"\n" for line in _PI)
    found.append(Sample("pi", ".pi/agent/sessions/s.jsonl", {".pi/agent/sessions/s.jsonl": pi}))
    state = {"c/base_state.json": json.dumps({"id": "c"}).encode()}
    events = {f"c/events/event-{at:05d}-0a.json": json.dumps(event).encode() for at, event in enumerate(_EVENTS)}
    found.append(Sample("openhands", "c/base_state.json", state | events))
    name = f"session_{_HERMES['session_id']}.json"
    found.append(Sample("hermes", name, {name: json.dumps(_HERMES).encode()}))
    parts = {name: json.dumps(value).encode() for name, value in _OPENCODE.items()}
    found.append(Sample("opencode", "storage/session/p/ses_1.json", parts))
    return found


# --- Damage ----------------------------------------------------------------------------------------------------------

_NESTED: Any = []
for _ in range(200):
    _NESTED = [_NESTED]
_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        2**70,
        -(2**63),
        1e308,
        0.1,
        "",
        " ",
        "\0",
        "\ud800",
        "x" * 5000,
        "\n# a\n```\n",
        [],
        {},
    ),
    *([None], {"": None}, _NESTED, {"type": []}, {"text": {}}, ["x"] * 300, "2026-13-45T99:99:99Z", "9" * 400),
)
_BYTES = (
    *(b"", b"\0", b"\xff\xfe", b"[" * 600, b'{"a":' * 600, b"1e999", b'"\\ud800"', b"\r", b"\n\n", b"NaN", b"9" * 5000),
    *(b"x" * 70_000, b"\xef\xbb\xbf", b"}", b"]", b'"', b",", b"null", b"\xe2\x80\xa8", b"PK\x03\x04", b"#### ", b"> "),
)
_MAX_GROWN = 20_000
"""Maximum size in bytes of a file in which a damage repeats a part many times."""


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return a file with one to four damages: to its JSON values, or to its bytes."""
    for _ in range(rng.randint(1, 4)):
        data = _with_other_values(data, rng) if rng.random() < 0.6 else _with_other_bytes(data, rng)
    return data


def _with_other_bytes(data: bytes, rng: random.Random) -> bytes:
    first, last = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
    last = min(last, first + rng.choice((1, 8, 200, 10**9)))
    kind = rng.randrange(6)
    if kind == 0:
        return data[:first] + rng.choice(_BYTES) + data[last:]
    if kind == 1:
        return data[:first]
    if kind == 2:
        times = rng.choice((1, 2, 50)) if len(data) < _MAX_GROWN else 1
        return data[:last] + data[first:last] * times + data[last:]
    if kind == 3 and data:
        return data[:first] + bytes(rng.randrange(256) for _ in data[first : first + 8]) + data[first + 8 :]
    lines = data.splitlines(keepends=True)
    if kind == 4:
        rng.shuffle(lines)
    elif lines:
        lines += [rng.choice(lines)] * (rng.choice((1, 300)) if len(data) < _MAX_GROWN else 1)
    return b"".join(lines)


def _with_other_values(data: bytes, rng: random.Random) -> bytes:
    """Damage the document, else one of the lines; without any JSON, its bytes."""
    try:
        return _dumped(damaged_value(json.loads(data), rng))
    except (ValueError, RecursionError):
        lines = data.splitlines(keepends=True)
        if len(lines) < 2:
            return _with_other_bytes(data, rng)
    at = rng.randrange(len(lines))
    try:
        lines[at] = _dumped(damaged_value(json.loads(lines[at]), rng)) + b"\n"
    except (ValueError, RecursionError):
        return _with_other_bytes(data, rng)
    return b"".join(lines)


def damaged_value(value: Any, rng: random.Random) -> Any:
    """Return a copy of a JSON value in which one member, at any depth, is replaced, removed, renamed or moved."""
    holders = [one for one in _holders(value) if one]
    if not holders:
        return copy.deepcopy(rng.choice(_VALUES))
    holder = rng.choice(holders)
    key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    kind = rng.randrange(5)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[rng.choice(("type", "role", "content", "message", "id", "", "\ud800"))] = holder.pop(key)
    elif kind == 2:
        other = rng.choice(holders)
        source = rng.choice(list(other)) if isinstance(other, dict) else rng.randrange(len(other))
        holder[key] = copy.deepcopy(other[source])
    else:
        holder[key] = copy.deepcopy(rng.choice(_VALUES))
    return value


def _holders(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            yield one
            waiting += one.values() if isinstance(one, dict) else one


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def _damaged_rows(database: AgentDatabase, rng: random.Random) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of a database with one to three cells replaced, or with damaged JSON in them."""
    rows = [(table, dict(values)) for table, values in database.rows]
    for _ in range(rng.randint(1, 3)):
        values = rng.choice(rows)[1]
        key = rng.choice(
            [name for name, value in values.items() for _ in range(5 if str(value)[:1] in ("[", "{") else 1)]
        )
        text = values[key]
        if isinstance(text, str) and text[:1] in ("[", "{"):
            held = damaged(text.encode(), rng)
            values[key] = held.decode(errors="replace") if rng.random() < 0.8 else held
        else:
            values[key] = rng.choice(("", 0, -1, 2**62, 1e300, "\0", b"\xff\xfe", "x" * 5000, "[" * 600, text))
    return rows


# --- Reading them ----------------------------------------------------------------------------------------------------


def read_damaged(sample: Sample, count: int, folder: Path, seed: int = 1) -> Outcome:
    """Read this many damaged versions of a sample."""
    reading = _Reading(random.Random(f"{seed} {sample.main}"))
    for number in range(count):
        if not number % 1000:
            shutil.rmtree(folder, ignore_errors=True)
            for name, data in sample.files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        name = sample.main if reading.rng.random() < 0.7 else reading.rng.choice(list(sample.files))
        (folder / name).write_bytes(damaged(sample.files[name], reading.rng))
        reading.read(folder / sample.main)
        (folder / name).write_bytes(sample.files[name])
    return reading.outcome(count)


def read_damaged_database(database: AgentDatabase, count: int, folder: Path, seed: int = 1) -> Outcome:
    """Read this many damaged versions of a database: of its rows, and sometimes of its file."""
    reading = _Reading(random.Random(f"{seed} {database.name}"))
    rng = reading.rng
    for _ in range(count):
        path = folder / database.path
        path.unlink(missing_ok=True)
        try:
            database.write(folder, _damaged_rows(database, rng))
        except (sqlite3.Error, OverflowError, UnicodeEncodeError):  # such as a key that occurs twice
            path.unlink(missing_ok=True)
            database.write(folder)
        if rng.random() < 0.2:
            path.write_bytes(_with_other_bytes(path.read_bytes(), rng))
        reading.read(path)
    return reading.outcome(count)


class _Reading:
    """Reads transcripts, and counts what happens."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._inputs = self._messages = self._refused = 0
        self._slowest = 0.0, 0
        self._crashes: list[str] = []

    def read(self, path: Path) -> None:
        self._inputs += 1
        with without_collection():  # its turns would count for the input at which they come
            began = time.process_time()
            try:
                self._read(path)
            except (OSError, ValueError, PathRefused) as error:
                if isinstance(error, UnicodeEncodeError):
                    self._note(error)
                self._refused += 1
            except Exception as error:
                self._note(error)
            finally:
                self._slowest = max(self._slowest, (time.process_time() - began, self._inputs))

    def _read(self, path: Path) -> None:
        for session in conversations(path):
            self._messages += len(session.everything)
            # Everything can be stored as text.
            for message in session.everything:
                f"{message.text}{message.id}{message.tool}".encode()
            f"{session.metadata.title}{session.metadata.project}{session.metadata.id}{session.metadata.opening}".encode()

    def _note(self, error: Exception) -> None:
        self._crashes.append(f"{self._inputs}: {type(error).__name__}: {error}"[:300])

    def outcome(self, count: int) -> Outcome:
        return Outcome(count, self._messages, self._refused, tuple(self._crashes), *self._slowest)
