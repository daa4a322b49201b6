"""The interface of embedding providers, and normalisation of their vectors.

numpy is imported with the first vector, so that keyword search does not load it.
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
"""Number of chunks up to which a calibration applies unchanged."""
_RISE = 0.7
"""Standard deviations by which the scale rises per tenfold number of chunks, as the nearest unrelated chunk does."""


@dataclass(frozen=True)
class Calibration:
    """Maps cosines of one model to absolute scores, and sets their weight relative to keywords."""

    low: float
    """Cosine of unrelated texts: scores 0."""
    high: float
    """Cosine of texts with the same meaning: scores 1."""
    weight: float
    """Share of the vector score if all keywords match, 0 to 1."""
    spread: float = 0.0
    """Standard deviation of cosines of unrelated texts; 0 if it was not measured."""
    sentences: "Calibration | None" = None
    """Calibration for queries to single sentences, if different."""

    @property
    def for_sentences(self) -> "Calibration":
        """The calibration for facts, which are shorter than passages."""
        return self.sentences or self

    def among(self, chunks: int) -> "Calibration":
        """The calibration for this number of chunks: with more chunks, the nearest unrelated one is nearer."""
        risen = _RISE * self.spread * math.log10(max(1.0, chunks / _FEW))
        return replace(self, low=self.low + risen, high=self.high + risen)

    @property
    def between_passages(self) -> "Calibration":
        """The calibration for two passages, which are nearer than a query and its answer: identical text scores 1.

        Among the sample's passages, a tenth of all pairs score 0.35 or more, and three quarters of the pairs within a
        file.
        """
        return replace(self, high=1.0)


@dataclass(frozen=True)
class Limits:
    """Limits of a provider's requests."""

    inputs: int
    """Texts per request."""
    tokens: int
    """Tokens of all texts in a request; a longer text is sent alone."""
    input_tokens: int
    """Tokens of one text; longer ones are embedded in parts and their vectors averaged."""
    at_once: int
    """Number of concurrent requests."""


class PartialAnswer(ProviderError):
    """A request failed for some of its texts; carries the other vectors, which were billed and should be stored."""

    def __init__(self, message: str, arrived: "Mapping[int, Vectors]") -> None:
        """`arrived`: unit vectors (dims,) by the index of their text in the request."""
        super().__init__(message)
        self.arrived = arrived


class TextsRefused(ProviderError):
    """Some of these texts can't be embedded; the rest of them, and other texts, may still work."""


class LeftOut(PartialAnswer, TextsRefused):
    """The provider repeatedly omitted some of the texts from its responses."""


class EmbeddingProvider(Protocol):
    """Turns texts into unit vectors. All methods may be called from several threads concurrently."""

    @property
    def id(self) -> str:
        """Short name, as in the settings."""

    @property
    def model(self) -> str: ...

    @property
    def dims(self) -> int | None:
        """Length of the vectors; None if only the server knows it and has not responded yet."""

    @property
    def key(self) -> str:
        """Everything else that the vectors depend on; part of the cache key."""

    @property
    def limits(self) -> Limits: ...

    @property
    def remote(self) -> bool:
        """Whether texts leave this machine."""

    @property
    def in_process(self) -> bool:
        """Whether a query is embedded in this process, within milliseconds; others may take seconds."""

    @property
    def price(self) -> float | None:
        """US dollars per million tokens; 0 if nothing is charged, None if the price is unknown."""

    @property
    def tokens_used(self) -> int:
        """Tokens sent so far, as counted by the server or else estimated; 0 if nothing is charged."""

    @property
    def calibration(self) -> Calibration: ...

    @property
    def unknown_scripts(self) -> tuple[str, ...]:
        """Scripts whose words the model cannot distinguish, in English; texts in them are found by keywords only."""

    def embed_query(self, text: str, *, cancel: CancelToken | None = None) -> "Vectors":
        """Vector of a query, shape (dims,). Raises `ProviderError`, `Cancelled`, `Closed`."""

    def embed_documents(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> "Vectors":
        """Vectors of texts in order, shape (n, dims).

        Raises `ProviderError`, or `PartialAnswer` if some vectors arrived; `Cancelled`, `Closed`.
        """

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, exact or estimated as an upper bound."""

    def close(self) -> None:
        """Release the model. Running calls finish; later ones raise `Closed`. Can be called twice."""


def prepare(vectors: Any) -> "Vectors":
    """Float32 copy of one vector (dims,) or several (n, dims), normalised to length 1; non-finite values become 0.

    Vectors shorter than 1e-10 have no direction and are not scaled.
    """
    import numpy as np

    clean = np.nan_to_num(np.asarray(vectors, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    length = np.sqrt(np.einsum("...i,...i->...", clean, clean))[..., None]
    clean /= np.where(length < _LEAST_MAGNITUDE, 1.0, length)
    return clean.astype(np.float32)
