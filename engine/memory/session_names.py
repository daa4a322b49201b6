"""User-friendly names of sessions: the stable name, the id, or a prefix of the id."""

from collections import Counter
from collections.abc import Sequence

from engine.base.errors import MnemoscopeError
from engine.base.formatting import plural
from engine.records import SessionSummary

_SHORT_ID = 8
_MOST_CANDIDATES = 4


def short_names(known: Sequence[SessionSummary]) -> dict[str, str]:
    """The shortest name that `show` accepts for each session: a unique prefix of its id, else its stable name."""
    times = Counter(session.id for session in known)
    beginnings: Counter[str] = Counter()
    for id in times:
        beginnings.update(id[:length] for length in range(_SHORT_ID, len(id) + 1))

    def name(session: SessionSummary) -> str:
        if not session.id or times[session.id] > 1:
            return session.path  # for example a reset session, whose archive has the same id
        lengths = range(_SHORT_ID, len(session.id))
        return next((session.id[:length] for length in lengths if beginnings[session.id[:length]] == 1), session.id)

    return {session.path: name(session) for session in known}


def wanted_session(id: str, known: Sequence[SessionSummary]) -> SessionSummary:
    """The session with this stable name, id, or prefix of an id.

    Raises `MnemoscopeError` unless there is exactly one.
    """
    for exact in (lambda session: session.path == id, lambda session: session.id == id):
        if found := list(filter(exact, known)):
            break
    else:
        found = [session for session in known if session.id.startswith(id)]
    if not found:
        raise MnemoscopeError(f"No session has the id {id}: mnemoscope sessions lists them.")
    if len(found) == 1:
        return found[0]
    names = short_names(known)
    candidates = ", ".join(names[session.path] for session in found[:_MOST_CANDIDATES])
    more = ", …" if len(found) > _MOST_CANDIDATES else ""
    raise MnemoscopeError(f"{plural(len(found), 'session')} begin with {id}: {candidates}{more}")
