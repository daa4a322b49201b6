"""Matched ranges that move along while text round them is taken away. Offsets are code points throughout."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Range = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """Remaining text: its original start, and its range in the result."""

    origin: int
    start: int
    end: int


def move_ranges(ranges: Iterable[Range], pieces: Sequence[Piece], length: int) -> list[Range]:
    """Ranges of the whole as ranges of the result of `length`; what lay between the pieces alone is dropped."""
    origins = [piece.origin for piece in pieces]
    moved = []
    for start, end in ranges:
        if start >= end:
            continue
        first = bisect_right(origins, start) - 1
        begin = pieces[first].start + start - origins[first]
        if begin >= pieces[first].end and first + 1 < len(pieces):
            begin = pieces[first + 1].start
        last = pieces[bisect_right(origins, end - 1) - 1]
        stop = min(last.start + end - last.origin, last.end, length)
        if begin < stop:
            moved.append((begin, stop))
    return moved


def cut_out(text: str, cuts: Iterable[Range], ranges: Iterable[Range]) -> tuple[str, list[Range]]:
    """`text` without the ascending, disjoint `cuts`, and `ranges` mapped to it."""
    pieces: list[Piece] = []
    position = length = 0
    for start, end in (*cuts, (len(text), len(text))):
        pieces.append(Piece(position, length, length + start - position))
        length, position = pieces[-1].end, end
    kept = "".join(text[piece.origin : piece.origin + piece.end - piece.start] for piece in pieces)
    return kept, move_ranges(ranges, pieces, length)
