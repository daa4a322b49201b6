"""Parses dates as users type them: days, months, years, "last week", and distances back from now (12h, 7d, 2w, 3m,
1y)."""

from datetime import date, datetime, time, timedelta

import msgspec

from engine.base import lazy_pattern

_DISTANCE = lazy_pattern(r"([0-9]{1,6})([hdwmy])")
_ISO = lazy_pattern(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_JOINTS = lazy_pattern(r"[\s_-]+")
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
        if match := _DISTANCE.fullmatch(text):
            moment = _back(datetime.now(), int(match[1]), match[2]).timestamp()
            return Period(moment, moment)
        days = _days(text)
        return None if days is None else Period(_midnight(days[0]), _midnight(days[1] + timedelta(days=1)))
    except (ValueError, OverflowError, OSError):
        return None  # 2026-02-30, or outside of the calendar's or the system clock's range


def _days(text: str) -> tuple[date, date] | None:
    """Return the first and the last day of a date, or of a time as a query may name it, such as "April" or "last week".

    Without a year it is the last one that has begun.
    """
    from engine.text.time_expressions import period_around, read_times  # few queries need it

    if match := _ISO.fullmatch(text):  # compiling the patterns of other times takes milliseconds
        year, month, day = (int(part or 0) for part in match.groups())
        first = date(year, month or 1, day or 1)
        return (first, first) if day else period_around(first, "m" if month else "y")
    today = datetime.now().date()
    # Alone, "may" and "monday" are mostly other words.
    for phrase in dict.fromkeys((text, " ".join(_JOINTS.split(text)), f"in {text}", f"on {text}")):
        times = read_times(phrase, today)
        if len(times) == 1 and times[0].text in (phrase, text):
            if not times[0].yearly:
                return times[0].first, times[0].last
            begun = times[0].in_year(today.year)[0] <= today
            return times[0].in_year(today.year if begun else today.year - 1)
    return None


def _midnight(day: date) -> float:
    return datetime.combine(day, time.min).timestamp()


def _back(moment: datetime, number: int, unit: str) -> datetime:
    if unit in "hdw":
        return moment - number * timedelta(hours=unit == "h", days=unit == "d", weeks=unit == "w")
    from engine.text.time_expressions import period_around

    months = moment.year * 12 + moment.month - 1 - number * (12 if unit == "y" else 1)
    year, month = divmod(months, 12)
    _, last = period_around(date(year, month + 1, 1), "m")
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last.day))
