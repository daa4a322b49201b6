"""The interface of embedding providers, requests within their limits, and normalisation of their vectors.

numpy is imported with the first vector, so that keyword search does not load it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.providers import Calibration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_MIN_MAGNITUDE = 1e-10
Item = TypeVar("Item")


class Limits(msgspec.Struct, frozen=True):
    """Limits of a provider's requests."""

    inputs: int
    """Texts per request."""
    tokens: int
    """Tokens of all texts in a request; a longer text is sent alone."""
    input_tokens: int
    """Tokens of one text; longer ones are embedded in parts and their vectors averaged."""
    at_once: int
    """Number of concurrent requests."""


def requests(items: Iterable[Item], limits: Limits, tokens: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Group items in order, as many as fit into one request; an item that is too large is sent alone."""
    request: list[Item] = []
    size = 0
    for item in items:
        length = tokens(item)
        if request and (len(request) == limits.inputs or size + length > limits.tokens):
            yield request
            request, size = [], 0
        request.append(item)
        size += length
    if request:
        yield request


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
        """Whether the provider sends texts to another machine."""

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

    def pieces(self, word: str) -> int:
        """Return how many pieces of the model's vocabulary spell a word, 0 if it can't be looked up or spelt.

        A frequent word of a language that the model knows is one piece.

        Raises `ProviderError`, `Closed`.
        """

    def embed_query(self, text: str, *, cancel: CancelToken | None = None) -> "Vectors":
        """Return the vector of a query, shape (dims,). Raises `ProviderError`, `Cancelled`, `Closed`."""

    def embed_documents(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> "Vectors":
        """Return the vectors of texts, in order, shape (n, dims).

        Raises `ProviderError`, or `PartialAnswer` if some vectors arrived; `Cancelled`, `Closed`.
        """

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text, exact or estimated as an upper bound."""

    def close(self) -> None:
        """Release the model. Running calls finish; later ones raise `Closed`. Can be called twice."""


@runtime_checkable
class WordVectors(Protocol):
    """A model in this process whose vectors of single words can be compared. Thread-safe."""

    def word_vectors(self, words: Sequence[str], *, cancel: CancelToken | None = None) -> "Vectors":
        """Return the vectors of single words, in order, within some thousandths of unit length, shape (n, dims).

        Cached within limits. Raises `ProviderError`, `Cancelled`, `Closed`.
        """

    def rarity(self, word: str) -> float:
        """Return the negative logarithm of a word's frequency, estimated from its spelling."""

    def nearest_pieces(
        self, query: str, lines: Sequence[str], frequent: float, *, cancel: CancelToken | None = None
    ) -> "tuple[Vectors, Vectors]":
        """Compare the word pieces of a query and of each line by the model's table, without its network.

        Returns the cosine of each line's most similar piece, shape (pieces of the query, lines), and the rarity of each
        piece of the query, the negative logarithm of its frequency. Pieces up to the rarity `frequent` are left out.
        Fast, but only for texts in one language. Raises `ProviderError`, `Cancelled`, `Closed`.
        """


def normalised(vectors: Any) -> "Vectors":
    """Return a float32 copy of vectors, (dims,) or (n, dims), normalised to length 1; non-finite values become 0.

    Vectors shorter than 1e-10 have no direction and are not scaled.
    """
    import numpy as np

    clean = np.nan_to_num(np.asarray(vectors, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    length = np.sqrt(np.einsum("...i,...i->...", clean, clean))[..., None]
    clean /= np.where(length < _MIN_MAGNITUDE, 1.0, length)
    return clean.astype(np.float32)
