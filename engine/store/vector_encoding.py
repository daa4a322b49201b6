"""How vectors are stored: float16, little-endian, unit length; and how the index names the model that made them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids: TypeAlias = NDArray[np.int64]
    Vectors: TypeAlias = NDArray[np.float32]
else:
    # numpy is only imported by modules that use vectors
    Ids = Vectors = Any


@dataclass(frozen=True)
class StoredModel:
    """A model as the index knows it."""

    id: int
    name: str
    """Provider, model and provider key in one: what the matrix file is checked against."""
    dims: int

    @classmethod
    def of(cls, id_: int, provider: str, model: str, key: str, dims: int) -> "StoredModel":
        return cls(id_, f"{provider}/{model}/{key}", dims)


def encode(vectors: Vectors) -> list[bytes]:
    """Unit vectors (n, dims) in the stored format."""
    return [row.tobytes() for row in vectors.astype("<f2")]


def decode(rows: Sequence[bytes], dims: int) -> "NDArray[np.float16]":
    """Stored vectors as an array (n, dims)."""
    import numpy as np

    return np.frombuffer(b"".join(rows), dtype="<f2").reshape(len(rows), dims)
