"""What the diagnostics say of embedding: the provider, its vectors, those that are kept, and its batch jobs."""

from collections.abc import Iterator

from engine import MemoryProviderStatus, number, tr, tr_count
from gui.diagnostics.diagnostic import Diagnostic, vectors
from gui.widgets.engine_names import provider_instead
from gui.widgets.formatting import ago, duration, size_text
from gui.widgets.pricing import estimate_words
from gui.widgets.state import State


def read_embedding(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    why_not = str(status.custom.get("providerUnavailableReason") or "")
    if status.provider != "none":
        tip = tr("Asked for: {provider}.", provider=status.requested_provider)
        problem = str(status.custom.get("providerError") or "")
        state: State = "degraded" if problem else "fine"
        yield Diagnostic(tr("Provider"), state, status.provider, problem, "probe-embedding", tip)
        if status.model:
            yield Diagnostic(tr("Model"), None, status.model)
    elif status.requested_provider == "none":
        yield Diagnostic(tr("Provider"), "off", tr("words only"), tip=tr("The settings ask for no model."))
    else:
        yield Diagnostic(
            tr("Provider"), "degraded", tr("words only"), why_not or tr("No model is available."), "settings"
        )
    yield from _dealings(status)
    if scripts := status.custom.get("unknownScripts"):
        tip = tr(
            "The model does not know {scripts}. Notes in these scripts are found by their words.",
            scripts=", ".join(tr(str(script)) for script in scripts),
        )
        few = tr_count("{count} by words only", "{count} by words only", len(scripts))
        yield Diagnostic(tr("Scripts"), None, few, tip=tip)
    yield Diagnostic(tr("Dimensions"), None, number(status.vector.dims) if status.vector.dims else "–")
    instead = provider_instead(status)
    if instead is None:
        yield Diagnostic(tr("Fallback"), "off", tr("none in use"))
    else:
        yield Diagnostic(
            tr("Fallback"),
            "degraded",
            tr("instead of {chosen}", chosen=instead.chosen),
            instead.reason,
            "probe-embedding",
        )


def _dealings(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    """Where texts go, what agreed to it and whose key is used."""
    if "remote" not in status.custom:
        return
    notes = list(map(str, status.custom.get("passedOver") or ()))
    fallback: dict[str, str] = status.custom.get("remoteFallback") or {}
    second = fallback.get("server", "")
    if second:
        notes.insert(0, tr("If {provider} fails, they are sent to {server}.", provider=status.provider, server=second))
    if not status.custom["remote"]:
        words = tr("to {server} as fallback", server=second) if second else tr("stay on this machine")
        yield Diagnostic(tr("Texts"), None, words, tip="\n".join(notes))
    else:
        server = status.custom.get("server") or status.provider
        agreed = {
            "named as provider": tr("The settings name it as provider."),
            "named as fallback": tr("The settings name it as fallback."),
            "agreed to": tr("You agreed to it: remote.agreed in the settings."),
        }
        tip = agreed.get(str(status.custom.get("consent")), "")
        sent = tr("are sent to {server}", server=server)
        yield Diagnostic(tr("Texts"), None, sent, tip="\n".join(filter(None, (tip, *notes))))
    if place := str(status.custom.get("keyPlace") or ""):
        yield _key(place)


def _key(place: str) -> Diagnostic:
    """`place` as the record has it: "the keychain", or the variable's name as its last word."""
    if "keychain" in place:
        return Diagnostic(tr("Key"), None, tr("in the keychain"), tip=tr("From the keychain."))
    name = place.rpartition(" ")[2]
    return Diagnostic(tr("Key"), None, tr("in a variable"), tip=tr("From the environment variable {name}.", name=name))


def read_vectors(status: MemoryProviderStatus) -> Iterator[Diagnostic]:
    vector = status.vector
    if not vector.enabled:
        yield Diagnostic(tr("State"), "off", tr("off"))
        return
    if status.pending_vectors and status.provider != "none":
        share = tr("{done:,} of {all:,}", done=vector.rows, all=vector.rows + status.pending_vectors)
        if status.awaiting is None:
            stuck = status.syncing is None and bool(status.custom.get("providerError"))
            yield Diagnostic(tr("State"), "degraded" if stuck else "working", share)
        else:
            why = (tr("Waiting for your agreement."), estimate_words(status.awaiting))
            yield Diagnostic(tr("State"), "degraded", share, " ".join(why), "embed")
    else:
        yield Diagnostic(tr("State"), "fine" if vector.rows else "off", tr("{count:,} ready", count=vector.rows))
    yield Diagnostic(tr("Engine"), None, vector.engine, tip=vector.reason)
    if vector.available is None:
        yield Diagnostic(
            "sqlite-vec", "off", tr("not loaded"), tr("It is loaded when it is first needed."), "probe-vector"
        )
    elif vector.available:
        yield Diagnostic("sqlite-vec", "fine", tr("loaded"), tip=vector.extension_path or "")
    else:
        broken = vector.load_error or tr("It could not be loaded.")
        path = vector.extension_path or ""
        if vector.needs_extension:
            reason = " ".join((broken, tr("{engine} answers instead.", engine=vector.engine)))
            yield Diagnostic("sqlite-vec", "degraded", tr("not loaded"), reason, "probe-vector", path)
        elif vector.requested:
            reason = " ".join((broken, tr("It is not needed with these settings.")))
            yield Diagnostic("sqlite-vec", "off", tr("not loaded"), reason, "probe-vector", path)
        else:
            yield Diagnostic("sqlite-vec", "degraded", tr("not in use"), broken, "probe-vector", path)


def read_cache(status: MemoryProviderStatus) -> Diagnostic:
    cache = status.cache
    if not cache.enabled:
        return Diagnostic(tr("Entries"), "off", tr("off"))
    most = cache.max_entries
    entries = tr("{done:,} of {all:,}", done=cache.entries, all=most) if most else number(cache.entries)
    kept = (f"{model.provider}, {model.model}: {vectors(model.vectors)}" for model in cache.models)
    return Diagnostic(tr("Entries"), "fine", f"{entries} · {size_text(cache.bytes)}", tip="\n".join(kept))


def read_batch(status: MemoryProviderStatus, now: float) -> Iterator[Diagnostic]:
    batch = status.batch
    failures = tr("{count} of {limit} failures", count=batch.failures, limit=batch.limit)
    where = f"{batch.last_provider}: " if batch.last_provider else ""
    said = where + batch.last_error if batch.last_error else ""
    tip = tr(
        "{count} at a time, asked every {interval}.",
        count=batch.concurrency,
        interval=duration(batch.poll_interval_ms / 1000),
    )
    if said and (batch.failures or not batch.enabled):
        yield Diagnostic(tr("State"), "degraded", failures, said, "sync")
    elif not batch.enabled:
        yield Diagnostic(tr("State"), "off", tr("off"))
    else:
        yield Diagnostic(tr("State"), "fine", tr("on, {failures}", failures=failures), tip=f"{said}\n{tip}".strip())
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
