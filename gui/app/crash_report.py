"""Writes the report on unexpected errors: versions, names of settings and tracebacks.

It contains no text of notes, no queries, no file names, no values of variables and no paths of this machine. It is
always in English, since it is for the developers.
"""

import errno
import linecache
import os
import platform
import re
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType, TracebackType

from PySide6.QtCore import QLocale, qVersion
from PySide6.QtGui import QGuiApplication

import engine
from engine import Settings, current_language

_ROOT = Path(__file__).resolve().parents[2]
_OURS = ("engine", "gui", "resources")
_PACKAGES = ("site-packages", "dist-packages")
_STANDARD = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
_ELSEWHERE = "(elsewhere)"
_WITHOUT_FILE = re.compile(r"<(?:frozen [\w.]{1,60}|string|stdin)>")
_BUNDLED = re.compile(r"[\w-]{1,60}(?:/[\w-]{1,60}){0,9}\.py")
"""Path of a module in a frozen program, relative to the bundle."""
_FIRST, _LAST = 12, 24
"""Number of first and last frames that are shown of a long trace, such as a recursion."""
_MAX_CAUSES = 6

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
_CODE_ERRORS = (
    ArithmeticError,
    AttributeError,
    ImportError,
    IndexError,
    NameError,
    RuntimeError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True)
class Failure:
    """An unexpected error as text: it keeps no reference to the exception, so that its objects can be freed."""

    where: str
    """Activity at the time: "in the window", "in the background" …"""
    kind: str
    location: str
    """File and line at which it was raised; empty where that is not known."""
    trace: str

    @property
    def signature(self) -> tuple[str, str]:
        """A value that is equal for two errors of the same kind at the same line."""
        return self.kind, self.location


def failure_of(error: BaseException, trace: TracebackType | None, where: str) -> Failure:
    """Describe an error; called on the thread that caught it."""
    steps = list(_steps(trace))
    location = f"{shown_path(steps[-1][0].co_filename)}:{steps[-1][1]}" if steps else ""
    return Failure(where, _kind(error), location, "\n".join(_chain(error, trace)))


def shown_path(path: str) -> str:
    """Return the path of a source file relative to where the program, the package or Python is installed."""
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
    """Yield the traceback of an error with its causes, the first cause first, as Python prints them."""
    links: list[tuple[BaseException, str]] = [(error, "")]
    while len(links) < _MAX_CAUSES:
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
        yield _error_text(link)
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
        path = shown_path(code.co_filename)
        yield f"  {path}:{line} in {code.co_qualname}"
        source = linecache.getline(code.co_filename, line).strip() if path != _ELSEWHERE else ""
        if source:
            yield f"    {source}"


def _steps(trace: TracebackType | None) -> Iterator[tuple[CodeType, int]]:
    return ((frame.f_code, line) for frame, line in islice(traceback.walk_tb(trace), 20_000))


def _kind(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _error_text(error: BaseException) -> str:
    """Return the type of an error, and those parts of its message that can only be about code."""
    kind, words = _kind(error), _words(error)
    if isinstance(error, BaseExceptionGroup):
        return f"{kind} of " + ", ".join(map(_kind, error.exceptions[:_MAX_CAUSES]))
    if isinstance(error, OSError) and error.errno is not None:
        return f"{kind}: {errno.errorcode.get(error.errno, error.errno)}, {os.strerror(error.errno)}"
    if not words:
        return kind
    only_code = isinstance(error, _CODE_ERRORS) and any(form.fullmatch(words) for form in _MESSAGES)
    return f"{kind}: {words}" if only_code and _named_in_code(error) else f"{kind} (message left out)"


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an error whose message can't be formatted is still an error
        return "?"


def _named_in_code(error: BaseException) -> bool:
    """Return whether the name in the error (such as an attribute) occurs in the code: then it isn't user data."""
    name = getattr(error, "name", None)
    if not isinstance(name, str) or isinstance(error, ImportError):
        return True
    return any(
        name in (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_consts)
        for code, _ in _steps(error.__traceback__)
    )


_DESKTOP = re.compile(r"[\w:-]{1,40}")


def versions() -> str:
    """Return the versions of the program, Python, Qt and the system in one line."""
    return (
        f"Mnemoscope {engine.program_version()}, Python {platform.python_version()}, Qt {qVersion()}, "
        f"{platform.platform()}"
    )


def report(failures: Iterable[tuple[Failure, int]], settings: Settings | None) -> str:
    """Return the report on errors, each with its number of occurrences. `settings`: the current ones, if known."""
    parts = [_head(settings)]
    for failure, times in failures:
        often = "once" if times == 1 else f"{times:,} times"
        parts.append(f"{failure.kind} {failure.where}, {often}\n\n{failure.trace}")
    return masked("\n\n".join(parts))


def masked(text: str) -> str:
    """Mask everything in a text that looks like a secret or is an API key in use."""
    return engine.redact(text)


def _head(settings: Settings | None) -> str:
    desktop = os.environ.get("XDG_CURRENT_DESKTOP", "")
    screen = QGuiApplication.platformName()
    if _DESKTOP.fullmatch(desktop):
        screen += f", {desktop}"
    lines = [versions(), f"Screen: {screen}. Language: {QLocale.system().name()}, window: {current_language()}."]
    if settings is not None:
        changed = [
            option.key for option in engine.all_options() if engine.value_at(settings, option.key) != option.default
        ]
        lines.append(f"Settings that were changed: {', '.join(changed) or 'none'}.")
    return "\n".join(lines)
