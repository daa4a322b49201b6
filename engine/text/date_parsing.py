"""Parses dates as users type them: days, months, years, "last week", and distances back from now (12h, 7d, 2w, 3m,
1y)."""

from datetime import date, datetime, time, timedelta

import msgspec

from engine.base import lazy_pattern

_DISTANCE = lazy_pattern(r"([0-9]{1,6})([hdwmy])")
_ISO = lazy_pattern(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_GERMAN = lazy_pattern(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
_DAYS_AGO = {"today": 0, "heute": 0, "yesterday": 1, "gestern": 1, "vorgestern": 2}
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday montag",
            "tuesday dienstag",
            "wednesday mittwoch",
            "thursday donnerstag",
            "friday freitag",
            "saturday samstag sonnabend",
            "sunday sonntag",
        )
    )
    for name in names.split()
}
_SPANS = {"week": "w", "woche": "w", "month": "m", "monat": "m", "year": "y", "jahr": "y"}
_THIS_OR_LAST = lazy_pattern(r"(?:(this|diese[nrs]?)|last|letzte[nrs]?)[ \t_-]+(week|month|year|woche|monat|jahr)")
EXAMPLES = "2026-05-31, 2026-05, 2026, April, last spring, yesterday, last week, or a time ago such as 7d, 3m or 1y"


class Period(msgspec.Struct, frozen=True):
    """A period of time in seconds since the epoch, without its `end`.

    For a distance back from now, such as "7d", begin and end are the same moment.
    """

    start: float
    end: float

    def days(self) -> tuple[float, float]:
        """Return start and end of the period or, for a moment, of the day that it is in."""
        if self.start < self.end:
            return self.start, self.end
        day = datetime.fromtimestamp(self.start).date()
        return _midnight(day), _midnight(day + timedelta(days=1))


def parse_period(text: str) -> Period | None:
    """Parse a date or period in local time; None if the text is neither. A weekday is the last such day, or today."""
    try:
        return _distance(text) or _named(text.casefold()) or _spoken(text)
    except (ValueError, OverflowError, OSError):
        return None  # 2026-02-30, or outside of the calendar's or the system clock's range


def _distance(text: str) -> Period | None:
    if match := _DISTANCE.fullmatch(text):
        moment = _back(datetime.now(), int(match[1]), match[2]).timestamp()
        return Period(moment, moment)
    return None


def _named(text: str) -> Period | None:
    today = datetime.now().date()
    if match := _ISO.fullmatch(text):
        year, month, day = (int(part) if part else 0 for part in match.groups())
        return _period_from(date(year, month or 1, day or 1), "d" if day else "m" if month else "y")
    if match := _GERMAN.fullmatch(text):
        return _period_from(date(int(match[3]), int(match[2]), int(match[1])), "d")
    if text in _DAYS_AGO:
        return _period_from(today - timedelta(days=_DAYS_AGO[text]), "d")
    if text in _WEEKDAYS:
        return _period_from(today - timedelta(days=(today.weekday() - _WEEKDAYS[text]) % 7), "d")
    if match := _THIS_OR_LAST.fullmatch(text):
        unit = _SPANS[match[2]]
        first = {
            "w": today - timedelta(days=today.weekday()),
            "m": today.replace(day=1),
            "y": today.replace(month=1, day=1),
        }
        begin = datetime.combine(first[unit], time.min)
        return _period_from((begin if match[1] else _back(begin, 1, unit)).date(), unit)
    return None


def _spoken(text: str) -> Period | None:
    """Return a time as a query may name it, such as "April", "last spring" or "8 May 2026".

    Without a year it is the last one that has begun.
    """
    from engine.text.time_expressions import read_times  # only few queries need it

    today = datetime.now().date()
    for phrase in (text, f"in {text}"):  # alone, "may" and "spring" are mostly other words
        times = read_times(phrase, today)
        if len(times) != 1 or times[0].text not in (phrase, text):
            continue
        first, last = times[0].first, times[0].last
        if times[0].yearly:
            begun = times[0].in_year(today.year)[0] <= today
            first, last = times[0].in_year(today.year if begun else today.year - 1)
        return Period(_midnight(first), _midnight(last + timedelta(days=1)))
    return None


def _period_from(first: date, unit: str) -> Period:
    """Return the day, week, month or year that begins with the day `first`."""
    if unit in "dw":
        after = first + timedelta(days=7 if unit == "w" else 1)
    elif unit == "m":
        after = first + timedelta(days=_days_in(first.year, first.month))
    else:
        after = first.replace(year=first.year + 1)
    return Period(_midnight(first), _midnight(after))


def _midnight(day: date) -> float:
    return datetime.combine(day, time.min).timestamp()


def _back(moment: datetime, number: int, unit: str) -> datetime:
    if unit == "h":
        return moment - timedelta(hours=number)
    if unit in "dw":
        return moment - timedelta(days=number * (7 if unit == "w" else 1))
    months = moment.year * 12 + moment.month - 1 - number * (12 if unit == "y" else 1)
    year, month = divmod(months, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, _days_in(year, month + 1)))


def _days_in(year: int, month: int) -> int:
    import calendar  # it loads more than the rest of this module, and few queries name a month

    return calendar.monthrange(year, month)[1]
