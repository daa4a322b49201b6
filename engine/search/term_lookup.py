"""Looks up each word of a query in the index: its forms there, the number of chunks with them, and its weight."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from engine.search import document_frequencies, scoring
from engine.search.pipeline_stages import Term
from engine.store.snapshot import Snapshot
from engine.text import Query, QueryAnalysis, QueryTerm, analyse_query
from engine.text.folding import fold
from engine.text.stopwords import KINDS_OF_TEXT
from engine.text.tokens_and_stems import phrase_tokens

if TYPE_CHECKING:
    from engine.search.search_context import WordCounts

_SHORTEST_CONTINUED = 4
_MAX_CONTINUED = 8
_MAX_PARTS = 6
"""Maximum number of words of a query that may spell an identifier together."""
_MAX_KNOWN = 48
"""Maximum number of words searched of a long text, the rarest: passages are compared with all forms of each."""


def analyse_with_index(snapshot: Snapshot, query: Query, counts: "WordCounts") -> QueryAnalysis:
    """Analyse a query as the index determines its meaning: names with function words, and beginnings of words."""
    return _with_continued_words(_with_rarest_words(_with_indexed_names(snapshot, query, counts), counts), counts)


def _with_continued_words(analysis: QueryAnalysis, counts: "WordCounts") -> QueryAnalysis:
    """Return the query with the indexed words that continue a word that occurs nowhere, as its looser forms.

    Between letters and digits only: `NRSur7dq2` for "NRSur" and `utf8mb4` for "utf8", but no longer words of letters.
    """
    words = [term for term in analysis.terms if _may_be_continued(term)]
    if words:  # all that `TermLookup` looks up
        counts.expect(token for term in analysis.terms if not term.stop for token in _tokens_of(term))
    continued = dict[int, tuple[tuple[str, ...], ...]]()
    for term in words:
        start = str(term.word)
        if counts.chunks(start, "words") or any(counts.chunks(stem, "stems") for stem in term.stems if " " not in stem):
            continue
        found = counts.words(start).tokens
        longer = (
            token for token in found if token != start and token[len(start) :][:1].isdigit() != start[-1].isdigit()
        )
        continued[term.start] = tuple((token,) for token in islice(longer, _MAX_CONTINUED))
    if not any(continued.values()):
        return analysis
    terms = (replace(term, loose=term.loose + continued.get(term.start, ())) for term in analysis.terms)
    return replace(analysis, terms=tuple(terms))


def _may_be_continued(term: QueryTerm) -> bool:
    plain = isinstance(term.word, str) and len(term.word) >= _SHORTEST_CONTINUED and term.word.isalnum()
    return plain and not (term.stop or term.is_prefix)


def _with_rarest_words(analysis: QueryAnalysis, counts: "WordCounts") -> QueryAnalysis:
    """Return the query with its most common words left out like function words, if it is a long text.

    Alternatives are never left out, nor words that occur nowhere, which are not searched.
    """
    terms = [term for term in analysis.terms if not term.stop]
    if len(terms) <= _MAX_KNOWN or any(term.group for term in terms):
        return analysis
    counts.expect(token for term in terms for token in _tokens_of(term))
    chunks = {id(term): _chunks_of(term, counts) for term in terms}
    known = sorted(filter(lambda term: chunks[id(term)], terms), key=lambda term: (term.filler, chunks[id(term)]))
    common = {id(term) for term in known[_MAX_KNOWN:]}
    return replace(
        analysis, terms=tuple(replace(term, stop=True) if id(term) in common else term for term in analysis.terms)
    )


def _chunks_of(term: QueryTerm, counts: "WordCounts") -> int:
    """Return the highest number of chunks that may contain a form of the term, without looser forms."""
    word = (term.word,) if isinstance(term.word, str) else term.word
    forms = [("words", word), *(("stems", stem.split(" ")) for stem in term.stems)]
    return max(min(counts.chunks(token, column) for token in form) for column, form in forms)


class TermLookup:
    """Looks up words in one snapshot."""

    def __init__(self, snapshot: Snapshot, counts: "WordCounts", snapshot_chunks: int) -> None:
        """`counts`: of the whole index; the snapshot may hold only some of its chunks."""
        self._snapshot = snapshot
        self._counts = counts
        self._chunks = counts.total
        self._snapshot_chunks = snapshot_chunks

    def terms(self, terms: Sequence[QueryTerm]) -> list[Term]:
        """Return the terms as the index has them: their FTS5 phrases, exact and looser, and numbers of chunks."""
        self._counts.expect(token for term in terms for token in _tokens_of(term))
        return [self._term(term) for term in terms]

    def _term(self, term: QueryTerm) -> Term:
        tokens = (term.word,) if isinstance(term.word, str) else term.word
        stems = tuple(dict.fromkeys(term.stems))
        plain: tuple[str, ...] = ()
        chunks = sum(self._phrase_frequency(stem.split(" "), "stems") for stem in stems)
        matches, beginning, exact = chunks, 0, self._phrase_frequency(tokens, "words")
        loose, loose_stems, irregular = term.loose, term.loose_stems, term.irregular
        frequent = max(chunks, exact) > document_frequencies.FREQUENT
        if only_exact := frequent and self._counts.total > document_frequencies.LARGE:
            loose = loose_stems = irregular = ()  # other forms would take most of the time, and rank lower
        weak_words, word_count = self._loose_phrases(loose, "words")
        weak_stems, stem_count = self._loose_phrases([stem.split(" ") for stem in loose_stems], "stems", stems)
        irregular, irregular_count = self._loose_phrases([(stem,) for stem in irregular], "stems")
        loose_count = word_count + stem_count + irregular_count
        if term.is_prefix and not (only_exact and stems):
            beginning, found, begun = self._prefix_phrases(tokens[-1], stems)
            if not stems:
                plain, chunks, matches = begun, beginning, max(matches, found)
            elif beginning > exact:  # longer words begin with these
                weak_words += begun
                matches = max(matches, found)
        # If stem and word have equal counts, they are in the same chunks. A note whose language was detected wrongly
        # has other stems.
        if not plain and (not stems or (exact and (len(stems) > 1 or exact != chunks))):
            plain = (quoted(" ".join(tokens)),)
            chunks, matches = max(chunks, exact), max(matches, exact)
        if not chunks:
            # No chunk's text contains the file's name.
            chunks = exact = max(self._phrase_frequency(form, "name") for form in (*map(str.split, stems), tokens))
            matches = max(matches, chunks)
        known = chunks
        matches += loose_count
        if not known:
            weak_stems, irregular = weak_stems + irregular, ()
        chunks = min(chunks or loose_count or beginning, self._chunks)
        idf = scoring.inverse_document_frequency(self._chunks, chunks) * (scoring.FILLER if term.filler else 1.0)
        return Term(
            surface=term.surface,
            stemmed=tuple(map(quoted, stems)),
            plain=plain,
            chunks=0 if term.misspelt else chunks,
            typed=min(exact, chunks) if known else chunks,
            matches=min(matches, self._snapshot_chunks),
            idf=idf,
            weak_stems=weak_stems,
            weak_words=weak_words,
            weak=scoring.SIMILAR if term.misspelt else scoring.WEAK if exact or (known and not beginning) else 1.0,
            loose=min(loose_count, self._snapshot_chunks),
            irregular=irregular,
            irregular_idf=scoring.inverse_document_frequency(self._chunks, irregular_count) if irregular else 0.0,
            only_exact=only_exact,
        )

    def _loose_phrases(
        self, forms: Iterable[Sequence[str]], column: str, exact: Sequence[str] = ()
    ) -> tuple[tuple[str, ...], int]:
        """Return the FTS5 phrases of looser forms in the index, and about how many chunks contain one.

        `exact`: words that are searched anyway, so that a prefix must have other words. A form that a shorter prefix
        also matches is left out: its occurrences would count twice.
        """
        phrases, matches = list[str](), 0
        prefixes: tuple[str, ...] = ()
        for form in sorted(forms, key=lambda form: (not form[-1].endswith("*"), len(form[-1]))):
            if prefixes and len(form) == 1 and form[0].startswith(prefixes):
                continue
            chunks = self._snapshot_chunks
            for token in form:
                chunks = min(chunks, self._counts.loose(token, column)) if chunks else 0
            text = " ".join(form)
            begins = text.endswith("*")
            phrase = f"{quoted(text[:-1])} *" if begins else quoted(text)
            # Separately, the words of a phrase may be in many chunks: "4" and "NF", but nowhere "4 NF".
            if chunks and len(form) > 1 and not occurs(self._snapshot, phrase):
                continue
            if begins:
                chunks -= sum(self._counts.chunks(word, column) for word in exact if word.startswith(text[:-1]))
            if chunks > 0 and (chunks <= document_frequencies.WIDEST_PREFIX or not begins):
                words = self._counts.spelled_out(text, column) if begins and len(form) == 1 else ()
                if words:
                    phrases += map(quoted, words)
                else:
                    phrases.append(phrase)
                matches += chunks
                if begins:
                    prefixes += (text[:-1],)
        return tuple(phrases), matches

    def _prefix_phrases(self, start: str, stems: Sequence[str]) -> tuple[int, int, tuple[str, ...]]:
        """Return how many chunks have words with the prefix `start`, how many match the FTS5 phrases,
        and the phrases.
        """
        beginning = self._counts.words(start)
        chunks = beginning.chunks
        if min(chunks, self._snapshot_chunks) <= document_frequencies.WIDEST_PREFIX:
            return chunks, chunks, (f"{quoted(start)} *",)
        representing = [word for word in beginning.substitutes if word.token not in stems]
        return chunks, sum(word.chunks for word in representing), tuple(quoted(word.token) for word in representing)

    def _phrase_frequency(self, tokens: Sequence[str], column: str) -> int:
        """Return an upper limit for the number of chunks that contain a phrase in `column`: the count of its rarest
        token, or 0 if the phrase occurs nowhere.

        Counted in all columns, a word and its stem would count twice. Titles and headings are part of the body too.
        """
        chunks = min(self._counts.chunks(token, column) for token in tokens)
        return 0 if chunks and len(tokens) > 1 and not occurs(self._snapshot, quoted(" ".join(tokens))) else chunks


def _tokens_of(term: QueryTerm) -> Iterator[str]:
    """Yield all tokens of a term except prefixes, whose chunks are not counted."""
    yield from (term.word,) if isinstance(term.word, str) else term.word
    for forms in (term.stems, term.loose_stems, term.irregular):
        yield from (token for form in forms for token in form.split(" ") if not token.endswith("*"))
    yield from (token for form in term.loose for token in form if not token.endswith("*"))


def occurs(snapshot: Snapshot, expression: str) -> bool:
    """Return whether a chunk that this search may know of matches an FTS5 expression."""
    fts, known = snapshot.tables.fts, snapshot.visible
    condition = "" if known is None else f"AND +rowid {snapshot.in_files(known)}"
    query = f"SELECT 1 FROM {fts} WHERE {fts} MATCH ? {condition} LIMIT 1"
    return snapshot.connection.execute(query, (expression,)).get is not None


def quoted(token: str) -> str:
    """Return the FTS5 phrase for a token, or for several with spaces between them."""
    escaped = token.replace('"', '""')
    return f'"{escaped}"'


def _with_indexed_names(snapshot: Snapshot, query: Query, counts: "WordCounts") -> QueryAnalysis:
    """Analyse a query, with function words and words for a kind of text searched in full where they are part of a name.

    For example, "from data" if the index contains `from_data`, and "release notes" if a heading does.
    """
    analysis = analyse_query(query, snapshot.languages())
    if not query.plain:
        return analysis
    return _with_all_parts(_with_kind_of_text(snapshot, query, analysis), counts)


def _with_kind_of_text(snapshot: Snapshot, query: Query, analysis: QueryAnalysis) -> QueryAnalysis:
    *_, before, last = (None, None, *analysis.terms)
    if last is None or before is None or not last.filler or fold(last.surface) not in KINDS_OF_TEXT:
        return analysis
    phrase = quoted(" ".join(phrase_tokens(query.text[before.start : last.end] + " ").tokens))
    if not occurs(snapshot, f"{{title heading name aliases}} : {phrase}"):
        return analysis
    return replace(analysis, terms=(*analysis.terms[:-1], replace(last, filler=False)))


def _with_all_parts(analysis: QueryAnalysis, counts: "WordCounts") -> QueryAnalysis:
    terms = analysis.terms
    words = [term.word for term in terms if isinstance(term.word, str) and term.word.isalnum()]
    if not 1 < len(terms) == len(words) <= _MAX_PARTS or not any(term.stop for term in terms):
        return analysis
    spellings = [joint.join(words) for joint in ("_", "", "-")]
    counts.expect(spellings)
    known = tuple((spelling,) for spelling in spellings if counts.chunks(spelling, "words"))
    if not known:
        return analysis
    # A text with "login" holds both words of "log in".
    searched = (replace(term, stop=False, loose=known) if term.stop else term for term in terms)
    return replace(analysis, terms=tuple(searched))
