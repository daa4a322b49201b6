"""Count messages and times of rebuilt sample sessions, and compare them with the result of the parsers."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.transcript_reader import conversations

Value = Mapping[str, Any]
TIMES = [f"2026-04-02T08:{minute:02}:00.000Z" for minute in range(30)]
SECONDS = [1_775_116_800 + 60 * minute for minute in range(30)]
"""`TIMES` in seconds."""


class Count(NamedTuple):
    user: int
    agent: int
    first: float | None
    last: float | None


@dataclass(frozen=True)
class Sample:
    name: str
    path: str
    content: str
    count: Callable[[str], Count]
    beside: Mapping[str, str] = field(default_factory=dict)
    """Content of files next to the sample, by path."""


def moment(value: object) -> float:
    """Return a time of a sample in seconds: ISO 8601, seconds or milliseconds."""
    if isinstance(value, str):
        return datetime.fromisoformat(value).timestamp()
    assert isinstance(value, int | float)
    return value / 1000 if value > 1e11 else value


def lines(*values: Value) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def read(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def count(spoken: Iterable[str], times: Iterable[object]) -> Count:
    """`spoken`: the role of each spoken message, "user" or "agent"."""
    roles, moments = list(spoken), sorted(map(moment, times))
    return Count(roles.count("user"), roles.count("agent"), *((moments[0], moments[-1]) if moments else (None, None)))


def counted(found: Conversation) -> Count:
    """Count what a parser read."""
    spoken = [message.role for message in found.messages if message.is_speech]
    return Count(spoken.count("user"), spoken.count("assistant"), found.metadata.started, found.metadata.ended)


def check(folder: Path, sample: Sample) -> None:
    """Write a sample, and check that the parser and the counter agree."""
    for name, content in {sample.path: sample.content, **sample.beside}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (found,) = conversations(folder / sample.path)
    assert found.metadata.agent == sample.name.partition(":")[0], found.metadata.agent
    actual, expected = counted(found), sample.count(sample.content)
    assert actual == expected, f"{actual} instead of {expected}"
    assert not found.unknown, found.unknown
