"""Known OpenAI-compatible servers, with their URLs and a model to start with.

URLs and models are from each program's own documentation, read 2026-11-22:
https://docs.ollama.com/api/openai-compatibility, https://lmstudio.ai/docs/app/api, https://openrouter.ai/docs,
https://github.com/ggml-org/llama.cpp/tree/master/tools/server.
"""

from dataclasses import dataclass

from engine.base.language import marked


@dataclass(frozen=True)
class Preset:
    """A server offered in the settings dialog."""

    id: str
    name: str
    base_url: str
    model: str
    """Suggested model; empty if the server uses whichever model is loaded."""
    key_variable: str
    """Environment variable of its key; empty if it needs none."""
    hint: str
    """How to set it up, one sentence, marked for `tr`."""

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
    """The preset with this URL; localhost and 127.0.0.1 are equivalent."""
    wanted = _plain(base_url)
    return next((preset for preset in PRESETS if _plain(preset.base_url) == wanted), None)


def _plain(url: str) -> str:
    return url.strip().rstrip("/").lower().replace("//localhost", "//127.0.0.1")
