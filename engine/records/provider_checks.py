"""Whether a provider works, its key, and the model that it needs."""

from typing import Literal

from engine.records.base import Record


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
