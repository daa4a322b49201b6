"""Gives memory that a sync has used back to the system, for a program that stays open all day."""

import sys


def give_back() -> None:
    """Have glibc return what has been freed: it keeps freed pages that lie below one in use, some 50 MB after a full
    index. Other allocators return them by themselves.
    """
    if sys.platform.startswith("linux"):
        import ctypes  # nobody needs it who only searches

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
