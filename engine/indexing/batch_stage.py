"""Embeds many chunks through a provider's batch jobs, and meanwhile other chunks by direct requests."""

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set

from engine.base import in_batches
from engine.base.cancellation import pause
from engine.embedding.batch_jobs.batch_api import BatchApi
from engine.embedding.batch_jobs.job_files import Group, Text, groups
from engine.embedding.batch_jobs.runner import BatchContext, BatchRunner
from engine.embedding.provider_interface import EmbeddingProvider
from engine.indexing.commit_groups import VectorStorage
from engine.indexing.cost_estimate import name_of
from engine.indexing.stage_data import StageWork
from engine.store.vector_encoding import StoredModel, Vectors

_TEXTS_PER_BATCH = 256
_CHANGES_POLL = 0.2

EmbedDirectly = Callable[[Set[bytes]], bool]
"""Function that embeds all pending texts by direct requests, except those with the given hashes.
Returns False if it stopped because files changed, whose text must be indexed first.
"""


class BatchStage:
    """Runs one sync's batch jobs on one generation, with one model."""

    def __init__(self, work: StageWork, provider: EmbeddingProvider, api: BatchApi, model: StoredModel) -> None:
        self._store = work.context.store
        self._tables = work.tables
        self._settings = work.context.settings.remote.batch
        self._waits = self._settings.wait and self._settings.enabled and work.tables is None
        self._take_changes = work.context.take_changes if work.tables is None else lambda: False
        self._meter = work.meter
        self._token = work.token
        self._provider = provider
        self._api = api
        self._model = model
        self._storage = VectorStorage(work, model)
        context = work.context
        jobs = BatchContext(
            api, name_of(provider), context.batch_jobs, context.batch_policy, self._settings, work.token
        )
        self._runner = BatchRunner(jobs, model, save=self._save, texts_of=self._texts_of)
        self._meter.cost_meter.watch(self._runner)
        self._waiting: Generator[Group, None, None] | None = None
        self._queued: set[bytes] = set()
        """Texts of jobs not created yet."""
        self._direct: set[bytes] = set()
        """Texts of failed jobs, which are embedded by direct requests."""
        self._saved = 0

    def collect(self) -> None:
        """Resume the jobs of earlier syncs and store their finished results. Raises `ProviderError`, `Cancelled`."""
        self._runner.resume()
        self._runner.poll()

    def run(self, direct: EmbedDirectly) -> bool:
        """Embed all pending texts, through batch jobs where possible.

        Returns False if it stopped because files changed, whose text must be indexed first. Unless the settings say
        `wait`, a later sync collects the results. For a generation that isn't published yet, the stage that follows it
        collects them: its text must not wait for hours. Raises `ProviderError`, `Cancelled`; running jobs then continue
        on the server.
        """
        due = self._plan()
        answered: set[bytes] = set()  # not `_direct`: direct requests may have stopped before all were done
        while True:
            self._create_jobs()
            elsewhere = self._runner.expected | self._queued
            rest = due - elsewhere - answered
            if rest:
                self._direct |= rest
                if not direct(elsewhere):
                    return False
                answered |= rest
            if not (self._runner.open and self._waits):
                return True
            self._saved = 0
            self._meter.start("embedding", len(elsewhere), waiting=self._runner.open)
            if not self._pause():
                return False
            self._runner.poll()

    def end(self) -> None:
        """Release the local resources of this stage; batch jobs continue at the provider."""
        if self._waiting is not None:
            self._waiting.close()

    def _plan(self) -> set[bytes]:
        """Choose the texts for batch jobs, newest files first. Returns the hashes of all pending texts."""
        with self._store.read(tables=self._tables) as snapshot:
            due = snapshot.chunks_to_embed(self._model.id)
        requested = self._runner.expected | self._runner.released | self._direct
        queue = {hash_: id_ for hash_, id_ in due.items() if hash_ not in requested} if self._runner.works else {}
        self._queued = set(queue)
        self.end()
        # Together they fit into the queue of any account, and the first results arrive earlier.
        most_tokens = self._api.limits.queued_tokens // self._settings.concurrency
        self._waiting = groups(self._texts(list(queue.values())), self._api, most_tokens)
        return set(due)

    def _create_jobs(self) -> None:
        """Create batch jobs until as many run as the settings allow."""
        while self._runner.works and self._runner.open < self._settings.concurrency:
            self._token.checkpoint()
            group = None if self._waiting is None else next(self._waiting, None)
            if group is None:
                self._queued.clear()  # the other queued texts are no longer in the index
                return
            self._queued -= group.texts.keys()
            self._runner.submit(group)
        if not self._runner.works:
            self._queued.clear()

    def _texts(self, ids: list[int]) -> Iterator[Text]:
        """Yield those texts of chunks (`ids`) that a batch job can take; the others are left to direct requests."""
        longest = self._provider.limits.input_tokens
        for batch in in_batches(ids, _TEXTS_PER_BATCH):
            with self._store.read(tables=self._tables) as snapshot:
                texts = snapshot.texts(batch)
            for text in texts:
                tokens = self._provider.count_tokens(text.text)
                if tokens <= longest and text.text.strip():
                    yield Text(text.hash, text.text, tokens)
                else:
                    self._queued.discard(text.hash)

    def _texts_of(self, hashes: Iterable[bytes]) -> Iterator[Text]:
        with self._store.read(tables=self._tables) as snapshot:
            found = {hash_: id_ for id_, hash_ in snapshot.chunks_of_hashes(list(hashes))}
        return self._texts(list(found.values()))

    def _save(self, hashes: Sequence[bytes], vectors: Vectors) -> None:
        self._storage.save(hashes, vectors)
        self._saved += len(hashes)
        self._meter.step(self._saved, "")

    def _pause(self) -> bool:
        """Wait until the jobs are due to be checked again; False if files changed meanwhile."""
        end = time.monotonic() + self._settings.poll_interval_ms / 1000
        while True:
            self._token.checkpoint()
            if self._take_changes():
                return False
            seconds_left = end - time.monotonic()
            if seconds_left <= 0:
                return True
            pause(min(seconds_left, _CHANGES_POLL), self._token)
