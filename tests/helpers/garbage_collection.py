"""Pause Python's automatic garbage collection, which the window's tests disable for their whole process."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Collect no garbage within the block; afterwards collection is enabled only if it was before."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
