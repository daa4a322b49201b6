"""Feed transcript formats: whole files, pieces with the state stored between them, and JSON of any shape."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st

from engine.corpus.transcripts.formats import Conversation, LineFormat, LineParser
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.transcript_reader import read_on

# Half surrogate pairs and NULs too: json.loads lets them in.
texts = st.text(st.characters(), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.just(10**400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


def fixture_lines(path: Path) -> list[tuple[int, Mapping[str, Any]]]:
    """Return number and object of each line that is an object, as read by the engine."""
    parsed = ((number, parse_line(data)) for number, data in enumerate(path.read_bytes().splitlines(), start=1))
    return [(number, value) for number, value in parsed if value is not None]


def read_session(path: Path, part: str) -> Conversation | None:
    """Read one session of a transcript as a whole; None if the transcript doesn't contain it."""
    return read_on(path, part, None).conversation


def feed(parser: LineParser, lines: Iterable[tuple[int, Mapping[str, Any]]]) -> list[Message]:
    return [message for number, value in lines for message in parser.feed(value, number)]


def without_calls(messages: Sequence[Message]) -> Sequence[Message]:
    """Return messages without the digests that connect calls with their results, which no test can state."""
    changed = (msgspec.structs.replace(message, call=0) for message in messages)
    return [*changed] if isinstance(messages, list) else (*changed,)


def read_with_pauses(
    format: LineFormat, path: str, lines: Sequence[tuple[int, Mapping[str, Any]]]
) -> tuple[LineParser, list[Message]]:
    """Return the parser and the messages of these lines, after checking that a parser gives the same when it is stored
    and restored after every line."""
    whole, restored = format.parser(path), format.parser(path)
    messages, parts = feed(whole, lines), list[Message]()
    for number, value in lines:
        parts += restored.feed(value, number)
        restored = format.resume(msgspec.json.encode(restored))
    assert (restored, parts) == (whole, messages)
    return whole, messages


def stored_after_every_line(
    format: LineFormat, values: Sequence[Mapping[str, Any]]
) -> tuple[LineParser, list[Message]]:
    """Return the parser and the messages of these lines, after checking that a restored state continues identically,
    that messages have numbers, and that every text can be stored and sent."""
    format.matches(values)
    parser, messages = read_with_pauses(format, "s.jsonl", list(enumerate(values, start=1)))
    assert all(1 <= message.ordinal <= parser.ordinal for message in messages)
    for message in messages:
        json.dumps([message.text, message.id, message.tool], ensure_ascii=False).encode()
    return parser, messages


def mangled(samples: Sequence[Mapping[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Generate lines of a format with any JSON in place of any of their members, at any depth."""

    @st.composite
    def mangle(draw: st.DrawFn) -> dict[str, Any]:
        value = json.loads(json.dumps(draw(st.sampled_from(samples))))
        for _ in range(draw(st.integers(1, 3))):
            holder = value
            while holder:
                key = draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
                if isinstance(holder[key], dict | list) and holder[key] and draw(st.booleans()):
                    holder = holder[key]
                    continue
                holder[key] = draw(json_values)
                break
        return value

    return mangle()
