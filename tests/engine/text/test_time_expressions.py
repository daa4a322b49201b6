"""Times in queries: which are parsed, in which languages, and which words aren't times."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.time_expressions import TimeExpression, read_dates, read_times

TODAY = date(2026, 11, 26)  # a Thursday


def _spans(text: str) -> list[str]:
    """Return each time as `first..last`, without the year if any year is meant."""
    return [
        f"{found.first:%m-%d}..{found.last:%m-%d}" if found.yearly else f"{found.first}..{found.last}"
        for found in read_times(text, TODAY)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "8 May 2023",
        "May 8th, 2023",
        "the eighth of May 2023",
        "2023-05-08",
        "08.05.2023",
        "am 8. Mai 2023",
        "le 8 mai 2023",
        "8 de mayo de 2023",
        "8 maggio 2023",
        "8 de maio de 2023",
        "8 mei 2023",
        "2023年5月8日",
        "2023년 5월 8일",
    ],
)
def test_day_read_in_every_language(text: str) -> None:
    assert _spans(f"Who came {text}?") == ["2023-05-08..2023-05-08"]


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("in May", "05-01..05-31"),
        ("May 8th", "05-08..05-08"),
        ("in May 2023", "2023-05-01..2023-05-31"),
        ("at the end of April", "04-21..04-30"),
        ("in mid December", "12-11..12-20"),
        ("in winter", "12-01..02-28"),
        ("at Christmas", "12-24..12-26"),
        ("in 2022", "2022-01-01..2022-12-31"),
        ("5月", "05-01..05-31"),
        ("last December", "2025-12-01..2025-12-31"),
        ("last spring", "2026-03-01..2026-05-31"),
        ("letzten Sommer", "2026-06-01..2026-08-31"),
        ("l'été dernier", "2026-06-01..2026-08-31"),
        ("no verão passado", "2026-06-01..2026-08-31"),
    ],
)
def test_longer_times_read_as_spans(text: str, span: str) -> None:
    assert _spans(f"What happened {text}?") == [span]


@pytest.mark.parametrize(
    ("texts", "span"),
    [
        (
            "yesterday|gestern|qu'est-ce que nous avons fait hier|ayer|ieri|ontem|gisteren|昨天",
            "2026-11-25..2026-11-25",
        ),
        ("last week|letzte Woche|la semaine dernière|vorige week", "2026-11-16..2026-11-22"),
        (
            "three weeks ago|vor drei Wochen|il y a trois semaines|hace tres semanas|tre settimane fa|"
            "há três semanas|drie weken geleden",
            "2026-11-02..2026-11-08",
        ),
        ("on Monday|am Montag|lundi dernier|el lunes|na segunda-feira|op maandag", "2026-11-23..2026-11-23"),
    ],
)
def test_relative_times_count_from_today(texts: str, span: str) -> None:
    for text in texts.split("|"):
        assert _spans(text) == [span], text


@pytest.mark.parametrize(
    "text",
    [
        "may I ask who marches on",
        "step 3 may fail",
        "the second may be wrong",
        "a march through the town",
        "Python 3.12.2 or 1.2.3",
        "spring boot and the fall of Rome",
        "31/02/2024",
        "0000-00-00",
        "99999 days ago",
        "on Thursdays",
        "j'ai été là",
        "Was ist hier noch zu tun",
        "",
    ],
)
def test_other_words_and_numbers_are_not_times(text: str) -> None:
    assert _spans(text) == []


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("the ship in mid Dece", "12-11..12-20"),
        ("what he wanted in the aut", "09-01..11-30"),
        ("orders in Apr", "04-01..04-30"),
        ("im Somm", "06-01..08-31"),
        ("depuis févr", "02-01..02-29"),
    ],
)
def test_time_at_the_end_is_read_before_it_is_typed(text: str, span: str) -> None:
    assert _spans(text) == [span]
    (found,) = read_times(text, TODAY)
    assert text.endswith(found.text)


@pytest.mark.parametrize(
    "text", ["in mark", "in ju", "in Jun's car", "in the fal ", "a ship of Dece", "dinner in sumo"]
)
def test_partial_word_other_than_time_is_ignored(text: str) -> None:
    assert _spans(text) == []


def test_slashed_date_read_both_ways() -> None:
    assert _spans("8/5/2023") == ["2023-05-08..2023-05-08", "2023-08-05..2023-08-05"]


def test_several_times_in_order_of_the_query() -> None:
    found = read_times("between May and November", TODAY)
    assert [time.first.month for time in found] == [5, 11]


def test_yearly_time_is_near_in_every_year() -> None:
    (winter,) = read_times("in winter", TODAY)
    assert winter.days_from(date(2024, 1, 5), date(2024, 1, 5)) == 0
    assert winter.days_from(date(2019, 12, 31), date(2019, 12, 31)) == 0
    assert winter.days_from(date(2024, 11, 29), date(2024, 11, 29)) == 2
    assert winter.days_from(date(2024, 7, 1), date(2024, 7, 1)) > 60


def test_dates_of_a_title_leave_out_relative_times() -> None:
    assert read_dates("yesterday in May") == ()
    assert read_dates("Walk, 8 May 2023") == (TimeExpression("8 May 2023", date(2023, 5, 8), date(2023, 5, 8)),)


@given(st.text(max_size=80), st.dates())
def test_any_text_is_read_without_error(text: str, today: date) -> None:
    for found in (*read_times(text, today), *read_dates(text)):
        assert found.first <= found.last
        assert found.text


@given(
    st.lists(
        st.sampled_from(
            (
                "last this in May march 8 31 8th 2023 0001 week years ago three spring vor il y a fin de mi - . / 年 月"
            ).split()
        ),
        max_size=8,
    ),
    st.dates(),
    st.dates(),
)
def test_any_words_of_time_are_read_without_error(words: list[str], today: date, other: date) -> None:
    for found in read_times(" ".join(words), today):
        assert found.first <= found.last
        assert found.days_from(other, other) >= 0
