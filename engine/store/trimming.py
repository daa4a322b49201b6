"""Gives memory that a sync has used back to the system, for a program that stays open all day."""

import ctypes
import sys

import apsw


def give_back(connection: apsw.Connection) -> None:
    """Empty the connection's page cache, and have glibc return what has been freed since: it keeps freed pages of
    small blocks, some 70 MB after a full index. Other allocators return them by themselves.
    """
    connection.pragma("shrink_memory")
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
