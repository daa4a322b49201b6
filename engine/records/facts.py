"""Facts that a user, or an agent for the user, wants to remember: single sentences, in addition to the notes."""

from typing import Literal

from engine.records.base import Record

FactCategory = Literal["preference", "decision", "entity", "fact", "other"]
"""Categories, in the order in which a text is compared with them."""
FactState = Literal["remembered", "pending", "forgotten"]
FactOrigin = Literal["user", "agent", "capture"]
"""Author of a fact: a user in the window or on the command line, an agent on request, or automatic capture."""

LONGEST_FACT = 4000
"""Maximum number of characters of a fact."""
USUAL_IMPORTANCE = 0.7
FACT_CATEGORIES: tuple[FactCategory, ...] = ("preference", "decision", "entity", "fact", "other")
FORGOTTEN_DAYS = 30
"""Days in which a forgotten fact can be restored; then it is deleted."""


class Fact(Record, frozen=True):
    """A sentence to remember for agents, with category, importance and origin."""

    id: str
    text: str
    category: FactCategory
    importance: float
    """0 to 1."""
    created: float
    changed: float
    """When text, category or importance were last changed; seconds since the epoch."""
    origin: FactOrigin
    session_key: str = ""
    """Session in which the fact was saved; empty if there was none."""
    pending: bool = False
    """Whether the fact awaits the user's approval; until then agents don't see it."""
    forgotten: float | None = None
    """When the fact was forgotten; None if it was not."""
    forgotten_by: FactOrigin | None = None

    @property
    def state(self) -> FactState:
        """Whether agents see the fact, or it awaits approval or can only be restored."""
        if self.forgotten is not None:
            return "forgotten"
        return "pending" if self.pending else "remembered"

    @property
    def remembered(self) -> bool:
        """Whether agents see the fact."""
        return self.state == "remembered"


class FoundFact(Record, frozen=True):
    """A fact that answers a query, with its score."""

    fact: Fact
    score: float
    """Score from 0 to 1, independent of the other facts."""
    text_score: float
    vector_score: float | None
    """None if the fact, or the query, has no vector."""
    equivalent: bool = False
    """Whether the fact has the same words or meaning as the query; if only one fact has, it is the intended one."""


class FactsFound(Record, frozen=True):
    """The facts that answer a query."""

    results: tuple[FoundFact, ...]
    """The best first."""
    mode: Literal["hybrid", "keyword"]
    """`keyword` if only keywords were searched."""
    notice: str = ""
    """Why only keywords were searched; empty if the user need not know."""


class SavedFact(Record, frozen=True):
    """The fact that was saved, or the existing one with the same words."""

    fact: Fact
    """The new fact, or the existing one."""
    duplicate: bool = False
