"""The keyword leg: candidates from FTS5, then exact scores from their term frequencies."""

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
_STEMMED = "{title heading name stems}"
_PLAIN = "{title heading name words}"
_WEIGHTS = tuple(_COLUMN_WEIGHTS[column] for column in FTS_COLUMNS)
_WORDS = FTS_COLUMNS.index("words")
"""The column whose length is a chunk's length: it holds every token, the stems of some are nowhere."""
_COMMON = 0.2
"""A term in more than this share of the chunks does not choose candidates, though it counts in their scores."""
_PREFIX_WEIGHT = 0.5
_SMALL = 1000
"""Below so many chunks every term chooses candidates: there is nothing to save."""


@dataclass(frozen=True)
class Term:
    """One term of the question in this index: FTS5 phrases, any of which is a match."""

    surface: str
    stemmed: tuple[str, ...]
    """Its stems, one a language, for the stemmed columns; none for what has no stem."""
    plain: str
    """The word itself, the beginning of one, or a run of pairs, for the plain columns; may be empty."""
    chunks: int
    """How many chunks hold it."""
    idf: float

    @property
    def expression(self) -> str:
        sides = [f"{_STEMMED} : ({' OR '.join(self.stemmed)})"] if self.stemmed else []
        sides += [f"{_PLAIN} : {self.plain}"] if self.plain else []
        return f"({' OR '.join(sides)})"

    @property
    def phrases(self) -> int:
        return len(self.stemmed) + bool(self.plain)


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
        known = [term for term in self.terms if term.chunks]
        if not known:
            return []
        found = self._ranked([" AND ".join(t.expression for t in known)], limit, files) if len(known) > 1 else []
        if len(found) >= limit:
            return found
        rare = [t for t in known if self.chunks <= _SMALL or t.chunks <= _COMMON * self.chunks] or [
            min(known, key=lambda t: t.chunks)
        ]
        others = self._ranked([t.expression for t in rare], limit, files)
        return list(dict.fromkeys(found + others))

    def score(self, ids: Iterable[int]) -> KeywordScores:
        """Exact keyword scores, with all terms, of those of these chunks that match any."""
        result = KeywordScores(self.terms)
        known = [term for term in self.terms if term.chunks]
        wanted = list(ids)
        if not known or not wanted:
            return result
        _register(self._snapshot.connection)
        # The unary plus keeps SQLite from running the whole match once for every id.
        rows = self._snapshot.connection.execute(
            f"""SELECT rowid, term_counts({self._tables.fts}) FROM {self._tables.fts}
                WHERE {self._tables.fts} MATCH ? AND +rowid IN ({",".join(map(str, wanted))})""",
            (" OR ".join(term.expression for term in known),),
        )
        idfs = [term.idf for term in self.terms]
        for rowid, packed in rows:
            length, average, *counts = struct.unpack(f"<ff{len(packed) // 4 - 2}f", packed)
            parts = self._contributions(counts, length, average)
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
            place += term.phrases
            # Both sides count the same occurrences. The beginning of a longer word is a weaker sign than the word.
            if term.stemmed and term.plain:
                plain *= _PREFIX_WEIGHT
            parts.append(scoring.term_score(term.idf, max(stemmed, plain), length, average))
        return tuple(parts)

    def _ranked(self, alternatives: list[str], limit: int, files: Sequence[int] | None) -> list[int]:
        fts, values = self._tables.fts, [" OR ".join(alternatives)]
        restriction = ""
        if files is not None:
            restriction = f"""AND +rowid IN (SELECT id FROM {self._tables.chunks}
                WHERE file_id IN ({",".join(map(str, files))}))"""
        weights = ", ".join(map(str, _WEIGHTS))
        # bm25() named and sorted by name: ORDER BY rank takes 1.6 times as long.
        rows = self._snapshot.connection.execute(
            f"""SELECT rowid, bm25({fts}, {weights}) AS score FROM {fts}
                WHERE {fts} MATCH ? {restriction} ORDER BY score LIMIT {limit}""",
            values,
        )
        return [rowid for rowid, _ in rows]

    def _term(self, term: QueryTerm) -> Term:
        tokens = (term.word,) if isinstance(term.word, str) else term.word
        stems = tuple(dict.fromkeys(term.stems))
        plain = ""
        if term.prefix_ok or not stems:
            plain = _quoted(" ".join(tokens)) + (" *" if term.prefix_ok else "")
        chunks = sum(self._phrase_frequency(stem.split(" "), "stems") for stem in stems)
        if term.prefix_ok:
            chunks = max(chunks, self._prefix_frequency(tokens[-1]))
        elif plain:
            chunks = self._phrase_frequency(tokens, "words")
        # A file's name is in no body.
        chunks = chunks or max(self._phrase_frequency(form, "name") for form in (*map(str.split, stems), tokens))
        chunks = min(chunks, self.chunks)
        idf = scoring.inverse_document_frequency(self.chunks, chunks)
        return Term(term.surface, tuple(map(_quoted, stems)), plain, chunks, idf)

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


def _term_counts(api: apsw.FTS5ExtensionApi, *_: object) -> bytes:
    """Little-endian floats: the chunk's length, the average length (tokens), a weighted frequency for each phrase."""
    counts = [
        sum(_WEIGHTS[column] * len(api.phrase_column_offsets(phrase, column)) for column in api.phrase_columns(phrase))
        for phrase in range(api.phrase_count)
    ]
    average = api.column_total_size(_WORDS) / max(api.row_count, 1)
    return struct.pack(f"<ff{len(counts)}f", api.column_size(_WORDS), average, *counts)
