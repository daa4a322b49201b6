"""The status of a path for display: a word with its dot, a sentence, the details as a tooltip."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine import PathState, marked, tr, tr_reason
from gui.diagnostics.diagnostic import chunks, vectors
from gui.widgets.formatting import exact, size_text
from gui.widgets.state import State

ACTION_WORDS = {
    "sync": marked("Update now"),
    "settings": marked("Open the settings file"),
    "add": marked("Index it, too…"),
    "open": marked("Open the file"),
}
"""Remedy -> label of its button."""

_WORDS: dict[str, tuple[State, str]] = {
    "indexed": ("fine", marked("indexed")),
    "pending": ("working", marked("waiting")),
    "failed": ("degraded", marked("failed")),
    "excluded": ("off", marked("left out")),
    "outside": ("off", marked("outside")),
    "too-large": ("off", marked("too large")),
    "not-text": ("degraded", marked("not text")),
    "gone": ("working", marked("gone")),
    "missing": ("off", marked("not there")),
    "folder": ("fine", marked("folder")),
}


@dataclass(frozen=True)
class PathDiagnostic:
    state: State
    value: str
    sentence: str
    tip: str


def read_path(state: PathState) -> PathDiagnostic:
    """What to show of it."""
    dot, word = _WORDS[state.state]
    word = tr(word)
    name = state.path.rpartition("/")[2] or state.file.rpartition("/")[2] or state.asked
    return PathDiagnostic(dot, f"{word}: {name}" if name.strip() else word, state.sentence, "\n".join(_facts(state)))


def _facts(state: PathState) -> Iterator[str]:
    yield state.file
    if state.origin is not None and state.origin.key:
        yield f"{state.origin.key}: {state.origin.value}"
    if state.modified is not None:
        held = [
            chunks(state.chunks),
            *([] if state.vectors is None else [vectors(state.vectors)]),
            size_text(state.size),
        ]
        yield tr("As indexed: {held}", held=", ".join(held))
        yield tr("Changed {when}", when=exact(state.modified))
    if state.contents is not None:
        yield from (f"{issue.path}: {tr_reason(issue.detail)}" for issue in state.contents.passed)
