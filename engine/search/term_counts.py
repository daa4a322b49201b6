"""What FTS5 tells of the chunks that match: how often each phrase occurs, and how near words of the question stand."""

import math
import struct
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

import apsw

from engine.store.schema import FTS_COLUMNS

COLUMN_WEIGHTS = {"title": 0.5, "heading": 0.5, "name": 1.0, "words": 1.0, "stems": 1.0, "aliases": 0.5}
"""Titles, aliases and headings are in the text as well, and a title or an alias in all chunks of its file."""
WEIGHTS = tuple(COLUMN_WEIGHTS[column] for column in FTS_COLUMNS)
_WORDS = FTS_COLUMNS.index("words")
"""The column whose length is a chunk's length: it holds every token, the stems of some are nowhere."""
_STEMS = FTS_COLUMNS.index("stems")
_NAMED = {FTS_COLUMNS.index("title"), FTS_COLUMNS.index("name")}
_STEM_WEIGHTS = tuple(0.0 if column == "words" else weight for column, weight in COLUMN_WEIGHTS.items())
_PLAIN_WEIGHTS = tuple(0.0 if column == "stems" else weight for column, weight in COLUMN_WEIGHTS.items())
_REGISTERED = "term_counts"
_told: WeakKeyDictionary[apsw.Connection, set[str]] = WeakKeyDictionary()


class Asked(NamedTuple):
    """The phrases of one expression."""

    skipped: int
    """So many phrases at its beginning are not asked for."""
    kinds: tuple[str, ...]
    """Of each term, the kinds of its phrases: s for a stem, p for a plain word, capital letters for weaker forms."""
    neighbours: tuple[tuple[int, int], ...]
    """Places in `kinds` of terms that follow one another in the question."""

    @property
    def spelt(self) -> str:
        """As an argument in SQL."""
        pairs = " ".join(f"{first},{second}" for first, second in self.neighbours)
        return f"{self.skipped};{' '.join(self.kinds)};{pairs}"


class Counts(NamedTuple):
    """What one chunk holds of them."""

    length: float
    """Of the chunk, in tokens."""
    average: float
    """Length of all chunks on average."""
    frequencies: Sequence[float]
    """Of each phrase, weighted by column."""
    titled: Sequence[float]
    """Of each phrase, 1 where the title or the file's name holds it, else 0."""
    distances: Sequence[float]
    """Between the nearest occurrences of each pair of neighbours, in tokens; infinite where one is missing."""


def register(connection: apsw.Connection, name: str, function: Callable[..., str | bytes]) -> None:
    """Give a connection a function of FTS5 that it may have already.

    Each time would take some memory that only the end of the connection gives back.
    """
    told = _told.setdefault(connection, set())
    if name not in told:
        connection.register_fts5_function(name, function)
        told.add(name)


def ask(
    connection: apsw.Connection, table: str, asked: Asked, expression: str, ids: Collection[int]
) -> list[tuple[int, Counts]]:
    """What those of these chunks hold that match; whatever else matches is only walked through."""
    register(connection, _REGISTERED, _term_counts)
    # The unary plus keeps SQLite from running the whole match once for every id.
    rows = connection.execute(
        f"""SELECT rowid, {_REGISTERED}({table}, ?) FROM {table}
            WHERE {table} MATCH ? AND +rowid IN ({",".join(map(str, ids))})""",
        (asked.spelt, expression),
    )
    phrases = sum(map(len, asked.kinds))
    found = []
    for rowid, packed in rows:
        length, average, *figures = struct.unpack(f"<{len(packed) // 4}f", packed)
        titled = figures[phrases : 2 * phrases]
        found.append((rowid, Counts(length, average, figures[:phrases], titled, figures[2 * phrases :])))
    return found


class _Phrase(NamedTuple):
    number: int
    weights: tuple[float, ...]
    column: int
    """Where it stands in the text."""
    term: int


@lru_cache(maxsize=8)
def _plan(spelt: str) -> tuple[tuple[_Phrase, ...], tuple[tuple[int, int], ...]]:
    skipped, kinds, pairs = spelt.split(";")
    phrases, number = [], int(skipped)
    for term, of_term in enumerate(kinds.split(" ")):
        for kind in of_term:
            told = (_STEM_WEIGHTS, _STEMS) if kind in "sS" else (_PLAIN_WEIGHTS, _WORDS)
            phrases.append(_Phrase(number, *told, term))
            number += 1
    places = (pair.split(",") for pair in pairs.split())
    return tuple(phrases), tuple((int(first), int(second)) for first, second in places)


def _term_counts(api: apsw.FTS5ExtensionApi, /, *arguments: object) -> bytes:
    """Little-endian floats: the figures of `Counts` in their order."""
    phrases, neighbours = _plan(str(arguments[0]))
    counts: list[float] = []
    titled: list[float] = []
    standing: dict[tuple[int, int], list[int]] = {}
    for number, weights, in_text, term in phrases:
        count = 0.0
        columns = api.phrase_columns(number)
        titled.append(float(not _NAMED.isdisjoint(columns)))
        for column in columns:
            offsets = api.phrase_column_offsets(number, column)
            count += weights[column] * len(offsets)
            if column == in_text:
                standing.setdefault((term, column), []).extend(offsets)
        counts.append(count)
    counts += titled
    for first, second in neighbours:
        counts.append(_nearest(standing, first, second))
    average = api.column_total_size(_WORDS) / max(api.row_count, 1)
    return struct.pack(f"<ff{len(counts)}f", api.column_size(_WORDS), average, *counts)


def _nearest(standing: dict[tuple[int, int], list[int]], first: int, second: int) -> float:
    for column in (_STEMS, _WORDS):  # places in one column say nothing of those in the other
        if (first, column) in standing and (second, column) in standing:
            return least_distance(standing[first, column], standing[second, column])
    return math.inf


def least_distance(first: list[int], second: list[int]) -> float:
    """Between a place of the one list and another place of the other; infinite where there are no two."""
    first.sort()  # a term with several stems has them one after the other
    second.sort()
    least, here, there = math.inf, 0, 0
    while here < len(first) and there < len(second):
        gap = second[there] - first[here]
        if gap and abs(gap) < least:
            least = abs(gap)
        if gap < 0:
            there += 1
        else:
            here += 1
    return least
