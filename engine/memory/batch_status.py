"""Status of batch jobs."""

from engine.base.errors import MnemoscopeError
from engine.base.language import tr
from engine.embedding.base import EmbeddingProvider
from engine.embedding.batch_jobs.base import batches_of
from engine.embedding.batch_jobs.policy import LIMIT, BatchPolicy
from engine.records import BatchJobStatus, BatchStatus
from engine.settings.options import BatchSettings
from engine.store.batch_jobs import BatchJobs


def batch_status(
    settings: BatchSettings, provider: EmbeddingProvider | None, policy: BatchPolicy, jobs: BatchJobs
) -> BatchStatus:
    """Settings, failures and open jobs. Never raises."""
    works = settings.enabled and jobs.usable and not policy.disabled
    return BatchStatus(
        enabled=works and provider is not None and batches_of(provider) is not None,
        failures=policy.failures,
        limit=LIMIT,
        wait=settings.wait,
        concurrency=settings.concurrency,
        poll_interval_ms=settings.poll_interval_ms,
        timeout_ms=round(settings.timeout_minutes * 60_000),
        last_error=policy.last_error,
        last_provider=policy.last_provider,
        jobs=_open(jobs),
    )


def _open(jobs: BatchJobs) -> tuple[BatchJobStatus, ...]:
    try:
        found = jobs.open()
    except MnemoscopeError:
        return ()
    return tuple(
        BatchJobStatus(
            provider=job.model.provider,
            model=job.model.model,
            id=job.id,
            state=tr("ending") if job.stopped is not None else job.state or tr("being created"),
            texts=job.texts,
            created=job.created,
            attempt=job.attempt,
        )
        for job in found
    )
