import argparse
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cli.arguments import parse_since, parse_until
from engine.text import date_parsing
from engine.text.date_parsing import parse_period


class Clock(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime(2026, 5, 31, 14, 30)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(date_parsing, "datetime", Clock)


def test_day_condition_includes_whole_day() -> None:
    assert parse_since("2026-05-31") == datetime(2026, 5, 31).timestamp()
    assert parse_until("2026-05-31") == datetime(2026, 6, 1).timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12h", datetime(2026, 5, 31, 2, 30)),
        ("7d", datetime(2026, 5, 24, 14, 30)),
        ("2w", datetime(2026, 5, 17, 14, 30)),
        ("3m", datetime(2026, 2, 28, 14, 30)),
        ("5m", datetime(2025, 12, 31, 14, 30)),
        ("1y", datetime(2025, 5, 31, 14, 30)),
        ("0d", datetime(2026, 5, 31, 14, 30)),
    ],
)
def test_relative_date_counts_back_from_now(text: str, expected: datetime) -> None:
    assert parse_since(text) == expected.timestamp()
    assert parse_until(text) == expected.timestamp()


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-05", (2026, 5, 1), (2026, 6, 1)),
        ("2025-12", (2025, 12, 1), (2026, 1, 1)),
        ("2024", (2024, 1, 1), (2025, 1, 1)),
        ("31.5.2026", (2026, 5, 31), (2026, 6, 1)),
        ("today", (2026, 5, 31), (2026, 6, 1)),
        ("Yesterday", (2026, 5, 30), (2026, 5, 31)),
        ("vorgestern", (2026, 5, 29), (2026, 5, 30)),
        ("sunday", (2026, 5, 31), (2026, 6, 1)),
        ("Montag", (2026, 5, 25), (2026, 5, 26)),
        ("Sonnabend", (2026, 5, 30), (2026, 5, 31)),
        ("this week", (2026, 5, 25), (2026, 6, 1)),
        ("last week", (2026, 5, 18), (2026, 5, 25)),
        ("last-month", (2026, 4, 1), (2026, 5, 1)),
        ("letztes Jahr", (2025, 1, 1), (2026, 1, 1)),
        ("diesen Monat", (2026, 5, 1), (2026, 6, 1)),
        ("April", (2026, 4, 1), (2026, 5, 1)),
        ("may", (2026, 5, 1), (2026, 6, 1)),
        ("June", (2025, 6, 1), (2025, 7, 1)),
        ("April 2024", (2024, 4, 1), (2024, 5, 1)),
        ("last spring", (2025, 3, 1), (2025, 6, 1)),
        ("spring", (2026, 3, 1), (2026, 6, 1)),
        ("winter", (2025, 12, 1), (2026, 3, 1)),
        ("February", (2026, 2, 1), (2026, 3, 1)),
        ("February 2024", (2024, 2, 1), (2024, 3, 1)),
        ("8 May 2025", (2025, 5, 8), (2025, 5, 9)),
    ],
)
def test_a_period_has_two_ends(text: str, start: tuple[int, int, int], end: tuple[int, int, int]) -> None:
    assert (parse_since(text), parse_until(text)) == (datetime(*start).timestamp(), datetime(*end).timestamp())
    period = parse_period(text)
    assert period.days() == (period.start, period.end)


def test_period_before_now_begins_on_that_calendar_day() -> None:
    assert parse_period("7d").days() == parse_period("2026-05-24").days()


@given(st.text())
def test_any_text_parses_as_date_or_is_refused(text: str) -> None:
    period = parse_period(text)
    assert period is None or period.start <= period.end


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "last",
        "last day",
        "2026-02-30",
        "2026-13",
        "32.01.2026",
        "0000",
        "26-05-31",
        "7",
        "d",
        "-7d",
        "7D",
        "999999y",
        "999999d",
        "1.5y",
        "٣d",
        " 7d",
    ],
)
def test_invalid_date_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a date"):
        parse_since(text)


@given(st.dates(min_value=datetime(1990, 1, 1).date(), max_value=datetime(2090, 1, 1).date()))
def test_day_ends_where_the_next_begins(day) -> None:
    assert parse_until(day.isoformat()) == parse_since((day + timedelta(days=1)).isoformat())
