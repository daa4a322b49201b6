"""The status of a memory with `qmd`: its index, unsupported features, and sessions that may not search it.

If qmd searches only keywords, the status says why.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from engine.backends.qmd.collections import Collection
from engine.backends.qmd.index_maintenance import QmdCounts
from engine.backends.qmd.sync import QmdSync
from engine.base.errors import Unsupported
from engine.base.language import marked, tr
from engine.embedding.batch_jobs.batch_api import BatchPolicy
from engine.indexing.sync_scheduler import IndexingService
from engine.memory.status_report import batch_status
from engine.records import (
    CacheStatus,
    Feature,
    FtsStatus,
    MemoryProviderStatus,
    SearchMode,
    Source,
    SourceCount,
    VectorStatus,
    WatcherStatus,
)
from engine.search.session_keys import parse_session_key
from engine.settings.backend_settings import SCOPE_RULE, QmdScopeSettings, QmdSearchMode
from engine.store.batch_jobs import BatchJobs
from engine.store.index_paths import IndexFiles
from engine.store.user_data import UserData

MODES: Mapping[QmdSearchMode, SearchMode] = {"search": "keyword", "vsearch": "vector", "query": "hybrid"}
_NO_VECTORS = marked(
    "qmd has no vectors yet, so only keywords are searched: download its models (qmd pull) and update."
)


def qmd_status(sync: QmdSync, indexing: IndexingService, files: IndexFiles, user: UserData) -> MemoryProviderStatus:
    """Return the status of qmd. `files`: the index files of this workspace, next to which qmd's index is."""
    settings, counts = sync.settings, sync.index.counts()
    qmd = settings.qmd
    collections = sync.maintenance.collections
    wants_vectors = qmd.search_mode != "search"
    missing = sync.command.missing()
    reason = (wants_vectors and missing) or why_keywords_only(sync, counts)
    uses_vectors = wants_vectors and not reason
    sources = _sources(collections, counts)
    indexed = sum(source.files for source in sources)
    token, step = indexing.current(), indexing.progress()
    return MemoryProviderStatus(
        backend="qmd",
        provider="qmd" if uses_vectors else "none",
        model="qmd" if uses_vectors else "",
        requested_provider="qmd" if wants_vectors else "none",
        files=indexed,
        chunks=indexed,
        dirty=indexing.dirty or not collections,
        workspace_dir=str(sync.workspace),
        db_path=str(sync.command.database),
        extra_paths=settings.extra_paths,
        sources=settings.sources,
        source_counts=sources,
        cache=CacheStatus(enabled=False, entries=0, max_entries=None),
        fts=FtsStatus(enabled=True, available=not (missing or counts.problem), error=missing or counts.problem or None),
        fallback=None,
        vector=VectorStatus(
            enabled=wants_vectors,
            available=counts.vectors > 0 if wants_vectors else None,
            extension_path=None,
            load_error=reason or None,
            dims=None,
            engine="qmd",
            rows=counts.vectors,
        ),
        batch=batch_status(settings.remote.batch, None, BatchPolicy(), BatchJobs(user)),
        custom=_custom(sync, counts, MODES[qmd.search_mode] if uses_vectors else "keyword", reason),
        pending_vectors=sync.pending(),
        failed_files=sync.failed,
        skipped_files=sync.skipped,
        last_sync=indexing.recent[-1] if indexing.recent else None,
        recent_syncs=indexing.recent,
        sizes=msgspec.structs.replace(files.sizes(), database=sync.index.size(), wal=0, matrix=0),
        generation=0,
        watcher=indexing.watcher_status() or WatcherStatus(),
        syncing=step,
        paused=token is not None and token.paused,
        writer_elsewhere=step is None and sync.lock.held_elsewhere(),
        index_error=missing or sync.problem or counts.problem or indexing.problem or None,
        user_data=user.status(),
        unsupported=unsupported_features(sessions=qmd.sessions.enabled),
    )


def _custom(sync: QmdSync, counts: QmdCounts, mode: SearchMode, unavailable: str) -> dict[str, Any]:
    """Return the fields that the built-in index also has, and qmd's own."""
    qmd = sync.settings.qmd
    return {
        "searchMode": mode,
        "providerUnavailableReason": unavailable or None,
        "providerError": sync.embed_problem or None,
        "unknownScripts": [],
        "skippedProviders": [],
        "remote": False,
        "server": None,
        "price": None,
        "consent": None,
        "remoteFallback": None,
        "keyOrigin": None,
        "readOnly": None,
        "diskFull": False,
        "qmd": {
            "command": qmd.command,
            "version": sync.command.version or None,
            "searchMode": qmd.search_mode,
            "collections": {
                collection.name: counts.documents.get(collection.name, 0) for collection in sync.maintenance.collections
            },
        },
    }


def why_keywords_only(sync: QmdSync, counts: QmdCounts) -> str:
    """Return why only keywords are searched; empty if the settings request that, or the models can be used."""
    if sync.settings.qmd.search_mode == "search" or counts.vectors:
        return ""
    return sync.embed_problem or tr(_NO_VECTORS)


def _sources(collections: tuple[Collection, ...], counts: QmdCounts) -> tuple[SourceCount, ...]:
    files: Counter[Source] = Counter()
    for collection in collections:
        files[collection.source] += counts.documents.get(collection.name, 0)
    return tuple(SourceCount(source=source, files=number, chunks=number) for source, number in files.items())


BUILT_IN_CAN = marked("The built-in index supports this.")
"""Sentence at the end of each reason."""

_UNSUPPORTED: Mapping[Feature, str] = {
    "similar": marked("qmd can't search for passages similar to another passage."),
    "within": marked("qmd always searches all notes and can't search within earlier results."),
    "ordering": marked("qmd orders results by its own scores, so age and variety can't change the order."),
    "completion": marked("qmd does not list the titles, tags and projects that it knows."),
    "explanation": marked("qmd does not explain its results."),
    "path-states": marked("qmd does not report why a file is found or not."),
    "models": marked("qmd manages its models and vectors itself."),
    "insight": marked("The index of qmd can't be inspected."),
}
NO_SESSIONS = marked("Searching sessions with qmd is switched off (qmd.sessions.enabled).")

_REFUSED = marked("The setting qmd.scope doesn't allow this session to search with qmd.")


def unsupported_features(*, sessions: bool) -> Mapping[Feature, str]:
    """Return unsupported features with reasons; `sessions`: whether `qmd` searches them."""
    reasons = {feature: _reason(feature) for feature in _UNSUPPORTED}
    return reasons if sessions else {**reasons, "sessions": tr(NO_SESSIONS)}


def unsupported(feature: Feature) -> Unsupported:
    return Unsupported(_reason(feature))


def _reason(feature: Feature) -> str:
    return f"{tr(_UNSUPPORTED[feature])} {tr(BUILT_IN_CAN)}"


def refusal(scope: QmdScopeSettings, session_key: str | None) -> str:
    """Return why the session with this key gets no answer; empty if it gets one."""
    return "" if may_search(scope, session_key) else tr(_REFUSED)


def may_search(scope: QmdScopeSettings, session_key: str | None) -> bool:
    """Whether the session with this key may search; without a key it is the user, who always may."""
    if session_key is None or not session_key.strip():
        return True
    session = parse_session_key(session_key)
    for action, program, chat in _rules(scope.rules):
        if (not program or program == session.program) and chat in ("*", session.chat):
            return action == "allow"
    return scope.default == "allow"


def _rules(rules: Sequence[str]) -> list[tuple[str, str | None, str]]:
    matches = (SCOPE_RULE.fullmatch(rule.strip().lower()) for rule in rules)
    return [(rule[1], rule[2], rule[3]) for rule in matches if rule is not None]
