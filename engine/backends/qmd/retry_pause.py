"""Pauses between retries after failures."""

import time
from collections.abc import Callable

_FIRST_REST = 60.0
_LONGEST_REST = 3600.0


class RetryPause:
    """Length of the pause after a failure: a minute, doubled each time, up to an hour."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._until = 0.0

    @property
    def resting(self) -> bool:
        return self._clock() < self._until

    def failed(self) -> None:
        self._until = self._clock() + min(_LONGEST_REST, _FIRST_REST * 2**self._failures)
        self._failures = min(self._failures + 1, 16)

    def worked(self) -> None:
        self._failures, self._until = 0, 0.0
