"""Responses to agents: the results of the tools for memory and facts. Unset fields are left out of the JSON."""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from engine.records.base import Record, Source
from engine.records.facts import FactCategory
from engine.records.search import SearchMode
from engine.records.status import FallbackStatus


class CitedPassage(Record, frozen=True):
    """One result of `memory_search`."""

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    """Text of the passage, with its citation at the end if citations are on; may be cut to the agent's limit."""
    source: Source
    date: str | UnsetType = UNSET
    """Day of the last change of the note, or of the last message of the session, such as 2026-05-31."""
    agent: str | UnsetType = UNSET
    """For a session: the agent's name."""
    project: str | UnsetType = UNSET
    """For a session: the name of the project's folder."""
    machine: str | UnsetType = UNSET
    """For a session from another machine: the machine's name."""
    title: str | UnsetType = UNSET
    """For a session: its title, unless the snippet begins with it."""
    citation: str | UnsetType = UNSET


class MemorySearchResponse(Record, frozen=True):
    """The response of `memory_search`; `disabled` if the memory could not be searched at all."""

    results: tuple[CitedPassage, ...] = ()
    provider: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    fallback: FallbackStatus | UnsetType | None = UNSET
    citations: bool | UnsetType = UNSET
    """Whether the results include citations."""
    mode: SearchMode | UnsetType = UNSET
    searched: str | UnsetType = UNSET
    """The corrected or shorter query that was searched instead; `notice` says why."""
    notice: str | UnsetType = UNSET
    """Why the answer is incomplete or to another query, or that nothing is indexed yet."""
    disabled: bool | UnsetType = UNSET
    unavailable: bool | UnsetType = UNSET
    error: str | UnsetType = UNSET
    warning: str | UnsetType = UNSET
    """Message that the agent should pass on to the user."""
    action: str | UnsetType = UNSET
    """Action by which the user can remedy the cause of `warning`."""


class MemoryGetResponse(Record, frozen=True):
    """The response of `memory_get`: a page of one file."""

    path: str = ""
    text: str = ""
    from_line: int | UnsetType = msgspec.field(name="from", default=UNSET)
    lines: int | UnsetType = UNSET
    """Number of lines in `text`."""
    missing: bool | UnsetType = UNSET
    """True if there is no such file."""
    total_lines: int | UnsetType = UNSET
    """Number of lines of the file, if the page is empty because it begins past the end or the file is empty."""
    truncated: bool | UnsetType = UNSET
    next_from: int | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET
    error: str | UnsetType = UNSET


# --- Responses to agents about facts: the payloads of the reference's tools. Unset fields are left out of the JSON.


class RecalledFact(Record, frozen=True):
    """One result of `memory_recall`."""

    id: str
    text: str
    category: FactCategory
    importance: float
    score: float


class FactCandidate(Record, frozen=True):
    """A fact that an agent may have meant."""

    id: str
    """First eight characters of the id, enough to identify it."""
    text: str
    category: FactCategory
    score: float | UnsetType = UNSET


class FactResponse(Record, frozen=True):
    """Common fields of the responses about facts: the reason for a missing one."""

    disabled: bool | UnsetType = UNSET
    error: str | UnsetType = UNSET
    """A sentence, or `missing_param`, which `message` explains."""
    message: str | UnsetType = UNSET


class MemoryRecallResponse(FactResponse, frozen=True):
    """The response of `memory_recall`."""

    count: int = 0
    memories: tuple[RecalledFact, ...] = ()
    """Facts found, the best first."""
    warning: str | UnsetType = UNSET
    """Why only keywords were searched."""


class MemoryStoreResponse(FactResponse, frozen=True):
    """The response of `memory_store`."""

    action: Literal["created", "duplicate"] | UnsetType = UNSET
    id: str | UnsetType = UNSET
    """Id of the new fact."""
    existing_id: str | UnsetType = UNSET
    existing_text: str | UnsetType = UNSET
    """Text of the existing fact with the same words."""
    similar: tuple[FactCandidate, ...] | UnsetType = UNSET
    """Facts with nearly the same meaning, which the new one may replace."""
    note: str | UnsetType = UNSET


class MemoryForgetResponse(FactResponse, frozen=True):
    """The response of `memory_forget`."""

    action: Literal["deleted", "candidates"] | UnsetType = UNSET
    id: str | UnsetType = UNSET
    candidates: tuple[FactCandidate, ...] | UnsetType = UNSET
    found: int | UnsetType = UNSET
    """Number of matching facts."""
