import pytest

from engine import set_language
from gui.text.formatting import ago, date_of, duration, exact, shown_headings, size_text

NOON = 1_772_535_600.0
DAY = 86_400


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 KB"),
        (9_949, "9.9 KB"),
        (9_970, "10 KB"),
        (118_000_000, "118 MB"),
        (1_500_000_000, "1.5 GB"),
    ],
)
def test_sizes_have_a_suitable_unit(count, text):
    assert size_text(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "under 1 s"),
        (4.4, "4 s"),
        (59.6, "1 min 0 s"),
        (115, "1 min 55 s"),
        (7380, "2 h 03 min"),
        (86_400, "24 h"),
    ],
)
def test_durations_have_suitable_units(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("passed", "text"),
    [
        (-30, "just now"),
        (2, "just now"),
        (14, "14 s ago"),
        (120, "2 min ago"),
        (3 * 3600, "3 h ago"),
        (DAY - 1, "23 h ago"),
    ],
)
def test_times_are_relative_up_to_a_day(passed, text):
    assert ago(NOON - passed, NOON) == text


def test_times_are_dates_after_a_day_and_in_the_future():
    assert ago(NOON - DAY, NOON) == date_of(NOON - DAY)
    assert ago(NOON + DAY, NOON) == date_of(NOON + DAY)
    assert exact(NOON).startswith(date_of(NOON) + ", ")


@pytest.mark.parametrize(
    ("path", "headings", "expected"),
    [
        ("books/sailing.pdf", ("Page 12",), ("Seite 12",)),
        ("books/sailing.pdf", ("Contents",), ("Contents",)),
        ("books/sailing.pdf", (), ()),
        ("notes/page.md", ("Page 12", "Knots"), ("Page 12", "Knots")),
    ],
)
def test_page_of_document_is_shown_in_language_of_window(path, headings, expected):
    set_language("de")
    try:
        assert shown_headings(path, headings) == expected
    finally:
        set_language("en")
