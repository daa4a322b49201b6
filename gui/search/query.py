"""A search request with all its options, and its answer."""

import unicodedata
from dataclasses import dataclass, replace

from engine import Passage, SearchOutcome, Source, literal_glob
from gui.core.workspace import FIRST_RESULTS


@dataclass(frozen=True)
class Scope:
    """One file or session to which the search is limited, with its display name."""

    path: str
    name: str

    @property
    def glob(self) -> str:
        """Matches this path and no other."""
        return literal_glob(self.path)


@dataclass(frozen=True)
class Query:
    """Everything that decides an answer."""

    text: str
    sources: tuple[Source, ...] | None = None
    days: int | None = None
    """Only files that changed within so many days; None for any time."""
    scope: Scope | None = None
    max_results: int = FIRST_RESULTS
    min_score: float | None = None
    """None for the setting's value."""
    like: Passage | None = None
    """Passage to find similar ones for, instead of `text`, which is empty then."""
    within: "Query | None" = None
    """The query whose results are the scope, which may itself have one."""
    half_life_days: float | None = None
    """Days in which dated results lose half of their score, 0 for none; as the next, None for the settings' choice."""
    diverse: bool | None = None
    """Whether to rank results that repeat others lower."""
    correct: bool = True
    """Whether a word that occurs nowhere may be replaced by the nearest one."""
    everywhere: bool = False
    """In all workspaces, not only in the one that is open."""

    @property
    def subject(self) -> "Query":
        """The query without the requested amount of results."""
        return replace(self, max_results=FIRST_RESULTS, min_score=None, correct=True)

    @property
    def levels(self) -> tuple["Query", ...]:
        """The queries that are the scope, widest first."""
        return () if self.within is None else (*self.within.levels, self.within)


@dataclass(frozen=True)
class Answer:
    question: Query
    outcome: SearchOutcome
    final: bool
    """False while only the words have been searched."""
    explained: bool = False
    """Whether the explanation was requested."""


def is_searchable(text: str) -> bool:
    """Two characters are a query; in scripts whose characters are words or syllables one is enough."""
    stripped = text.strip()
    return len(stripped) >= 2 or any(unicodedata.east_asian_width(char) in "WF" and char.isalpha() for char in stripped)
