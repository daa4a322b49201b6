"""Batch job messages of the command line."""

import time
from collections.abc import Iterator

from engine.base.formatting import plural
from engine.cli.embedding_messages import duration
from engine.records import BatchStatus


def batch_lines(batch: BatchStatus) -> Iterator[tuple[str, str]]:
    """Labels and texts of the status; nothing where jobs are neither used nor open."""
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
    """The sentence about jobs that continue at the provider; empty for none."""
    if not jobs:
        return ""
    verb = "continues" if jobs == 1 else "continue"
    return f"{plural(jobs, 'batch job')} {verb} at the provider: a later update stores the results."
