"""Formats numbers, sizes and times in the language of the window; "now" is given or the clock's."""

import time
from datetime import datetime

from engine import number, tr, tr_count
from gui.widgets.date_text import short_date

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
        return date(moment)
    if passed < 5:
        return tr("just now")
    if passed < _MINUTE:
        return tr("{seconds} s ago", seconds=int(passed))
    if passed < _HOUR:
        return tr("{minutes} min ago", minutes=int(passed // _MINUTE))
    return tr("{hours} h ago", hours=int(passed // _HOUR))


def date(moment: float) -> str:
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
    """None beyond the calendar: a file's time may be any number, and it is formatted while painting."""
    try:
        return datetime.fromtimestamp(moment)
    except (ValueError, OverflowError, OSError):
        return None
