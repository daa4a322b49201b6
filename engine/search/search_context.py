"""One query, the data that it is searched in, and its state during a search."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from engine.base.cancellation import CancelToken
from engine.records import Passage, QuerySuggestion, SearchOutcome, SearchTimings
from engine.search.chunk_filter import ChunkFilter, Filter
from engine.search.pipeline_stages import EmptyIndex, KeywordsOnly, Stages, UnderstoodQuery, VectorsReady
from engine.settings.search_settings import HybridSettings
from engine.text import Query, parse_query

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from engine.embedding.provider_interface import EmbeddingProvider
    from engine.search.document_frequencies import PrefixMatches
    from engine.settings import Settings
    from engine.store.snapshot import Snapshot
    from engine.store.vector_encoding import Ids, StoredModel, Vectors

_MIN_CANDIDATES = 200

Explain = bool | Literal["if empty", "if weak"]
"""Which answers are explained: all, none, or only those without results; with "if weak", texts of tools are looked at
also for those without a word of the query.
"""

OnKeywords = Callable[[SearchOutcome], None]
"""Receives the answer by keywords on the searching thread; the search continues when the function returns."""


class SearchRequest(msgspec.Struct, frozen=True):
    """One query with all options filled in: everything that decides the answer, apart from index and provider."""

    query: str
    max_results: int
    min_score: float
    hybrid: HybridSettings
    filter: Filter = msgspec.field(default_factory=Filter)
    keyword_only: bool = False
    explain: Explain = False
    half_life_days: float = 0.0
    """Days in which a dated result loses half of its score; 0 disables ageing."""
    diverse: bool = False
    """Whether to move results down that are similar to better ones."""
    per_file: int = 0
    """Maximum number of results of one file; 0 for no limit."""
    copies: bool = False
    """Whether each copy of a passage in another file is a separate result."""
    correct: bool = False
    """Whether to search the likeliest correction of a word that occurs nowhere in the index."""
    like: Passage | None = None
    """Passage to find similar passages for; `query` is empty then."""
    within: "SearchRequest | None" = None
    """Earlier query whose results this search is limited to."""

    def __hash__(self) -> int:
        return hash((self.query, self.max_results, self.min_score, self.filter, self.keyword_only, self.explain))

    @property
    def candidates(self) -> int:
        """Number of candidates to find by keywords, and by vectors; filters and ties reduce them."""
        return max(_MIN_CANDIDATES, self.max_results * self.hybrid.candidate_multiplier)


class _Timed:
    """Context manager that measures a block; a search uses twenty, and a generator takes three times as long."""

    def __init__(self, spent: dict[str, float], stage: str) -> None:
        self._spent, self._stage = spent, stage
        self._start = time.perf_counter()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        duration_ms = (time.perf_counter() - self._start) * 1000
        self._spent[self._stage] = self._spent.get(self._stage, 0.0) + duration_ms


class SearchContext(msgspec.Struct, eq=False):
    """State that the stages of one search share."""

    request: SearchRequest
    query: Query
    cancel: CancelToken | None
    failure: str = ""
    """Why the provider could not embed the query, or is unavailable; empty if neither."""
    keywords_only: KeywordsOnly | None = None
    """Why no vectors are compared, although they should be."""
    empty_index: EmptyIndex | None = None
    suggestions: tuple[QuerySuggestion, ...] = ()
    embedded: str = ""
    """The query's text with likely words next to misspelt ones, whose vectors have no meaning; "" without any."""
    understood: UnderstoodQuery | None = None
    """How the query was parsed, unless it consists of words alone."""
    best: float = 0.0
    """The highest score or keyword score of all candidates."""
    language_known: bool = True
    """Whether the model knows the language of the query; otherwise the query's vector doesn't count."""
    vectors_ready: VectorsReady | None = None
    """Number of chunks that have a vector, if some have none; counted if the answer is explained."""
    scope: ChunkFilter = ChunkFilter()
    """Limit of the search by filters and conditions."""
    reads_files: bool = False
    """Whether the answer depends on files outside of the index."""
    weakest: list[int] = msgspec.field(default_factory=list)
    """The last candidate of each search (keywords, vectors) that found as many as it may: if it becomes a result, there
    may be more results.
    """
    stages: Stages = msgspec.field(default_factory=Stages)
    spent: dict[str, float] = msgspec.field(default_factory=dict)
    begun: float = msgspec.field(default_factory=time.perf_counter)
    earlier: "SearchContext | None" = None
    """Context of the earlier query whose results this search is limited to."""
    vector: "Vectors | None" = None
    """Unit vector (dims,) of the query; None if only keywords are searched."""
    stored: bool = False
    """Whether `vector` is the stored vector of a passage, not the vector of a query."""

    @classmethod
    def for_request(cls, request: SearchRequest, cancel: CancelToken | None, failure: str = "") -> "SearchContext":
        """Create the context of a request and of the earlier queries that limit it; they share their timings.

        `failure`: why the provider could not embed the query, or is unavailable; empty if neither.
        """
        context = cls(request, parse_query(request.query), cancel, failure)
        if request.within is not None:
            context.earlier = cls.for_request(request.within, cancel, failure)
            for level in context.levels:
                level.spent = context.spent
        return context

    @property
    def levels(self) -> "tuple[SearchContext, ...]":
        """Contexts of all queries in the chain of scopes: the widest first, this one last."""
        return (self,) if self.earlier is None else (*self.earlier.levels, self)

    def timed(self, stage: str) -> _Timed:
        """Return a context manager that adds the duration of its block to a stage, unless the search is cancelled."""
        if self.cancel is not None:
            self.cancel.checkpoint()
        return _Timed(self.spent, stage)

    def record_keywords_only(self, reason: KeywordsOnly) -> None:
        """Record that only keywords are searched."""
        self.keywords_only = reason
        self.stages.add_query_vector(embedded=False, details=reason)

    def by_keywords(self) -> "SearchContext":
        """Return a copy of the context for a first answer by keywords alone."""
        request = msgspec.structs.replace(self.request, explain=False)
        return msgspec.structs.replace(self, request=request, stages=Stages(), spent=dict(self.spent), weakest=[])

    def without_limits(self) -> "SearchContext":
        """Return a copy of the context for the same query in all files that the session may know of."""
        everywhere = Filter(hide_memory=self.request.filter.hide_memory)
        request = msgspec.structs.replace(self.request, filter=everywhere, within=None)
        return msgspec.structs.replace(self, request=request, stages=Stages(), weakest=self.weakest, earlier=None)

    def timings(self) -> SearchTimings:
        legs = {leg: round(self.spent.get(leg, 0.0), 3) for leg in ("analysis", "keyword", "embed", "vector", "merge")}
        return SearchTimings(**legs, total=round((time.perf_counter() - self.begun) * 1000, 3))


# --- Data sources: an external index copies its candidates into a small one in memory, where the query is answered as
# usual; only the frequencies of words and chunks come from the whole index -------------------------------------------


class ReadableStore(Protocol):
    """Interface of a database that a searcher reads; `IndexStore` is the local one."""

    @property
    def recovered(self) -> str:
        """Message that a damaged index was replaced, in one sentence; empty if it was not."""

    def read(self, cancel: CancelToken | None = None) -> "AbstractContextManager[Snapshot]": ...


class VectorSearch(Protocol):
    """Finds the vectors nearest to a query; `VectorIndex` is the local one."""

    def search(
        self,
        snapshot: "Snapshot",
        model: "StoredModel",
        query: "Vectors",
        k: int,
        *,
        allowed: Sequence[int] | None = None,
        cancel: CancelToken | None = None,
    ) -> "tuple[Ids, Vectors]": ...

    def rows(self, snapshot: "Snapshot", model: "StoredModel") -> int: ...


class WordCounts(Protocol):
    """Looks up how many chunks of the whole index contain a word."""

    @property
    def total(self) -> int:
        """Number of chunks in the index."""

    @property
    def average_length(self) -> float | None:
        """Average length of all chunks in tokens; None if the searched index is complete and computes it."""

    def expect(self, tokens: Iterable[str]) -> None:
        """Announce tokens that will be looked up, so that they are read together."""

    def chunks(self, token: str, column: str) -> int: ...

    def words(self, start: str) -> "PrefixMatches": ...

    def loose(self, token: str, column: str) -> int:
        """Return the number of chunks that contain a token; with `*` at its end, the sum over all tokens with this
        prefix.
        """

    def spelled_out(self, token: str, column: str) -> Sequence[str]:
        """Return the words to search in place of a prefix (with `*` at its end); empty to search the prefix."""


class WordCountSource(Protocol):
    """Interface that returns the word counts of a snapshot; `Frequencies` is the local one."""

    def counts(self, snapshot: "Snapshot") -> WordCounts: ...


class CandidateLoader(Protocol):
    """Copies a query's candidates from an external index into the local one that is searched."""

    def by_keywords(self, context: "SearchContext") -> None: ...

    def by_vector(self, context: "SearchContext", provider: "EmbeddingProvider") -> None:
        """Copy the vector candidates; called after embedding the query, even if that failed."""


class SearchSources(msgspec.Struct, frozen=True):
    """The data sources of a searcher: the database, the vectors, and more for an external index."""

    store: ReadableStore
    vectors: VectorSearch
    frequencies: WordCountSource | None = None
    """Word counts of the whole external index, if `store` holds only candidates from it; None to count in `store`."""
    load: CandidateLoader | None = None
    """Copies candidates of an external index to `store`; None for the local index."""
    unavailable: Callable[[], str] = str
    """Returns why the provider of the settings cannot be used, one sentence; empty if it can, or if there is none."""
    settings: "Settings | None" = None
    """Settings with the folders of sessions, whose unindexed texts may be looked at; None for an external index."""
