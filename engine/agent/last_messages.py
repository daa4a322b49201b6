"""The last messages of a session as text for a note, each on separate lines."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from engine.records import SessionMessage, SessionText
from engine.text.characters import visible

CUT = " […]"
"""Stands where the rest of a message was left out."""
INDENT = "  "
"""Indent of every further line of a message, so that only speakers begin at the margin."""

_COMMAND = re.compile(r"/[^\s/]+(?:\s|\Z)")  # a path has more than one slash
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_STRUCTURE = re.compile(r"( {0,3})(#{1,6}(?:[ \t]|\Z)|=+[ \t]*\Z|-+[ \t]*\Z)")
_JOINS_BACK = re.compile("[\u0300-\u036f\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")


class LastMessages(NamedTuple):
    """One message of the user or the agent."""

    speaker: str
    """`user` or `assistant`."""
    text: str


def said_in(session: SessionText) -> list[LastMessages]:
    """The messages of the user and the agent, in order.

    Without reasoning, tools, inserted text, commands, and, in a main session, messages of sub-agents.
    """
    aside = bool(session.summary.parent)
    spoken = (
        message
        for message in session.messages
        if message.kind == "text" and message.role in ("user", "assistant") and (aside or not message.side)
    )
    found = []
    for (_, role), parts in groupby(spoken, key=_whose):
        text = "\n\n".join(filter(None, (part.text.strip() for part in parts)))
        if text and not _COMMAND.match(text):
            found.append(LastMessages(role, text))
    return found


def _whose(message: SessionMessage) -> tuple[int, str]:
    return message.ordinal, message.role


def shortened(text: str, most: int) -> str:
    """Shorten to at most `most` characters and an ellipsis, cut between lines, else between words."""
    if len(text) <= most:
        return text
    end = most
    while end > 0 and (_JOINS_BACK.match(text[end]) or text[end - 1] == "\u200d"):
        end -= 1  # what looks like one letter is not parted
    start = text[: end or most]
    for gap in ("\n", " "):
        head = start.rpartition(gap)[0].rstrip()
        if 4 * len(head) >= 3 * most:
            return head + CUT
    return start.rstrip() + CUT


def lines_of(messages: Sequence[LastMessages], longest: int) -> str:
    """Return `user: …` and `assistant: …`, each message shortened to `longest` characters.

    A heading or an unclosed fence within a message doesn't affect the note around it; invisible characters are removed.
    """
    lines = (f"{speaker}: {_within(visible(shortened(text, longest)))}" for speaker, text in messages)
    return "\n".join(line.replace(": \n", ":\n", 1) for line in lines)


def _within(text: str) -> str:
    first, *others = _harmless(text.split("\n"))
    return "\n".join([first, *(line and INDENT + line for line in others)])


def _harmless(lines: Sequence[str]) -> Iterator[str]:
    """The lines of a message; the first one follows the speaker."""
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not line.strip(f" {fence[0]}")
            fence = "" if closes else fence
            yield line
        elif mark is not None:
            fence = mark[1]
            if not number:
                yield ""  # behind other words it would be none
            yield line
        elif number and (found := _STRUCTURE.match(line)):
            yield f"{found[1]}\\{line[found.end(1) :]}"
        else:
            yield line.rstrip()
    if fence:
        yield fence
