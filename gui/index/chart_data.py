"""The overview of an index as charts: pure functions from counts to chart data, tables and spoken text."""

from collections.abc import Iterable, Sequence
from datetime import date

from engine import ChunkSizes, DiskPart, DiskPartName, KeptSync, MonthCount, marked, tr, tr_count
from gui.widgets.charts.card import TableColumn
from gui.widgets.charts.chart import Mark, Series, figure_cell
from gui.widgets.date_text import short_month_and_year
from gui.widgets.formatting import grouped, size_text

SIZE_COLUMNS = (TableColumn(marked("Characters"), 0), TableColumn(marked("Passages"), 10, figures=True))
TIME_COLUMNS = (
    TableColumn(marked("When"), 0),
    TableColumn(marked("Notes"), 10, figures=True),
    TableColumn(marked("Sessions"), 10, figures=True),
)
DISK_COLUMNS = (
    TableColumn(marked("Part"), 0),
    TableColumn(marked("Size"), 11, figures=True),
    TableColumn(marked("Share"), 9, figures=True),
)

DISK_WORDS: dict[DiskPartName, str] = {
    "text": marked("Text"),
    "words": marked("Keyword index"),
    "vectors": marked("Vectors"),
    "matrix": marked("Search vectors"),
    "log": marked("Recent changes"),
    "user": marked("Your own data"),
    "other": marked("Other"),
    "free": marked("Free space"),
}
_MOST_MONTHS = 36
_MOST_YEARS = 60


def size_series(sizes: ChunkSizes) -> Series:
    """How many chunks have which length."""
    if not sizes.counts:
        return Series()
    marks = []
    for place, count in enumerate(sizes.counts):
        low, high = place * sizes.width + 1, (place + 1) * sizes.width
        span = grouped(low) if low == high else f"{grouped(low)}–{grouped(high)}"
        caption = tr_count(
            "{span} characters: {count:,} passage", "{span} characters: {count:,} passages", count, span=span
        )
        marks.append(Mark((count,), caption, ((span, low), figure_cell(count)), detail=caption))
    return Series(
        tuple(marks),
        gist=tr_count(
            "{count:,} passage. The middle one has {median:,} characters, the longest {longest:,}.",
            "{count:,} passages. The middle one has {median:,} characters, the longest {longest:,}.",
            sum(sizes.counts),
            median=sizes.median,
            longest=sizes.longest,
        ),
        ends=("0", tr("{count:,} ch", count=len(sizes.counts) * sizes.width)),
    )


def time_series(months: Sequence[MonthCount]) -> Series:
    """Files by month, or by year where the months would be too many."""
    if not months:
        return Series()
    first, last = months[0], months[-1]
    by_month = (last.year - first.year) * 12 + last.month - first.month < _MOST_MONTHS
    found: dict[tuple[int, int], list[int]] = {}
    for slot in _slots(first, last, by_month=by_month):
        found[slot] = [0, 0]
    for month in months:
        tally = found.setdefault((month.year, month.month if by_month else 0), [0, 0])
        tally[0] += month.notes
        tally[1] += month.sessions
    marks = [_time_mark(year, month, *tally) for (year, month), tally in sorted(found.items())]
    most = max(marks, key=lambda mark: mark.height)
    notes, sessions = (sum(tally[place] for tally in found.values()) for place in (0, 1))
    return Series(
        tuple(marks),
        gist=tr(
            "{files}, from {first} to {last}. Most in {most}.",
            files=_both(notes, sessions),
            first=marks[0].key,
            last=marks[-1].key,
            most=most.caption,
        ),
        ends=(marks[0].key, marks[-1].key if len(marks) > 1 else ""),
        legend=(tr("notes"), tr("sessions")) if sessions else (),
    )


def _slots(first: MonthCount, last: MonthCount, *, by_month: bool) -> Iterable[tuple[int, int]]:
    """Every month or year from the first to the last, those without files too; none over a span beyond all reason."""
    if by_month:
        start = first.year * 12 + first.month - 1
        return (_month_at(place) for place in range(start, last.year * 12 + last.month))
    if last.year - first.year > _MOST_YEARS:
        return ()
    return ((year, 0) for year in range(first.year, last.year + 1))


def _month_at(place: int) -> tuple[int, int]:
    """Year and month, from 1, of a month that is counted from the year 0."""
    year, month = divmod(place, 12)
    return year, month + 1


def _time_mark(year: int, month: int, notes: int, sessions: int) -> Mark:
    when = short_month_and_year(date(year, month, 1)) if month else str(year)
    return Mark(
        (notes, sessions),
        f"{when}: {_both(notes, sessions)}",
        ((when, year * 100 + month), figure_cell(notes), figure_cell(sessions)),
    )


def _both(notes: int, sessions: int) -> str:
    some = tr_count("{count:,} note", "{count:,} notes", notes)
    if not sessions:
        return some
    return ", ".join((some, tr_count("{count:,} session", "{count:,} sessions", sessions)))


def disk_series(parts: Sequence[DiskPart]) -> Series:
    """What takes how much room."""
    total = sum(part.bytes for part in parts)
    if not total:
        return Series()
    marks = []
    for part in parts:
        name, share = (
            tr(DISK_WORDS[part.name]),
            tr("{percent:.0f}\N{NO-BREAK SPACE}%", percent=100 * part.bytes / total),
        )
        cells = ((name, name), (size_text(part.bytes), part.bytes), (share, part.bytes))
        caption = f"{name}: {size_text(part.bytes)}, {share}"
        marks.append(Mark((part.bytes,), caption, cells))
    largest = max(marks, key=lambda mark: mark.height)
    return Series(
        tuple(marks),
        gist=tr("{size} on disk, most of it for: {largest}.", size=size_text(total), largest=largest.caption),
    )


def cache_hits(syncs: Iterable[KeptSync]) -> tuple[int, int] | None:
    """Chunks with a cached vector, and all that needed one; None while no sync has counted them."""
    counting = [sync for sync in syncs if sync.vectors_reused is not None]
    reused = sum(sync.vectors_reused or 0 for sync in counting)
    wanted = reused + sum(sync.vectors_embedded for sync in counting)
    return (reused, wanted) if wanted else None
