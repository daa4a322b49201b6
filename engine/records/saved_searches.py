"""Queries for later use: the search history, and saved searches."""

from typing import Literal

from engine.records.base import Record, Source
from engine.records.search import Passage


class AskedQuestion(Record, frozen=True):
    """A query with everything that limits or orders its answer.

    Stored as JSON for years: every field has a default, which for a new field is the former behaviour, and none is ever
    renamed or redefined.
    """

    text: str = ""
    """Empty where `like` is set."""
    sources: tuple[Source, ...] | None = None
    """None for all."""
    days: int | None = None
    """Only files that changed within this number of days before the search; None for any time."""
    path: str = ""
    """The one file or session that alone is searched; empty for all."""
    path_name: str = ""
    """Display name of that path."""
    like: Passage | None = None
    """Passage to find similar ones for, instead of a text."""
    within: "AskedQuestion | None" = None
    """Only among the results of this one."""
    half_life_days: float | None = None
    """As in `search`, like the next field; None for the settings' value at that time."""
    diverse: bool | None = None
    order: Literal["relevance", "date"] = "relevance"
    everywhere: bool = False
    """In all workspaces."""


class RecentSearch(Record, frozen=True):
    """A query in the search history."""

    question: AskedQuestion
    asked: float


class SavedSearch(Record, frozen=True):
    """A query with a name."""

    name: str
    question: AskedQuestion
    used: float
    """When it was last run or, where it never was, saved."""
