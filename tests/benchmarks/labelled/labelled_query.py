"""A query with the documents that answer it."""

from typing import NamedTuple

from tests.benchmarks.labelled.planted import second_half


class LabelledQuery(NamedTuple):
    """A query of a labelled set."""

    text: str
    kind: str
    gains: dict[str, int]
    """Relevance of each document that answers it."""

    @property
    def second_half(self) -> bool:
        return second_half(self.text)
