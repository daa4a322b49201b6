"""Embeddings and chat models of OpenAI and all OpenAI-compatible servers, through OpenAI's SDK.

Written from https://developers.openai.com/api/reference/resources/embeddings (read 2026-11-22): at most 2,048 texts and
300,000 tokens per request.

Batch jobs follow https://developers.openai.com/api/reference/resources/batches (read 2026-11-22): at most 50,000 texts
and 200 MB per job, completed within 24 hours. Accounts of the first tier have 3,000,000 tokens in the queue
(https://developers.openai.com/api/docs/models/text-embedding-3-small); a job beyond that fails as a whole.
"""

import functools
import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding.api_keys import key_missing
from engine.embedding.batch_jobs.batch_api import JobLimits
from engine.embedding.batch_jobs.files_and_batches import Dialect, FilesAndBatches
from engine.embedding.http import HttpClient
from engine.embedding.model_catalog import batch_price_of, traits_named
from engine.embedding.provider_interface import EmbeddingProvider, Limits
from engine.embedding.remote_provider import Model, RemoteProvider
from engine.embedding.response_parsing import Answer, indexed, json_object, read_json, tokens_of
from engine.embedding.service_errors import Service, Transient, retrying
from engine.providers.openai import PRESETS, Preset, preset_of
from engine.providers.registry import host_of, owner_of
from engine.settings import Settings

if TYPE_CHECKING:
    import openai

BASE_URL = PRESETS[0].base_url
MODEL = PRESETS[0].model
_LIMITS = Limits(inputs=2048, tokens=8000, input_tokens=2048, at_once=4)
JOB_LIMITS = JobLimits(requests=50_000, bytes=200_000_000, queued_tokens=3_000_000, seconds=24 * 3600)


def make(settings: Settings, key: str | None) -> EmbeddingProvider:
    """Create the provider for these settings; sends nothing. Raises `ProviderError`, also if a required key is None."""
    http = open_http(settings, key)
    own = owner_of(http.base_url) == "openai"
    preset = _preset(http.base_url)
    name = settings.model or (preset.model if preset is not None else MODEL)
    if not name:
        raise ProviderError(tr("{name} needs the name of a model: set model in the settings.", name=http.service.name))
    if own:
        name = name.removeprefix("openai/")  # for other servers it is part of the name
    # Servers of models with open weights do not add prefixes to texts.
    prompts = _prompts(name)
    model = Model.of(settings, "openai", name, base_url=http.base_url, limits=_LIMITS, inputs=prompts)
    api = _Api(http, name, settings.dimensions, prompts, base64=own)
    price = batch_price_of(settings, "openai", name)
    jobs = _jobs(http, name, prompts[0], api.options, price)
    # None of the other known servers supports batch jobs.
    return RemoteProvider(model, http, api, jobs if own or preset is None else None)


def _jobs(
    http: HttpClient, model: str, prompt: str, options: Mapping[str, Any], price: float | None
) -> FilesAndBatches:
    """`prompt` is put before each text; `options` are the request's fields other than its texts and model."""

    def line(text: str) -> dict[str, Any]:
        body = {"model": model, "input": [prompt + text], **options}
        return {"method": "POST", "url": "/v1/embeddings", "body": body}

    return FilesAndBatches(http, Dialect("24h", JOB_LIMITS, line), price)


def open_http(settings: Settings, key: str | None) -> HttpClient:
    """Open the HTTP client for the service. Raises the same errors as `make`."""
    base_url = settings.remote.base_url or BASE_URL
    preset = _preset(base_url)
    if key is None and preset is not None and preset.needs_key:
        raise ProviderError(key_missing("openai", settings))
    name = preset.name if preset is not None else tr("The server {host}", host=host_of(base_url))
    usual = preset.key_variable if preset is not None else ""
    service = Service(name, settings.remote.api_key_env or usual or PRESETS[0].key_variable)
    return HttpClient(service, base_url, settings, {"Authorization": f"Bearer {key}"} if key else {})


def open_sdk(http: HttpClient) -> "openai.OpenAI":
    """Return the SDK on this HTTP client; use it only within `HttpClient.call`."""
    import openai  # takes most of a second

    # Its loggers would write texts if the environment asks for it (OPENAI_LOG).
    logging.getLogger("openai").setLevel(logging.WARNING)
    # The HTTP client sets the real key and drops all others.
    return openai.OpenAI(api_key="-", base_url=http.base_url, max_retries=0, http_client=http.sdk)


def _preset(base_url: str) -> Preset | None:
    """Return the preset of the server at this URL; OpenAI has several URLs."""
    return PRESETS[0] if owner_of(base_url) == "openai" else preset_of(base_url)


def _prompts(model: str) -> tuple[str, str]:
    """Return the prefixes of documents and queries."""
    traits = traits_named(model)
    return traits.document, traits.query


class _Api:
    def __init__(
        self, http: HttpClient, model: str, dimensions: int | None, prompts: tuple[str, str], *, base64: bool
    ) -> None:
        self._http = http
        self._model = model
        self._prompts = prompts
        # Other servers only support lists, or accept base64 but return lists; all of them understand "float".
        self.options: dict[str, Any] = {"encoding_format": "base64" if base64 else "float"}
        """Fields of a request other than texts and model."""
        if dimensions is not None:
            self.options["dimensions"] = dimensions

    @functools.cached_property
    def _sdk(self) -> "openai.OpenAI":
        return open_sdk(self._http)

    def embed(self, texts: Sequence[str], *, query: bool, seconds: float, cancel: CancelToken | None) -> Answer:
        prompt = self._prompts[query]
        inputs = [prompt + text for text in texts]
        # The first query must not wait for the import of the SDK, half of a second that a search on the command line
        # would take longer; to this request it adds nothing, since errors and retries are ours.
        body = self._post(inputs, seconds, cancel, texts) if query else self._create(inputs, seconds, cancel, texts)
        fields = json_object(read_json(body))
        return Answer(indexed(fields.get("data"), len(texts)), tokens_of(fields))

    def _create(
        self, inputs: Sequence[str], seconds: float, cancel: CancelToken | None, private: Sequence[str]
    ) -> bytes:
        create = self._sdk.embeddings.with_raw_response.create
        with self._http.call(seconds, cancel=cancel, private=private):
            return create(input=list(inputs), model=self._model, **self.options).content

    def _post(self, inputs: Sequence[str], seconds: float, cancel: CancelToken | None, private: Sequence[str]) -> bytes:
        """Send the same request as `_create`."""
        return self._http.request(
            "POST",
            "/embeddings",
            seconds=seconds,
            cancel=cancel,
            private=private,
            headers={"Accept": "application/json"},
            json={"input": inputs, "model": self._model, **self.options},
        )


# --- Single responses of a chat model, after https://developers.openai.com/api/reference/resources/chat (read
# 2026-11-22). Only parameters that all such servers accept are sent: newer models of OpenAI reject `max_tokens` and any
# temperature but the default.

_MAX_ANSWER_BYTES = 1024 * 1024


class ChatModel:
    """A chat model. Created by `registry.open_chat` only; naming a model in the settings is the user's consent."""

    def __init__(self, settings: Settings, key: str | None) -> None:
        """Sends nothing. Raises `ProviderError`, also if the server needs a key and there is none."""
        self._http = open_http(settings, key)
        self._model = settings.model

    @property
    def name(self) -> str:
        """Name of the service for messages."""
        return self._http.service.name

    def respond(self, instruction: str, text: str, *, seconds: float, cancel: CancelToken | None = None) -> str:
        """Return the model's response to a text within `seconds` in total. Raises `ProviderError`, `Cancelled`."""
        create = open_sdk(self._http).chat.completions.with_raw_response.create
        end = time.monotonic() + seconds  # the time to load the SDK doesn't count

        def once() -> str:
            seconds_left = max(0.1, end - time.monotonic())
            with self._http.call(seconds_left, cancel=cancel, private=[text], most_bytes=_MAX_ANSWER_BYTES):
                raw = create(
                    model=self._model,
                    messages=[{"role": "system", "content": instruction}, {"role": "user", "content": text}],
                )
            return _message_text(raw.content)

        return retrying(once, cancel=cancel, seconds=seconds)

    def close(self) -> None:
        self._http.close()


def _message_text(body: bytes) -> str:
    answer = read_json(body)
    try:
        text = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        text = None
    if not isinstance(text, str):
        raise Transient(tr("The service's answer has no text."))
    return text
