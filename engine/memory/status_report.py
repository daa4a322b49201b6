"""Builds the complete status record of built-in and external indexes."""

import threading
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec

from engine.base.errors import MnemoscopeError
from engine.base.language import tr, tr_count
from engine.embedding.batch_jobs.batch_api import LIMIT, BatchPolicy, batches_of
from engine.embedding.consent import REMOTE, consent_of, remote_fallback, server_of
from engine.embedding.provider_interface import EmbeddingProvider
from engine.embedding.provider_selection import Selection
from engine.indexing.cost_estimate import name_of
from engine.records import (
    BatchJobStatus,
    BatchStatus,
    CacheStatus,
    Degraded,
    EmbeddingEstimate,
    FallbackStatus,
    FileIssue,
    FtsStatus,
    MemoryProviderStatus,
    MemorySyncProgressUpdate,
    SourceCount,
    StoredModelInfo,
    SyncSummary,
    UserDataStatus,
    VectorStatus,
    WatcherStatus,
)
from engine.settings import Settings
from engine.settings.options import BatchSettings
from engine.store import stored_models
from engine.store.batch_jobs import BatchJobs
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.stored_models import ModelName, UnapprovedEmbedding
from engine.store.vectors import EngineChoice, VectorIndex


class Counts(msgspec.Struct, frozen=True):
    """The numbers of the status that are read from the index."""

    generation: int
    indexed_before: bool
    """Whether a sync has ever run."""
    sources: tuple[SourceCount, ...]
    pending: int
    vectors: int
    models: tuple[StoredModelInfo, ...]
    awaiting: UnapprovedEmbedding | None
    """Embedding that the last sync did not start because it was not approved."""
    failed: tuple[FileIssue, ...]
    skipped: tuple[FileIssue, ...]
    engine: EngineChoice
    """The engine that compares vectors."""
    error: str = ""
    """Why the index could not be counted now; these are then earlier numbers. Empty if it could."""


_NOTHING = Counts(0, False, (), 0, 0, (), None, (), (), EngineChoice("numpy", "", None))


_PAUSE = 20
"""Pause between two counts while a sync runs, as a multiple of a count's duration: a count reads all rows, and a sync
of many files commits several times a second.
"""


class IndexCounts:
    """Counts the content of the current index; counts again only after changes. Thread-safe."""

    def __init__(self, store: IndexStore, vectors: VectorIndex) -> None:
        self._store = store
        self._vectors = vectors
        self._lock = threading.Lock()
        self._counted_state: tuple[object, ...] = ()
        self._counts = _NOTHING
        self._paused_until = 0.0

    def current(self, selection: Selection, *, syncing: bool) -> Counts:
        """Return the counts; if they can't be read, the previous ones with the reason.

        `syncing`: a sync is running, whose last commits may be missing.
        """
        try:
            with self._store.read() as snapshot, self._lock:
                metadata = (
                    snapshot.meta("issues"),
                    snapshot.meta("fingerprint"),
                    snapshot.meta("awaiting"),
                    snapshot.meta("vec0"),
                )
                name = None if selection.provider is None else name_of(selection.provider)
                engine = self._vectors.extension, self._vectors.table_broken
                state = (snapshot.identity, snapshot.generation, snapshot.stamp, name, *engine, *metadata)
                if state != self._counted_state and not (syncing and time.monotonic() < self._paused_until):
                    begun = time.thread_time()
                    self._counts = _count(snapshot, name, self._vectors)
                    self._counted_state = state
                    self._paused_until = time.monotonic() + _PAUSE * (time.thread_time() - begun)
        except MnemoscopeError as error:
            return msgspec.structs.replace(self._counts, error=str(error))
        return self._counts


def _count(snapshot: Snapshot, name: ModelName | None, vectors: VectorIndex) -> Counts:
    sources = snapshot.source_counts()
    chunks = sum(source.chunks for source in sources)
    model = None if name is None else snapshot.stored_model(*name)
    pending = 0 if name is None else snapshot.pending_vectors(model)
    return Counts(
        generation=snapshot.generation,
        indexed_before=snapshot.meta("fingerprint") is not None,
        sources=sources,
        pending=pending,
        vectors=chunks - pending if name is not None else 0,
        models=stored_models.stored_models(snapshot, name),
        awaiting=stored_models.unapproved_embedding(snapshot),
        failed=(*snapshot.issues("failed"), *snapshot.issues("not embedded")),
        skipped=snapshot.issues("skipped"),
        engine=vectors.choice(snapshot, model),
    )


class LiveState(msgspec.Struct, frozen=True):
    """The part of the status that only the running process knows."""

    dirty: bool
    syncing: MemorySyncProgressUpdate | None
    paused: bool
    watcher: WatcherStatus
    recent: tuple[SyncSummary, ...]
    vectors: VectorIndex
    provider_error: str | None
    """Why the last embedding failed; None if it succeeded."""
    awaiting: EmbeddingEstimate | None
    """Embedding that needs approval."""
    batch: BatchStatus
    user_data: UserDataStatus | None
    """Problem with the file of the user's own data; None if there is none."""


def _vector_status(settings: Settings, selection: Selection, vectors: VectorIndex, counts: Counts) -> VectorStatus:
    options = settings.store.vector
    provider = selection.provider
    extension = vectors.extension
    return VectorStatus(
        enabled=options.enabled,
        available=None if extension is None else extension.available,
        extension_path=None if extension is None else extension.path,
        load_error=None if extension is None else extension.error,
        dims=None if provider is None else provider.dims,
        engine=counts.engine.engine,
        rows=counts.vectors,
        requested=options.engine,
        reason=counts.engine.reason,
        switches_at=counts.engine.switches_at,
    )


def _privacy_fields(settings: Settings, provider: EmbeddingProvider | None, selection: Selection) -> dict[str, object]:
    """Return where texts are sent, their price, the consent for it and the source of the key; never the key itself."""
    if provider is None:
        return dict.fromkeys(("server", "price", "consent", "keyOrigin", "remoteFallback")) | {"remote": False}
    # A fallback is used once: the one in use has none.
    fallback = None if selection.fallback_from else remote_fallback(settings, provider.id)
    return {
        "remoteFallback": None if fallback is None else dict(zip(("provider", "server"), fallback, strict=True)),
        "remote": provider.remote,
        "server": server_of(settings, provider.id),
        "price": provider.price,
        "consent": consent_of(settings, provider.id) if provider.id in REMOTE else None,
        "keyOrigin": selection.key_origin,
    }


def _custom_fields(
    settings: Settings, store: IndexStore, selection: Selection, provider_error: str | None
) -> dict[str, object]:
    """Return the fields that only this backend reports."""
    provider = selection.provider
    unknown = () if provider is None else provider.unknown_scripts
    return {
        "searchMode": "keyword" if provider is None else ("hybrid" if settings.query.hybrid.enabled else "vector"),
        "providerUnavailableReason": selection.unavailable_reason,
        "providerError": provider_error,
        "unknownScripts": list(unknown),
        "skippedProviders": list(selection.skipped_providers),
        **_privacy_fields(settings, provider, selection),
        "readOnly": store.read_only or None,
        "diskFull": store.is_full,
    }


def make_status(
    workspace: Path,
    settings: Settings,
    store: IndexStore,
    selection: Selection,
    counts: Counts,
    live: LiveState,
) -> MemoryProviderStatus:
    """Build the complete status record."""
    provider = selection.provider
    fallback = None
    if selection.fallback_from is not None:
        fallback = FallbackStatus(from_=selection.fallback_from, reason=selection.fallback_reason or "")
    return MemoryProviderStatus(
        backend="builtin",
        provider="none" if provider is None else provider.id,
        model="" if provider is None else provider.model,
        requested_provider=selection.requested,
        files=sum(source.files for source in counts.sources),
        chunks=sum(source.chunks for source in counts.sources),
        dirty=live.dirty or not counts.indexed_before,
        workspace_dir=str(workspace),
        db_path=str(store.files.database),
        extra_paths=settings.extra_paths,
        sources=settings.sources,
        source_counts=counts.sources,
        cache=CacheStatus(
            enabled=settings.cache.enabled,
            entries=sum(model.vectors for model in counts.models),
            max_entries=settings.cache.max_entries,
            bytes=sum(model.bytes for model in counts.models),
            models=counts.models,
        ),
        fts=FtsStatus(enabled=True, available=not counts.error, error=counts.error or None),
        fallback=fallback,
        vector=_vector_status(settings, selection, live.vectors, counts),
        batch=live.batch,
        custom=_custom_fields(settings, store, selection, live.provider_error),
        pending_vectors=counts.pending,
        failed_files=counts.failed,
        skipped_files=counts.skipped,
        last_sync=live.recent[-1] if live.recent else None,
        recent_syncs=live.recent,
        sizes=store.sizes(),
        generation=counts.generation,
        watcher=live.watcher,
        syncing=live.syncing,
        paused=live.paused,
        writer_elsewhere=live.syncing is None and store.locked_elsewhere(),
        index_error=store.recovered or store.read_only or counts.error or None,
        user_data=live.user_data,
        awaiting_approval=live.awaiting,
    )


def with_degraded(status: MemoryProviderStatus) -> MemoryProviderStatus:
    """Return the status with `degraded` filled in; each reason is listed once."""
    parts: dict[str, Degraded] = {}
    for part in chain(_storage_problems(status), _vector_problems(status), _update_problems(status)):
        parts.setdefault(part.reason, part)
    return msgspec.structs.replace(status, degraded=tuple(parts.values()))


def _storage_problems(status: MemoryProviderStatus) -> Iterator[Degraded]:
    if status.fallback is not None and "fallback" in status.custom:
        reason = tr("{chosen} failed: {reason}", chosen=status.fallback.from_, reason=status.fallback.reason)
        remedy = tr("The built-in index answers instead. Fix this, then run mnemoscope index.")
        yield Degraded("backend", reason, remedy)
    if status.index_error:
        yield Degraded("index", status.index_error, tr("Fix this, then run mnemoscope index."))
    if status.user_data is not None:
        restore = tr("To restore the backup, run mnemoscope doctor --repair.")
        yield Degraded("user-data", status.user_data.problem, restore if status.user_data.backup is not None else "")
    if status.fts.enabled and not status.fts.available:
        reason = status.fts.error or tr("The keyword index can't be searched.")
        yield Degraded("keywords", reason, tr("Run mnemoscope doctor --repair."))


def _vector_problems(status: MemoryProviderStatus) -> Iterator[Degraded]:
    unavailable, failure = (status.custom.get(key) for key in ("providerUnavailableReason", "providerError"))
    instead = status.custom.get("providerFallback") if "fallback" in status.custom else status.fallback
    if instead:
        replaced = msgspec.to_builtins(instead)
        reason = tr("{chosen} failed: {reason}", chosen=replaced["from"], reason=replaced["reason"])
        used = tr("{provider} is used instead. Fix this, or choose another provider.", provider=status.provider)
        yield Degraded("provider", reason, used)
    elif unavailable and status.requested_provider != "none":
        only = tr("No search by meaning. Fix this, or choose another provider.")
        yield Degraded("provider", str(unavailable), only)
    if failure:
        yield Degraded("provider", str(failure), tr("To try it again, run mnemoscope status --deep."))
    if status.awaiting_approval is not None:
        waiting = tr_count(
            "{count:,} passage waits for your approval before it is embedded.",
            "{count:,} passages wait for your approval before they are embedded.",
            status.awaiting_approval.chunks,
        )
        yield Degraded("vectors", waiting, tr("Run mnemoscope index --yes."))
    if status.vector.needs_extension:
        remedy = tr(
            "Correct store.vector.extension_path, or set store.vector.engine to numpy, which is used meanwhile."
        )
        yield Degraded("sqlite-vec", status.vector.load_error or "", remedy)


def _update_problems(status: MemoryProviderStatus) -> Iterator[Degraded]:
    last, batch, watcher = status.last_sync, status.batch, status.watcher
    if last is not None and last.error:
        yield Degraded("update", tr(last.error), tr("Fix this, then run mnemoscope index."))
    if status.failed_files:
        count = tr_count(
            "{count:,} file could not be indexed.", "{count:,} files could not be indexed.", len(status.failed_files)
        )
        yield Degraded("files", count, tr("The list failedFiles gives the reason for each file."))
    if batch.last_error and batch.failures:
        again = tr("Texts are embedded without batch jobs after {count} failures.", count=batch.limit)
        yield Degraded("batch-jobs", batch.last_error, again)
    if watcher.error:
        restart = tr("Fix this and restart. Until then, run mnemoscope index to update.")
        polled = tr("Changed files are still indexed, only later.")
        yield Degraded("watcher", watcher.error, polled if watcher.mode == "polling" else restart)


def batch_status(
    settings: BatchSettings, provider: EmbeddingProvider | None, policy: BatchPolicy, jobs: BatchJobs
) -> BatchStatus:
    """Return the status of batch jobs: settings, failures and open jobs. Never raises."""
    works = settings.enabled and jobs.usable and not policy.disabled
    return BatchStatus(
        enabled=works and provider is not None and batches_of(provider) is not None,
        failures=policy.failures,
        limit=LIMIT,
        wait=settings.wait,
        concurrency=settings.concurrency,
        poll_interval_ms=settings.poll_interval_ms,
        timeout_ms=round(settings.timeout_minutes * 60_000),
        last_error=policy.last_error,
        last_provider=policy.last_provider,
        jobs=_open(jobs),
    )


def _open(jobs: BatchJobs) -> tuple[BatchJobStatus, ...]:
    try:
        open_jobs = jobs.open()
    except MnemoscopeError:
        return ()
    return tuple(
        BatchJobStatus(
            provider=job.model.provider,
            model=job.model.model,
            id=job.id,
            state=tr("ending") if job.stopped is not None else job.state or tr("being created"),
            texts=job.texts,
            created=job.created,
            attempt=job.attempt,
        )
        for job in open_jobs
    )
