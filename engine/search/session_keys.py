"""Parses agents' session keys: `main`, `agent:main:discord:direct:7`, `agent:main:whatsapp:group:123@g.us`.

Keys have OpenClaw's forms: `agent:<id>:`, then the name of the main session, or the program, its account, the kind of
chat and the contact. A hook passes the bare id of its session instead.
"""

import re
from typing import Literal

import msgspec

from engine.base import lazy_pattern

Chat = Literal["direct", "group", "channel"]

_DIRECT = frozenset({"direct", "dm"})
_SHARED = frozenset(
    """group groupchat channel chatroom room lobby everyone guild server space team supergroup forum topic thread
    broadcast newsletter community conference mpim multi public shared""".split()
)
_NAME = lazy_pattern(r"(?!\d{5,}\Z)[a-z0-9][a-z0-9_.-]*", re.ASCII)
"""Matches the name of a main session, a program or an account, but no long number, which is the id of a chat."""
_PERSON = lazy_pattern(r"(?!-\d)[^@:!#\s]+(?:@[a-z0-9-]+(?:\.[a-z0-9-]+)+)?|@[^@:!#\s]+:[a-z0-9.-]+(?::\d{1,5})?")
"""Matches the number, name or address of a contact, but no negative number, as Telegram's groups have."""
_SHARED_ADDRESS = lazy_pattern(r"@(?:g\.us|broadcast|newsletter)\b")


class SessionKey(msgspec.Struct, frozen=True):
    """The program and the kind of chat that an agent's session key names."""

    program: str
    """For example `discord`; empty if the key names none."""
    chat: Chat | None
    """None for a sub-agent, whose key doesn't name the chat it works for."""


def parse_session_key(key: str) -> SessionKey:
    """Parse a session key; a kind of chat that isn't known counts as a group."""
    parts = key.strip().lower().split(":")
    if len(parts) > 2 and parts[0] == "agent":
        parts = parts[2:]
    program = parts[0] if len(parts) > 1 and parts[1] in _DIRECT | _SHARED else ""
    if _is_private(parts):
        return SessionKey(program, "direct")
    if parts[0] == "subagent":
        return SessionKey("", None)
    return SessionKey(program, "channel" if "channel" in parts and "group" not in parts else "group")


def is_shared_session(session_key: str | None) -> bool:
    """Whether other people may read the session that a query comes from.

    False for the key of a private session, and without a key, when the user asks.
    """
    return session_key is not None and bool(session_key.strip()) and parse_session_key(session_key).chat != "direct"


def _is_private(parts: list[str]) -> bool:
    at = next((number for number, part in enumerate(parts[:3]) if part in _DIRECT), -1)
    names = parts[:at] if at >= 0 else parts
    if not all(_NAME.fullmatch(name) and _SHARED.isdisjoint(re.split("[^a-z]+", name)) for name in names):
        return False
    if at < 0:
        return len(parts) == 1
    person = ":".join(parts[at + 1 :])
    return _PERSON.fullmatch(person) is not None and _SHARED_ADDRESS.search(person) is None
