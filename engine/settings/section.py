"""Common base of all groups of options: help texts, and numbers limited to their ranges."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

import msgspec

from engine.base.language import marked, tr


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


# --- Problems of options, as whole sentences -------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """Raised where a value is checked, and turned into a message where the option's name is known."""

    sentence: str
    """A `marked` one, with the field `{it}` for the option."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Of its other fields."""

    def about(self, it: str) -> str:
        return tr(self.sentence, it=it, **self.values)


SECRET = Problem(
    marked("{it} looks like a secret: put it in an environment variable or the keychain and remove it from the file.")
)
LOGIN = Problem(
    marked(
        "{it} holds a user or a password: put it in an environment variable or the keychain and remove it from the "
        "file."
    )
)
