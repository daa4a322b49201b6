"""What a provider's batch API offers: many texts as one job, for less money, some time later."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Literal, Protocol, runtime_checkable

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError

if TYPE_CHECKING:
    from engine.embedding.base import Vectors

LEAST_TEXTS = 32
"""Fewer texts are embedded by direct requests: a saved note must not wait for hours to save a thousandth of a cent."""

JobState = Literal["running", "completed", "failed", "expired", "cancelled"]


class BatchUnavailable(ProviderError):
    """The provider has no batch API for this key, this model or at this address."""


class JobGone(ProviderError):
    """The provider knows nothing of a job, or not any more."""


@dataclass(frozen=True)
class JobLimits:
    """How much one job takes."""

    requests: int
    """Texts."""
    bytes: int
    """Of the input file."""
    queued_tokens: int
    """Of all jobs of an account that are under way, with the smallest account that has to pay."""
    seconds: float
    """In which it is answered, or expires."""


@dataclass(frozen=True)
class RemoteJob:
    """A job as its provider sees it."""

    id: str
    state: JobState
    """`running` as long as anything may still come of it."""
    word: str
    """The provider's own word for the state."""
    files: tuple[str, ...] = ()
    """Files with the results of the texts."""
    answered: int | None = None
    """Texts for which these files have a line; None where the provider does not say."""
    problem: str = ""
    """Why it failed, in the provider's words; empty where it did not, or does not say."""


@dataclass(frozen=True)
class Result:
    """What became of one text."""

    hash: bytes
    """Empty if the text can't be identified."""
    vector: "Vectors | None"
    """As sent, (dims,); None where the text has none."""
    tokens: int | None = None
    """As the provider counted them; None where it does not say."""
    problem: str = ""
    """Why there is no vector, in the provider's words; empty where it does not say."""


class BatchApi(Protocol):
    """One provider's batch API, with one model.

    Every call raises `ProviderError` (`Transient` if it may work later), `Cancelled`, `Closed`. All but `create` have
    already retried where that may help.
    """

    @property
    def service(self) -> str:
        """The name of the service, for messages."""

    @property
    def limits(self) -> JobLimits: ...

    @property
    def price(self) -> float | None:
        """US dollars for a million tokens; None where the price is not known."""

    def line(self, key: str, text: str) -> bytes:
        """The line of the input file for one text, with its line end."""

    def upload(self, name: str, lines: IO[bytes], *, cancel: CancelToken | None = None) -> str:
        """Upload an input file, from its start; returns its id. Raises `BatchUnavailable`, too."""

    def create(self, name: str, input_file: str, *, cancel: CancelToken | None = None) -> RemoteJob:
        """Create the job, in a single try: who repeats it has to `find` first. Raises `BatchUnavailable`, too."""

    def find(self, name: str, input_file: str, *, cancel: CancelToken | None = None) -> RemoteJob | None:
        """The job that was created under this name; None if there is none."""

    def look(self, id: str, *, cancel: CancelToken | None = None) -> RemoteJob:
        """How a job is. Raises `JobGone`, too."""

    def results(self, job: RemoteJob, take: Callable[[Result], None], *, cancel: CancelToken | None = None) -> None:
        """Pass on the results of a job's texts, one by one as they are read; in no order.

        May raise an error after some of them.
        """

    def stop(self, id: str, *, cancel: CancelToken | None = None) -> None:
        """Cancel a job; results until then are kept, and billed."""

    def discard(self, files: Sequence[str], *, cancel: CancelToken | None = None) -> None:
        """Delete files, which contain the user's texts. Best effort."""


@runtime_checkable
class OffersBatches(Protocol):
    """An embedding provider that can embed by batch jobs as well."""

    @property
    def batches(self) -> BatchApi | None:
        """None where its server has no batch API, or nothing is charged there."""


def batches_of(provider: object) -> BatchApi | None:
    """The batch API of an embedding provider; None for one without."""
    return provider.batches if isinstance(provider, OffersBatches) else None
