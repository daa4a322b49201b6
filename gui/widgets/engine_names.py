"""Display names of the engines, and which one is used as a fallback. Pure functions."""

from typing import Literal, NamedTuple

from engine import MemoryProviderStatus, marked, tr

BUILTIN = "builtin"
_NAMES = {BUILTIN: marked("built-in index"), "lancedb": "LanceDB"}
IndexRemedy = Literal["", "rebuild", "sync"]


class FallbackEngine(NamedTuple):
    """A fallback replaces the chosen engine or provider."""

    chosen: str
    """As in the settings."""
    reason: str


def engine_name(backend: str) -> str:
    """`builtin` -> "built-in index"."""
    return tr(_NAMES.get(backend, backend))


def engine_instead(status: MemoryProviderStatus) -> FallbackEngine | None:
    """Which engine is replaced by the one in use; None where the chosen one answers."""
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
