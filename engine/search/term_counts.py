"""Terms in chunks that match: how often each occurs, how near each other they are, and in which fields they are."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import apsw
import msgspec

from engine.base import lazy_pattern
from engine.search.pipeline_stages import Term
from engine.search.scoring import K1, B
from engine.store.connection import id_array
from engine.store.connection import number as count
from engine.store.index_schema import FTS_COLUMNS
from engine.store.snapshot import Snapshot

if TYPE_CHECKING:
    from engine.records import MatchField

COLUMN_WEIGHTS = {"title": 0.5, "heading": 0.5, "name": 1.0, "words": 1.0, "stems": 1.0, "aliases": 0.5}
"""Titles, aliases and headings are in the text as well, and a title or an alias is in all chunks of its file."""
_WORDS_IN_CHOICE = 0.2
"""Words count less when FTS5 selects candidates: a word that is its own stem is in both columns, others only in
`stems`. With 1.0, 1 of the 10 best chunks is missed in one query of five words, with 0.2 in two."""
CHOICE_WEIGHTS = tuple(_WORDS_IN_CHOICE if column == "words" else COLUMN_WEIGHTS[column] for column in FTS_COLUMNS)
_WORDS = FTS_COLUMNS.index("words")
"""The column whose length is a chunk's length: it contains every token, while some have no stem."""
_STEMS = FTS_COLUMNS.index("stems")
_IN_TEXT = {(_WORDS,), (_STEMS,), (_WORDS, _STEMS)}
"""Columns of most matches: the columns of the text, which weigh 1."""
_TITLE, _HEADING = FTS_COLUMNS.index("title"), FTS_COLUMNS.index("heading")
_LINE_OF_HEADINGS = (_TITLE, _HEADING)
"""Columns that are read as one line: "greenhouse watering" is near in the section "Watering" of "Greenhouse"."""
_NAMED = {FTS_COLUMNS.index("title"), FTS_COLUMNS.index("name")}
_STEM_WEIGHTS = tuple(0.0 if column == "words" else weight for column, weight in COLUMN_WEIGHTS.items())
_PLAIN_WEIGHTS = tuple(0.0 if column == "stems" else weight for column, weight in COLUMN_WEIGHTS.items())
_KINDS = {"s": (0, _STEM_WEIGHTS, _STEMS), "p": (1, _PLAIN_WEIGHTS, _WORDS)}
_KINDS |= {"S": (2, _STEM_WEIGHTS, _STEMS), "P": (3, _PLAIN_WEIGHTS, _WORDS), "i": (4, _STEM_WEIGHTS, _STEMS)}
"""For each kind of phrase its position among the frequencies, the weights of the columns, and the column with its
text."""
_FIELD_OF: "dict[str, MatchField]" = {
    "title": "title",
    "heading": "heading",
    "name": "name",
    "words": "body",
    "stems": "body",
    "aliases": "alias",
}
_REGISTERED, _LENGTH, _TOTAL, _RANK = "count_terms", "chunk_length", "total_length", "rank_chunk"
_PHRASE = lazy_pattern(r'"(?:[^"]|"")*"(?: \*)?')
_COLUMNS_OF_TERMS = "term_columns"
LOOK_UP_ABOVE = 50_000
"""Matches between the first and the last chunk to count from which looking some chunks up may be faster."""
_LOOK_UP, _LOOK_UP_IN_PART, _LOOK_UP_PREFIX = 35, 15, 5_000
"""How many matches FTS5 reads while it looks up a phrase in one chunk, in addition for each part of the index, and for
a prefix, since it merges the matches of all words that begin so.
"""
_registered: WeakKeyDictionary[apsw.Connection, set[str]] = WeakKeyDictionary()
_rankings: "WeakKeyDictionary[apsw.Connection, _Ranking]" = WeakKeyDictionary()
_counters: "WeakKeyDictionary[apsw.Connection, _Counter]" = WeakKeyDictionary()


class CountedPhrases(msgspec.Struct, frozen=True):
    """The phrases of one FTS5 expression whose occurrences are counted."""

    phrases: Sequence[int]
    """The number in the expression of each phrase, in the order of `kinds`. A word that is its own stem has one."""
    kinds: tuple[str, ...]
    """The kinds of each term's phrases: s for a stem, p for a plain word, capital letters for weaker forms, i for an
    irregular form."""
    neighbours: tuple[tuple[int, int], ...]
    """Positions in `kinds` of terms that follow one another in the query."""
    density: float = 0.0
    """About how many matches of the expression's terms there are for each id of the index."""


Match = tuple[int, list[float]]
"""A term that a chunk contains: its position in `CountedPhrases.kinds`; and its frequencies in the text, of its stems,
its words, the stems of weaker forms, the words of weaker forms and its irregular forms, with a last number above 0 if
the title or the file name contains it."""
Around = tuple[list[float], int, float]
"""Occurrences of a term outside of a chunk's text, in a title, a heading, the path or an alias: the frequencies of the
term, the position in these where they count, and the number, weighted by column. They are not added yet."""
ReceiveCounts = Callable[[int, int, float, list[Match], list[Around], list[tuple[int, int]]], None]
"""Receives the contents of one chunk: its id, its length and the average length of all chunks in tokens, the terms in
its text, those around it, and for each pair of neighbours in it the position in `CountedPhrases.neighbours` and the
distance of their nearest occurrences in tokens."""


def register(connection: apsw.Connection, name: str, function: Callable[..., str | float | None]) -> None:
    """Register an FTS5 function with a connection, unless it has it already.

    Each registration takes memory that is only released with the connection.
    """
    registered = _registered.setdefault(connection, set())
    if name not in registered:
        connection.register_fts5_function(name, function)
        registered.add(name)


def count_terms(
    connection: apsw.Connection,
    table: str,
    counted: CountedPhrases,
    expression: str,
    ids: Collection[int],
    receive: ReceiveCounts,
) -> None:
    """Count terms in those chunks (`ids`) that match an FTS5 expression, and pass the counts of each chunk to
    `receive`.
    """
    counter = _counters.get(connection)
    if counter is None:
        counter = _counters[connection] = _Counter()
        register(connection, _REGISTERED, counter)
    counter.begin(counted, receive)
    ordered, first = sorted(ids), 0
    if counted.density * (ordered[-1] - ordered[0]) > LOOK_UP_ABOVE:
        parts = count(connection, f"{with_parts(f'{table}_idx')} SELECT count(*) FROM parts")
        looked_up = expression.count('"') // 2 * (_LOOK_UP + _LOOK_UP_IN_PART * parts)
        looked_up += expression.count('" *') * _LOOK_UP_PREFIX
        cost = [at * looked_up + counted.density * (ordered[-1] - id_) for at, id_ in enumerate(ordered)]
        first = min(range(len(ordered)), key=cost.__getitem__)
    if apart := ordered[:first]:
        query = f"""SELECT {_REGISTERED}({table}) FROM carray(?) wanted
            CROSS JOIN {table} ON {table}.rowid = wanted.value WHERE {table} MATCH ?"""
        connection.execute(query, (id_array(apart), expression)).fetchall()
    # The unary plus keeps SQLite from running the whole match once for every id.
    query = f"""SELECT {_REGISTERED}({table}) FROM {table}
        WHERE {table} MATCH ? AND +rowid IN (SELECT value FROM carray(?)) AND rowid BETWEEN ? AND ?"""
    connection.execute(query, (expression, id_array(ordered[first:]), ordered[first], ordered[-1])).fetchall()


def with_parts(pages: str) -> str:
    """Return the SQL that defines `parts`, the numbers (part) of the parts (segments) of an FTS5 index.

    They grow in number with each commit until they are merged. `pages`: its table of pages.
    """
    following = f"SELECT min(segid) FROM {pages}"
    return f"""WITH RECURSIVE every (part) AS (
        {following} UNION ALL SELECT ({following} WHERE segid > part) FROM every WHERE part IS NOT NULL
    ), parts AS (SELECT part FROM every WHERE part IS NOT NULL)"""


def rank_by(connection: apsw.Connection, table: str, expression: str, idf_of: Mapping[str, float]) -> str:
    """Return the SQL of a rank for the matches of an FTS5 expression, lowest first, with these idfs of its phrases.

    FTS5's own `bm25` counts the matches of each phrase in the whole index, for each statement.
    """
    ranking = _rankings.get(connection)
    if ranking is None:
        ranking = _rankings[connection] = _Ranking()
        register(connection, _RANK, ranking)
    ranking.begin(_PHRASE.findall(expression), idf_of)
    return f"{_RANK}({table})"


def length_without(connection: apsw.Connection, table: str, ids: Collection[int]) -> int:
    """Return the number of tokens in all chunks except these."""
    register(connection, _LENGTH, lambda api: api.column_size(_WORDS))
    register(connection, _TOTAL, lambda api: api.column_total_size(_WORDS))
    query = f"SELECT {_LENGTH}({table}) FROM {table} WHERE rowid IN (SELECT value FROM carray(?))"
    left_out = sum(length for (length,) in connection.execute(query, (id_array(ids),)))
    return sum(total - left_out for (total,) in connection.execute(f"SELECT {_TOTAL}({table}) FROM {table} LIMIT 1"))


class _Ranking:
    """FTS5 auxiliary function that ranks the current row by BM25 with known idfs. A connection has one."""

    def begin(self, phrases: Sequence[str], idf_of: Mapping[str, float]) -> None:
        """Set the phrases of the expression, and the idfs of those that count; without any, the first one counts."""
        first = {phrase: number for number, phrase in reversed([*enumerate(phrases)]) if phrase in idf_of}
        self._idfs = [(number, idf_of[phrase]) for phrase, number in first.items()] or [(0, 1.0)]
        self._by_length = 0.0

    def __call__(self, api: apsw.FTS5ExtensionApi, /) -> float:
        columns_of, offsets_of = api.phrase_columns, api.phrase_column_offsets
        if not self._by_length:
            self._by_length = K1 * B * max(api.row_count, 1) / max(api.column_total_size(_WORDS), 1)
        norm, total = K1 * (1 - B) + self._by_length * api.column_size(_WORDS), 0.0
        for number, idf in self._idfs:
            if columns := columns_of(number):
                text = _STEMS if _STEMS in columns else _WORDS
                frequency = len(offsets_of(number, text)) if text in columns else len(columns)
                total -= idf * frequency / (frequency + norm)
        return total


class _Counter:
    """FTS5 auxiliary function that counts terms in the current row.

    It passes the counts on in memory, since SQL rows would have to be encoded. A connection has one counter, since each
    registered function takes memory until the connection is closed.
    """

    def begin(self, counted: CountedPhrases, receive: ReceiveCounts) -> None:
        """Set the terms to count, and the receiver of the counts."""
        kinds = [(term, kind) for term, of_term in enumerate(counted.kinds) for kind in of_term]
        phrases = zip(counted.phrases, kinds, strict=True)
        self._phrases = [(term, number, *_KINDS[kind]) for number, (term, kind) in phrases]
        self._neighbours = counted.neighbours
        self._average = 0.0
        self._receive = receive

    def __call__(self, api: apsw.FTS5ExtensionApi, /) -> None:
        columns_of, offsets_of = api.phrase_columns, api.phrase_column_offsets
        neighbours = self._neighbours
        matches: list[Match] = []
        around: list[Around] = []
        in_stems: dict[int, list[int]] = {}
        in_words: dict[int, list[int]] = {}
        in_headings: dict[int, list[tuple[int, list[int]]]] = {}
        last, frequencies = -1, [0.0]
        for term, number, kind, weights, in_text in self._phrases:
            if not (columns := columns_of(number)):
                continue
            if term != last:
                last, frequencies = term, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
                matches.append((term, frequencies))
            if columns not in _IN_TEXT:
                for column in columns:
                    if column != in_text and (weight := weights[column]):
                        offsets = offsets_of(number, column)
                        around.append((frequencies, kind, weight * len(offsets)))
                        if neighbours and column in _LINE_OF_HEADINGS:
                            in_headings.setdefault(term, []).append((column, offsets))
                        if column in _NAMED:
                            frequencies[-1] = 1.0
            if in_text in columns:
                offsets = offsets_of(number, in_text)
                frequencies[kind] += len(offsets)
                if neighbours:
                    occurrences = in_stems if in_text == _STEMS else in_words
                    if term in occurrences:
                        occurrences[term] += offsets
                    else:
                        occurrences[term] = offsets
        several = neighbours and len(matches) > 1
        distances = self._distances(in_stems, in_words, _line(api, in_headings)) if several else []
        average = self._average = self._average or api.column_total_size(_WORDS) / max(api.row_count, 1)
        self._receive(api.rowid, api.column_size(_WORDS), average, matches, around, distances)

    def _distances(
        self, in_stems: dict[int, list[int]], in_words: dict[int, list[int]], line: dict[int, list[int]]
    ) -> list[tuple[int, int]]:
        """Return, for each pair of neighbours in the chunk, the pair's number and its least distance in tokens.

        By term: its positions in the stems, in the words, and in the title followed by the headings. Positions of
        different arguments are not comparable.
        """
        distances = []
        for pair, (first, second) in enumerate(self._neighbours):
            least = 0
            if first in in_stems and second in in_stems:
                least = least_distance(in_stems[first], in_stems[second])
            elif first in in_words and second in in_words:
                least = least_distance(in_words[first], in_words[second])
            if least != 1 and first in line and second in line:
                least = min(filter(None, (least, least_distance(line[first], line[second]))), default=0)
            if least:
                distances.append((pair, least))
        return distances


def _line(api: apsw.FTS5ExtensionApi, found: dict[int, list[tuple[int, list[int]]]]) -> dict[int, list[int]]:
    """Return each term's positions in the title followed by the headings, if these contain two terms or more.

    `found`: by term, its columns, each with its positions there.
    """
    if len(found) < 2:
        return {}
    before = {_TITLE: 0, _HEADING: api.column_size(_TITLE)}
    return {
        term: [before[column] + offset for column, offsets in parts for offset in offsets]
        for term, parts in found.items()
    }


def least_distance(first: list[int], second: list[int]) -> int:
    """Return the smallest distance between two different positions, one of each list; 0 if there is none."""
    first.sort()  # a term with several stems has consecutive phrases for them
    second.sort()
    least = here = there = 0
    firsts, seconds = len(first), len(second)
    while least != 1 and here < firsts and there < seconds:
        gap = second[there] - first[here]
        if gap and (not least or abs(gap) < least):
            least = abs(gap)
        if gap < 0:
            there += 1
        else:
            here += 1
    return least


def matched_fields(
    snapshot: Snapshot, terms: Sequence[Term], ids: Sequence[int]
) -> "dict[int, tuple[tuple[MatchField, ...], ...]]":
    """Return, by chunk id, the fields (title, heading, ...) that contain each term, in the order of `terms`.

    Chunks without any term are left out. Reads all matches, like a ranking: for explanations, not for every key press.
    """
    known = [term for term in terms if term.chunks]
    if not known or not ids:
        return {}
    fts = snapshot.tables.fts
    register(snapshot.connection, _COLUMNS_OF_TERMS, _columns)
    # The unary plus keeps SQLite from running the whole match once for every id.
    rows = snapshot.connection.execute(
        f"""SELECT rowid, {_COLUMNS_OF_TERMS}({fts}, ?) FROM {fts}
            WHERE {fts} MATCH ? AND +rowid IN (SELECT value FROM carray(?))""",
        (
            " ".join(term.kinds for term in known),
            " OR ".join(form for term in known for form in term.forms),
            id_array(ids),
        ),
    )
    fields = {}
    for rowid, digits in rows:
        columns = dict(zip(known, digits.split(" "), strict=True))
        fields[rowid] = tuple(_fields(columns.get(term, "")) for term in terms)
    return fields


def _fields(columns: str) -> "tuple[MatchField, ...]":
    return tuple(dict.fromkeys(_FIELD_OF[FTS_COLUMNS[int(digit)]] for digit in sorted(columns)))


def _columns(api: apsw.FTS5ExtensionApi, /, *arguments: object) -> str:
    """FTS5 function: return for each term the digits of the columns that contain it, with a space between terms.

    The argument has a letter for each phrase, like a term's `kinds`, and a space between terms. A stem is not searched
    in `words`, nor a plain word in `stems`.
    """
    digits, phrase = [], 0
    for kinds in str(arguments[0]).split(" "):
        columns: set[int] = set()
        for kind in kinds:
            strange = FTS_COLUMNS.index("words" if kind in "sSi" else "stems")
            columns.update(column for column in api.phrase_columns(phrase) if column != strange)
            phrase += 1
        digits.append("".join(map(str, sorted(columns))))
    return " ".join(digits)
