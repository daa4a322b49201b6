"""Frozen records that packages exchange and that the engine's public API returns.

In: values from every package.
Out: immutable records, to read, compare and convert to JSON.

Times are seconds since the epoch (UTC), durations are seconds unless the name says otherwise, lines count from 1 and
ranges are half-open offsets in code points.
"""

# ruff: noqa: F403 - every name that these modules define is public

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine.records.base import *
from engine.records.search import *

if TYPE_CHECKING:
    from engine.records.explanations import *
    from engine.records.facts import *
    from engine.records.insight import *
    from engine.records.passage_links import *
    from engine.records.sessions import *
    from engine.records.status import *
    from engine.records.sync import *
    from engine.records.tool_responses import *
    from engine.records.workspaces import *

_LATE = (
    "sync",
    "passage_links",
    "explanations",
    "status",
    "sessions",
    "workspaces",
    "facts",
    "insight",
    "tool_responses",
)
"""Modules that a search on the command line doesn't need; their records load on first use."""

if not TYPE_CHECKING:  # else mypy would accept any name

    def __getattr__(name: str) -> Any:
        if not name.startswith("_"):
            for module in (import_module(f"{__name__}.{late}") for late in _LATE):
                if hasattr(module, name):
                    return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
