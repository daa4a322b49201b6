"""Words for the engine's names: of engines, with the one used as a fallback, and of rules that exclude files.

Pure functions.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from engine import FileIssue, MemoryProviderStatus, files_covered, marked, tr

BUILTIN = "builtin"
_NAMES = {BUILTIN: marked("built-in index"), "lancedb": "LanceDB"}
IndexRemedy = Literal["", "rebuild", "sync"]


class FallbackEngine(NamedTuple):
    """A fallback replaces the chosen engine or provider."""

    chosen: str
    """Name in the settings."""
    reason: str


def engine_name(backend: str) -> str:
    """`builtin` -> "built-in index"."""
    return tr(_NAMES.get(backend, backend))


def engine_instead(status: MemoryProviderStatus) -> FallbackEngine | None:
    """Return the engine that a fallback replaces; None if the chosen one answers."""
    if status.fallback is None or "fallback" not in status.custom:
        return None
    return FallbackEngine(status.fallback.from_, status.fallback.reason)


def index_remedy(status: MemoryProviderStatus) -> IndexRemedy:
    """The action for `index_error`: an index of another engine is only rebuilt by its owner, so it is tried again."""
    if status.custom.get("readOnly"):
        return ""
    return "rebuild" if status.backend == BUILTIN else "sync"


def provider_instead(status: MemoryProviderStatus) -> FallbackEngine | None:
    """The replaced embedding provider; None if there is none or the chosen one works."""
    if engine_instead(status) is not None:
        hidden = status.custom.get("providerFallback") or {}
        return FallbackEngine(str(hidden["from"]), str(hidden["reason"])) if hidden else None
    return None if status.fallback is None else FallbackEngine(status.fallback.from_, status.fallback.reason)


_WORDS = {
    "bad-name": marked("unusable file name"),
    "binary": marked("binary"),
    "broken": marked("broken"),
    "copied": marked("copied"),
    "crashed": marked("ended the program"),
    "exclude": marked("excluded in the settings"),
    "extension": marked("extension"),
    "generated": marked("generated"),
    "hidden": marked("hidden"),
    "ignored-folder": marked("ignored folder"),
    "kept-elsewhere": marked("in another workspace"),
    "missing": marked("missing"),
    "no-transcript": marked("not a transcript"),
    "not-a-file": marked("not a file"),
    "not-embedded": marked("not embedded"),
    "not-included": marked("not included"),
    "not-text": marked("not text"),
    "not-utf8": marked("not UTF-8"),
    "outside-memory": marked("outside the memory folder"),
    "packed-twice": marked("compressed copy of a transcript"),
    "part-of-session": marked("part of a session"),
    "secret": marked("file with secrets"),
    "source-off": marked("source turned off"),
    "symlink": marked("symlink"),
    "too-large": marked("too large"),
    "unknown-format": marked("unknown format"),
    "unreadable": marked("unreadable"),
}


def files_left_out(issues: Iterable[FileIssue]) -> int:
    """Number of files, or of folders with everything in them: some entries represent all files of a kind."""
    return sum(files_covered(issue.detail) for issue in issues)


def rule_words(rule: str) -> str:
    """`ignored-folder` -> ignored folder; another program's rule stays unchanged."""
    return tr(_WORDS[rule]) if rule in _WORDS else rule.replace("-", " ")
