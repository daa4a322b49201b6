"""Embeddings of Google's Gemini API, in direct requests and in batch jobs.

Written from https://ai.google.dev/api/embeddings (read 2026-11-22): at most 100 texts per batch, each with `model`.
gemini-embedding-001 has a field for the task type; later models read it in the text itself. Shortened vectors do not
have length 1.

Batch jobs are written from https://ai.google.dev/gemini-api/docs/batch-api and https://ai.google.dev/api/batch-api
(read 2026-11-22): input files of at most 2 GB; jobs are targeted to finish within a day, and expire after two days, as
do their files. Projects of the first tier have 500,000 tokens in the queue
(https://ai.google.dev/gemini-api/docs/rate-limits).
"""

import contextlib
import functools
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import IO, Any

import httpx2

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding.api_keys import key_missing
from engine.embedding.batch_jobs.batch_api import JobLimits, JobState, RemoteJob, Result
from engine.embedding.batch_jobs.job_files import (
    download,
    dump,
    error_text,
    explained,
    known_job,
    read_gemini,
    send_request,
    size_of,
    upload_seconds,
)
from engine.embedding.http import HttpClient
from engine.embedding.model_catalog import batch_price_of
from engine.embedding.provider_interface import EmbeddingProvider, Limits
from engine.embedding.remote_provider import Model, RemoteProvider, without_vendor
from engine.embedding.response_parsing import Answer, json_object, ordered, read_json
from engine.embedding.service_errors import Service, Transient, retrying
from engine.settings import Settings

# A vector takes up to 60 KB as text, so more texts would mean a download of gigabytes.
_JOB_LIMITS = JobLimits(requests=20_000, bytes=2_000_000_000, queued_tokens=500_000, seconds=48 * 3600)
_JOBS_PER_PAGE = 100
_MAX_PAGES = 20
_STEP = 64 * 1024
_STATES: Mapping[str, JobState] = {
    "SUCCEEDED": "completed",
    "COMPLETED": "completed",
    "DONE": "completed",
    "FAILED": "failed",
    "CANCELLED": "cancelled",
    "CANCELED": "cancelled",
    "EXPIRED": "expired",
}


class GeminiBatches:
    """Client of Gemini's batch API; implements `BatchApi`."""

    def __init__(
        self, http: HttpClient, model: str, request: Callable[[str], dict[str, Any]], price: float | None
    ) -> None:
        """`model`: as in URLs, `models/…`. `request`: returns the request body for one text."""
        self._http = http
        self._model = model
        self._request = request
        self.service = http.service.name
        self.limits = _JOB_LIMITS
        self.price = price

    def line(self, key: str, text: str) -> bytes:
        return dump({"key": key, "request": self._request(text)})

    def upload(self, name: str, lines: IO[bytes], *, cancel: CancelToken | None = None) -> str:
        boundary = uuid.uuid4().hex
        file = dump({"file": {"displayName": name, "mimeType": "application/jsonl"}})
        head = (
            f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".encode()
            + file
            + f"\r\n--{boundary}\r\nContent-Type: application/jsonl; charset=UTF-8\r\n\r\n".encode()
        )
        tail = f"\r\n--{boundary}--\r\n".encode()
        size = size_of(lines)
        headers = {
            "Content-Type": f"multipart/related; boundary={boundary}",
            "Content-Length": str(len(head) + size + len(tail)),
        }

        def body() -> Iterator[bytes]:
            yield head
            lines.seek(0)
            while part := lines.read(_STEP):
                yield part
            yield tail

        def attempt() -> Any:
            url = f"{self._service_url('upload')}/files?uploadType=multipart"
            return self._send("POST", url, cancel=cancel, seconds=upload_seconds(size), content=body(), headers=headers)

        with self._explained():
            answer = retrying(attempt, cancel=cancel)
        return _name_of(json_object(answer.get("file")) or answer)

    def create(self, name: str, input_file: str, *, cancel: CancelToken | None = None) -> RemoteJob:
        body = {"batch": {"displayName": name, "inputConfig": {"fileName": input_file}}}
        with self._explained():
            url = f"{self._http.base_url}/{self._model}:asyncBatchEmbedContent"
            return read_job(self._send("POST", url, cancel=cancel, json=body))

    def find(self, name: str, input_file: str, *, cancel: CancelToken | None = None) -> RemoteJob | None:
        following = ""
        for _ in range(_MAX_PAGES):
            url = f"{self._http.base_url}/batches?pageSize={_JOBS_PER_PAGE}{following}"
            page = retrying(functools.partial(self._send, "GET", url, cancel=cancel), cancel=cancel)
            for job in page.get("operations") or page.get("batches") or ():
                if _batch_description(job).get("displayName") == name:
                    return read_job(job)
            if not page.get("nextPageToken"):
                break
            following = f"&{httpx2.QueryParams({'pageToken': str(page['nextPageToken'])})}"
        return None

    def poll(self, id: str, *, cancel: CancelToken | None = None) -> RemoteJob:
        url = f"{self._http.base_url}/{id}"
        with known_job(self.service, {404}):
            return read_job(retrying(lambda: self._send("GET", url, cancel=cancel), cancel=cancel))

    def results(
        self, job: RemoteJob, on_result: Callable[[Result], None], *, cancel: CancelToken | None = None
    ) -> None:
        for file in job.files:
            url = f"{self._service_url('download')}/{file}:download?alt=media"
            download(self._http, url, lambda line: on_result(read_gemini(line)), cancel=cancel)

    def stop(self, id: str, *, cancel: CancelToken | None = None) -> None:
        url = f"{self._http.base_url}/{id}:cancel"
        retrying(lambda: self._send("POST", url, cancel=cancel), cancel=cancel)

    def discard(self, files: Sequence[str], *, cancel: CancelToken | None = None) -> None:
        for file in files:
            with contextlib.suppress(ProviderError):
                self._send("DELETE", f"{self._http.base_url}/{file}", cancel=cancel)

    def _service_url(self, service: str) -> str:
        """Return the base URL for uploads or downloads, with the service's name before the API version."""
        base, _, version = self._http.base_url.rpartition("/")
        return f"{base}/{service}/{version}"

    def _send(self, method: str, url: str, *, cancel: CancelToken | None, **content: Any) -> dict[str, Any]:
        return send_request(self._http, method, url, cancel=cancel, **content)

    def _explained(self) -> AbstractContextManager[None]:
        sentence = tr(
            "{service} offers no batch jobs for {model}: texts are embedded directly.",
            service=self.service,
            model=self._model,
        )
        return explained(sentence, {404})


def read_job(fields: Mapping[str, Any]) -> RemoteJob:
    """Parse a batch job from a response of Gemini, which contains it as an operation or directly."""
    about = _batch_description(fields)
    word = str(about.get("state") or "").upper().removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
    error = json_object(fields.get("error"))
    state = _STATES.get(word, "running")
    if fields.get("done") and state == "running":
        state = "failed" if error else "completed"
    answers = (json_object(fields.get("response")), json_object(about.get("output")), json_object(fields.get("output")))
    file = next((answer["responsesFile"] for answer in answers if answer.get("responsesFile")), None)
    counts = json_object(about.get("batchStats"))
    answered = _number(counts.get("successfulRequestCount")) + _number(counts.get("failedRequestCount"))
    return RemoteJob(
        id=_name_of(fields),
        state=state,
        word=word.lower(),
        files=(str(file),) if file else (),
        answered=answered if state == "completed" else None,
        problem=error_text(error),
    )


def _batch_description(value: Any) -> Mapping[str, Any]:
    """Return the batch description in an operation; its top-level fields are newer."""
    top = json_object(value)
    return {
        **json_object(top.get("metadata")),
        **{key: top[key] for key in ("state", "batchStats", "output") if key in top},
    }


def _number(value: Any) -> int:
    """Return a count, which is sent as a string."""
    try:
        return int(value or 0)
    except (TypeError, ValueError):
        return 0


def _name_of(fields: Mapping[str, Any]) -> str:
    name = fields.get("name")
    if not isinstance(name, str) or "/" not in name:
        raise Transient(tr("The service's answer has no name."))
    return name


BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
MODEL = "gemini-embedding-001"
_VENDORS = ("models/", "gemini/", "google/")
_LIMITS = Limits(inputs=100, tokens=8000, input_tokens=2048, at_once=4)
_TASKS = ("RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY")
_PROMPTS = ("title: none | text: ", "task: search result | query: ")
"""Prefixes of documents and queries, for models without task types."""


def make(settings: Settings, key: str | None) -> EmbeddingProvider:
    """Create the provider for these settings; sends nothing. Raises `ProviderError`, also if the key is None."""
    http = open_http(settings, key)
    name = without_vendor(settings.model or MODEL, _VENDORS)
    requests = Requests(name, settings.dimensions)
    model = Model.of(settings, "gemini", name, base_url=http.base_url, limits=_LIMITS, inputs=requests.tasks)
    ask = functools.partial(requests.body, query=False)
    batches = GeminiBatches(http, requests.model, ask, batch_price_of(settings, "gemini", name))
    return RemoteProvider(model, http, _Api(http, requests), batches)


def open_http(settings: Settings, key: str | None) -> HttpClient:
    """Open the HTTP client for the service. Raises the same errors as `make`."""
    if key is None:
        raise ProviderError(key_missing("gemini", settings))
    # The base URL of Google's OpenAI-compatible API has the same host.
    base_url = (settings.remote.base_url or BASE_URL).rstrip("/").removesuffix("/openai")
    service = Service("Gemini", settings.remote.api_key_env or "GEMINI_API_KEY")
    return HttpClient(service, base_url, settings, {"x-goog-api-key": key})


class Requests:
    """Builds the request body for each text, for direct requests and batch jobs."""

    def __init__(self, model: str, dimensions: int | None) -> None:
        self.model = f"models/{model}"
        self._by_prompt = model.startswith("gemini-embedding-") and model != "gemini-embedding-001"
        self._dimensions = dimensions

    @property
    def tasks(self) -> tuple[str, str]:
        """Task types or prefixes of documents and queries; vectors depend on them."""
        return _PROMPTS if self._by_prompt else _TASKS

    def body(self, text: str, *, query: bool) -> dict[str, Any]:
        """Return the JSON body of a request to embed a text, as a query or as a document."""
        task = self.tasks[query]
        body: dict[str, Any] = {"model": self.model}
        body["content"] = {"parts": [{"text": task + text if self._by_prompt else text}]}
        if not self._by_prompt:
            body["taskType"] = task
        if self._dimensions is not None:
            body["outputDimensionality"] = self._dimensions
        return body


class _Api:
    def __init__(self, http: HttpClient, requests: Requests) -> None:
        self._http = http
        self._requests = requests

    def embed(self, texts: Sequence[str], *, query: bool, seconds: float, cancel: CancelToken | None) -> Answer:
        bodies = [self._requests.body(text, query=query) for text in texts]
        method, body = ("embedContent", bodies[0]) if query else ("batchEmbedContents", {"requests": bodies})
        url = f"/{self._requests.model}:{method}"
        raw = self._http.request("POST", url, json=body, seconds=seconds, cancel=cancel, private=texts)
        fields = json_object(read_json(raw))
        embeddings = [fields.get("embedding")] if query else fields.get("embeddings")
        values = (
            [item.get("values") for item in embeddings if isinstance(item, dict)]
            if isinstance(embeddings, list)
            else None
        )
        tokens = json_object(fields.get("usageMetadata")).get("promptTokenCount")
        return Answer(ordered(values, len(texts)), tokens if isinstance(tokens, int) else None)
