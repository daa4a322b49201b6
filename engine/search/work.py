"""One question on its way through the stages of a search."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from engine.control import CancelToken
from engine.records import QuerySuggestion, SearchTimings
from engine.search.explanation import Stages
from engine.search.filters import Filter
from engine.text import Query


@dataclass(frozen=True)
class SearchRequest:
    """One question, its defaults filled in."""

    query: str
    max_results: int
    min_score: float
    filter: Filter = field(default_factory=Filter)
    keyword_only: bool = False
    explain: bool = False
    half_life_days: float = 0.0
    """Days in which what has a date loses half of its score; 0 where nothing ages."""
    diverse: bool = False
    """Whether results that say the same stand behind others."""


@dataclass
class Work:
    """What the stages of one search hand on."""

    request: SearchRequest
    query: Query
    cancel: CancelToken | None
    notice: str = ""
    suggestions: tuple[QuerySuggestion, ...] = ()
    understood: str = ""
    weakest: list[int] = field(default_factory=list)
    """The last candidate of each leg that brought as many as it may: if it is kept, others behind it would be too."""
    stages: Stages = field(default_factory=Stages)
    spent: dict[str, float] = field(default_factory=dict)
    begun: float = field(default_factory=time.perf_counter)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        if self.cancel is not None:
            self.cancel.checkpoint()
        start = time.perf_counter()
        try:
            yield
        finally:
            self.spent[stage] = self.spent.get(stage, 0.0) + (time.perf_counter() - start) * 1000

    def timings(self) -> SearchTimings:
        legs = {leg: round(self.spent.get(leg, 0.0), 3) for leg in ("analysis", "keyword", "embed", "vector", "merge")}
        return SearchTimings(**legs, total=round((time.perf_counter() - self.begun) * 1000, 3))
