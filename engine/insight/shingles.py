"""Computes the shingles of a stored file: hashes of consecutive tokens, each with its line.

Tokens are those of the keyword index, so all scripts are supported, and case, accents and markup make no difference.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.store.snapshot import Snapshot
from engine.text.analysis import Streams, text_pieces
from engine.text.tokens import RUN

WIDTH = 4
"""Tokens per shingle: unrelated texts share many of three; a text with every fifth word changed keeps few of five."""

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int32]

_MOST_REMEMBERED = 1 << 17
_LONGEST_REMEMBERED = 40
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@dataclass(frozen=True)
class ShingledFile:
    """Shingles in reading order, (n,), and the line of each token, (n + WIDTH - 1,); both empty for a short file."""

    hashes: Hashes
    lines: Numbers

    @property
    def tokens(self) -> int:
        return len(self.lines)


class _TokenHashes(dict[str, Sequence[int]]):
    """Cache of hashed tokens by run of characters: words repeat, so most runs cost one lookup."""

    def __init__(self) -> None:
        super().__init__()
        self._streams = Streams("")

    def __missing__(self, run: str) -> Sequence[int]:
        found = [_hash(token) for token in self._streams[run][0].split()]
        if len(run) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[run] = found
        return found


class Shingler:
    """Computes shingles on one thread; caches some 40 MB of words."""

    def __init__(self) -> None:
        self._known = _TokenHashes()

    def tokens(self, text: str) -> list[int]:
        """The hashed tokens of a text, in reading order."""
        return [token for _, piece in text_pieces(text) for run in RUN.findall(piece) for token in self._known[run]]

    def shingle(self, lines: Iterable[tuple[int, str]]) -> ShingledFile:
        """The shingles of a text, given as parts with the number of their (first) line."""
        tokens: list[int] = []
        numbers: list[int] = []
        counts: list[int] = []
        known = self._known
        for number, text in lines:
            before = len(tokens)
            for _, piece in text_pieces(text):
                for run in RUN.findall(piece):
                    tokens += known[run]
            numbers.append(number)
            counts.append(len(tokens) - before)
        if len(tokens) < WIDTH:
            return ShingledFile(np.empty(0, np.uint64), np.empty(0, np.int32))
        return ShingledFile(
            _hashes(np.array(tokens, np.uint64)), np.repeat(np.array(numbers, np.int32), np.array(counts, np.int64))
        )


def _hash(token: str) -> int:
    return int.from_bytes(hashlib.blake2b(token.encode(), digest_size=8).digest(), "little")


def _hashes(tokens: Hashes) -> Hashes:
    """Hash every `WIDTH` consecutive tokens; bits are mixed well enough to sample by an upper bound."""
    count = len(tokens) - WIDTH + 1
    mixed = tokens[:count].copy()
    for place in range(1, WIDTH):
        mixed ^= mixed >> _SHIFT
        mixed *= _FACTOR
        mixed += tokens[place : place + count]
    for _ in range(2):
        mixed ^= mixed >> _SHIFT
        mixed *= _FACTOR
    mixed ^= mixed >> _SHIFT
    return mixed


ChunkText = tuple[int, int, str]
"""First line, last line, text."""


def stored_texts(snapshot: Snapshot, file_ids: Sequence[int]) -> dict[int, list[ChunkText]]:
    """File id to its chunks in order, for some hundred files; files without chunks are left out."""
    marks = ",".join("?" for _ in file_ids)
    rows: Iterable[tuple[int, int, int, str]] = snapshot.connection.execute(
        f"""SELECT file_id, start_line, end_line, text FROM {snapshot.tables.chunks}
            WHERE file_id IN ({marks}) ORDER BY file_id, id""",
        tuple(file_ids),
    )
    found: dict[int, list[ChunkText]] = {}
    for id_, start, end, text in rows:
        found.setdefault(id_, []).append((start, end, text))
    return found


def without_overlaps(chunks: Iterable[ChunkText]) -> Iterator[tuple[int, str]]:
    """The text of a file without the overlaps of chunks: parts with the number of their first line."""
    before, last = "", 0
    for start, end, text in chunks:
        if start > last:
            yield start, text
        else:
            given = set(before.split("\n"))
            for number, line in enumerate(text.split("\n"), start):
                if number > last or line not in given:
                    yield number, line
        before, last = text, max(last, end)


def by_line(parts: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Split parts into lines."""
    for start, text in parts:
        yield from enumerate(text.split("\n"), start)
