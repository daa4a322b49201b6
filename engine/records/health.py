"""What is looked at when somebody asks whether an index is sound, and what mending it did."""

from typing import Literal

from engine.records.base import Record

HealthState = Literal["fine", "degraded", "failed"]
"""`degraded`: searching works, but finds less than it could, or takes more time or room than it should."""


class HealthFinding(Record, frozen=True):
    """One thing that was looked at."""

    id: str
    """Names the matter from look to look, and to whoever repairs it."""
    name: str
    state: HealthState
    detail: str
    """What was looked at and what was found."""
    repair: str = ""
    """What mending it does, as a button says it; empty where nothing here can, or nothing is to be done."""
    advice: str = ""
    """What the person can do, where only they can."""
    count: int = 0
    """How many things are not as they should be."""


class HealthProgress(Record, frozen=True):
    """How far one step of looking or mending is."""

    step: str
    """As "Checking vectors"."""
    done: int
    total: int
    """0 where it is not known."""


class HealthRepair(Record, frozen=True):
    """What became of a repair."""

    done: tuple[str, ...]
    """What was done, a sentence each."""
    problem: str = ""
    """Why the rest was not, one sentence; empty when all was."""
