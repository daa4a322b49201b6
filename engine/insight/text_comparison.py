"""Compares two stored texts word by word: the share of text in common, and where a common passage is in both.

Texts are compared by their shingles: hashes of consecutive tokens, each with its line. Tokens are those
of the keyword index, so all scripts are supported, and case, accents and markup make no difference.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.store.index_schema import IN_TEXT_ORDER
from engine.store.snapshot import Snapshot
from engine.text.tokens import RUN
from engine.text.tokens_and_stems import Streams, text_pieces

_GAP = 8
"""Maximum number of differing tokens in a row within a shared passage."""

Mask = NDArray[np.bool_]
LineRange = tuple[int, int]

WIDTH = 4
"""Tokens per shingle: unrelated texts share many of three; a text with every fifth word changed keeps few of five."""

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int32]

_MAX_CACHED = 1 << 17
_LONGEST_CACHED = 40
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)

ChunkText = tuple[int, int, str]
"""First line, last line, text."""


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
class TextSimilarity:
    """Similarity of two texts. Each share is the part of the tokens that are in a common shingle."""

    similarity: float
    """Share of both texts together, 0 to 1; the order of paragraphs makes no difference."""
    shares: tuple[float, float]
    """Share of each text alone: 1 for a text that the other contains completely."""
    passages: tuple[Passage, Passage]
    """The longest shared passage, in each text."""


@dataclass(frozen=True)
class ShingledFile:
    """Shingles in reading order, (n,), and the line of each token, (n + WIDTH - 1,); both empty for a short file."""

    hashes: Hashes
    lines: Numbers

    @property
    def tokens(self) -> int:
        return len(self.lines)


def compare(first: ShingledFile, second: ShingledFile, common: Hashes) -> TextSimilarity | None:
    """Return the similarity of two texts and their longest common passage; None if they have no common shingle.

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
    return TextSimilarity(
        similarity=sum(counts) / sum(totals),
        shares=(counts[0] / totals[0], counts[1] / totals[1]),
        passages=(passage, there),
    )


def shingles_of(text: ShingledFile, passage: Passage) -> Hashes:
    """Return the shingles within a passage of a text."""
    return text.hashes[passage.first : passage.last - WIDTH + 2]


def find_passage(text: ShingledFile, hashes: Hashes) -> Passage | None:
    """Return the longest passage of a text that consists of these shingles; None without any."""
    return _longest(text, _covered(np.isin(text.hashes, hashes)))


def _covered(mask: Mask) -> Mask:
    """Return a mask of the tokens that are in one of the masked shingles."""
    if not len(mask):
        return mask
    covered = np.zeros(len(mask) + WIDTH - 1, np.bool_)
    for shift in range(WIDTH):
        covered[shift : shift + len(mask)] |= mask
    return covered


def _longest(text: ShingledFile, covered: Mask) -> Passage | None:
    positions = np.flatnonzero(covered)
    if not len(positions):
        return None
    cuts = np.flatnonzero(np.diff(positions) > _GAP) + 1
    edges = np.concatenate(([0], cuts, [len(positions)]))
    lengths = np.diff(edges)
    best = int(np.argmax(lengths))
    first, last = int(positions[edges[best]]), int(positions[edges[best + 1] - 1])
    lines = int(text.lines[first]), int(text.lines[last])
    return Passage(lines, int(lengths[best]), first, last)


class _TokenHashes(dict[str, Sequence[int]]):
    """Cache of hashed tokens by word: words repeat, so most need only one lookup."""

    def __init__(self) -> None:
        super().__init__()
        self._streams = Streams("")

    def __missing__(self, run: str) -> Sequence[int]:
        hashes = [_hash(token) for token in self._streams[run][0].split()]
        if len(run) <= _LONGEST_CACHED:
            if len(self) >= _MAX_CACHED:
                self.clear()
            self[run] = hashes
        return hashes


class Shingler:
    """Computes shingles of texts, on one thread; caches some 40 MB of words."""

    def __init__(self) -> None:
        self._known = _TokenHashes()

    def tokens(self, text: str) -> list[int]:
        """Return the hashes of a text's tokens, in reading order."""
        return [token for _, piece in text_pieces(text) for run in RUN.findall(piece) for token in self._known[run]]

    def shingle(self, lines: Iterable[tuple[int, str]]) -> ShingledFile:
        """Return the shingles of a text, given as parts with the number of their (first) line."""
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
    """Return a hash for every `WIDTH` consecutive tokens; its bits are mixed well enough to sample by
    an upper bound.
    """
    count = len(tokens) - WIDTH + 1
    mixed = tokens[:count].copy()
    for offset in range(1, WIDTH):
        mixed ^= mixed >> _SHIFT
        mixed *= _FACTOR
        mixed += tokens[offset : offset + count]
    for _ in range(2):
        mixed ^= mixed >> _SHIFT
        mixed *= _FACTOR
    mixed ^= mixed >> _SHIFT
    return mixed


def stored_texts(snapshot: Snapshot, file_ids: Sequence[int]) -> dict[int, list[ChunkText]]:
    """Return the chunks of some hundred files in order, by file id; files without chunks are left out."""
    marks = ",".join("?" for _ in file_ids)
    rows: Iterable[tuple[int, int, int, str]] = snapshot.connection.execute(
        f"""SELECT file_id, start_line, end_line, text FROM {snapshot.tables.chunks}
            WHERE file_id IN ({marks}) ORDER BY file_id, {IN_TEXT_ORDER}""",
        tuple(file_ids),
    )
    texts: dict[int, list[ChunkText]] = {}
    for id_, start, end, text in rows:
        texts.setdefault(id_, []).append((start, end, text))
    return texts


def without_overlaps(chunks: Iterable[ChunkText]) -> Iterator[tuple[int, str]]:
    """Yield the text of a file without the overlaps of its chunks: parts with the number of their first line."""
    before, last = "", 0
    for start, end, text in chunks:
        if start > last:
            yield start, text
        else:
            previous = set(before.split("\n"))
            for number, line in enumerate(text.split("\n"), start):
                if number > last or line not in previous:
                    yield number, line
        before, last = text, max(last, end)


def by_line(parts: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Split parts of a text into lines with their numbers."""
    for start, text in parts:
        yield from enumerate(text.split("\n"), start)
