"""Embeds texts that exceed a model's limit: in parts whose vectors are averaged, so that nothing is dropped."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from engine.base import lazy_pattern
from engine.base.errors import ProviderError
from engine.embedding.provider_interface import Limits, PartialAnswer, normalised, requests

if TYPE_CHECKING:
    from engine.embedding.provider_interface import Vectors


_ENDS = (
    lazy_pattern(r"\n[^\S\n]*\n\s*"),  # the end of a paragraph
    lazy_pattern(r"\n"),  # the end of a line: an item of a list, a line of code
    lazy_pattern(r"[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[」』）]*"),  # noqa: RUF001 of a sentence, of a Chinese one as well
    lazy_pattern(r"\s+"),  # the end of a word
)
"""Boundaries at which a text may be cut, best first."""
_REACH = 0.25
"""Maximum distance of a cut from its ideal location, as a share of the length of a part."""


class _Part(msgspec.Struct, frozen=True):
    """A part of a text within the model's limit."""

    owner: int
    """Index of its text."""
    text: str
    tokens: int


def embed_whole(
    texts: Sequence[str],
    limits: Limits,
    count_tokens: Callable[[str], int],
    embed: "Callable[[Sequence[str]], Vectors]",
) -> "Vectors":
    """Return the vectors of texts of any length, in order, shape (n, dims).

    A text of more than `limits.input_tokens` tokens is cut into parts. Their unit vectors are averaged, weighted by
    tokens, and normalised. `embed` gets texts and parts in order, as many at a time as fit into one request.

    Raises the errors of `embed`; if some texts already have their vectors, a `ProviderError` is replaced with a
    `PartialAnswer` that contains these.
    """
    import numpy as np

    if not texts:
        return embed(texts)
    limit = limits.input_tokens
    parts = [part for owner, text in enumerate(texts) for part in _pieces_of(owner, text, limit, count_tokens)]
    arrived: dict[int, Vectors] = {}
    done = 0
    for request in requests(parts, limits, lambda part: part.tokens):
        try:
            arrived |= enumerate(embed([part.text for part in request]), done)
        except ProviderError as error:
            if isinstance(error, PartialAnswer):
                arrived |= {done + index: vector for index, vector in error.arrived.items()}
            whole = _joined(parts, arrived)
            if not whole:
                raise
            raise PartialAnswer(str(error), whole) from error
        done += len(request)
    return np.stack(list(_joined(parts, arrived).values()))


def cut(text: str, limit: int, count_tokens: Callable[[str], int]) -> Iterator[tuple[str, int]]:
    """Split a text into parts of at most `limit` tokens, each with its tokens; joined, they are the original text.

    Parts have about equal length and end at the end of a paragraph, line, sentence or word, if one is close enough. A
    single character of more tokens is a separate part.
    """
    tokens = count_tokens(text)
    if tokens <= limit or len(text) < 2:
        yield text, tokens
        return
    parts = math.ceil(tokens / limit)
    position = _best_end(text, len(text) * (parts // 2) // parts, int(len(text) / parts * _REACH))
    yield from cut(text[:position], limit, count_tokens)
    yield from cut(text[position:], limit, count_tokens)


def _best_end(text: str, ideal: int, reach: int) -> int:
    """Return the best location to cut within `reach` characters of the ideal one; never an end of the text itself."""
    low, high = max(1, ideal - reach), min(len(text) - 1, ideal + reach)
    for end in _ENDS:
        # One more character on both sides: a boundary is matched as a whole, or extends too far and does not count.
        ends = [match.end() for match in end.finditer(text, low - 1, high + 1) if low <= match.end() <= high]
        if ends:
            return min(ends, key=lambda position: abs(position - ideal))
    return min(max(ideal, 1), len(text) - 1)


def _pieces_of(owner: int, text: str, limit: int, count_tokens: Callable[[str], int]) -> list[_Part]:
    parts = [_Part(owner, part, tokens) for part, tokens in cut(text, limit, count_tokens)]
    # Blank parts would only distort the average.
    return [part for part in parts if part.text.strip()] or parts[:1]


def _joined(parts: Sequence[_Part], arrived: "Mapping[int, Vectors]") -> "dict[int, Vectors]":
    """Return the vector of every text whose parts have all arrived, by index."""
    parts_of: dict[int, list[int]] = {}
    for index, part in enumerate(parts):
        parts_of.setdefault(part.owner, []).append(index)
    return {
        owner: _average([parts[index] for index in own], [arrived[index] for index in own])
        for owner, own in parts_of.items()
        if all(index in arrived for index in own)
    }


def _average(parts: "Sequence[_Part]", vectors: "Sequence[Vectors]") -> "Vectors":
    if len(vectors) == 1:
        return vectors[0]
    import numpy as np

    return normalised(np.average(np.stack(vectors), axis=0, weights=[max(part.tokens, 1) for part in parts]))
