"""OpenAI, and the servers with a compatible API that are known: their addresses, models and prices.

URLs and models of the other servers are from each program's own documentation, read 2026-11-22:
https://docs.ollama.com/api/openai-compatibility, https://lmstudio.ai/docs/app/api, https://openrouter.ai/docs,
https://github.com/ggml-org/llama.cpp/tree/master/tools/server.
"""

import msgspec

from engine.base.language import marked
from engine.providers import Calibration, ModelMetadata, Provider

_PRICES = "https://developers.openai.com/api/docs/pricing"
_CHECKED = "2026-11-22"

_OPENAI_3 = Calibration(low=0.15, high=0.60, weight=0.4)
_ADA = Calibration(low=0.72, high=0.87, weight=0.4)
_NOMIC = Calibration(low=0.45, high=0.75, weight=0.4)
_SMALL = Calibration(low=0.30, high=0.70, weight=0.4)
_MINILM = Calibration(low=0.16, high=0.48, weight=0.4, spread=0.07)
"""The only measured calibration, from a GGUF file (`self_calibration.py`)."""


def _openai(
    model: str, dims: int, price: float, batch: float, calibration: Calibration, *, shorter: bool
) -> ModelMetadata:
    # The API reference says 8192 tokens per text, lists of limits say 8191.
    dimensions = range(1, dims + 1) if shorter else (dims,)
    return ModelMetadata("openai", model, dims, dimensions, 8191, price, batch, calibration, _PRICES, _CHECKED)


def _open(
    model: str, dims: int, input_tokens: int, calibration: Calibration, *, shorter: tuple[int, ...] = ()
) -> ModelMetadata:
    """A model with open weights, under its name on local servers. `shorter`: other supported lengths."""
    source = f"https://ollama.com/library/{model}"
    sizes = (*shorter, dims)
    return ModelMetadata("openai", model, dims, sizes, input_tokens, None, None, calibration, source, _CHECKED)


OPENAI = Provider(
    name="openai",
    label=marked("OpenAI-compatible"),
    sentence=marked("OpenAI, or Ollama, LM Studio, OpenRouter, llama-server and others."),
    module="openai_compatible",
    owner="OpenAI",
    hosts=("api.openai.com", "eu.api.openai.com", "us.api.openai.com"),
    key_variables=("OPENAI_API_KEY",),
    models=(
        _openai("text-embedding-3-small", 1536, 0.02, 0.01, _OPENAI_3, shorter=True),
        _openai("text-embedding-3-large", 3072, 0.13, 0.065, _OPENAI_3, shorter=True),
        _openai("text-embedding-ada-002", 1536, 0.10, 0.05, _ADA, shorter=False),
        *(
            _open(name, 768, 2048, _NOMIC, shorter=(64, 128, 256, 512))
            for name in ("nomic-embed-text", "nomic-embed-text-v1.5", "text-embedding-nomic-embed-text-v1.5")
        ),
        _open("mxbai-embed-large", 1024, 512, _SMALL),
        _open("all-minilm", 384, 256, _MINILM),
        _open("bge-m3", 1024, 8192, _SMALL),
        _open("snowflake-arctic-embed2", 1024, 8192, _SMALL),
        _open("embeddinggemma", 768, 2048, _SMALL, shorter=(128, 256, 512)),
    ),
)


# --- Known servers ---------------------------------------------------------------------------------------------------


class Preset(msgspec.Struct, frozen=True):
    """A server offered in the settings dialog."""

    id: str
    name: str
    base_url: str
    model: str
    """Suggested model; empty if the server uses whichever model is loaded."""
    key_variable: str
    """Environment variable of its key; empty if it needs none."""
    hint: str
    """Instructions to set up the server, one sentence, marked for `tr`."""

    @property
    def needs_key(self) -> bool:
        return bool(self.key_variable)


PRESETS = (
    Preset(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        "text-embedding-3-small",
        "OPENAI_API_KEY",
        marked("Needs an API key from platform.openai.com."),
    ),
    Preset(
        "ollama",
        "Ollama",
        "http://127.0.0.1:11434/v1",
        "nomic-embed-text",
        "",
        marked("Download the model once with: ollama pull nomic-embed-text"),
    ),
    Preset(
        "lm-studio",
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        "text-embedding-nomic-embed-text-v1.5",
        "",
        marked("Start the server on LM Studio's page for developers."),
    ),
    Preset(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "openai/text-embedding-3-small",
        "OPENROUTER_API_KEY",
        marked("Needs an API key from openrouter.ai."),
    ),
    Preset(
        "llama-server",
        "llama-server (llama.cpp)",
        "http://127.0.0.1:8080/v1",
        "",
        "",
        marked("Start it with: llama-server --embedding -m MODEL.gguf"),
    ),
)


def preset_of(base_url: str) -> Preset | None:
    """The preset with this URL; localhost and 127.0.0.1 are equivalent."""
    address = _plain(base_url)
    return next((preset for preset in PRESETS if _plain(preset.base_url) == address), None)


def _plain(url: str) -> str:
    return url.strip().rstrip("/").lower().replace("//localhost", "//127.0.0.1")
