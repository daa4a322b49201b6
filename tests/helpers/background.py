"""Wait for background work of a memory."""

import time
from collections.abc import Callable

from engine.memory.memory_interface import MemorySearchManager

LONGEST_WAIT = 300.0
"""Seconds. Only a failure takes as long: on a busy machine, two starts of the program took more than a minute."""


def wait_until(condition: Callable[[], bool], seconds: float = LONGEST_WAIT) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)


def reasons(memory: MemorySearchManager) -> list[str]:
    return [sync.reason for sync in memory.status().recent_syncs]
