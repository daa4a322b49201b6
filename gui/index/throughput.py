"""Measures the speed of the current and the last sync: a bounded ring of status samples."""

import time
from collections import deque
from dataclasses import dataclass

from engine import MemoryProviderStatus, MemorySyncProgressUpdate, marked, number, tr
from gui.widgets.charts.card import TableColumn
from gui.widgets.charts.chart import Mark, Series
from gui.widgets.formatting import grouped

THROUGHPUT_COLUMNS = (
    TableColumn(marked("When"), 0),
    TableColumn(marked("Step"), 12),
    TableColumn(marked("A second"), 11, figures=True),
    TableColumn(marked("Done"), 11, figures=True),
)
_KEPT = 300
_APART = 1.0
"""Seconds between two samples."""
_STEPS = {"indexing": marked("indexing"), "embedding": marked("embedding")}
_SPEEDS = {"indexing": marked("{speed} files/s"), "embedding": marked("{speed} passages/s")}
_AT_MOST = {"indexing": marked("at most {speed} files/s"), "embedding": marked("at most {speed} passages/s")}
_NOW = {
    "indexing": marked("{speed} files a second now, at most {fastest}."),
    "embedding": marked("{speed} passages a second now, at most {fastest}."),
}
_AT_LAST = {
    "indexing": marked("{speed} files a second at last, at most {fastest}."),
    "embedding": marked("{speed} passages a second at last, at most {fastest}."),
}


@dataclass(frozen=True)
class Sample:
    moment: float
    """Seconds since the epoch."""
    step: str
    """The phase: files are counted while indexing, chunks while embedding."""
    rate: float
    completed: int


class Throughput:
    """Samples of one step of one sync; the next step starts again, since it counts something else."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=_KEPT)
        self._running = False

    def hear(self, status: MemoryProviderStatus | None, now: float) -> bool:
        """Fed with every record; whether there is something new to show."""
        self._running = status is not None and status.syncing is not None
        step = None if status is None or status.paused else status.syncing
        if step is None or step.phase not in _STEPS:
            return False
        last = self._samples[-1] if self._samples else None
        if last is not None and (last.step != step.phase or step.completed < last.completed):
            self._samples.clear()
        elif last is not None and now - last.moment < _APART:
            return False
        self._samples.append(Sample(now, step.phase, _rate(step, last, now), step.completed))
        return True

    def clear(self) -> None:
        """Another memory."""
        self._samples.clear()

    def series(self) -> Series:
        if len(self._samples) < 2:
            return Series()
        marks = tuple(map(_mark, self._samples))
        newest, fastest = self._samples[-1], max(self._samples, key=lambda sample: sample.rate)
        said = (_NOW if self._running else _AT_LAST)[newest.step]
        return Series(
            marks,
            gist=tr(said, speed=_speed(newest.rate), fastest=_speed(fastest.rate)),
            ends=("", tr(_AT_MOST[newest.step], speed=_speed(fastest.rate))),
            resting="",
        )

    def now(self) -> str:
        """The newest speed, or that it is over."""
        if len(self._samples) < 2:
            return ""
        return _said(self._samples[-1]) if self._running else tr("the last update")


def _rate(step: MemorySyncProgressUpdate, last: Sample | None, now: float) -> float:
    """Since the sample before; the engine's own figure is of the last seconds, and too calm for a picture."""
    if last is None or last.step != step.phase or step.completed < last.completed:
        return step.rate
    return (step.completed - last.completed) / (now - last.moment)


def _mark(sample: Sample) -> Mark:
    when = time.strftime("%H:%M:%S", time.localtime(sample.moment))
    return Mark(
        (sample.rate,),
        f"{when}: {_said(sample)}",
        (
            (when, sample.moment),
            (tr(_STEPS[sample.step]), sample.step),
            (_speed(sample.rate), sample.rate),
            (grouped(sample.completed), sample.completed),
        ),
    )


def _said(sample: Sample) -> str:
    return tr(_SPEEDS[sample.step], speed=_speed(sample.rate))


def _speed(rate: float) -> str:
    return grouped(round(rate)) if rate >= 10 else number(rate, ".1f")
