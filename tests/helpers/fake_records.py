"""Records for tests, with each field replaceable: of a healthy, idle memory, and results of a search."""

import time
from typing import Any

import msgspec

from engine import (
    BatchStatus,
    CacheStatus,
    EmbeddingEstimate,
    FtsStatus,
    IndexSizes,
    MemoryProviderStatus,
    MemorySyncProgressUpdate,
    PathState,
    SourceCount,
    StoredModelInfo,
    SyncSummary,
    VectorStatus,
    WatcherStatus,
)
from engine.records import MemorySearchResult, ResultText

MODIFIED = 1_772_500_000.0
"""Default modification time of files: 3 March 2026."""


def result_of(**fields: Any) -> MemorySearchResult:
    """Return a result of a search; `fields` are its own and those of its text."""
    text = {name: fields.pop(name) for name in ResultText.__struct_fields__ if name in fields}
    return MemorySearchResult(text=ResultText(**text), **fields)


def with_text(result: MemorySearchResult, **changes: Any) -> MemorySearchResult:
    """Return the result with other values of its text."""
    return msgspec.structs.replace(result, text=msgspec.structs.replace(result.shown, **changes))


def make_model(**changes: Any) -> StoredModelInfo:
    """Return the built-in model, with a vector for each of seven chunks."""
    values: dict[str, Any] = {
        "provider": "embedded",
        "model": "use-multilingual-v3",
        "key": "1",
        "dims": 512,
        "vectors": 7,
        "active": True,
    } | changes
    return StoredModelInfo(**({"bytes": values["vectors"] * values["dims"] * 2} | values))


def make_status(**changes: Any) -> MemoryProviderStatus:
    """Return a healthy, idle status; every field may be replaced."""
    fine: dict[str, Any] = {
        "backend": "builtin",
        "provider": "embedded",
        "model": "use-multilingual-v3",
        "requested_provider": "auto",
        "files": 4,
        "chunks": 7,
        "dirty": False,
        "workspace_dir": "/notes/garden-notes",
        "db_path": "/data/indexes/garden/index.sqlite",
        "extra_paths": (),
        "sources": ("memory", "sessions"),
        "source_counts": (
            SourceCount(source="memory", files=3, chunks=6),
            SourceCount(source="sessions", files=1, chunks=1),
        ),
        "cache": CacheStatus(enabled=True, entries=7, max_entries=50_000, bytes=7 * 1024, models=(make_model(),)),
        "fts": FtsStatus(enabled=True, available=True, error=None),
        "fallback": None,
        "vector": VectorStatus(
            enabled=True, available=None, extension_path=None, load_error=None, dims=512, engine="numpy", rows=7
        ),
        "batch": BatchStatus(
            enabled=False,
            failures=0,
            limit=2,
            wait=True,
            concurrency=2,
            poll_interval_ms=2000,
            timeout_ms=3_600_000,
            last_error=None,
            last_provider=None,
        ),
        "custom": {"searchMode": "hybrid"},
        "pending_vectors": 0,
        "failed_files": (),
        "skipped_files": (),
        "last_sync": None,
        "recent_syncs": (),
        "sizes": IndexSizes(database=1_200_000, wal=40_000, matrix=14_000, user=20_000),
        "generation": 7,
        "watcher": WatcherStatus(
            enabled=True, mode="native", roots=("/notes/garden-notes",), last_change=None, error=None
        ),
        "syncing": None,
        "paused": False,
        "writer_elsewhere": False,
        "index_error": None,
    }
    return MemoryProviderStatus(**(fine | changes))


def make_progress(**changes: Any) -> MemorySyncProgressUpdate:
    """Return one step of an embedding phase, with the figures of the design drawing."""
    step: dict[str, Any] = {
        "phase": "embedding",
        "completed": 12_480,
        "total": 26_043,
        "label": "Embedding passages",
        "current_file": "memory/projects/greenhouse.md",
        "rate": 118.0,
        "seconds_left": 115.0,
        "reused": 9_112,
        "embedded": 3_368,
        "reason": "manual",
    }
    return MemorySyncProgressUpdate(**(step | changes))


def make_summary(**changes: Any) -> SyncSummary:
    done: dict[str, Any] = {
        "started": time.time() - 120,
        "seconds": 1.2,
        "reason": "manual",
        "files_indexed": 4,
        "files_removed": 0,
        "chunks_indexed": 7,
        "vectors_embedded": 7,
        "cancelled": False,
        "error": "",
    }
    return SyncSummary(**(done | changes))


def make_path_state(**changes: Any) -> PathState:
    """Return the state of an indexed note."""
    state = PathState(
        requested="projects/greenhouse.md",
        state="indexed",
        sentence="The file is indexed: 3 passages, found by words and by meaning.",
        remedy="open",
        path="projects/greenhouse.md",
        file="/home/ada/notes/projects/greenhouse.md",
        source="memory",
        title="Greenhouse",
        chunks=3,
        vectors=3,
        size=640,
        modified=MODIFIED,
    )
    return msgspec.structs.replace(state, **changes)


def make_estimate(**changes: Any) -> EmbeddingEstimate:
    """Return the estimate of a billed provider."""
    due: dict[str, Any] = {
        "provider": "openai",
        "model": "text-embedding-3-small",
        "remote": True,
        "chunks": 25_000,
        "cached": 1_043,
        "tokens": 7_500_000,
        "price": 0.02,
        "cost": 0.15,
        "price_checked": "2026-11-22",
        "seconds": 540.0,
    }
    return EmbeddingEstimate(**(due | changes))
