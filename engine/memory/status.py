"""Creates the complete status record from the actual state."""

import threading
from dataclasses import dataclass
from pathlib import Path

from engine.base.errors import MnemoscopeError
from engine.embedding.base import EmbeddingProvider
from engine.embedding.consent import REMOTE, consent_of, remote_fallback, server_of
from engine.embedding.registry import Selection
from engine.indexing.cost_estimate import name_of
from engine.records import (
    BatchStatus,
    CacheStatus,
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
from engine.store import stored_models
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.stored_models import Awaiting, ModelName
from engine.store.vectors import EngineChoice, VectorIndex

OFF = WatcherStatus(enabled=False, mode="off", roots=(), last_change=None, error=None)
"""Status of the watcher if there is none."""


@dataclass(frozen=True)
class Counts:
    """Counts that need a query of the index."""

    generation: int
    indexed_before: bool
    """Whether a sync ever ran here."""
    sources: tuple[SourceCount, ...]
    pending: int
    vectors: int
    models: tuple[StoredModelInfo, ...]
    awaiting: Awaiting | None
    """As found by the last sync."""
    failed: tuple[FileIssue, ...]
    skipped: tuple[FileIssue, ...]
    engine: EngineChoice
    """The engine that compares vectors."""


_NOTHING = Counts(0, False, (), 0, 0, (), None, (), (), EngineChoice("numpy", "", None))


class IndexCounts:
    """Counts of the current generation, updated only after changes of the index. Thread-safe."""

    def __init__(self, store: IndexStore, vectors: VectorIndex) -> None:
        self._store = store
        self._vectors = vectors
        self._lock = threading.Lock()
        self._moment: tuple[object, ...] = ()
        self._counts = _NOTHING

    def now(self, selection: Selection) -> tuple[Counts, str]:
        """The counts, and an error message if they are outdated because counting failed."""
        try:
            with self._store.read() as snapshot, self._lock:
                noted = (
                    snapshot.meta("issues"),
                    snapshot.meta("fingerprint"),
                    snapshot.meta("awaiting"),
                    snapshot.meta("vec0"),
                )
                name = None if selection.provider is None else name_of(selection.provider)
                engine = self._vectors.extension, self._vectors.table_broken
                moment = (snapshot.identity, snapshot.generation, snapshot.stamp, name, *engine, *noted)
                if moment != self._moment:
                    self._counts = _count(snapshot, name, self._vectors)
                    self._moment = moment
        except MnemoscopeError as error:
            return self._counts, str(error)
        return self._counts, ""


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
        awaiting=stored_models.awaiting(snapshot),
        failed=(*snapshot.issues("failed"), *snapshot.issues("not embedded")),
        skipped=snapshot.issues("skipped"),
        engine=vectors.choice(snapshot, model),
    )


@dataclass(frozen=True)
class LiveState:
    """State known only to the running process."""

    dirty: bool
    syncing: MemorySyncProgressUpdate | None
    paused: bool
    watcher: WatcherStatus
    recent: tuple[SyncSummary, ...]
    vectors: VectorIndex
    provider_error: str | None
    """Why the last embedding failed; None if it succeeded."""
    awaiting: EmbeddingEstimate | None
    """Embedding that awaits approval."""
    batch: BatchStatus
    user_data: UserDataStatus | None
    """Problem of the user's data file."""


def _vector_status(settings: Settings, selection: Selection, vectors: VectorIndex, found: Counts) -> VectorStatus:
    wanted = settings.store.vector
    provider = selection.provider
    extension = vectors.extension
    return VectorStatus(
        enabled=wanted.enabled,
        available=None if extension is None else extension.available,
        extension_path=None if extension is None else extension.path,
        load_error=None if extension is None else extension.error,
        dims=None if provider is None else provider.dims,
        engine=found.engine.engine,
        rows=found.vectors,
        requested=wanted.engine,
        reason=found.engine.reason,
        switches_at=found.engine.switches_at,
    )


def _dealings(settings: Settings, provider: EmbeddingProvider | None, selection: Selection) -> dict[str, object]:
    """Destination of texts, price, consent and origin of the key; never the key itself."""
    if provider is None:
        return dict.fromkeys(("server", "price", "consent", "keyPlace", "remoteFallback")) | {"remote": False}
    # A fallback takes over only once, so one in use has none.
    fallback = None if selection.fallback_from else remote_fallback(settings, provider.id)
    return {
        "remoteFallback": None if fallback is None else dict(zip(("provider", "server"), fallback, strict=True)),
        "remote": provider.remote,
        "server": server_of(settings, provider.id),
        "price": provider.price,
        "consent": consent_of(settings, provider.id) if provider.id in REMOTE else None,
        "keyPlace": selection.key_place,
    }


def make_status(
    workspace: Path,
    settings: Settings,
    store: IndexStore,
    selection: Selection,
    found: Counts,
    live: LiveState,
    error: str,
) -> MemoryProviderStatus:
    """`error`: why the index could not be counted; empty if it could."""
    provider = selection.provider
    unknown = () if provider is None else provider.unknown_scripts
    fallback = None
    if selection.fallback_from is not None:
        fallback = FallbackStatus(from_=selection.fallback_from, reason=selection.fallback_reason or "")
    return MemoryProviderStatus(
        backend="builtin",
        provider="none" if provider is None else provider.id,
        model="" if provider is None else provider.model,
        requested_provider=selection.requested,
        files=sum(source.files for source in found.sources),
        chunks=sum(source.chunks for source in found.sources),
        dirty=live.dirty or not found.indexed_before,
        workspace_dir=str(workspace),
        db_path=str(store.files.database),
        extra_paths=settings.extra_paths,
        sources=settings.sources,
        source_counts=found.sources,
        cache=CacheStatus(
            enabled=settings.cache.enabled,
            entries=sum(model.vectors for model in found.models),
            max_entries=settings.cache.max_entries,
            bytes=sum(model.bytes for model in found.models),
            models=found.models,
        ),
        fts=FtsStatus(enabled=True, available=not error, error=error or None),
        fallback=fallback,
        vector=_vector_status(settings, selection, live.vectors, found),
        batch=live.batch,
        custom={
            "searchMode": "keyword" if provider is None else ("hybrid" if settings.query.hybrid.enabled else "vector"),
            "providerUnavailableReason": selection.unavailable_reason,
            "providerError": live.provider_error,
            "unknownScripts": list(unknown),
            "passedOver": list(selection.passed_over),
            **_dealings(settings, provider, selection),
            "readOnly": store.read_only or None,
        },
        pending_vectors=found.pending,
        failed_files=found.failed,
        skipped_files=found.skipped,
        last_sync=live.recent[-1] if live.recent else None,
        recent_syncs=live.recent,
        sizes=store.sizes(),
        generation=found.generation,
        watcher=live.watcher,
        syncing=live.syncing,
        paused=live.paused,
        writer_elsewhere=live.syncing is None and store.locked_elsewhere(),
        index_error=store.recovered or store.read_only or error or None,
        user_data=live.user_data,
        awaiting=live.awaiting,
    )
