"""The stages of a search and the terms of its query."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from engine.records import StageUnit
from engine.text.time_expressions import TimeExpression


class Term(msgspec.Struct, frozen=True, eq=False):
    """One term of the query in this index: alternative FTS5 phrases."""

    surface: str
    stemmed: tuple[str, ...]
    """Its stems, one per language, searched everywhere but in `words`; none for a term without a stem."""
    plain: tuple[str, ...]
    """The word itself, if it is in the index, a requested prefix, or a run of pairs, searched everywhere but in
    `stems`; may be empty."""
    chunks: int
    """Number of chunks that contain it: the exact form if the index has it, else its weaker forms."""
    matches: int
    """Approximate number of chunks that `expression` finds: fewer if some words represent a prefix."""
    idf: float
    """Idf of the exact form if the index has it. Fillers weigh less than their rarity."""
    weak_stems: tuple[str, ...] = ()
    """Looser forms among the stems."""
    weak_words: tuple[str, ...] = ()
    """Looser forms among the words, and longer words that begin with the one being typed."""
    weak: float = 1.0
    """Weight of a match by weaker forms alone."""
    loose: int = 0
    """About how many chunks hold a looser form."""
    irregular: tuple[str, ...] = ()
    """Its irregular forms, if the index also has the form of the query."""
    irregular_idf: float = 0.0
    """Idf of its irregular forms together."""

    @property
    def kinds(self) -> str:
        """A letter for each phrase of the expression: s for a stem, p for a plain word, capital for weaker ones, i for
        irregular forms."""
        exact = "s" * len(self.stemmed) + "p" * len(self.plain)
        return exact + "S" * len(self.weak_stems) + "P" * len(self.weak_words) + "i" * len(self.irregular)

    @property
    def expression(self) -> str:
        """Without columns, which would make the match four times as expensive: a stem in `words` scores nothing."""
        return f"({' OR '.join(self.stemmed + self.plain + self.weak_stems + self.weak_words + self.irregular)})"


class Best(NamedTuple):
    """A threshold, and the highest score below it if no result reached it."""

    least: float
    best: float | None


class Demand(NamedTuple):
    """A higher threshold because of words that occur nowhere, and the highest score if no result reached it."""

    least: float
    best: float | None
    unknown: Sequence[str]


class Diversity(NamedTuple):
    """How many of the first results diversity has moved."""

    moved: int
    first: int


class EmbeddedQuery(NamedTuple):
    """The model that embedded the query, and the length of the vector."""

    model: str
    dims: int


class Scope(NamedTuple):
    """The earlier query whose best `passages` of `total` results were searched."""

    query: str
    passages: int
    total: int


class Terms(NamedTuple):
    """The chunks that contain each term, and terms that are too common to search."""

    chunks: dict[str, int]
    dropped: Sequence[str]


class TimesNamed(NamedTuple):
    """The times that the query names, and the number of candidates that they lift."""

    times: Sequence[TimeExpression]
    lifted: int


class VectorsReady(NamedTuple):
    """How many chunks have a vector."""

    ready: int
    total: int


Facts = (
    str
    | int
    | float
    | frozenset[str]
    | Best
    | Demand
    | Diversity
    | EmbeddedQuery
    | Scope
    | Terms
    | TimesNamed
    | VectorsReady
    | None
)
"""Details of a stage besides its counts; the type depends on the stage. A text is the search's own notice."""


class Stage(NamedTuple):
    """One stage of a search in numbers; `explanation.py` words it."""

    name: str
    entered: int
    left: int
    facts: Facts
    unit: StageUnit
    milliseconds: float
    """From the end of the stage before to the end of this one: all stages together are the whole search."""


class Stages(msgspec.Struct, eq=False):
    """The stages of one search, in order."""

    found: list[Stage] = msgspec.field(default_factory=list)
    _ended: float = msgspec.field(default_factory=time.perf_counter)

    def add(self, name: str, entered: int, left: int, facts: Facts = None, unit: StageUnit = "chunks") -> None:
        """Record a stage that has just ended: how many of `unit` it got, and how many it let through."""
        now = time.perf_counter()
        self.found.append(Stage(name, entered, left, facts, unit, round((now - self._ended) * 1000, 3)))
        self._ended = now

    def add_first(self, name: str, entered: int, left: int, facts: Facts = None) -> None:
        """Record a stage about the query itself, which is read first although other stages ran before it."""
        self.add(name, entered, left, facts, "questions")
        self.found.insert(0, self.found.pop())

    def add_terms(self, terms: Sequence[Term], dropped: Sequence[str]) -> None:
        """Record the analysis of the query."""
        chunks = {term.surface: term.chunks for term in terms}
        known = sum(map(bool, chunks.values()))
        self.add("words", len(terms) + len(dropped), known, Terms(chunks, dropped), "words")
