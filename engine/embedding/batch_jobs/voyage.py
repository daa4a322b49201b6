"""Batch jobs of Voyage.

Written from https://docs.voyageai.com/docs/batch-inference (read 2026-11-22): at most 100,000 texts per job (half of
that is used, as for the others), completed within 12 hours, and 1,000,000,000 tokens in the queue. The model and its
options belong to the job, not to the lines.
"""

from collections.abc import Mapping
from typing import Any

from engine.embedding.batch_jobs.base import BatchApi, JobLimits
from engine.embedding.batch_jobs.files_and_batches import Dialect, FilesAndBatches
from engine.embedding.http import HttpClient

_LIMITS = JobLimits(requests=50_000, bytes=1_000_000_000, queued_tokens=1_000_000_000, seconds=12 * 3600)


def make(http: HttpClient, params: Mapping[str, Any], price: float | None) -> BatchApi:
    """`params`: the request's fields other than its texts: model, input type, dimensions."""

    def line(text: str) -> dict[str, Any]:
        return {"body": {"input": [text]}}

    return FilesAndBatches(http, Dialect("12h", _LIMITS, line, {"request_params": dict(params)}), price)
