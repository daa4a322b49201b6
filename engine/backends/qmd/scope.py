"""Which sessions of agents may search with `qmd`, by their keys such as `agent:main:discord:group:123`."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from engine.language import marked, tr
from engine.settings.qmd_options import SCOPE_RULE, QmdScopeSettings

Chat = Literal["direct", "group", "channel"]

_REFUSED = marked("This session may not search the memory with qmd (qmd.scope).")
_KINDS = {"direct": "direct", "dm": "direct", "group": "group", "channel": "channel"}


class Session(NamedTuple):
    """What a key says of the session that asks."""

    program: str
    """Such as discord; empty where the key names none."""
    chat: Chat | None
    """None where it cannot be told, as of a sub-agent's."""


def session_of(key: str) -> Session:
    """Any text is a key."""
    parts = [part for part in key.strip().lower().split(":") if part]
    if len(parts) >= 2 and parts[0] == "agent":
        parts = parts[2:]
    if parts[:1] == ["subagent"]:
        return Session("", None)
    chat: Chat = "direct"
    if "group" in parts:
        chat = "group"
    elif "channel" in parts:
        chat = "channel"
    return Session(parts[0] if len(parts) >= 2 and parts[1] in _KINDS else "", chat)


def refusal(scope: QmdScopeSettings, session_key: str | None) -> str:
    """Why the session with this key gets no answer; empty for one that does."""
    return "" if may_search(scope, session_key) else tr(_REFUSED)


def may_search(scope: QmdScopeSettings, session_key: str | None) -> bool:
    """Whether the session with this key may; without one it is the person, who always may."""
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
