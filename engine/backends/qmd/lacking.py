"""What a memory kept by `qmd` cannot do, each with the reason."""

from collections.abc import Mapping

from engine.errors import Unsupported
from engine.records import Feature

_SWITCH = "The built-in engine can."

LACKS: Mapping[Feature, str] = {
    "alike": f"qmd compares a question with the notes, and no passage with another. {_SWITCH}",
    "narrowing": f"qmd searches all of its notes each time, not within earlier results. {_SWITCH}",
    "ordering": f"qmd puts results in the order of its own scores: neither age nor variety counts. {_SWITCH}",
    "completion": f"qmd does not list the titles, tags and projects that it knows. {_SWITCH}",
    "explanation": f"qmd does not tell how it came to its results. {_SWITCH}",
    "states": f"qmd does not tell why a file is found or not. {_SWITCH}",
    "models": f"qmd keeps its models and vectors to itself. {_SWITCH}",
    "insight": f"qmd keeps its index to itself: there is nothing to look into. {_SWITCH}",
}
NO_SESSIONS = "Searching sessions with qmd is switched off (qmd.sessions.enabled)."


def unsupported(feature: Feature) -> Unsupported:
    return Unsupported(LACKS[feature])
