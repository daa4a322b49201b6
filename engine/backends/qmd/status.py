"""The status of a memory with `qmd`: the contents of its index, and why it doesn't search by meaning if it doesn't."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from engine.backends.qmd.collections import Collection
from engine.backends.qmd.command import QmdCommand
from engine.backends.qmd.index_maintenance import QmdCounts
from engine.backends.qmd.sync import QmdSync
from engine.base.language import marked, tr
from engine.records import FtsStatus, MemoryProviderStatus, SearchMode, Source, SourceCount, VectorStatus
from engine.settings.backend_settings import QmdSearchMode

MODES: Mapping[QmdSearchMode, SearchMode] = {"search": "keyword", "vsearch": "vector", "query": "hybrid"}
_NO_VECTORS = marked(
    "qmd has no vectors yet, so only keywords are searched: download its models (qmd pull) and update."
)


def qmd_status(
    outer: MemoryProviderStatus, command: QmdCommand, sync: QmdSync, counts: QmdCounts, size: int
) -> MemoryProviderStatus:
    """Return the status of qmd. `outer`: the fields that don't depend on the backend; `size` of the index in bytes."""
    qmd = sync.settings.qmd
    collections = sync.maintenance.collections
    wants_meaning = qmd.search_mode != "search"
    missing = command.missing()
    reason = (wants_meaning and missing) or why_words_only(sync, counts)
    meaning = wants_meaning and not reason
    sources = _sources(collections, counts)
    files = sum(source.files for source in sources)
    problem = missing or sync.problem or counts.problem
    return msgspec.structs.replace(
        outer,
        provider="qmd" if meaning else "none",
        model="qmd" if meaning else "",
        requested_provider="qmd" if wants_meaning else "none",
        files=files,
        chunks=files,
        dirty=outer.dirty or not collections,
        db_path=str(command.database),
        source_counts=sources,
        fts=FtsStatus(enabled=True, available=not (missing or counts.problem), error=missing or counts.problem or None),
        vector=VectorStatus(
            enabled=wants_meaning,
            available=counts.vectors > 0 if wants_meaning else None,
            extension_path=None,
            load_error=reason or None,
            dims=None,
            engine="qmd",
            rows=counts.vectors,
        ),
        custom={
            **outer.custom,
            "searchMode": MODES[qmd.search_mode] if meaning else "keyword",
            "providerUnavailableReason": reason or None,
            "providerError": sync.embed_problem or None,
            "qmd": {
                "command": qmd.command,
                "version": command.version or None,
                "searchMode": qmd.search_mode,
                "collections": {one.name: counts.documents.get(one.name, 0) for one in collections},
            },
        },
        pending_vectors=sync.pending(),
        failed_files=sync.failed,
        skipped_files=sync.skipped,
        sizes=msgspec.structs.replace(outer.sizes, database=size),
        writer_elsewhere=outer.syncing is None and sync.lock.held_elsewhere(),
        index_error=problem or outer.index_error,
    )


def why_words_only(sync: QmdSync, counts: QmdCounts) -> str:
    """Return why only keywords are searched; empty if the settings request that, or the models can be used."""
    if sync.settings.qmd.search_mode == "search" or counts.vectors:
        return ""
    return sync.embed_problem or tr(_NO_VECTORS)


def _sources(collections: tuple[Collection, ...], counts: QmdCounts) -> tuple[SourceCount, ...]:
    files: Counter[Source] = Counter()
    for one in collections:
        files[one.source] += counts.documents.get(one.name, 0)
    return tuple(SourceCount(source=source, files=number, chunks=number) for source, number in files.items())
