"""Embeds pending chunks: results of the last search, then newest files, several requests in parallel."""

import time
from collections import deque
from collections.abc import Iterator, Mapping, Set
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice

from engine.base import skip_reasons
from engine.base.errors import Cancelled, ProviderError
from engine.base.language import tr
from engine.embedding.provider_interface import EmbeddingProvider, PartialAnswer, TextsRefused, requests
from engine.indexing.commit_groups import VectorStorage
from engine.indexing.stage_data import StageWork
from engine.records import NOT_EMBEDDED, FileIssue, MemorySearchResult
from engine.store import stored_models
from engine.store.snapshot import Unembedded
from engine.store.vector_encoding import StoredModel, Vectors

_TEXTS_PER_BATCH = 64
"""Few, since a search changes which chunks are next."""
_RESULTS_PER_BATCH = 16
"""While text is read: some two tenths of a second with the built-in model, and the first results of a list."""
_PAUSE_POLL = 0.2
_SECONDS_TO_MEASURE = 2.0
"""Shortest run, in seconds, whose speed predicts the next one."""
_REFUSALS_IN_A_ROW = 8
"""Consecutive refusals after which the service, rather than a text, is probably the cause: while one refused text
among 128 is isolated by halving, most requests succeed.
"""

_TEST_TEXT = "ping"


class EmbedStage:
    """Embeds the pending chunks of one generation with one model, during one sync.

    Requests may run between two calls of `run`; the owner of the stage calls `end`.
    """

    def __init__(self, work: StageWork, provider: EmbeddingProvider, model: StoredModel) -> None:
        self._store = work.context.store
        self._executor = work.context.executor
        self._storage = VectorStorage(work, model)
        # A generation that isn't searched yet need not stop for newer text.
        self._take_changes = work.context.take_changes if work.tables is None else lambda: False
        self._results = work.context.latest_results
        self._tables = work.tables
        self._meter = work.meter
        self._token = work.token
        self._provider = provider
        self._model = model
        self._last_results: tuple[MemorySearchResult, ...] = ()
        """Results of a search whose texts come first, or have vectors."""
        self._running: dict[Future[Vectors], list[Unembedded]] = {}
        self._refused = work.context.refused
        self._to_repeat: deque[list[Unembedded]] = deque()
        """Parts of refused requests, to be sent again."""
        self._refusals_in_a_row = 0
        self._done = 0
        self._characters = 0
        self._seconds = 0.0
        """Seconds spent on these characters, without pauses."""

    def run(self, excluded: Set[bytes] = frozenset()) -> bool:
        """Embed the texts of all chunks that have no vector.

        Returns False if it stopped because files changed, whose text must be indexed first. `excluded`: hashes of texts
        that batch jobs embed. Raises `Cancelled`, `ProviderError`. Every answered request is stored by `end` at the
        latest: no text is embedded twice.
        """
        with self._store.read(tables=self._tables) as snapshot:
            due = snapshot.chunks_to_embed(self._model.id)
        for hash_ in [hash_ for hash_ in due if hash_ in excluded or (self._model.id, hash_) in self._refused]:
            del due[hash_]
        if not due:
            return True
        # checks known values before the first paid request
        self._check_length(self._provider.dims or self._model.dims)
        self._done = 0
        self._to_repeat.clear()  # their texts are in `due`
        self._meter.start("embedding", len(due))
        limits = self._provider.limits
        waiting = requests(self._texts(due), limits, self._count_tokens)
        request = next(waiting, None)
        while request or self._running or self._to_repeat:
            if self._token.paused and self._running:
                self._collect()  # store the results of running requests before the pause begins
                continue
            self._token.checkpoint()
            if self._take_changes():
                return False
            begun = time.monotonic()
            while len(self._running) < limits.at_once and (request or self._to_repeat):
                if self._to_repeat:
                    self._submit(self._to_repeat.popleft())
                elif request:
                    self._submit(request)
                    request = next(waiting, None)
            self._collect()
            self._seconds += time.monotonic() - begun
        return True

    def embed_results(self) -> None:
        """Begin to embed the first results of the last search without a vector, and store those embedded meanwhile.

        Doesn't wait, so that the text of other files can be read. Texts of failed requests are left to `run`, which
        reports the error. Raises `Cancelled`, `ProviderError`.
        """
        self._take_finished(report=False)
        if self._running or (results := self._results()) is self._last_results:
            return
        with self._store.read(tables=self._tables) as snapshot:
            due = snapshot.unembedded_results(self._model.id, results)
            texts = snapshot.texts([id_ for id_, hash_ in due if (self._model.id, hash_) not in self._refused])
        request = next(requests(texts[:_RESULTS_PER_BATCH], self._provider.limits, self._count_tokens), None)
        if request:
            self._submit(request)
        else:
            self._last_results = results

    def end(self) -> None:
        """Wait for running requests and store their results."""
        running, self._running = self._running, {}
        for future in running:
            future.cancel()
        for future, texts in running.items():
            if not future.cancelled():
                self._store_results(future, texts)
        if self._seconds >= _SECONDS_TO_MEASURE and self._characters:
            with self._store.write() as writer:
                stored_models.record_speed(writer, self._model.id, self._characters / self._seconds)

    def _texts(self, remaining: dict[bytes, int]) -> Iterator[Unembedded]:
        """Yield the texts of these chunks, given by hash, and remove them; the last search's results come first.

        The order of results found by keywords alone is wrong until they have vectors: an unrelated one ranks above
        those whose vectors lower their score.
        """
        for text in (text for texts in self._running.values() for text in texts):
            remaining.pop(text.hash, None)
        waiting = iter(list(remaining))
        while remaining:
            with self._store.read(tables=self._tables) as snapshot:
                group = []
                if (results := self._results()) is not self._last_results:
                    self._last_results = results
                    group = [hash_ for _, hash_ in snapshot.unembedded_results(self._model.id, results)]
                group += islice(waiting, _TEXTS_PER_BATCH)
                texts = snapshot.texts([remaining.pop(hash_) for hash_ in group if hash_ in remaining])
            yield from texts

    def _count_tokens(self, text: Unembedded) -> int:
        return self._provider.count_tokens(text.text)

    def _submit(self, texts: list[Unembedded]) -> None:
        future = self._executor.submit(
            self._provider.embed_documents, [text.text for text in texts], cancel=self._token
        )
        self._running[future] = texts

    def _collect(self) -> None:
        """Wait for at least one request and store the results of all that have finished."""
        self._run_here()
        wait(self._running, timeout=_PAUSE_POLL, return_when=FIRST_COMPLETED)
        self._take_finished()

    def _take_finished(self, *, report: bool = True) -> None:
        """Store the results of all requests that have finished; raise errors of the others only to `report` them."""
        for future in [future for future in self._running if future.done()]:
            texts = self._running.pop(future)
            self._store_results(future, texts)
            if self._token.cancelled:  # a cancelled request isn't a failure
                raise Cancelled
            if report:
                self._handle_failure(future.exception(), texts)

    def _run_here(self) -> None:
        """Run a request on this thread if none has begun: other syncs may occupy all threads of the executor."""
        if any(future.running() or future.done() for future in self._running):
            return
        future = next(iter(self._running), None)
        if future is None or not future.cancel():
            return
        texts = self._running.pop(future)
        done: Future[Vectors] = Future()
        self._running[done] = texts
        try:
            done.set_result(self._provider.embed_documents([text.text for text in texts], cancel=self._token))
        except BaseException as error:
            done.set_exception(error)

    def _handle_failure(self, error: BaseException | None, texts: list[Unembedded]) -> None:
        """Raise a request's error unless single texts cause it; then find these texts and send the others again."""
        if error is None:
            self._refusals_in_a_row = 0
            return
        arrived = error.arrived if isinstance(error, PartialAnswer) else {}
        self._refusals_in_a_row = 0 if arrived else self._refusals_in_a_row + 1
        if not isinstance(_first_cause(error), TextsRefused) or self._refusals_in_a_row > _REFUSALS_IN_A_ROW:
            raise error
        failed = [text for index, text in enumerate(texts) if index not in arrived]
        if arrived and failed:
            self._to_repeat.append(failed)
        elif len(failed) == 1:
            self._set_aside(failed[0], error)
        elif failed:
            middle = len(texts) // 2
            self._to_repeat.extend((texts[:middle], texts[middle:]))

    def _set_aside(self, text: Unembedded, error: BaseException) -> None:
        """Mark a text as refused, so that it isn't sent again.

        Raises `error` if the provider accepts no other text either.
        """
        if not self._characters:
            try:
                self._provider.embed_documents([_TEST_TEXT], cancel=self._token)
            except ProviderError:
                raise error from None
        detail = skip_reasons.NOT_EMBEDDED.message(problem=error)
        self._refused[self._model.id, text.hash] = FileIssue(path=text.path, rule=NOT_EMBEDDED, detail=detail)

    def _store_results(self, future: "Future[Vectors]", texts: list[Unembedded]) -> None:
        """Store the results of a finished request."""
        error = future.exception()
        if error is None:
            self._save(texts, future.result())
        elif isinstance(error, PartialAnswer) and error.arrived:
            self._save_arrived(texts, error.arrived)

    def _save_arrived(self, texts: list[Unembedded], arrived: "Mapping[int, Vectors]") -> None:
        import numpy as np

        self._save([texts[index] for index in arrived], np.stack(list(arrived.values())))

    def _save(self, texts: list[Unembedded], vectors: "Vectors") -> None:
        self._check_length(vectors.shape[1])
        self._storage.save([text.hash for text in texts], vectors)
        self._characters += sum(len(text.text) for text in texts)
        self._done += len(texts)
        self._meter.step(self._done, texts[-1].path)

    def _check_length(self, dims: int) -> None:
        if dims != self._model.dims:
            raise ProviderError(
                tr(
                    "{model} returns vectors of {dims:,} dimensions, but returned {before:,} before: set dimensions "
                    "in the settings, or delete the model's vectors.",
                    model=self._provider.model,
                    dims=dims,
                    before=self._model.dims,
                )
            )


def _first_cause(error: BaseException) -> BaseException:
    """Return the original error of a request, without wrappers that say which vectors had arrived."""
    while type(error) is PartialAnswer and error.__cause__ is not None:
        error = error.__cause__
    return error
