"""Batch API of OpenAI, also used by Voyage: upload a file, create a job for it, and read its result files."""

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import IO, Any

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding.batch_jobs.batch_api import JobLimits, JobState, RemoteJob, Result
from engine.embedding.batch_jobs.job_files import (
    download,
    dump,
    error_text,
    explained,
    known_job,
    read_openai,
    send_request,
    size_of,
    upload_seconds,
)
from engine.embedding.http import HttpClient
from engine.embedding.response_parsing import json_object
from engine.embedding.service_errors import Transient, retrying

_NAME_KEY = "mnemoscope"
"""Key in a job's metadata that holds our name of the job."""
_NO_SUCH_API = {404, 405}
_JOBS_PER_PAGE = 100
_MAX_PAGES = 20
_STATES: Mapping[str, JobState] = {
    "completed": "completed",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
    "canceled": "cancelled",
}
"""Final states; a job in any other state may still have results."""


@dataclass(frozen=True)
class Dialect:
    """The differences between the two APIs."""

    window: str
    """The completion window, in the API's format."""
    limits: JobLimits
    line: Callable[[str], dict[str, Any]]
    """Fields of a line for one text, in addition to its key."""
    job: Mapping[str, Any] = field(default_factory=dict)
    """Additional fields for creating a job."""


class FilesAndBatches:
    """Client of the batch API of OpenAI and Voyage; implements `BatchApi`."""

    def __init__(self, http: HttpClient, dialect: Dialect, price: float | None) -> None:
        self._http = http
        self._dialect = dialect
        self.service = http.service.name
        self.limits = dialect.limits
        self.price = price

    def line(self, key: str, text: str) -> bytes:
        return dump({"custom_id": key, **self._dialect.line(text)})

    def upload(self, name: str, lines: IO[bytes], *, cancel: CancelToken | None = None) -> str:
        seconds = upload_seconds(size_of(lines))

        def attempt() -> Any:
            lines.seek(0)
            return self._send(
                "POST",
                "/files",
                seconds=seconds,
                cancel=cancel,
                data={"purpose": "batch"},
                files={"file": (f"{_NAME_KEY}-{name}.jsonl", lines, "application/jsonl")},
            )

        with self._explained():
            return _id_of(retrying(attempt, cancel=cancel))

    def create(self, name: str, input_file: str, *, cancel: CancelToken | None = None) -> RemoteJob:
        body = {
            "input_file_id": input_file,
            "endpoint": "/v1/embeddings",
            "completion_window": self._dialect.window,
            "metadata": {_NAME_KEY: name},
            **self._dialect.job,
        }
        with self._explained():
            return read_job(self._send("POST", "/batches", cancel=cancel, json=body))

    def find(self, name: str, input_file: str, *, cancel: CancelToken | None = None) -> RemoteJob | None:
        after = ""
        for _ in range(_MAX_PAGES):
            url = f"/batches?limit={_JOBS_PER_PAGE}{after}"
            page = retrying(functools.partial(self._send, "GET", url, cancel=cancel), cancel=cancel)
            jobs = [job for job in page.get("data") or () if isinstance(job, dict)]
            for job in jobs:
                if job.get("input_file_id") == input_file or (job.get("metadata") or {}).get(_NAME_KEY) == name:
                    return read_job(job)
            if not jobs or not page.get("has_more"):
                break
            after = f"&after={_id_of(jobs[-1])}"
        return None

    def poll(self, id: str, *, cancel: CancelToken | None = None) -> RemoteJob:
        with known_job(self.service, _NO_SUCH_API):
            return read_job(retrying(lambda: self._send("GET", f"/batches/{id}", cancel=cancel), cancel=cancel))

    def results(
        self, job: RemoteJob, on_result: Callable[[Result], None], *, cancel: CancelToken | None = None
    ) -> None:
        for file in job.files:
            url = f"{self._http.base_url}/files/{file}/content"
            download(self._http, url, lambda line: on_result(read_openai(line)), cancel=cancel)

    def stop(self, id: str, *, cancel: CancelToken | None = None) -> None:
        retrying(lambda: self._send("POST", f"/batches/{id}/cancel", cancel=cancel), cancel=cancel)

    def discard(self, files: Sequence[str], *, cancel: CancelToken | None = None) -> None:
        for file in files:
            with contextlib.suppress(ProviderError):
                self._send("DELETE", f"/files/{file}", cancel=cancel)

    def _send(self, method: str, url: str, *, cancel: CancelToken | None, **content: Any) -> dict[str, Any]:
        return send_request(self._http, method, f"{self._http.base_url}{url}", cancel=cancel, **content)

    def _explained(self) -> AbstractContextManager[None]:
        sentence = tr("{service} offers no batch jobs: texts are embedded directly.", service=self.service)
        return explained(sentence, _NO_SUCH_API)


def read_job(fields: Mapping[str, Any]) -> RemoteJob:
    word = str(fields.get("status") or "")
    counts = fields.get("request_counts") or {}
    state = _STATES.get(word, "running")
    return RemoteJob(
        id=_id_of(fields),
        state=state,
        word=word,
        files=tuple(str(fields[name]) for name in ("output_file_id", "error_file_id") if fields.get(name)),
        # For unfinished jobs, it is undocumented whether the remaining texts are counted.
        answered=int(counts.get("completed") or 0) + int(counts.get("failed") or 0) if state == "completed" else None,
        problem=_problem(fields.get("errors")),
    )


def _problem(errors: Any) -> str:
    """The first error of the job as a whole."""
    data = json_object(errors).get("data")
    first = data[0] if isinstance(data, list) and data else {}
    return error_text(first)


def _id_of(fields: Mapping[str, Any]) -> str:
    id_ = fields.get("id")
    if not isinstance(id_, str) or not id_:
        raise Transient(tr("The service's answer has no id."))
    return id_
