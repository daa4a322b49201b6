"""Tracebacks without personal data: no values, no text, no paths of this computer.

An error message may contain a line of a note, a query or a file name, so only known forms of Python's own messages
about code are included, and the number of a system error.
"""

import errno
import linecache
import os
import re
import sysconfig
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType, TracebackType

_ROOT = Path(__file__).resolve().parents[3]
_OURS = ("engine", "gui", "resources")
_PACKAGES = ("site-packages", "dist-packages")
_STANDARD = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
_ELSEWHERE = "(elsewhere)"
_WITHOUT_FILE = re.compile(r"<(?:frozen [\w.]{1,60}|string|stdin)>")
_BUNDLED = re.compile(r"[\w-]{1,60}(?:/[\w-]{1,60}){0,9}\.py")
"""Files of a frozen program have no place but this."""
_FIRST, _LAST = 12, 24
"""Frames that are shown of a long trace, such as one of a recursion."""
_MOST_CAUSES = 6

_NAME = r"[A-Za-z_][\w.<>]{0,80}"
_NAMES = rf"'{_NAME}'(?:, '{_NAME}')*(?:,? and '{_NAME}')?"
_MESSAGES = tuple(
    re.compile(form)
    for form in (
        rf"(?:'{_NAME}' object|type object '{_NAME}'|module '{_NAME}') has no attribute '{_NAME}'",
        rf"'{_NAME}' object (?:is not|does not support|cannot be) [a-z ]{{1,60}}",
        rf"name '{_NAME}' is not defined",
        rf"cannot access (?:local|free) variable '{_NAME}' where it is not associated with a value(?: in [a-z ]+)?",
        rf"unsupported operand type\(s\) for [^\w\s]{{1,3}}: '{_NAME}' and '{_NAME}'",
        rf"'[^\w\s]{{1,3}}' not supported between instances of '{_NAME}' and '{_NAME}'",
        rf"{_NAME}\(\) missing \d+ required (?:positional|keyword-only) arguments?: {_NAMES}",
        rf"{_NAME}\(\) takes (?:from \d+ to )?\d+ positional arguments? but \d+ (?:was|were) given",
        rf"{_NAME}\(\) got an unexpected keyword argument '{_NAME}'",
        rf"No module named '{_NAME}'",
        r"(?:list|tuple|string|bytearray|range object|deque) (?:assignment )?index out of range",
        r"pop from (?:an )?empty (?:list|set|deque)|pop index out of range",
        r"not enough values to unpack \(expected (?:at least )?\d+, got \d+\)",
        r"too many values to unpack \(expected \d+(?:, got \d+)?\)",
        r"(?:integer |float )?(?:division|modulo)(?: or modulo)? by zero",
        r"maximum recursion depth exceeded(?: [a-z ]{1,60})?",
        r"(?:dictionary|Set|deque) (?:changed size|mutated|keys changed) during iteration",
        r"generator already executing",
        rf"Internal C\+\+ object \({_NAME}\) already deleted\.",
    )
)
_SAYS_CODE = (ArithmeticError, AttributeError, ImportError, IndexError, NameError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class Failure:
    """An unexpected error as text, which keeps none of its objects alive."""

    where: str
    """Activity at the time: "in the window", "in the background" …"""
    kind: str
    place: str
    """File and line at which it was raised; empty where that is not known."""
    trace: str

    @property
    def signature(self) -> tuple[str, str]:
        """The same for the same error."""
        return self.kind, self.place


def failure_of(error: BaseException, trace: TracebackType | None, where: str) -> Failure:
    """The words of an error; to be called where it was caught, whatever thread that is."""
    steps = list(_steps(trace))
    place = f"{shown_path(steps[-1][0].co_filename)}:{steps[-1][1]}" if steps else ""
    return Failure(where, _kind(error), place, "\n".join(_chain(error, trace)))


def shown_path(path: str) -> str:
    """A file of the program, of a package or of Python, without where that is installed."""
    if _WITHOUT_FILE.fullmatch(path):
        return path
    file = Path(path)
    for name in _PACKAGES:
        if name in file.parts:
            after = len(file.parts) - file.parts[::-1].index(name)
            return "/".join(file.parts[after:])
    if not file.is_absolute():
        bundled = file.as_posix()
        return bundled if _BUNDLED.fullmatch(bundled) else _ELSEWHERE
    if file.is_relative_to(_ROOT) and file.relative_to(_ROOT).parts[0] in _OURS:
        return file.relative_to(_ROOT).as_posix()
    for standard in _STANDARD:
        if file.is_relative_to(standard):
            return f"python/{file.relative_to(standard).as_posix()}"
    return _ELSEWHERE


def _chain(error: BaseException, trace: TracebackType | None) -> Iterator[str]:
    """The error with its causes, the first cause first, as Python prints them."""
    links: list[tuple[BaseException, str]] = [(error, "")]
    while len(links) < _MOST_CAUSES:
        last = links[-1][0]
        if last.__cause__ is not None:
            links.append((last.__cause__, "The above was the cause of:"))
        elif last.__context__ is not None and not last.__suppress_context__:
            links.append((last.__context__, "While that was handled:"))
        else:
            break
    for link, words in reversed(links):
        yield "Traceback (most recent call last):"
        yield from _frames(trace if link is error else link.__traceback__)
        yield _said(link)
        if words:
            yield f"\n{words}\n"


def _frames(trace: TracebackType | None) -> Iterator[str]:
    steps = list(_steps(trace))
    left_out = len(steps) - _FIRST - _LAST
    for number, (code, line) in enumerate(steps):
        if left_out > 0 and _FIRST <= number < _FIRST + left_out:
            if number == _FIRST:
                yield f"  … {left_out:,} more …"
            continue
        shown = shown_path(code.co_filename)
        yield f"  {shown}:{line} in {code.co_qualname}"
        source = linecache.getline(code.co_filename, line).strip() if shown != _ELSEWHERE else ""
        if source:
            yield f"    {source}"


def _steps(trace: TracebackType | None) -> Iterator[tuple[CodeType, int]]:
    return ((frame.f_code, line) for frame, line in islice(traceback.walk_tb(trace), 20_000))


def _kind(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _said(error: BaseException) -> str:
    """The error's name, and the parts of its message that can only be about code."""
    kind, words = _kind(error), _words(error)
    if isinstance(error, BaseExceptionGroup):
        return f"{kind} of " + ", ".join(map(_kind, error.exceptions[:_MOST_CAUSES]))
    if isinstance(error, OSError) and error.errno is not None:
        return f"{kind}: {errno.errorcode.get(error.errno, error.errno)}, {os.strerror(error.errno)}"
    if not words:
        return kind
    told = isinstance(error, _SAYS_CODE) and any(form.fullmatch(words) for form in _MESSAGES)
    return f"{kind}: {words}" if told and _named_in_code(error) else f"{kind} (what it says is left out here)"


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an error whose message can't be formatted is still an error
        return "?"


def _named_in_code(error: BaseException) -> bool:
    """Whether the name in the error occurs in the code, and not in data that was read."""
    name = getattr(error, "name", None)
    if not isinstance(name, str) or isinstance(error, ImportError):
        return True
    return any(
        name in (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_consts)
        for code, _ in _steps(error.__traceback__)
    )
