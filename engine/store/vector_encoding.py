"""Storage format of vectors (float16, little-endian, unit length), and the stored identity of their model."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids: TypeAlias = NDArray[np.int64]
    Vectors: TypeAlias = NDArray[np.float32]
else:
    # numpy is imported only by code that handles vectors.
    Ids = Vectors = Any


_CONVERTED = 4096
"""Number of rows of SQLite converted to an array in one call; longer lists would block other threads too long."""
MOST_DIMS = 65_536
"""Most dimensions of a vector; models have some thousands. A larger stored number is damaged and would fill memory."""
Dims = Annotated[int, msgspec.Meta(ge=1, le=MOST_DIMS)]


class StoredModel(msgspec.Struct, frozen=True):
    """An embedding model with vectors in the index."""

    id: int
    name: str
    """Provider, model and key combined; used to check that the matrix file is of this model."""
    dims: int

    @classmethod
    def of(cls, id_: int, provider: str, model: str, key: str, dims: int) -> "StoredModel":
        return cls(id_, f"{provider}/{model}/{key}", dims)


def encode(vectors: Vectors) -> list[bytes]:
    """Encode unit vectors (n, dims) as bytes for storage, one per vector."""
    return [row.tobytes() for row in vectors.astype("<f2")]


def integers(rows: Iterable[tuple[int, ...]], columns: int) -> Ids:
    """Convert rows of SQLite to an array (n, columns), without a list of all of them."""
    import numpy as np

    rows = iter(rows)
    found = [np.empty((0, columns), np.int64)]
    while batch := list(islice(rows, _CONVERTED)):
        found.append(np.array(batch, np.int64))
    return np.concatenate(found)


def decode(rows: Sequence[bytes], dims: int) -> "NDArray[np.float16]":
    """Decode stored vectors to an array (n, dims)."""
    import numpy as np

    return np.frombuffer(b"".join(rows), dtype="<f2").reshape(len(rows), dims)
