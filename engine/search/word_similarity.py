"""Reorders the best results by similarity: of their words to the query's words, or to each other.

If few words match, each word of the query is compared with the words of the passages. One vector represents a
whole passage, so the word that distinguishes similar passages counts little, and keywords don't make up for it. Here
each word of the query takes the cosine of the passage's most similar word, as in models of late interaction such as
ColBERT ("MaxSim"). Passages in another language are compared as a whole, by vectors of their words. Those in the
query's language are compared line by line, by the model's table of word pieces: a sentence with several similar words
is an answer, but a passage has some for nearly every query.

If the words of a long query match well, several passages answer it. They are similar to each other, so the first
results are compared with the best ones, as in pseudo-relevance feedback: by vectors, and by the rare words they share.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain, compress, count, islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from engine.base.errors import ProviderError
from engine.embedding.provider_interface import WordVectors
from engine.search.document_frequencies import Counts
from engine.search.keyword_scores import KeywordScores, Scored
from engine.search.pipeline_stages import Moved
from engine.search.score_cut_off import COMPARED, languages_of
from engine.search.scoring import LONG_QUERY, Blend
from engine.search.search_context import SearchContext, WordCounts
from engine.search.vector_leg import VectorLeg
from engine.store.snapshot import Snapshot, StoredChunk
from engine.text import QueryAnalysis
from engine.text.folding import fold
from engine.text.languages import language_of_note
from engine.text.stems import UNDECIDED, counted_as, rules_of
from engine.text.stopwords import stop_words
from engine.text.writing_systems import UNSPACED, shape

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider

_MAX_WORDS = 400
"""Maximum number of different words of the query and these results together: the built-in model takes a quarter of a
millisecond for a new one.
"""
_WEIGHT = 0.5
"""Weight of the words' average cosine, relative to the weight of the passage's cosine."""
_FREQUENT, _RARE = 4.0, 16.0
"""Rarities below which a word of the query counts little, and above which all words count the same."""
_BEST = 3
"""Number of best results that the others are compared with."""
_WEIGHT_OF_BEST = 0.4
"""Weight of the similarity to the best results, relative to the score."""
_WEIGHT_OF_SHARED = 2.0
"""Weight of the words shared with the best results, relative to the similarity by vectors."""
_BEGINNING = 700
"""Number of characters at the beginning of a passage whose words are compared with those of the best results."""
_MAX_SHARED = 40
"""Maximum number of words that are compared: the index takes some 20 microseconds to count the chunks with a word."""
_MIN_WEIGHT = 0.01
"""Weight of a frequent word, so that a query of frequent words alone can also be compared."""
_FREQUENT_PIECE, _COMMON_PIECE = 9.0, 7.0
"""Rarities up to which word pieces don't count: for lines, and for whole passages."""
_SHORT, _FOR_SHORT = 350, 0.2
"""Characters of a short passage, and what is added to its coverage if it has about a third of them, at most its own
value: a note of one line answers with few words, but not with none.
"""
_SIMILAR = 0.2
"""Cosine from which word pieces are similar; unrelated ones have up to this."""
_WORD = re.compile(r"[^\W\d_]{2,40}")
_WITH_SPACES = bytes(code if code > 127 or chr(code).isalnum() else 32 for code in range(256))
"""For `bytes.translate`: a space in place of each ASCII character between words. A regex takes three times as long."""
_UNSPACED = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
_RUN = re.compile("[\u30a1-\u30fa\u30fc]{2,}|[\u4e00-\u9fff]+|[\uac00-\ud7a3]{2,}")
"""Runs of katakana, Chinese characters or Hangul, which count as words; hiragana are mostly endings."""


def best_in_other_languages(
    results: Sequence[Scored], words: KeywordScores, analysis: QueryAnalysis, snapshot: Snapshot, context: SearchContext
) -> set[int]:
    """Return the ids of the best results in another language than the query, except results named like the query."""
    best = list(islice((scored.id for scored in results if not scored.named), COMPARED))
    return in_other_languages(best, words, analysis, snapshot, context)


def in_other_languages(
    ids: Collection[int], words: KeywordScores, analysis: QueryAnalysis, snapshot: Snapshot, context: SearchContext
) -> set[int]:
    """Return the ids of the chunks that are in another language than the query.

    A query of a few words without a function word may be in any language: chunks in a language are foreign if all
    candidates in it contain less than half of these words, or not all of them if the query has a function word of
    another language of the notes. This also applies to unknown languages, such as Chinese, if some notes are in an
    unknown language.
    """
    language = language_of_note(context.query.searched_text)
    if not language.startswith(UNDECIDED) and (language or "" not in snapshot.languages()):
        return {id_ for id_, other in languages_of(snapshot, ids).items() if other != analysis.languages[0]}
    languages = languages_of(snapshot, ids)
    likelier = rules_of(language)[1:]
    needed = len(words.terms) / (2 if set(likelier).isdisjoint(snapshot.languages()) else 1)
    found_terms: dict[str, set[int]] = {other: set() for other in languages.values() if other not in likelier}

    def foreign(of_chunks: Mapping[int, str]) -> set[str]:
        for id_, other in of_chunks.items():
            if other in found_terms:
                found_terms[other].update(compress(count(), words.contributions.get(id_, ())))
        return {other for other, terms in found_terms.items() if len(terms) < needed}

    if foreign(languages):  # looking up the languages of all candidates takes far longer
        foreign(languages_of(snapshot, words.contributions))
    others = foreign({})
    return {id_ for id_ in ids if languages.get(id_) in others}


def order_by_best(
    results: list[Scored], leg: VectorLeg, analysis: QueryAnalysis, counts: WordCounts, context: SearchContext
) -> list[Scored]:
    """Return the results of a long query whose words match well, ordered also by their similarity to the best ones.

    The best result stays first, since it may be the only answer. The following ones exchange their positions; scores
    stay the same.
    """
    first = [scored.id for scored in results if not scored.named][:COMPARED]
    if len(first) <= _BEST or analysis.word_count < LONG_QUERY or context.request.diverse:
        return results
    similarities = leg.similarities(first, _BEST)
    if len(similarities) < 2 + (first[0] in similarities):
        return results
    if isinstance(counts, Counts) and not leg.snapshot.hidden:  # others take a request or milliseconds for each word
        chunks = leg.snapshot.chunks(list(similarities))
        shared = _shared_words([chunks[id_] for id_ in similarities], counts)
        for id_, words in zip(similarities, shared, strict=True):
            similarities[id_] += _WEIGHT_OF_SHARED * words
    similarities.pop(first[0], None)
    compared = {
        position: replace(scored, best_similarity=similarities[scored.id])
        for position, scored in enumerate(results)
        if scored.id in similarities
    }
    return _moved(results, compared, lambda scored: _WEIGHT_OF_BEST * (scored.best_similarity or 0.0), "best", context)


def _shared_words(passages: Sequence[StoredChunk], counts: Counts) -> list[float]:
    """Return how many words each passage shares with the best ones, relative to the lengths of both.

    Rare words count more. Only the words of most passages are looked up, since other words are about other subjects.
    """
    import numpy as np

    words = [_words_and_numbers(passage.text[:_BEGINNING]) for passage in passages]
    languages = {counted_as(passage.language) for passage in passages}
    of_best = frozenset[str]().union(*words[:_BEST]).difference(*map(stop_words, languages))
    common = [of_best.intersection(own) for own in words]
    numbers = Counter(chain.from_iterable(common))
    repeated = (word for word, number in numbers.items() if number > 1)
    shared = sorted(repeated, key=lambda word: (-numbers[word], word))[:_MAX_SHARED]
    counts.expect(shared)
    weights = np.log([counts.total / (counts.chunks(word, "words") or counts.total) for word in shared]) ** 2
    weights *= len(shared) / max(1e-9, weights.sum())
    found = np.array([[word in own for word in shared] for own in common], dtype=float)
    lengths = np.sqrt([max(1, len(own)) for own in words])
    similarities = (found * weights) @ found[:_BEST].T / np.outer(lengths, lengths[:_BEST])
    np.fill_diagonal(similarities, 0)
    others = similarities.shape[1] - (np.arange(len(words)) < _BEST)
    averages: list[float] = (similarities.sum(axis=1) / others).tolist()
    return averages


@lru_cache(maxsize=8 * COMPARED)
def _words_and_numbers(text: str) -> frozenset[str]:
    """Return the folded words of a text; cached, since each key of a typed query finds mostly the same passages."""
    return frozenset(fold(text).encode().translate(_WITH_SPACES).decode().split())


def order_by_words(
    results: list[Scored],
    foreign: Set[int],
    leg: VectorLeg,
    blend: Blend,
    model: "EmbeddingProvider | None",
    context: SearchContext,
) -> list[Scored]:
    """Return the results, with results in another language (`foreign`) also ordered by the similarity of words.

    If there are none, the first results are ordered by the similarity of their best two adjacent lines. They exchange
    their positions with each other, and scores stay the same. Unchanged if the model fails, or has no vectors of words.
    """
    if not isinstance(model, WordVectors):
        return results
    best = [scored.id for scored in results if (scored.id in foreign if foreign else not scored.named)][:COMPARED]
    chunks = leg.snapshot.chunks(best)
    positions = [position for position, scored in enumerate(results) if scored.id in chunks]
    if not positions:
        return results
    passages = [chunks[results[position].id] for position in positions]
    coverage: Sequence[float | None] = [None] * len(positions)
    try:
        if foreign:
            similarities = _word_similarities(passages, model, context)
        else:
            similarities, coverage = _line_similarities(passages, model, context)
    except ProviderError:
        return results
    if not similarities:
        return results
    scale = _WEIGHT * blend.vector_weight / (leg.calibration.high - leg.calibration.low)
    compared = {
        position: replace(results[position], word_similarity=similarity, by_lines=not foreign, coverage=share)
        for position, similarity, share in zip(positions, similarities, coverage, strict=False)
    }
    stage = "language" if foreign else "lines"
    return _moved(results, compared, lambda scored: scale * (scored.word_similarity or 0.0), stage, context)


def _moved(
    results: list[Scored],
    compared: Mapping[int, Scored],
    bonus: Callable[[Scored], float],
    stage: str,
    context: SearchContext,
) -> list[Scored]:
    """Return the results, those in `compared` reordered by score and `bonus` among their positions; adds the stage."""

    def order(scored: Scored) -> float:
        age = 1.0 if scored.age is None else scored.age.factor
        return -scored.order - bonus(scored) * age

    ordered = list(results)
    for position, scored in zip(compared, sorted(compared.values(), key=order), strict=True):
        ordered[position] = scored
    if len(compared) > 1 and not context.request.diverse:  # variety orders the results itself
        moved = sum(scored.id != other.id for scored, other in zip(ordered, results, strict=True))
        context.stages.add(stage, len(results), len(results), Moved(moved, len(compared)))
    return ordered


def _line_similarities(
    passages: Sequence[StoredChunk], model: WordVectors, context: SearchContext
) -> tuple[list[float], list[float]]:
    """Return the similarity of each passage's best two adjacent lines to the query, 0 to 1: the average cosine of the
    most similar word pieces, weighted by the rarity of the query's.

    The second list has the coverage of the query by each whole passage: common words of the query count more, and short
    passages get more. Both are empty for a query in a script without spaces, whose texts take too long to split.
    """
    import numpy as np

    if UNSPACED in shape(context.query.searched_text):
        return [], []
    lines, starts = list[str](), list[int]()
    for passage in passages:
        starts.append(len(lines))
        lines += filter(str.strip, passage.text.split("\n"))
        if len(lines) == starts[-1]:
            lines.append("")
    cosines, rarities = model.nearest_pieces(context.query.searched_text, lines, _COMMON_PIECE, cancel=context.cancel)
    if not len(rarities):
        return [], []
    cosines = np.where(cosines >= _SIMILAR, cosines, 0)
    common = np.minimum(_RARE, rarities) - _COMMON_PIECE
    shares = common @ np.maximum.reduceat(cosines, starts, axis=1) / common.sum()
    lengths = np.array([max(1, len(passage.text)) for passage in passages])
    more = np.minimum(shares, _FOR_SHORT * np.log(np.maximum(1, _SHORT / lengths)))
    coverage: list[float] = (shares + more).tolist()
    rarer = rarities > _FREQUENT_PIECE
    if not rarer.any():
        return [0.0] * len(starts), coverage
    weights, cosines = np.minimum(_RARE, rarities[rarer]) - _FREQUENT_PIECE, cosines[rarer]
    pairs = cosines.copy()
    np.maximum(cosines[:, :-1], cosines[:, 1:], out=pairs[:, :-1])
    last = np.array(starts[1:], np.intp) - 1
    pairs[:, last] = cosines[:, last]  # the next line is another passage's
    similarities: list[float] = np.maximum.reduceat(weights @ pairs / weights.sum(), starts).tolist()
    return similarities, coverage


def _word_similarities(passages: Sequence[StoredChunk], model: WordVectors, context: SearchContext) -> list[float]:
    """Return the similarity of each passage to the query, 0 to 1: the average cosine of the most similar words,
    weighted by the rarity of the query's. Fewer if the query or the passages have too many words.
    """
    import numpy as np

    words = _different(context.query.searched_text)
    texts = _texts(passages, words)
    if not words or not texts:
        return []
    columns = {word: column for column, word in enumerate(dict.fromkeys(chain.from_iterable(texts)))}
    vectors = model.word_vectors([*words, *columns], cancel=context.cancel)
    cosines = np.maximum(0, vectors[: len(words)] @ vectors[len(words) :].T)
    weights = np.array([max(_MIN_WEIGHT, min(_RARE, model.rarity(word)) - _FREQUENT) for word in words])
    weights /= weights.sum()
    similarities = []
    for text in texts:
        nearest = cosines[:, [columns[word] for word in text]].max(axis=1, initial=0)
        similarities.append(float(nearest @ weights))
    return similarities


def _texts(passages: Sequence[StoredChunk], query_words: Sequence[str]) -> list[list[str]]:
    """Return the different words of each passage and its headings, but for function words; of fewer passages if these
    and the query have too many words.
    """
    texts, different = [], set(query_words)
    for passage in passages:
        function_words = stop_words(counted_as(passage.language))
        words = _different("\n".join((*passage.heading, passage.text)))
        words = [word for word in words if fold(word) not in function_words]
        different.update(words)
        if len(different) > _MAX_WORDS:
            break
        texts.append(words)
    return texts


def _different(text: str) -> list[str]:
    """Return the different words of a text in lower case."""
    found = _WORD.findall(text.lower())
    return list(
        dict.fromkeys(chain.from_iterable(_RUN.findall(word) if _UNSPACED.search(word) else (word,) for word in found))
    )
