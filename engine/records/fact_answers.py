"""Responses to agents about facts: the payloads of the reference's tools. Unset fields are left out of the JSON."""

from typing import Literal

from msgspec import UNSET, UnsetType

from engine.records.base import Record
from engine.records.facts import FactCategory


class RecalledFact(Record, frozen=True):
    """One result of `memory_recall`."""

    id: str
    text: str
    category: FactCategory
    importance: float
    score: float


class FactCandidate(Record, frozen=True):
    """A fact that may be the one that is meant."""

    id: str
    """Its first eight characters: enough to name it by."""
    text: str
    category: FactCategory
    score: float | UnsetType = UNSET


class FactAnswer(Record, frozen=True):
    """Common fields of all three: the reason for a missing answer."""

    disabled: bool | UnsetType = UNSET
    error: str | UnsetType = UNSET
    """A sentence, or `missing_param`, which `message` explains."""
    message: str | UnsetType = UNSET


class MemoryRecallAnswer(FactAnswer, frozen=True):
    """The answer of `memory_recall`."""

    count: int = 0
    memories: tuple[RecalledFact, ...] = ()
    """The best first."""
    warning: str | UnsetType = UNSET
    """Why they were looked for by their words alone."""


class MemoryStoreAnswer(FactAnswer, frozen=True):
    """The answer of `memory_store`."""

    action: Literal["created", "duplicate"] | UnsetType = UNSET
    id: str | UnsetType = UNSET
    """Of the new one."""
    existing_id: str | UnsetType = UNSET
    existing_text: str | UnsetType = UNSET
    """Text of the existing fact with the same words."""
    similar: tuple[FactCandidate, ...] | UnsetType = UNSET
    """What means nearly the same as the new one, and may be out of date by it."""
    note: str | UnsetType = UNSET


class MemoryForgetAnswer(FactAnswer, frozen=True):
    """The answer of `memory_forget`."""

    action: Literal["deleted", "candidates"] | UnsetType = UNSET
    id: str | UnsetType = UNSET
    candidates: tuple[FactCandidate, ...] | UnsetType = UNSET
    found: int | UnsetType = UNSET
    """0 where nothing fits."""
