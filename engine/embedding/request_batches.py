"""Splits a stream of texts into requests within a provider's limits."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from engine.embedding.provider_interface import Limits

if TYPE_CHECKING:
    pass

Item = TypeVar("Item")


def requests(items: Iterable[Item], limits: Limits, tokens: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Group items in order, as many as fit into one request; an item that is too large is sent alone."""
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
