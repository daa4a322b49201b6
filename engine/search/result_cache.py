"""Answers of the last minute, so that the same question is not worked out again while the index stays as it is.

An answer belongs to a moment: one state of the index and one provider. Every look-up names the moment that it sees, so
what another process has written, a rebuild or a change of the provider ends all older answers without any message.
"""

import threading
import time
from collections.abc import Callable, Hashable
from datetime import datetime
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from engine.embedding.base import Calibration
from engine.settings.options import ResultCacheSettings
from engine.store.snapshot import Snapshot

if TYPE_CHECKING:
    from engine.embedding.base import EmbeddingProvider

Value = TypeVar("Value")


class IndexMoment(NamedTuple):
    """One state of what is indexed: any commit that changes chunks or vectors makes another."""

    identity: str
    generation: int
    stamp: int
    noted: tuple[object, ...]
    """By which rules files were found and read, which of them were not, and what waits for a person's yes."""


class Moment(NamedTuple):
    """What decides an answer besides its request."""

    indexed: IndexMoment
    provider: tuple[str, str, str, Calibration] | None
    """None where words alone are searched."""
    time: str
    """The day, since "yesterday" is another one tomorrow; the minute, where a question counts hours or days back."""

    @classmethod
    def of(cls, snapshot: Snapshot, provider: "EmbeddingProvider | None", *, by_the_minute: bool) -> "Moment":
        noted = tuple(map(snapshot.meta, ("names", "fingerprint", "issues", "awaiting")))
        index = IndexMoment(snapshot.identity, snapshot.generation, snapshot.stamp, noted)
        named = None if provider is None else (provider.id, provider.model, provider.key, provider.calibration)
        return cls(index, named, f"{datetime.now():%Y-%m-%d %H:%M}"[: 16 if by_the_minute else 10])


class ResultCache(Generic[Value]):
    """Thread-safe. Keeps so many answers of one moment of the index, those that were asked for last."""

    def __init__(self, settings: ResultCacheSettings, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` tells seconds."""
        self._clock = clock
        self._lock = threading.Lock()
        self._index: IndexMoment | None = None
        self._kept: dict[tuple[Moment, Hashable], tuple[float, Value]] = {}
        """When it was put there, and the answer. Used last stands last."""
        self.begin(settings)

    def begin(self, settings: ResultCacheSettings) -> None:
        """Keep answers as these say from now on, and forget those until now."""
        with self._lock:
            self._seconds = settings.ttl_seconds
            self._most = settings.max_entries if settings.enabled and settings.ttl_seconds else 0
            self._kept.clear()

    @property
    def enabled(self) -> bool:
        return self._most > 0

    def get(self, moment: Moment, question: Hashable) -> tuple[Value, float] | None:
        """The answer, and how many seconds ago it was worked out; None where it must be worked out anew."""
        with self._lock:
            self._be_at(moment.indexed)
            found = self._kept.pop((moment, question), None)
            if found is None:
                return None
            age = self._clock() - found[0]
            if age >= self._seconds:
                return None
            self._kept[moment, question] = found
            return found[1], age

    def put(self, moment: Moment, question: Hashable, answer: Value) -> None:
        """Keep an answer that was worked out at this moment."""
        if not self.enabled:
            return
        with self._lock:
            self._be_at(moment.indexed)
            now = self._clock()
            # A question that nobody asks again must not hold on to its answer for long.
            self._kept = {name: kept for name, kept in self._kept.items() if now - kept[0] < self._seconds}
            self._kept.pop((moment, question), None)
            self._kept[moment, question] = now, answer
            if len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]

    def _be_at(self, index: IndexMoment) -> None:
        if index != self._index:
            self._kept.clear()
            self._index = index
