"""The operators of the query language: `name:value` pairs that say where to search."""

import msgspec

from engine.base.language import marked, tr
from engine.text.date_parsing import parse_period

SOURCE_NAMES = {"notes": "memory", "note": "memory", "memory": "memory", "sessions": "sessions", "session": "sessions"}
ROLE_NAMES = {
    "user": "user", "me": "user",
    "assistant": "assistant", "ai": "assistant",
    "tool": "tool", "tools": "tool",
    "system": "system",
}  # fmt: skip


class Operator(msgspec.Struct, frozen=True):
    name: str
    meaning: str
    """Description of the operator, for `tr`."""
    example: str


OPERATORS = {
    operator.name: operator
    for operator in (
        Operator("path", marked("only files whose path contains this text or matches this pattern"), "path:daily/*"),
        Operator("title", marked("only files whose title, alias or name contains this text"), 'title:"reading list"'),
        Operator("tag", marked("only notes with this tag; #garden alone, too"), "tag:garden"),
        Operator("links", marked("only notes that link to this note"), 'links:"reading list"'),
        Operator("backlinks", marked("only notes that this note links to"), "backlinks:garden"),
        Operator("source", marked("only sessions; source:notes for notes"), "source:sessions"),
        Operator("agent", marked("only sessions with this agent"), "agent:claude-code"),
        Operator("project", marked("only sessions whose project folder contains this text"), "project:otter"),
        Operator(
            "file",
            marked("only sessions that read or changed this file, or one that matches this pattern"),
            "file:src/app.py",
        ),
        Operator(
            "command", marked("only sessions that ran a command containing this text or pattern"), "command:pytest"
        ),
        Operator("model", marked("only sessions that used a model with this in its name"), "model:opus"),
        Operator("machine", marked("only sessions from this machine"), "machine:laptop"),
        Operator("role", marked("only passages by this speaker: user, assistant, tool or system"), "role:user"),
        Operator("after", marked("only files of this date or later"), 'after:"last week"'),
        Operator("before", marked("only files from before this date"), "before:2026-05-31"),
        Operator("on", marked("only files of this day, week, month or year"), "on:2026-05"),
    )
}
DATED = ("after", "before", "on")
EITHER = ("path", "source", "agent", "project", "machine", "role")
"""Operators of which a chunk has only one value, so that several values in a query are alternatives."""
QUERY_HELP = (
    ('"left valve"', marked("exactly these words, next to each other")),
    ("-hose", marked('no results with this word; also NOT hose, -"left valve", -path:archive')),
    ("timer OR clock", marked("one of these words, or both")),
    ("irrig*", marked("words that begin like this")),
    *((operator.example, operator.meaning) for operator in OPERATORS.values()),
)
"""Examples of everything that a query may contain, each with its meaning, for `tr`."""


def problem_with(name: str, value: str) -> str:
    """Return why a value is invalid for an operator, as the end of a sentence; empty if it is valid."""
    if not value.strip():
        return tr(
            "{operator} needs a value, such as {example}",
            operator=f"{name}:",
            example=OPERATORS[name].example,
        )
    if name in DATED and parse_period(value.strip()) is None:
        return tr(
            "{operator} needs a date, such as 2026-05-31, 2026-05, yesterday, last week or 7d", operator=f"{name}:"
        )
    if name == "source" and value.casefold() not in SOURCE_NAMES:
        return tr("the sources are notes and sessions")
    if name == "role" and value.casefold() not in ROLE_NAMES:
        return tr("the roles are user, assistant, tool and system")
    if name == "tag" and not value.strip().lstrip("#"):
        return tr("a tag needs a name")
    return ""
