"""Turns the steps of a sync into progress updates with rate and time left, at a limited frequency."""

import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from engine.base.language import marked, tr
from engine.records import MemorySyncProgressUpdate, SyncPhase, SyncReason

_MIN_INTERVAL = 0.05
_RATE_WINDOW_SECONDS = 8.0
_MIN_RATE_SECONDS = 0.5
"""Seconds of measured work before a rate is shown."""
_ESTIMATE_WINDOW_SECONDS = 60.0
"""Seconds from which the time left is estimated. Files differ in size: 8 seconds of large ones made it ten times as
long.
"""
_MIN_ESTIMATE_SECONDS = 3.0
"""Seconds of measured work before the time left is estimated: a phase begins slowly, and would seem to take hours."""

_LABELS: dict[SyncPhase, str] = {
    "waiting": marked("Waiting: another program is writing this index"),
    "discovering": marked("Looking for files"),
    "indexing": marked("Indexing files"),
    "embedding": marked("Embedding passages"),
    "publishing": marked("Saving"),
    "done": marked("Done"),
}
_TOKENS_PER_PRICE = 1_000_000


class CostSource(Protocol):
    """Something that costs tokens: an embedding provider or its batch jobs."""

    @property
    def tokens_used(self) -> int: ...

    @property
    def price(self) -> float | None:
        """US dollars per million tokens; None if unknown."""


class CostMeter:
    """Counts the tokens and US dollars of a provider since the meter was created."""

    def __init__(self) -> None:
        self._sources: list[tuple[CostSource, int]] = []

    def watch(self, source: CostSource) -> None:
        """Count the tokens of this provider or its batch jobs from now on."""
        self._sources.append((source, source.tokens_used))

    @property
    def tokens(self) -> int:
        return sum(source.tokens_used - before for source, before in self._sources)

    @property
    def cost(self) -> float | None:
        """US dollars since the meter was created; None if the price of some tokens is unknown."""
        total = 0.0
        for source, before in self._sources:
            tokens = source.tokens_used - before
            if tokens and source.price is None:
                return None
            total += tokens * (source.price or 0.0) / _TOKENS_PER_PRICE
        return total


class ProgressMeter:
    """Collects the progress of the stages, and reports it at most 20 times per second and at each change of phase."""

    def __init__(self, reason: SyncReason, listener: Callable[[MemorySyncProgressUpdate], None]) -> None:
        self._reason = reason
        self._listener = listener
        self._phase: SyncPhase = "discovering"
        self._completed = 0
        self._total = 0
        self._file = ""
        self._waiting = 0
        self._sent = 0.0
        self._samples: deque[tuple[float, int]] = deque()
        """Times and completed units, for the rate."""
        self._estimate_samples: deque[tuple[float, int]] = deque()
        """The same once a second, for the time left."""
        self.reused = 0
        self.embedded = 0
        self.cost_meter = CostMeter()

    def start(self, phase: SyncPhase, total: int = 0, waiting: int = 0) -> None:
        """Begin a phase with `total` units of work (0: unknown). `waiting`: number of batch jobs that it waits for."""
        self._phase, self._completed, self._total, self._file = phase, 0, total, ""
        self._waiting = waiting
        self._clear_samples()
        self._add_sample()
        self._send()

    def step(self, completed: int, current_file: str) -> None:
        """Report that `completed` units of the phase are done, and which file is being processed."""
        if completed and not self._completed:
            self._clear_samples()  # measured from here, since the first unit waits for a model to load
        self._completed, self._file = completed, current_file
        now = time.monotonic()
        if now - self._sent >= _MIN_INTERVAL:
            self._add_sample()
            self._send()

    def _clear_samples(self) -> None:
        self._samples.clear()
        self._estimate_samples.clear()

    def _add_sample(self) -> None:
        now = time.monotonic()
        self._samples.append((now, self._completed))
        if not self._estimate_samples or now - self._estimate_samples[-1][0] >= 1:
            self._estimate_samples.append(self._samples[-1])
        for samples, window in (
            (self._samples, _RATE_WINDOW_SECONDS),
            (self._estimate_samples, _ESTIMATE_WINDOW_SECONDS),
        ):
            while len(samples) > 1 and now - samples[0][0] > window:
                samples.popleft()

    def _rate(self) -> float:
        (first, begun), (last, done) = self._samples[0], self._samples[-1]
        return (done - begun) / (last - first) if last - first >= _MIN_RATE_SECONDS else 0.0

    def _send(self) -> None:
        self._sent = time.monotonic()
        rate = self._rate()
        begun, first = self._estimate_samples[0]
        measured, done = self._sent - begun, self._completed - first
        known = self._total and done > 0 and measured >= _MIN_ESTIMATE_SECONDS
        seconds_left = (self._total - self._completed) * measured / done if known else None
        self._listener(
            MemorySyncProgressUpdate(
                phase=self._phase,
                completed=self._completed,
                total=self._total,
                label=tr("Waiting for batch jobs") if self._waiting else tr(_LABELS[self._phase]),
                current_file=self._file,
                rate=rate,
                seconds_left=seconds_left,
                reused=self.reused,
                embedded=self.embedded,
                reason=self._reason,
                tokens=self.cost_meter.tokens,
                cost=self.cost_meter.cost,
                waiting=self._waiting,
            )
        )
