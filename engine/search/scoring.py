"""Absolute scores, 0 to 1: each depends on its own chunk and the query, not on the other results.

Besides the chunk itself, only words in other chunks of its file or project count. So a threshold is meaningful, and an
off-topic query returns nothing. The whole formula, with the names of its weights here:

    idf     = rarity of a term's exact form × FILLER for a word that only introduces the query
    term    = idf × BM25 of its frequency × STEM_ONLY, WEAK or SIMILAR for another form; titles count as the text
    bm25    = sum of the terms + _NEAR for neighbours + ADJACENT for a phrase with function words, of a full match
    text    = bm25, from a least for complete chunks to a limit for short queries; both fall with the covered share
              + _COVERED × covered share + _ELSEWHERE × share in the file + IN_PROJECT × share in the project
              + _NAME × (match of the title, or of a definition)²
    vector  = place of the cosine in the model's range
    score   = text × (1 - _AGREEMENT × doubt × (1 - vector)) + weight × vector; the worse the words match, the higher
              is the weight; by keywords alone, text × `keywords_only_factor`
    order   = score × (1 + TIME_BOOST) × (1 + SESSION_BOOST for each name) × age

`score_cut_off.py` compares the score without the boosts with the minimum, `word_similarity.py` moves the best results.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress
from operator import mul
from typing import TYPE_CHECKING

import msgspec

from engine.providers import Calibration

if TYPE_CHECKING:
    from engine.records.explanations import IncreaseKind

K1 = 1.5
B = 0.75
FULL_MATCH = 0.6
"""Share of the highest possible BM25 sum that counts as a full match."""
FULL_SIMILARITY = 0.3
"""Full match for the distinctive words of a passage: no other passage contains most of them.

A third of them, which search engines require of similar documents, then reaches the default threshold.
"""
FILLER = 0.2
"""Weight of a word that only introduces the query, such as "how", or of a pair of characters that spans two words."""
STEM_ONLY, WEAK = 0.9, 0.5
"""Weights of another form of a word, and of a prefix or a looser form, if the exact one is in the index; without it,
they count in full.
"""
SIMILAR = 0.8
"""Weight of words similar to a term that occurs nowhere: it is a guess whether the user meant one of them."""
TIME_BOOST = 0.6
"""Share of its score that a chunk gains if its date is within a named time; half of it for the days next to it."""
SESSION_BOOST = 0.6
"""Share of its score that a chunk gains for each name in the query that is its session's agent, project or file."""
_ENOUGH_WORDS = 3.0
"""Weight of a query, as a number of words that only one passage has, above which scores by keywords alone rise: the
answer to a long question holds only some of its words."""
_FOR_UNKNOWN = 0.5
"""Increase of the minimum if all words of a query occur nowhere, as a share of the minimum."""
SHORT_QUERY = 3
"""For queries up to this number of terms, a chunk's score is at most its share of the query."""
_COVERING = 1.25
"""Exponent of the share of the query: a chunk with less than half of a query rarely answers it."""
_COMPLETE = 0.35
"""Least BM25 part of the score of a chunk that contains every term, whatever its length. It falls with the square of
the covered share.
"""
_FROM_BM25, _COVERED = 0.83, 0.21
"""Weights of the BM25 sum and of the covered share of the query. BM25 alone prefers one word that is often in a chunk
to several words of the query.
"""
_ELSEWHERE = 0.4
"""Weight of the share of a short query that only other chunks of the same file hold."""
IN_PROJECT = 0.8
"""Weight of the share of the query that a session's passage doesn't hold but others of its project do: people use a
name once, and later say "it"."""
_USUAL_LENGTH = 100.0
"""Tokens up to which no chunk counts as longer than average. Otherwise a collection of one-line notes would make every
note of usual length look long, and its score would depend on what else is indexed."""
_NAME = 0.5
"""Bonus of a title or file name that equals the query; a half match adds a quarter of it."""
DEFINED = 1.4
"""Match of a chunk that defines the name in the query: twice the bonus, since chunks that only use a name may have it
often."""
SPELLED = 1.0
"""Match of a chunk that spells the words of the query as one name, such as `extractValue` for "extract value": other
chunks have the single words more often."""
SIGNED = 1.3
"""Match of a chunk that has the query's words with their signs: other chunks may have the words more often."""
SIGNED_OTHERWISE = 1.15
"""Match of a chunk that writes the signs in another way than the query: 20 percent for 20%."""
_UNKNOWN, _MAX_UNKNOWN = 1.4, 1.5
"""Least and highest weight of a term that occurs nowhere, relative to the average of the others. With the higher one,
half of a query of two words isn't an answer."""
_NEAR = 0.4
"""Bonus for two neighbours of the query that are neighbours in the text, as a share of the rarer one's best score."""
ADJACENT = 2.0
"""Bonus for a query with function words that a chunk holds as a phrase, as a share of a full match: nearly every chunk
holds the words."""
_WEIGHT_WITHOUT_WORDS = 0.8
"""Weight of the vector score if no chunk matches the keywords well."""
_DOUBTED, _TRUSTED = 0.3, 0.7
"""Keyword scores between which the weight of the vector score falls to the model's own."""
_OWN_LANGUAGE = 0.5
"""Advantage of the best passage in the query's language over those in other languages, which can't have its words, per
unit of its keyword score and of the share of the nearest passages that keywords can find.
"""
_WEIGHT_OF_SAME_ORDER = 0.15
"""Weight of the vector score if keywords match well and both scores rank the best results in the same order: then the
model knows the subject. If the orders differ, keywords are safer.
"""
_OTHER_ORDER, _SAME_ORDER = 0.2, 0.4
"""Correlations of both scores between which that weight rises from the model's own."""
_NEAR_FROM, _NEAREST = 1.0, 1.3
"""Highest vector scores of the best results between which it also rises: below, no result is surely related."""
_MIN_COMPARED = 5
"""Least number of results for comparing the orders."""
_AGREEMENT = 0.4
"""Share of a keyword score that the vector score can lower: a few words in common may be chance."""
_CERTAIN_FROM, _CERTAIN = 0.6, 1.2
"""Keyword scores between which `_AGREEMENT` falls to 0: matches of so many words are unlikely to be chance."""
_RARE_FROM, _RAREST = 300, 1_000
"""Numbers n between which a term in one of n chunks becomes rare: a chunk rarely contains a rare term by chance."""
_CHANCE = 0.05
"""Number of chunks below which terms that chance alone would put together there are rare together."""
_MOSTLY_FROM, _MOSTLY = 0.5, 0.65
"""Shares of a query between which a rare term counts more and more: one of many words is often rare, but incidental."""
LONG_QUERY = 5
"""Number of terms of a query that no chunk is expected to contain completely, so that fewer are a good match."""
_WEIGHT_BETWEEN_PASSAGES = 0.8
"""Weight of the vector score between passages: two passages on one subject share few distinctive words."""


def inverse_document_frequency(documents: int, containing: int) -> float:
    """Return ln(1 + (N - df + .5) / (df + .5)): never negative, unlike FTS5's own, which falls to 0
    for common terms.
    """
    containing = min(max(containing, 1), documents)
    return math.log(1 + (documents - containing + 0.5) / (containing + 0.5))


def rarity(idf: float) -> float:
    """Return how rare a term is, 0 to 1: a chunk is unlikely to contain the rarest by chance."""
    return within_limits((idf - math.log(_RARE_FROM)) / math.log(_RAREST / _RARE_FROM))


def are_rare_together(idfs: Sequence[float], chunks: int) -> bool:
    """Return whether chance alone would put three or more terms together in fewer than `_CHANCE` of `chunks` chunks."""
    return len(idfs) > 2 and sum(idfs) > math.log(chunks / _CHANCE)


def mostly(covered: float) -> float:
    """Return 1 for a chunk that holds most of a query, 0 for one that holds less than half; `covered`: the share."""
    return within_limits((covered - _MOSTLY_FROM) / (_MOSTLY - _MOSTLY_FROM))


def unknown_weight(known: Sequence[float], rarest: float = 0.0) -> float:
    """Return the weight of a term that occurs nowhere, from the weights of the query's other terms (`known`).

    Its own rarity would be the highest of all, so that one misspelt word would hide every match of the others. Without
    any weight, an off-topic query would be answered by its most ordinary word. `rarest`: the idf of a word in a single
    chunk, which raises the weight within limits; 0 for a probable typing error.
    """
    if not known:
        return 0.0
    average = sum(known) / len(known)
    return min(_MAX_UNKNOWN * average, _UNKNOWN * max(average, rarest))


def keywords_only_factor(total: float, unknown: float, documents: int) -> float:
    """Return the factor for keyword scores in a search without vectors: above 1 for a long query, below it for unknown
    words.

    `total`: sum of the idfs of a query's terms; `unknown`: sum of the idfs of terms that occur nowhere.
    """
    enough = _ENOUGH_WORDS * inverse_document_frequency(documents, 1)
    return max(1.0, total / enough) / (1 + _FOR_UNKNOWN * unknown / total) if total and documents else 1.0


@lru_cache(4096)  # most chunks have one of a few hundred lengths
def length_norm(length: float, average_length: float) -> float:
    """Return the BM25 length normalisation of a chunk: the frequency at which a term reaches half of its highest score.

    `length` and `average_length` are in tokens.
    """
    ratio = max(min(length / max(average_length, 1.0), 1.0), length / max(average_length, _USUAL_LENGTH))
    return K1 * (1 - B + B * ratio)


def term_score(idf: float, frequency: float, norm: float) -> float:
    """Return the BM25 contribution of one term.

    `frequency`: column-weighted frequency in the chunk. `norm`: the chunk's `length_norm`.
    """
    return idf * frequency * (K1 + 1) / (frequency + norm)


def nearness(idf: float, distance: float) -> float:
    """Return the bonus for two consecutive words of the query at this distance in a chunk.

    `idf`: of the more frequent word. `distance`: in tokens, 1 for neighbours, infinite if one of the words is missing.
    """
    return _NEAR * idf * (K1 + 1) / distance


def text_evidence(total: float, full: float, covered: float, limit: float) -> float:
    """Return the keyword score without its upper limit of 1, for a chunk without other increases.

    `total`: sum of BM25 and nearness. The other parameters are the fields of `TextParts`.
    """
    return _from_bm25(total, full, covered, limit) + _COVERED * covered


def _from_bm25(total: float, full: float, covered: float, limit: float) -> float:
    share = total / full
    squared = covered * covered
    from_bm25, least = (min(limit, share)), _COMPLETE * squared  # min() takes three times as long
    if share > _FROM_BM25:
        from_bm25 += squared * (share - _FROM_BM25)
    return max(least, from_bm25)


def name_bonus(match: float) -> float:
    """Return the part of the score from a match of the query with a title or file name, or with a defined name.

    `match`: how well they match, 0 to 1.
    """
    return _NAME * match * match


class TextParts(msgspec.Struct, frozen=True):
    """The components of a keyword score."""

    bm25: float
    """Sum of the terms' contributions."""
    nearness: float
    """Bonus for terms that are close together."""
    full: float
    """The sum that counts as a full match; 0 if no term was searched."""
    covered: float
    """Share of the terms that the chunk holds, each weighed by its idf."""
    limit: float
    """Upper limit of the score from BM25, by coverage."""
    name: float = 0.0
    """Match of the title or the file name with the query, 0 to 1, or `DEFINED`."""
    elsewhere: float = 0.0
    """Further share of the terms, which other chunks of the file hold."""
    in_project: float = 0.0
    """Further share of the terms, which other chunks of the session's project hold, less for terms of many projects."""

    @property
    def evidence(self) -> float:
        """The score without its upper limit of 1; it orders chunks that are all full matches."""
        return sum(self.increases.values(), self.from_bm25) if self.full else 0.0

    @property
    def from_bm25(self) -> float:
        """Part of the score from the BM25 sum and the words near each other."""
        return _from_bm25(self.bm25 + self.nearness, self.full, self.covered, self.limit) if self.full else 0.0

    @property
    def increases(self) -> "dict[IncreaseKind, float]":
        """All that is added to `from_bm25`; "title" stands for any match with a name."""
        return {
            "coverage": _COVERED * self.covered,
            "file": _ELSEWHERE * self.elsewhere,
            "project": IN_PROJECT * self.in_project,
            "title": name_bonus(self.name),
        }

    @property
    def score(self) -> float:
        return min(1.0, self.evidence)


NAMED = TextParts(0.0, 0.0, 1.0, 1.0, _FROM_BM25)
"""Parts of a chunk whose session, with its time, is named by the whole query: no word is left to search for."""


class Scale(msgspec.Struct, frozen=True):
    """Converts a BM25 sum to a score: the weights of a query's terms, and the sum of a full match."""

    idfs: Sequence[float]
    total: float
    """Sum of the idfs."""
    full: float
    """The sum that counts as a full match."""
    limit: float
    """Upper limit of the score from BM25 of a chunk with every term."""

    @classmethod
    def of(cls, idfs: Sequence[float], full_match: float = FULL_MATCH) -> "Scale":
        total = sum(idfs)
        return cls(idfs, total, full_match * total * (K1 + 1), _FROM_BM25 * max(1.0, len(idfs) / SHORT_QUERY))

    def most(self, covered: float) -> float:
        """Return the upper limit of the score from BM25 for a chunk that holds the share `covered` of the terms."""
        return math.pow(covered, _COVERING) * self.limit


def text_parts(
    contributions: Sequence[float], scale: Scale, near: float = 0.0, strengths: Sequence[float] = ()
) -> TextParts:
    """Compute the parts of a chunk's keyword score: its BM25 sum relative to the best possible one.

    `near`: sum of the `nearness` bonuses. `strengths`: 0 to 1 for each term, how exactly it matches; empty if all are
    1.
    In a short query every word matters: one of two, however often it occurs, is less than half an answer. In a long one
    the sum alone decides, since no passage holds all its words (a limit there costs .03 nDCG@10 on technical
    abstracts).
    """
    if scale.total <= 0:
        return TextParts(0.0, 0.0, 0.0, 0.0, 0.0)
    weights = map(mul, scale.idfs, strengths) if strengths else scale.idfs
    covered = sum(compress(weights, contributions)) / scale.total
    return TextParts(sum(contributions), near, scale.full, covered, scale.most(covered))


def vector_evidence(cosine: float, calibration: Calibration) -> float:
    """Return the vector score of a cosine on the model's own scale, without limits of 0 and 1."""
    return (cosine - calibration.low) / (calibration.high - calibration.low)


def within_limits(evidence: float) -> float:
    """Return a score limited to 0 to 1."""
    return evidence if 0.0 < evidence < 1.0 else float(evidence > 0.0)


class Evidence(msgspec.Struct, frozen=True):
    """The keyword score and the vector score of one chunk, before they are combined."""

    text: float
    """Keyword score without its upper limit."""
    vector: float | None
    """Vector score without its limits; None without a vector."""
    complete: bool = False
    """Whether the chunk holds every term of the query in some form, except one that is being typed."""
    from_name: float = 0.0
    """Part of `text` from the title, the file name or a definition."""
    foreign: bool = False
    """Whether the chunk is in another language than the query, so that the query's words can't find it."""
    rarity: float = 0.0
    """Highest `rarity` of the terms that the chunk holds."""

    @property
    def doubtful(self) -> float:
        """Share of the keyword score that a low vector score can lower: small for high scores, 0 for names, for rare
        terms and for chunks with every term.
        """
        if self.complete:
            return 0.0
        chance = 1 - within_limits((self.text - _CERTAIN_FROM) / (_CERTAIN - _CERTAIN_FROM))
        chance *= 1 - self.rarity
        return chance * (1 - self.from_name / self.text) if self.text else 1.0


def _same_order(found: Iterable[Evidence]) -> float:
    """Return how far keyword and vector scores agree, 0 to 1, on the order of results that are surely related."""
    scores = [(evidence.text, evidence.vector) for evidence in found if evidence.vector is not None]
    if len(scores) < _MIN_COMPARED:
        return 0.0
    near = within_limits((max(vector for _, vector in scores) - _NEAR_FROM) / (_NEAREST - _NEAR_FROM))
    return near * within_limits((_correlation(scores) - _OTHER_ORDER) / (_SAME_ORDER - _OTHER_ORDER))


def _correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Return Pearson's correlation of pairs of numbers; 0 if one of the two is constant."""
    first, second = (sum(numbers) / len(pairs) for numbers in zip(*pairs, strict=True))
    apart = [(one - first, other - second) for one, other in pairs]
    spread = math.sqrt(sum(one * one for one, _ in apart) * sum(other * other for _, other in apart))
    return sum(one * other for one, other in apart) / spread if spread else 0.0


class Blend(msgspec.Struct, frozen=True):
    """Weights of the sum `text_weight` × keyword score + `vector_weight` × vector score."""

    vector_weight: float
    text_weight: float = 1.0
    agreement: float = 0.0
    """Share of the keyword score that the vector score can lower, in chunks without every term; 0 if the user set the
    weights, or if the query is a passage.
    """
    alone: float = 1.0
    """Factor of all keyword scores, with and without a vector: `keywords_only_factor` if only these count."""
    doubt: float = 0.0
    """How badly the keywords match, 0 to 1, if this determined the weights."""
    foreign_share: float | None = None
    """Factor of the scores of chunks in another language, which are computed as if no keywords matched; None if their
    language makes no difference.
    """

    @classmethod
    def of(cls, model: Calibration, found: Iterable[Evidence], terms: int, alone: float = 1.0) -> "Blend":
        """Return the weights for a query: the model's own, or a higher weight of vectors if the keywords match badly.

        In a language that the model doesn't know, only keywords count. `found`: the best candidates by keywords.
        `terms`: number of words in the query. A passage with half of ten words is an answer; one with half of two words
        rarely is. `alone`: the `keywords_only_factor` of the query.
        """
        if not model.known:
            return cls(0.0, alone=alone)
        found = list(found)
        trusting = cls(model.weight, agreement=_AGREEMENT)
        best = max((1.0 if evidence.complete else trusting.text_part(evidence) for evidence in found), default=0.0)
        trust = best * max(1.0, terms / LONG_QUERY)
        doubt = within_limits((_TRUSTED - trust) / (_TRUSTED - _DOUBTED))
        least = max(model.weight, _WEIGHT_OF_SAME_ORDER * _same_order(found))
        weight = least + max(0.0, _WEIGHT_WITHOUT_WORDS - least) * doubt
        return cls(weight, agreement=_AGREEMENT, doubt=doubt)

    @classmethod
    def mean(cls, vector_weight: float) -> "Blend":
        """Return the weights for a weighted mean of both scores."""
        return cls(vector_weight, 1 - vector_weight)

    @classmethod
    def between_passages(cls) -> "Blend":
        """Return the weights for finding similar passages, the same for every model."""
        return cls.mean(_WEIGHT_BETWEEN_PASSAGES)

    def with_foreign(self, best: Evidence, reached: float) -> "Blend":
        """Return the weights for a query if some of its nearest chunks are in other languages.

        Keywords can't find foreign chunks. So vectors alone decide between them and `best`, the best chunk in the
        query's language: a foreign chunk ranks above it if it is nearer by more than the advantage of `best`. All their
        scores are reduced by the same share, so that they also rank above chunks that only have a word or two by
        chance. `reached`: share of the nearest chunks that keywords can find.
        """
        needed = _WEIGHT_WITHOUT_WORDS * (best.vector or 0.0) + _OWN_LANGUAGE * (self.text_part(best) + reached)
        score = max(0.0, self.score(best))
        return msgspec.structs.replace(self, foreign_share=score / needed if needed > score else 1.0)

    def agreeing(self, evidence: Evidence) -> float:
        """Return the share of a chunk's keyword score that counts, given its vector score."""
        if evidence.vector is None or evidence.complete or not evidence.text:
            return 1.0
        return 1 - self.agreement * (1 - within_limits(evidence.vector)) * evidence.doubtful

    def text_part(self, evidence: Evidence) -> float:
        """Return the keywords' part of the chunk's score.

        A chunk that has no vector yet is scored by keywords alone, as if its vector matched as well: a lower score
        would hide new notes until they are embedded, a higher one would prefer them.
        """
        return (
            self.alone
            * evidence.text
            * (1.0 if evidence.vector is None else self.text_weight * self.agreeing(evidence))
        )

    def weight(self, evidence: Evidence) -> float:
        """Return the weight of the chunk's vector score. A negative score only lowers doubtful keyword matches."""
        if evidence.vector is None:
            return 0.0
        if evidence.vector <= 0:
            return self.vector_weight * evidence.doubtful
        if not evidence.foreign or self.foreign_share is None:
            return self.vector_weight
        alone = _WEIGHT_WITHOUT_WORDS * self.foreign_share
        return max(self.vector_weight, alone - self.text_part(evidence) / evidence.vector)

    def scores(self, evidence: Evidence) -> tuple[float, float]:
        """Return the chunk's score, not limited to 0 to 1, and the score of its keywords alone.

        Where the weights depend on the query, a cosine below the model's range counts against a few words in common.
        """
        if evidence.vector is None:  # `agreeing` is 1
            agreed = self.alone * evidence.text
            return agreed, within_limits(agreed) if self.text_weight else 0.0
        agreed = self.alone * self.agreeing(evidence) * evidence.text if evidence.text else 0.0
        plain = evidence.vector >= 0 and not evidence.foreign  # most chunks
        from_vector = (self.vector_weight if plain else self.weight(evidence)) * evidence.vector
        against = min(0.0, from_vector) if self.agreement else 0.0
        keywords = within_limits(agreed + against) if self.text_weight else 0.0
        return self.text_weight * agreed + from_vector, keywords

    def score(self, evidence: Evidence) -> float:
        """Return the chunk's score without limits of 0 and 1."""
        return self.scores(evidence)[0]

    def text_share(self, evidence: Evidence) -> float:
        """Return the keywords' share of the chunk's score, 0 to 1."""
        text = self.text_part(evidence)
        vector = self.weight(evidence) * max(0.0, evidence.vector or 0.0)
        return text / (text + vector) if text + vector > 0 else 1.0
