"""Suggests similar indexed words, or several that it joins, for a word of a query that occurs nowhere.

A query that is the beginning of a note's name, or the name without its spaces and punctuation, is completed to it.

The index's own word list is used, in two ways that don't read all of it. Words with one typo in the first characters
are looked up one by one (some 200, 27 µs each if the pages are cached); words with the same first characters are read
and compared. So one typo is found anywhere, two if the beginning is right: two characters, in the largest indexes four.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec
from msgspec.structs import replace

from engine.base import lazy_pattern
from engine.records import QuerySuggestion
from engine.search.chunk_filter import ChunkFilter, SnapshotCache
from engine.search.document_frequencies import sql_chunk_count
from engine.search.pipeline_stages import Term
from engine.search.query_embedding import WordModel
from engine.search.title_matches import NoteNames, is_acronym, letters_of_name
from engine.store.connection import id_array, number
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis, QueryTerm, spelling
from engine.text.query_analysis import SHORTEST_PREFIX, is_written_as_name
from engine.text.stopwords import unsearched_words

_SHORTEST_HEAD, _LONGEST_HEAD = 2, 4
"""Least and highest number of first characters that words must share to be compared; typos within the higher number are
looked up.
"""
_MAX_COMPARED = 3_000
"""Largest number of words with the same beginning to compare; if there are more, a longer beginning is used."""
_MAX_WORDS = 3
"""Maximum number of words that are looked up, and of suggestions."""
_MAX_SIMILAR = 8
"""Maximum number of similar words that are searched for a word that occurs nowhere."""
_MAX_CACHED = 512
_SHORTEST_JOINED, _MAX_JOINED = 6, 4
"""Minimum number of characters of a word that may join several words, and maximum number of these."""
_MAX_SPLITS = 8
SHORTEST_CORRECTED = 5
"""Characters of the shortest word that is corrected automatically."""
_DOUBLE = lazy_pattern(r"(\w)\1")
SHORTEST_EVIDENT = 7
"""Characters of the shortest word with an evident typo."""


class SimilarWord(msgspec.Struct, frozen=True):
    """An indexed word similar to a misspelt word, or the words that it joins, with numbers of chunks and typos."""

    token: str
    """The word, or the words with spaces between them."""
    chunks: int
    """Number of chunks that contain the word, or the rarest of the words."""
    typos: int


class _Typed(msgspec.Struct, frozen=True):
    """A word of a query that occurs nowhere."""

    surface: str
    token: str
    """The folded word for which to find similar ones; "" if it isn't a plain word."""
    korean: bool
    language: str
    is_name: bool
    """Whether it is written as a name with one capital letter or only capitals; others are written in many ways."""
    in_sentence: bool
    """Whether the query has function words."""
    model: WordModel

    @property
    def column(self) -> str:
        return "stems" if self.korean else "words"

    @classmethod
    def of(cls, term: QueryTerm, query: str, analysis: QueryAnalysis, model: WordModel) -> "_Typed":
        word, language = term.surface, analysis.languages[0]
        in_one_case = word[1:].islower() or word.isupper()
        is_name = in_one_case and is_written_as_name(word, term.start, query, language)
        return cls(word, *_search_word(term), language, is_name, any(other.stop for other in analysis.terms), model)

    def common_languages(self, word: str, languages: Sequence[str]) -> Sequence[str]:
        """Return the `languages` whose texts don't count as evidence for `word`, since it is a function word there.

        All texts count if the typo only swaps or doubles letters, or if the query is a sentence in the language of the
        function word and the first letter is right: then that word is probably meant.
        """
        if sorted(word) == sorted(self.token) or _undoubled(word) == _undoubled(self.token):
            return ()
        if word in unsearched_words(self.language):
            return () if self.in_sentence and word[0] == self.token[0] else languages
        return [language for language in languages if word in unsearched_words(language)]

    def is_other(self, text: str, word: str) -> bool:
        """Return whether a text has a word in lower case, so that a name isn't a typo of it: "Bevan" is not "began".

        False if letters are only missing or swapped in the name, doubled in a long one, or if the model shows a typo:
        that is rarely a name. A name in capitals must be written so.
        """
        written = spelling.written(text, word)
        if self.surface.isupper():
            return written is not None and not written.isupper()
        doubled = len(self.token) >= SHORTEST_EVIDENT and _undoubled(self.token) == _undoubled(word)
        if doubled or self.model.is_typo(self.token, word):
            return False
        return written is not None and written.islower() and bool(Counter(self.token) - Counter(word))


class Spelling:
    """Suggests corrections of a query, cached across queries since typing repeats the same typo. Thread-safe."""

    def __init__(self) -> None:
        self._similar = SnapshotCache[dict[tuple[str, bool, str | None], list[SimilarWord]]](lambda snapshot: {})
        """Similar words found so far, by word."""
        self._names = NoteNames()

    def suggest(
        self,
        snapshot: Snapshot,
        query: str,
        analysis: QueryAnalysis,
        terms: Sequence[Term],
        scope: ChunkFilter,
        model: WordModel,
    ) -> tuple[tuple[QuerySuggestion, ...], QueryAnalysis]:
        """Return at most three other queries, most likely first, and the query with similar words of the index as
        looser forms of words that occur nowhere; `terms` are the query's terms that were searched.

        Only words of searched files are used, so that nothing leaks from hidden files; if nothing satisfies the query,
        as with a typo in a quotation, words of all files that pass the filters. Names of notes come first. Words that
        the model knows, and short ones, get no looser forms, since these are too often other words. Without any,
        `analysis` itself is returned.
        """
        known = _expression_of_known(analysis, terms)
        choices, similar = [], dict[int, tuple[tuple[str, ...], ...]]()
        for term in (unknown := _unknown(analysis, terms, model)):
            typed = _Typed.of(term, query, analysis, model)
            near = self._near(snapshot, typed, scope, known)
            if offered := list(_offered(snapshot, typed, near, scope)):
                choices.append((term.surface, offered))
            short = near and len(typed.token) < SHORTEST_CORRECTED and not model.is_rare(term.surface)
            if near and not (short or typed.korean or term.phrased or model.knows(term.surface)):
                similar[term.start] = tuple(tuple(word.token.split(" ")) for word, _ in near if word.typos == 1)
        if any(similar.values()) and any(term.chunks for term in terms):
            analysis = replace(
                analysis,
                terms=tuple(
                    replace(term, loose=words, misspelt=True) if (words := similar.get(term.start)) else term
                    for term in analysis.terms
                ),
            )
        if (unknown or _is_unsure(analysis)) and (names := self._names.completing(snapshot, query, scope)):
            return tuple(
                QuerySuggestion(query=name, words=((query.strip(), name),), chunks=1) for name in names
            ), analysis
        return _suggestions(query, choices), analysis

    def _near(self, snapshot: Snapshot, typed: _Typed, scope: ChunkFilter, known: str) -> list[tuple[SimilarWord, str]]:
        """Return some indexed words similar to a term, each with the text of a chunk that contains it: those in a chunk
        with the `known` words of the query first, function words last.
        """
        near = list(islice(self._likely_words(snapshot, typed, scope), _MAX_SIMILAR)) if typed.token else []

        def order(pair: tuple[SimilarWord, str]) -> tuple[bool, bool]:
            word = pair[0].token
            alone = _text_containing(snapshot, word, typed.column, scope, known) is None
            return alone, word in unsearched_words(typed.language)

        return sorted(near, key=order) if known else near

    def _likely_words(self, snapshot: Snapshot, typed: _Typed, scope: ChunkFilter) -> Iterator[tuple[SimilarWord, str]]:
        """Yield the likeliest words within the filter `scope`, each with the text of a chunk that contains it.

        Words with one typo come first; without any, words that the typed one joins, then words with two typos.
        """
        languages = snapshot.languages()
        for typos, split in ((1, False), (1, True), (2, False)):
            found = False
            for near in self._similar_words(snapshot, typed, split=split):
                if near.typos != typos:
                    continue
                common = () if split else typed.common_languages(near.token, languages)
                if common and len(common) == len(languages):
                    continue
                text = _text_containing(snapshot, near.token, typed.column, scope, common=common)
                if text is None or (typed.is_name and not split and typed.is_other(text, near.token)):
                    continue
                found = True
                yield near, text
            if found:
                return

    def _similar_words(self, snapshot: Snapshot, typed: _Typed, *, split: bool) -> list[SimilarWord]:
        """Return the words of the whole index that resemble the typed one, or the words that it joins."""
        token, korean, language = typed.token, typed.korean, typed.language
        if korean and split:
            return []
        known = self._similar.get(snapshot)
        key = token, korean, language if split else None
        found = known.get(key)
        if found is None:
            if len(known) >= _MAX_CACHED:
                known.clear()
            found = known[key] = (
                _split_words(snapshot, token, language) if split else _nearest(snapshot, token, korean=korean)
            )
            if not (korean or split) and "russian" in snapshot.languages() and token.isascii() and token.isalpha():
                found[:0] = _in_cyrillic(snapshot, token)
        return found


def _offered(
    snapshot: Snapshot, typed: _Typed, near: Sequence[tuple[SimilarWord, str]], scope: ChunkFilter
) -> Iterator[tuple[str, int]]:
    """Yield up to three of the similar words, as written, each with its number of chunks in the searched files."""
    written = ((word, similar) for similar, text in near if (word := _written(text, similar.token)) is not None)
    for word, similar in islice(written, _MAX_WORDS):
        chunks = similar.chunks
        if scope.files is not None:  # the word may occur only in other files
            chunks = _count_matches(snapshot, f'"{similar.token}"', scope.files)
        surface = typed.surface
        yield surface.replace(typed.token, word) if typed.korean else _match_case(surface, word), chunks


def _count_matches(snapshot: Snapshot, expression: str, files: Sequence[int]) -> int:
    """Return how many chunks of some files match an FTS5 expression."""
    tables = snapshot.tables
    query = f"""SELECT count(*) FROM {tables.fts} f CROSS JOIN {tables.chunks} c ON c.id = f.rowid
        WHERE {tables.fts} MATCH ? AND c.file_id IN (SELECT value FROM carray(?))"""
    return number(snapshot.connection, query, (expression, id_array(files)))


def _suggestions(query: str, choices: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> tuple[QuerySuggestion, ...]:
    """Return the queries with each word replaced by its likeliest one; of a single word, also by others.

    `choices`: each word and what may replace it, with numbers of chunks.
    """
    corrections = [[(word, *offered[0]) for word, offered in choices]]
    if len(choices) == 1:
        word, offered = choices[0]
        corrections += [[(word, *other)] for other in offered[1:]]
    return tuple(suggestion for choice in corrections if (suggestion := with_replaced(query, choice)).query != query)


def _unknown(analysis: QueryAnalysis, terms: Sequence[Term], model: WordModel) -> list[QueryTerm]:
    """Return some words of a query, except fillers, that occur nowhere: the first ones, if possible unknown to the
    model, too.
    """
    nowhere = {term.surface for term in terms if not term.chunks}
    unknown = [term for term in analysis.terms if not (term.stop or term.filler) and term.surface in nowhere]
    if len(unknown) > _MAX_WORDS:
        unknown.sort(key=lambda term: model.knows(term.surface))
    return unknown[:_MAX_WORDS]


def _expression_of_known(analysis: QueryAnalysis, terms: Sequence[Term]) -> str:
    """Return the FTS5 expression of the query's plain words that occur somewhere, in any form; "" without any."""
    found = {term.surface for term in terms if term.chunks}
    known = (term for term in analysis.terms if not (term.stop or term.filler) and term.surface in found)
    forms = ({term.word, *term.stems} for term in known if isinstance(term.word, str))
    plain = (
        " OR ".join(f'"{form}"' for form in sorted(alternatives))
        for alternatives in forms
        if all(map(spelling.is_plain, alternatives))
    )
    return " AND ".join(f"({expression})" for expression in islice(plain, _MAX_WORDS))


def _is_unsure(analysis: QueryAnalysis) -> bool:
    """Return whether a query may occur nowhere although each of its words does: it has words with punctuation, or its
    last word may be half-typed.
    """
    terms = analysis.terms
    return any(not term.surface.isalnum() for term in terms) or len(terms[-1].surface) < SHORTEST_PREFIX


def completes_name(typed: str, name: str) -> bool:
    """Return whether the query, or a word of it, is the beginning of a name, its acronym, or the name with other
    punctuation.
    """
    if typed.isalnum() and name.isalnum():
        return False
    return is_acronym(typed, name) or letters_of_name(name).startswith(letters_of_name(typed))


def _search_word(term: QueryTerm) -> tuple[str, bool]:
    """Return the folded word for which to find similar ones, and whether it is Korean; "" if there are none."""
    root, word = term.stems[0] if term.stems else "", term.word
    if not root or not isinstance(word, str) or (len(word) < len(root) and " " not in root):  # its pairs
        return (root, True) if 1 < len(root) <= spelling.LONGEST and spelling.is_plain(root) else ("", False)
    shortest = spelling.SHORTEST_NUMBER if word.isdigit() else spelling.SHORTEST + len(spelling.non_letters(word))
    return (word, False) if shortest <= len(word) <= spelling.LONGEST else ("", False)


def _nearest(snapshot: Snapshot, token: str, *, korean: bool) -> list[SimilarWord]:
    """Return the indexed words similar to `token`, by number of typos, then by likelihood."""
    read = spelling.jamo if korean else str
    letters = read(token)
    if korean:
        most = 1
        candidates = _words_with_prefix(snapshot, token, 1, "stems")
    else:
        most = spelling.most_typos(token)
        candidates = _words_with_prefix(snapshot, token, _SHORTEST_HEAD, "words")
        candidates |= dict(_looked_up(snapshot, spelling.variants(token, _LONGEST_HEAD)))
    ranked = []
    for word, chunks in candidates.items():
        other = read(word)
        typos = spelling.typos(letters, other, most)
        # A number isn't changed, nor a symbol between the parts of a name.
        same_rest = spelling.non_letters(word) == spelling.non_letters(token)
        if typos and same_rest and spelling.is_probable(letters, other, typos):
            rank = typos, spelling.rarity(letters, other, typos, chunks), word
            ranked.append((rank, SimilarWord(word, chunks, typos)))
    return [near for _, near in sorted(ranked, key=lambda pair: pair[0])]


def _in_cyrillic(snapshot: Snapshot, token: str) -> list[SimilarWord]:
    """Return the Russian words that a word in Latin letters may be, as typos; most people leave out soft signs."""
    word = spelling.in_cyrillic(token)
    exact = [SimilarWord(word, chunks, 1) for word, chunks in _looked_up(snapshot, [word])]
    sound = word.translate(spelling.SAME_IN_LATIN)
    near = [] if exact else _nearest(snapshot, word, korean=False)
    return exact + [other for other in near if other.token.translate(spelling.SAME_IN_LATIN) == sound]


def _split_words(snapshot: Snapshot, token: str, language: str) -> list[SimilarWord]:
    """Return the likeliest words that `token` may join, fewest words first: "commandline", "getusername".

    The first and the last aren't function words: "notable" is not "not able".
    """
    if len(token) < _SHORTEST_JOINED:
        return []
    stops = unsearched_words(language)
    chunks = dict(_looked_up(snapshot, spelling.parts(token)))
    splits = (split for split in spelling.splits(token, chunks, _MAX_JOINED) if stops.isdisjoint((split[0], split[-1])))
    pairs = [SimilarWord(" ".join(split), min(chunks[word] for word in split), 1) for split in splits]
    return sorted(pairs, key=lambda near: (near.token.count(" "), -near.chunks, near.token))[:_MAX_SPLITS]


def _undoubled(word: str) -> str:
    return _DOUBLE.sub(r"\1", word)


def _written(text: str, token: str) -> str | None:
    """Return a word of `text` as written, or several words as searched."""
    return token if " " in token else spelling.written(text, token)


def _looked_up(snapshot: Snapshot, words: Iterable[str]) -> list[tuple[str, int]]:
    listed = sorted(words)
    words = snapshot.words_where(f"term IN ({','.join('?' * len(listed))})")
    query = f"SELECT term, {sql_chunk_count('words')} AS chunks FROM {words} GROUP BY term HAVING chunks"
    return list(snapshot.connection.execute(query, listed))


def _words_with_prefix(snapshot: Snapshot, token: str, head: int, column: str) -> dict[str, int]:
    """Return indexed words with the first `head` characters of `token`, or more of them if too many match.

    The values are numbers of chunks.
    """
    while True:
        start = token[:head]
        words = snapshot.words_where("term >= ? AND term < ?")
        query = f"""SELECT term, {sql_chunk_count(column)} AS chunks FROM {words}
            GROUP BY term HAVING chunks LIMIT {_MAX_COMPARED}"""
        rows = snapshot.connection.execute(query, (start, start + "\U0010ffff"))
        counts = dict(rows)
        if len(counts) < _MAX_COMPARED or head >= len(token) - 1:
            return counts
        head += 1


def _text_containing(
    snapshot: Snapshot, token: str, column: str, scope: ChunkFilter, known: str = "", common: Sequence[str] = ()
) -> str | None:
    """Return the text of a chunk that contains `token`, with its title and path; None without any in `scope`.

    `known`: an FTS5 expression that the chunk must also match. `common`: languages whose texts don't count, nor those
    of undecided ones.
    """
    tables = snapshot.tables
    inside = "" if scope.files is None else "AND c.file_id IN (SELECT value FROM carray(?))"
    expression = f'{{{column} title name}} : "{token}"'
    expression = f"({expression}) AND {known}" if known else expression
    if scope.match is not None and scope.chunks is None:
        expression = scope.match.within(expression)
    values: tuple[object, ...] = (expression, *(() if scope.files is None else (id_array(scope.files),)))
    if common:
        inside += f" AND n.language NOT GLOB 'undecided*' AND n.language NOT IN ({','.join('?' * len(common))})"
        values = (*values, *common)
    if scope.chunks:  # all texts count if none satisfies the conditions, which may have the typing error
        inside += " AND c.id IN (SELECT value FROM carray(?))"
        values = (*values, id_array(scope.chunks))
    row = snapshot.connection.execute(
        f"""SELECT c.text || char(10) || n.title || char(10) || n.path FROM {tables.fts} f
            CROSS JOIN {tables.chunks} c ON c.id = f.rowid CROSS JOIN {tables.files} n ON n.id = c.file_id
            WHERE {tables.fts} MATCH ? {inside} LIMIT 1""",
        values,
    ).fetchone()
    return None if row is None else row[0]


def _match_case(surface: str, word: str) -> str:
    if surface.islower():
        return word.lower()
    if surface.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if surface[:1].isupper() else word


def with_likely_words(text: str, analysis: QueryAnalysis, suggestion: QuerySuggestion) -> str:
    """Return the text with the single similar word that is searched next to each misspelt word, which may also be
    right. Not next to words with capitals, which may be names.
    """
    single = {term.surface for term in analysis.terms if term.misspelt and len(term.loose) == 1}
    choice = [(word, f"{word} {likely}", 1) for word, likely in suggestion.words if word in single and word.islower()]
    return with_replaced(text, choice).query


def with_replaced(query: str, choice: Sequence[tuple[str, str, int]]) -> QuerySuggestion:
    """Return the query with words replaced; `choice`: each word, its replacement, and its number of chunks."""
    for word, instead, _ in choice:
        query = spelling.with_word_replaced(query, word, instead, most=1)
    return QuerySuggestion(
        query=query,
        words=tuple((word, instead) for word, instead, _ in choice),
        chunks=min((chunks for _, _, chunks in choice), default=0),
    )
