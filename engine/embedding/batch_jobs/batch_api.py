"""The interface of batch APIs, and the rule that disables batch jobs after repeated failures.

A batch job embeds many texts at a lower price, with results hours later.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, Literal, Protocol, runtime_checkable

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError

if TYPE_CHECKING:
    from engine.embedding.provider_interface import Vectors

MIN_TEXTS = 32
"""Fewer texts are embedded directly: saving a fraction of a cent is not worth hours of delay for a saved note."""

JobState = Literal["running", "completed", "failed", "expired", "cancelled"]


class BatchUnavailable(ProviderError):
    """The provider has no batch API for this key, model or URL."""


class JobNotFound(ProviderError):
    """The provider does not know the job, or no longer knows it."""


class JobLimits(msgspec.Struct, frozen=True):
    """Limits of one batch job: number of texts, bytes, tokens and time."""

    requests: int
    """Number of texts."""
    bytes: int
    """Size of the input file."""
    queued_tokens: int
    """Tokens of all running jobs of an account, for the lowest paid tier."""
    seconds: float
    """Time in which a job is completed or expires."""


class RemoteJob(msgspec.Struct, frozen=True):
    """A batch job with its state, as its provider reports it."""

    id: str
    state: JobState
    """`running` while results are still possible."""
    word: str
    """The provider's name for the state."""
    files: tuple[str, ...] = ()
    """Ids of the result files."""
    answered: int | None = None
    """Number of texts with a line in these files; None if the provider doesn't report it."""
    problem: str = ""
    """The provider's error message; empty if the job didn't fail or there is no message."""


class Result(msgspec.Struct, frozen=True):
    """The vector of one text of a batch job, or the error for it."""

    hash: bytes
    """Hash of the text; empty if the text can't be identified."""
    vector: "Vectors | None"
    """Vector as sent, (dims,); None if the text has none."""
    tokens: int | None = None
    """Tokens as counted by the provider; None if not reported."""
    problem: str = ""
    """The provider's reason for a missing vector; empty if not reported."""


class BatchApi(Protocol):
    """One provider's batch API with one model.

    Every call raises `ProviderError` (`Transient` if it may work later), `Cancelled`, `Closed`. All calls but `create`
    retry automatically if that may help.
    """

    @property
    def service(self) -> str:
        """Name of the service for messages."""

    @property
    def limits(self) -> JobLimits: ...

    @property
    def price(self) -> float | None:
        """US dollars per million tokens; None if the price is unknown."""

    def line(self, key: str, text: str) -> bytes:
        """The input file's line for one text, including the line break."""

    def upload(self, name: str, lines: IO[bytes], *, cancel: CancelToken | None = None) -> str:
        """Upload an input file from its start and return its id. Also raises `BatchUnavailable`."""

    def create(self, name: str, input_file: str, *, cancel: CancelToken | None = None) -> RemoteJob:
        """Create the job in a single attempt; call `find` before a retry. Also raises `BatchUnavailable`."""

    def find(self, name: str, input_file: str, *, cancel: CancelToken | None = None) -> RemoteJob | None:
        """The job that was created under this name; None if there is none."""

    def poll(self, id: str, *, cancel: CancelToken | None = None) -> RemoteJob:
        """Status of a job. Also raises `JobNotFound`."""

    def results(
        self, job: RemoteJob, on_result: Callable[[Result], None], *, cancel: CancelToken | None = None
    ) -> None:
        """Pass the results to `on_result` while reading them, in no particular order.

        May fail after some of the results.
        """

    def stop(self, id: str, *, cancel: CancelToken | None = None) -> None:
        """Cancel a job; results so far remain available and are billed."""

    def discard(self, files: Sequence[str], *, cancel: CancelToken | None = None) -> None:
        """Delete files, since they contain the user's texts. Best effort."""


@runtime_checkable
class OffersBatches(Protocol):
    """An embedding provider that also supports batch jobs."""

    @property
    def batches(self) -> BatchApi | None:
        """None if the server has no batch API or charges nothing."""


def batches_of(provider: object) -> BatchApi | None:
    """Return the batch API of an embedding provider; None if the provider has none."""
    return provider.batches if isinstance(provider, OffersBatches) else None


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
            self._set_error(provider, problem)

    def unavailable(self, provider: str, error: ProviderError) -> None:
        """Record that there is no batch API, and disable batch jobs."""
        with self._lock:
            self.failures += 1
            self.disabled = True
            self._set_error(provider, str(error))

    def succeeded(self) -> None:
        with self._lock:
            self.failures = 0
            self.last_error = self.last_provider = None

    def record(self, provider: str, problem: str) -> None:
        """Record a message that is not a failure of a job."""
        with self._lock:
            self._set_error(provider, problem)

    def _set_error(self, provider: str, problem: str) -> None:
        self.last_error, self.last_provider = problem, provider
