"""Features that a memory with `qmd` doesn't support, each with the reason."""

from collections.abc import Mapping

from engine.base.errors import Unsupported
from engine.base.language import marked, tr
from engine.records import Feature

BUILT_IN_CAN = marked("The built-in engine can.")
"""With it ends each reason."""

_LACKS: Mapping[Feature, str] = {
    "alike": marked("qmd compares a question with the notes, and no passage with another."),
    "narrowing": marked("qmd searches all of its notes each time, not within earlier results."),
    "ordering": marked("qmd puts results in the order of its own scores: neither age nor variety counts."),
    "completion": marked("qmd does not list the titles, tags and projects that it knows."),
    "explanation": marked("qmd does not tell how it came to its results."),
    "states": marked("qmd does not tell why a file is found or not."),
    "models": marked("qmd keeps its models and vectors to itself."),
    "insight": marked("qmd keeps its index to itself: there is nothing to look into."),
}
NO_SESSIONS = marked("Searching sessions with qmd is switched off (qmd.sessions.enabled).")


def lacks(*, sessions: bool) -> Mapping[Feature, str]:
    """What `qmd` cannot do, and why; `sessions`: whether it searches them."""
    found = {feature: _said(feature) for feature in _LACKS}
    return found if sessions else {**found, "sessions": tr(NO_SESSIONS)}


def unsupported(feature: Feature) -> Unsupported:
    return Unsupported(_said(feature))


def _said(feature: Feature) -> str:
    return f"{tr(_LACKS[feature])} {tr(BUILT_IN_CAN)}"
