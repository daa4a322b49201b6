"""Disables batch jobs after too many failures, for the lifetime of the process; the limit is that of the reference."""

import threading
import time

from engine.base.errors import ProviderError

LIMIT = 2
"""Number of failed attempts after which texts are embedded directly."""


class BatchPolicy:
    """Counts failures of batch jobs for one open memory. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.since = time.time()
        """Start of the timeout for jobs of an earlier run."""
        self.failures = 0
        """Failed attempts since the last successful job."""
        self.disabled = False
        self.last_error: str | None = None
        """One sentence; also for notable events that are not failures."""
        self.last_provider: str | None = None

    def failed(self, provider: str, problem: str, attempts: int = 1) -> None:
        """Record that a job failed after this many attempts."""
        with self._lock:
            self.failures += attempts
            self.disabled = self.disabled or self.failures >= LIMIT
            self._note(provider, problem)

    def unavailable(self, provider: str, error: ProviderError) -> None:
        """Record that there is no batch API, and disable batch jobs."""
        with self._lock:
            self.failures += 1
            self.disabled = True
            self._note(provider, str(error))

    def succeeded(self) -> None:
        with self._lock:
            self.failures = 0
            self.last_error = self.last_provider = None

    def note(self, provider: str, problem: str) -> None:
        """Record a message that is not a failure of a job."""
        with self._lock:
            self._note(provider, problem)

    def _note(self, provider: str, problem: str) -> None:
        self.last_error, self.last_provider = problem, provider
