"""One value of the diagnostics, and the counts that many of them say."""

from dataclasses import dataclass
from typing import Literal

from engine import marked, tr_count
from gui.widgets.state import State

Remedy = Literal[
    "sync",
    "rebuild",
    "embed",
    "settings",
    "engine",
    "try-again",
    "probe-embedding",
    "probe-vector",
    "show-failed",
    "show-skipped",
    "show-index",
    "restore-data",
]

REMEDY_WORDS: dict[Remedy, str] = {
    "sync": marked("Update now"),
    "rebuild": marked("Rebuild index…"),
    "embed": marked("Embed…"),
    "settings": marked("Open the settings…"),
    "engine": marked("Choose another engine…"),
    "try-again": marked("Try again now"),
    "probe-embedding": marked("Test the model"),
    "probe-vector": marked("Try to load it"),
    "show-failed": marked("Show failed files"),
    "show-skipped": marked("Show skipped files"),
    "show-index": marked("Show the index file"),
    "restore-data": marked("Restore backup"),
}


@dataclass(frozen=True)
class Diagnostic:
    """One value. `state` None: a plain figure that cannot be wrong."""

    label: str
    state: State | None
    value: str
    reason: str = ""
    remedy: Remedy | None = None
    tip: str = ""


@dataclass(frozen=True)
class Group:
    title: str
    readings: tuple[Diagnostic, ...]


def files(count: int) -> str:
    return tr_count("{count:,} file", "{count:,} files", count)


def chunks(count: int) -> str:
    return tr_count("{count:,} chunk", "{count:,} chunks", count)


def vectors(count: int) -> str:
    return tr_count("{count:,} vector", "{count:,} vectors", count)
