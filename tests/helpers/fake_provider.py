"""An embedding provider without a model: texts that share words get similar vectors, always the same ones."""

import threading
import zlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.embedding.provider_interface import Limits, normalised
from engine.embedding.provider_selection import Selection
from engine.providers import Calibration


class FakeProvider:
    """Counts its requests; `before` is called before each batch and may raise or block."""

    key = ""
    remote = False
    in_process = True
    price: float | None = 0.0
    unknown_scripts: tuple[str, ...] = ()
    calibration = Calibration(0.15, 0.65, 0.2)

    def __init__(self, dims: int = 64, *, batch_size: int = 16, id: str = "fake", model: str = "bag-of-words") -> None:
        self.id = id
        self.tokens_used = 0
        self.dims = dims
        self.limits = Limits(inputs=batch_size, tokens=1_000_000, input_tokens=8192, at_once=2)
        self.model = model
        self.before: Callable[[Sequence[str]], None] = lambda texts: None
        self.cancellable = True
        self.embedded: list[str] = []
        self.questions: list[str] = []
        self.fails_queries = ""
        self._lock = threading.Lock()

    def pieces(self, word: str) -> int:
        return 0

    def embed_query(self, text: str, *, cancel: CancelToken | None = None) -> NDArray[np.float32]:
        self.questions.append(text)
        if self.fails_queries:
            raise ProviderError(self.fails_queries)
        return self.vectors_of([text])[0]

    def embed_documents(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> NDArray[np.float32]:
        self.before(texts)
        if cancel is not None and self.cancellable:
            cancel.checkpoint()
        with self._lock:
            self.embedded += texts
            if self.price != 0:
                self.tokens_used += sum(map(self.count_tokens, texts))
        return self.vectors_of(texts)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def close(self) -> None:
        pass

    def vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[zlib.crc32(word.strip(".,:;!?#").encode("utf-8", "replace")) % self.dims] += 1
        return normalised(rows)


def selection_of(provider: FakeProvider | None) -> Selection:
    return Selection(provider, "none" if provider is None else provider.id)


class PaidProvider(FakeProvider):
    """A fake billed service: by default a cent per thousand words."""

    remote = True
    in_process = False
    price = 10.0

    def __init__(self, dims: int = 64, *, batch_size: int = 16, id: str = "paid", model: str = "dear") -> None:
        super().__init__(dims, batch_size=batch_size, id=id, model=model)


def fallback_to(provider: FakeProvider | None, first: str, reason: str) -> Selection:
    """Return the registry's record of a fallback."""
    if provider is None:
        return Selection(None, first, unavailable_reason=reason)
    return Selection(provider, first, fallback_from=first, fallback_reason=reason)
