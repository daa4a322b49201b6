"""The operators of the query language: `name:value` pairs that say where to search."""

from typing import NamedTuple

from engine.text.dates import parse_period

SOURCE_NAMES = {"notes": "memory", "note": "memory", "memory": "memory", "sessions": "sessions", "session": "sessions"}
ROLE_NAMES = {
    "user": "user", "me": "user",
    "assistant": "assistant", "ai": "assistant",
    "tool": "tool", "tools": "tool",
    "system": "system",
}  # fmt: skip


class Operator(NamedTuple):
    name: str
    meaning: str
    """What it asks for, as the end of "only …"."""
    example: str
    either: bool
    """Whether one chunk has one such value: then given several times, any of them will do; else all must hold."""


OPERATORS = {
    operator.name: operator
    for operator in (
        Operator("path", "in files whose path has this in it, or matches a pattern", "path:daily/*", either=True),
        Operator("title", "in notes and sessions whose title has this in it", 'title:"reading list"', either=False),
        Operator("tag", "in notes with this tag", "tag:garden", either=False),
        Operator("source", "in notes, or in sessions", "source:sessions", either=True),
        Operator("agent", "in sessions with this program", "agent:claude-code", either=True),
        Operator("project", "in sessions whose project folder has this in it", "project:otter", either=True),
        Operator("role", "where this one speaks: user, assistant or tool", "role:user", either=True),
        Operator("after", "changed on or after a date", 'after:"last week"', either=False),
        Operator("before", "changed before a date", "before:2026-05-31", either=False),
        Operator("on", "changed within a day, week, month or year", "on:2026-05", either=False),
    )
}
DATED = ("after", "before", "on")
QUERY_HELP = (
    ('"left valve"', "these words together, as they are written"),
    ("-hose", 'nothing with this; also -"left valve", -path:archive'),
    ("timer OR clock", "one of both"),
    ("irrig*", "words that begin so"),
    *((operator.example, f"only {operator.meaning}") for operator in OPERATORS.values()),
)
"""Examples of all that a query may have, each with what it means."""


def problem_with(name: str, value: str) -> str:
    """Why this operator cannot have this value, as the end of a sentence; empty when it can."""
    if not value.strip():
        return f"{name}: needs something after it, such as {OPERATORS[name].example}"
    if name in DATED and parse_period(value.strip()) is None:
        return f"{name}: needs a date, such as 2026-05-31, 2026-05, yesterday, last week or 7d"
    if name == "source" and value.casefold() not in SOURCE_NAMES:
        return "the sources are notes and sessions"
    if name == "role" and value.casefold() not in ROLE_NAMES:
        return "the roles are user, assistant, tool and system"
    if name == "tag" and not value.strip().lstrip("#"):
        return "a tag has a name"
    return ""
