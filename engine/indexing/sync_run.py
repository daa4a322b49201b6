"""Runs one whole sync: takes the writer lock, updates or rebuilds the text, embeds, publishes and reports."""

import contextlib
import time
from collections.abc import Callable

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, MnemoscopeError, ProviderError
from engine.indexing.commit_groups import TextOutcome
from engine.indexing.stage_data import Sharing, StageWork, SyncContext, fingerprint
from engine.indexing.sync_progress import ProgressMeter
from engine.indexing.text_stage import TextStage
from engine.indexing.vector_stage import VectorStage
from engine.records import MemorySyncProgressUpdate, SyncReason, SyncReport
from engine.store.index import KEYWORDS_TO_PURGE, IndexStore
from engine.store.index_schema import Tables
from engine.store.snapshot import MAX_FREE_SHARE
from engine.store.vector_encoding import StoredModel
from engine.store.writer import MAX_EVICTED

log = lazy_logger(__name__)

_LOCK_POLL = 0.25
_PASSES_BEFORE_PUBLISH = 5
_MANY_CHUNKS = 1000
"""Number of indexed chunks from which cached words are freed afterwards, since later searches and small syncs don't
need them, and the keyword index may be rewritten.
"""
_MANY_FILES = 10_000
"""Number of files from which listing them takes memory that is worth returning."""
_NEW_SHARE = 0.25
"""Share of new chunks from which the keyword index is rewritten as one part. A search looks up each word in each part:
a new index has about nine, and a search in one takes 4 to 9 % less time.
"""


def clean_up(context: SyncContext, model: StoredModel | None, indexed: int, token: CancelToken) -> None:
    """Clean up the index: unused vectors, old generations, free space. Raises `Cancelled`.

    The next sync does the rest. `indexed`: number of chunks that this sync has added.
    """
    if model is not None:
        context.vectors.update_engine(model, token, load=context.stays_open)
    store, cache = context.store, context.settings.cache
    keep = cache.max_entries if cache.enabled else 0
    with store.read() as snapshot:
        # There may be more vectors in use than the limit: no need to look again before something changes.
        has_surplus = snapshot.cache_entries() > keep and snapshot.meta("evicted") != f"{snapshot.stamp}, {keep}"
        has_old_generations = len(snapshot.generations()) > 1
        is_sparse = snapshot.free_share() > MAX_FREE_SHARE
        many_new = indexed > max(_MANY_CHUNKS, _NEW_SHARE * snapshot.chunk_count())
        rewrites_keywords = many_new or snapshot.meta(KEYWORDS_TO_PURGE) is not None
    if has_old_generations:
        with store.write() as writer:
            writer.discard_other_generations()
    context.vectors.discard_unused(model)
    with store.read() as snapshot:
        has_discarded = snapshot.has_discarded_tables()
    if has_discarded:
        store.delete_discarded_tables(token)
    if rewrites_keywords:
        store.purge_keywords(token)
    if has_surplus:
        _evict(store, keep, token)
    if has_discarded or has_surplus or is_sparse:
        store.vacuum(token)


def _evict(store: IndexStore, keep: int, token: CancelToken) -> None:
    evicted = MAX_EVICTED
    while evicted == MAX_EVICTED:
        token.checkpoint()
        with store.write() as writer:
            evicted = writer.evict(keep)
            if evicted < MAX_EVICTED:
                writer.set_meta("evicted", f"{writer.stamp}, {keep}")


class SyncRun:
    """Runs one sync of a workspace, once; the caller ensures that only one runs at a time."""

    def __init__(
        self,
        context: SyncContext,
        reason: SyncReason,
        listener: Callable[[MemorySyncProgressUpdate], None],
        token: CancelToken,
    ) -> None:
        self._context = context
        self._store = context.store
        self._reason = reason
        self._token = token
        self._meter = ProgressMeter(reason, listener)
        self._fingerprint = fingerprint(context.settings)
        self._outcome = TextOutcome()
        self._vectors = VectorStage(context, self._meter, token)
        self._full = False
        self._unshared: MnemoscopeError | None = None
        """Why the changes were not shared completely."""
        self.failure: MnemoscopeError | None = None
        """Error that stopped the sync early, other than cancellation, or that stopped embedding."""

    def run(self, *, force: bool) -> SyncReport:
        """Sync and return the report; changes committed before an early stop stay in the index.

        While another process writes, this waits, and then does the remaining work.
        """
        started, clock, cancelled = time.time(), time.monotonic(), False
        try:
            self._lock()
            try:
                with self._context.crashes.during_sync(forget=force):
                    self._update_index(force)
            finally:
                self._store.unlock()
        except (Cancelled, Closed):
            cancelled = True
        except MnemoscopeError as problem:
            self.failure = problem
            log.warning("A sync (%s) stopped early: %s", self._reason, type(problem).__name__)
        self.failure = self.failure or self._vectors.failure or self._unshared
        self._meter.start("done")
        outcome = self._outcome
        return SyncReport(
            reason=self._reason,
            started=started,
            seconds=time.monotonic() - clock,
            cancelled=cancelled,
            error=str(self.failure or ""),
            files_seen=outcome.files_seen,
            files_indexed=outcome.files_indexed,
            files_unchanged=self._unchanged(),
            files_removed=outcome.files_removed,
            chunks_indexed=outcome.chunks_indexed,
            chunks_removed=outcome.chunks_removed,
            vectors_reused=self._meter.reused,
            vectors_embedded=self._meter.embedded,
            vectors_pending=self._vectors.pending(),
            full=self._full,
            failed=(*outcome.failed, *self._vectors.refused),
            skipped=tuple(outcome.skipped),
            tokens=self._meter.cost_meter.tokens,
            cost=self._meter.cost_meter.cost,
            awaiting_approval=self._vectors.awaiting,
            provider_failed=isinstance(self.failure, ProviderError),
            batch_jobs=self._vectors.batch_jobs,
        )

    def _unchanged(self) -> int:
        """Return the number of files in the index that this sync did not index; 0 if it is unknown."""
        try:
            with self._store.read() as snapshot:
                return max(0, snapshot.file_count() - self._outcome.files_indexed)
        except MnemoscopeError:
            return 0

    def _lock(self) -> None:
        if self._store.try_lock():
            return
        self._meter.start("waiting")
        while not self._store.try_lock():
            self._token.checkpoint()
            time.sleep(_LOCK_POLL)

    def _update_index(self, force: bool) -> None:
        vectors = self._vectors
        vectors.begin()
        with self._store.read() as snapshot:
            newest = snapshot.newest_chunk_id()
        try:
            if self._needs_rebuild(force):
                self._rebuild(newest)
            else:
                self._update_text(None, self._context.transcripts)
                vectors.count_reused(None, newest)
                self._share(lambda sharing: sharing.text_ready(self._stage_work(None), vectors.pending()))
            while not vectors.embed(None):
                self._update_text(None)
        finally:
            vectors.end()
        vectors.record_outcome()
        self._share(lambda sharing: sharing.share_all(self._stage_work(None)))
        # The work is complete: a cancelled clean-up is done by the next sync.
        with contextlib.suppress(Cancelled):
            self._clean_up()

    def _share(self, work: Callable[[Sharing], None]) -> None:
        """Share the changes with other machines by calling `work`.

        After an error nothing is shared until the next sync: an unreachable network rarely returns soon.
        """
        sharing = self._context.sharing
        if sharing is None or self._unshared is not None:
            return
        try:
            work(sharing)
        except (Cancelled, Closed):
            raise
        except MnemoscopeError as problem:
            log.warning("Changes of the index could not be shared: %s", type(problem).__name__)
            self._unshared = problem

    def _stage_work(self, tables: Tables | None) -> StageWork:
        return StageWork(self._context, self._meter, self._token, self._vectors.model, tables)

    # --- text -----------------------------------------------------------------------------------------------------

    def _needs_rebuild(self, force: bool) -> bool:
        """Whether the index must be rebuilt as a new generation: on request, or because the rules have changed.

        An interrupted rebuild continues unless the rules have changed since; otherwise `_clean_up` removes it.
        """
        with self._store.read() as snapshot:
            stored = snapshot.meta("fingerprint")
            unfinished = snapshot.meta("building") == self._fingerprint
        if stored is None:
            with self._store.write() as writer:
                writer.set_meta("fingerprint", self._fingerprint)
            return False
        return force or unfinished or stored != self._fingerprint

    def _update_text(self, tables: Tables | None, transcripts: frozenset[str] | None = None) -> TextOutcome:
        # A generation that isn't searched yet has no results.
        after_commit = self._vectors.embed_results if tables is None else lambda: None
        stage = TextStage(self._stage_work(tables), after_commit)
        try:
            done = stage.run(transcripts)
        finally:
            self._outcome.add(stage.outcome)
        if tables is None:
            self._context.text_ready()
        return done

    def _rebuild(self, newest: int) -> None:
        """Build the next generation of tables while searches use the current one, then publish it.

        `newest` is the highest chunk id so far.
        """
        self._full = True
        with self._store.write() as writer:
            tables = writer.begin_generation(self._fingerprint)
        self._update_text(tables)
        self._vectors.count_reused(tables, newest)
        self._vectors.embed(tables)
        # Files may have changed meanwhile; constant changes must not prevent the rebuild from ending.
        for _ in range(_PASSES_BEFORE_PUBLISH):
            if not self._update_text(tables).changed:
                break
        self._meter.start("publishing")
        with self._store.write(tables) as writer:
            old = Tables(writer.generation)
            writer.release_vectors(old)
            writer.publish(tables, self._fingerprint)
            writer.set_meta("names", self._context.rules)
        self._context.committed()
        self._context.text_ready()

    # --- afterwards -----------------------------------------------------------------------------------------------

    def _clean_up(self) -> None:
        """Clean up the index, and release memory that only syncs need."""
        try:
            clean_up(self._context, self._vectors.model, self._outcome.chunks_indexed, self._token)
        finally:
            if self._outcome.chunks_indexed > _MANY_CHUNKS:
                from engine.text import clear_word_caches  # loaded by now

                clear_word_caches()
            if self._outcome.changed or self._meter.embedded or self._outcome.files_seen > _MANY_FILES:
                self._store.free_memory()
