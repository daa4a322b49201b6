"""Storage format of vectors (float16, little-endian, unit length), the stored identity of their model, and the header
of the matrix file.
"""

import struct
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
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
MAX_DIMS = 20_000
"""Maximum number of dimensions of a vector; models have some thousands. A larger stored number is damaged and would
fill memory, and three times as many must be countable in 16 bits (`Block.distances`)."""
_HALF_BITS = -0x7000_2000
"""Bits of a float32 that a float16 fills after a shift by 13: the sign, the last five of the exponent, the first ten of
the fraction."""
_HALF_SCALE, _NOT_FINITE = 2.0**112, 2.0**16
"""Factor from the float32 of these bits to the number; and the result for infinity, which NaN exceeds."""
Dims = Annotated[int, msgspec.Meta(ge=1, le=MAX_DIMS)]


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
    arrays = [np.empty((0, columns), np.int64)]
    while batch := list(islice(rows, _CONVERTED)):
        arrays.append(np.array(batch, np.int64))
    return np.concatenate(arrays)


def decode(rows: Sequence[bytes], dims: int) -> Vectors:
    """Decode stored vectors to an array (n, dims)."""
    import numpy as np

    halves = np.frombuffer(b"".join(rows), dtype="<f2").reshape(len(rows), dims)
    # numpy converts one number after the other. A float32 has the same sign, three more bits of exponent and 13 more of
    # fraction, so moved bits are the number divided by a power of two.
    bits = halves.view("<i2").astype("<i4")
    bits <<= 13
    bits &= _HALF_BITS
    vectors: Vectors = bits.view("<f4")
    vectors *= np.float32(_HALF_SCALE)
    if max(vectors.max(initial=0), -vectors.min(initial=0)) >= _NOT_FINITE:
        return halves.astype("<f4")  # a damaged vector
    return vectors


_MAGIC = b"MNEMOMTX"
_VERSION = 1
_HEADER = struct.Struct("<8sIIQqq16sI")
"""Magic, version, and the fields of `MatrixHeader` in their order."""
BODY_START = 64


class MatrixHeader(msgspec.Struct, frozen=True):
    """The header of the file of the quantised matrix, which can be checked without numpy."""

    dims: int
    rows: int
    generation: int
    stamp: int
    """Stamp of the database whose vectors the file has."""
    model: bytes
    """Hash of the key that identifies index and model."""
    checksum: int
    """CRC-32 of the body."""

    def encode(self) -> bytes:
        return _HEADER.pack(_MAGIC, _VERSION, *msgspec.structs.astuple(self))

    def is_of(self, generation: int, model_key: str) -> bool:
        """Whether the file belongs to this generation of the index and to this model."""
        return (self.generation, self.model) == (generation, digest(model_key))

    @property
    def file_size(self) -> int:
        """Bytes of the whole file: header, ids, scales and codes."""
        return BODY_START + self.rows * (8 + 4 + self.dims)


def decode_header(start: bytes) -> MatrixHeader | None:
    """Decode the first `BODY_START` bytes of a matrix file; None if they aren't a header of this version."""
    if len(start) < BODY_START:
        return None
    magic, version, *fields = _HEADER.unpack_from(start)
    return MatrixHeader(*fields) if (magic, version) == (_MAGIC, _VERSION) else None


def read_header(path: Path) -> MatrixHeader | None:
    """Read the header of a matrix file; None if there is none, or the file is too short or too long."""
    try:
        with open(path, "rb") as file:
            header = decode_header(file.read(BODY_START))
            return header if header is not None and header.file_size == file.seek(0, 2) else None
    except OSError:
        return None


def digest(model_key: str) -> bytes:
    """Return the hash that identifies index and model in a matrix file."""
    import hashlib  # loads OpenSSL, which a search by keywords doesn't need

    return hashlib.sha256(model_key.encode()).digest()[:16]
