"""What FTS5 tells of the chunks that match."""

import math

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.term_counts import Asked, ask, least_distance
from engine.store.schema import FTS_COLUMNS, FTS_TOKENIZER

places = st.lists(st.integers(0, 60), max_size=12, unique=True)


@given(places, places)
def test_the_least_distance_is_that_of_two_different_places(first: list[int], second: list[int]) -> None:
    gaps = [abs(there - here) for here in first for there in second if here != there]
    shared = set(first) & set(second)
    found = least_distance(list(first), list(second))
    if not shared:
        assert found == min(gaps, default=math.inf)
    else:  # where both are one word, a pair next to it may be passed over, but nothing nearer is made up
        assert found in {*gaps, math.inf}


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


def test_frequencies_are_weighed_by_column_and_neighbours_measured_in_the_text(index: apsw.Connection) -> None:
    asked = Asked(0, ("s", "s"), ((0, 1),))
    found = dict(ask(index, "f", asked, '("weir") OR ("pump")', [1, 2, 3]))
    assert found[1].frequencies == pytest.approx([1.0, 1.5])
    assert found[1].distances == pytest.approx([1.0])
    assert found[2].frequencies == pytest.approx([2.0, 2.0])
    assert found[2].distances == pytest.approx([2.0])
    assert found[3].frequencies == pytest.approx([1.0, 0.5])
    assert found[3].distances == [math.inf]
    assert (found[1].length, found[1].average) == pytest.approx((5, 10 / 3))


def test_only_what_is_asked_for_is_told(index: apsw.Connection) -> None:
    asked = Asked(1, ("p",), ())
    ((id_, counts),) = ask(index, "f", asked, '("weir") AND (("pump"))', [2])
    assert id_ == 2
    assert counts.frequencies == pytest.approx([2.0])
    assert counts.distances == []
