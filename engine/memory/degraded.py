"""Lists the parts of a memory in a degraded state, from the status record of any backend."""

from collections.abc import Iterator

import msgspec

from engine.base.language import tr, tr_count
from engine.records import Degraded, MemoryProviderStatus


def with_degraded(status: MemoryProviderStatus) -> MemoryProviderStatus:
    """Return the record with `degraded` filled in; each reason is listed once."""
    parts: dict[str, Degraded] = {}
    for part in _parts(status):
        parts.setdefault(part.reason, part)
    return msgspec.structs.replace(status, degraded=tuple(parts.values()))


def _parts(status: MemoryProviderStatus) -> Iterator[Degraded]:
    yield from _storage(status)
    yield from _meaning(status)
    yield from _following(status)


def _storage(status: MemoryProviderStatus) -> Iterator[Degraded]:
    if status.fallback is not None and "fallback" in status.custom:
        reason = tr("{chosen} failed: {reason}", chosen=status.fallback.from_, reason=status.fallback.reason)
        remedy = tr("The built-in index answers instead. Fix this, then run mnemoscope index.")
        yield Degraded("backend", reason, remedy)
    if status.index_error:
        yield Degraded("index", status.index_error, tr("Fix this, then run mnemoscope index."))
    if status.user_data is not None:
        restore = tr("To restore the backup, run mnemoscope doctor --repair.")
        yield Degraded("user-data", status.user_data.problem, restore if status.user_data.backup is not None else "")
    if status.fts.enabled and not status.fts.available:
        reason = status.fts.error or tr("The keyword index can't be searched.")
        yield Degraded("keywords", reason, tr("Run mnemoscope doctor --repair."))


def _meaning(status: MemoryProviderStatus) -> Iterator[Degraded]:
    unavailable, failure = (status.custom.get(key) for key in ("providerUnavailableReason", "providerError"))
    instead = status.custom.get("providerFallback") if "fallback" in status.custom else status.fallback
    if instead:
        replaced = msgspec.to_builtins(instead)
        reason = tr("{chosen} failed: {reason}", chosen=replaced["from"], reason=replaced["reason"])
        used = tr("{provider} is used instead. Fix this, or choose another provider.", provider=status.provider)
        yield Degraded("provider", reason, used)
    elif unavailable and status.requested_provider != "none":
        only = tr("Only words are searched. Fix this, or choose another provider.")
        yield Degraded("provider", str(unavailable), only)
    if failure:
        yield Degraded("provider", str(failure), tr("To try it again, run mnemoscope status --deep."))
    if status.awaiting is not None:
        waiting = tr_count(
            "{count:,} passage waits for your agreement before it is embedded.",
            "{count:,} passages wait for your agreement before they are embedded.",
            status.awaiting.chunks,
        )
        yield Degraded("vectors", waiting, tr("Run mnemoscope index --yes."))
    if status.vector.needs_extension:
        remedy = tr("Correct store.vector.extension_path, or set store.vector.engine to numpy, which answers now.")
        yield Degraded("sqlite-vec", status.vector.load_error or "", remedy)


def _following(status: MemoryProviderStatus) -> Iterator[Degraded]:
    last, batch, watcher = status.last_sync, status.batch, status.watcher
    if last is not None and last.error:
        yield Degraded("update", tr(last.error), tr("Fix this, then run mnemoscope index."))
    if status.failed_files:
        count = tr_count(
            "{count:,} file could not be indexed.", "{count:,} files could not be indexed.", len(status.failed_files)
        )
        yield Degraded("files", count, tr("failedFiles has the reason of each."))
    if batch.last_error and batch.failures:
        again = tr("Texts are embedded without batch jobs after {count} failures.", count=batch.limit)
        yield Degraded("batch-jobs", batch.last_error, again)
    if watcher.error:
        look = tr("Fix this and restart. Until then, run mnemoscope index to update.")
        polled = tr("Changes are still found, only later.")
        yield Degraded("watcher", watcher.error, polled if watcher.mode == "polling" else look)
