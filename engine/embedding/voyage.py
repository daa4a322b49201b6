"""Embeddings of Voyage AI.

Written from https://docs.voyageai.com/reference/embeddings-api (read 2026-11-22): at most 1,000 texts per request, and
120,000 tokens for the most limited models. Keys of MongoDB Atlas begin with "al-" and belong to another URL.

Batch jobs follow https://docs.voyageai.com/docs/batch-inference (read 2026-11-22): at most 100,000 texts per job (half
of that is used, as for the others), completed within 12 hours, and 1,000,000,000 tokens in the queue. The model and its
options belong to the job, not to the lines.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.embedding.api_keys import key_missing
from engine.embedding.batch_jobs.batch_api import JobLimits
from engine.embedding.batch_jobs.files_and_batches import Dialect, FilesAndBatches
from engine.embedding.http import HttpClient
from engine.embedding.model_catalog import batch_price_of
from engine.embedding.provider_interface import EmbeddingProvider, Limits
from engine.embedding.remote_provider import Model, RemoteProvider, without_vendor
from engine.embedding.response_parsing import Answer, indexed, json_object, read_json, tokens_of
from engine.embedding.service_errors import Service
from engine.providers.registry import owner_of
from engine.settings import Settings

BASE_URL = "https://api.voyageai.com/v1"
ATLAS_BASE_URL = "https://ai.mongodb.com/v1"
MODEL = "voyage-4-large"
_VENDORS = ("voyage/", "voyageai/")
_LIMITS = Limits(inputs=1000, tokens=8000, input_tokens=16_000, at_once=4)
_INPUT_TYPES = ("document", "query")
_JOB_LIMITS = JobLimits(requests=50_000, bytes=1_000_000_000, queued_tokens=1_000_000_000, seconds=12 * 3600)


def make(settings: Settings, key: str | None) -> EmbeddingProvider:
    """Create the provider for these settings; sends nothing. Raises `ProviderError`, also if the key is None."""
    http = open_http(settings, key)
    name = without_vendor(settings.model or MODEL, _VENDORS)
    model = Model.of(settings, "voyage", name, base_url=http.base_url, limits=_LIMITS, inputs=_INPUT_TYPES)
    api = _Api(http, name, settings.dimensions)
    params = {"input_type": _INPUT_TYPES[0], **api.options}
    return RemoteProvider(model, http, api, _jobs(http, params, batch_price_of(settings, "voyage", name)))


def _jobs(http: HttpClient, params: Mapping[str, Any], price: float | None) -> FilesAndBatches:
    """`params`: the request's fields other than its texts: model, input type, dimensions."""

    def line(text: str) -> dict[str, Any]:
        return {"body": {"input": [text]}}

    return FilesAndBatches(http, Dialect("12h", _JOB_LIMITS, line, {"request_params": dict(params)}), price)


def open_http(settings: Settings, key: str | None) -> HttpClient:
    """Open the HTTP client for the service. Raises the same errors as `make`."""
    if key is None:
        raise ProviderError(key_missing("voyage", settings))
    base_url = settings.remote.base_url or (ATLAS_BASE_URL if key.startswith("al-") else BASE_URL)
    service = Service("Voyage", settings.remote.api_key_env or "VOYAGE_API_KEY")
    return HttpClient(service, base_url, settings, {"Authorization": f"Bearer {key}"})


class _Api:
    def __init__(self, http: HttpClient, model: str, dimensions: int | None) -> None:
        self._http = http
        self.options: dict[str, Any] = {"model": model, "truncation": False}
        """Fields of a request other than texts and their type."""
        if owner_of(http.base_url) == "voyage":
            self.options["encoding_format"] = "base64"
        if dimensions is not None:
            self.options["output_dimension"] = dimensions

    def embed(self, texts: Sequence[str], *, query: bool, seconds: float, cancel: CancelToken | None) -> Answer:
        body = {"input": list(texts), "input_type": _INPUT_TYPES[query], **self.options}
        raw = self._http.request("POST", "/embeddings", json=body, seconds=seconds, cancel=cancel, private=texts)
        fields = json_object(read_json(raw))
        return Answer(indexed(fields.get("data"), len(texts)), tokens_of(fields))
