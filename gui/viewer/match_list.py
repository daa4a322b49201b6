"""Stores the hits in a text that may have been searched only in part."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gui.viewer.text_lines import TextPosition

BLOCK = 256
"""Lines that are searched together."""

_FINE_BLOCKS = 2_000

Finder = Callable[[str], Sequence[tuple[int, int]]]
"""Returns the matching ranges of one line, in code points."""


class Hit(NamedTuple):
    line: int
    start: int
    end: int

    @property
    def place(self) -> TextPosition:
        return self.line, self.start


class Step(NamedTuple):
    """The next hit, and whether the search wrapped around the end (or the start) of the text to reach it."""

    hit: Hit
    wrapped: bool


@dataclass(frozen=True)
class Unknown:
    """A block of lines that may contain the next hit, but has not been searched."""

    block: int


class MatchMap:
    """List of the hits in a text, and which parts of the text have been searched so far."""

    def __init__(self, line_count: int) -> None:
        self.block_count = -(-line_count // BLOCK)
        self._blocks: dict[int, tuple[Hit, ...]] = {}
        self.count = 0

    @property
    def complete(self) -> bool:
        return len(self._blocks) == self.block_count

    def knows(self, block: int) -> bool:
        return block in self._blocks

    def add(self, block: int, hits: Sequence[Hit]) -> None:
        self.count += len(hits) - len(self._blocks.get(block, ()))
        self._blocks[block] = tuple(hits)

    def lines(self) -> Iterator[int]:
        """Yield the lines with hits, unordered and perhaps repeated, to draw ticks; one per block in a long text."""
        most = 1 if self.block_count > _FINE_BLOCKS else None
        for hits in self._blocks.values():
            for hit in hits[:most]:
                yield hit.line

    def rank(self, hit: Hit) -> int:
        """Return the number of known hits before this one."""
        home = block_of(hit.line)
        before = sum(len(hits) for block, hits in self._blocks.items() if block < home)
        return before + bisect_left(self._blocks.get(home, ()), hit)

    def step(self, place: TextPosition, *, forward: bool) -> Step | Unknown | None:
        """Return the first hit after `place` (or, not `forward`, before it), wrapping around; None if there is none.

        Returns `Unknown` if a block has to be searched first.
        """
        if not self.block_count:
            return None
        home = min(block_of(place[0]), self.block_count - 1)
        for distance in range(self.block_count + 1):
            block = (home + distance if forward else home - distance) % self.block_count
            hits = self._blocks.get(block)
            if hits is None:
                return Unknown(block)
            wrapped = block < home if forward else block > home
            if distance == 0:
                starts = [hit.place for hit in hits]
                hits = hits[bisect_right(starts, place) :] if forward else hits[: bisect_left(starts, place)]
            if hits:
                return Step(hits[0 if forward else -1], wrapped or distance == self.block_count)
        return None


def block_of(line: int) -> int:
    return (line - 1) // BLOCK


# --- Finders of the query's words, and of the text in the find bar ---------------------------------------------------


def query_finder(query: str, language: str) -> Finder:
    """Return a function that finds a query's words in a text as the index matches them: in any case, accent and ending.

    Phrases are found whole, and the file and command names of operators; excluded words and other operators are not
    found.
    """
    from engine import highlight_ranges, parse_query  # brings the analysis, which an empty window does not need

    parsed = parse_query(query)
    return lambda text: highlight_ranges(text, parsed, (language,))


def names_tool_calls(query: str) -> bool:
    """Return whether a query has only operators for files or commands of tool calls, and no words."""
    if "file:" not in query.casefold() and "command:" not in query.casefold():
        return False
    from engine import parse_query

    parsed = parse_query(query)
    return (
        bool(parsed.values_of_required("file") or parsed.values_of_required("command")) and not parsed.free_text.strip()
    )


def plain_finder(needle: str) -> Finder:
    """Return a function that finds the typed characters in a text, ignoring case."""
    pattern = re.compile(re.escape(needle), re.IGNORECASE)
    return lambda text: [found.span() for found in pattern.finditer(text)]
