"""Operations of agents on facts: save, find and forget them, add them to prompts, and capture them.

No function here raises; the answer contains the error.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import UNSET

from engine.agent.fact_capture import category_of, memorable_statements
from engine.agent.memory_access import AgentAccess
from engine.agent.tool_interface import error_message, untrusted_block
from engine.base import lazy_logger
from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError
from engine.records import (
    FACT_CATEGORIES,
    LONGEST_FACT,
    USUAL_IMPORTANCE,
    Fact,
    FactCandidate,
    FactResponse,
    FoundFact,
    MemoryForgetResponse,
    MemoryRecallResponse,
    MemoryStoreResponse,
    RecalledFact,
)
from engine.text.folding import visible
from engine.text.writing_systems import cut

if TYPE_CHECKING:
    from engine.memory.facts import Facts

log = lazy_logger(__name__)

Answer = TypeVar("Answer", bound=FactResponse)

MAX_FACTS = 50
USUAL_FACTS = 5
_SHORTEST_PROMPT = 5
_SHORT_ID = 8
_CANDIDATES = 5
_SHARED = (
    "Facts belong to the user alone: in a group or a channel, which others can read, they are neither shown nor saved."
)
_OFF = "The settings don't allow agents to save or forget facts (facts.agent_writes is off)."
_WAITS = "Agents see it once the user has approved it in Mnemoscope."


def memory_store(
    access: AgentAccess,
    text: str,
    category: str | None = None,
    importance: float | None = None,
    *,
    cancel: CancelToken | None = None,
) -> MemoryStoreResponse:
    """Save a fact and return it, or return the existing fact with the same words.

    With `category` None, the category is derived from the text.
    """

    def store(facts: "Facts", token: CancelToken) -> MemoryStoreResponse:
        kind = category_of(text) if category is None else category
        if kind not in FACT_CATEGORIES:
            return MemoryStoreResponse(error=f"A category is one of {', '.join(FACT_CATEGORIES)}.")
        similar = facts.find(f"{text} ", max_results=_CANDIDATES, cancel=token) if len(text) <= LONGEST_FACT else None
        saved = facts.add(
            text,
            category=kind,
            importance=USUAL_IMPORTANCE if importance is None else importance,
            origin="agent",
            session_key=access.session_key or "",
            pending=access.settings.facts.agent_writes == "review",
        )
        if saved.duplicate:
            return MemoryStoreResponse(action="duplicate", existing_id=saved.fact.id, existing_text=saved.fact.text)
        near = tuple(_candidate(match) for match in similar.results if match.equivalent) if similar else ()
        note = _WAITS if saved.fact.pending else UNSET
        return MemoryStoreResponse(action="created", id=saved.fact.id, similar=near or UNSET, note=note)

    return _changed(access, MemoryStoreResponse(), store, cancel)


def memory_recall(
    access: AgentAccess, query: str, limit: int | None = None, *, cancel: CancelToken | None = None
) -> MemoryRecallResponse:
    """Return the facts that match a query, at most `limit` (5 by default)."""
    if not query.strip():
        return _missing(MemoryRecallResponse(), "query")

    def recall(facts: "Facts", token: CancelToken) -> MemoryRecallResponse:
        most = min(max(USUAL_FACTS if limit is None else limit, 1), MAX_FACTS)
        recalled = facts.find(f"{query} ", max_results=most, cancel=token)
        memories = tuple(
            RecalledFact(
                id=match.fact.id,
                text=match.fact.text,
                category=match.fact.category,
                importance=match.fact.importance,
                score=round(match.score, 3),
            )
            for match in recalled.results
        )
        return MemoryRecallResponse(count=len(memories), memories=memories, warning=recalled.notice or UNSET)

    return _answered(access, MemoryRecallResponse(), recall, cancel)


def memory_forget(
    access: AgentAccess, query: str | None = None, memory_id: str | None = None, *, cancel: CancelToken | None = None
) -> MemoryForgetResponse:
    """Forget one fact: the one with this id (or a unique beginning of it), or the one that matches a query.

    If several match, the answer lists candidates. A user can restore forgotten facts.
    """

    def forget(facts: "Facts", token: CancelToken) -> MemoryForgetResponse:
        if memory_id and memory_id.strip():
            matches = [fact for fact in facts.named(memory_id.strip()) if fact.forgotten is None]
            certain, candidates = len(matches) == 1, tuple(map(_short, matches[:_CANDIDATES]))
        else:
            similar = facts.find(f"{query} ", max_results=_CANDIDATES, cancel=token).results
            matches = [match.fact for match in similar]
            certain, candidates = len(similar) == 1 and similar[0].equivalent, tuple(map(_candidate, similar))
        if certain:
            facts.forget([matches[0].id], "agent")
            return MemoryForgetResponse(action="deleted", id=matches[0].id)
        if matches:
            return MemoryForgetResponse(action="candidates", candidates=candidates)
        return MemoryForgetResponse(found=0)

    if not (query and query.strip()) and not (memory_id and memory_id.strip()):
        return _missing(MemoryForgetResponse(), "query or memoryId")
    return _changed(access, MemoryForgetResponse(), forget, cancel)


def recall_block(access: AgentAccess, message: str, *, cancel: CancelToken | None = None) -> str:
    """Return the facts that match a message best, as a block to put before it; empty if none or disabled."""
    message = message.strip()
    if access.shared or len(message) < _SHORTEST_PROMPT:
        return ""
    try:
        settings = access.settings.facts
        if not settings.auto_recall:
            return ""
        recall_query = cut(message, settings.recall_max_chars)
        recalled = access.call(
            lambda memory, token: memory.facts.find(
                f"{recall_query} ", max_results=settings.recall_results, cancel=token
            ),
            cancel,
        )
    except Exception as error:
        log.info("No facts are added to a message: %s", error_message(error))
        return ""
    return facts_block([match.fact for match in recalled.results], settings.recall_max_chars)


def capture(access: AgentAccess, messages: Sequence[Mapping[str, Any]]) -> tuple[Fact, ...]:
    """Save the user's statements of one turn that are worth remembering; does nothing if the setting is off.

    They await approval. Returns the new ones.
    """
    if access.shared:
        return ()

    def save(facts: "Facts", texts: Sequence[str]) -> tuple[Fact, ...]:
        key = access.session_key or ""
        saved = [
            facts.add(text, category=category_of(text), origin="capture", session_key=key, pending=True)
            for text in texts
        ]
        return tuple(new.fact for new in saved if not new.duplicate)

    try:
        settings = access.settings.facts
        if not settings.auto_capture:
            return ()
        texts = memorable_statements(messages, settings.capture_max_chars, settings.capture_triggers)
        return access.call(lambda memory, _: save(memory.facts, texts)) if texts else ()
    except Exception as error:
        log.info("No fact is captured from a message: %s", error_message(error))
        return ()


def facts_block(facts: Sequence[Fact], longest: int) -> str:
    """Return facts as a block in which no text can end the block or imitate another fact; empty without facts.
    `longest`: maximum number of characters of all facts together; facts that don't fit are left out, except the first
    one, which is cut.
    """
    entries: list[tuple[str, str]] = []
    remaining = longest
    for fact in facts:
        text = " ".join(visible(fact.text).split())
        if len(text) > remaining:
            if entries:
                break
            text = cut(text, remaining - 1) + "…"
        remaining -= len(text)
        entries.append((fact.category, text))
    return untrusted_block("relevant-memories", entries)


def _changed(
    access: AgentAccess,
    empty: Answer,
    operation: "Callable[[Facts, CancelToken], Answer]",
    cancel: CancelToken | None,
) -> Answer:
    try:
        allowed = access.settings.facts.agent_writes != "off"
    except MnemoscopeError as error:  # the settings can't be read now
        return msgspec.structs.replace(empty, error=error_message(error))
    if not allowed:
        return msgspec.structs.replace(empty, disabled=True, error=_OFF)
    return _answered(access, empty, operation, cancel)


def _answered(
    access: AgentAccess,
    empty: Answer,
    operation: "Callable[[Facts, CancelToken], Answer]",
    cancel: CancelToken | None,
) -> Answer:
    """Return the answer of `operation`; if it fails, `empty` with the error."""
    if access.shared:
        return msgspec.structs.replace(empty, disabled=True, error=_SHARED)
    try:
        return access.call(lambda memory, token: operation(memory.facts, token), cancel)
    except Exception as error:
        return msgspec.structs.replace(empty, error=error_message(error))


def _missing(empty: Answer, parameter: str) -> Answer:
    return msgspec.structs.replace(empty, error="missing_param", message=f"Give {parameter}.")


def _candidate(result: FoundFact) -> FactCandidate:
    return msgspec.structs.replace(_short(result.fact), score=round(result.score, 3))


def _short(fact: Fact) -> FactCandidate:
    return FactCandidate(id=fact.id[:_SHORT_ID], text=fact.text, category=fact.category)
