"""A query with the documents that answer it."""

from typing import NamedTuple

from tests.benchmarks.labelled.planted import second_half


class Asked(NamedTuple):
    """One question."""

    text: str
    kind: str
    gains: dict[str, int]
    """How good each document is that answers it."""

    @property
    def second_half(self) -> bool:
        return second_half(self.text)
