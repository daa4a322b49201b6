"""Compares two texts word by word: their common share, and the location of a passage in both."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.insight.shingles import WIDTH, Hashes, ShingledFile

_GAP = 8
"""Maximum number of differing tokens within a shared passage."""

Mask = NDArray[np.bool_]
LineRange = tuple[int, int]


@dataclass(frozen=True)
class Passage:
    """A part of a text that another text has too."""

    lines: LineRange
    tokens: int
    """Number of common tokens."""
    first: int
    last: int
    """Positions of the first and last token in the text, both inclusive."""

    @property
    def density(self) -> float:
        """Share of the passage's tokens that both texts have."""
        return self.tokens / (self.last - self.first + 1)


@dataclass(frozen=True)
class Likeness:
    """Similarity of two texts. Shares are of tokens that are in a common shingle."""

    similarity: float
    """Share of both together, 0 to 1; the order of paragraphs makes no difference."""
    shares: tuple[float, float]
    """Share of each alone: 1 for a text that is completely contained in the other."""
    passages: tuple[Passage, Passage]
    """The longest shared passage, in each text."""


def compare(first: ShingledFile, second: ShingledFile, common: Hashes) -> Likeness | None:
    """Compare two texts; None if they have no common shingle.

    Shingles in `common` are in too many texts to be meaningful: tokens covered by them are not counted at all.
    """
    ignored = np.isin(first.hashes, common), np.isin(second.hashes, common)
    covered = (
        _covered(np.isin(first.hashes, second.hashes) & ~ignored[0]),
        _covered(np.isin(second.hashes, first.hashes) & ~ignored[1]),
    )
    counts = int(covered[0].sum()), int(covered[1].sum())
    totals = [
        text.tokens - int((_covered(mask) & ~shared).sum())
        for text, mask, shared in zip((first, second), ignored, covered, strict=True)
    ]
    passage = _longest(first, covered[0])
    if passage is None:
        return None
    there = find_passage(second, shingles_of(first, passage))
    if there is None:
        return None
    return Likeness(
        similarity=sum(counts) / sum(totals),
        shares=(counts[0] / totals[0], counts[1] / totals[1]),
        passages=(passage, there),
    )


def shingles_of(text: ShingledFile, passage: Passage) -> Hashes:
    """The shingles within a passage of this text."""
    return text.hashes[passage.first : passage.last - WIDTH + 2]


def find_passage(text: ShingledFile, hashes: Hashes) -> Passage | None:
    """The longest passage made of these shingles; None if the text has none of them."""
    return _longest(text, _covered(np.isin(text.hashes, hashes)))


def _covered(mask: Mask) -> Mask:
    """Mask of tokens that are in one of these shingles."""
    if not len(mask):
        return mask
    covered = np.zeros(len(mask) + WIDTH - 1, np.bool_)
    for place in range(WIDTH):
        covered[place : place + len(mask)] |= mask
    return covered


def _longest(text: ShingledFile, covered: Mask) -> Passage | None:
    places = np.flatnonzero(covered)
    if not len(places):
        return None
    cuts = np.flatnonzero(np.diff(places) > _GAP) + 1
    edges = np.concatenate(([0], cuts, [len(places)]))
    lengths = np.diff(edges)
    best = int(np.argmax(lengths))
    first, last = int(places[edges[best]]), int(places[edges[best + 1] - 1])
    lines = int(text.lines[first]), int(text.lines[last])
    return Passage(lines, int(lengths[best]), first, last)
