"""Embedding providers that cost almost nothing, to measure everything else."""

import itertools
import mmap
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken
from engine.embedding.provider_interface import normalised
from tests.benchmarks.real_vectors import lifted, real_vectors
from tests.helpers.fake_provider import FakeProvider

Vectors = NDArray[np.float32]


class RandomProvider(FakeProvider):
    """Unrelated texts get unrelated vectors; the same text always the same one."""

    def __init__(self, dims: int = 1536) -> None:
        super().__init__(dims, batch_size=64, model=f"random-{dims}")

    def embed_documents(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Vectors:
        return self.vectors_of(texts)

    def vectors_of(self, texts: Sequence[str]) -> Vectors:
        return random_vectors(texts, self.dims)


class LiftedProvider(RandomProvider):
    """Gives each text a random one of the real vectors, in more dimensions and slightly rotated.

    Distances between vectors are therefore like those of a real model, though they don't correspond to the texts.
    """

    def __init__(self, cache: Path, dims: int = 1536) -> None:
        super().__init__(dims)
        self.model = f"lifted-{dims}"
        self._real = lifted(cache, self.dims)

    def vectors_of(self, texts: Sequence[str]) -> Vectors:
        rows = [zlib.crc32(text.encode("utf-8", "replace")) % len(self._real) for text in texts]
        return normalised(self._real[rows] + 0.1 * random_vectors(texts, self.dims))


class NextVector:
    """Replaces the embedded provider's model: each text gets the next one of the real vectors."""

    def __init__(self, cache: Path) -> None:
        self._real = real_vectors(cache)
        self._next = itertools.count()

    def encode(self, texts: Sequence[str]) -> Vectors:
        found = self._real[[next(self._next) % len(self._real) for _ in texts]]
        if isinstance(self._real.base, mmap.mmap):
            self._real.base.madvise(mmap.MADV_DONTNEED)  # pages of this file aren't the program's own memory
        return found

    def pieces(self, word: str) -> int:
        return 0

    def rarity(self, word: str) -> float:
        return 1.0

    def nearest_pieces(self, query: str, lines: Sequence[str], frequent: float) -> tuple[Vectors, Vectors]:
        return np.zeros((1, len(lines)), np.float32), np.ones(1, np.float32)


def random_vectors(texts: Sequence[str], dims: int) -> Vectors:
    seeds = (zlib.crc32(text.encode("utf-8", "replace")) for text in texts)
    return normalised(np.stack([np.random.default_rng(seed).standard_normal(dims, np.float32) for seed in seeds]))
