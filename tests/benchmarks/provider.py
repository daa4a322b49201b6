"""An in-process provider that costs next to nothing: what is measured is everything round it."""

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.control import CancelToken
from engine.embedding.base import prepare
from tests.helpers.fake_provider import FakeProvider


class RandomProvider(FakeProvider):
    """Unrelated texts get unrelated vectors; the same text always the same one."""

    def __init__(self, dims: int = 1536) -> None:
        super().__init__(dims, batch_size=64, model=f"random-{dims}")

    def embed_documents(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> NDArray[np.float32]:
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        seeds = (zlib.crc32(text.encode("utf-8", "replace")) for text in texts)
        return prepare(np.stack([np.random.default_rng(seed).standard_normal(self.dims, np.float32) for seed in seeds]))
