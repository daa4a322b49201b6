"""Basics without dependencies: errors, cancellation, translation, number formats, private files, bounded JSON.

In: nothing from the program; every other package may import this one.
Out: exceptions, `CancelToken`, `tr`, file helpers with safe modes, `lazy_pattern` and `in_batches`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, AnyStr, TypeVar, cast

_T = TypeVar("_T")


class _Pattern:
    """A regular expression that is compiled when it is first used.

    A search on the command line uses few of the hundred patterns in the modules that it imports, and compiling one
    takes up to a millisecond.
    """

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Return a method or an attribute of the compiled pattern; it is stored here, so this runs once for each."""
        value = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, value)
        return value


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern with all methods and attributes of `re.compile(text, flags)`, for a module's constant."""
    return cast(re.Pattern[AnyStr], _Pattern(text, flags))


def in_batches(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """Yield the items in order, in sequences of `size`; the last one may be shorter."""
    return (items[start : start + size] for start in range(0, len(items), size))
