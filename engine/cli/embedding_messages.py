"""Messages of the verbs about embedding: estimate, consent, where texts are sent and whose key is used."""

import sys
import time
from collections.abc import Iterator
from typing import Any

from engine.base.formatting import dollars, plural
from engine.cli.output import safe
from engine.records import BatchStatus, EmbeddingEstimate, MemoryProviderStatus

_AGREED = {
    "named as provider": "because it is set as provider in the settings",
    "named as fallback": "because it is set as fallback in the settings",
    "agreed to": "because remote.approved in the settings allows it",
}


def estimate_text(estimate: EmbeddingEstimate, server: str | None = None) -> str:
    """Describe the remaining embedding in one or two sentences. `server`: the host, if not the provider's own."""
    model = safe(f"{estimate.provider}, {estimate.model}")
    if not (estimate.chunks or estimate.cached):
        return f"Nothing is indexed yet that {model} could embed."
    if not estimate.chunks:
        return f"All {plural(estimate.cached, 'passage')} of the index have a vector of {model}."
    takes = f"{plural(estimate.chunks, 'passage')} to embed with {model}; {estimate.cached:,} have a vector already."
    time = f"by batch jobs within {duration(estimate.seconds)}" if estimate.batch else duration(estimate.seconds)
    parts = [f"About {estimate.tokens:,} tokens", _price(estimate), time]
    host = f" at {safe(server)}" if server else ""
    sent = f" The text is sent to {safe(estimate.provider)}{host}." if estimate.remote else ""
    return f"{takes} {', '.join(parts)}.{sent}"


def _price(estimate: EmbeddingEstimate) -> str:
    if estimate.price is None or estimate.cost is None:
        return "at an unknown price"
    if not estimate.price:
        return "free"
    day = f", list price of {estimate.price_checked}" if estimate.price_checked else ""
    most = "" if estimate.most_cost is None else f", at most {dollars(estimate.most_cost)} if the jobs fail"
    return f"{dollars(estimate.cost)}{most} (${estimate.price:g} per million tokens{day})"


def awaiting_text(estimate: EmbeddingEstimate) -> str:
    """Describe the embedding that awaits approval, for runs in which no user can be asked."""
    takes = "an unknown amount" if estimate.cost is None else dollars(estimate.cost)
    if estimate.most_cost is not None:
        takes += f" by batch jobs, at most {dollars(estimate.most_cost)} if they fail,"
    costs = f"costs {takes}" if estimate.cost != 0 else f"takes {duration(estimate.seconds)}"
    return (
        f"Embedding {plural(estimate.chunks, 'passage')} with {safe(estimate.provider)} {costs} and was not begun; "
        "only words are searched: to agree, run mnemoscope index --yes."
    )


def is_interactive() -> bool:
    """Whether a user is at the terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def confirm(estimate: EmbeddingEstimate, server: str | None) -> bool:
    """Show the estimate and ask for approval; any answer other than yes means no."""
    print(f"{estimate_text(estimate, server)}\nBegin? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def duration(seconds: float) -> str:
    """Return a rounded duration in a suitable unit."""
    for limit, unit, size in ((90, "second", 1), (5400, "minute", 60), (172_800, "hour", 3600)):
        if seconds < limit:
            return f"about {plural(max(1, round(seconds / size)), unit)}"
    return f"about {round(seconds / 86_400):,} days"


def provider_problem(status: MemoryProviderStatus) -> str:
    """Return why the provider of the settings isn't used; empty if it is."""
    if reason := status.custom.get("providerUnavailableReason"):
        return f"No search by meaning: {reason}"
    if status.fallback is not None:
        return f"{status.provider} is used instead of {status.fallback.from_}: {status.fallback.reason}"
    return ""


def privacy_lines(status: MemoryProviderStatus) -> Iterator[tuple[str, str]]:
    """Yield labels and texts about where texts of this index are sent, from the status record."""
    custom: dict[str, Any] = status.custom
    if "remote" in custom:
        yield "Texts are sent", _receiver(status, custom)
    if origin := custom.get("keyOrigin"):
        yield "API key", f"from {origin}"
    if custom.get("price"):
        yield "Price", f"${custom['price']:g} per million tokens"
    elif custom.get("remote") and custom["price"] is None:
        yield "Price", "unknown; set it in the settings under prices"
    if skipped_providers := custom.get("skippedProviders"):
        yield "Skipped", " ".join(skipped_providers)
    if status.awaiting_approval is not None:
        yield "Waiting", awaiting_text(status.awaiting_approval)


def _receiver(status: MemoryProviderStatus, custom: dict[str, Any]) -> str:
    server = f" at {custom['server']}" if custom.get("server") else ""
    second = custom.get("remoteFallback")
    named = _AGREED["named as fallback"]
    later = f"to {second['provider']} at {second['server']} if {status.provider} fails, {named}" if second else ""
    if custom["remote"]:
        now = f"to {status.provider}{server}, {_AGREED.get(str(custom.get('consent')), 'without consent')}"
        return f"{now}; {later}" if later else now
    if status.provider == "none":
        return "nowhere"
    here = f"{status.provider} works on this machine{server}"
    return f"{later}; until then nowhere: {here}" if later else f"nowhere: {here}"


# --- Batch job messages of the command line --------------------------------------------------------------------------


def batch_lines(batch: BatchStatus) -> Iterator[tuple[str, str]]:
    """Yield labels and texts about batch jobs for the status; none if jobs are neither enabled nor open."""
    if batch.enabled or batch.failures or batch.last_error:
        state = "enabled" if batch.enabled else "off"
        yield "Batch", f"{state} (failures {batch.failures}/{batch.limit})"
    if batch.last_error:
        yield "Batch error", batch.last_error
    for job in batch.jobs:
        again = ", second try" if job.attempt > 1 else ""
        since = duration(max(0.0, time.time() - job.created))
        yield "Batch job", f"{job.provider}, {job.model}: {plural(job.texts, 'text')}, {job.state} for {since}{again}"


def left_running(jobs: int) -> str:
    """Return a sentence about jobs that continue at the provider; empty if there are none."""
    if not jobs:
        return ""
    verb = "continues" if jobs == 1 else "continue"
    return f"{plural(jobs, 'batch job')} {verb} at the provider: a later update stores the results."
