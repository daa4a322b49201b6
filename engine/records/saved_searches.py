"""Questions that a person comes back to: those asked before, and those saved under a name."""

from typing import Literal

from engine.records.base import Record, Source
from engine.records.search import Passage


class AskedQuestion(Record, frozen=True):
    """A question with all that narrows or orders its answer.

    It is kept as JSON for years: every field has a default, a new one means by its default what was meant before it,
    and none is ever renamed or given another meaning.
    """

    text: str = ""
    """Empty where `like` is set."""
    sources: tuple[Source, ...] | None = None
    """None for all."""
    days: int | None = None
    """Only files that changed within so many days before it is asked; None for any time."""
    path: str = ""
    """The one file or session that alone is searched; empty for all."""
    path_name: str = ""
    """What a person knows that by."""
    like: Passage | None = None
    """What is wanted is like this, in place of what answers a text."""
    within: "AskedQuestion | None" = None
    """Only among the results of this one."""
    half_life_days: float | None = None
    """As in `search`, as is the next; None for what the settings say then."""
    diverse: bool | None = None
    order: Literal["relevance", "date"] = "relevance"
    everywhere: bool = False
    """In all workspaces."""


class RecentSearch(Record, frozen=True):
    """A question that was asked."""

    question: AskedQuestion
    asked: float


class SavedSearch(Record, frozen=True):
    """A question that has a name."""

    name: str
    question: AskedQuestion
    used: float
    """When it was last run or, where it never was, saved."""
