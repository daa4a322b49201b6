"""Limits of a memory with `qmd`: features that it doesn't support, and sessions of agents that may not search it."""

from collections.abc import Mapping, Sequence

from engine.base.errors import Unsupported
from engine.base.language import marked, tr
from engine.records import Feature
from engine.search.session_keys import session_of
from engine.settings.backend_settings import SCOPE_RULE, QmdScopeSettings

BUILT_IN_CAN = marked("The built-in index supports this.")
"""Sentence at the end of each reason."""

_UNSUPPORTED: Mapping[Feature, str] = {
    "alike": marked("qmd can't search for passages similar to another passage."),
    "narrowing": marked("qmd always searches all notes and can't search within earlier results."),
    "ordering": marked("qmd orders results by its own scores, so age and variety can't change the order."),
    "completion": marked("qmd does not list the titles, tags and projects that it knows."),
    "explanation": marked("qmd does not explain its results."),
    "states": marked("qmd does not report why a file is found or not."),
    "models": marked("qmd manages its models and vectors itself."),
    "insight": marked("The index of qmd can't be inspected."),
}
NO_SESSIONS = marked("Searching sessions with qmd is switched off (qmd.sessions.enabled).")

_REFUSED = marked("The setting qmd.scope doesn't allow this session to search with qmd.")


def unsupported_features(*, sessions: bool) -> Mapping[Feature, str]:
    """Return unsupported features with reasons; `sessions`: whether `qmd` searches them."""
    found = {feature: _reason(feature) for feature in _UNSUPPORTED}
    return found if sessions else {**found, "sessions": tr(NO_SESSIONS)}


def unsupported(feature: Feature) -> Unsupported:
    return Unsupported(_reason(feature))


def _reason(feature: Feature) -> str:
    return f"{tr(_UNSUPPORTED[feature])} {tr(BUILT_IN_CAN)}"


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
