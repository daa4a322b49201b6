"""Dates on the command line: a day (2026-05-31), or a distance back from now (12h, 7d, 2w, 3m, 1y)."""

import argparse
import calendar
import re
from datetime import date, datetime, time, timedelta

_DISTANCE = re.compile(r"([0-9]{1,6})([hdwmy])")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_since(text: str) -> float:
    """Seconds since the epoch at the start of the day, or that long ago. Raises `ArgumentTypeError`."""
    return _parse(text, days_later=0)


def parse_until(text: str) -> float:
    """Seconds since the epoch at the end of the day (the next one's start), or that long ago."""
    return _parse(text, days_later=1)


def _parse(text: str, *, days_later: int) -> float:
    """The moment, in local time."""
    try:
        if distance := _DISTANCE.fullmatch(text):
            return _back(datetime.now(), int(distance[1]), distance[2]).timestamp()
        if _DAY.fullmatch(text):
            day = date.fromisoformat(text) + timedelta(days=days_later)
            return datetime.combine(day, time.min).timestamp()
    except (ValueError, OverflowError, OSError):
        pass  # 2026-02-30, or beyond what the calendar or the system's clock can say
    raise argparse.ArgumentTypeError(f"{text!r} is no date: use 2026-05-31, or 7d, 3m or 1y for so long ago")


def _back(moment: datetime, number: int, unit: str) -> datetime:
    if unit == "h":
        return moment - timedelta(hours=number)
    if unit in "dw":
        return moment - timedelta(days=number * (7 if unit == "w" else 1))
    months = moment.year * 12 + moment.month - 1 - number * (12 if unit == "y" else 1)
    year, month = divmod(months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))
