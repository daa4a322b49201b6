"""Converts the status record to groups of diagnostics: values, each with a state, a reason and a remedy."""

from collections.abc import Iterator

from engine import BUILT_IN_CAN, MemoryProviderStatus, SyncSummary, marked, number, tr, tr_count
from gui.core.capabilities import SHORT
from gui.diagnostics.group_view import Diagnostic, Group, Remedy
from gui.text.formatting import (
    ago,
    duration,
    estimate_text,
    exact,
    files_text,
    passages_text,
    size_text,
    spent_text,
    vectors_text,
)
from gui.text.status_texts import (
    REASON_WORDS,
    State,
    engine_name,
    failed_engine,
    failed_provider,
    index_remedy,
    provider_label,
    skipped_count,
)

_PHASES = {
    "waiting": marked("waiting"),
    "discovering": marked("looking for files"),
    "indexing": marked("indexing"),
    "embedding": marked("embedding"),
    "publishing": marked("saving"),
    "done": marked("finishing"),
}
"""Phase of a sync -> state of the index in words."""


def embedding_diagnostics(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    """Yield the rows on the embedding provider and its model."""
    why_not = str(status.custom.get("providerUnavailableReason") or "")
    if status.provider != "none":
        tip = tr("Requested provider: {provider}.", provider=provider_label(status.requested_provider))
        problem = str(status.custom.get("providerError") or "")
        state: State = "degraded" if problem else "fine"
        yield Diagnostic(tr("Provider"), state, provider_label(status.provider), problem, "probe-embedding", tip)
        if status.model:
            yield Diagnostic(tr("Model"), None, status.model)
    elif status.requested_provider == "none":
        yield Diagnostic(
            tr("Provider"), "off", tr("words only"), tip=tr("Search by meaning is switched off in the settings.")
        )
    else:
        yield Diagnostic(
            tr("Provider"), "degraded", tr("words only"), why_not or tr("No model is available."), "settings"
        )
    yield from _privacy_diagnostics(status)
    if scripts := status.custom.get("unknownScripts"):
        tip = tr(
            "The model does not know {scripts}. Notes in these alphabets are found by their words.",
            scripts=", ".join(tr(str(script)) for script in scripts),
        )
        few = tr_count("{count} found by keywords only", "{count} found by keywords only", len(scripts))
        yield Diagnostic(tr("Alphabets"), None, few, tip=tip)
    yield Diagnostic(tr("Dimensions"), None, number(status.vector.dims) if status.vector.dims else "–")
    instead = failed_provider(status)
    if instead is None:
        yield Diagnostic(tr("Fallback"), "off", tr("not in use"))
    else:
        yield Diagnostic(
            tr("Fallback"),
            "degraded",
            tr("instead of {chosen}", chosen=instead.chosen),
            instead.reason,
            "probe-embedding",
        )


def _privacy_diagnostics(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    """Yield diagnostics of the provider: where texts are sent, the consent for it, and the source of the key."""
    if "remote" not in status.custom:
        return
    notes = list(map(str, status.custom.get("skippedProviders") or ()))
    fallback: dict[str, str] = status.custom.get("remoteFallback") or {}
    second = fallback.get("server", "")
    if second:
        notes.insert(0, tr("If this provider fails, texts are sent to {server}.", server=second))
    if not status.custom["remote"]:
        words = tr("to {server} as fallback", server=second) if second else tr("stay on this machine")
        yield Diagnostic(tr("Texts"), None, words, tip="\n".join(notes))
    else:
        server = status.custom.get("server") or status.provider
        agreed = {
            "named as provider": tr("This provider is chosen in the settings."),
            "named as fallback": tr("This provider is the fallback in the settings."),
            "agreed to": tr("You agreed to this provider (remote.approved in the settings)."),
        }
        tip = agreed.get(str(status.custom.get("consent")), "")
        sent = tr("sent to {server}", server=server)
        yield Diagnostic(tr("Texts"), None, sent, tip="\n".join(filter(None, (tip, *notes))))
    if origin := str(status.custom.get("keyOrigin") or ""):
        yield _key(origin)


def _key(origin: str) -> Diagnostic:
    """Return the diagnostic of the API key; `origin`: "the keychain", or a text that ends with the variable's name."""
    if "keychain" in origin:
        return Diagnostic(tr("Key"), None, tr("in the keychain"), tip=tr("The API key comes from the keychain."))
    name = origin.rpartition(" ")[2]
    return Diagnostic(
        tr("Key"),
        None,
        tr("in an environment variable"),
        tip=tr("The API key comes from the environment variable {name}.", name=name),
    )


def vector_diagnostics(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    """Yield the rows on vectors: how many there are, and how they are searched."""
    vector = status.vector
    if not vector.enabled:
        yield Diagnostic(tr("State"), "off", tr("off"))
        return
    if status.pending_vectors and status.provider != "none":
        share = tr("{done:,} of {all:,}", done=vector.rows, all=vector.rows + status.pending_vectors)
        if status.awaiting_approval is None:
            stuck = status.syncing is None and bool(status.custom.get("providerError"))
            yield Diagnostic(tr("State"), "degraded" if stuck else "working", share)
        else:
            why = (tr("Waiting for your approval."), estimate_text(status.awaiting_approval))
            yield Diagnostic(tr("State"), "degraded", share, " ".join(why), "embed")
    else:
        yield Diagnostic(tr("State"), "fine" if vector.rows else "off", tr("{count:,} ready", count=vector.rows))
    yield Diagnostic(tr("Method"), None, vector.engine, tip=vector.reason)
    if vector.available is None:
        yield Diagnostic(
            "sqlite-vec", "off", tr("not loaded"), tr("sqlite-vec is loaded when it is first needed."), "probe-vector"
        )
    elif vector.available:
        yield Diagnostic("sqlite-vec", "fine", tr("loaded"), tip=vector.extension_path or "")
    else:
        broken = vector.load_error or tr("sqlite-vec could not be loaded.")
        path = vector.extension_path or ""
        if vector.needs_extension:
            reason = " ".join((broken, tr("{engine} answers instead.", engine=vector.engine)))
            yield Diagnostic("sqlite-vec", "degraded", tr("not loaded"), reason, "probe-vector", path)
        elif vector.requested:
            reason = " ".join((broken, tr("The current settings don't need it.")))
            yield Diagnostic("sqlite-vec", "off", tr("not loaded"), reason, "probe-vector", path)
        else:
            yield Diagnostic("sqlite-vec", "degraded", tr("not in use"), broken, "probe-vector", path)


def cache_diagnostic(status: MemoryProviderStatus) -> Diagnostic:
    cache = status.cache
    if not cache.enabled:
        return Diagnostic(tr("Entries"), "off", tr("off"))
    most = cache.max_entries
    entries = tr("{done:,} of {all:,}", done=cache.entries, all=most) if most else number(cache.entries)
    named = ((f"{provider_label(each.provider)}, {each.model}", each.vectors) for each in cache.models)
    tip = "\n".join(f"{name}: {vectors_text(vectors)}" for name, vectors in named)
    return Diagnostic(tr("Entries"), "fine", f"{entries} · {size_text(cache.bytes)}", tip=tip)


def batch_diagnostics(status: MemoryProviderStatus, now: float) -> Iterator[Diagnostic]:
    """Yield the rows on batch jobs; `now` is in seconds since the epoch."""
    batch = status.batch
    failures = tr("{count} of {limit} failures", count=batch.failures, limit=batch.limit)
    where = f"{batch.last_provider}: " if batch.last_provider else ""
    error_text = where + batch.last_error if batch.last_error else ""
    tip = tr(
        "{count} at a time, checked every {interval}.",
        count=batch.concurrency,
        interval=duration(batch.poll_interval_ms / 1000),
    )
    if error_text and (batch.failures or not batch.enabled):
        yield Diagnostic(tr("State"), "degraded", failures, error_text, "sync")
    elif not batch.enabled:
        yield Diagnostic(tr("State"), "off", tr("off"))
    else:
        yield Diagnostic(
            tr("State"), "fine", tr("on, {failures}", failures=failures), tip=f"{error_text}\n{tip}".strip()
        )
    if batch.jobs:
        jobs = (
            tr_count(
                "{provider}, {model}: {count:,} text, {state}, begun {when}",
                "{provider}, {model}: {count:,} texts, {state}, begun {when}",
                job.texts,
                provider=job.provider,
                model=job.model,
                state=job.state,
                when=ago(job.created, now),
            )
            for job in batch.jobs
        )
        opened = tr_count("{count:,} job open", "{count:,} jobs open", len(batch.jobs))
        yield Diagnostic(tr("Jobs"), "working", opened, tip="\n".join(jobs))


def diagnostics_of(status: MemoryProviderStatus, now: float) -> tuple[Group, ...]:
    """Return all groups in a fixed order, possibly empty; `now` in seconds since the epoch."""
    return (
        Group(tr("Search engine"), tuple(_engine(status))),
        Group(tr("Index"), tuple(_index(status))),
        Group(tr("Sources"), (*_sources(status), *_search_mode(status))),
        Group(tr("Embedding"), tuple(embedding_diagnostics(status))),
        Group(tr("Keywords"), (_keywords(status),)),
        Group(tr("Vectors"), tuple(vector_diagnostics(status))),
        Group(tr("Cache"), (cache_diagnostic(status),)),
        Group(tr("Batch jobs"), tuple(batch_diagnostics(status, now))),
        Group(tr("Updates"), tuple(_sync(status, now))),
        Group(tr("Watcher"), tuple(_watcher(status, now))),
        Group(tr("Missing features"), tuple(_unsupported(status))),
    )


def _engine(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    name, instead = engine_name(status.backend), failed_engine(status)
    if instead is None:
        yield Diagnostic(tr("In use"), "fine", name, tip=status.db_path)
    else:
        value = tr("{engine} instead of {chosen}", engine=name, chosen=engine_name(instead.chosen))
        yield Diagnostic(tr("In use"), "degraded", value, instead.reason, "try-again", status.db_path)


def _unsupported(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each feature that the current engine doesn't support."""
    for feature, reason in sorted(status.unsupported.items()):
        yield Diagnostic(tr(SHORT[feature]), "off", reason.removesuffix(tr(BUILT_IN_CAN)).rstrip())
    if status.unsupported:
        yield Diagnostic(tr("Alternative"), None, tr("the built-in index supports all of this"), remedy="engine")


def _index(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    yield _index_state(status)
    if (data := status.user_data) is not None:
        remedy: Remedy | None = None if data.backup is None else "restore-data"
        yield Diagnostic(tr("User data"), "degraded", tr("can't be read"), data.problem, remedy)
    yield Diagnostic(tr("Files"), None, number(status.files))
    failed, skipped = len(status.failed_files), skipped_count(status.skipped_files)
    if failed:
        both = ", ".join((_failed(failed), _skipped(skipped))) if skipped else _failed(failed)
        yield Diagnostic(tr("Not indexed"), "degraded", both, tr("The table below gives the reasons."), "show-failed")
    elif skipped:
        yield Diagnostic(tr("Not indexed"), None, _skipped(skipped), remedy="show-skipped")
    pending = status.pending_vectors
    waiting = " · " + tr_count("{count:,} pending", "{count:,} pending", pending) if pending else ""
    yield Diagnostic(tr("Passages"), None, number(status.chunks) + waiting)
    sizes = status.sizes
    generation = tr("generation {number}", number=str(status.generation))
    whole = size_text(sizes.database + sizes.wal + sizes.matrix + sizes.user)
    parts = tr(
        "Index {index}, its write-ahead log {log}, search vectors {vectors}, facts and saved searches {own}.",
        index=size_text(sizes.database),
        log=size_text(sizes.wal),
        vectors=size_text(sizes.matrix),
        own=size_text(sizes.user),
    )
    yield Diagnostic(
        tr("On disk"),
        None,
        f"{whole} · {generation}",
        tip=f"{parts}\n{status.db_path}",
    )
    yield Diagnostic(tr("Folder"), None, status.workspace_dir, tip=status.workspace_dir)


def _index_state(status: MemoryProviderStatus) -> Diagnostic:
    if status.index_error:
        if status.custom.get("readOnly"):
            return Diagnostic(tr("State"), "degraded", tr("read only"), status.index_error, "show-index")
        return Diagnostic(
            tr("State"),
            "degraded",
            tr("had a problem with the index"),
            status.index_error,
            index_remedy(status),
        )
    if status.writer_elsewhere:
        return Diagnostic(tr("State"), "working", tr("another program is indexing"))
    if status.syncing is not None:
        step = status.syncing
        if step.phase == "waiting" and not status.paused:
            return Diagnostic(tr("State"), "working", tr("waits for another program"))
        word = tr("paused") if status.paused else tr(_PHASES[step.phase])
        if step.total:
            word = tr("{state}, {share:.0%}", state=word, share=step.completed / step.total)
        return Diagnostic(tr("State"), "off" if status.paused else "working", word)
    if status.dirty:
        return Diagnostic(tr("State"), "working", tr("changes waiting"), remedy="sync")
    if not status.files:
        return Diagnostic(tr("State"), "off", tr("empty"), remedy="sync")
    return Diagnostic(tr("State"), "fine", tr("up to date"))


def _sources(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    names = {"memory": tr("Notes"), "sessions": tr("Sessions")}
    for count in status.source_counts:
        yield Diagnostic(names[count.source], None, f"{files_text(count.files)} · {passages_text(count.chunks)}")
    if extra := status.extra_paths:
        yield Diagnostic(
            tr("Extra paths"), None, tr_count("{count:,} path", "{count:,} paths", len(extra)), tip="\n".join(extra)
        )


def _search_mode(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    words = {"hybrid": tr("by words and meaning"), "keyword": tr("by words only"), "vector": tr("by meaning only")}
    kind = str(status.custom.get("searchMode"))
    if kind == "hybrid" and status.chunks and not status.vector.rows:
        kind = "keyword"  # nothing can be found by meaning before the first vector
    mode = words.get(kind)
    if mode is not None:
        yield Diagnostic(tr("Search"), None, mode)


def _keywords(status: MemoryProviderStatus) -> Diagnostic:
    if not status.fts.enabled:
        return Diagnostic(tr("State"), "off", tr("off"))
    if not status.fts.available:
        error = status.fts.error or ""
        return Diagnostic(tr("State"), "degraded", tr("not available"), error, index_remedy(status))
    return Diagnostic(tr("State"), "fine", tr("ready, {chunks}", chunks=passages_text(status.chunks)))


def _sync(status: MemoryProviderStatus, now: float) -> Iterator[Diagnostic]:
    step = status.syncing
    if step is not None:
        yield Diagnostic(tr("Running"), "working", tr(REASON_WORDS[step.reason]), tip=step.label)
        yield Diagnostic(tr("Reused"), None, vectors_text(step.reused))
        yield Diagnostic(tr("Embedded"), None, passages_text(step.embedded))
        if cost := spent_text(step.tokens, step.cost):
            yield Diagnostic(tr("Cost"), None, cost)
    last = status.last_sync
    if last is None:
        yield Diagnostic(tr("Last update"), "off", tr("never"), remedy=None if step else "sync")
        return
    state, word = _outcome(last)
    ended = last.started + last.seconds
    yield Diagnostic(
        tr("Last update"),
        state,
        f"{word}, {ago(ended, now)}",
        reason=tr(last.error),
        remedy="sync" if state != "fine" and step is None else None,
        tip=tr("{when}, took {time}", when=exact(ended), time=duration(last.seconds)),
    )
    cost = spent_text(last.tokens, last.cost)
    if cost and step is None:
        yield Diagnostic(tr("Cost"), None, cost, tip=tr("Cost of the last update."))
    changed = f"{files_text(last.files_indexed)} · {passages_text(last.chunks_indexed)}"
    removed = tr_count("{count:,} file removed.", "{count:,} files removed.", last.files_removed)
    yield Diagnostic(tr("Changed"), None, changed, tip=removed)


def _outcome(last: SyncSummary) -> tuple[State, str]:
    if last.error:
        return "degraded", tr("failed")
    return ("off", tr("stopped")) if last.cancelled else ("fine", tr(REASON_WORDS[last.reason]))


def _watcher(status: MemoryProviderStatus, now: float) -> Iterator[Diagnostic]:
    watcher = status.watcher
    if not watcher.enabled or watcher.mode == "off":
        broken = bool(watcher.error)
        yield Diagnostic(
            tr("Watching"), "degraded" if broken else "off", tr("off"), watcher.error or "", "sync" if broken else None
        )
        return
    roots = tr_count("{count:,} folder", "{count:,} folders", len(watcher.roots))
    tip = "\n".join(watcher.roots)
    if watcher.mode == "polling":
        yield Diagnostic(tr("Watching"), "degraded", tr("by regular checks"), watcher.error or "", "sync", tip)
    else:
        state: State = "degraded" if watcher.error else "fine"
        yield Diagnostic(tr("Watching"), state, roots, watcher.error or "", "sync" if watcher.error else None, tip)
    if watcher.last_change is not None:
        yield Diagnostic(tr("Last change"), None, ago(watcher.last_change, now), tip=exact(watcher.last_change))


def _failed(count: int) -> str:
    return tr_count("{count:,} failed", "{count:,} failed", count)


def _skipped(count: int) -> str:
    return tr_count("{count:,} skipped", "{count:,} skipped", count)
