"""Decides when batch jobs are disabled: the reference's count of failures, while the program runs."""

import threading
import time

from engine.base.errors import ProviderError

LIMIT = 2
"""Failed attempts after which texts are embedded by direct requests."""


class BatchPolicy:
    """Thread-safe. What became of the jobs of one open memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.since = time.time()
        """Waiting for jobs of an earlier run counts from here on."""
        self.failures = 0
        """Failed attempts since the last job that succeeded."""
        self.disabled = False
        self.last_error: str | None = None
        """One sentence; also for events worth knowing that are no failures."""
        self.last_provider: str | None = None

    def failed(self, provider: str, problem: str, attempts: int = 1) -> None:
        """A job failed, after that many attempts."""
        with self._lock:
            self.failures += attempts
            self.disabled = self.disabled or self.failures >= LIMIT
            self._note(provider, problem)

    def unavailable(self, provider: str, error: ProviderError) -> None:
        """There is no batch API to try again."""
        with self._lock:
            self.failures += 1
            self.disabled = True
            self._note(provider, str(error))

    def succeeded(self) -> None:
        with self._lock:
            self.failures = 0
            self.last_error = self.last_provider = None

    def note(self, provider: str, problem: str) -> None:
        """Something that is no failure of a job."""
        with self._lock:
            self._note(provider, problem)

    def _note(self, provider: str, problem: str) -> None:
        self.last_error, self.last_provider = problem, provider
