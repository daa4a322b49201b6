"""Output of the command-line verbs: text, JSON and progress."""

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO, cast

from engine.base.formatting import printable
from engine.records import NOT_EMBEDDED, FileIssue, FileRange, to_builtins

_CONTROL = dict.fromkeys([*range(32), *range(127, 160)], "\ufffd")
_ESCAPED = {code: f"\\u{code:04x}" for code in range(127, 160)}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_MOST_ISSUES = 20


def print_json(value: Any) -> None:
    """Print a record, or its values, as one line of JSON with all control characters escaped."""
    print(json.dumps(to_builtins(value), ensure_ascii=False).translate(_ESCAPED))


def safe(text: str) -> str:
    """Return a text or name with every control character replaced, so that its length stays the same."""
    return text.translate(_CONTROL)


class _PrintableStream:
    """Replaces the control characters in all output."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(printable(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def printable_streams() -> Iterator[None]:
    """Replace control characters in everything written to stdout and stderr, on a terminal or into a pipe.

    Note text, file names, arguments and messages of servers may contain some. Our own escape codes are written through
    `unfiltered`.
    """
    out, error = cast(TextIO, _PrintableStream(sys.stdout)), cast(TextIO, _PrintableStream(sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        yield


def unfiltered(stream: TextIO) -> TextIO:
    """Return the stream behind stdout or stderr, which doesn't replace control characters."""
    return stream.stream if isinstance(stream, _PrintableStream) else stream


def supports_bold() -> bool:
    """Whether stdout is a terminal that shows bold text."""
    return sys.stdout.isatty() and os.name != "nt" and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def print_marked(text: str, ranges: Sequence[FileRange]) -> None:
    """Print `text` with the ranges (sorted, apart from each other) in bold."""
    text = printable(text)
    parts: list[str] = []
    position = 0
    for start, end in ranges:
        parts += (text[position:start], _BOLD, text[start:end], _PLAIN)
        position = end
    print("".join([*parts, text[position:]]), file=unfiltered(sys.stdout))


def print_issues(title: str, issues: Sequence[FileIssue]) -> None:
    """Print the first files, or groups of files, that are not indexed, each with the reason."""
    if not issues:
        return
    print(f"{title}:")
    print_table((issue.rule, f"{safe(issue.path)}  {safe(issue.detail)}") for issue in issues[:_MOST_ISSUES])
    if len(issues) > _MOST_ISSUES:
        print(f"  and {len(issues) - _MOST_ISSUES:,} more; --json lists all")


def print_failed(issues: Sequence[FileIssue]) -> None:
    """Print the files that could not be read, and those read but not embedded."""
    print_issues("Could not be read", [issue for issue in issues if issue.rule != NOT_EMBEDDED])
    print_issues("Could not be embedded", [issue for issue in issues if issue.rule == NOT_EMBEDDED])


def print_table(rows: Iterable[tuple[str, str]]) -> None:
    """Print rows as indented lines of two columns."""
    kept = list(rows)
    width = max((len(first) for first, _ in kept), default=0)
    for first, second in kept:
        print(f"  {first:<{width}}  {second}".rstrip())
