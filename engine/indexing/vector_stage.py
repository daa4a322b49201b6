"""The vector stage of a sync: selects the model, checks the approval, and switches to the fallback on failure."""

import contextlib
from typing import TYPE_CHECKING

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError, ProviderError
from engine.embedding.batch_jobs.batch_api import batches_of
from engine.embedding.provider_interface import EmbeddingProvider
from engine.indexing.cost_estimate import estimate, name_of
from engine.indexing.embed_stage import EmbedStage
from engine.indexing.stage_data import StageWork, SyncContext
from engine.indexing.sync_progress import ProgressMeter
from engine.records import EmbeddingEstimate, FileIssue
from engine.store import stored_models
from engine.store.index_schema import Tables
from engine.store.stored_models import ModelName, UnapprovedEmbedding
from engine.store.vector_encoding import StoredModel

if TYPE_CHECKING:
    from engine.indexing.batch_stage import BatchStage

log = lazy_logger(__name__)


class VectorStage:
    """Makes the missing vectors of one sync; used once. A failing provider affects only vectors, never the text."""

    def __init__(self, context: SyncContext, meter: ProgressMeter, token: CancelToken) -> None:
        self._context = context
        self._store = context.store
        self._meter = meter
        self._token = token
        self._selected = False
        self._provider: EmbeddingProvider | None = None
        self._stage: EmbedStage | None = None
        self._batch: BatchStage | None = None
        self._tables: Tables | None = None
        """The generation that the stages work on."""
        self._was_run = False
        self._unapproved: UnapprovedEmbedding | None = None
        self.model: StoredModel | None = None
        """The provider's model as the index knows it."""
        self.refused: tuple[FileIssue, ...] = ()
        """Texts that the provider refuses."""
        self.failure: ProviderError | None = None
        """Error that stopped embedding."""

    @property
    def awaiting(self) -> EmbeddingEstimate | None:
        """Estimate of the embedding that was not started because it needs approval; else None."""
        return None if self._unapproved is None else self._unapproved.estimate

    @property
    def batch_jobs(self) -> int:
        """Number of running batch jobs of the model in use, as far as known."""
        if self._provider is None:
            return 0
        name = name_of(self._provider)
        return sum(job.model == name for job in self._context.batch_jobs.open())

    def begin(self) -> None:
        """Use the provider if it is already selected: selecting one may wait for a keychain, and text must not."""
        known = self._context.providers.selected()
        if known is not None:
            self._use_provider(known)

    def embed_results(self) -> None:
        """Embed results of the last search, without waiting, while the text of other files is still to be read.

        Only with a model in this process, which sends nothing and needs no approval for so few texts. Raises
        `Cancelled`.
        """
        if not self._context.latest_results():
            return  # loading the model would delay the first answer by keywords
        if not self._selected:
            self.begin()
        if self._provider is None or not self._provider.in_process or self.model is None:
            return
        self._create_stages(self._provider, None)
        assert self._stage is not None
        with contextlib.suppress(ProviderError):  # `embed` tries again, and reports it
            self._stage.embed_results()

    def embed(self, tables: Tables | None) -> bool:
        """Embed the texts of all chunks that have no vector, with the fallback if the provider fails.

        Returns False if it stopped because files changed, whose text must be indexed first. Running requests then
        continue; `end` or the next call stores their results. Raises `Cancelled`.
        """
        self._select_provider()
        self._was_run = True
        while self._provider is not None and self.failure is None:
            try:
                done = self._embed(self._provider, tables)
                if not done:
                    self._lower_approval()  # before new text is added to the count
                return done
            except ProviderError as problem:
                log.warning("The embedding of a sync failed")
                self._end_stage()
                self._use_fallback(problem, tables)
        return True

    def count_reused(self, tables: Tables | None, newest: int) -> None:
        """Count the chunks that this sync added (ids above `newest`) whose vectors already existed."""
        self._select_provider()
        if self.model is not None:
            with self._store.read(tables=tables) as snapshot:
                count = snapshot.chunks_with_vectors(self.model.id, above=newest)
            self._meter.reused = max(0, count - self._meter.embedded)

    def pending(self) -> int:
        """Return the number of chunks without a vector; 0 if it is unknown."""
        if self._provider is None:
            return 0
        try:
            with self._store.read() as snapshot:
                return snapshot.pending_vectors(self.model)
        except MnemoscopeError:
            return 0

    def end(self) -> None:
        """Wait for running requests and store their results."""
        try:
            self._end_stage()
        finally:
            self._lower_approval()

    def record_outcome(self) -> None:
        """Store why embedding failed or awaits approval, for later syncs, searches and other processes."""
        if not self._was_run:
            return
        name, reason = None if self._provider is None else name_of(self._provider), str(self.failure or "")
        with self._store.read() as snapshot:
            known = stored_models.unapproved_embedding(snapshot)
            known_reason = "" if name is None else stored_models.embedding_failure(snapshot, name)
        if known != self._unapproved or (name is not None and known_reason != reason):
            with self._store.write() as writer:
                stored_models.record_unapproved_embedding(writer, self._unapproved)
                if name is not None:
                    stored_models.record_embedding_failure(writer, name, reason)
        self._record_refused()

    # --- internals ------------------------------------------------------------------------------------------------

    def _embed(self, provider: EmbeddingProvider, tables: Tables | None) -> bool:
        self._create_stages(provider, tables)
        if self._batch is not None:
            self._batch.collect()  # paid results are stored, whatever has been approved since
        if not self._is_approved(provider, tables):
            return True
        if self.model is None:
            self.model = self._register(provider, len(provider.embed_query("ping", cancel=self._token)))
            self._create_stages(provider, tables)
        assert self._stage is not None
        return self._stage.run() if self._batch is None else self._batch.run(self._stage.run)

    def _select_provider(self) -> None:
        if not self._selected:
            provider = self._context.providers.provider()
            if provider is not None:
                self._use_provider(provider)
            self._selected = True

    def _use_provider(self, provider: EmbeddingProvider) -> None:
        self._selected = True
        self._provider = provider
        self._meter.cost_meter.watch(provider)
        self.model = self._known_model(provider)

    def _known_model(self, provider: EmbeddingProvider) -> StoredModel | None:
        """Return the provider's stored model; None before the first answer if only the server knows its dimensions."""
        with self._store.read() as snapshot:
            known = snapshot.stored_model(*name_of(provider))
        if provider.dims is None or (known is not None and known.dims == provider.dims):
            return known
        return self._register(provider, provider.dims)

    def _register(self, provider: EmbeddingProvider, dims: int) -> StoredModel:
        with self._store.write() as writer:
            return writer.ensure_model(*name_of(provider), dims)

    def _is_approved(self, provider: EmbeddingProvider, tables: Tables | None) -> bool:
        """Whether the provider may embed the pending texts; otherwise store the estimate that needs approval."""
        name: ModelName = name_of(provider)
        with self._store.read(tables=tables) as snapshot:
            # Without the token: a pause here would keep the snapshot open, and this takes only tenths of a second.
            by_jobs = not self._context.batch_policy.disabled
            work = estimate(snapshot, provider, self._context.settings, by_jobs=by_jobs)
        if not self._context.approval.covers(name, work):
            self._unapproved = UnapprovedEmbedding(name, work.estimate)
            return False
        self._context.approval.lower(name, work.estimate.tokens)  # a killed sync didn't lower it
        self._unapproved = None
        return True

    def _record_refused(self) -> None:
        """Store which indexed texts the provider has refused."""
        with self._store.read() as snapshot:
            known = set(snapshot.issues("not embedded"))
            pending = (
                snapshot.chunks_to_embed(self.model.id) if self.model is not None and self._context.refused else {}
            )
        id_ = -1 if self.model is None else self.model.id
        issues = {issue for (model, hash_), issue in self._context.refused.items() if model == id_ and hash_ in pending}
        self.refused = tuple(sorted(issues, key=lambda issue: (issue.path, issue.detail)))
        if issues != known:
            with self._store.write() as writer:
                writer.replace_issues("not embedded", self.refused)

    def _lower_approval(self) -> None:
        """Reduce the approval to the remaining work, so that it doesn't cover later changes.

        It ends when nothing is left.
        """
        provider, approval = self._provider, self._context.approval
        if not self._was_run or provider is None or not approval.tokens(name_of(provider)):
            return
        with contextlib.suppress(MnemoscopeError), self._store.read(tables=self._tables) as snapshot:
            approval.lower(name_of(provider), estimate(snapshot, provider, self._context.settings).estimate.tokens)

    def _create_stages(self, provider: EmbeddingProvider, tables: Tables | None) -> None:
        """Create the embedding stages for this generation, unless they exist or the model is unknown."""
        if self._stage is not None and self._tables != tables:
            self._end_stage()
        if self._stage is None and self.model is not None:
            work = StageWork(self._context, self._meter, self._token, self.model, tables)
            self._stage, self._tables = EmbedStage(work, provider, self.model), tables
            api = batches_of(provider)
            if api is not None and (self._context.settings.remote.batch.enabled or self.batch_jobs):
                from engine.indexing.batch_stage import BatchStage  # few have batch jobs

                self._batch = BatchStage(work, provider, api, self.model)

    def _end_stage(self) -> None:
        stage, self._stage = self._stage, None
        batch, self._batch = self._batch, None
        if batch is not None:
            batch.end()
        if stage is not None:
            stage.end()

    def _use_fallback(self, problem: ProviderError, tables: Tables | None) -> None:
        """Continue with the fallback provider, if there is one and it may be used; otherwise set `failure`.

        Until then, searches use the first provider.
        """
        provider = self._context.providers.prepare_fallback(str(problem))
        if provider is None or not self._is_approved(provider, tables):
            self.failure = problem
            return
        self._context.providers.switch_to_fallback()
        self._use_provider(provider)
