"""Output of the command-line verbs: text, JSON, and the progress of long operations on a terminal."""

import contextlib
import os
import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, TextIO, cast

from engine.base import lazy_pattern
from engine.base.formatting import DIRECTION, dollars, plural, printable, with_single_empty_lines
from engine.records import FileRange, to_builtins

if TYPE_CHECKING:
    from engine.records import FileIssue, HealthProgress, MemorySyncProgressUpdate

_ON_ONE_LINE = str.maketrans("\t\n\r", "\ufffd" * 3)
_UNPRINTABLE_IN_JSON = lazy_pattern(rf"[\x7f-\x9f{DIRECTION}]")
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_MAX_ISSUES = 20
_MAX_TYPES = 8


def print_json(value: Any) -> None:
    """Print a record, or its values, as one line of JSON; characters that `printable` would replace are escaped."""
    import json  # takes longer than printing text, which doesn't need it

    line = json.dumps(to_builtins(value), ensure_ascii=False)
    print(_UNPRINTABLE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", line))


def safe(text: str) -> str:
    """Return a name or a text as `printable` does, but on one line, with tabs and line ends replaced."""
    return printable(text).translate(_ON_ONE_LINE)


class _PrintableStream:
    """Makes all output printable."""

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
    """Make all output to stdout and stderr printable, on a terminal or into a pipe.

    Note text, file names, arguments and messages of servers may contain control characters. The program's own escape
    codes are written through `unfiltered`.
    """
    out, error = cast(TextIO, _PrintableStream(sys.stdout)), cast(TextIO, _PrintableStream(sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        yield


def unfiltered(stream: TextIO) -> TextIO:
    """Return the stream behind stdout or stderr, which writes any character."""
    return stream.stream if isinstance(stream, _PrintableStream) else stream


def supports_bold() -> bool:
    """Whether stdout is a terminal that shows bold text."""
    return sys.stdout.isatty() and os.name != "nt" and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def print_marked(text: str, ranges: Sequence[FileRange]) -> None:
    """Print the text of a passage with the ranges (sorted, apart from each other) in bold."""
    text = printable(text, prose=True)
    parts: list[str] = []
    position = 0
    for start, end in ranges:
        parts += (text[position:start], _BOLD, text[start:end], _PLAIN)
        position = end
    print(with_single_empty_lines("".join([*parts, text[position:]])), file=unfiltered(sys.stdout))


def print_issues(title: str, issues: "Sequence[FileIssue]") -> None:
    """Print the first files, or groups of files, that are not indexed, each with its reason."""
    if not issues:
        return
    types = [issue for issue in issues if issue.rule == "extension" and issue.detail[:1].isdigit()]
    others = [issue for issue in issues if issue.rule != "extension" or not issue.detail[:1].isdigit()]
    print(f"{title}:")
    rows = [(issue.rule, f"{safe(issue.path)}  {safe(issue.detail)}") for issue in others[:_MAX_ISSUES]]
    print_table([*rows, *([("extension", _types_text(types))] if types else [])])
    if len(others) > _MAX_ISSUES:
        print(f"  and {len(others) - _MAX_ISSUES:,} more; --json lists all")


def _types_text(issues: "Sequence[FileIssue]") -> str:
    """Return the number of files of each type that isn't indexed, most first, and the indexed types."""
    from engine.base.skip_reasons import files_covered  # a search prints no issues

    counts = sorted(
        ((files_covered(issue.detail), issue.path) for issue in issues), key=lambda entry: (-entry[0], entry[1])
    )
    named = [f"{safe(name)} ({count:,})" for count, name in counts[:_MAX_TYPES]]
    if rest := sum(count for count, _ in counts[_MAX_TYPES:]):
        named.append(f"{rest:,} others")
    *first, last = named
    names = f"{', '.join(first)} and {last}" if first else last
    return f"{names}: {safe(issues[0].detail.partition('; ')[2])}"


def print_failed(issues: "Sequence[FileIssue]") -> None:
    """Print the files that could not be read, and those read but not embedded."""
    from engine.records import NOT_EMBEDDED

    print_issues("Could not be read", [issue for issue in issues if issue.rule != NOT_EMBEDDED])
    print_issues("Could not be embedded", [issue for issue in issues if issue.rule == NOT_EMBEDDED])


def print_table(rows: Iterable[tuple[str, str]]) -> None:
    """Print rows as indented lines of two columns."""
    pairs = list(rows)
    width = max((len(first) for first, _ in pairs), default=0)
    for first, second in pairs:
        print(f"  {first:<{width}}  {second}".rstrip())


_ERASE_LINE = "\r\x1b[K"
_USUAL_COLUMNS = 80


def _columns() -> int:
    """Return the width of the terminal on stderr; stdout, which `shutil` measures, may be a file."""
    import shutil  # most commands show no progress

    if "COLUMNS" not in os.environ:
        with contextlib.suppress(OSError, ValueError):
            return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_COLUMNS
    return shutil.get_terminal_size((_USUAL_COLUMNS, 0)).columns


class LiveLine:
    """A line of stderr that is updated in place, on a terminal only, and removed when the `with` block ends."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        if self._shown:
            print(_ERASE_LINE, end="", file=unfiltered(sys.stderr), flush=True)

    def show(self, text: str) -> None:
        if self._shown:
            print(_ERASE_LINE + safe(_cut(text, _columns() - 1)), end="", file=unfiltered(sys.stderr), flush=True)


_FIRST_LOGGED, _LOGGED_EVERY = 5, 60
"""Seconds until the first line of progress, and between later ones, where stderr is no terminal."""


class ProgressLine(LiveLine):
    """Shows the progress of a sync as one line on the terminal; elsewhere as a line from time to time."""

    def __init__(self) -> None:
        super().__init__()
        self._started = time.monotonic()
        self._announced = False
        self._due = self._started + _FIRST_LOGGED

    def __call__(self, update: "MemorySyncProgressUpdate") -> None:
        now = time.monotonic()
        if self._shown:
            self.show(progress_text(update, now - self._started))
        elif update.phase == "waiting" and not self._announced:
            self._announced = True  # shown once: it may take minutes, and the user should know why
            print(f"{update.label}.", file=sys.stderr, flush=True)
        elif now >= self._due and update.phase != "waiting":
            self._due = now + _LOGGED_EVERY
            print(progress_text(update, now - self._started), file=sys.stderr, flush=True)


class StepLine(LiveLine):
    """Progress line of a health check or repair."""

    def __call__(self, progress: "HealthProgress") -> None:
        self.show(f"{progress.step} {progress.done:,}/{progress.total:,}" if progress.total else progress.step)


def progress_text(update: "MemorySyncProgressUpdate", elapsed: float) -> str:
    """Return the progress as `Indexing files 12/80 · 37/s · elapsed 0:03 · eta 0:02 · notes/a.md`, without unknown
    parts."""
    count = f" {update.completed:,}/{update.total:,}" if update.total else ""
    waiting = f"Waiting for {plural(update.waiting, 'batch job')}" if update.waiting else ""
    parts = [(waiting or update.label) + count]
    if update.rate > 0:
        parts.append(f"{update.rate:,.0f}/s")
    parts.append(f"elapsed {clock(elapsed)}")
    if update.seconds_left is not None:
        parts.append(f"eta {clock(update.seconds_left)}")
    if usage := spent_text(update.tokens, update.cost):
        parts.append(usage)
    if update.current_file:
        parts.append(safe(update.current_file))
    return " · ".join(parts)


def spent_text(tokens: int, cost: float | None) -> str:
    """Return the tokens and cost of a sync as text; empty if nothing was charged."""
    if not tokens:
        return ""
    return f"{tokens:,} tokens, {'at an unknown price' if cost is None else dollars(cost)}"


def clock(seconds: float) -> str:
    """Return a duration as `m:ss` or `h:mm:ss`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _cut(text: str, columns: int) -> str:
    """Return the start of `text` that fits into `columns`, counting double-width characters twice."""
    used = 0
    for index, letter in enumerate(text):
        used += 2 if unicodedata.east_asian_width(letter) in "WF" else not unicodedata.combining(letter)
        if used > columns:
            return text[:index]
    return text
