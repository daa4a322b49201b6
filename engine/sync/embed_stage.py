"""Gives vectors to the chunks that lack one: newest files first, some requests at a time, each kept as it arrives."""

import time
from collections.abc import Iterator, Mapping, Set
from concurrent.futures import FIRST_COMPLETED, Future, wait

from engine.embedding.base import EmbeddingProvider, PartialAnswer
from engine.embedding.batching import requests
from engine.errors import Cancelled, ProviderError
from engine.store import models
from engine.store.coding import StoredModel, Vectors
from engine.store.snapshot import Unembedded
from engine.sync.keeping import VectorKeeper
from engine.sync.parts import StageWork

_TEXTS_AT_ONCE = 256
_PAUSE_POLL = 0.2
_SECONDS_TO_MEASURE = 2.0
"""From which on the speed of a run says something of the next."""


class EmbedStage:
    """One sync's embedding work on one generation, with one model.

    Requests may be under way between two calls of `run`; whoever made the stage calls `end`.
    """

    def __init__(self, work: StageWork, provider: EmbeddingProvider, model: StoredModel) -> None:
        self._store = work.parts.store
        self._executor = work.parts.executor
        self._keeper = VectorKeeper(work, model)
        # Only where searches would find the changed words at once.
        self._makes_way = work.parts.take_changes if work.tables is None else lambda: False
        self._tables = work.tables
        self._meter = work.meter
        self._token = work.token
        self._provider = provider
        self._model = model
        self._running: dict[Future[Vectors], list[Unembedded]] = {}
        self._done = 0
        self._letters = 0
        self._seconds = 0.0
        """Spent on these letters, without pauses."""

    def run(self, leave: Set[bytes] = frozenset()) -> bool:
        """Embed all that is pending; False when files changed and the rest has to wait for their text.

        `leave`: hashes of texts whose vectors come in another way. Raises `Cancelled`, `ProviderError`.

        Every batch that was answered is stored by `end` at the latest: no text is ever embedded twice.
        """
        with self._store.read(tables=self._tables) as snapshot:
            due = [id_ for id_, hash_ in snapshot.due(self._model.id) if hash_ not in leave]
        if not due:
            return True
        self._done = 0
        self._meter.start("embedding", len(due))
        limits = self._provider.limits
        waiting = requests(self._texts(due), limits, lambda text: self._provider.count_tokens(text.text))
        request = next(waiting, None)
        while request or self._running:
            self._token.checkpoint()
            if self._makes_way():
                return False
            begun = time.monotonic()
            while request and len(self._running) < limits.at_once:
                self._submit(request)
                request = next(waiting, None)
            self._collect()
            self._seconds += time.monotonic() - begun
        return True

    def end(self) -> None:
        """Leave nothing behind on the executor, and keep what still comes in."""
        running, self._running = self._running, {}
        for future in running:
            future.cancel()
        for future, texts in running.items():
            if not future.cancelled():
                self._take(future, texts)
        if self._seconds >= _SECONDS_TO_MEASURE and self._letters:
            with self._store.write() as writer:
                models.note_speed(writer, self._model.id, self._letters / self._seconds)

    def _texts(self, due: list[int]) -> Iterator[Unembedded]:
        under_way = {text.hash for texts in self._running.values() for text in texts}
        for start in range(0, len(due), _TEXTS_AT_ONCE):
            with self._store.read(tables=self._tables) as snapshot:
                texts = snapshot.texts(due[start : start + _TEXTS_AT_ONCE])
            yield from (text for text in texts if text.hash not in under_way)

    def _submit(self, texts: list[Unembedded]) -> None:
        future = self._executor.submit(
            self._provider.embed_documents, [text.text for text in texts], cancel=self._token
        )
        self._running[future] = texts

    def _collect(self) -> None:
        """Wait for at least one request and store all that have arrived."""
        done, _ = wait(self._running, timeout=_PAUSE_POLL, return_when=FIRST_COMPLETED)
        for future in done:
            self._take(future, self._running.pop(future))
            if self._token.cancelled:  # and what a cancel made of a request is no failure
                raise Cancelled
            future.result()  # raises what went wrong

    def _take(self, future: "Future[Vectors]", texts: list[Unembedded]) -> None:
        """Keep what a request that has ended brought."""
        error = future.exception()
        if error is None:
            self._keep(texts, future.result())
        elif isinstance(error, PartialAnswer) and error.arrived:
            self._keep_some(texts, error.arrived)

    def _keep_some(self, texts: list[Unembedded], arrived: "Mapping[int, Vectors]") -> None:
        import numpy as np

        self._keep([texts[place] for place in arrived], np.stack(list(arrived.values())))

    def _keep(self, texts: list[Unembedded], vectors: "Vectors") -> None:
        if vectors.shape[1] != self._model.dims:
            raise ProviderError(
                f"{self._provider.model} answered with vectors of {vectors.shape[1]:,} numbers, but had ones of "
                f"{self._model.dims:,} before: set dimensions in the settings, or delete the model's vectors."
            )
        self._keeper.keep([text.hash for text in texts], vectors)
        self._letters += sum(len(text.text) for text in texts)
        self._done += len(texts)
        self._meter.step(self._done, texts[-1].path)
