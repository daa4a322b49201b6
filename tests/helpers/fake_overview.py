"""Made-up figures of an index."""

from typing import Any

from engine import (
    ChunkSizes,
    DiskPart,
    FolderCount,
    IndexOverview,
    MonthCount,
    StoredSync,
)


def make_folder(name: str, **changes: Any) -> FolderCount:
    facts: dict[str, Any] = {
        "source": "memory",
        "name": name,
        "depth": len(name.split("/")) if name else 0,
        "files": 10,
        "chunks": 25,
        "pending": 0,
        "failed": 0,
        "skipped": 0,
    }
    return FolderCount(**(facts | changes))


def make_sync(**changes: Any) -> StoredSync:
    facts: dict[str, Any] = {
        "started": 1_770_000_000.0,
        "seconds": 3.0,
        "reason": "manual",
        "files_indexed": 4,
        "files_removed": 0,
        "chunks_indexed": 10,
        "vectors_embedded": 6,
        "cancelled": False,
        "error": "",
        "vectors_reused": 4,
    }
    return StoredSync(**(facts | changes))


def make_overview(**changes: Any) -> IndexOverview:
    facts: dict[str, Any] = {
        "generation": 1,
        "folders": (make_folder(""), make_folder("daily", files=6), make_folder("daily/2026", files=2)),
        "sizes": ChunkSizes(median=1214, longest=1580, width=200, counts=(1, 2, 3, 4, 5, 6, 7, 5)),
        "months": (
            MonthCount(year=2025, month=12, notes=3, sessions=0),
            MonthCount(year=2026, month=2, notes=4, sessions=2),
        ),
        "disk": (
            DiskPart(name="text", bytes=38_000_000),
            DiskPart(name="words", bytes=31_000_000),
            DiskPart(name="vectors", bytes=29_000_000),
            DiskPart(name="matrix", bytes=20_000_000),
        ),
        "syncs": (make_sync(started=1_769_000_000.0, vectors_reused=None), make_sync()),
    }
    return IndexOverview(**(facts | changes))
