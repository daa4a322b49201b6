"""Counts of terms in the chunks that match."""

from typing import NamedTuple

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.scoring import K1, B
from engine.search.term_counts import Around, CountedPhrases, Match, count_terms, least_distance, rank_by
from engine.store.index_schema import FTS_COLUMNS, FTS_TOKENIZER

positions = st.lists(st.integers(0, 60), max_size=12, unique=True)


@given(positions, positions)
def test_least_distance_ignores_equal_positions(first: list[int], second: list[int]) -> None:
    gaps = [abs(there - here) for here in first for there in second if here != there]
    shared = set(first) & set(second)
    found = least_distance(list(first), list(second))
    if not shared:
        assert found == min(gaps, default=0)
    else:  # where both are one word, a pair next to it may be passed over, but nothing nearer is made up
        assert found in {*gaps, 0}


@pytest.fixture
def index() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(f'CREATE VIRTUAL TABLE f USING fts5 ({", ".join(FTS_COLUMNS)}, tokenize="{FTS_TOKENIZER}")')
    rows = [
        ("pump", "", "", "the weir has a pump", "weir pump", ""),
        ("", "", "weir", "pump pump no weirs", "pump pump no weir", ""),
        ("", "", "", "weirs", "weir", "pump"),
    ]
    connection.executemany("INSERT INTO f VALUES (?, ?, ?, ?, ?, ?)", rows)
    return connection


class Taken(NamedTuple):
    """Records the arguments passed for a chunk."""

    length: int
    average: float
    matches: list[Match]
    around: list[Around]
    distances: list[tuple[int, int]]


def counted(index: apsw.Connection, phrases: CountedPhrases, expression: str, ids: list[int]) -> dict[int, Taken]:
    found: dict[int, Taken] = {}
    count_terms(index, "f", phrases, expression, ids, lambda id_, *counts: found.update({id_: Taken(*counts)}))
    return found


def stem_frequencies(taken: Taken) -> list[float]:
    return [frequencies[0] for _, frequencies in taken.matches]


def test_frequencies_are_weighted_and_neighbours_measured(index: apsw.Connection) -> None:
    phrases = CountedPhrases((0, 1), ("s", "s"), ((0, 1),))
    found = counted(index, phrases, '("weir") OR ("pump")', [1, 2, 3])
    assert stem_frequencies(found[1]) == pytest.approx([1.0, 1.0])
    assert found[1].distances == [(0, 1)]
    assert stem_frequencies(found[2]) == pytest.approx([1.0, 2.0])
    assert found[2].distances == [(0, 2)]
    assert stem_frequencies(found[3]) == pytest.approx([1.0, 0.0])
    around = [[(kind, number) for _, kind, number in taken.around] for taken in found.values()]
    assert around == [[(0, 0.5)], [(0, 1.0)], [(0, 0.5)]]
    assert found[3].distances == []
    assert (found[1].length, found[1].average) == pytest.approx((5, 10 / 3))


def test_ranking_counts_stems_else_columns(index: apsw.Connection) -> None:
    """With the given idfs; of a phrase that has none, nothing."""
    expression = '("no" OR "weir" OR "pump") AND ("weir" OR "pump")'
    score = rank_by(index, "f", expression, {'"weir"': 2.0, '"pump"': 3.0, '"gate"': 9.0})
    rows = dict(index.execute(f"SELECT rowid, {score} FROM f WHERE f MATCH ?", (expression,)).fetchall())

    def expected(length: int, weirs: int, pumps: int) -> float:
        norm = K1 * (1 - B + B * length / (10 / 3))
        return -2 * weirs / (weirs + norm) - 3 * pumps / (pumps + norm)

    assert rows == pytest.approx({1: expected(5, 1, 1), 2: expected(4, 1, 2), 3: expected(1, 1, 1)})


def test_chunks_far_apart_are_looked_up_with_equal_counts(index: apsw.Connection) -> None:
    text = ("", "", "", "a weir", "a weir", "")
    index.executemany("INSERT INTO f (rowid, words) VALUES (?, 'pump')", ((number,) for number in range(10, 5000)))
    index.execute(f"INSERT INTO f (rowid, {', '.join(FTS_COLUMNS)}) VALUES (5000, ?, ?, ?, ?, ?, ?)", text)
    of, ids = (('("weir") OR ("pump")', (0, 1)), [3, 2, 5000, 40, 4999, 1])
    plain, dense = (CountedPhrases(of[1], ("s", "p"), ((0, 1),), density) for density in (0.0, 50.0))
    statements = list[str]()
    index.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
    read = counted(index, plain, of[0], ids)
    assert not any("CROSS JOIN" in sql for sql in statements)
    assert counted(index, dense, of[0], ids) == read
    assert any("CROSS JOIN" in sql for sql in statements)
    assert list(read) == sorted(ids)


def test_title_and_headings_are_read_as_one_line(index: apsw.Connection) -> None:
    rows = [("weir", "pump", "", "", "", ""), ("weir", "the old pump", "", "pump a b c weir", "pump a b c weir", "")]
    index.executemany("INSERT INTO f VALUES (?, ?, ?, ?, ?, ?)", rows)
    found = counted(index, CountedPhrases((0, 1), ("s", "s"), ((0, 1),)), '("weir") OR ("pump")', [4, 5])
    assert [taken.distances for taken in found.values()] == [[(0, 1)], [(0, 3)]]


def test_a_match_outside_of_the_text_is_reported(index: apsw.Connection) -> None:
    found = counted(index, CountedPhrases((0, 1), ("s", "p"), ()), '("weir") OR ("pump")', [1, 2, 3])
    assert [bool(taken.around) for taken in found.values()] == [True, True, True]
    assert [[bool(frequencies[-1]) for _, frequencies in taken.matches] for taken in found.values()] == [
        [False, True],
        [True, False],
        [False, False],  # an alias isn't a title
    ]
    in_text = counted(index, CountedPhrases((0,), ("p",), ()), '("no")', [1, 2, 3])
    assert [taken.around for taken in in_text.values()] == [[]]


def test_phrases_before_the_requested_ones_are_skipped(index: apsw.Connection) -> None:
    found = counted(index, CountedPhrases((1,), ("p",), ()), '("weir") AND (("pump"))', [2])
    assert list(found) == [2]
    assert [(term, words) for term, (_, words, *_) in found[2].matches] == [(0, 2.0)]
    assert found[2].distances == []
