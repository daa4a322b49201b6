"""Formats numbers, lists and the program's version for sentences."""

from collections.abc import Callable, Iterable
from functools import reduce

from engine.base import lazy_pattern
from engine.base.language import marked, number, tr

_MARKDOWN = lazy_pattern(r"([\\`*_\[\]<>#|~])")
_DIRECTION_MARKS = "\u061c\u200e\u200f"
_DIRECTION_CONTROLS = "\u202a-\u202e\u2066-\u2069"
DIRECTION = _DIRECTION_MARKS + _DIRECTION_CONTROLS
"""Invisible characters that change the direction of text, so that a name can look like another one; for use within
brackets of a regular expression."""
_CONTROL = rf"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_DIRECTION_CONTROLS}"
_UNPRINTABLE = lazy_pattern(rf"[{_CONTROL}{_DIRECTION_MARKS}]|\r(?!\n)")
_UNPRINTABLE_IN_PROSE = lazy_pattern(rf"[{_CONTROL}]|\r(?!\n)")
TERMINAL_ESCAPE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\?)|[ -/]+[0-~]|.)"
"""Matches an escape sequence of a terminal: a colour, a title or a character set."""
_ESCAPES = lazy_pattern(TERMINAL_ESCAPE)
_EMPTY_LINES = lazy_pattern(r"\n(?:[ \t]*\n){2,}")


def printable(text: str, *, prose: bool = False) -> str:
    """Replace control characters and those that change the direction of text; the length stays the same.

    A terminal would obey them instead of showing them. `prose` leaves the marks that texts in right-to-left scripts
    need at punctuation; they can't turn letters around.
    """
    if text.replace("\n", "").isprintable():
        return text
    return (_UNPRINTABLE_IN_PROSE if prose else _UNPRINTABLE).sub("\ufffd", text)


def with_single_empty_lines(text: str) -> str:
    """Return a text with at most one empty line in a row: a passage has one for each line of front matter."""
    return _EMPTY_LINES.sub("\n\n", text)


def on_one_line(text: str) -> str:
    """Return a text as Markdown on one line, with its own Markdown syntax escaped."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def plural(count: int, word: str) -> str:
    """Return a count with its noun: `1 file`, `2,000 files`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def floored(part: int, whole: int) -> str:
    """Return a share as a percentage, rounded down: only the whole is 100%, and 9,999 of 10,000 are 99%."""
    return number(100 * part // whole / 100, ".0%")


def all_of(parts: Iterable[str]) -> str:
    """Join texts with "and", as in `notes and sessions`; empty if there are none."""
    return _joined(parts, lambda first, last: tr("{first} and {last}", first=first, last=last))


def any_of(parts: Iterable[str]) -> str:
    """Join texts with "or", as in `notes or sessions`; empty if there are none."""
    return _joined(parts, lambda first, last: tr("{first} or {last}", first=first, last=last))


def _joined(parts: Iterable[str], two: Callable[[str, str], str]) -> str:
    listed = list(parts)
    return reduce(two, listed) if listed else ""


def in_quotes(words: str) -> str:
    """Quote user input or a name."""
    return tr("“{words}”", words=words)


def size(count: int) -> str:
    """Format a byte count for display: 870 B, 1.2 MB."""
    amount = float(count)
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{number(amount, '.0f' if unit == 'B' else '.1f')} {unit}"
        amount /= 1000
    return f"{number(amount, '.1f')} GB"


def dollars(cost: float) -> str:
    """Format a cost in US dollars: $3.12, or "less than $0.01"."""
    return "less than $0.01" if 0 < cost < 0.01 else f"${cost:,.2f}"


def folder_name(path: str) -> str:
    """Return the last folder of a Windows or POSIX path; the path itself if it is a root."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path


def program_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # takes 20 ms

    try:
        return version("mnemoscope")
    except PackageNotFoundError:
        return marked("in development")


def without_escapes(text: str) -> str:
    """Return a program's output as a terminal would show it, without colours."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text
