"""Which sessions of agents may search with `qmd`, by their keys such as `agent:main:discord:group:123`."""

from collections.abc import Sequence

from engine.base.language import marked, tr
from engine.search.session_keys import session_of
from engine.settings.qmd_options import SCOPE_RULE, QmdScopeSettings

_REFUSED = marked("This session may not search the memory with qmd (qmd.scope).")


def refusal(scope: QmdScopeSettings, session_key: str | None) -> str:
    """Why the session with this key gets no answer; empty for one that does."""
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
