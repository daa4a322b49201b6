"""Embeddings of Google's Gemini API.

Written from https://ai.google.dev/api/embeddings (read 2026-11-22): at most 100 texts per batch, each with `model`.
gemini-embedding-001 has a field for the task type; later models read it in the text itself. Shortened vectors do not
have length 1.
"""

import functools
from collections.abc import Sequence
from typing import Any

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.embedding.api_keys import key_missing
from engine.embedding.batch_jobs.gemini import GeminiBatches
from engine.embedding.http import HttpClient
from engine.embedding.model_catalog import batch_price_of
from engine.embedding.provider_interface import EmbeddingProvider, Limits
from engine.embedding.remote_provider import Model, RemoteProvider, without_vendor
from engine.embedding.response_parsing import Answer, ordered, read_json
from engine.embedding.service_errors import Service
from engine.settings import Settings

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
        answer = read_json(raw)
        fields = answer if isinstance(answer, dict) else {}
        found = [fields.get("embedding")] if query else fields.get("embeddings")
        values = [item.get("values") for item in found if isinstance(item, dict)] if isinstance(found, list) else None
        usage = fields.get("usageMetadata")
        tokens = usage.get("promptTokenCount") if isinstance(usage, dict) else None
        return Answer(ordered(values, len(texts)), tokens if isinstance(tokens, int) else None)
