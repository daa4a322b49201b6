"""The overview of an index as charts: functions that turn counts into chart data, tables and spoken text.

`Throughput` measures the speed of the current and the last sync from a bounded ring of status samples.
"""

import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from engine import (
    ChunkSizes,
    DiskPart,
    DiskPartName,
    MemoryProviderStatus,
    MemorySyncProgressUpdate,
    MonthCount,
    StoredSync,
    marked,
    number,
    tr,
    tr_count,
)
from gui.text.formatting import notes_text, sessions_text, short_month_and_year, size_text
from gui.widgets.charts.chart import Mark, Series, TableColumn, figure_cell

SIZE_COLUMNS = (TableColumn(marked("Characters"), 0), TableColumn(marked("Passages"), 10, figures=True))
TIME_COLUMNS = (
    TableColumn(marked("When"), 0),
    TableColumn(marked("Notes"), 10, figures=True),
    TableColumn(marked("Sessions"), 10, figures=True),
)
DISK_COLUMNS = (
    TableColumn(marked("Part of the index"), 0),
    TableColumn(marked("Size"), 11, figures=True),
    TableColumn(marked("Share"), 9, figures=True),
)

DISK_WORDS: dict[DiskPartName, str] = {
    "text": marked("Text"),
    "words": marked("Keyword index"),
    "vectors": marked("Vectors"),
    "matrix": marked("Search vectors"),
    "log": marked("Recent changes"),
    "user": marked("Facts and saved searches"),
    "other": marked("Other"),
    "free": marked("Free space"),
}
_MAX_MONTHS = 36
_MAX_YEARS = 60

THROUGHPUT_COLUMNS = (
    TableColumn(marked("When"), 0),
    TableColumn(marked("Step"), 12),
    TableColumn(marked("Per second"), 11, figures=True),
    TableColumn(marked("Done"), 11, figures=True),
)
_MAX_SAMPLES = 300
_MIN_SECONDS = 1.0
"""Least seconds between two samples."""
_STEPS = {"indexing": marked("indexing"), "embedding": marked("embedding")}
_SPEEDS = {"indexing": marked("{speed} files/s"), "embedding": marked("{speed} passages/s")}
_AT_MOST = {"indexing": marked("at most {speed} files/s"), "embedding": marked("at most {speed} passages/s")}
_NOW = {
    "indexing": marked("{speed} files per second now, {fastest} at the peak."),
    "embedding": marked("{speed} passages per second now, {fastest} at the peak."),
}
_AT_LAST = {
    "indexing": marked("{speed} files per second at the end, {fastest} at the peak."),
    "embedding": marked("{speed} passages per second at the end, {fastest} at the peak."),
}


def size_series(sizes: ChunkSizes) -> Series:
    """Return chart data: the number of chunks by length."""
    if not sizes.counts:
        return Series()
    marks = []
    for index, count in enumerate(sizes.counts):
        low, high = index * sizes.width + 1, (index + 1) * sizes.width
        span = number(low) if low == high else f"{number(low)}–{number(high)}"
        caption = tr_count(
            "{span} characters: {count:,} passage", "{span} characters: {count:,} passages", count, span=span
        )
        marks.append(Mark((count,), caption, ((span, low), figure_cell(count)), detail=caption))
    return Series(
        tuple(marks),
        summary=tr_count(
            "{count:,} passage. The median is {median:,} characters, the longest has {longest:,}.",
            "{count:,} passages. The median is {median:,} characters, the longest has {longest:,}.",
            sum(sizes.counts),
            median=sizes.median,
            longest=sizes.longest,
        ),
        ends=("0", tr("{count:,} characters", count=len(sizes.counts) * sizes.width)),
    )


def time_series(months: Sequence[MonthCount]) -> Series:
    """Return chart data: the number of files by month of change, or by year if there are too many months."""
    if not months:
        return Series()
    first, last = months[0], months[-1]
    by_month = (last.year - first.year) * 12 + last.month - first.month < _MAX_MONTHS
    counts: dict[tuple[int, int], list[int]] = {}
    for slot in _slots(first, last, by_month=by_month):
        counts[slot] = [0, 0]
    for month in months:
        tally = counts.setdefault((month.year, month.month if by_month else 0), [0, 0])
        tally[0] += month.notes
        tally[1] += month.sessions
    marks = [_time_mark(year, month, *tally) for (year, month), tally in sorted(counts.items())]
    most = max(marks, key=lambda mark: mark.height)
    notes, sessions = (sum(tally[index] for tally in counts.values()) for index in (0, 1))
    return Series(
        tuple(marks),
        summary=tr(
            "{files}, from {first} to {last}. Most in {most}.",
            files=_notes_and_sessions(notes, sessions),
            first=marks[0].key,
            last=marks[-1].key,
            most=most.caption,
        ),
        ends=(marks[0].key, marks[-1].key if len(marks) > 1 else ""),
        legend=(tr("notes"), tr("sessions")) if sessions else (),
    )


def _slots(first: MonthCount, last: MonthCount, *, by_month: bool) -> Iterable[tuple[int, int]]:
    """Return every month or year from the first to the last, including those without files; none for an implausible
    span."""
    if by_month:
        start = first.year * 12 + first.month - 1
        return (_month_at(index) for index in range(start, last.year * 12 + last.month))
    if last.year - first.year > _MAX_YEARS:
        return ()
    return ((year, 0) for year in range(first.year, last.year + 1))


def _month_at(index: int) -> tuple[int, int]:
    """Convert a number of months since the year 0 to year and month (from 1)."""
    year, month = divmod(index, 12)
    return year, month + 1


def _time_mark(year: int, month: int, notes: int, sessions: int) -> Mark:
    when = short_month_and_year(date(year, month, 1)) if month else str(year)
    return Mark(
        (notes, sessions),
        f"{when}: {_notes_and_sessions(notes, sessions)}",
        ((when, year * 100 + month), figure_cell(notes), figure_cell(sessions)),
    )


def _notes_and_sessions(notes: int, sessions: int) -> str:
    return f"{notes_text(notes)}, {sessions_text(sessions)}" if sessions else notes_text(notes)


def disk_series(parts: Sequence[DiskPart]) -> Series:
    """Return chart data: the disk space of each part of the index."""
    total = sum(part.bytes for part in parts)
    if not total:
        return Series()
    marks = []
    for part in parts:
        name, share = tr(DISK_WORDS[part.name]), number(part.bytes / total, ".0%")
        cells = ((name, name), (size_text(part.bytes), part.bytes), (share, part.bytes))
        caption = f"{name}: {size_text(part.bytes)}, {share}"
        marks.append(Mark((part.bytes,), caption, cells))
    largest = max(marks, key=lambda mark: mark.height)
    return Series(
        tuple(marks),
        summary=tr("{size} on disk, most of it for: {largest}.", size=size_text(total), largest=largest.caption),
    )


def cache_hits(syncs: Iterable[StoredSync]) -> tuple[int, int] | None:
    """Return how many chunks had a cached vector, and how many needed one; None if no sync has counted them."""
    counting = [sync for sync in syncs if sync.vectors_reused is not None]
    reused = sum(sync.vectors_reused or 0 for sync in counting)
    needed = reused + sum(sync.vectors_embedded for sync in counting)
    return (reused, needed) if needed else None


@dataclass(frozen=True)
class Sample:
    moment: float
    """Seconds since the epoch."""
    step: str
    """The sync's phase: files are counted while indexing, chunks while embedding."""
    rate: float
    completed: int


class Throughput:
    """Stores speed samples of one step of a sync; the next step starts from zero, since it counts other things."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=_MAX_SAMPLES)
        self._running = False

    def update_status(self, status: MemoryProviderStatus | None, now: float) -> bool:
        """Add a sample from a status record; returns whether there is something new to show."""
        self._running = status is not None and status.syncing is not None
        step = None if status is None or status.paused else status.syncing
        if step is None or step.phase not in _STEPS:
            return False
        last = self._samples[-1] if self._samples else None
        if last is not None and (last.step != step.phase or step.completed < last.completed):
            self._samples.clear()
        elif last is not None and now - last.moment < _MIN_SECONDS:
            return False
        self._samples.append(Sample(now, step.phase, _rate(step, last, now), step.completed))
        return True

    def clear(self) -> None:
        """Drop all samples, since another memory is shown."""
        self._samples.clear()

    def series(self) -> Series:
        if len(self._samples) < 2:
            return Series()
        marks = tuple(map(_mark, self._samples))
        newest, fastest = self._samples[-1], max(self._samples, key=lambda sample: sample.rate)
        template = (_NOW if self._running else _AT_LAST)[newest.step]
        return Series(
            marks,
            summary=tr(template, speed=_speed(newest.rate), fastest=_speed(fastest.rate)),
            ends=("", tr(_AT_MOST[newest.step], speed=_speed(fastest.rate))),
            idle_label="",
        )

    def now(self) -> str:
        """Return a sentence with the newest speed, or the final one of a sync that has ended."""
        if len(self._samples) < 2:
            return ""
        return _speed_text(self._samples[-1]) if self._running else tr("the last update")


def _rate(step: MemorySyncProgressUpdate, last: Sample | None, now: float) -> float:
    """Return the speed since the previous sample; the engine's own figure is averaged over seconds, too smooth here."""
    if last is None or last.step != step.phase or step.completed < last.completed:
        return step.rate
    return (step.completed - last.completed) / (now - last.moment)


def _mark(sample: Sample) -> Mark:
    when = time.strftime("%H:%M:%S", time.localtime(sample.moment))
    return Mark(
        (sample.rate,),
        f"{when}: {_speed_text(sample)}",
        (
            (when, sample.moment),
            (tr(_STEPS[sample.step]), sample.step),
            (_speed(sample.rate), sample.rate),
            (number(sample.completed), sample.completed),
        ),
    )


def _speed_text(sample: Sample) -> str:
    return tr(_SPEEDS[sample.step], speed=_speed(sample.rate))


def _speed(rate: float) -> str:
    return number(round(rate)) if rate >= 10 else number(rate, ".1f")
