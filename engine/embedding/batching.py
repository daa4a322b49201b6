"""Cuts a stream of texts into requests that a provider takes."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from engine.embedding.base import Limits

Item = TypeVar("Item")


def requests(items: Iterable[Item], limits: Limits, tokens: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Group the items in order, each list as large as one request; one that is too large is alone."""
    request: list[Item] = []
    size = 0
    for item in items:
        length = tokens(item)
        if request and (len(request) == limits.inputs or size + length > limits.tokens):
            yield request
            request, size = [], 0
        request.append(item)
        size += length
    if request:
        yield request
