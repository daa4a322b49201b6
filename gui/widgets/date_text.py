"""Days, months and their names in the language of the window.

The names are here since those of Python follow the desktop's language. QLocale (Qt 6.11) and Babel 2.18 have the same
names in English and German, but not for the trial languages, and no German pattern with a short month ("2. März 2020").
A date takes 3 to 6 µs here, 2 to 4 with QLocale and 15 with Babel.
"""

from datetime import date

from engine import marked, tr

_WEEKDAYS = (
    marked("Monday"),
    marked("Tuesday"),
    marked("Wednesday"),
    marked("Thursday"),
    marked("Friday"),
    marked("Saturday"),
    marked("Sunday"),
)
_MONTHS = (
    marked("January"),
    marked("February"),
    marked("March"),
    marked("April"),
    marked("May"),
    marked("June"),
    marked("July"),
    marked("August"),
    marked("September"),
    marked("October"),
    marked("November"),
    marked("December"),
)
_SHORT_MONTHS = (
    marked("Jan"),
    marked("Feb"),
    marked("Mar"),
    marked("Apr"),
    marked("May"),
    marked("Jun"),
    marked("Jul"),
    marked("Aug"),
    marked("Sep"),
    marked("Oct"),
    marked("Nov"),
    marked("Dec"),
)


def weekday(day: date) -> str:
    """Sunday."""
    return tr(_WEEKDAYS[day.weekday()])


def short_date(day: date) -> str:
    """8 Feb 2026."""
    return tr("{day} {month} {year}", day=day.day, month=tr(_SHORT_MONTHS[day.month - 1]), year=day.year)


def long_date(day: date) -> str:
    """8 February 2026."""
    return tr("{day} {month} {year}", day=day.day, month=_month(day), year=day.year)


def weekday_and_day(day: date) -> str:
    """Sunday 8 February, if the year is obvious."""
    return tr("{weekday} {day} {month}", weekday=weekday(day), day=day.day, month=_month(day))


def weekday_and_date(day: date) -> str:
    """Sunday 8 February 2026."""
    return tr("{weekday} {date}", weekday=weekday(day), date=long_date(day))


def month_and_year(day: date) -> str:
    """February 2026."""
    return tr("{month} {year}", month=_month(day), year=day.year)


def short_month_and_year(day: date) -> str:
    """Feb 2026."""
    return tr("{month} {year}", month=tr(_SHORT_MONTHS[day.month - 1]), year=day.year)


def _month(day: date) -> str:
    return tr(_MONTHS[day.month - 1])
