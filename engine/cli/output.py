"""How the verbs print."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from engine.records import NOT_EMBEDDED, FileIssue, FileRange, to_builtins

_CONTROL = dict.fromkeys([*range(32), *range(127, 160)], "\ufffd")
_CONTROL_IN_TEXT = {code: mark for code, mark in _CONTROL.items() if chr(code) not in "\n\t"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_MOST_ISSUES = 20


def print_json(value: Any) -> None:
    """A record, or what it was made of, as one line."""
    print(json.dumps(to_builtins(value), ensure_ascii=False))


def safe(text: str) -> str:
    """One line of a note's text or a name that cannot command the terminal; as long as `text`."""
    return text.translate(_CONTROL)


def safe_text(text: str) -> str:
    """The same for several lines."""
    return text.translate(_CONTROL_IN_TEXT)


def marks_wanted() -> bool:
    """Whether stdout is a terminal that shows bold text."""
    return sys.stdout.isatty() and os.name != "nt" and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def marked(text: str, ranges: Sequence[FileRange]) -> str:
    """`text` with the ranges (sorted, apart from each other) in bold."""
    parts: list[str] = []
    position = 0
    for start, end in ranges:
        parts += (text[position:start], _BOLD, text[start:end], _PLAIN)
        position = end
    return "".join(parts) + text[position:]


def print_issues(title: str, issues: Sequence[FileIssue]) -> None:
    """The first of the files, or groups of files, that are not in the index, each with the reason."""
    if not issues:
        return
    print(f"{title}:")
    print_table((issue.rule, f"{safe(issue.path)}  {safe(issue.detail)}") for issue in issues[:_MOST_ISSUES])
    if len(issues) > _MOST_ISSUES:
        print(f"  and {len(issues) - _MOST_ISSUES:,} more; --json lists all")


def print_failed(issues: Sequence[FileIssue]) -> None:
    """What could not be read, and what was read but not embedded."""
    print_issues("Could not be read", [issue for issue in issues if issue.rule != NOT_EMBEDDED])
    print_issues("Could not be embedded", [issue for issue in issues if issue.rule == NOT_EMBEDDED])


def print_table(rows: Iterable[tuple[str, str]]) -> None:
    """Indented lines of two columns."""
    kept = list(rows)
    width = max((len(first) for first, _ in kept), default=0)
    for first, second in kept:
        print(f"  {first:<{width}}  {second}".rstrip())
