"""Reproducible random numbers, so that maps and duplicates stay the same on each run.

Uses Python's generator: numpy's would add 2.5 MB to a bundle for three arrays.
"""

import math
import random

import numpy as np
from numpy.typing import NDArray

_BATCH_SIZE = 1 << 15
"""Bytes drawn in one call: other threads can't run meanwhile."""
_FRACTION = 53
"""Random bits of a number between 0 and 1."""


def normal(seed: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array drawn from the standard normal distribution.

    After G. Box and M. Muller, "A note on the generation of random normal deviates" (1958).
    """
    count = math.prod(shape)
    source, size = random.Random(seed), 2 * 8 * count
    drawn = b"".join(source.randbytes(min(_BATCH_SIZE, size - start)) for start in range(0, size, _BATCH_SIZE))
    bits = np.frombuffer(drawn, "<u8").reshape(2, count) >> np.uint64(64 - _FRACTION)
    first, second = (bits + np.uint64(1)) / 2.0**_FRACTION  # never 0, which has no logarithm
    values: NDArray[np.float64] = np.sqrt(-2 * np.log(first)) * np.cos(2 * math.pi * second)
    return values.reshape(shape)
