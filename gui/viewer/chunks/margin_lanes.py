"""Lanes of a file's chunks in the margin: side by side where they overlap."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from engine import ChunkRow

LANES = 2
"""A chunk overlaps with the one before and the one after it. More meet on one overlong line: the last lane has them."""


class ChunkLanes:
    """The chunks of one file by line; created off the GUI thread, queried for visible lines."""

    def __init__(self, chunks: Sequence[ChunkRow]) -> None:
        """`chunks` are in the order of the text."""
        self.chunks = chunks
        self._starts = [chunk.start_line for chunk in chunks]
        self._ends = list(accumulate((chunk.end_line for chunk in chunks), max))
        self.lanes = _assigned(chunks)
        """The lane of each chunk."""

    def between(self, first: int, last: int) -> range:
        """Places of the chunks that reach into these lines; some between them may end before."""
        return range(bisect_left(self._ends, first), bisect_right(self._starts, last))

    def at(self, line: int, lane: int | None = None) -> list[int]:
        """Positions of the chunks on a line, limited to that lane if it has any."""
        here = [place for place in self.between(line, line) if self.chunks[place].end_line >= line]
        in_lane = [place for place in here if self.lanes[place] == lane]
        return in_lane or here

    def next(self, line: int, *, forward: bool) -> int | None:
        """The chunk for a step from a line: the one there or, if there is none, the next in that direction.

        Of two that overlap there, the later one: a result is shown from its first line on.
        """
        if here := self.at(line):
            return max(here, key=lambda place: (self.chunks[place].start_line, -place))
        place = bisect_right(self._starts, line) - (not forward)
        return place if 0 <= place < len(self.chunks) else None

    def place_of(self, chunk: ChunkRow) -> int | None:
        """The position of the same chunk in another version of the file; None if it was removed."""
        return next((place for place, other in enumerate(self.chunks) if other.id == chunk.id), None)


def _assigned(chunks: Sequence[ChunkRow]) -> list[int]:
    """For each the first lane that is free, else the last."""
    ends = [0] * LANES
    lanes = []
    for chunk in chunks:
        lane = next((lane for lane, end in enumerate(ends) if end < chunk.start_line), LANES - 1)
        ends[lane] = max(ends[lane], chunk.end_line)
        lanes.append(lane)
    return lanes
