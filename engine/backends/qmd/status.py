"""The status of a memory with `qmd`: its index, unsupported features, and sessions that may not search it.

It says why it doesn't search by meaning if it doesn't.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from engine.backends.qmd.collections import Collection
from engine.backends.qmd.command import QmdCommand
from engine.backends.qmd.index_maintenance import QmdCounts
from engine.backends.qmd.sync import QmdSync
from engine.base.errors import Unsupported
from engine.base.language import marked, tr
from engine.records import Feature, FtsStatus, MemoryProviderStatus, SearchMode, Source, SourceCount, VectorStatus
from engine.search.session_keys import session_of
from engine.settings.backend_settings import SCOPE_RULE, QmdScopeSettings, QmdSearchMode

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


BUILT_IN_CAN = marked("The built-in index supports this.")
"""Sentence at the end of each reason."""

_UNSUPPORTED: Mapping[Feature, str] = {
    "alike": marked("qmd can't search for passages similar to another passage."),
    "narrowing": marked("qmd always searches all notes and can't search within earlier results."),
    "ordering": marked("qmd orders results by its own scores, so age and variety can't change the order."),
    "completion": marked("qmd does not list the titles, tags and projects that it knows."),
    "explanation": marked("qmd does not explain its results."),
    "states": marked("qmd does not report why a file is found or not."),
    "models": marked("qmd manages its models and vectors itself."),
    "insight": marked("The index of qmd can't be inspected."),
}
NO_SESSIONS = marked("Searching sessions with qmd is switched off (qmd.sessions.enabled).")

_REFUSED = marked("The setting qmd.scope doesn't allow this session to search with qmd.")


def unsupported_features(*, sessions: bool) -> Mapping[Feature, str]:
    """Return unsupported features with reasons; `sessions`: whether `qmd` searches them."""
    found = {feature: _reason(feature) for feature in _UNSUPPORTED}
    return found if sessions else {**found, "sessions": tr(NO_SESSIONS)}


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
    session = session_of(session_key)
    for action, program, chat in _rules(scope.rules):
        if (not program or program == session.program) and chat in ("*", session.chat):
            return action == "allow"
    return scope.default == "allow"


def _rules(rules: Sequence[str]) -> list[tuple[str, str | None, str]]:
    found = (SCOPE_RULE.fullmatch(rule.strip().lower()) for rule in rules)
    return [(rule[1], rule[2], rule[3]) for rule in found if rule is not None]
