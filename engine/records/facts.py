"""What a person, or an agent for them, wants remembered: single sentences, beside the notes."""

from typing import Literal

from engine.records.base import Record

FactCategory = Literal["preference", "decision", "entity", "fact", "other"]
"""In the order in which a text is tried for them."""
FactOrigin = Literal["person", "agent", "capture"]
"""Who keeps it: a person in the window or on the command line, an agent that was asked to, or what listens along."""

LONGEST_FACT = 4000
"""Characters."""
USUAL_IMPORTANCE = 0.7
FACT_CATEGORIES: tuple[FactCategory, ...] = ("preference", "decision", "entity", "fact", "other")
FORGOTTEN_DAYS = 30
"""So long what was forgotten can be put back; then nothing of it is left."""


class Fact(Record, frozen=True):
    """One thing to remember."""

    id: str
    text: str
    category: FactCategory
    importance: float
    """0 to 1."""
    created: float
    changed: float
    """When its text, category or importance were last changed; seconds since the epoch."""
    origin: FactOrigin
    session_key: str = ""
    """Of the session in which it was kept; empty where there was none."""
    waiting: bool = False
    """A person has yet to approve it: until then no agent is told of it."""
    forgotten: float | None = None
    """When it was forgotten; None for what is remembered."""
    forgotten_by: FactOrigin | None = None

    @property
    def remembered(self) -> bool:
        """Whether agents are told of it."""
        return self.forgotten is None and not self.waiting


class FoundFact(Record, frozen=True):
    """A fact that answers a question."""

    fact: Fact
    score: float
    """0 to 1, whatever else was found."""
    text_score: float
    vector_score: float | None
    """None where it has no vector, or the question has none."""
    near: bool = False
    """It says what was asked for, in these words or with this meaning: the one that is meant, where it is alone."""


class FactsFound(Record, frozen=True):
    """The answer to a question."""

    results: tuple[FoundFact, ...]
    """The best first."""
    mode: Literal["hybrid", "keyword"]
    """`keyword`: words alone."""
    notice: str = ""
    """Why words alone; empty where nobody needs to know."""


class KeptFact(Record, frozen=True):
    """What came of keeping one."""

    fact: Fact
    """The new one, or the one that says it already."""
    duplicate: bool = False
