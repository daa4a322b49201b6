"""The keyword leg: candidates from FTS5, then exact scores from their term frequencies."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from engine.search import document_frequencies, scoring
from engine.search.chunk_filter import ChunkFilter
from engine.search.keyword_scores import KeywordScores
from engine.search.pipeline_stages import Term
from engine.search.scoring import STEM_ONLY, length_norm, term_score
from engine.search.term_counts import CHOICE_WEIGHTS, LOOK_UP_ABOVE, Around, CountedPhrases, Match, count_terms, rank_by
from engine.search.term_lookup import TermLookup, quoted
from engine.store.connection import id_array
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis

if TYPE_CHECKING:
    from engine.search.search_context import WordCountSource

_TITLES = "- {words stems}"
"""All title columns, expressed by exclusion since the index of an earlier version has no column for aliases."""
_NAMES = "- {words stems heading}"
_MAX_TITLED = 200
_MAX_RANKED = 10_000
"""Maximum number of matches to rank, about 8 ms."""
_CHOOSING = 4_000
"""Maximum number of matches of the rarest terms, which choose the candidates. All terms count in scores and, unless the
query is a long text, in ranks.
"""
_FEWER = 4
"""Factor by which the matches of some terms must be fewer than the matches of all terms to be read first."""
_SHORT_QUERY, _RARE = 3, 10  # most terms of a short query; most matches of a rare term
_RECENT = 5_000
"""If even the rarest term has more matches, only its title matches and this many recently indexed ones are ranked."""
_MANY_TITLES = 4
"""Factor of `_MAX_RANKED` from which the title matches are counted first."""
_COMMON = 50_000
"""Matches of all terms from which, in a large index, `bm25`, which counts them in the whole index, takes longer than
our own ranking, of half as many recent matches.
"""
_SHARE_OF_TITLES = 4
"""One in so many candidates that our own ranking chose is added for matches in titles."""
_MAX_READ = 100_000
"""Maximum number of matches to read for those in titles, some 10 ms."""
_SAMPLE, _MAX_SAMPLED = 16, 16_000
"""One in so many chunks, the newest, but at most so many show how many matches there are. Counting takes up to half a
µs for each.
"""


class KeywordLeg:
    """Finds candidates for one query by keywords in one snapshot, and scores chunks."""

    def __init__(self, snapshot: Snapshot, analysis: QueryAnalysis, frequencies: "WordCountSource") -> None:
        self.analysis = analysis
        self._snapshot = snapshot
        self._tables = snapshot.tables
        counts = frequencies.counts(snapshot)
        self.chunks = counts.total
        """Number of indexed chunks."""
        self._average_length = counts.average_length
        self._snapshot_chunks = self.chunks if self._average_length is None else snapshot.chunk_count()
        """Number of chunks in the snapshot: all, or only candidates copied from an external index."""
        self.limited = False
        """Whether so many chunks matched that only the newest and those with a word in a title were ranked."""
        self._estimates = dict[tuple[str, str, tuple[object, ...]], int]()
        """Estimated numbers of matches, by FTS5 expression, SQL condition and its values."""
        terms = [term for term in analysis.terms if not term.stop]
        found = TermLookup(snapshot, counts, self._snapshot_chunks).terms(terms)
        self.ranges = [(term.start, term.end) for term in terms]
        """First and last offset of each term in the query."""
        spanning = _pairs_spanning_words(found, self.ranges)
        begun = analysis.unfinished if analysis.unfinished.isalpha() else ""
        self._fillers = [term.filler or term.surface == begun or at in spanning for at, term in enumerate(terms)]
        self.terms = _with_weights_of_missing(found, self._fillers)
        self._known = sorted((term for term in self.terms if term.searched), key=lambda term: term.matches)
        """Terms with a form or a similar word in the index, rarest first."""
        self._numbered_terms = [(self.terms.index(term), term) for term in self._known]
        self._matches = sum(term.matches for term in self._known)
        self._selective = _rarest(self._known, _CHOOSING)
        self._choosing, self._chosen = set[int](), set[int]()
        """Positions in `_known` of terms that candidates were chosen by, and the candidates that hold one of them."""
        self._groups = tuple(term.group for term in terms) if any(term.group for term in terms) else ()

    def weigh_missing(self, similar: Collection[str]) -> None:
        """Raise the weights of words that occur nowhere, except words in `similar`, which resemble an indexed word.

        Pairs of characters keep their weights: a pair that spans two words may be missing although both are indexed.
        """
        pairs = {term.surface for term in self.analysis.terms if not term.stems}
        rarest = scoring.inverse_document_frequency(self.chunks, 1)
        self.terms = _with_weights_of_missing(self.terms, self._fillers, rarest, pairs.union(similar))

    def candidates(self, limit: int, scope: ChunkFilter) -> list[int]:
        """Return the ids of the best chunks within the filter `scope`, by FTS5's own ranking, best first.

        Fewer than `limit` matches are not ranked. Chunks with all terms come first if they would rank below chunks in
        which a frequent term occurs often, or if even the rarest term is common.
        """
        if not (known := self._known) or not self._snapshot_chunks:
            return []
        if (every_match := self._all_if_few(known, limit, scope)) is not None:
            return every_match
        found: list[int] = []
        if len(known) > 1 and (len(known) <= _SHORT_QUERY or known[0].matches > _CHOOSING):
            expression = " AND ".join(f"({_any_of([term])})" for term in known)
            every = round(self._snapshot_chunks * math.prod(term.matches / self._snapshot_chunks for term in known))
            if self._is_common(0):  # words that often occur together have more
                every = max(every, self._estimated(expression, scope))
            found = self._ranked(expression, every, limit, scope)
            self._record_chosen(found, known[:1])
        # FTS5 adds up all forms of a word, so passages with a common form can outrank the few with a rare one.
        half = limit // 2  # the other half is for ranked matches
        if (few := self._all_if_few(rarest := _rarest(known, half), half + 1, scope)) is not None:
            found += self._record_chosen(few, rarest)
        found += self._exact(limit, scope)
        if len(found) < limit:
            matches = sum(term.matches for term in self._selective)
            ranking = self._selective if self.analysis.is_long_text else self._known
            ranked = self._ranked(_ranking(self._selective, ranking), matches, limit, scope)
            found += self._record_chosen(ranked, self._selective)
        return list(dict.fromkeys(found))

    def titled(self) -> list[int] | None:
        """Return the ids of some chunks, among them all whose title, alias or file name contains every term except
        fillers and a half-typed word; None if there are too many.
        """
        distinctive = [term for term, filler in zip(self.terms, self._fillers, strict=True) if not filler]
        if len(distinctive) > 1 and self.analysis.terms[-1].is_prefix and not distinctive[-1].plain:
            del distinctive[-1]  # it may be half-typed
        if not all(term.chunks for term in distinctive):
            return []
        rarest = (_any_of([term], exact=True) for term in sorted(distinctive, key=lambda term: term.matches)[:2])
        expression = " AND ".join(f"({phrases})" for phrases in rarest if phrases)
        if not expression:
            return []
        fts = self._tables.fts
        query = f"SELECT rowid FROM {fts} WHERE {fts} MATCH ? LIMIT {_MAX_TITLED + 1}"
        ids = [id_ for (id_,) in self._snapshot.connection.execute(query, (f"{_NAMES} : ({expression})",))]
        return ids if len(ids) <= _MAX_TITLED else None

    def adjacent(self, limit: int, scope: ChunkFilter) -> list[int]:
        """Return the ids of the best chunks that hold a query with function words as a phrase, if no word is rare."""
        if (phrase := self.analysis.whole_phrase) is None or not self._known or self._known[0].matches <= _RARE:
            return []
        words = f"words : {quoted(' '.join(phrase.tokens))}{' *' if phrase.open else ''}"
        matches = self._known[0].matches
        return self._ranked(words, self._estimated(words, scope) if matches > _MAX_RANKED else matches, limit, scope)

    def _all_if_few(self, terms: Sequence[Term], limit: int, scope: ChunkFilter) -> list[int] | None:
        """Return the ids of all chunks with one of the terms, in no order; None if there may be `limit` or more."""
        if sum(term.matches for term in terms) >= limit:
            return None
        expression, condition, values = self._limited_to(_any_of(terms), scope)
        fts = self._tables.fts
        query = f"SELECT rowid FROM {fts} WHERE {fts} MATCH ? {condition} LIMIT {limit}"
        ids = [id_ for (id_,) in self._snapshot.connection.execute(query, (expression, *values))]
        return ids if len(ids) < limit else None

    def _exact(self, limit: int, scope: ChunkFilter) -> list[int]:
        """Return candidates by exact forms alone if looser ones match many chunks: FTS5 ranks both the same."""
        exact = [term for term in self._known if term.weak < 1.0]
        if not exact or sum(term.loose for term in exact) <= limit // 2:
            return []
        rarest = _rarest(exact, _CHOOSING)
        ranked = self._ranked(_ranking(rarest, exact, exact=True), sum(term.matches for term in rarest), limit, scope)
        return self._record_chosen(ranked, rarest)

    def _record_chosen(self, ids: list[int], terms: Sequence[Term]) -> list[int]:
        """Record that chunks contain one of the terms, and return the chunks."""
        self._chosen.update(ids)
        self._choosing.update(map(self._known.index, terms))
        return ids

    def score(
        self,
        ids: Iterable[int],
        full_match: float = scoring.FULL_MATCH,
        *,
        ordered: bool = True,
        known: KeywordScores | None = None,
    ) -> KeywordScores:
        """Return exact keyword scores, with all terms, of the chunks that match any term.

        `ordered`: the terms are in the order of a query, so proximity of neighbours counts. `known`: scores of other
        chunks, to which these are added.
        """
        chunks = 0 if any(term.stop for term in self.analysis.terms) or self._groups else self.chunks
        result = known or KeywordScores(self.terms, groups=self._groups, full_match=full_match, chunks=chunks)
        unscored = set(ids).difference(result.evidence) if self._known else set()
        expression, before = _any_of(self._known), 0
        choosing = [self._known[at] for at in sorted(self._choosing)]
        fewer = _FEWER * sum(term.matches for term in choosing) < sum(term.matches for term in self._known)
        if fewer and unscored <= self._chosen:
            # Reading only the matches of rarer terms is faster, unless all matches have to be read afterwards.
            expression = _ranking(choosing, self._known)
            before = len(_phrases(choosing))
        numbers = {phrase: number for number, phrase in enumerate(_phrases(self._known), before)}
        phrases = [numbers[form] for term in self._known for form in term.forms]
        kinds = tuple(term.kinds for term in self._known)
        matches = sum(term.matches for term in choosing) if before else self._matches
        density = 0.0
        if matches > LOOK_UP_ABOVE:
            oldest, newest = self._snapshot.chunk_id_range()
            density = matches / max(1, newest - oldest)
        counted = CountedPhrases(phrases, kinds, self._neighbours() if ordered else (), density)
        self._add_scores(expression, counted, unscored, result)
        return result

    def _neighbours(self) -> tuple[tuple[int, int], ...]:
        """Return pairs of positions of searched terms that are next to each other in the query.

        Without alternatives, and without overlapping pairs of characters, which are adjacent in every text with the
        word.
        """
        at = {index: number for number, (index, _) in enumerate(self._numbered_terms)}
        groups = self._groups or (0,) * len(self.terms)
        following = ((first, first + 1) for first in range(len(self.terms) - 1))
        return tuple(
            (at[first], at[second])
            for first, second in following
            if first in at
            and second in at
            and (not groups[first] or groups[first] != groups[second])
            and self.ranges[first][1] <= self.ranges[second][0]
        )

    def _add_scores(self, expression: str, counted: CountedPhrases, unscored: set[int], result: KeywordScores) -> None:
        """Compute the keyword scores of those chunks in `unscored` that match, and add them to `result`."""
        if not unscored:
            return
        count, known_average = len(self.terms), self._average_length
        numbered = [
            (index, term.idf, _only_kind(term), term, (term.other_form(count), term.other_occurrence(count)))
            for index, term in self._numbered_terms
        ]
        half = result.scale.total / 2
        pairs = [min(self._known[first].idf, self._known[second].idf) for first, second in counted.neighbours]

        def add_chunk(
            id_: int,
            length: int,
            average: float,
            matches: list[Match],
            around: list[Around],
            distances: list[tuple[int, int]],
        ) -> None:
            parts, strengths = [0.0] * count, None
            in_names = bm25 = found_idf = 0.0
            norm = length_norm(length, known_average or average)
            if around:
                result.record_around(id_, in_text=any(any(frequencies[:-1]) for _, frequencies in matches))
                _add_around(around, norm)
            for position, frequencies in matches:
                index, idf, kind, term, of_others = numbered[position]
                if frequencies[-1]:
                    in_names += idf
                if kind is not None:
                    if frequencies[kind]:
                        parts[index] = score = term_score(idf, frequencies[kind], norm)
                        bm25 += score
                        found_idf += idf
                    continue
                score, strength = _contribution(term, frequencies, norm, of_others)
                if strength < 1.0:
                    strengths = strengths or [1.0] * count
                    strengths[index] = strength
                if score:
                    parts[index] = score
                    bm25 += score
                    found_idf += idf * strength
            if not bm25:
                return
            near = sum(scoring.nearness(pairs[pair], distance) for pair, distance in distances) if distances else 0.0
            result.add(id_, parts, strengths or (), near, bm25, found_idf)
            if in_names >= half:
                result.titled.add(id_)

        count_terms(self._snapshot.connection, self._tables.fts, counted, expression, unscored, add_chunk)

    def _ranked(self, expression: str, matches: int, limit: int, scope: ChunkFilter) -> list[int]:
        """Return the ids of the best matches of an FTS5 expression, best first.

        `matches`: their approximate number in all files. If there are too many to rank, title matches come first, then
        the most recently indexed matches; of too many title matches, only the most recently indexed ones are ranked.
        """
        common = self._is_common(matches)
        most, recent = max(_MAX_RANKED, limit), max(_RECENT // 2 if common else _RECENT, limit)
        titles = f"{_TITLES} : ({expression})"
        if matches > most and scope.narrows:
            matches = self._estimated(expression, scope)
        if matches <= most:
            found = self._best(expression, limit, scope, common=common)
            if common and len(found) == limit:  # our own ranking knows no titles
                found = self._best(titles, limit // _SHARE_OF_TITLES, scope, common=common) + found
            return list(dict.fromkeys(found))
        self.limited = True
        titled = self._estimated(titles, scope) if matches > _MANY_TITLES * most else 0
        above = self._newest(scope, titled / recent) if titled > (recent if common else most) else 0
        if common:
            above = max(above, self._newest(ChunkFilter(), self._matches / _MAX_READ))
        found = self._best(titles, limit, scope, above, common=common)
        found += self._best(expression, limit, scope, self._newest(scope, matches / recent), common=common)
        return list(dict.fromkeys(found))

    def _is_common(self, matches: int) -> bool:
        """Whether an expression with so many matches, or all terms, have long lists in a large index."""
        return self.chunks > document_frequencies.LARGE and max(matches, self._matches) > _COMMON

    def _estimated(self, expression: str, scope: ChunkFilter) -> int:
        """Estimate how many chunks within the filter `scope` match an FTS5 expression, by a sample of the newest."""
        chunks = len(scope.listed(self._snapshot) or ()) if scope.is_listed(self._snapshot) else self._snapshot_chunks
        share = max(_SAMPLE, chunks // _MAX_SAMPLED)
        counted = self._limited_to(expression, scope, self._newest(scope, share))
        if counted not in self._estimates:
            (expression, condition, values), fts = counted, self._tables.fts
            query = f"SELECT count(*) FROM {fts} WHERE {fts} MATCH ? {condition}"
            [(matches,)] = self._snapshot.connection.execute(query, (expression, *values))
            self._estimates[counted] = share * int(matches)
        return self._estimates[counted]

    def _newest(self, scope: ChunkFilter, share: float) -> int:
        """Return the id above which the newest chunks of a filter are, one in `share` of all."""
        if ids := scope.sample(self._snapshot):
            return ids[-1 - int((len(ids) - 1) / share)] - 1
        oldest, newest = self._snapshot.chunk_id_range()
        return newest - int((newest - oldest) / share)

    def _limited_to(self, expression: str, scope: ChunkFilter, above: int = 0) -> tuple[str, str, tuple[object, ...]]:
        """Return the FTS5 expression, an SQL condition and its values, which limit matches to the chunks of `scope`
        with an id higher than `above`.
        """
        condition, values = "", tuple[object, ...]()
        if scope.match is not None:
            expression = scope.match.within(expression)
        few = self._matches <= document_frequencies.FREQUENT
        if (marks_of_files := scope.marks_of_files(self._snapshot, few=few)) is not None:
            file = f"SELECT c.file_id FROM {self._tables.chunk_rows} WHERE c.id = {self._tables.fts}.rowid"
            condition, values = f"AND substr(?, ({file}) + 1, 1) = x'01'", (marks_of_files,)
        elif scope.is_listed(self._snapshot):
            if (marked := scope.marks(self._snapshot)) is None:
                ids = id_array(scope.listed(self._snapshot) or ())
                condition, values = "AND +rowid IN (SELECT value FROM carray(?))", (ids,)
            else:
                first, marks = marked
                above, values = max(above, first - 1), (marks,)
                condition = f"AND substr(?, rowid - {first - 1}, 1) = x'01'"
        elif scope.files is not None:
            condition = f"AND +rowid {self._snapshot.in_files(scope.files)}"
        if scope.except_files:
            ids = ",".join(map(str, scope.except_files))
            condition += f" AND +rowid NOT IN (SELECT id FROM {self._tables.chunks} WHERE file_id IN ({ids}))"
        return expression, f"AND rowid > {above} {condition}" if above else condition, values

    def _best(
        self, expression: str, limit: int, scope: ChunkFilter, above: int = 0, *, common: bool = False
    ) -> list[int]:
        """Return the ids of the best matches of an FTS5 expression, of chunks with an id higher than `above`.

        `common`: rank without `bm25`.
        """
        expression, condition, values = self._limited_to(expression, scope, above)
        fts, weights = self._tables.fts, ", ".join(map(str, CHOICE_WEIGHTS))
        connection = self._snapshot.connection
        # bm25() named and sorted by name: ORDER BY rank takes 1.6 times as long.
        score = f"bm25({fts}, {weights})"
        if common:
            score = rank_by(connection, fts, expression, dict(chain.from_iterable(map(_idf_of_forms, self._known))))
        rows = connection.execute(
            f"""SELECT rowid, {score} AS score FROM {fts}
                WHERE {fts} MATCH ? {condition} ORDER BY score LIMIT {limit}""",
            (expression, *values),
        )
        return [rowid for rowid, _ in rows]


def _pairs_spanning_words(terms: Sequence[Term], ranges: Sequence[tuple[int, int]]) -> set[int]:
    """Return the positions of terms that occur nowhere, but overlap the terms before and after them, which occur.

    In a script without spaces, such a pair of characters probably spans two words; if only one of its neighbours
    occurs, it may be part of a word that no text has.
    """
    return {
        middle
        for middle in range(1, len(terms) - 1)
        if not terms[middle].searched
        and all(terms[side].searched for side in (middle - 1, middle + 1))
        and ranges[middle - 1][1] > ranges[middle][0]
        and ranges[middle][1] > ranges[middle + 1][0]
    }


def _idf_of_forms(term: Term) -> Iterator[tuple[str, float]]:
    """Yield the phrases that rank a chunk with a term, and their idfs: its stems, or without any its plain forms."""
    for forms, idf in (
        (term.irregular, STEM_ONLY * min(term.idf, term.irregular_idf)),
        (term.weak_stems + term.weak_words, term.weak * term.idf),
        (term.stemmed or term.plain, term.idf),
    ):
        yield from ((form, idf) for form in forms)


def _only_kind(term: Term) -> int | None:
    """Return the index of a term's frequency if the term has only one kind of exact form; else None."""
    return {"s": 0, "p": 1}.get(term.kinds)


def _add_around(around: list[Around], norm: float) -> None:
    """Add occurrences outside of a chunk's text to the frequencies, independent of its length `norm` as in BM25F.

    Otherwise a short chunk would rank above a chunk of the same file that contains the word.
    """
    for frequencies, kind, occurrences in around:
        frequencies[kind] += occurrences * norm / scoring.K1


def _contribution(
    term: Term, frequencies: Sequence[float], norm: float, of_others: tuple[float, float]
) -> tuple[float, float]:
    """Return a term's BM25 contribution in a chunk, and how exactly it matches, 0 to 1.

    `frequencies`: one for each kind of phrase: stems, words, weaker stems, weaker words, irregular forms. `of_others`:
    the term's `other_form` and `other_occurrence`.
    """
    stems, words, weak_stems, weak_words, irregular, _ = frequencies
    other_form, other_occurrence = of_others
    frequency = max(stems, words)  # both streams count the same occurrences
    if words and frequency > words:
        frequency = words + other_occurrence * (frequency - words)
    score = term_score(term.idf, frequency, norm) if frequency else 0.0
    strength = 1.0 if frequency else 0.0
    if not words and term.plain and term.stemmed:
        score *= STEM_ONLY
        strength *= other_form
    if irregular:
        # A rare form ("sought") would give the common word ("seek") a high weight.
        score = max(score, STEM_ONLY * term_score(min(term.idf, term.irregular_idf), irregular, norm))
        strength = max(strength, STEM_ONLY)
    if loose := max(weak_stems, weak_words):
        score = max(score, term.weak * term_score(term.idf, loose, norm))
        strength = max(strength, term.weak)
    return score, strength or 1.0


def _with_weights_of_missing(
    terms: Sequence[Term], fillers: Sequence[bool], rarest: float = 0.0, similar: Collection[str] = ()
) -> tuple[Term, ...]:
    """Return the terms, with weights for those that occur nowhere; `rarest` raises weights of terms not in `similar`.

    Fillers that occur nowhere have none, and other fillers don't lower these weights: "best pizza recipe" is as far
    from a recipe as "pizza recipe".
    """
    known = [(term.idf, filler) for term, filler in zip(terms, fillers, strict=True) if term.chunks]
    distinctive = [idf for idf, filler in known if not filler] or [idf for idf, _ in known]
    likely_error, missing = scoring.unknown_weight(distinctive), scoring.unknown_weight(distinctive, rarest)
    return tuple(
        term
        if term.searched
        else replace(term, idf=0.0 if filler else likely_error if term.surface in similar else missing)
        for term, filler in zip(terms, fillers, strict=True)
    )


def _rarest(terms: Sequence[Term], most: int) -> list[Term]:
    """Return the first `terms`, the rarest, that have at most `most` matches together; at least one."""
    matches = list(accumulate(term.matches for term in terms))
    return [term for term, total in zip(terms, matches, strict=True) if total <= max(most, matches[0])]


def _ranking(selective: Sequence[Term], terms: Sequence[Term], *, exact: bool = False) -> str:
    """Return the FTS5 expression for chunks with one of the `selective` terms, ranked by all terms."""
    every = _any_of(terms, exact=exact)
    return every if len(selective) == len(terms) else f"({_any_of(selective, exact=exact)}) AND ({every})"


def _any_of(terms: Sequence[Term], *, exact: bool = False) -> str:
    """Return the FTS5 expression for chunks with one of the terms in any form, or in an `exact` one.

    It names no columns, which would make the match four times slower; a stem found in `words` adds nothing to the
    score.
    """
    return " OR ".join(_phrases(terms, exact=exact))


def _phrases(terms: Sequence[Term], *, exact: bool = False) -> Collection[str]:
    """Return the distinct phrases of the terms, since FTS5 would match and count a repeated phrase again."""
    return dict.fromkeys(form for term in terms for form in (term.stemmed + term.plain if exact else term.forms))
