"""Results of health checks and repairs."""

from typing import Literal

from engine.records.base import Record

HealthState = Literal["fine", "degraded", "failed"]
"""`degraded`: searching works, but finds less than it could, or takes more time or room than it should."""


class HealthFinding(Record, frozen=True):
    """One thing that was looked at."""

    id: str
    """Identifies the check, also for a repair."""
    name: str
    state: HealthState
    detail: str
    """What was checked, and the result."""
    repair: str = ""
    """Label of the repair button; empty if there is nothing to repair, or no repair."""
    advice: str = ""
    """Advice for problems that the program can't repair itself."""
    count: int = 0
    """How many things are not as they should be."""


class HealthProgress(Record, frozen=True):
    """Progress of one check or repair."""

    step: str
    """As "Checking vectors"."""
    done: int
    total: int
    """0 if unknown."""


class HealthRepair(Record, frozen=True):
    """What became of a repair."""

    done: tuple[str, ...]
    """What was done, a sentence each."""
    problem: str = ""
    """Why the rest was not, one sentence; empty when all was."""
