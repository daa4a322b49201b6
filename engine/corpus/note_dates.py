"""Finds the date of a note in its name or its front matter."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Literal, NamedTuple

from engine.base import lazy_pattern

Origin = Literal["name", "folder"]

_FIRST_YEAR, _LAST_YEAR = 1900, 2199
_NOT_DATES = r"(?<![0-9])"
# 2026-01-11, 2026_01_11, 2026.01.11, 20260111; a time may follow the last (202601111230), and a slug each of them.
_DAY = lazy_pattern(
    _NOT_DATES + r"([12][0-9]{3})(?:([-_. ]?)([01][0-9])\2([0-3][0-9]))(?=[^0-9]|[0-2][0-9][0-5][0-9]|$)"
)
_WEEK = lazy_pattern(_NOT_DATES + r"([12][0-9]{3})[-_. ]?[wW]([0-5][0-9])(?![0-9])")
_MONTH = lazy_pattern(_NOT_DATES + r"([12][0-9]{3})[-_.]([01][0-9])(?![0-9]|[-_.][0-9])")
_YEAR = lazy_pattern(r"[12][0-9]{3}")
_MONTH_FOLDER = lazy_pattern(r"(?:[12][0-9]{3}[-_.])?([01][0-9])(?![0-9]).*")
_DAY_PART = lazy_pattern(r"([0-3][0-9])(?![0-9]).*")

_KEYS = {
    *("date", "day", "created", "created_at", "created_on", "creation_date", "date_created", "published"),
    *("updated", "updated_at", "updated_on", "date_updated", "modified", "date_modified", "last_modified", "lastmod"),
    *("last_updated", "last_edited", "mtime", "created_time", "updated_time", "last_edited_time"),
    *("user_created_time", "user_updated_time"),
}
_WRITTEN = lazy_pattern(
    r"([12][0-9]{3})[-/.]([01]?[0-9])[-/.]([0-3]?[0-9])"
    r"(?:[T ]+([0-2]?[0-9]):([0-5][0-9])(?::([0-5][0-9])(?:[.,][0-9]+)?)?)?(?![0-9]).*"
)
_EPOCH = lazy_pattern(r"(1[0-9]{9})(?:[0-9]{3})?")
"""Seconds or, as Dendron writes them, milliseconds since 1970, between 2001 and 2033."""
_YES = frozenset({"true", "yes", "on", "1"})


class NoteDate(NamedTuple):
    moment: float
    """Seconds since the epoch, in UTC: the beginning of a day, or of the last day of a week or month."""
    origin: Origin


def date_in_name(name: str) -> NoteDate | None:
    """Return the date in a stable name: in the file name, else in its folders; None if there is none.

    `daily/2026-01-11-standup.md`, `log/2026/01/11.md`, `2026-01/11 walk.md`, `journal/2026-W03.md`, `2026-01.md`.
    """
    if _YEAR.search(name) is None:  # few names have a date, and an index has thousands
        return None
    *folders, base = name.split("/")
    stem = base.rpartition(".")[0] or base
    if date_of_name := _day_in(stem):
        return NoteDate(_moment(date_of_name), "name")
    for day in _days_in_folders(folders, stem):
        return NoteDate(_moment(day), "folder")
    if date_of_name := _week_in(stem) or _month_in(stem):
        return NoteDate(_moment(date_of_name), "name")
    for folder in reversed(folders):
        if date_of_name := _week_in(folder) or _month_in(folder):
            return NoteDate(_moment(date_of_name), "folder")
    for year, month in pairwise(folders):
        if _YEAR.fullmatch(year) and (match := _MONTH_FOLDER.fullmatch(month)):
            last = _last_of_month(int(year), int(match[1]))
            if last is not None:
                return NoteDate(_moment(last), "folder")
    return None


def dates_in_front_matter(values: Mapping[str, str]) -> tuple[float, ...]:
    """Return the note's own dates in its front matter, ascending, in seconds since the epoch, in UTC."""
    written = (_written(value) for key, value in values.items() if key in _KEYS)
    return tuple(sorted({moment for moment in written if moment is not None}))


def is_evergreen(values: Mapping[str, str]) -> bool:
    """Whether the front matter says that the note doesn't age."""
    return values.get("evergreen", "").strip().lower() in _YES


def _days_in_folders(folders: list[str], stem: str) -> Iterator[date]:
    """Yield dates made of folders, or of folders and the beginning of the file name; innermost first."""
    parts = [*folders, stem]
    for end in range(len(parts), 0, -1):
        if end < len(parts) and (day_of_folder := _day_in(parts[end - 1])):
            yield day_of_folder
        if end >= 2 and (month := _month_in(parts[end - 2])) and (day := _DAY_PART.fullmatch(parts[end - 1])):
            yield from _valid_day(month.year, month.month, int(day[1]))
        if end >= 3 and _YEAR.fullmatch(parts[end - 3]):
            month_part, day = _MONTH_FOLDER.fullmatch(parts[end - 2]), _DAY_PART.fullmatch(parts[end - 1])
            if month_part and day:
                yield from _valid_day(int(parts[end - 3]), int(month_part[1]), int(day[1]))


def _day_in(text: str) -> date | None:
    return next((day for m in _DAY.finditer(text) for day in _valid_day(int(m[1]), int(m[3]), int(m[4]))), None)


def _week_in(text: str) -> date | None:
    match = _WEEK.search(text)
    try:
        return date.fromisocalendar(int(match[1]), int(match[2]), 7) if match else None
    except ValueError:
        return None


def _month_in(text: str) -> date | None:
    match = _MONTH.search(text)
    return _last_of_month(int(match[1]), int(match[2])) if match else None


def _last_of_month(year: int, month: int) -> date | None:
    if not (1 <= month <= 12 and _FIRST_YEAR <= year <= _LAST_YEAR):
        return None
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def _valid_day(year: int, month: int, day: int) -> Iterator[date]:
    """Yield the day, unless it doesn't exist."""
    try:
        real_day = date(year, month, day)
    except ValueError:
        return
    if _FIRST_YEAR <= year <= _LAST_YEAR:
        yield real_day


def _moment(day: date) -> float:
    return (day - date(1970, 1, 1)) / timedelta(seconds=1)


def _written(value: str) -> float | None:
    """Parse a date, or date and time, with the year first, a Unix time, or a day as in "June 27, 2023 9:32 PM".

    The time counts as written, as if it were in UTC: in any zone, a note of 12 May is a note of that day.
    """
    if epoch := _EPOCH.fullmatch(value.strip()):
        return float(epoch[1])
    match = _WRITTEN.fullmatch(value.strip().strip("[]\"'").strip())
    if match is None:
        from engine.text.time_expressions import read_dates  # most notes have no date, or another form of it

        found = read_dates(value) if _YEAR.search(value) else ()
        return _moment(found[0].first) if len(found) == 1 and found[0].first == found[0].last else None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)
