"""What every embedding provider offers, and how their vectors are cleaned.

numpy is imported when the first vector is made: a search by words alone must not pay for it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_LEAST_MAGNITUDE = 1e-10
_FEW = 100
"""Number of chunks up to which a calibration holds unchanged."""
_RISE = 0.7
"""By how many standard deviations it rises with each tenfold: by as much as the nearest of so many unrelated chunks."""


@dataclass(frozen=True)
class Calibration:
    """How the cosines of one model become absolute scores, and their weight relative to keywords."""

    low: float
    """Cosine that counts as unrelated: scores 0."""
    high: float
    """Cosine that counts as the same meaning: scores 1."""
    weight: float
    """Share of the vector score where words match fully, 0 to 1."""
    spread: float = 0.0
    """Standard deviation of the cosines of unrelated texts; 0 if not measured."""
    sentences: "Calibration | None" = None
    """Another calibration for queries to single sentences, if it differs."""

    @property
    def for_sentences(self) -> "Calibration":
        """For comparing queries with facts, not with passages of full length."""
        return self.sentences or self

    def among(self, chunks: int) -> "Calibration":
        """For a query on this number of chunks: with more chunks, the nearest unrelated one is nearer."""
        risen = _RISE * self.spread * math.log10(max(1.0, chunks / _FEW))
        return replace(self, low=self.low + risen, high=self.high + risen)

    @property
    def between_passages(self) -> "Calibration":
        """For two passages, which are nearer than a query and its answer: the same text is 1.

        In the sample, a tenth of all pairs of passages reaches 0.35, and three quarters of those from one file.
        """
        return replace(self, high=1.0)


@dataclass(frozen=True)
class Limits:
    """How much a provider takes."""

    inputs: int
    """Texts a request."""
    tokens: int
    """Tokens of all texts of a request together; a longer text is sent alone."""
    input_tokens: int
    """Tokens of one text; longer ones are embedded in parts, whose vectors are averaged."""
    at_once: int
    """Requests under way at the same time."""


class PartialAnswer(ProviderError):
    """A request failed for some of its texts; the results of the others are here and paid for."""

    def __init__(self, message: str, arrived: "Mapping[int, Vectors]") -> None:
        """`arrived`: unit vectors (dims,) by the place of their text in the request."""
        super().__init__(message)
        self.arrived = arrived


class TextsRefused(ProviderError):
    """The provider refuses to embed some of these texts; others, and some of these, may be accepted."""


class LeftOut(PartialAnswer, TextsRefused):
    """A request was answered, but again and again without some of its texts."""


class EmbeddingProvider(Protocol):
    """Turns texts into unit vectors. Every method may be called from several threads."""

    @property
    def id(self) -> str:
        """Short name, as in the settings."""

    @property
    def model(self) -> str: ...

    @property
    def dims(self) -> int | None:
        """Length of its vectors; None before the first answer of a model that only its server knows."""

    @property
    def key(self) -> str:
        """What else the vectors depend on; part of the cache's key."""

    @property
    def limits(self) -> Limits: ...

    @property
    def remote(self) -> bool:
        """Whether texts leave this machine."""

    @property
    def price(self) -> float | None:
        """US dollars for a million tokens; 0 where nothing is charged, None where the price is not known."""

    @property
    def tokens_used(self) -> int:
        """Tokens sent since it was made: as its server counts them, else as estimated. 0 where nothing is charged."""

    @property
    def calibration(self) -> Calibration: ...

    @property
    def unknown_scripts(self) -> tuple[str, ...]:
        """Scripts whose words it can't tell apart, in English; texts in them are found by keywords only."""

    def embed_query(self, text: str, *, cancel: CancelToken | None = None) -> "Vectors":
        """Vector of a query, shape (dims,). Raises `ProviderError`, `Cancelled`, `Closed`."""

    def embed_documents(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> "Vectors":
        """Vectors of texts in their order, shape (n, dims).

        Raises `ProviderError`, or its `PartialAnswer` where some vectors arrived; `Cancelled`, `Closed`.
        """

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, exact or estimated from above."""

    def close(self) -> None:
        """Release the model. Calls under way finish; later ones raise `Closed`. Twice is fine."""


def prepare(vectors: Any) -> "Vectors":
    """Return a float32 copy of one vector (dims,) or several (n, dims): non-finite values become 0, then each has
    length 1.

    A vector shorter than 1e-10 has no direction and stays unchanged.
    """
    import numpy as np

    clean = np.nan_to_num(np.asarray(vectors, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    length = np.sqrt(np.einsum("...i,...i->...", clean, clean))[..., None]
    clean /= np.where(length < _LEAST_MAGNITUDE, 1.0, length)
    return clean.astype(np.float32)
