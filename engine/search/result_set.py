"""All results of a query: the window shows the best ones, and a later query can be limited to them."""

from typing import TYPE_CHECKING

import msgspec

from engine.base.formatting import any_of, in_quotes
from engine.base.language import tr, tr_count
from engine.records import EarlierResultCount, SearchMode
from engine.search.chunk_filter import ChunkFilter, at_hashtags, newest
from engine.search.keyword_scores import KeywordScores, Scored, ScoreInputs
from engine.search.pipeline_stages import Scope
from engine.search.query_conditions import required_tags
from engine.search.scoring import Blend, Evidence
from engine.search.search_context import SearchContext, SearchRequest
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis
from engine.text.writing_systems import shortened

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider
    from engine.search.more_like_this import ExamplePassage
    from engine.search.vector_leg import VectorLeg

LARGEST_SCOPE = 1000
"""Maximum number of results that can be the scope of another query."""
_LONGEST_NAME = 60


class FoundSet(msgspec.Struct, frozen=True):
    """All results of one query as scored chunks, cached for explanations and for searches within them."""

    analysis: QueryAnalysis
    vector_leg: "VectorLeg | None"
    results: list[Scored]
    """Scored chunks, best first."""
    total: int
    score_inputs: ScoreInputs
    within: "EarlierResults | None"
    lasting: bool
    """Whether the results stay valid while the index is unchanged."""
    vector_weight: float | None = None
    """See `SearchOutcome.vector_weight`."""
    undated: tuple[str, ...] = ()
    """The times that the query names, as typed, if no result is dated within them."""
    unknown_words: tuple[str, ...] = ()
    """See `SearchOutcome.unknown_words`."""
    closest_only: bool = False
    """See `SearchOutcome.closest_only`."""

    def mode(self, request: SearchRequest) -> SearchMode:
        """Return whether keywords, vectors or both were searched."""
        if self.vector_leg is None:
            return "keyword"
        return "hybrid" if request.hybrid.enabled else "vector"

    def with_results_in_scope(
        self, all_results: "FoundSet", scope: ChunkFilter, snapshot: Snapshot, context: SearchContext
    ) -> "FoundSet":
        """Return the results of a search without limits that satisfy the limits (`scope`), or this set if none do."""
        ids = [scored.id for scored in all_results.results]
        allowed = scope.matching(snapshot, ids) if scope.chunks is None else scope.chunks
        inside = set(ids).intersection(allowed)
        if scope.files is not None:
            files = frozenset(scope.files)
            inside = {id_ for id_, file in snapshot.files_of_chunks(sorted(inside)) if file in files}
        if not inside:
            return self
        context.stages.add("limits", len(ids), len(inside))
        results = [scored for scored in all_results.results if scored.id in inside]
        return msgspec.structs.replace(
            all_results, results=results, total=len(results), within=self.within, lasting=self.lasting
        )

    def notice_on_times(self) -> str:
        """Return a notice if no result is dated within a time that the query names; else ""."""
        return tr("No result is dated {times}.", times=any_of(map(in_quotes, self.undated))) if self.undated else ""

    def notice_on_closest(self) -> str:
        """Return a notice if no result is clearly on the subject of the query; else ""."""
        if not self.closest_only:
            return ""
        return tr("No result is clearly about this query: these are the closest passages.")

    def notice_on_similar(self, snapshot: Snapshot, context: SearchContext) -> str:
        """Return a notice if no result contains a word of the query, since users would take them for hits; else ""."""
        compares_words = context.request.hybrid.enabled and context.request.like is None
        if not self.results or not self.analysis.terms or not compares_words:
            return ""
        if any(
            scored.keywords or scored.named or scored.boost or scored.evidence.vector is None for scored in self.results
        ):
            return ""
        from engine.search.named_in_query import sessions_with_file

        words = context.query.free_text.split()
        if len(words) == 1:
            note = tr("No result contains {word}: the results are similar in meaning.", word=in_quotes(words[0]))
            if count := sessions_with_file(snapshot, words[0]):
                more = tr_count(
                    "{count:,} session used this file: {query}",
                    "{count:,} sessions used this file: {query}",
                    count,
                    query=f"file:{words[0]}",
                )
                note = f"{note} {more}"
        else:
            note = tr("No result contains a word of the query: the results are similar in meaning.")
        return note


class EarlierResults(msgspec.Struct, frozen=True):
    """The results of an earlier query that a search is limited to."""

    ids: tuple[int, ...]
    """Ids of the chunks, in ascending order."""
    answers: tuple[EarlierResultCount, ...]
    """Numbers of results of all queries in the chain of scopes, the widest first."""
    lasting: bool
    name: str
    """The query, for messages."""

    @classmethod
    def of(cls, found: FoundSet, context: SearchContext) -> "EarlierResults":
        best = found.results[:LARGEST_SCOPE]
        least = any(scored.id in context.weakest for scored in found.results)
        answer = EarlierResultCount(passages=len(best), total=found.total, total_is_least=least)
        above = () if found.within is None else found.within.answers
        return cls(tuple(sorted(scored.id for scored in best)), (*above, answer), found.lasting, _name(context))


def is_lasting(
    provider: "EmbeddingProvider | None",
    vector_leg: "VectorLeg | None",
    within: EarlierResults | None,
    context: SearchContext,
) -> bool:
    """Whether an answer may be cached while the index is unchanged.

    Not if a provider failed, or if vectors were skipped for a temporary reason: the next query tries again.
    """
    needs_vector = context.request.like is not None or context.query.free_text.strip()
    whole = vector_leg is not None or provider is None or not needs_vector
    return whole and not (context.keywords_only or context.empty_index) and (within is None or within.lasting)


def narrow(snapshot: Snapshot, scope: ChunkFilter, within: EarlierResults, context: SearchContext) -> ChunkFilter:
    """Limit a filter to the results of an earlier query."""
    ids = within.ids if scope.chunks is None else tuple(sorted(set(within.ids).intersection(scope.chunks)))
    if scope.files is not None:
        files = frozenset(scope.files)
        ids = tuple(id_ for id_, file in snapshot.files_of_chunks(ids) if file in files)
    answer = within.answers[-1]
    context.stages.add("within", snapshot.chunk_count(), len(ids), Scope(within.name, answer.passages, answer.total))
    return ChunkFilter(scope.files, ids)


def leave_out(example: "ExamplePassage", ids: list[int], context: SearchContext) -> list[int]:
    """Return the candidates `ids` without the chunks of the passage that similar ones are searched for."""
    others = [id_ for id_ in ids if id_ not in example.own]
    if len(others) < len(ids):
        context.stages.add("passage", len(ids), len(others))
    return others


def list_newest(
    snapshot: Snapshot, scope: ChunkFilter, within: EarlierResults | None, context: SearchContext, *, lasting: bool
) -> FoundSet:
    """Answer a query that has conditions but no search words: the first chunk of each file, or the first one with a tag
    of the query, newest file first.
    """
    ids, files = newest(snapshot, scope, context.request.max_results)
    if tags := required_tags(context.query):
        ids = at_hashtags(snapshot, scope, ids, tags)
    context.stages.add("newest", len(scope.chunks or ()), files)
    listed = [Scored(id_, 1.0, Evidence(0.0, None), None, 1.0, 0.0) for id_ in ids]
    score_inputs = ScoreInputs(KeywordScores(()), Blend(0.0), None, context.request.min_score)
    return FoundSet(QueryAnalysis((), ()), None, listed, files, score_inputs, within, lasting)


def with_wordless(
    results: list[Scored], snapshot: Snapshot, scope: ChunkFilter, context: SearchContext
) -> tuple[list[Scored], int]:
    """Return the results, then passages without the query's words if its conditions suffice.

    These are the first passages of the other files that satisfy the conditions, with the minimum score. Also returns
    the number of all results.
    """
    if not context.query.words_optional or not scope.chunks:
        return results, len(results)
    least = context.request.min_score
    ids, files = newest(snapshot, scope, context.request.max_results, [scored.id for scored in results])
    if not ids:
        return results, len(results)
    context.stages.add("wordless", len(scope.chunks), files)
    added = [Scored(id_, least, Evidence(0.0, None), None, least, 0.0) for id_ in ids]
    return results + added, len(results) + files


def _name(context: SearchContext) -> str:
    like = context.request.like
    if like is not None:
        return tr("more like {path}, line {line:,},", path=like.path, line=like.start_line)
    return in_quotes(shortened(context.request.query, _LONGEST_NAME))
