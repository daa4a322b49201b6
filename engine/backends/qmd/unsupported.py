"""Limits of a memory with `qmd`: features that it doesn't support, and sessions of agents that may not search it."""

from collections.abc import Mapping, Sequence

from engine.base.errors import Unsupported
from engine.base.language import marked, tr
from engine.records import Feature
from engine.search.session_keys import session_of
from engine.settings.backend_options import SCOPE_RULE, QmdScopeSettings

BUILT_IN_CAN = marked("The built-in engine can.")
"""Sentence at the end of each reason."""

_LACKS: Mapping[Feature, str] = {
    "alike": marked("qmd compares a question with the notes, and no passage with another."),
    "narrowing": marked("qmd searches all of its notes each time, not within earlier results."),
    "ordering": marked("qmd puts results in the order of its own scores: neither age nor variety counts."),
    "completion": marked("qmd does not list the titles, tags and projects that it knows."),
    "explanation": marked("qmd does not explain its results."),
    "states": marked("qmd does not tell why a file is found or not."),
    "models": marked("qmd keeps its models and vectors to itself."),
    "insight": marked("qmd keeps its index to itself: there is nothing to look into."),
}
NO_SESSIONS = marked("Searching sessions with qmd is switched off (qmd.sessions.enabled).")

_REFUSED = marked("This session may not search the memory with qmd (qmd.scope).")


def lacks(*, sessions: bool) -> Mapping[Feature, str]:
    """Return unsupported features with reasons; `sessions`: whether `qmd` searches them."""
    found = {feature: _said(feature) for feature in _LACKS}
    return found if sessions else {**found, "sessions": tr(NO_SESSIONS)}


def unsupported(feature: Feature) -> Unsupported:
    return Unsupported(_said(feature))


def _said(feature: Feature) -> str:
    return f"{tr(_LACKS[feature])} {tr(BUILT_IN_CAN)}"


def refusal(scope: QmdScopeSettings, session_key: str | None) -> str:
    """Return why the session with this key gets no answer; empty if it gets one."""
    return "" if may_search(scope, session_key) else tr(_REFUSED)


def may_search(scope: QmdScopeSettings, session_key: str | None) -> bool:
    """Whether the session with this key may search; without a key it is the user, who always may."""
    if session_key is None or not session_key.strip():
        return True
    session = session_of(session_key)
    for action, program, chat in _rules(scope.rules):
        if (not program or program == session.program) and chat in ("*", session.chat):
            return action == "allow"
    return scope.default == "allow"


def _rules(rules: Sequence[str]) -> list[tuple[str, str | None, str]]:
    found = (SCOPE_RULE.fullmatch(rule.strip().lower()) for rule in rules)
    return [(rule[1], rule[2], rule[3]) for rule in found if rule is not None]
