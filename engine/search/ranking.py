"""Scores the candidates of both searches, each with one absolute score, and orders them, best first."""

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from heapq import nlargest
from itertools import chain, islice
from typing import TYPE_CHECKING

import msgspec

from engine.search.candidates import KeywordPart
from engine.search.keyword_scores import KeywordScores, Scored
from engine.search.named_in_query import projects_of_chunks, sessions_of_chunks
from engine.search.pipeline_stages import Best, SessionsNamed, TimesNamed
from engine.search.query_boosts import Boost, NamedInQuery, QueryBoosts, signed_use
from engine.search.score_cut_off import diverse, languages_of
from engine.search.scoring import DEFINED, FULL_MATCH, FULL_SIMILARITY, Blend, Evidence, name_bonus, within_limits
from engine.search.search_context import SearchContext
from engine.search.title_matches import NamedChunk, name_matches, name_use, put_first, scored_chunks_named
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis

if TYPE_CHECKING:
    from engine.search.decay import Age
    from engine.search.vector_leg import VectorLeg

_TRUSTED = 20
"""Number of best keyword results whose exact cosines determine the weight of keywords."""
_EXACT = 50
"""Least number of best results that get exact cosines."""
_NEAREST = 50
"""Number of nearest chunks whose languages show whether keywords can find the answer."""
_READ_FOR_NAME = 30
"""Number of best results with all words that are searched for a definition of the name in the query."""
_READ_FOR_SIGN = 300
"""Number of best results that are searched for a number's sign: nothing else distinguishes 20% from any other 20."""
_BELOW = 1e-6
"""Share by which boosted chunks remain below chunks with all words."""


class _Scorer(msgspec.Struct):
    """Scores chunks by keywords, vectors, their age and the names in the query."""

    words: KeywordScores
    complete: Set[int]
    """Chunks that hold all terms, exactly, in a looser form or together with others near them, or all but one that is
    being typed.
    """
    vector_leg: "VectorLeg | None"
    cosines: dict[int, float]
    """Approximate cosines, replaced by exact ones for the best chunks."""
    vectors: dict[int, float]
    """The vector scores of `cosines`, without their limits."""
    ages: "dict[int, Age]"
    boosts: Mapping[int, Boost]
    foreign: Set[int] = frozenset()
    """The best chunks that are in another language than the query."""

    def evidence(self, id_: int) -> Evidence:
        """Return a chunk's keyword score and vector score, before they are combined."""
        name = self.words.names.get(id_)
        from_name = name_bonus(name) if name else 0.0
        text, vector = self.words.evidence.get(id_, 0.0), self.vectors.get(id_)
        doubtful = text and vector is not None and id_ not in self.words.in_some_form  # otherwise rarity doesn't count
        rarity = self.words.rarity(id_) if doubtful else 0.0
        return Evidence(text, vector, id_ in self.complete, from_name, id_ in self.foreign, rarity)

    def scored(self, id_: int, blend: Blend) -> Scored:
        """Return the score of a chunk."""
        evidence = self.evidence(id_)
        age, boost = self.ages.get(id_), self.boosts.get(id_)
        ordered, keywords = blend.scores(evidence)
        score = fresh = within_limits(ordered)
        if boost is not None:
            ordered *= boost.factor
            score = within_limits(ordered)
        if age is not None:
            ordered, score = ordered * age.factor, score * age.factor
        return Scored(id_, score, evidence, self.cosines.get(id_), fresh, keywords, age, None, ordered, boost=boost)

    def ranked(self, ids: Iterable[int], blend: Blend, others: Iterable[Scored] = ()) -> list[Scored]:
        """Return the scores of these chunks, with the already scored `others`, best first."""

        def order(candidate: Scored) -> tuple[float, float, int]:
            return -candidate.order, -self.words.sums.get(candidate.id, 0.0), candidate.id

        chunks = [*(self.scored(id_, blend) for id_ in ids), *others]
        return sorted(_below_complete(chunks, self.words.complete_with_names), key=order)

    def ranked_exactly(
        self, ranked: list[Scored], used: Set[int], blend: Blend, context: SearchContext
    ) -> list[Scored]:
        """Return the chunks in the order after reading the texts of some; the best also get exact cosines here.

        `used`: chunks that define or spell the name in the query, which count among the best.
        """
        most = 0
        if self.vector_leg is not None:
            most = max(_EXACT, context.request.max_results * context.request.hybrid.candidate_multiplier)
        best = list({candidate.id for candidate in ranked[:most]} | used)
        others = [candidate for candidate in ranked[most:] if candidate.id not in used]
        if self.vector_leg is not None:
            with context.timed("vector"):
                self.cosines = self.vector_leg.cosines(best)
                self.vectors = self.vector_leg.evidence(self.cosines)
            # The vector index may be newer than the snapshot: chunks missing in the snapshot have no exact cosines.
            best = [id_ for id_ in best if id_ in self.words.evidence or id_ in self.cosines]
        with context.timed("merge"):
            return self.ranked(best, blend, others)


class Ranker:
    """Selects, scores and orders the chunks for one request. Thread-safe."""

    def __init__(self, in_extra_paths: Callable[[Iterable[str]], set[str]]) -> None:
        """`in_extra_paths` returns which of the given files are outside the workspace; these age differently."""
        self._in_extra_paths = in_extra_paths
        self._boosts = QueryBoosts()

    def named_in(self, snapshot: Snapshot, ranges: Sequence[tuple[int, int]], context: SearchContext) -> NamedInQuery:
        """Return the times and sessions that a query names, whose words have these offsets; a search for similar
        passages names none."""
        query = context.query.searched_text if context.request.like is None else ""
        return self._boosts.named_in(query, snapshot, ranges)

    def _ages(self, ids: list[int], snapshot: Snapshot, context: SearchContext) -> "dict[int, Age]":
        """Return the age of each candidate chunk, by id; empty if ageing is off."""
        if not context.request.half_life_days:
            return {}
        from engine.search.decay import Decay  # off by default

        decay = Decay(context.request.hybrid.temporal_decay, self._in_extra_paths)
        with context.timed("merge"):
            return decay.ages(snapshot, ids, context.request.half_life_days)

    def rank(
        self,
        ids: list[int],
        part: KeywordPart,
        vector_leg: "VectorLeg | None",
        snapshot: Snapshot,
        context: SearchContext,
    ) -> tuple[KeywordScores, list[Scored], int, Blend]:
        """Score and order all candidates; candidates named like the query come first.

        Returns the keyword scores, the scored candidates, best first, how many others score below the minimum, and the
        weights of both scores.
        """
        ages = self._ages(ids, snapshot, context)
        with context.timed("merge"):
            boosts = part.named.boosts(ids)
        with context.timed("keyword"):
            words = _keyword_scores(ids, boosts, part, snapshot, context)
        with context.timed("vector"):
            best, cosines, vectors = list[int](), dict[int, float](), dict[int, float]()
            if vector_leg is not None:
                best = nlargest(_TRUSTED, words.evidence, key=lambda id_: (words.evidence[id_], -id_))
                # The weights depend on these cosines, so they must be exact, whichever engine compared the vectors.
                cosines = vector_leg.near_cosines(ids) | vector_leg.cosines(best)
                vectors = vector_leg.evidence(cosines)
        with context.timed("merge"):
            complete = words.in_some_form | words.in_file | words.with_all_before(part.analysis.unfinished)
            scorer = _Scorer(words, complete, vector_leg, cosines, vectors, ages, boosts)
            # A passage's file may contain the other words by chance: vectors must not lose their weight for that.
            trusted = (
                msgspec.structs.replace(scorer.evidence(id_), complete=id_ in words.in_some_form) for id_ in best
            )
            alone = 1.0 if context.request.like is not None else words.keywords_only_factor(part.leg.chunks)
            blend = self._blend(vector_leg, trusted, alone, part.analysis, context)
        if vector_leg is None and not ages and not boosts:
            words, found, below = _ranked_by_keywords(ids, words, blend, part, snapshot, context)
            _record_names(boosts, len(ids), part, context)
            return words, found, below, blend
        with context.timed("vector"):
            blend = _with_foreign(scorer, best, blend, part.analysis, snapshot, context)
        with context.timed("merge"):
            known = (id_ for id_ in ids if id_ in words.evidence or id_ in cosines)
            ranked = scorer.ranked(known, blend)
        with context.timed("keyword"):
            scorer.words = words = words.with_uses(_uses((other.id for other in ranked), words, snapshot, context))
            named = scored_chunks_named(snapshot, context.query, part.analysis, words)
        ranked = scorer.ranked_exactly(ranked, words.used.keys(), blend, context)
        found = _named_first(ranked, named, len(ids), len(ranked), words, context)
        _record_names(boosts, len(ids), part, context)  # after the stages whose best score is without boosts
        return words, found, 0, blend

    def _blend(
        self,
        vector_leg: "VectorLeg | None",
        evidence: Iterable[Evidence],
        alone: float,
        analysis: QueryAnalysis,
        context: SearchContext,
    ) -> Blend:
        hybrid = context.request.hybrid
        if vector_leg is None:
            return Blend(0.0, alone=alone)
        if not hybrid.enabled:
            return Blend.mean(1.0)
        if hybrid.vector_weight is not None:
            return Blend.mean(hybrid.vector_weight)
        if context.request.like is not None:
            return Blend.between_passages()
        return Blend.of(vector_leg.calibration, evidence, analysis.word_count, alone)

    def diversify(
        self, results: list[Scored], snapshot: Snapshot, vector_leg: "VectorLeg | None", context: SearchContext
    ) -> list[Scored]:
        """Reorder results so that similar ones are apart."""
        from engine.search.diversity import MAX_REORDERED, similarity_of

        model = None if vector_leg is None else vector_leg.model
        similarity = similarity_of(snapshot, [scored.id for scored in results[:MAX_REORDERED]], model)
        return diverse(
            results, similarity, context.request.hybrid.mmr.lambda_, context.request.max_results, context.stages
        )


def _with_foreign(
    scorer: _Scorer,
    best: Iterable[int],
    blend: Blend,
    analysis: QueryAnalysis,
    snapshot: Snapshot,
    context: SearchContext,
) -> Blend:
    """Return the weights that also apply to chunks in other languages, and set these in the scorer.

    Unchanged if the weights don't depend on the query, or if the nearest chunks are in the query's language, or
    translations of such chunks. `best`: the best candidates by keywords.
    """
    leg = scorer.vector_leg
    if leg is None or not blend.agreement or blend.doubt == 1 or len(snapshot.languages()) < 2:
        return blend
    from engine.search.word_similarity import in_other_languages  # loads numpy

    near = nlargest(_NEAREST, scorer.vectors, key=scorer.vectors.__getitem__)
    compared = {*near, *filter(scorer.vectors.__contains__, best)}
    foreign = in_other_languages(compared, scorer.words, analysis, snapshot, context)
    own = compared - foreign
    foreign -= leg.translating(languages_of(snapshot, foreign), own)
    if not own or foreign.isdisjoint(near):
        return blend
    scorer.foreign = foreign
    first = max((scorer.scored(id_, blend) for id_ in own), key=lambda scored: (scored.order, -scored.id))
    return blend.with_foreign(first.evidence, 1 - len(foreign.intersection(near)) / len(near))


def _ranked_by_keywords(
    ids: list[int], words: KeywordScores, blend: Blend, part: KeywordPart, snapshot: Snapshot, context: SearchContext
) -> tuple[KeywordScores, list[Scored], int]:
    """Return the result of `Ranker.rank` if only keywords count.

    Most candidates are below the minimum: only their order is computed, and the best of them is also returned, since it
    shows what the minimum removed.
    """
    sums = words.sums
    complete = words.in_some_form | words.in_file

    def row(id_: int) -> tuple[float, float, int]:
        return -blend.alone * words.evidence[id_], -sums.get(id_, 0.0), id_

    def scored(id_: int) -> Scored:
        name = words.names.get(id_)
        evidence = Evidence(words.evidence[id_], None, id_ in complete, name_bonus(name) if name else 0.0)
        ordered, keywords = blend.scores(evidence)
        return Scored(id_, keywords, evidence, None, keywords, keywords, order=ordered)

    with context.timed("merge"):
        rows = sorted([row(id_) for id_ in ids if id_ in words.evidence])
    with context.timed("keyword"):
        words = words.with_uses(_uses((id_ for _, _, id_ in rows), words, snapshot, context))
        named = scored_chunks_named(snapshot, context.query, part.analysis, words)
    with context.timed("merge"):
        if words.used:
            rows = sorted([row(id_) for _, _, id_ in rows])
        first = 1 + bisect_right(rows, -context.request.min_score, key=lambda row: -within_limits(-row[0]))
        found = [scored(id_) for at, (_, _, id_) in enumerate(rows) if at < first or id_ in named]
    return words, _named_first(found, named, len(ids), len(rows), words, context), len(rows) - len(found)


def _named_first(
    ranked: list[Scored],
    named: dict[int, NamedChunk],
    entered: int,
    scored: int,
    words: KeywordScores,
    context: SearchContext,
) -> list[Scored]:
    """Return the scored candidates, those named like the query first, and record these stages.

    `entered`, `scored`: numbers of candidates, and of candidates with a score.
    """
    context.best = max((max(candidate.unboosted, candidate.keywords) for candidate in ranked), default=0.0)
    context.stages.add("scores", entered, scored, Best(context.request.min_score, context.best))
    return put_first(ranked, named, words, scored, context.stages)


def _record_names(boosts: Mapping[int, Boost], count: int, part: KeywordPart, context: SearchContext) -> None:
    """Record the stages in which some of `count` candidates were boosted by names in the query."""
    if part.named.times:
        dated = sum(boost.time is not None for boost in boosts.values())
        context.stages.add("times", count, count, TimesNamed(part.named.times, dated))
    if named := [boost.names for boost in boosts.values() if boost.names]:
        names = tuple(dict.fromkeys(chain.from_iterable(named)))
        context.stages.add("sessions", count, count, SessionsNamed(names, len(named)))


def _below_complete(found: list[Scored], complete: Collection[int]) -> Iterator[Scored]:
    """Limit the boost of named sessions, so that their chunks stay below those with all words (`complete`)."""
    if not complete:
        yield from found
        return
    limit = max(0.0, min((candidate.order for candidate in found if candidate.id in complete), default=math.inf))
    for candidate in found:
        if candidate.boost is None or not candidate.boost.names or candidate.id in complete or candidate.order <= limit:
            yield candidate
            continue
        plain = candidate.order / candidate.boost.session_factor
        # A slightly different value for each, so that the boosted chunks stay in order.
        order = max(plain, limit * (1 - _BELOW / candidate.order))
        boost = msgspec.structs.replace(candidate.boost, session_factor=order / plain)
        yield msgspec.structs.replace(
            candidate, order=order, score=min(candidate.score, within_limits(order)), boost=boost
        )


def _keyword_scores(
    ids: list[int], boosts: Mapping[int, Boost], part: KeywordPart, snapshot: Snapshot, context: SearchContext
) -> KeywordScores:
    """Return the keyword scores of these chunks, with the bonuses for their titles, dates and sessions."""
    if context.request.like is not None:
        part.scores = part.leg.score(ids, FULL_SIMILARITY, ordered=False, known=part.scores)
        return part.scores
    words = part.scores = part.leg.score(ids, FULL_MATCH, known=part.scores)
    words.remove_repeated_titles(partial(sessions_of_chunks, snapshot))
    dates, names = part.named.dating(boosts), part.named.naming(boosts)
    known = {at for at, term in enumerate(part.leg.terms) if term.in_texts}
    words.add_optional(dates, names, part.openings, part.named.words(known))
    words.add_files(snapshot.files_of_chunks)
    words.add_projects(partial(projects_of_chunks, snapshot))
    words.add_adjacent(part.adjacent)
    words.add_names(name_matches(snapshot, part.analysis, part.leg.terms, words.titled))
    return words


def _uses(ranked: Iterable[int], words: KeywordScores, snapshot: Snapshot, context: SearchContext) -> dict[int, float]:
    """Return the matches of chunks that define or spell a name, if the query is that name, by id.

    Many texts use a name or its words, few define or spell it. Only the best chunks that contain all words are read.
    """
    ranked, signed, defined = list(ranked), signed_use(context.query), name_use(context.query)
    if signed is not None:
        with_words = islice(filter(words.in_some_form.__contains__, ranked), _READ_FOR_SIGN)
        texts = {id_: chunk.text for id_, chunk in snapshot.chunks(list(with_words)).items()}
        if used := {id_: match for id_, text in texts.items() if (match := signed(text))}:
            uses = {id_: 0.0 if defined is None else defined(texts[id_]) for id_ in used}
            return {id_: math.hypot(match, uses[id_]) if uses[id_] >= DEFINED else match for id_, match in used.items()}
    if defined is None:
        return {}
    complete = list(islice(filter(words.complete.__contains__, ranked), _READ_FOR_NAME))
    return {id_: match for id_, chunk in snapshot.chunks(complete).items() if (match := defined(chunk.text))}
