"""Common base of all groups of options: help texts, and numbers limited to their ranges."""

import functools
from typing import Any, get_type_hints

import msgspec


def option(text: str, low: float | None = None, high: float | None = None) -> msgspec.Meta:
    """Help for one option, and the ends of its range (inclusive)."""
    return msgspec.Meta(description=text, extra={"low": low, "high": high})


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all groups of options; limits their numbers to the ranges."""

    def __post_init__(self) -> None:
        for name, (low, high) in _ranges(type(self)).items():
            value = getattr(self, name)
            if value is not None:
                self._put(name, _clamp(value, low, high))

    def _put(self, name: str, value: Any) -> None:
        msgspec.structs.force_setattr(self, name, value)


@functools.cache
def _ranges(section: type[Section]) -> dict[str, tuple[float | None, float | None]]:
    found: dict[str, tuple[float | None, float | None]] = {}
    for name, hint in get_type_hints(section, include_extras=True).items():
        for meta in getattr(hint, "__metadata__", ()):
            low, high = meta.extra["low"], meta.extra["high"]
            if low is not None or high is not None:
                found[name] = low, high
    return found


def _clamp(value: float, low: float | None, high: float | None) -> float:
    if low is not None and value < low:
        return low
    if high is not None and value > high:
        return high
    return value
