"""One whole sync: take the writer's lock, bring the text up to date or rebuild it, embed, publish, report."""

import contextlib
import logging
import time
from collections.abc import Callable

from engine.control import CancelToken
from engine.embedding.base import EmbeddingProvider
from engine.errors import Cancelled, MnemoscopeError, ProviderError
from engine.records import MemorySyncProgressUpdate, SyncReason, SyncReport
from engine.store.coding import StoredModel
from engine.store.index import WORDS_TO_FORGET
from engine.store.schema import Tables
from engine.sync.commits import TextOutcome
from engine.sync.embed_stage import EmbedStage
from engine.sync.parts import StageWork, SyncParts
from engine.sync.preparing import fingerprint
from engine.sync.progress import ProgressMeter
from engine.sync.text_stage import TextStage
from engine.text import forget_words

log = logging.getLogger(__name__)

_LOCK_POLL = 0.25
_PASSES_BEFORE_PUBLISH = 5
_MOST_FREE = 0.25
"""Share of empty pages from which on they are given back to the disk; below it new notes will fill them."""
_MUCH_TEXT = 1000
"""Chunks from which on a sync has met many words that neither searches nor small syncs meet again."""


class SyncRun:
    """One sync of a workspace, used once; the caller sees to it that there is one at a time."""

    def __init__(
        self,
        parts: SyncParts,
        reason: SyncReason,
        listener: Callable[[MemorySyncProgressUpdate], None],
        token: CancelToken,
    ) -> None:
        self._parts = parts
        self._store = parts.store
        self._reason = reason
        self._token = token
        self._meter = ProgressMeter(reason, listener)
        self._fingerprint = fingerprint(parts.settings)
        self._outcome = TextOutcome()
        self._model: StoredModel | None = None
        self._full = False
        self.failure: MnemoscopeError | None = None
        """What stopped the sync early, other than being cancelled, or kept it from embedding everything."""

    def run(self, *, force: bool) -> SyncReport:
        """Sync, and report what was done; what was committed before an early stop is kept.

        While another process writes, this waits, and then does what is left to do.
        """
        started, clock, cancelled = time.time(), time.monotonic(), False
        try:
            self._lock()
            try:
                self._work(force)
            finally:
                self._store.unlock()
        except Cancelled:
            cancelled = True
        except MnemoscopeError as problem:
            self.failure = problem
            log.warning("A sync (%s) stopped early: %s", self._reason, type(problem).__name__)
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
            files_unchanged=outcome.files_unchanged,
            files_removed=outcome.files_removed,
            chunks_indexed=outcome.chunks_indexed,
            chunks_removed=outcome.chunks_removed,
            vectors_reused=self._meter.reused,
            vectors_embedded=self._meter.embedded,
            vectors_pending=self._pending(),
            full=self._full,
            failed=tuple(outcome.failed),
            skipped=tuple(outcome.skipped),
        )

    def _lock(self) -> None:
        while not self._store.try_lock():
            self._token.checkpoint()
            time.sleep(_LOCK_POLL)

    def _work(self, force: bool) -> None:
        provider = self._parts.provider
        if provider is not None:
            self._model = self._known_model(provider)
        with self._store.read() as snapshot:
            newest = snapshot.newest_chunk_id()
        if self._needs_rebuild(force):
            self._rebuild(newest)
        else:
            self._text(None)
            self._count_reused(None, newest)
        while not self._embed(None):
            self._text(None)
        # All that was asked for is done: who cancels now only leaves the tidying to the next sync.
        with contextlib.suppress(Cancelled):
            self._tidy()

    def _known_model(self, provider: EmbeddingProvider) -> StoredModel | None:
        """The provider's model; None before the first answer of one whose dimensions only its server knows."""
        with self._store.read() as snapshot:
            known = snapshot.stored_model(provider.id, provider.model, provider.key)
        return known or (None if provider.dims is None else self._register(provider, provider.dims))

    def _register(self, provider: EmbeddingProvider, dims: int) -> StoredModel:
        with self._store.write() as writer:
            return writer.ensure_model(provider.id, provider.model, provider.key, dims)

    def _stage(self, tables: Tables | None) -> StageWork:
        return StageWork(self._parts, self._meter, self._token, self._model, tables)

    # --- text -----------------------------------------------------------------------------------------------------

    def _needs_rebuild(self, force: bool) -> bool:
        """Whether a new generation is due: asked for, left unfinished, or made by other rules than today's.

        One that was begun by rules that hold no more is not finished; `_tidy` drops it.
        """
        with self._store.read() as snapshot:
            stored = snapshot.meta("fingerprint")
            unfinished = snapshot.meta("building") == self._fingerprint
        if stored is None:
            with self._store.write() as writer:
                writer.set_meta("fingerprint", self._fingerprint)
            return False
        return force or unfinished or stored != self._fingerprint

    def _text(self, tables: Tables | None) -> TextOutcome:
        stage = TextStage(self._stage(tables))
        try:
            return stage.run()
        finally:
            self._outcome.add(stage.outcome)

    def _rebuild(self, newest: int) -> None:
        """Fill the next generation in committed steps while the current one answers, then publish it at once.

        `newest` is the highest chunk id so far.
        """
        self._full = True
        with self._store.write() as writer:
            tables = writer.begin_generation(self._fingerprint)
        self._text(tables)
        self._count_reused(tables, newest)
        self._embed(tables)
        # Files may have changed meanwhile; a tree that never rests must not keep the rebuild from its end.
        for _ in range(_PASSES_BEFORE_PUBLISH):
            if not self._text(tables).changed:
                break
        self._meter.start("publishing")
        with self._store.write(tables) as writer:
            old = Tables(writer.generation)
            writer.release_vectors(old)
            writer.publish(tables, self._fingerprint)
            writer.set_meta("names", self._parts.rules)
        self._parts.committed()

    # --- vectors --------------------------------------------------------------------------------------------------

    def _embed(self, tables: Tables | None) -> bool:
        """Embed what is pending; False when files of the current generation changed meanwhile: words come first.

        A provider that fails costs the vectors, never the text: the sync goes on without it.
        """
        provider = self._parts.provider
        if provider is None or self.failure is not None:
            return True
        try:
            if self._model is None:
                self._model = self._register(provider, len(provider.embed_query("ping", cancel=self._token)))
            return EmbedStage(self._stage(tables), provider, self._model).run()
        except ProviderError as problem:
            log.warning("The embedding of a sync (%s) failed", self._reason)
            self.failure = problem
            return True

    def _count_reused(self, tables: Tables | None, newest: int) -> None:
        """Count the chunks of this run that had their vector before they came."""
        if self._model is not None:
            with self._store.read(tables=tables) as snapshot:
                self._meter.reused = snapshot.chunks_with_vectors(self._model.id, above=newest)

    def _pending(self) -> int:
        if self._model is None:
            return 0
        try:
            with self._store.read() as snapshot:
                return snapshot.pending_vectors(self._model)
        except MnemoscopeError:
            return 0

    # --- afterwards -----------------------------------------------------------------------------------------------

    def _tidy(self) -> None:
        """Bring the vectors in step, clean up the index, and keep no more memory than a program that only searches."""
        try:
            if self._model is not None:
                self._parts.vectors.settle(self._model, self._token)
            self._clean_up()
        finally:
            if self._outcome.chunks_indexed > _MUCH_TEXT:
                forget_words()
            self._store.rest()

    def _clean_up(self) -> None:
        """Drop old generations and surplus vectors, and give their room back to the disk."""
        cache = self._parts.settings.cache
        keep = cache.max_entries if cache.enabled else 0
        with self._store.read() as snapshot:
            # Vectors in use may be more than are to be kept: no need to look for others again before anything changes.
            surplus = snapshot.cache_entries() > keep and snapshot.meta("evicted") != f"{snapshot.stamp}, {keep}"
            old = len(snapshot.generations()) > 1
            holes = snapshot.free_share() > _MOST_FREE
            words = snapshot.meta(WORDS_TO_FORGET) is not None
        if old:
            with self._store.write() as writer:
                writer.discard_other_generations()
        self._parts.vectors.discard_unused()
        with self._store.read() as snapshot:
            dropped = snapshot.discarded()
        if dropped:
            self._store.empty_discarded(self._token)
        if words:
            self._store.forget_words(self._token)
        if surplus:
            self._evict(keep)
        if dropped or surplus or holes:
            self._store.vacuum(self._token)

    def _evict(self, keep: int) -> None:
        evicted = 1
        while evicted:
            self._token.checkpoint()
            with self._store.write() as writer:
                evicted = writer.evict(keep)
                if not evicted:
                    writer.set_meta("evicted", f"{writer.stamp}, {keep}")
