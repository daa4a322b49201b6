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


# --- Checks of a provider, its key and its model ---------------------------------------------------------------------


class Probe(Record, frozen=True):
    ok: bool
    error: str


class ProviderProbe(Record, frozen=True):
    """Result of sending one word to a provider."""

    ok: bool
    error: str
    """The error, one sentence that says what to do; empty if it is ok."""
    milliseconds: float
    """From the request to its answer; 0 where none was sent."""
    dims: int | None
    """Length of the vector that came."""
    model: str
    """The requested model; empty without a provider."""


class ModelFetchProgress(Record, frozen=True):
    """How much of a model has come from the hub."""

    model: str
    """hf:owner/repository/file.gguf"""
    received: int
    total: int
    """Bytes, what an earlier fetch left included."""


class KeyState(Record, frozen=True):
    """Whether a provider has an API key, and where it was found; never the key itself."""

    present: bool
    origin: Literal["environment", "keychain"] | None
    place: str
    """For a sentence: `the environment variable OPENAI_API_KEY`, `the keychain`; empty if there is none."""
    problem: str
    """Why one could not be looked for, or cannot be used; one sentence, or empty."""
