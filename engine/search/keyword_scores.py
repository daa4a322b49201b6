"""The scores of the chunks that one query matches: by keywords, with each term's part in them, and after each stage of
the search."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import compress
from operator import mul
from typing import TYPE_CHECKING

import msgspec

from engine.search import scoring
from engine.search.pipeline_stages import Term

if TYPE_CHECKING:
    from engine.search.decay import Age
    from engine.search.diversity import Chosen
    from engine.search.query_boosts import Boost
    from engine.search.vector_leg import VectorLeg

_ALL = 1 - 1e-9
_NONE = frozenset[int]()
_NEAR = 16
"""Chunks on both sides that count as near, about 17 KB: a long journal has most pairs of words somewhere."""
_CHANCE = 3
"""Least number of near chunks with each of the terms for these to meet by chance, as everyday words of a journal do."""
_MAX_IN_FILE = 6
"""Maximum number of terms of a query whose words may be in different passages of a file."""
_OFTEN = 0.25
"""Share of a project's candidates that hold a term from which it counts in full for the others. Fewer may hold it by
chance. Without this, sessions that are assigned to projects at random lose .012 nDCG@10."""


class KeywordScores(msgspec.Struct, frozen=True, dict=True, eq=False):
    """Keyword scores of chunks for one query, with each term's contribution, by chunk id."""

    terms: tuple[Term, ...]
    contributions: dict[int, tuple[float, ...]] = msgspec.field(default_factory=dict)
    titled: set[int] = msgspec.field(default_factory=set)
    """Chunks whose title or file name contains half of the query or more, by weight."""
    around: set[int] = msgspec.field(default_factory=set)
    """Chunks with a term in a title, a heading, their path or an alias."""
    around_only: set[int] = msgspec.field(default_factory=set)
    """Chunks of `around` without a term in their text."""
    names: dict[int, float] = msgspec.field(default_factory=dict)
    """Match of the title or file name with the query, 0 to 1, or the match in `used` if higher; only if above 0."""
    used: dict[int, float] = msgspec.field(default_factory=dict)
    """Match of chunks that define or spell a name, if the query is that name."""
    strengths: dict[int, tuple[float, ...]] = msgspec.field(default_factory=dict)
    """Exactness of each term's match, 0 to 1, for chunks with a weaker form of a term; missing for others."""
    nearness: dict[int, float] = msgspec.field(default_factory=dict)
    """Bonus for query terms that are close together in a chunk; missing for a chunk without two of them."""
    adjacent: set[int] = msgspec.field(default_factory=set)
    """Chunks that hold a query with function words as a phrase."""
    evidence: dict[int, float] = msgspec.field(default_factory=dict)
    """Score of each scored chunk, without its upper limit."""
    shares: dict[int, float] = msgspec.field(default_factory=dict)
    """Share of the query that each chunk holds, by weight."""
    sums: dict[int, float] = msgspec.field(default_factory=dict)
    """BM25 and proximity of a chunk: orders chunks that match the same share of the query."""
    complete: set[int] = msgspec.field(default_factory=set)
    """Chunks that hold all terms."""
    in_some_form: set[int] = msgspec.field(default_factory=set)
    """Chunks that hold all terms, exactly or in a looser form."""
    complete_with_names: set[int] = msgspec.field(default_factory=set)
    """Chunks that hold all terms, even those that name their session; filled only if the query names a session."""
    optional: dict[int, frozenset[int]] = msgspec.field(default_factory=dict)
    """By chunk: positions of the terms that it needn't have, since they name its time, or its session's agent, project
    or file."""
    naming: set[int] = msgspec.field(default_factory=set)
    """Positions of the terms that name a time, agent, project or file of any passage."""
    in_file: set[int] = msgspec.field(default_factory=set)
    """Chunks that hold all terms only together with others near them in the same file."""
    project_shares: dict[int, Mapping[int, float]] = msgspec.field(default_factory=dict)
    """By chunk of a session: positions of the terms that any chunk of its project holds, with the share of the query
    that they count for in the others."""
    groups: tuple[int, ...] = ()
    """By term: the number shared by alternative terms, 0 for others; () if there are no alternatives."""
    full_match: float = scoring.FULL_MATCH
    chunks: int = 0
    """Number of indexed chunks; 0 for a query with function words, whose other words often occur together."""

    @cached_property
    def scale(self) -> scoring.Scale:
        return scoring.Scale.of([term.idf for term in self.terms], self.full_match)

    @property
    def unknown(self) -> list[Term]:
        """The terms that occur nowhere, without those that name a time or a session of a chunk."""
        return [term for index, term in enumerate(self.terms) if not term.chunks and index not in self.naming]

    @cached_property
    def _rare(self) -> list[tuple[int, float]]:
        """Positions of the rare terms, with their rarity."""
        rarities = ((index, scoring.rarity(term.idf)) for index, term in enumerate(self.terms) if term.chunks)
        return [(index, rarity) for index, rarity in rarities if rarity]

    def rarity(self, id_: int) -> float:
        """Return the highest `scoring.rarity` of a chunk's terms, or that of all together, less for a weaker form
        and for a smaller share of the query.
        """
        mostly = scoring.mostly(self.shares.get(id_, 0.0))
        if not mostly or not (self._rare or self.chunks):
            return 0.0
        contributions = self.contributions[id_]
        strengths = self.strengths.get(id_) or (1.0,) * len(self.terms)
        held = [rarity * strengths[index] for index, rarity in self._rare if contributions[index]]
        if self.chunks:
            idfs = compress(map(mul, self.scale.idfs, strengths), contributions)
            held.append(float(scoring.are_rare_together(list(idfs), self.chunks)))
        return max(held, default=0.0) * mostly

    def keywords_only_factor(self, chunks: int) -> float:
        """Return the factor for scores in a search by keywords alone, in an index of `chunks` chunks.

        It is 1 for alternatives, which are never required together. Of two words, the unknown one may be misspelt.
        """
        if self.groups:
            return 1.0
        unknown = sum(term.idf for term in self.unknown) if len(self.terms) > 2 else 0.0
        return scoring.keywords_only_factor(self.scale.total, unknown, chunks)

    def with_all_before(self, unfinished: str) -> set[int]:
        """Return the chunks that contain all terms but the last one, if that is `unfinished` and the third or later.

        The typed letters of an unfinished word may be another, rare word, whose meaning the query's vector then has.
        Most chunks contain a longer word that begins with them.
        """
        if not unfinished.isalpha() or self.groups or len(self.terms) < 3 or self.terms[-1].surface != unfinished:
            return set()
        return {id_ for id_, contributions in self.contributions.items() if all(contributions[:-1])}

    def parts(self, id_: int) -> scoring.TextParts:
        """Return the components of a chunk's keyword score."""
        contributions = self.contributions.get(id_) or (0.0,) * len(self.terms)
        near = self.nearness.get(id_, 0.0)
        if id_ in self.adjacent:
            near += scoring.ADJACENT * self.scale.full
        parts = self.parts_of(id_, contributions, self.strengths.get(id_, ()), near)
        elsewhere = 1 - parts.covered if id_ in self.in_file else 0.0
        in_project = sum(self.in_project(id_).values())
        return msgspec.structs.replace(parts, name=self.names.get(id_, 0.0), elsewhere=elsewhere, in_project=in_project)

    def in_project(self, id_: int) -> dict[int, float]:
        """Return the missing terms of a chunk that other chunks of its project contain, and each one's share of the
        query, by the term's position. Empty if other chunks of its file count for all missing terms.
        """
        if id_ in self.in_file or not (shares := self.project_shares.get(id_)):
            return {}
        contributions = self.contributions[id_]
        counted = self.counted(id_, contributions)
        return {term: share for term, share in shares.items() if not contributions[term] and term in counted}

    def parts_of(
        self, id_: int, contributions: Sequence[float], strengths: Sequence[float], near: float
    ) -> scoring.TextParts:
        """Compute the components of a keyword score from the terms' contributions, strengths and proximity."""
        scale = self.scale
        if self.groups or id_ in self.optional:
            chosen = self.counted(id_, contributions)
            if not chosen:
                return scoring.NAMED
            contributions = tuple(contributions[index] for index in chosen)
            scale = scoring.Scale.of([self.terms[index].idf for index in chosen], self.full_match)
            strengths = tuple(strengths[index] for index in chosen) if strengths else ()
        return scoring.text_parts(contributions, scale, near, strengths)

    def add(
        self,
        id_: int,
        contributions: Sequence[float],
        strengths: Sequence[float],
        near: float,
        bm25: float,
        found_idf: float,
    ) -> None:
        """Store the counts of a chunk. `bm25`, `found_idf`: sums of its contributions and of the idfs of its terms."""
        self.contributions[id_] = tuple(contributions)
        if near:
            self.nearness[id_] = near
        if strengths:
            self.strengths[id_] = tuple(strengths)
        if self.groups:
            whole = self.parts_of(id_, contributions, strengths, near)
            bm25, covered, evidence = whole.bm25, whole.covered, whole.evidence
        else:
            scale = self.scale
            covered = found_idf / scale.total
            evidence = scoring.text_evidence(bm25 + near, scale.full, covered, scale.most(covered))
        self.evidence[id_] = evidence
        self.shares[id_] = covered
        self.sums[id_] = bm25 + near
        if strengths or covered > _ALL:
            self._record_complete(id_, covered)

    def record_around(self, id_: int, *, in_text: bool) -> None:
        """Record a chunk with a term in its title or headings; `in_text`: its text contains one, too."""
        self.around.add(id_)
        if not in_text:
            self.around_only.add(id_)

    def _record_complete(self, id_: int, covered: float) -> None:
        """Record whether a chunk contains all terms of the query; `covered`: its share of the query."""
        contributions = self.contributions[id_]
        if covered > _ALL:
            self.complete.add(id_)
            self.in_some_form.add(id_)
        elif id_ in self.strengths and all(contributions[index] for index in self.counted(id_, contributions)):
            self.in_some_form.add(id_)

    def add_optional(
        self,
        dates: Mapping[int, frozenset[int]],
        names: Mapping[int, frozenset[int]],
        openings: Sequence[int],
        named: frozenset[int],
    ) -> None:
        """Score chunks without their missing `optional` terms.

        "pump last spring" finds a note of that spring about the pump, which rarely says "last spring". If no chunk has
        the other words of a short query and also its time or name, that may be missing in all: the user may be wrong.

        `dates`, `names`: positions of the terms that name a chunk's time, or its session's agent, project or file, by
        chunk id. If a chunk holds all terms, `names` may be part of the subject, as in "exhibition page in docs", so
        that they count as missing. `openings`: first chunks of sessions that the query only names or dates, newest
        first. `named`: positions of the terms that name any time or session.
        """
        naming = _NONE.union(*set(dates.values()), *set(names.values()))
        only_names = len(naming) == len(self.terms)
        optional = {} if only_names else {id_: words for id_, words in dates.items() if id_ in self.evidence}
        if names:
            self.complete_with_names.update(
                id_ for id_ in self.contributions if self._holds_all(id_, optional.get(id_, _NONE))
            )
        if not self.complete_with_names and only_names:
            words_of = {id_: names.get(id_, _NONE) | dates.get(id_, _NONE) for id_ in names.keys() | set(openings)}
            optional = {id_: words for id_, words in words_of.items() if len(words) == len(naming)}
            for id_ in optional.keys() - self.evidence.keys():
                self.contributions[id_] = (0.0,) * len(self.terms)
            for place, id_ in enumerate(openings, 1):
                self.sums.setdefault(id_, 1 / place)
        elif not self.complete_with_names:
            known = {id_: words for id_, words in names.items() if id_ in self.evidence}
            optional.update((id_, words | optional.get(id_, _NONE)) for id_, words in known.items())
        doubted = naming | named
        others = len(self.terms) - len(doubted)
        if doubted and 0 < others <= scoring.SHORT_QUERY and not self._satisfied(optional, doubted):
            optional.update(dict.fromkeys(self.evidence, doubted))
            naming = doubted
        if optional or not only_names:
            self.naming.update(naming)
        changed = [id_ for id_ in self.optional | optional if self.optional.get(id_) != optional.get(id_)]
        self.optional.clear()
        self.optional.update(optional)
        self.complete.difference_update(changed)
        self.in_some_form.difference_update(changed)
        for id_ in changed:
            whole = self.parts(id_)
            self.evidence[id_], self.shares[id_] = whole.evidence, whole.covered
            self._record_complete(id_, whole.covered)

    def _satisfied(self, optional: Mapping[int, Collection[int]], named: Collection[int]) -> bool:
        """Return whether a chunk holds all terms but its `optional` ones and unknown names of times and sessions.

        `named`: positions of the terms that name a time or session.
        """
        nowhere = {at for at, term in enumerate(self.terms) if not term.searched}.difference(named)
        return any(self._holds_all(id_, nowhere.union(optional.get(id_, _NONE))) for id_ in self.evidence)

    def _holds_all(self, id_: int, optional: Collection[int]) -> bool:
        contributions = self.contributions[id_]
        return all(contributions[index] or index in optional for index in self._alternatives(contributions))

    def remove_repeated_titles(self, sessions_of: Callable[[Collection[int]], Mapping[int, int]]) -> None:
        """Remove the scores of a session's chunks that only match by its title, if another chunk counts for the title.

        All chunks of a session have its title, so that one long session would fill the list. Its title counts in the
        chunks with a term in their text, or else in the first one. `sessions_of` returns the session of each chunk.
        """
        if not self.around_only:
            return
        sessions = sessions_of(self.contributions)
        matched = {session for id_, session in sessions.items() if id_ not in self.around_only}
        for id_ in sorted(self.around_only.intersection(sessions)):
            if sessions[id_] not in matched:
                matched.add(sessions[id_])
                continue
            for by_chunk in (self.contributions, self.strengths, self.nearness, self.evidence, self.shares, self.sums):
                by_chunk.pop(id_, None)
            for chunks in (self.titled, self.around, self.around_only, self.complete, self.in_some_form):
                chunks.discard(id_)

    def add_files(self, files_of: Callable[[Sequence[int]], Iterable[tuple[int, int]]]) -> None:
        """Raise the scores of chunks that hold all terms of a query together with others near them in the same file:
        the words that the user remembers may be in different sections.

        `files_of` returns the file of each chunk.
        """
        if self.groups or not 1 < len(self.terms) <= _MAX_IN_FILE:
            return
        ids = sorted(self.contributions)
        near = [id_ for id_ in ids if id_ not in self.in_some_form]
        for with_term in self._chunks_with_each_term(ids):
            near = [id_ for id_ in near if _count_near(with_term, id_)]
        files: dict[int, list[int]] = {}
        for id_, file in files_of([id_ for id_ in ids if _count_near(near, id_)]):  # looking up all takes far longer
            files.setdefault(file, []).append(id_)
        for of_file in files.values():
            holding = self._chunks_with_each_term(of_file)
            self.in_file.update(
                id_ for id_ in of_file if 0 < min(_count_near(with_term, id_) for with_term in holding) < _CHANCE
            )
        self.in_file.difference_update(self.in_some_form)
        self._score_again(self.in_file)

    def _chunks_with_each_term(self, ids: Sequence[int]) -> list[list[int]]:
        """Return for each term the chunks among `ids` that contain it; the rarest term first."""
        ids_by_term = ([id_ for id_ in ids if self.contributions[id_][term]] for term in range(len(self.terms)))
        return sorted(ids_by_term, key=len)

    def add_projects(self, projects_of: Callable[[Collection[int]], Mapping[int, str]]) -> None:
        """Raise the scores of session chunks for terms that only other chunks of the same project hold.

        In conversations, the name in a query is often in another session than the answer.
        The more projects hold a term, the less it counts. `projects_of` returns the project of each chunk of a session.
        """
        if self.groups or len(self.terms) < 2 or not self.scale.total:
            return
        projects = projects_of(self.contributions)
        sizes = Counter(projects.values())
        if len(sizes) < 2:
            return
        shares: dict[str, dict[int, float]] = {project: {} for project in sizes}
        by_term = zip(*(self.contributions[id_] for id_ in projects), strict=True)
        for index, (term, contributions) in enumerate(zip(self.terms, by_term, strict=True)):
            holding = Counter(compress(projects.values(), contributions))
            if rarity := (1 - len(holding) / len(sizes)) * term.idf / self.scale.total:
                for project, count in holding.items():
                    shares[project][index] = rarity * min(1.0, count / (_OFTEN * sizes[project]))
        before = {id_: sum(self.in_project(id_).values()) for id_ in self.project_shares}
        for id_, project in projects.items():
            self.project_shares[id_] = shares[project]
            if more := sum(self.in_project(id_).values()) - before.get(id_, 0.0):  # computing all parts takes longer
                self.evidence[id_] += scoring.IN_PROJECT * more

    def add_names(self, names: Mapping[int, float]) -> None:
        """Add the bonus for titles and file names to the scores of their chunks.

        `names`: match with the query, 0 to 1, by chunk id.
        """
        self.names.update(names)
        self._score_again(names)

    def add_adjacent(self, ids: Iterable[int]) -> None:
        """Raise the scores of chunks that hold a query with function words as a phrase."""
        self.adjacent.update(id_ for id_ in ids if id_ in self.evidence)
        self._score_again(self.adjacent)

    def _score_again(self, ids: Iterable[int]) -> None:
        for id_ in ids:
            self.evidence[id_] = self.parts(id_).evidence

    def with_uses(self, used: Mapping[int, float]) -> "KeywordScores":
        """Return the scores with higher ones for chunks that define or spell the name in the query.

        These scores don't change: the complete answer has other best chunks, and reads them again.
        """
        if not used:
            return self
        scores = msgspec.structs.replace(self, used=dict(used), names=dict(self.names), evidence=dict(self.evidence))
        scores.add_names({id_: max(match, self.names.get(id_, 0.0)) for id_, match in used.items()})
        return scores

    def counted(self, id_: int, contributions: Sequence[float]) -> Collection[int]:
        """Return the positions of the terms that count in a chunk with these `contributions`.

        Of alternative terms, only the one that contributes most counts, as if the query had no other. Terms
        in `optional` don't count where they are missing.
        """
        if optional := self.optional.get(id_):
            left_out = {index for index in optional if not contributions[index]}
            return [index for index in self._alternatives(contributions) if index not in left_out]
        return self._alternatives(contributions)

    def _alternatives(self, contributions: Sequence[float]) -> Collection[int]:
        """Return the positions of all terms; of alternatives, only of the term that contributes most."""
        if not self.groups:
            return range(len(self.terms))
        best: dict[int, int] = {}
        for index, group in enumerate(self.groups):
            key = group or -index - 1
            contribution = contributions[index], self.terms[index].idf
            if key not in best or contribution > (contributions[best[key]], self.terms[best[key]].idf):
                best[key] = index
        return best.values()


def _count_near(ids: Sequence[int], id_: int) -> int:
    """Return how many of the ascending `ids` of chunks are near a chunk."""
    return bisect_right(ids, id_ + _NEAR) - bisect_left(ids, id_ - _NEAR)


class Scored(msgspec.Struct, frozen=True):
    """The scores of one chunk, in all stages of the search."""

    id: int
    score: float
    evidence: scoring.Evidence
    cosine: float | None
    fresh: float
    """The score before ageing, without the boosts for times and sessions that the query names."""
    keywords: float
    """Score of the keywords alone, before ageing."""
    age: "Age | None" = None
    """None if ageing is off."""
    chosen: "Chosen | None" = None
    """The chunk's position after diversification; None if that is off."""
    order: float = 0.0
    """The score without its upper limit, which orders full matches."""
    by_keywords: bool = False
    """Whether only the keyword score reached the threshold."""
    named: bool = False
    """Whether the name of the chunk's file equals the query or begins with it: a full match, whatever the text."""
    boost: "Boost | None" = None
    """None if the query names no time, agent, project or file of the chunk."""
    word_similarity: float | None = None
    """Average cosine of the query's words to the chunk's most similar words; None if they were not compared."""
    by_lines: bool = False
    """Whether the best two adjacent lines have this `word_similarity`; then the chunk is in the query's language."""
    coverage: float | None = None
    """Share of the query that the whole chunk covers by its words or similar ones; None if they were not compared."""
    best_similarity: float | None = None
    """Score of the similarity to the best results of a long query, by vectors and shared words; None if the chunk was
    not compared with them."""

    @property
    def unboosted(self) -> float:
        """The score without its boost."""
        return self.score if self.boost is None else scoring.within_limits(self.unclamped)

    @property
    def unclamped(self) -> float:
        """The score without its boost and without its upper limit."""
        return self.order if self.boost is None else self.order / self.boost.factor

    @property
    def text(self) -> float:
        """Keyword score of the chunk, 0 to 1."""
        return scoring.within_limits(self.evidence.text)

    @property
    def vector(self) -> float | None:
        """Vector score, 0 to 1; None without a vector."""
        return None if self.evidence.vector is None else scoring.within_limits(self.evidence.vector)


class ScoreInputs(msgspec.Struct, frozen=True):
    """Data that determine the scores of an answer, besides its chunks: keyword scores, weights and minimum score."""

    words: KeywordScores
    blend: scoring.Blend
    vector_leg: "VectorLeg | None"
    """None if no vectors were compared."""
    min_score: float
