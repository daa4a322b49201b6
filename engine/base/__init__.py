"""Basics without dependencies: errors, cancellation, translation, number formats, private files, bounded JSON.

In: nothing from the program; every other package may import this one.
Out: exceptions, `CancelToken`, `tr`, file helpers with safe modes, `lazy_pattern`, `lazy_logger`, `ChildProcess`,
`in_batches`.
"""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, AnyStr, TypeVar, cast

if TYPE_CHECKING:
    import logging
    from urllib.parse import SplitResult

_T = TypeVar("_T")


class _LazyObject:
    """An object that a function makes when it is first used.

    A search on the command line uses few of the hundred patterns in the modules that it imports, and compiling one
    takes up to a millisecond. It logs nothing, and importing `logging` takes as long as the search itself.
    """

    def __init__(self, make: Callable[..., object], *values: object) -> None:
        self._make = make
        self._values = values

    def __getattr__(self, name: str) -> Any:
        """Return a method or an attribute of the object; it is stored here, so this runs once for each."""
        value = getattr(self._make(*self._values), name)
        setattr(self, name, value)
        return value


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern with all methods and attributes of `re.compile(text, flags)`, for a module's constant."""
    return cast(re.Pattern[AnyStr], _LazyObject(re.compile, text, flags))


def lazy_logger(name: str) -> "logging.Logger":
    """Return a logger with all methods of `logging.getLogger(name)`, for modules that a search imports."""
    return cast("logging.Logger", _LazyObject(_logger, name))


def urlsplit(url: str) -> "SplitResult":
    """Split a URL; raises ValueError. Most commands split none, so its module is imported here."""
    from urllib import parse

    return parse.urlsplit(url)


def is_loopback(host: str) -> bool:
    """Return whether this host name is this machine's own."""
    from ipaddress import ip_address

    try:
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


before_first_message: list[Callable[[], object]] = []
"""Functions that set up logging, called once when the first lazy logger is used."""
_preparing = threading.RLock()


def prepare_logging() -> None:
    """Set up logging before code of other packages runs that logs; returns once it is set up, on every thread."""
    with _preparing:
        while before_first_message:
            before_first_message.pop()()


def _logger(name: str) -> "logging.Logger":
    import logging

    prepare_logging()
    return logging.getLogger(name)


class ChildProcess:
    """Starts a process that shares a pipe with this one, and dies with it."""

    def __init__(self, target: Callable[..., None], *values: object, name: str) -> None:
        """`target`: a function of a module, called in the process with its end of the pipe and `values`."""
        import multiprocessing  # takes 10 ms

        context = multiprocessing.get_context("spawn")  # a copy of a process with threads may hang
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=target, args=(other, *values), name=name, daemon=True)
        self._process.start()
        other.close()

    def end(self) -> None:
        """Stop the process."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._pipe.close()


def in_batches(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """Yield the items in order, in sequences of `size`; the last one may be shorter."""
    return (items[start : start + size] for start in range(0, len(items), size))
