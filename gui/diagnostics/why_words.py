"""The state of a path as a person reads it: a word with its dot, a sentence, the exact facts as a tip."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine import PathState
from gui.widgets.state import State
from gui.widgets.wording import counted, exact, size_text

ACTION_WORDS = {
    "sync": "Sync now",
    "settings": "Open the settings file",
    "add": "Index it, too…",
    "open": "Open the file",
}
"""Remedy -> what its button says."""

_WORDS: dict[str, tuple[State, str]] = {
    "indexed": ("fine", "indexed"),
    "pending": ("working", "waiting"),
    "failed": ("degraded", "failed"),
    "excluded": ("off", "left out"),
    "outside": ("off", "outside"),
    "too-large": ("off", "too large"),
    "not-text": ("degraded", "not text"),
    "gone": ("working", "gone"),
    "missing": ("off", "not there"),
    "folder": ("fine", "folder"),
}


@dataclass(frozen=True)
class PathReading:
    state: State
    value: str
    sentence: str
    tip: str


def read_path(state: PathState) -> PathReading:
    """What to show of it."""
    dot, word = _WORDS[state.state]
    name = state.path.rpartition("/")[2] or state.file.rpartition("/")[2] or state.asked
    return PathReading(dot, f"{word}: {name}" if name.strip() else word, state.sentence, "\n".join(_facts(state)))


def _facts(state: PathState) -> Iterator[str]:
    yield state.file
    if state.origin is not None and state.origin.key:
        yield f"{state.origin.key}: {state.origin.value}"
    if state.modified is not None:
        vectors = "" if state.vectors is None else f", {counted(state.vectors, 'vector')}"
        yield f"As indexed: {counted(state.chunks, 'chunk')}{vectors}, {size_text(state.size)}"
        yield f"Changed {exact(state.modified)}"
    if state.contents is not None:
        yield from (f"{issue.path}: {issue.detail}" for issue in state.contents.passed)
