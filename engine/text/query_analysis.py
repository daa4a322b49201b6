"""Analyses a query into terms, each with the tokens by which the index finds it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import msgspec

from engine.base import lazy_pattern
from engine.text.folding import fold
from engine.text.languages import detect_language
from engine.text.loose_forms import COMPOUND, DECIMAL, loosened, only_searched_part
from engine.text.parsed_query import CLOSING, Clause, Phrase, Query, QueryTerm, Word
from engine.text.query_parser import LONGEST
from engine.text.stems import forms_of, is_korean_ending, stems_of
from engine.text.stopwords import (
    A_NOTE,
    KINDS_OF_TEXT,
    is_filler,
    is_recall,
    question_languages,
    stop_words,
    unsearched_words,
)
from engine.text.tokens import RUN, Group, Piece, clusters, groups, pairs, pieces
from engine.text.tokens_and_stems import PhraseTokens, phrase_forms, phrase_tokens
from engine.text.writing_systems import HANGUL, SYMBOL, UNSPACED

_MAX_TERMS = 64
_LONG_TEXT = 24
"""Maximum number of words of a query that is not a long text, such as a pasted passage."""
_CLOSING = tuple(set().union(*CLOSING.values()))
SHORTEST_PREFIX = 3
"""Least number of characters of the last word for finding words that begin with it."""
_HEADED = lazy_pattern(r"([^\W_]+(?:-[^\W_]+)*)-([^\W\d_]{4,})")
"""Matches an abbreviation or a number and the word that it belongs to, as in "DNS-SD-Konfiguration"; texts also write
"Konfiguration von DNS-SD".
"""
_JOINED = lazy_pattern(r"[^\W\d_]\w+(?:(?:\.|::)[^\W\d_]\w+)+|[^\W\d_]{3,}(?:-[^\W_]+)*(?:/[^\W\d_]{3,}(?:-[^\W_]+)*)+")
"""Matches names joined by dots or colons, such as `Condition.wait`, and words joined by slashes, such as
`headers/footers`. In a query with other words each one is searched: documentation of `wait` often doesn't repeat the
name of its class, and other texts write "headers and footers".
"""
_SHORT_QUERY = 4
_PHRASE = range(3, 8)
"""Numbers of words of a query that is also searched as a phrase: the words of a longer query are rare enough."""
_WHOLE_NUMBER = lazy_pattern(
    r"(?<![\w.,])\d{1,9},\d{1,2}(?!\w|[.,]\d)|((?:(?<!\d)\d{4} ?[年년] ?)?(?<!\d)\d{1,2} ?[月월] ?\d{1,2}) ?[日号號일]"
)
"""Matches a number with a decimal comma, or a day such as 11月1日."""
_HALF_TYPED_SYLLABLE = lazy_pattern("(?<=[\uac00-\ud7a3])[\u1100-\u1112\u3131-\u314e]\\Z")
"""Matches the first consonant of a Korean syllable that is being typed."""
_CAPITAL_NOUNS = frozenset({"german"})
"""Languages that write all nouns with a capital letter."""
_UP_TO_WORD, _SENTENCE_END = lazy_pattern(r".*\w", re.DOTALL), lazy_pattern(r"[\n.?!:;…–—•¿¡]|[)-]\s")
_MIN_FOREIGN_STEM = 0.7
"""Minimum share of a word that must remain after stemming by a language other than the query's."""


class QueryAnalysis(msgspec.Struct, frozen=True, cache_hash=True):  # it is a key of caches, for each passage
    terms: tuple[QueryTerm, ...]
    """Distinct terms in the order of the query; at most 64."""
    languages: tuple[str, ...]
    """Languages whose stems were used; the query's own first."""
    phrases: tuple[PhraseTokens, ...] = ()
    """Phrases of the query as tokens that must be adjacent."""
    whole_phrase: PhraseTokens | None = None
    """The whole query, if it has only function words, such as "to be or not", or some among others. Nearly all passages
    contain these words, so only their order distinguishes the passages."""
    unfinished: str = ""
    """The last word, if it is too short to be searched as the beginning of words; "" otherwise."""

    @property
    def word_count(self) -> int:
        """Approximate number of searched words.

        Scripts without spaces are searched by overlapping pairs of characters, about twice as many as words, so only
        pairs that don't overlap count.
        """
        count = end = 0
        for term in self.terms:
            if not term.stop and term.start >= end:
                count, end = count + 1, term.end
        return count

    @property
    def is_long_text(self) -> bool:
        """Whether the query has so many words that enough are found as they are, without looser forms."""
        return self.word_count > _LONG_TEXT


def analyse_query(query: str | Query, languages: Sequence[str] = ()) -> QueryAnalysis:
    """Return the terms of a query, stemmed in its own language and in `languages`, which the index has.

    Never raises on any text. A `str` is read as plain words; in a parsed query, exclusions and location operators are
    no terms.
    """
    query = Query(query) if isinstance(query, str) else query
    text = query.searched_text[:LONGEST]
    text = text if text.isascii() else _HALF_TYPED_SYLLABLE.sub("", text)
    # Exclusions also show the query's language.
    own = _language((query.words_text if text.strip() else query.text)[:LONGEST], languages)
    known = tuple(dict.fromkeys((own, *languages)))
    marked = _term_marker(query)
    found: dict[tuple[str | tuple[str, ...], tuple[str, ...]], QueryTerm] = {}
    written = list(map(marked, _with_whole_numbers(text, _all_terms(text, known))))
    alone = sum(not term.stop for term in written) < 2
    for term in chain.from_iterable(_joined_words(whole, text, known, alone=alone) for whole in written):
        earlier = found.get((term.word, term.stems), term)
        found[term.word, term.stems] = msgspec.structs.replace(
            earlier,
            is_prefix=term.is_prefix or earlier.is_prefix,
            phrased=term.phrased and earlier.phrased,
            group=term.group if term.group == earlier.group else 0,
        )
    terms = tuple(found.values())
    whole = phrase_tokens(text) if _is_phrase(terms, len(written), query) else None
    if all(term.stop for term in terms) or _one_doubtful_stop_word(terms, query, own):
        terms = tuple(msgspec.structs.replace(term, stop=False) for term in terms)
    if own not in languages:
        terms = tuple(_without_function_words(term, languages) for term in terms)
    terms = _with_fillers(terms, text, known[0])
    quoted = (atom.text for _, atom in query.searched_atoms() if isinstance(atom, Phrase))
    phrases = tuple(chain.from_iterable(map(phrase_forms, quoted)))
    terms = _most_informative(terms)
    if not QueryAnalysis(terms, known).is_long_text:
        terms = loosened(text, terms, known)
    return QueryAnalysis(terms, known, phrases, whole, _unfinished(terms, query))


def analyse_word(word: Word, languages: Sequence[str]) -> tuple[QueryTerm, ...]:
    """Return the terms of a single word; all must match."""
    text = f"{word.text} "  # the word is complete
    alone = Query(text, (Clause((msgspec.structs.replace(word, start=0, end=len(word.text)),)),))
    return tuple(map(_term_marker(alone), _all_terms(text, tuple(languages))))


def passage_terms(text: str, languages: Sequence[str]) -> tuple[Iterator[QueryTerm], tuple[str, ...]]:
    """Return the terms of a text that is not a query, with repetitions, and the languages of their stems.

    `languages` are the index's. Single characters are left out, since they don't show the subject.
    """
    known = tuple(dict.fromkeys((detect_language(text, languages), *languages)))
    ended = f"{text} "  # its last word is complete
    return (term for term in _all_terms(ended, known) if not term.is_prefix), known


def _all_terms(text: str, languages: tuple[str, ...]) -> Iterator[QueryTerm]:
    """Yield the terms of a text in order; Korean particles after a foreign word or a quotation are left out.

    Examples are `API를` and `"설정 파일"을`.
    """
    for run in RUN.finditer(text):
        word_end = 0 if text[: run.start()].endswith(_CLOSING) else -1
        for group in groups(run[0]):
            start, end = group.start, group.end
            if group.kind != HANGUL or start != word_end or not is_korean_ending("".join(clusters(run[0][start:end]))):
                yield from _terms(text, Group(group.kind, run.start() + start, run.start() + end), languages)
            word_end = -1 if group.kind else end


def _with_whole_numbers(text: str, terms: Iterator[QueryTerm]) -> Iterator[QueryTerm]:
    """Yield the terms of a text, with a number or day as one term: 5,75 is more than any 5 and 75."""
    numbers = {match.start(): match for match in _WHOLE_NUMBER.finditer(text)} if any(map(str.isdigit, text)) else {}
    end = 0
    for term in terms:
        number = numbers.get(term.start)
        if number is not None and term.start >= end and text[term.end : term.end + 1] in ",年년月월 ":
            end = number.end()
            word = phrase_tokens(number[1]).tokens if number[1] else tuple(number[0].split(","))
            yield QueryTerm(number[0], term.start, end, word, (" ".join(word),), stop=False, is_prefix=False)
        elif term.end > end:
            yield term


def _joined_words(term: QueryTerm, text: str, languages: tuple[str, ...], *, alone: bool) -> Iterator[QueryTerm]:
    """Yield one term for each name or word that `_JOINED` matches, or the unchanged term.

    Phrases, alternatives and prefixes, which the user wrote as such, are unchanged, and so are a path such as
    `/etc/hosts` and the whole query. `alone`: whether all other words are function words; then names joined by dots are
    also unchanged.
    """
    is_path = text[term.start - 1 : term.start] == "/"
    whole = alone and ("/" not in term.surface or term.surface == text.strip())
    unchanged = whole or term.phrased or term.group or not term.stems or is_path or term.surface.isalnum()
    if unchanged or not _JOINED.fullmatch(term.surface):
        yield term
        return
    for name in re.finditer(r"[\w-]+", term.surface):
        yield from _terms(text, Group("", term.start + name.start(), term.start + name.end()), languages)


def _term_marker(query: Query) -> Callable[[QueryTerm], QueryTerm]:
    """Return a function that marks a term as part of a phrase, an alternative or a prefix, by where it
    is in the query.
    """
    if query.plain:
        return lambda term: term
    searched_atoms = list(query.searched_atoms())
    starts = [atom.start for _, atom in searched_atoms]

    def mark(term: QueryTerm) -> QueryTerm:
        number, atom = searched_atoms[bisect_right(starts, term.start) - 1]
        if isinstance(atom, Phrase):
            return msgspec.structs.replace(term, phrased=True)
        if len(query.clauses[number].alternatives) > 1:
            term = msgspec.structs.replace(term, group=number + 1, stop=False)
        if isinstance(atom, Word) and atom.is_prefix and term.end == atom.end and isinstance(term.word, str):
            term = msgspec.structs.replace(term, stems=(), stop=False, is_prefix=True)
        return term

    return mark


def _unfinished(terms: Sequence[QueryTerm], query: Query) -> str:
    last = terms[-1] if terms else None
    if last is None or last.phrased or last.is_prefix or last.end < len(query.text):
        return ""
    return last.surface if len(last.surface) < SHORTEST_PREFIX and not next(groups(last.surface)).kind else ""


def _is_phrase(terms: Sequence[QueryTerm], words: int, query: Query) -> bool:
    """Whether a query of several words is also searched as a phrase: all are function words, or some of a short one.

    `words`: the number of words, repeated ones included.
    """
    function_words = sum(term.stop for term in terms)
    several = len(terms) > 1 and function_words > 0 and not any(term.group for term in terms)
    return several and (function_words == len(terms) or (query.plain and words in _PHRASE))


def _language(text: str, languages: Sequence[str]) -> str:
    """Return the language of a query. A question word and verb together decide, since few other words show it."""
    detected = detect_language(text, languages)
    by_question_words = question_languages([word for _, word in _runs(text)])
    return detected if not by_question_words or detected in by_question_words else by_question_words[0]


def _runs(text: str) -> list[tuple[int, str]]:
    """Return the words of a query, folded, each with its start; without the sign before a Spanish question."""
    return [(run.start(), fold(run[0].lstrip("¿¡"))) for run in RUN.finditer(text)]


def _without_function_words(term: QueryTerm, languages: Sequence[str]) -> QueryTerm:
    """Return the term without stems that are function words of the index's `languages`; the query has another one.

    German "ändern" has the stem "and", which most English notes contain.
    """
    stems = (
        stem
        for stem in term.stems
        if stem == term.word or not any(stem in stop_words(language) for language in languages)
    )
    return msgspec.structs.replace(term, stems=tuple(stems) or term.stems)


def _with_fillers(terms: tuple[QueryTerm, ...], text: str, language: str) -> tuple[QueryTerm, ...]:
    """Mark words that only introduce the query as fillers or, in a question for notes, as not searched, if other words
    are left, and acronyms such as WHO, which are not searched otherwise.
    """
    runs = _runs(text)
    words, starts = [word for _, word in runs], [start for start, _ in runs]
    marked: list[QueryTerm] = []
    begins = True  # no searched word comes before, except fillers
    for term in terms:
        searched = not (term.stop or term.phrased or term.group or (term.is_prefix and not term.stems))
        before, upto = words[: bisect_left(starts, term.start)], words[: bisect_right(starts, term.start)]
        more = len(words) - len(before)
        filler = searched and _introduces(term, before, upto, more, language, begins=begins)
        filler |= len(term.surface) == 1 and text[: term.start].endswith("-")  # an option of a command
        recall = searched and _asks_for_notes(term, before, text, language)
        begins = begins and (filler or term.stop or recall)
        is_acronym = term.stop and _is_acronym(term.surface, text)
        stop = recall or (term.stop and not is_acronym)
        marked.append(msgspec.structs.replace(term, stop=stop, filler=filler or is_acronym))
    return terms if all(term.filler or term.stop for term in marked) else tuple(marked)


def _introduces(
    term: QueryTerm, before: Sequence[str], upto: Sequence[str], more: int, language: str, *, begins: bool
) -> bool:
    """Whether a searched word only introduces the query, or names the kind of text that is looked for.

    `before`, `upto`: the query's folded words that begin before the term, and those that begin with it, too. `more`:
    number of words not in `before`. `begins`: whether all words before the term are fillers.
    """
    own = "korean" if next(groups(term.surface)).kind == HANGUL else language
    if is_filler(_folded(term), before, own, begins=begins):
        return True
    if not begins and more == 1 and len(before) < _SHORT_QUERY and _folded(term) in KINDS_OF_TEXT:
        return True
    return len(before) + more == 2 and bool(upto) and upto[-1] in A_NOTE and (len(upto) == 2 or upto[-1] != "note")


def _asks_for_notes(term: QueryTerm, before: Sequence[str], text: str, language: str) -> bool:
    """Whether a searched word is part of a question for the user's notes, or joins words as in other programs.

    `before`: the words before it. Languages other than English have no function word AND.
    """
    if is_recall(_folded(term), before, language):
        return True
    joins = term.surface == "AND" and bool(before) and term.end < len(text.rstrip())
    return joins and any(letter.isalpha() and not letter.isupper() for letter in text)


def _folded(term: QueryTerm) -> str:
    """Return a term as one folded word; Korean words are stored as pairs of characters."""
    return term.word if isinstance(term.word, str) else fold(term.surface)


def _is_acronym(word: str, query: str) -> bool:
    """Whether a word is written as an acronym: "WHO guidelines" asks for the organisation.

    Other programs join words with AND and NOT.
    """
    return len(word) > 1 and word.isupper() and word not in {"AND", "NOT"} and not query.isupper()


def is_written_as_name(word: str, start: int, query: str, language: str) -> bool:
    """Return whether the word at `start` of a query is written as a name: with a capital letter for no other reason.

    False if the language capitalises all nouns, or if the query capitalises most words.
    """
    if word.islower() or language in _CAPITAL_NOUNS or not any(map(str.isupper, word)):
        return False
    first_letters = [typed[0] for typed in query.split() if typed[0].isalpha()]
    if 2 * sum(map(str.isupper, first_letters)) > len(first_letters):
        return False
    if any(map(str.isupper, word[1:])):
        return True
    before = _UP_TO_WORD.match(query[:start])
    return before is not None and _SENTENCE_END.search(query, before.end(), start) is None


def _one_doubtful_stop_word(terms: tuple[QueryTerm, ...], query: Query, own: str) -> bool:
    """Return whether a short query got its language from a single function word: "lost hat" is not German.

    A filler of the same language confirms it: "wie funktioniert nix" is German.
    """
    stops = [term.surface for term in terms if term.stop]
    words = max(len(terms), len(query.text.split()))
    if own == "english" or words >= _SHORT_QUERY or len(stops) != 1 or not stops[0].isascii():
        return False
    return not any(term.filler for term in _with_fillers(terms, query.searched_text[:LONGEST], own))


def _terms(query: str, group: Group, languages: tuple[str, ...]) -> Iterator[QueryTerm]:
    text = query[group.start : group.end]
    if group.kind == UNSPACED:
        from engine.text.unspaced_segments import segments

        for start, end, stop in segments(text):
            yield from _unspaced_terms(query, group.start + start, group.start + end, stop=stop)
    elif group.kind == SYMBOL:
        yield QueryTerm(text, group.start, group.end, text, (), stop=False, is_prefix=False)
    elif group.kind == HANGUL:
        root = "".join(clusters(text))
        stems = tuple(dict.fromkeys(stems_of(language)[root] for language in languages))
        stop = not unsearched_words("korean").isdisjoint((root, *stems))
        yield from _unspaced_terms(query, group.start, group.end, stop=stop, stems=stems)
    elif word_pieces := pieces(text):
        token = word_pieces[0].token
        if "-" in token and COMPOUND.fullmatch(token) and only_searched_part(word_pieces, languages[0]) is None:
            for part in word_pieces[1:]:
                span = Group(group.kind, group.start + part.start, group.start + part.end)
                yield _word(query, span, [part], languages)
        elif "-" in text and (headed := _HEADED.fullmatch(text)) and not text.islower() and _is_abbreviation(headed[1]):
            for start, end in (headed.span(1), headed.span(2)):
                yield from _terms(query, Group(group.kind, group.start + start, group.start + end), languages)
        else:
            yield _word(query, group, word_pieces, languages)


def _is_abbreviation(text: str) -> bool:
    return len(text) > 1 and (any(map(str.isdigit, text)) or sum(map(str.isupper, text)) > 1)


def _unspaced_terms(
    query: str, start: int, end: int, *, stop: bool, stems: tuple[str, ...] = ()
) -> Iterator[QueryTerm]:
    surface = query[start:end]
    characters = clusters(surface)
    if characters:
        # Without the last character alone, since the text may continue there.
        tokens = pairs(characters)[: max(1, len(characters) - 1)]
        yield QueryTerm(surface, start, end, _one_or_all(tokens), stems, stop, is_prefix=len(characters) == 1)


def _word(query: str, group: Group, word_pieces: list[Piece], languages: tuple[str, ...]) -> QueryTerm:
    is_one = word_pieces[0].end >= word_pieces[-1].end
    whole, parts = (word_pieces[0], word_pieces[1:]) if is_one else (None, word_pieces)
    word = whole.token if whole else _one_or_all([piece.token for piece in parts if not piece.inner])
    return QueryTerm(
        query[group.start : group.end],
        group.start,
        group.end,
        word,
        _alternatives(whole, parts, languages),
        stop=(len(word_pieces) == 1 or "-" in word_pieces[0].token)
        and word_pieces[0].token in unsearched_words(languages[0]),
        is_prefix=group.end == len(query) and isinstance(word, str) and len(word) >= SHORTEST_PREFIX,
    )


def _alternatives(whole: Piece | None, parts: list[Piece], languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the stems of a word in all languages.

    Without stems of other languages that may be other words, such as Spanish "sol" for "solar".
    """
    least = _MIN_FOREIGN_STEM * len(whole.root) if whole and whole.root else 0
    own = list(_stems(whole, parts, languages[0]))
    foreign = (stem for language in languages[1:] for stem in _stems(whole, parts, language) if len(stem) >= least)
    return tuple(dict.fromkeys((*own, *foreign)))


def _stems(whole: Piece | None, parts: list[Piece], language: str) -> Iterator[str]:
    stems = stems_of(language)
    if whole and "." in whole.token and DECIMAL.fullmatch(whole.token):
        yield whole.token
        return
    if whole and whole.root:
        yield from (stems[form] for form in forms_of(whole.root, language))
    if rooted := [stems[piece.root] for piece in parts if piece.root]:
        yield " ".join(rooted)


def _one_or_all(tokens: list[str]) -> str | tuple[str, ...]:
    return tokens[0] if len(tokens) == 1 else tuple(tokens)


def _most_informative(terms: tuple[QueryTerm, ...]) -> tuple[QueryTerm, ...]:
    """Return at most `_MAX_TERMS` terms, dropping function words first: the index limits the length of a query."""
    if len(terms) <= _MAX_TERMS:
        return terms
    chosen = sorted(terms, key=lambda term: term.stop)[:_MAX_TERMS]
    return tuple(sorted(chosen, key=lambda term: term.start))
