"""`memory_search`: an agent's search in the memory."""

import time
from typing import TYPE_CHECKING

from msgspec import UNSET

from engine.agent.access import AgentAccess
from engine.agent.arguments import count, share
from engine.agent.error_messages import unavailable
from engine.agent.passages import cited_passages
from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError, QueryTooLong
from engine.records import FallbackStatus, MemorySearchAnswer, SearchOutcome

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager

MOST_RESULTS = 100
_FIRST_SECONDS = 5.0
_LOOK_SECONDS = 0.1


def memory_search(
    access: AgentAccess,
    query: str,
    max_results: int | None = None,
    min_score: float | None = None,
    *,
    cancel: CancelToken | None = None,
) -> MemorySearchAnswer:
    """Search the memory; whatever happens is an answer, never an exception.

    A number that is none, or out of range, is read as the nearest one that makes sense; None takes the settings'.
    """
    try:
        if not isinstance(query, str) or not query.strip():
            return MemorySearchAnswer(error="There is nothing to search for: say it in query.")
        outcome, fallback = asked(access, query, count(max_results, MOST_RESULTS), share(min_score), cancel)
        cited = access.cites
        return MemorySearchAnswer(
            results=cited_passages(outcome.results, cited=cited, budget=access.settings.injection_budget),
            provider=outcome.provider,
            model=outcome.model,
            fallback=fallback,
            citations=cited,
            mode=outcome.mode,
            notice=outcome.notice or UNSET,
        )
    except QueryTooLong as error:
        return MemorySearchAnswer(error=str(error))
    except Exception as error:
        return unavailable(error)


def asked(
    access: AgentAccess, query: str, most: int | None, least: float | None, cancel: CancelToken | None
) -> tuple[SearchOutcome, FallbackStatus | None]:
    """Search the memory; also returns the backend that answered instead of the chosen one.

    Raises as `AgentAccess.ask`.
    """

    def ask(memory: "MemorySearchManager", token: CancelToken) -> tuple[SearchOutcome, FallbackStatus | None]:
        def search() -> SearchOutcome:
            return memory.search(query, max_results=most, min_score=least, session_key=access.session_key, cancel=token)

        outcome = search()
        if not outcome.results and _came_to_be(memory, token):
            outcome = search()
        return outcome, _fallback(memory)

    return access.ask(ask, cancel)


def _came_to_be(memory: "MemorySearchManager", cancel: CancelToken) -> bool:
    """Whether an index that was empty has got something: a new one is waited for, or it would seem to know nothing."""
    until = time.monotonic() + _FIRST_SECONDS
    waited = False
    try:
        while (status := memory.status()).chunks == 0 and (status.dirty or status.syncing):
            if time.monotonic() > until:
                return False
            waited = True
            time.sleep(_LOOK_SECONDS)
            cancel.checkpoint()
    except MnemoscopeError:
        return False
    return waited and status.chunks > 0


def _fallback(memory: "MemorySearchManager") -> FallbackStatus | None:
    """An answer is worth having without it."""
    try:
        return memory.status().fallback
    except MnemoscopeError:
        return None
