"""The base of all records.

Python names are snake_case; JSON (`to_json`) uses the reference's camelCase keys.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

Source = Literal["memory", "sessions"]
FileRange = tuple[int, int]
LAST_LINE = 2**31 - 1
"""Stands for the last line of any file."""


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """Base of all records: immutable, with keyword arguments only, and camelCase keys in JSON."""


def to_builtins(record: Any) -> Any:
    """Return the record as dicts, lists and scalars with camelCase keys."""
    return msgspec.to_builtins(record, enc_hook=_call)


def to_json(record: Any, *, indent: int = 0) -> str:
    """Return the record as JSON text with camelCase keys, on one line if `indent` is 0."""
    encoded = msgspec.json.encode(record, enc_hook=_call)
    return (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()


def _call(make: Callable[[], Any]) -> Any:
    """Return a value that a function makes when it is first read."""
    return make()


def cite(path: str, first: int | None = None, last: int | None = None, page: int = 0) -> str:
    """Return the citation `path#L5-L9`, or `path#L5` for one line; of a document with pages `path#L5-L9 (page 3)`.

    Only the path is returned for a file without lines, or up to `LAST_LINE`.
    """
    if first is None or last == LAST_LINE:
        return path
    lines = f"#L{first}" if last is None or last <= first else f"#L{first}-L{last}"
    return f"{path}{lines} (page {page})" if page else f"{path}{lines}"
