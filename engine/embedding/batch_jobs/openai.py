"""Batch jobs of OpenAI and of servers with the same API.

Written from https://developers.openai.com/api/reference/resources/batches (read 2026-11-22): at most 50,000 texts and
200 MB per job, completed within 24 hours. Accounts of the first tier have 3,000,000 tokens in the queue
(https://developers.openai.com/api/docs/models/text-embedding-3-small); a job beyond that fails as a whole.
"""

from collections.abc import Mapping
from typing import Any

from engine.embedding.batch_jobs.base import BatchApi, JobLimits
from engine.embedding.batch_jobs.files_and_batches import Dialect, FilesAndBatches
from engine.embedding.http import HttpClient

_LIMITS = JobLimits(requests=50_000, bytes=200_000_000, queued_tokens=3_000_000, seconds=24 * 3600)


def make(http: HttpClient, model: str, prompt: str, options: Mapping[str, Any], price: float | None) -> BatchApi:
    """`prompt` is put before each text; `options` are the request's fields other than its texts and model."""

    def line(text: str) -> dict[str, Any]:
        body = {"model": model, "input": [prompt + text], **options}
        return {"method": "POST", "url": "/v1/embeddings", "body": body}

    return FilesAndBatches(http, Dialect("24h", _LIMITS, line), price)
