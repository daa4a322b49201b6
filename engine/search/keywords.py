"""The keyword leg: candidates from FTS5, then exact scores from their term frequencies."""

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import apsw

from engine.search import scoring
from engine.store.connection import number
from engine.store.schema import FTS_COLUMNS
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis, QueryTerm

_COLUMN_WEIGHTS = {"title": 2.0, "heading": 1.5, "name": 1.5, "words": 1.0, "stems": 1.0}
_WEIGHTS = tuple(_COLUMN_WEIGHTS[column] for column in FTS_COLUMNS)
_STEM_WEIGHTS = tuple(0.0 if column == "words" else _COLUMN_WEIGHTS[column] for column in FTS_COLUMNS)
_PLAIN_WEIGHTS = tuple(0.0 if column == "stems" else _COLUMN_WEIGHTS[column] for column in FTS_COLUMNS)
_TITLES = "{title heading name}"
_WORDS = FTS_COLUMNS.index("words")
"""The column whose length is a chunk's length: it holds every token, the stems of some are nowhere."""
_MOST_RANKED = 20_000
"""So many matches take some 15 ms. Terms beyond them do not choose candidates, though they count in the scores."""
_RECENT = 5_000
"""Where even the rarest term has more matches, so many of those that were indexed last are ranked, and all titles."""
_WIDEST_BEGINNING = 50_000
"""The beginning of words that together occur in more chunks is looked for in titles only: gathering them costs most."""
_PREFIX_WEIGHT = 0.5


@dataclass(frozen=True)
class Term:
    """One term of the question in this index: FTS5 phrases, any of which is a match."""

    surface: str
    stemmed: tuple[str, ...]
    """Its stems, one a language, looked for everywhere but in `words`; none for what has no stem."""
    plain: str
    """The word itself, the beginning of one, or a run of pairs, looked for everywhere but in `stems`; may be empty."""
    chunks: int
    """How many chunks hold it."""
    matches: int
    """How many chunks `expression` finds, about: fewer where it looks for a beginning in titles only."""
    idf: float

    @property
    def phrases(self) -> tuple[str, ...]:
        return (*self.stemmed, self.plain) if self.plain else self.stemmed

    @property
    def expression(self) -> str:
        """Without columns, which would make the match four times as dear: a stem in `words` just scores nothing."""
        return f"({' OR '.join(self.phrases)})"


@dataclass(frozen=True)
class KeywordScores:
    """Keyword score of chunks, and each term's part in it."""

    terms: tuple[Term, ...]
    scores: dict[int, float] = field(default_factory=dict)
    contributions: dict[int, tuple[float, ...]] = field(default_factory=dict)

    def best(self) -> float:
        return max(self.scores.values(), default=0.0)


class KeywordLeg:
    """One question against the keyword index of one snapshot."""

    def __init__(self, snapshot: Snapshot, question: QueryAnalysis) -> None:
        self._snapshot = snapshot
        self._tables = snapshot.tables
        self.chunks = snapshot.chunk_count()
        """How many chunks are indexed."""
        self.terms = tuple(self._term(term) for term in question.terms if not term.stop)

    def candidates(self, limit: int, files: Sequence[int] | None) -> list[int]:
        """Ids of the best chunks by FTS5's own ranking, best first; `files` restricts them.

        Chunks with every term come first; where they are too few, chunks with any of the rarer terms follow.
        """
        known = sorted((term for term in self.terms if term.chunks), key=lambda term: term.matches)
        # What stands for too many words chooses only where nothing else can.
        known = [term for term in known if term.matches == term.chunks] or known
        if not known:
            return []
        found: list[int] = []
        if len(known) > 1:
            both = self.chunks * math.prod(term.matches / self.chunks for term in known)
            found = self._ranked(" AND ".join(t.expression for t in known), round(both), limit, files)
        if len(found) >= limit:
            return found
        choosing, matches = [known[0].expression], known[0].matches
        for term in known[1:]:
            if matches + term.matches > _MOST_RANKED:
                break
            matches += term.matches
            choosing.append(term.expression)
        return list(dict.fromkeys(found + self._ranked(" OR ".join(choosing), matches, limit, files)))

    def score(self, ids: Iterable[int]) -> KeywordScores:
        """Exact keyword scores, with all terms, of those of these chunks that match any."""
        result = KeywordScores(self.terms)
        known = [term for term in self.terms if term.chunks]
        wanted = list(ids)
        if not known or not wanted:
            return result
        _register(self._snapshot.connection)
        kinds = "".join("s" * len(term.stemmed) + "p" * bool(term.plain) for term in known)
        # The unary plus keeps SQLite from running the whole match once for every id.
        rows = self._snapshot.connection.execute(
            f"""SELECT rowid, term_counts({self._tables.fts}, ?) FROM {self._tables.fts}
                WHERE {self._tables.fts} MATCH ? AND +rowid IN ({",".join(map(str, wanted))})""",
            (kinds, " OR ".join(term.expression for term in known)),
        )
        idfs = [term.idf for term in self.terms]
        for rowid, packed in rows:
            length, average, *counts = struct.unpack(f"<ff{len(kinds)}f", packed)
            parts = self._contributions(counts, length, average)
            if any(parts):
                result.contributions[rowid] = parts
                result.scores[rowid] = scoring.text_score(parts, idfs)
        return result

    def _contributions(self, counts: list[float], length: float, average: float) -> tuple[float, ...]:
        parts = []
        place = 0
        for term in self.terms:
            if not term.chunks:
                parts.append(0.0)
                continue
            stemmed = sum(counts[place : place + len(term.stemmed)])
            plain = counts[place + len(term.stemmed)] if term.plain else 0.0
            place += len(term.phrases)
            # Both sides count the same occurrences. The beginning of a longer word is a weaker sign than the word.
            if term.stemmed and term.plain:
                plain *= _PREFIX_WEIGHT
            parts.append(scoring.term_score(term.idf, max(stemmed, plain), length, average))
        return tuple(parts)

    def _ranked(self, expression: str, matches: int, limit: int, files: Sequence[int] | None) -> list[int]:
        """The best of about so many matches.

        Where they are too many to rank, the best of those in a title, then the best of those indexed last.
        """
        if files is not None:
            inside = f"""AND +rowid IN (SELECT id FROM {self._tables.chunks}
                WHERE file_id IN ({",".join(map(str, files))}))"""
            return self._best(expression, limit, inside)
        if matches <= max(_MOST_RANKED, limit):
            return self._best(expression, limit)
        oldest, newest = self._snapshot.chunk_id_range()
        titled = self._best(f"{_TITLES} : ({expression})", limit)
        last = (newest - oldest) * max(_RECENT, limit) // matches
        recent = self._best(expression, limit, f"AND rowid > {newest - last}")
        return list(dict.fromkeys(titled + recent))

    def _best(self, expression: str, limit: int, condition: str = "") -> list[int]:
        fts, weights = self._tables.fts, ", ".join(map(str, _WEIGHTS))
        # bm25() named and sorted by name: ORDER BY rank takes 1.6 times as long.
        rows = self._snapshot.connection.execute(
            f"""SELECT rowid, bm25({fts}, {weights}) AS score FROM {fts}
                WHERE {fts} MATCH ? {condition} ORDER BY score LIMIT {limit}""",
            (expression,),
        )
        return [rowid for rowid, _ in rows]

    def _term(self, term: QueryTerm) -> Term:
        tokens = (term.word,) if isinstance(term.word, str) else term.word
        stems = tuple(dict.fromkeys(term.stems))
        plain = _quoted(" ".join(tokens)) if term.prefix_ok or not stems else ""
        matches = chunks = sum(self._phrase_frequency(stem.split(" "), "stems") for stem in stems)
        if term.prefix_ok:
            beginning = self._prefix_frequency(tokens[-1])
            chunks = max(chunks, beginning)
            plain += " *"
            if beginning > _WIDEST_BEGINNING:
                plain = f"{_TITLES} : {plain}"
            else:
                matches = chunks
        elif plain:
            matches = chunks = self._phrase_frequency(tokens, "words")
        if not chunks:
            # A file's name is in no body.
            matches = chunks = max(self._phrase_frequency(form, "name") for form in (*map(str.split, stems), tokens))
        idf = scoring.inverse_document_frequency(self.chunks, chunks)
        return Term(
            term.surface, tuple(map(_quoted, stems)), plain, min(chunks, self.chunks), min(matches, self.chunks), idf
        )

    def _phrase_frequency(self, tokens: Sequence[str], column: str) -> int:
        """At most so many chunks hold the phrase in this column: those with its rarest token there.

        Over all columns a word and its stem would count twice. Titles and headings stand in the body too.
        """
        query = f"SELECT doc FROM {self._tables.terms} WHERE term = ? AND col = ?"
        return min(number(self._snapshot.connection, query, (token, column)) for token in tokens)

    def _prefix_frequency(self, start: str) -> int:
        """Chunks with a word of this beginning, as if no chunk held two of them."""
        query = f"SELECT sum(doc) FROM {self._tables.terms} WHERE term >= ? AND term < ? AND col = 'words'"
        return number(self._snapshot.connection, query, (start, start + "\U0010ffff"))


def _quoted(token: str) -> str:
    escaped = token.replace('"', '""')
    return f'"{escaped}"'


_REGISTERED = "term_counts"


def _register(connection: apsw.Connection) -> None:
    """Give a connection the function that reads term frequencies out of FTS5; doing so again costs microseconds."""
    connection.register_fts5_function(_REGISTERED, _term_counts)


def _term_counts(api: apsw.FTS5ExtensionApi, /, *arguments: object) -> bytes:
    """Little-endian floats: the chunk's length, the average length (tokens), a weighted frequency for each phrase.

    The argument has a letter for each phrase: s for a stem, p for a plain word.
    """
    counts = []
    for phrase, kind in enumerate(str(arguments[0])):
        weights = _STEM_WEIGHTS if kind == "s" else _PLAIN_WEIGHTS
        columns = api.phrase_columns(phrase)
        counts.append(sum(weights[column] * len(api.phrase_column_offsets(phrase, column)) for column in columns))
    average = api.column_total_size(_WORDS) / max(api.row_count, 1)
    return struct.pack(f"<ff{len(counts)}f", api.column_size(_WORDS), average, *counts)
