"""Status of a memory with an external index: the known data of the workspace and its syncs."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine.embedding.batch_jobs.policy import BatchPolicy
from engine.indexing.service import IndexingService
from engine.memory.batch_status import batch_status
from engine.records import (
    CacheStatus,
    Feature,
    FtsStatus,
    MemoryProviderStatus,
    VectorStatus,
    WatcherStatus,
)
from engine.settings import Settings
from engine.settings.options import Backend
from engine.store.batch_jobs import BatchJobs
from engine.store.location import IndexFiles
from engine.store.user_data import UserData


def outer_status(
    backend: Backend,
    workspace: Path,
    settings: Settings,
    files: IndexFiles,
    user: UserData,
    indexing: IndexingService,
    lacks: Mapping[Feature, str],
) -> MemoryProviderStatus:
    """Create a status whose index fields are 0, off or empty; the backend fills them in (`msgspec.structs.replace`).

    These are at least `files`, `chunks`, `source_counts`, `db_path`, `provider`, `model`, `fts` and `vector`, and
    `searchMode` in `custom`. `index_error` says why the last sync failed.
    """
    token = indexing.current()
    return MemoryProviderStatus(
        backend=backend,
        provider="none",
        model="",
        requested_provider=backend,
        files=0,
        chunks=0,
        dirty=indexing.dirty,
        workspace_dir=str(workspace),
        db_path="",
        extra_paths=settings.extra_paths,
        sources=settings.sources,
        source_counts=(),
        cache=CacheStatus(enabled=False, entries=0, max_entries=None),
        fts=FtsStatus(enabled=False, available=False, error=None),
        fallback=None,
        vector=VectorStatus(
            enabled=False,
            available=None,
            extension_path=None,
            load_error=None,
            dims=None,
            engine="qmd" if backend == "qmd" else "lancedb",
            rows=0,
        ),
        batch=batch_status(settings.remote.batch, None, BatchPolicy(), BatchJobs(user)),
        custom={
            "searchMode": "keyword",
            "providerUnavailableReason": None,
            "providerError": None,
            "unknownScripts": [],
            "passedOver": [],
            "remote": False,
            "server": None,
            "price": None,
            "consent": None,
            "remoteFallback": None,
            "keyPlace": None,
            "readOnly": None,
        },
        pending_vectors=0,
        failed_files=(),
        skipped_files=(),
        last_sync=indexing.recent[-1] if indexing.recent else None,
        recent_syncs=indexing.recent,
        sizes=msgspec.structs.replace(files.sizes(), database=0, wal=0, matrix=0),
        generation=0,
        watcher=indexing.watcher_status() or WatcherStatus(),
        syncing=indexing.progress(),
        paused=token is not None and token.paused,
        writer_elsewhere=False,
        index_error=indexing.problem or None,
        user_data=user.status(),
        lacks=lacks,
    )
