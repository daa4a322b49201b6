"""Numbers, sizes and times as a person reads them. Pure functions; "now" is always given or the clock's."""

import time
from datetime import datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_UNITS = ("bytes", "KB", "MB", "GB", "TB")
_KILO = 1000


def grouped(number: int) -> str:
    """12480 -> 12,480."""
    return f"{number:,}"


def counted(number: int, one: str, many: str = "") -> str:
    """1 -> "1 file", 12480 -> "12,480 files"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size_text(count: float) -> str:
    """Bytes in decimal units: "812 bytes", "1.2 MB", "118 MB"."""
    unit = 0
    while count >= _KILO and unit < len(_UNITS) - 1:
        count /= _KILO
        unit += 1
    if unit == 0:
        return counted(int(count), "byte")
    return f"{count:.1f} {_UNITS[unit]}" if count < 9.95 else f"{count:.0f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """The two largest units: "4 s", "1 min 55 s", "2 h 03 min", "24 h"."""
    if seconds < 1:
        return "under 1 s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    minutes = whole % _HOUR // _MINUTE
    return f"{whole // _HOUR} h" + (f" {minutes:02} min" if minutes else "")


def ago(moment: float, now: float | None = None) -> str:
    """Relative up to a day, a date after that: "just now", "14 s ago", "2 min ago", "3 h ago", "3 Mar 2026"."""
    passed = (time.time() if now is None else now) - moment
    if passed >= _DAY or passed < -_MINUTE:
        return date(moment)
    if passed < 5:
        return "just now"
    if passed < _MINUTE:
        return f"{int(passed)} s ago"
    if passed < _HOUR:
        return f"{int(passed // _MINUTE)} min ago"
    return f"{int(passed // _HOUR)} h ago"


def date(moment: float) -> str:
    """3 Mar 2026, in local time."""
    when = _local(moment)
    return f"{when.day} {when:%b %Y}" if when else "unknown date"


def exact(moment: float) -> str:
    """3 Mar 2026, 14:05:09, for tooltips."""
    when = _local(moment)
    return f"{date(moment)}, {when:%H:%M:%S}" if when else "unknown date"


def clock_time(moment: float) -> str:
    """14:05."""
    when = _local(moment)
    return f"{when:%H:%M}" if when else "unknown time"


def _local(moment: float) -> datetime | None:
    """None beyond the calendar: a file's time may be any number, and it is told while painting."""
    try:
        return datetime.fromtimestamp(moment)
    except (ValueError, OverflowError, OSError):
        return None
