"""Responses to agents: the payloads of the reference's tools. Unset fields are left out of the JSON."""

import msgspec
from msgspec import UNSET, UnsetType

from engine.records.base import Record, Source
from engine.records.search import SearchMode
from engine.records.status import FallbackStatus


class CitedPassage(Record, frozen=True):
    """One result of `memory_search`."""

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    """Where citations are given it ends with its own, and may have been cut to fit the agent's budget."""
    source: Source
    citation: str | UnsetType = UNSET


class MemorySearchAnswer(Record, frozen=True):
    """The answer of `memory_search`; `disabled` where the memory could not be searched at all."""

    results: tuple[CitedPassage, ...] = ()
    provider: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    fallback: FallbackStatus | UnsetType | None = UNSET
    citations: bool | UnsetType = UNSET
    """Whether the results carry their citations."""
    mode: SearchMode | UnsetType = UNSET
    notice: str | UnsetType = UNSET
    """Why the answer is incomplete, or that nothing is indexed yet."""
    disabled: bool | UnsetType = UNSET
    unavailable: bool | UnsetType = UNSET
    error: str | UnsetType = UNSET
    warning: str | UnsetType = UNSET
    """For the user, to whom the agent should pass it on."""
    action: str | UnsetType = UNSET
    """What can be done about it."""


class MemoryGetAnswer(Record, frozen=True):
    """The answer of `memory_get`: a page of one file."""

    path: str = ""
    text: str = ""
    from_line: int | UnsetType = msgspec.field(name="from", default=UNSET)
    lines: int | UnsetType = UNSET
    """How many lines `text` holds."""
    missing: bool | UnsetType = UNSET
    """True if there is no such file."""
    total_lines: int | UnsetType = UNSET
    """Lines of the whole file, where the page has none of them: it begins past the end, or the file is empty."""
    truncated: bool | UnsetType = UNSET
    next_from: int | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET
    error: str | UnsetType = UNSET
