"""What every embedding provider offers, and how their vectors are cleaned.

numpy is imported when the first vector is made: a search by words alone must not pay for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from engine.control import CancelToken

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_LEAST_MAGNITUDE = 1e-10


@dataclass(frozen=True)
class Calibration:
    """How the cosines of one model become absolute scores, and how far they are trusted beside words."""

    low: float
    """Cosine that counts as unrelated: scores 0."""
    high: float
    """Cosine that counts as the same meaning: scores 1."""
    weight: float
    """Share of the vector score where words match fully, 0 to 1."""


class EmbeddingProvider(Protocol):
    """Turns texts into unit vectors. Every method may be called from several threads at once."""

    @property
    def id(self) -> str:
        """Short name, as in the settings."""

    @property
    def model(self) -> str: ...

    @property
    def dims(self) -> int:
        """Length of its vectors."""

    @property
    def key(self) -> str:
        """What else the vectors depend on; part of the cache's key."""

    @property
    def batch_size(self) -> int:
        """How many documents it likes to get at once."""

    @property
    def max_input_bytes(self) -> int:
        """UTF-8 bytes of a text that it takes in; the rest of a longer text is ignored."""

    @property
    def calibration(self) -> Calibration: ...

    @property
    def unknown_scripts(self) -> tuple[str, ...]:
        """Scripts whose words it cannot tell apart, in English; texts in them are found by words only."""

    def embed_query(self, text: str, *, cancel: CancelToken | None = None) -> "Vectors":
        """Vector of a question, shape (dims,). Raises `ProviderError`, `Cancelled`, `Closed`."""

    def embed_documents(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> "Vectors":
        """Vectors of texts in their order, shape (n, dims). Raises `ProviderError`, `Cancelled`, `Closed`."""

    def close(self) -> None:
        """Release the model. Calls under way finish; later ones raise `Closed`. Twice is fine."""


def prepare(vectors: Any) -> "Vectors":
    """Float32 copy of one vector (dims,) or several (n, dims): what is not finite becomes 0, then each has length 1.

    A vector shorter than 1e-10 has no direction and is left as it is.
    """
    import numpy as np

    clean = np.nan_to_num(np.asarray(vectors, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    length = np.sqrt(np.einsum("...i,...i->...", clean, clean))[..., None]
    clean /= np.where(length < _LEAST_MAGNITUDE, 1.0, length)
    return clean.astype(np.float32)
