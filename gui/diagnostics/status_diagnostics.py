"""The status record as a person reads it: groups of values, each with a plain state, a reason and a remedy."""

from collections.abc import Iterator

from engine import BUILT_IN_CAN, MemoryProviderStatus, SyncSummary, marked, number, tr, tr_count
from gui.core.capabilities import SHORT
from gui.diagnostics.diagnostic import Diagnostic, Group, Remedy, chunks, files, vectors
from gui.diagnostics.vector_diagnostics import read_batch, read_cache, read_embedding, read_vectors
from gui.widgets.engine_names import engine_instead, engine_name, index_remedy
from gui.widgets.formatting import ago, duration, exact, size_text
from gui.widgets.pricing import spent_words
from gui.widgets.skip_rules import files_left_out
from gui.widgets.state import State
from gui.widgets.sync_line import REASON_WORDS

_PHASES = {
    "waiting": marked("waiting"),
    "discovering": marked("looking for files"),
    "indexing": marked("indexing"),
    "embedding": marked("embedding"),
    "publishing": marked("publishing"),
    "done": marked("finishing"),
}
"""What a sync does, as the state of the index."""


def read_status(status: MemoryProviderStatus, now: float) -> tuple[Group, ...]:
    """All groups, always in the same order, the last one often empty; `now` in seconds since the epoch."""
    return (
        Group(tr("Engine"), tuple(_engine(status))),
        Group(tr("Index"), tuple(_index(status))),
        Group(tr("Sources"), (*_sources(status), *_search_mode(status))),
        Group(tr("Embedding"), tuple(read_embedding(status))),
        Group(tr("Keywords"), (_keywords(status),)),
        Group(tr("Vectors"), tuple(read_vectors(status))),
        Group(tr("Cache"), (read_cache(status),)),
        Group(tr("Batch"), tuple(read_batch(status, now))),
        Group(tr("Sync"), tuple(_sync(status, now))),
        Group(tr("Watcher"), tuple(_watcher(status, now))),
        Group(tr("Not here"), tuple(_lacking(status))),
    )


def _engine(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    name, instead = engine_name(status.backend), engine_instead(status)
    if instead is None:
        yield Diagnostic(tr("In use"), "fine", name, tip=status.db_path)
    else:
        said = tr("{engine} instead of {chosen}", engine=name, chosen=engine_name(instead.chosen))
        yield Diagnostic(tr("In use"), "degraded", said, instead.reason, "try-again", status.db_path)


def _lacking(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    """What the engine in use cannot do, at the end: it does not change."""
    for feature, reason in sorted(status.lacks.items()):
        yield Diagnostic(tr(SHORT[feature]), "off", reason.removesuffix(tr(BUILT_IN_CAN)).rstrip())
    if status.lacks:
        yield Diagnostic(tr("Others"), None, tr("the built-in index can do all of this"), remedy="engine")


def _index(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    yield _index_state(status)
    if (data := status.user_data) is not None:
        remedy: Remedy | None = None if data.backup is None else "restore-data"
        yield Diagnostic(tr("Your data"), "degraded", tr("can't be read"), data.problem, remedy)
    yield Diagnostic(tr("Files"), None, number(status.files))
    failed, skipped = len(status.failed_files), files_left_out(status.skipped_files)
    if failed:
        both = ", ".join((_failed(failed), _skipped(skipped))) if skipped else _failed(failed)
        yield Diagnostic(tr("Left out"), "degraded", both, tr("The table below says why."), "show-failed")
    elif skipped:
        yield Diagnostic(tr("Left out"), None, _skipped(skipped), remedy="show-skipped")
    pending = status.pending_vectors
    waiting = " · " + tr_count("{count:,} pending", "{count:,} pending", pending) if pending else ""
    yield Diagnostic(tr("Chunks"), None, number(status.chunks) + waiting)
    sizes = status.sizes
    generation = tr("generation {number}", number=str(status.generation))
    whole = size_text(sizes.database + sizes.wal + sizes.matrix + sizes.user)
    parts = tr(
        "Index {index}, its log {log}, vectors in memory order {vectors}, your own data {own}.",
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
            tr("State"), "degraded", tr("had a problem"), status.index_error, index_remedy(status) or None
        )
    if status.writer_elsewhere:
        return Diagnostic(tr("State"), "working", tr("another window is indexing"))
    if status.syncing is not None:
        step = status.syncing
        if step.phase == "waiting" and not status.paused:
            return Diagnostic(tr("State"), "working", tr("waits for another window"))
        word = tr("paused") if status.paused else tr(_PHASES[step.phase])
        if step.total:
            percent = 100 * step.completed / step.total
            word = tr("{state}, {percent:.0f}\N{NO-BREAK SPACE}%", state=word, percent=percent)
        return Diagnostic(tr("State"), "off" if status.paused else "working", word)
    if status.dirty:
        return Diagnostic(tr("State"), "working", tr("changes waiting"), remedy="sync")
    if not status.files:
        return Diagnostic(tr("State"), "off", tr("empty"), remedy="sync")
    return Diagnostic(tr("State"), "fine", tr("up to date"))


def _sources(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    names = {"memory": tr("Notes"), "sessions": tr("Sessions")}
    for count in status.source_counts:
        yield Diagnostic(names[count.source], None, f"{files(count.files)} · {chunks(count.chunks)}")
    if extra := status.extra_paths:
        yield Diagnostic(
            tr("Extra"), None, tr_count("{count:,} path", "{count:,} paths", len(extra)), tip="\n".join(extra)
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
        error, remedy = status.fts.error or "", index_remedy(status) or None
        return Diagnostic(tr("State"), "degraded", tr("not available"), error, remedy)
    return Diagnostic(tr("State"), "fine", tr("ready, {chunks}", chunks=chunks(status.chunks)))


def _sync(status: MemoryProviderStatus, now: float) -> Iterator[Diagnostic]:
    step = status.syncing
    if step is not None:
        yield Diagnostic(tr("Running"), "working", tr(REASON_WORDS[step.reason]), tip=step.label)
        yield Diagnostic(tr("Reused"), None, vectors(step.reused))
        yield Diagnostic(tr("Embedded"), None, chunks(step.embedded))
        if spent := spent_words(step.tokens, step.cost):
            yield Diagnostic(tr("Spent"), None, spent)
    last = status.last_sync
    if last is None:
        yield Diagnostic(tr("Last"), "off", tr("never"), remedy=None if step else "sync")
        return
    state, word = _outcome(last)
    ended = last.started + last.seconds
    yield Diagnostic(
        tr("Last"),
        state,
        f"{word}, {ago(ended, now)}",
        reason=tr(last.error),
        remedy="sync" if state != "fine" and step is None else None,
        tip=tr("{when}, took {time}", when=exact(ended), time=duration(last.seconds)),
    )
    spent = spent_words(last.tokens, last.cost)
    if spent and step is None:
        yield Diagnostic(tr("Spent"), None, spent, tip=tr("In the last update."))
    changed = f"{files(last.files_indexed)} · {chunks(last.chunks_indexed)}"
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
        yield Diagnostic(tr("Watching"), "degraded", tr("by looking regularly"), watcher.error or "", "sync", tip)
    else:
        state: State = "degraded" if watcher.error else "fine"
        yield Diagnostic(tr("Watching"), state, roots, watcher.error or "", "sync" if watcher.error else None, tip)
    if watcher.last_change is not None:
        yield Diagnostic(tr("Last change"), None, ago(watcher.last_change, now), tip=exact(watcher.last_change))


def _failed(count: int) -> str:
    return tr_count("{count:,} failed", "{count:,} failed", count)


def _skipped(count: int) -> str:
    return tr_count("{count:,} skipped", "{count:,} skipped", count)
