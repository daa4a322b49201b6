"""Makes messages of a conversation from parts, for most formats."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from engine.corpus.transcripts.formats import LineParser
from engine.corpus.transcripts.json_values import image_mark
from engine.corpus.transcripts.messages import Kind, Message, Role, clean

_ATTACHMENTS = re.compile(r"(?:\[(?:image|file)(?:: [^\n]{0,1000})?\](?:\n|\Z))+")
"""Matches a text of placeholders alone, one a line."""


class Part(NamedTuple):
    """One part of a message, before it is cleaned and numbered."""

    role: Role
    kind: Kind
    text: str
    tool: str = ""
    call: str = ""
    """Id that a tool call shares with its result."""
    failed: bool = False
    """Whether a tool call or its result is marked as failed or refused."""


def tool_call(text: str, tool: str = "", call: str = "", failed: bool = False) -> Part:
    """Return the agent's call of a tool. The tool's name is its text if the call has no input."""
    return Part("assistant", "tool-call", text or tool, tool, call, failed)


def tool_result(text: str, tool: str = "", call: str = "", failed: bool = False) -> Part:
    return Part("tool", "tool-result", text, tool, call, failed)


def next_turn(
    parser: LineParser,
    parts: Iterable[Part],
    line: int = 0,
    *,
    id: str = "",
    time: float | None = None,
    side: bool = False,
) -> list[Message]:
    """Return the parts with text, and failures without one, as the next message of the session; empty without any.

    Without a line, as in a document or a database, the message's ordinal is used.
    """
    filled = filled_parts(_with_names(parser, parts))
    if not filled:
        return []
    parser.ordinal += 1
    at = line or parser.ordinal
    return [
        parser.part(role, kind, text, at, id=id, time=time, tool=tool, side=side, call=call, failed=failed)
        for role, kind, text, tool, call, failed in filled
    ]


def _with_names(parser: LineParser, parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts one by one; a tool's result without a name gets the name in the call with the same id."""
    calls, returned = parser.calls, list[str]()
    for part in parts:
        role, kind, text, tool, call, failed = part
        if call and kind == "tool-call":
            calls[clean(call)] = clean(tool)
        elif call and kind == "tool-result":
            returned.append(key := clean(call))  # a turn may have several results of a call
            if not tool and key in calls:
                yield Part(role, kind, text, calls[key], call, failed)
                continue
        yield part
    for key in returned:
        calls.pop(key, None)


def filled_parts(parts: Iterable[Part]) -> list[Part]:
    """Return the parts with text, and failures without one.

    Attachments are appended to the text that they were sent with, perhaps with instructions between them, so that both
    are one message; the text is first, as in titles and excerpts.
    """
    joined: list[Part] = []
    for part in parts:
        if not part.text.strip() and not (part.failed and part.kind == "tool-result"):
            continue
        at = len(joined) - 1
        while at > 0 and joined[at].role == "system" != part.role:
            at -= 1
        last = joined[at] if joined else None
        if last is None or part.kind != "text" or (last.role, last.kind) != (part.role, "text"):
            joined.append(part)
        elif _ATTACHMENTS.fullmatch(part.text):
            joined[at] = last._replace(text=f"{last.text}\n{part.text}")
        elif _ATTACHMENTS.fullmatch(last.text):
            joined[at] = part._replace(text=f"{part.text}\n{last.text}")
        else:
            joined.append(part)
    return joined


def attached(name: str, *, image: bool = False, value: object = None) -> str:
    """Return the placeholder of an attachment, such as `[file: name]`. `value`: JSON that may have an image's data."""
    if image:
        return image_mark(value, name)
    return f"[file: {name}]" if name else "[file]"


def local_time(value: object) -> float | None:
    """Return a date in ISO 8601 as seconds since the epoch; without a zone, it is in local time. None
    if it isn't a date.
    """
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) and len(value) <= 64 else None
    except (ValueError, OverflowError, OSError):
        return None
