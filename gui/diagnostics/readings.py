"""The status record as a person reads it: groups of values, each with a plain state, a reason and a remedy."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine import MemoryProviderStatus, SyncSummary
from gui.lacking import SHORT
from gui.widgets.engines import engine_instead, engine_name, index_remedy, provider_instead
from gui.widgets.pricing import estimate_words, spent_words
from gui.widgets.state import State
from gui.widgets.sync_line import PHASE_WORDS, REASON_WORDS
from gui.widgets.wording import ago, counted, duration, exact, grouped, size_text

Remedy = Literal[
    "sync",
    "rebuild",
    "embed",
    "settings",
    "engine",
    "try-again",
    "probe-embedding",
    "probe-vector",
    "show-failed",
    "show-skipped",
    "show-index",
]

REMEDY_WORDS: dict[Remedy, str] = {
    "sync": "Sync now",
    "rebuild": "Rebuild index…",
    "embed": "Embed…",
    "settings": "Open the settings…",
    "engine": "Choose another engine…",
    "try-again": "Try again now",
    "probe-embedding": "Test the model",
    "probe-vector": "Try to load it",
    "show-failed": "Show failed files",
    "show-skipped": "Show skipped files",
    "show-index": "Show the index file",
}


@dataclass(frozen=True)
class Reading:
    """One value. `state` None: a plain figure that cannot be wrong."""

    label: str
    state: State | None
    value: str
    reason: str = ""
    remedy: Remedy | None = None
    tip: str = ""


@dataclass(frozen=True)
class Group:
    title: str
    readings: tuple[Reading, ...]


def read_status(status: MemoryProviderStatus, now: float) -> tuple[Group, ...]:
    """All groups, always in the same order; `now` in seconds since the epoch."""
    return (
        Group("Engine", tuple(_engine(status))),
        Group("Index", tuple(_index(status))),
        Group("Sources", (*_sources(status), *_search_mode(status))),
        Group("Embedding", tuple(_embedding(status))),
        Group("Keywords", (_keywords(status),)),
        Group("Vectors", tuple(_vectors(status))),
        Group("Cache", (_cache(status),)),
        Group("Batch", tuple(_batch(status, now))),
        Group("Sync", tuple(_sync(status, now))),
        Group("Watcher", tuple(_watcher(status, now))),
    )


def _engine(status: MemoryProviderStatus) -> Iterator[Reading]:
    name, instead = engine_name(status.backend), engine_instead(status)
    if instead is None:
        yield Reading("In use", "fine", name, tip=status.db_path)
    else:
        said = f"{name} instead of {engine_name(instead.chosen)}"
        yield Reading("In use", "degraded", said, instead.reason, "try-again", status.db_path)
    for feature, reason in sorted(status.lacks.items()):
        yield Reading(SHORT.get(feature, feature), "off", "not here", reason)
    if status.lacks:
        yield Reading("Others", None, "the built-in index can do all of this", remedy="engine")


def _index(status: MemoryProviderStatus) -> Iterator[Reading]:
    yield _index_state(status)
    yield Reading("Files", None, grouped(status.files))
    failed, skipped = len(status.failed_files), len(status.skipped_files)
    if failed:
        both = f"{grouped(failed)} failed, {grouped(skipped)} skipped" if skipped else f"{grouped(failed)} failed"
        yield Reading("Left out", "degraded", both, "The table below says why.", "show-failed")
    elif skipped:
        yield Reading("Left out", None, f"{grouped(skipped)} skipped", remedy="show-skipped")
    waiting = f" · {grouped(status.pending_vectors)} pending" if status.pending_vectors else ""
    yield Reading("Chunks", None, grouped(status.chunks) + waiting)
    sizes = status.sizes
    yield Reading(
        "On disk",
        None,
        f"{size_text(sizes.database + sizes.wal + sizes.matrix + sizes.user)} · generation {status.generation}",
        tip=f"Index {size_text(sizes.database)}, its log {size_text(sizes.wal)}, vectors in memory order "
        f"{size_text(sizes.matrix)}, your own data {size_text(sizes.user)}.\n{status.db_path}",
    )
    yield Reading("Folder", None, status.workspace_dir, tip=status.workspace_dir)


def _index_state(status: MemoryProviderStatus) -> Reading:
    if status.index_error:
        if status.custom.get("readOnly"):
            return Reading("State", "degraded", "read only", status.index_error, "show-index")
        return Reading("State", "degraded", "had a problem", status.index_error, index_remedy(status) or None)
    if status.writer_elsewhere:
        return Reading("State", "working", "another window is indexing")
    if status.syncing is not None:
        step = status.syncing
        share = f", {step.completed / step.total:.0%}".replace("%", "\N{NO-BREAK SPACE}%") if step.total else ""
        if step.phase == "waiting" and not status.paused:
            return Reading("State", "working", "waits for another window")
        word = "paused" if status.paused else PHASE_WORDS[step.phase].lower()
        return Reading("State", "off" if status.paused else "working", word + share)
    if status.dirty:
        return Reading("State", "working", "changes waiting", remedy="sync")
    if not status.files:
        return Reading("State", "off", "empty", remedy="sync")
    return Reading("State", "fine", "up to date")


def _sources(status: MemoryProviderStatus) -> Iterator[Reading]:
    names = {"memory": "Notes", "sessions": "Sessions"}
    for count in status.source_counts:
        yield Reading(names[count.source], None, f"{counted(count.files, 'file')} · {counted(count.chunks, 'chunk')}")
    if status.extra_paths:
        yield Reading("Extra", None, counted(len(status.extra_paths), "path"), tip="\n".join(status.extra_paths))


def _embedding(status: MemoryProviderStatus) -> Iterator[Reading]:
    why_not = str(status.custom.get("providerUnavailableReason") or "")
    if status.provider != "none":
        tip = f"Asked for: {status.requested_provider}."
        problem = str(status.custom.get("providerError") or "")
        state: State = "degraded" if problem else "fine"
        yield Reading("Provider", state, status.provider, problem, "probe-embedding", tip)
        if status.model:
            yield Reading("Model", None, status.model)
    elif status.requested_provider == "none":
        yield Reading("Provider", "off", "words only", tip="The settings ask for no model.")
    else:
        yield Reading("Provider", "degraded", "words only", why_not or "No model is available.", "settings")
    yield from _dealings(status)
    if scripts := status.custom.get("unknownScripts"):
        names = ", ".join(str(script) for script in scripts)
        tip = f"The model does not know {names}. Notes in these scripts are found by their words."
        yield Reading("Scripts", None, f"{len(scripts)} by words only", tip=tip)
    yield Reading("Dimensions", None, grouped(status.vector.dims) if status.vector.dims else "–")
    instead = provider_instead(status)
    if instead is None:
        yield Reading("Fallback", "off", "none")
    else:
        yield Reading("Fallback", "degraded", f"instead of {instead.chosen}", instead.reason, "probe-embedding")


def _dealings(status: MemoryProviderStatus) -> Iterator[Reading]:
    """Where texts go, what agreed to it and whose key is used."""
    if "remote" not in status.custom:
        return
    passed_over = "\n".join(map(str, status.custom.get("passedOver") or ()))
    if not status.custom["remote"]:
        yield Reading("Texts", None, "stay on this machine", tip=passed_over)
    else:
        server = status.custom.get("server") or status.provider
        agreed = {
            "named as provider": "The settings name it as provider.",
            "named as fallback": "The settings name it as fallback.",
            "agreed to": "You agreed to it: remote.agreed in the settings.",
        }
        tip = agreed.get(str(status.custom.get("consent")), "")
        yield Reading("Texts", None, f"are sent to {server}", tip="\n".join(filter(None, (tip, passed_over))))
    if place := str(status.custom.get("keyPlace") or ""):
        yield Reading("Key", None, "in the keychain" if "keychain" in place else "in a variable", tip=f"From {place}.")


def _search_mode(status: MemoryProviderStatus) -> Iterator[Reading]:
    words = {"hybrid": "words and meaning", "keyword": "words only", "vector": "meaning only"}
    kind = str(status.custom.get("searchMode"))
    if kind == "hybrid" and status.chunks and not status.vector.rows:
        kind = "keyword"  # nothing can be found by meaning before the first vector
    mode = words.get(kind)
    if mode is not None:
        yield Reading("Search", None, f"by {mode}")


def _keywords(status: MemoryProviderStatus) -> Reading:
    if not status.fts.enabled:
        return Reading("State", "off", "off")
    if not status.fts.available:
        return Reading("State", "degraded", "not available", status.fts.error or "", "rebuild")
    return Reading("State", "fine", f"ready, {counted(status.chunks, 'chunk')}")


def _vectors(status: MemoryProviderStatus) -> Iterator[Reading]:
    vector = status.vector
    if not vector.enabled:
        yield Reading("State", "off", "off")
        return
    if status.pending_vectors and status.provider != "none":
        share = f"{grouped(vector.rows)} of {grouped(vector.rows + status.pending_vectors)}"
        if status.awaiting is None:
            stuck = status.syncing is None and bool(status.custom.get("providerError"))
            yield Reading("State", "degraded" if stuck else "working", share)
        else:
            why = f"Waiting for your agreement. {estimate_words(status.awaiting)}"
            yield Reading("State", "degraded", share, why, "embed")
    else:
        yield Reading("State", "fine" if vector.rows else "off", f"{grouped(vector.rows)} ready")
    yield Reading("Engine", None, vector.engine)
    if vector.available is None:
        yield Reading("sqlite-vec", "off", "not loaded", "It is loaded when it is first needed.", "probe-vector")
    elif vector.available:
        yield Reading("sqlite-vec", "fine", "loaded", tip=vector.extension_path or "")
    else:
        reason = f"{vector.load_error or 'It could not be loaded.'} {vector.engine} answers instead."
        yield Reading("sqlite-vec", "degraded", "not loaded", reason, "probe-vector", vector.extension_path or "")


def _cache(status: MemoryProviderStatus) -> Reading:
    cache = status.cache
    if not cache.enabled:
        return Reading("Entries", "off", "off")
    limit = f" of {grouped(cache.max_entries)}" if cache.max_entries else ""
    value = f"{grouped(cache.entries)}{limit} · {size_text(cache.bytes)}"
    kept = (f"{model.provider}, {model.model}: {counted(model.vectors, 'vector')}" for model in cache.models)
    return Reading("Entries", "fine", value, tip="\n".join(kept))


def _batch(status: MemoryProviderStatus, now: float) -> Iterator[Reading]:
    batch = status.batch
    failures = f"{batch.failures} of {batch.limit} failures"
    where = f"{batch.last_provider}: " if batch.last_provider else ""
    said = where + batch.last_error if batch.last_error else ""
    tip = f"{batch.concurrency} at a time, asked every {duration(batch.poll_interval_ms / 1000)}."
    if said and (batch.failures or not batch.enabled):
        yield Reading("State", "degraded", failures, said, "sync")
    elif not batch.enabled:
        yield Reading("State", "off", "off")
    else:
        yield Reading("State", "fine", f"on, {failures}", tip=f"{said}\n{tip}".strip())
    if batch.jobs:
        jobs = (
            f"{job.provider}, {job.model}: {counted(job.texts, 'text')}, {job.state}, begun {ago(job.created, now)}"
            for job in batch.jobs
        )
        yield Reading("Jobs", "working", f"{counted(len(batch.jobs), 'job')} open", tip="\n".join(jobs))


def _sync(status: MemoryProviderStatus, now: float) -> Iterator[Reading]:
    step = status.syncing
    if step is not None:
        yield Reading("Running", "working", REASON_WORDS[step.reason], tip=step.label)
        yield Reading("Reused", None, counted(step.reused, "vector"))
        yield Reading("Embedded", None, counted(step.embedded, "chunk"))
        if spent := spent_words(step.tokens, step.cost):
            yield Reading("Spent", None, spent)
    last = status.last_sync
    if last is None:
        yield Reading("Last", "off", "never", remedy=None if step else "sync")
        return
    state, word = _outcome(last)
    ended = last.started + last.seconds
    yield Reading(
        "Last",
        state,
        f"{word}, {ago(ended, now)}",
        reason=last.error,
        remedy="sync" if state != "fine" and step is None else None,
        tip=f"{exact(ended)}, took {duration(last.seconds)}",
    )
    if spent := spent_words(last.tokens, last.cost):
        yield Reading("Spent", None, spent, tip="In the last update.")
    changed = f"{counted(last.files_indexed, 'file')} · {counted(last.chunks_indexed, 'chunk')}"
    yield Reading("Changed", None, changed, tip=f"{counted(last.files_removed, 'file')} removed.")


def _outcome(last: SyncSummary) -> tuple[State, str]:
    if last.error:
        return "degraded", "failed"
    return ("off", "stopped") if last.cancelled else ("fine", REASON_WORDS[last.reason])


def _watcher(status: MemoryProviderStatus, now: float) -> Iterator[Reading]:
    watcher = status.watcher
    if not watcher.enabled or watcher.mode == "off":
        broken = bool(watcher.enabled and watcher.error)
        yield Reading(
            "Watching", "degraded" if broken else "off", "off", watcher.error or "", "sync" if broken else None
        )
        return
    roots = counted(len(watcher.roots), "folder")
    tip = "\n".join(watcher.roots)
    if watcher.mode == "polling":
        yield Reading("Watching", "degraded", "by looking regularly", watcher.error or "", "sync", tip)
    else:
        yield Reading("Watching", "fine", roots, watcher.error or "", tip=tip)
    if watcher.last_change is not None:
        yield Reading("Last change", None, ago(watcher.last_change, now), tip=exact(watcher.last_change))
