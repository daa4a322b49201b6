"""Servers that speak OpenAI's language: where they listen, and a model of theirs to begin with.

Addresses and models are those of each program's own documentation, as of 2026-11-22:
https://docs.ollama.com/api/openai-compatibility, https://lmstudio.ai/docs/app/api, https://openrouter.ai/docs,
https://github.com/ggml-org/llama.cpp/tree/master/tools/server.
"""

from dataclasses import dataclass

from engine.base.language import marked


@dataclass(frozen=True)
class Preset:
    """One such server, as the settings dialog offers it."""

    id: str
    name: str
    base_url: str
    model: str
    """A model to fill in; empty where whatever is loaded answers."""
    key_variable: str
    """The environment variable of its key; empty where it needs none."""
    hint: str
    """How to make it ready, one sentence, marked for `tr`."""

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
        marked("Needs an API key of platform.openai.com."),
    ),
    Preset(
        "ollama",
        "Ollama",
        "http://127.0.0.1:11434/v1",
        "nomic-embed-text",
        "",
        marked("Fetch the model once with: ollama pull nomic-embed-text"),
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
        marked("Needs an API key of openrouter.ai."),
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
    """The preset with this address; localhost and 127.0.0.1 are the same."""
    wanted = _plain(base_url)
    return next((preset for preset in PRESETS if _plain(preset.base_url) == wanted), None)


def _plain(url: str) -> str:
    return url.strip().rstrip("/").lower().replace("//localhost", "//127.0.0.1")
