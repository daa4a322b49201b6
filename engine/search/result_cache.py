"""Caches the answers of the last minute while the index is unchanged.

An answer belongs to one state of the index and one provider. Every lookup passes its current state, so a write by
another process, a rebuild or another provider invalidates older answers without notification.
"""

import threading
import time
from collections.abc import Callable, Hashable
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from engine.providers import Calibration
from engine.settings.search_settings import ResultCacheSettings
from engine.store.snapshot import Snapshot

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider

Value = TypeVar("Value")


class IndexState(msgspec.Struct, frozen=True):
    """Identifies one state of the index: any commit that changes chunks or vectors makes another."""

    identity: str
    generation: int
    stamp: int
    noted: tuple[object, ...]
    """Fingerprint of the reading rules, files with errors, and embedding that awaits approval."""


class SearchState(msgspec.Struct, frozen=True):
    """Identifies everything that determines an answer, apart from the request; part of the cache key."""

    indexed: IndexState
    provider: tuple[str, str, str, Calibration] | None
    """None if only keywords are searched."""
    time: str
    """The current day, since "yesterday" changes its meaning; with the minute if the query counts hours
    or days back.
    """

    @classmethod
    def of(cls, snapshot: Snapshot, provider: "EmbeddingProvider | None", *, by_the_minute: bool) -> "SearchState":
        noted = tuple(map(snapshot.meta, ("names", "fingerprint", "issues", "awaiting")))
        index = IndexState(snapshot.identity, snapshot.generation, snapshot.stamp, noted)
        named = None if provider is None else (provider.id, provider.model, provider.key, provider.calibration)
        return cls(index, named, datetime.now().isoformat(" ", "minutes")[: 16 if by_the_minute else 10])


class ResultCache(Generic[Value]):
    """The most recently used answers of one state of the index. Thread-safe."""

    def __init__(self, settings: ResultCacheSettings, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds."""
        self._clock = clock
        self._lock = threading.Lock()
        self._index: IndexState | None = None
        self._cached: dict[tuple[SearchState, Hashable], tuple[float, Value]] = {}
        """Time of storing, and the answer. Ordered by last use."""
        self.begin(settings)

    def begin(self, settings: ResultCacheSettings) -> None:
        """Apply new cache settings, and drop all cached answers."""
        with self._lock:
            self._seconds = settings.ttl_seconds
            self._most = settings.max_entries if settings.enabled and settings.ttl_seconds else 0
            self._cached.clear()

    @property
    def enabled(self) -> bool:
        return self._most > 0

    def get(self, state: SearchState, key: Hashable) -> tuple[Value, float] | None:
        """Return the cached answer to a request and its age in seconds; None if there is none."""
        with self._lock:
            self._clear_if_changed(state.indexed)
            found = self._cached.pop((state, key), None)
            if found is None:
                return None
            age = self._clock() - found[0]
            if age >= self._seconds:
                return None
            self._cached[state, key] = found
            return found[1], age

    def put(self, state: SearchState, key: Hashable, answer: Value) -> None:
        """Cache an answer for this state."""
        if not self.enabled:
            return
        with self._lock:
            self._clear_if_changed(state.indexed)
            now = self._clock()
            # An answer that is not used again must be released soon.
            self._cached = {name: entry for name, entry in self._cached.items() if now - entry[0] < self._seconds}
            self._cached.pop((state, key), None)
            self._cached[state, key] = now, answer
            if len(self._cached) > self._most:
                del self._cached[next(iter(self._cached))]

    def _clear_if_changed(self, index: IndexState) -> None:
        if index != self._index:
            self._cached.clear()
            self._index = index
