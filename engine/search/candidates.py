"""Finds the candidates of both searches; the ranking selects the results from them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from engine.search.chunk_filter import ChunkFilter
from engine.search.keyword_leg import KeywordLeg
from engine.search.keyword_scores import KeywordScores, Scored
from engine.search.pipeline_stages import CommonWords, VectorsReady
from engine.search.query_boosts import CANDIDATES, NamedInQuery
from engine.search.query_conditions import Conditions
from engine.search.result_set import EarlierResults, leave_out
from engine.search.search_context import SearchContext, SearchRequest
from engine.search.title_matches import first_chunks_named
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis

if TYPE_CHECKING:
    from engine.search.more_like_this import ExamplePassage
    from engine.search.vector_leg import VectorLeg

_LARGE_FILES = 3
"""Maximum number of searches for candidates in files other than the ones found before."""


class KeywordPart(msgspec.Struct):
    """The keyword half of a search: candidates and scores, shared by the keyword answer and the complete one."""

    example: "ExamplePassage | None"
    analysis: QueryAnalysis
    conditions: Conditions
    scope: ChunkFilter
    within: EarlierResults | None
    leg: KeywordLeg
    named: NamedInQuery
    candidates: list[int] | None = None
    """Candidates by keywords; None until they are first searched for."""
    adjacent: list[int] = []
    """Candidates that hold a query with function words as a phrase."""
    openings: list[int] = []
    """First chunks of the sessions that the whole query names, newest first."""
    scores: KeywordScores | None = None
    """Keyword scores of all candidates found so far."""

    @property
    def wordless(self) -> bool:
        """Whether there is nothing to search for: the query has only punctuation and symbols."""
        return self.example is None and not self.analysis.terms and not self.conditions

    @property
    def unlisted(self) -> bool:
        """Whether the chunks that satisfy the conditions aren't listed, so that explanations can't count them."""
        return bool(self.conditions) and self.scope.chunks is None

    def unmatched(self, words: KeywordScores, results: Sequence[Scored]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the query's times without a result, and its words that no passage has."""
        undated: tuple[str, ...] = ()
        if not any(scored.named for scored in results):
            matched = ((scored.boost, words.contributions.get(scored.id, ())) for scored in results)
            undated = self.named.undated(matched)
        answered = self.named.answered(scored.boost for scored in results)
        unknown = (term.surface for at, term in enumerate(words.terms) if not term.chunks and at not in answered)
        return undated, tuple(unknown)


def find_candidates(
    part: KeywordPart, vector_leg: "VectorLeg | None", snapshot: Snapshot, context: SearchContext
) -> list[int]:
    """Return the ids of all candidate chunks, by keywords and by vectors."""
    leg, scope = part.leg, part.scope
    limit = min(context.request.candidates, max(1, leg.chunks))
    by_keywords, by_vectors, by_names = list[int](), list[int](), list[int]()
    if vector_leg is None or context.request.hybrid.enabled:
        if part.candidates is None:
            with context.timed("keyword"):
                part.candidates = _by_keywords(part, limit, snapshot, context)
        by_keywords = part.candidates
        common = CommonWords(leg.limited, [term.surface for term in leg.terms if term.only_exact])
        context.stages.add("keywords", leg.chunks, len(by_keywords), common)
    if vector_leg is not None:
        with context.timed("vector"):
            by_vectors = vector_leg.candidates(limit, scope, context.cancel)
        ready = None
        if context.request.explain and (rows := vector_leg.rows()) < leg.chunks:
            context.vectors_ready = ready = VectorsReady(rows, leg.chunks)
        context.stages.add("vectors", leg.chunks, len(by_vectors), ready)
    context.weakest = [ids[-1] for ids in (by_keywords, by_vectors) if limit <= len(ids) < leg.chunks]
    with context.timed("keyword"):
        if scope.chunks is None and scope.match is None:
            part.openings = part.named.openings(scope)
        if leg.chunks > limit:
            by_names = _in_named_files(part, vector_leg, snapshot, context)
    ids = list(dict.fromkeys(by_keywords + by_vectors + part.openings + by_names))
    return ids if part.example is None else leave_out(part.example, ids, context)


def _by_keywords(part: KeywordPart, limit: int, snapshot: Snapshot, context: SearchContext) -> list[int]:
    """Return the ids of the candidates by keywords: the best `limit`, after some that this ranking may have missed."""
    leg, scope = part.leg, part.scope
    part.adjacent = leg.adjacent(limit, scope)
    best = leg.candidates(limit, scope)
    if len(best) < limit:
        return best
    # The last candidate decides whether to fetch more, so others are put before it.
    found = _of_other_files(best, part, limit, snapshot, context.request) + best
    if scope == ChunkFilter():
        found = first_chunks_named(snapshot, context.query, part.analysis, leg.titled()) + found
    return list(dict.fromkeys(part.adjacent + found))


def _in_named_files(
    part: KeywordPart, vector_leg: "VectorLeg | None", snapshot: Snapshot, context: SearchContext
) -> list[int]:
    """Return the ids of the best chunks in files dated within a time, or sessions with a name, that the query names."""
    files = part.named.files(part.scope.files)
    if not files:
        return []
    chunks = part.scope.chunks
    if chunks is not None:
        chunks = sorted({*chunks}.intersection(snapshot.chunks_of_files(files)))
    dated = msgspec.structs.replace(part.scope, files=files, chunks=chunks)
    found = [] if part.candidates is None else part.leg.candidates(CANDIDATES, dated)
    return found if vector_leg is None else found + vector_leg.candidates(CANDIDATES, dated, context.cancel)


def _of_other_files(
    candidates: list[int], part: KeywordPart, limit: int, snapshot: Snapshot, request: SearchRequest
) -> list[int]:
    """Return candidates from other files if the files of the first `candidates` are too few to fill the results.

    A large file in which the words are frequent may be the only one among them, and only few of its passages are shown.
    """
    others = list[int]()
    needed = math.ceil(request.max_results / request.per_file) if request.per_file else 0
    files: set[int] = set()
    for _ in range(_LARGE_FILES if needed else 0):
        step = max(1, len(candidates) // (2 * needed))
        for ids in (candidates[::step], candidates):  # some usually suffice, and take a tenth of the time
            files |= {file for _, file in snapshot.files_of_chunks(sorted(ids))}
            if len(files) >= needed:
                return others
        candidates = part.leg.candidates(limit, part.scope.without(sorted(files)))
        if not candidates:
            break
        others += candidates
    return others
