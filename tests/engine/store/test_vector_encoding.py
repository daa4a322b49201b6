"""Vectors as stored, two bytes a number."""

import numpy as np

from engine.store.vector_encoding import decode


def test_decode_every_finite_number_is_exact():
    numbers = np.arange(1 << 16, dtype="<u2").view("<f2")
    finite = numbers[np.isfinite(numbers)].reshape(2, -1)
    decoded = decode([row.tobytes() for row in finite], finite.shape[1])
    assert decoded.dtype == np.float32
    assert np.array_equal(decoded.view(np.uint32), finite.astype(np.float32).view(np.uint32))


def test_decode_damaged_vectors_keep_infinity_and_nan():
    damaged = np.array([[np.inf, 1], [-np.inf, 0], [np.nan, -0.5]], "<f2")
    for rows in (damaged[:1], damaged[1:2], damaged[2:], damaged):
        decoded = decode([row.tobytes() for row in rows], 2)
        assert np.array_equal(decoded, rows.astype(np.float32), equal_nan=True)


def test_decode_no_rows_is_empty():
    assert decode([], 512).shape == (0, 512)
