"""Formats numbers, sizes, dates and times in the language of the window; "now" is given or the clock's."""

import time
from datetime import date, datetime

from engine import marked, number, tr, tr_count

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_UNITS = ("KB", "MB", "GB", "TB")
_KILO = 1000


def grouped(count: int) -> str:
    """12480 -> 12,480."""
    return number(count)


def size_text(count: float) -> str:
    """Bytes in decimal units: "812 bytes", "1.2 MB", "118 MB"."""
    if count < _KILO:
        return tr_count("{count:,} byte", "{count:,} bytes", int(count))
    unit = -1
    while count >= _KILO and unit < len(_UNITS) - 1:
        count /= _KILO
        unit += 1
    return f"{number(count, '.1f' if count < 9.95 else '.0f')} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """The two largest units: "4 s", "1 min 55 s", "2 h 03 min", "24 h"."""
    if seconds < 1:
        return tr("under 1 s")
    whole = round(seconds)
    if whole < _MINUTE:
        return tr("{seconds} s", seconds=whole)
    if whole < _HOUR:
        return tr("{minutes} min {seconds} s", minutes=whole // _MINUTE, seconds=whole % _MINUTE)
    hours, minutes = whole // _HOUR, whole % _HOUR // _MINUTE
    return tr("{hours} h {minutes:02} min", hours=hours, minutes=minutes) if minutes else tr("{hours} h", hours=hours)


def ago(moment: float, now: float | None = None) -> str:
    """Relative up to a day, a date after that: "just now", "14 s ago", "2 min ago", "3 h ago", "3 Mar 2026"."""
    passed = (time.time() if now is None else now) - moment
    if passed >= _DAY or passed < -_MINUTE:
        return date_of(moment)
    if passed < 5:
        return tr("just now")
    if passed < _MINUTE:
        return tr("{seconds} s ago", seconds=int(passed))
    if passed < _HOUR:
        return tr("{minutes} min ago", minutes=int(passed // _MINUTE))
    return tr("{hours} h ago", hours=int(passed // _HOUR))


def date_of(moment: float) -> str:
    """3 Mar 2026, in local time."""
    when = _local(moment)
    return short_date(when) if when else tr("unknown date")


def exact(moment: float) -> str:
    """3 Mar 2026, 14:05:09, for tooltips."""
    when = _local(moment)
    return tr("{date}, {time}", date=short_date(when), time=f"{when:%H:%M:%S}") if when else tr("unknown date")


def clock_time(moment: float) -> str:
    """14:05."""
    when = _local(moment)
    return f"{when:%H:%M}" if when else tr("unknown time")


def _local(moment: float) -> datetime | None:
    """Return the local time; None outside of the calendar, since a file's time may be any number."""
    try:
        return datetime.fromtimestamp(moment)
    except (ValueError, OverflowError, OSError):
        return None


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


def day_and_month(day: date) -> str:
    """8 February, if the year is obvious."""
    return tr("{day} {month}", day=day.day, month=_month(day))


def short_day(day: date) -> str:
    """8 Feb, if the year is obvious."""
    return tr("{day} {month}", day=day.day, month=tr(_SHORT_MONTHS[day.month - 1]))


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
