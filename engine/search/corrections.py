"""Decides whether a corrected or shorter query is searched instead of one with words that nothing contains."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import compress

from engine.base import lazy_pattern
from engine.base.formatting import any_of, in_quotes
from engine.base.language import tr
from engine.records import QuerySuggestion
from engine.search import scoring
from engine.search.keyword_leg import KeywordLeg
from engine.search.keyword_scores import KeywordScores
from engine.search.query_embedding import WordModel
from engine.search.result_set import FoundSet
from engine.search.suggestions import SHORTEST_CORRECTED, SHORTEST_EVIDENT, completes_name, with_replaced
from engine.text import Query, QueryAnalysis, parse_query, spelling
from engine.text.folding import fold
from engine.text.parsed_query import Clause, Phrase
from engine.text.query_analysis import is_written_as_name
from engine.text.time_expressions import read_times

_SHORTEST_TWO_TYPOS = 8
"""Characters of the shortest word that may have two typos."""
_MIN_IDF = 1.0
"""Least idf of a word that supports a correction: a word in a third of all chunks has it."""
_MIN_SUPPORTING, _BEST = 2, 3
"""Minimum number of other words of the query in the chunk with the corrected one; number of best chunks to check."""
_SHORTEST_CLEAR = 6
"""Shortest word, in characters, for whose correction one other word is enough if no letter was replaced."""
_MIN_AROUND = 5
"""Minimum number of words of a query in which a typo is evident."""
_YEAR = lazy_pattern(r"\A(\d{4}) ?[年년] ?|(?:,? (?:(?:de|del|di|of) )?|(?<=\.))(\d{4})\Z")
"""Matches the year of a day such as 2026年12月24日 or 24 December 2026, with the word or sign that joins it."""
_LONGEST_SHORTENED = 4
"""Maximum number of words of a query that is searched without one of them."""
_RARE_CHUNKS, _SMALL_INDEX_SHARE, _RARE_SHARE = 5, 20, 800
"""A word is rare enough to be searched without another word of the query if at most one of 800 chunks has it or, in a
small index, at most five chunks and one of 20. One of 20 alone would answer more off-topic queries.
"""


def best_correction(
    query: str,
    offered: Sequence[QuerySuggestion],
    find: Callable[[str], FoundSet],
    model: WordModel,
) -> QuerySuggestion | None:
    """Return the likeliest correction of words that occur nowhere; None if no chunk supports it.

    A chunk must have all words of the corrected query. A correction of one word is then likely, unless it is the only
    word and a doubtful typo. So is the only similar word if a chunk has several of the other words. Otherwise it is a
    guess: only evident typos are corrected, and no words that the model knows.

    `offered`: the suggestions for the query, best first. `find` returns what a query finds by keywords.
    """
    words, best = KeywordScores(()), list[int]()
    if (correction := _likely(query, offered[0], model)) is not None:
        found = find(correction.query)
        words, best = found.score_inputs.words, [scored.id for scored in found.results]
        alone = len(correction.words) == len(words.terms)
        if best and words.complete and not (alone and _doubtful(correction, model)):
            return correction
    if not (offered := _without_words(query, offered, model.knows)):
        return None
    correction = _likely(query, offered[0], model)
    if correction is not None and len(offered) == 1 and _supported(correction, words, best):
        return correction
    return _evident(query, offered, model)


def shorter_queries(
    query: Query, unmet: Sequence[Clause], analysis: QueryAnalysis, leg: KeywordLeg
) -> Iterator[QuerySuggestion]:
    """Yield versions of a short query, each without one of its words, best first; none for a question.

    A query with quotations that nothing contains is yielded with their words instead, and one with other operators not
    at all. `unmet`: the conditions that no chunk satisfies.

    A word that occurs nowhere is left out, unless it is written as a name: a passage about another name is no answer.
    If all words occur, the most common ones are left out first. A rare word must remain, since passages with only
    common words match by chance.
    """
    if (unmarked := _without_marks(query, unmet)) is not None:
        yield unmarked
    words = [(match.group(), match.span()) for match in re.finditer(r"\S+", query.text)]
    asks = any(term.stop or term.filler for term in analysis.terms)
    if asks or not query.plain or not 1 < len(words) <= _LONGEST_SHORTENED:
        return
    located = list(zip(leg.terms, leg.ranges, strict=True))
    rare = max(1, min(leg.chunks // _SMALL_INDEX_SHARE, max(_RARE_CHUNKS, leg.chunks // _RARE_SHARE)))
    # A word that is rare as typed counts as rare, even if its other forms are common.
    counts = [
        min((term.typed or term.chunks for term, (start, end) in located if first <= start and end <= last), default=-1)
        for _, (first, last) in words
    ]
    if counts.count(0) > 1 or -1 in counts or read_times(query.text):
        return
    for at in sorted(range(len(words)), key=lambda at: (counts[at] > 0, -counts[at])):
        (word, (start, _)), chunks = words[at], min(counts[:at] + counts[at + 1 :])
        if not counts[at] and is_written_as_name(word, start, query.text, analysis.languages[0]):
            return
        idfs = [math.log(leg.chunks / count) for count in counts if count]
        together = not counts[at] and scoring.are_rare_together(idfs, leg.chunks)
        if 0 < chunks <= rare or together:
            shorter = " ".join(other for other, _ in words[:at] + words[at + 1 :])
            yield QuerySuggestion(query=shorter, words=((word, ""),), chunks=chunks)


def without_year(query: Query, leg: KeywordLeg) -> QuerySuggestion | None:
    """Return the query without the year of a date that occurs nowhere, since notes often omit the year.

    None if the query has no such date.
    """
    for time in read_times(query.text) if query.plain else ():
        first = query.text.find(time.text)
        last, year = first + len(time.text), _YEAR.search(time.text)
        located = zip(leg.terms, leg.ranges, strict=True)
        unknown = any(not term.searched for term, (start, end) in located if first <= start and end <= last)
        if year is not None and unknown and time.first == time.last:
            shorter = query.text[:first] + time.text.replace(year[0], "") + query.text[last:]
            return QuerySuggestion(query=shorter, words=((year[1] or year[2], ""),), chunks=1)
    return None


def has_all_words(found: FoundSet) -> bool:
    """Return whether a query has results and a chunk has all its words."""
    return bool(found.results and found.score_inputs.words.complete)


def is_answered(shorter: QuerySuggestion, found: FoundSet) -> bool:
    """Return whether a shorter query has results: without one of its words, in a chunk with all others."""
    return has_all_words(found) or bool(found.results and shorter.words[0][1])


def notice_on_shorter(correction: QuerySuggestion) -> str:
    """Return a notice on the word that a shorter query leaves out or the quotations that it has as words; or ""."""
    if not correction.is_shorter:
        return ""
    if quotations := [in_quotes(words) for _, words in correction.words if words]:
        return tr("Nothing contains {words}.", words=any_of(quotations))
    word = in_quotes(correction.words[0][0])
    return tr("Nothing contains {word} together with the other words.", word=word)


def names_note(query: str, suggestion: QuerySuggestion) -> bool:
    """Return whether a suggestion completes the whole query to the name of a note."""
    return suggestion.words[0][0] == query.strip() and completes_name(*suggestion.words[0])


def _without_marks(query: Query, unmet: Sequence[Clause]) -> QuerySuggestion | None:
    """Return the query with quotations that nothing contains as words; None without any next to other words."""
    clauses = [clause for clause in unmet if clause.is_quotation]
    phrases = [phrase for clause in clauses for phrase in clause.alternatives if isinstance(phrase, Phrase)]
    words = any(not clause.required or (clause.is_quotation and clause not in unmet) for clause in query.clauses)
    operators = not all(parse_query(phrase.text).plain for phrase in phrases)
    if not words or not phrases or len(phrases) < len(unmet) or operators:
        return None
    text = query.text
    for phrase in reversed(phrases):
        text = f"{text[: phrase.start - 1]} {phrase.text} {text[phrase.end + 1 :]}"
    replaced = tuple((f'"{phrase.text}"', phrase.text) for phrase in phrases)
    return QuerySuggestion(query=" ".join(text.split()), words=replaced, chunks=0)


def _without_words(
    query: str, suggestions: Sequence[QuerySuggestion], is_word: Callable[[str], bool]
) -> tuple[QuerySuggestion, ...]:
    """Return the suggestions without replacements of real words, dropping suggestions that then replace nothing.

    `is_word` says whether a word is real.
    """
    choices = [
        [(word, suggested, suggestion.chunks) for word, suggested in suggestion.words if not is_word(word)]
        for suggestion in suggestions
    ]
    return tuple(with_replaced(query, choice) for choice in choices if choice)


def _likely(query: str, best: QuerySuggestion, model: WordModel) -> QuerySuggestion | None:
    """Return a suggestion limited to the words that are probably typos; None if none is."""
    choice = [(word, suggested, best.chunks) for word, suggested in best.words if _is_likely(word, suggested, model)]
    if len(choice) == len(best.words):
        return best
    return with_replaced(query, choice) if choice else None


def _is_likely(word: str, suggested: str, model: WordModel) -> bool:
    """Whether `word` is probably a typo of `suggested`: not if short or with two typos, as other words often are, nor
    an identifier with another letter, such as `get_user` for `set_user`.
    """
    folded, other = fold(word), fold(suggested)
    if not (folded.isascii() and other.isascii()) or completes_name(word, suggested):
        return True
    short = len(folded) < SHORTEST_CORRECTED and not model.is_rare(word)
    if short or (spelling.non_letters(folded) and not spelling.same_letters(folded, other)):
        most = 0
    else:
        most = 1 if len(folded) < _SHORTEST_TWO_TYPOS else 2
    return spelling.typos(folded, other, most) is not None


def _doubtful(correction: QuerySuggestion, model: WordModel) -> bool:
    """Whether a query's only word may be correct: the model knows it, it is short, or it differs from the correction by
    more than one typo: "innovation" is not "invocation".
    """
    return any(
        model.knows(word)
        or not (
            " " in suggested
            or completes_name(word, suggested)
            or (word.isascii() and not fold(suggested).isascii())  # in another script
            or (
                (len(word) >= SHORTEST_CORRECTED or not word.isascii())
                and spelling.typos(fold(word), fold(suggested), 1) is not None
            )
        )
        for word, suggested in correction.words
    )


def _supported(correction: QuerySuggestion, words: KeywordScores, best: Sequence[int]) -> bool:
    """Whether one of the best chunks for a corrected query contains its corrected words and other distinctive words.

    A word that isn't a typo rarely has a similar one in the passage that the rest of the query matches.
    """
    choices = [(fold(word), fold(suggested)) for word, suggested in correction.words]
    near = all(spelling.typos(word, suggested, 1) for word, suggested in choices)
    clear = all(len(word) >= _SHORTEST_CLEAR and spelling.same_letters(word, suggested) for word, suggested in choices)
    corrected = [any(suggested in term.surface for _, suggested in correction.words) for term in words.terms]
    if not near or not any(corrected):
        return False
    distinctive = [
        not is_corrected and term.idf > _MIN_IDF for is_corrected, term in zip(corrected, words.terms, strict=True)
    ]
    for id_ in best[:_BEST]:
        contributions = words.contributions.get(id_, ())
        if all(compress(contributions, corrected)) and sum(map(bool, compress(contributions, distinctive))) >= (
            1 if clear else _MIN_SUPPORTING
        ):
            return True
    return False


def _evident(query: str, suggestions: Sequence[QuerySuggestion], model: WordModel) -> QuerySuggestion | None:
    """Return a query with its evident typos corrected; None without any.

    The letters show a typo only in a long query, and if no other word is as similar; the model shows it anywhere.
    """
    best = suggestions[0]
    certain = len(suggestions) == 1 and len(query.split()) >= _MIN_AROUND
    choice = [
        (word, suggested, best.chunks)
        for word, suggested in best.words
        if (certain and _is_evident(word, suggested))
        or (spelling.typos(fold(word), fold(suggested), 1) is not None and model.is_typo(word, suggested))
    ]
    return with_replaced(query, choice) if choice else None


def _is_evident(word: str, suggested: str) -> bool:
    """Whether a long word has one letter too many or too few, or two swapped, compared with `suggested`.

    False for names and for a wrong letter or another first letter, since these are too often different
    words, as "prepositions" and "propositions".
    """
    folded, other = fold(word), fold(suggested)
    return (
        word.islower()
        and len(folded) >= SHORTEST_EVIDENT
        and folded[:1] == other[:1]
        and spelling.same_letters(folded, other)
        and spelling.typos(folded, other, 1) is not None
    )
