"""What the settings say about providers, keys and kept vectors. Pure functions."""

from urllib.parse import urlsplit

from engine import EmbeddingEstimate, KeyState, ModelFacts, ProviderProbe, Settings, StoredModelInfo
from gui.widgets.pricing import day_words, embed_words
from gui.widgets.wording import counted, size_text

PROVIDERS = (
    (
        "embedded",
        "Built-in model",
        "Works at once, on this machine, in 16 languages. No key, no cost.",
    ),
    ("gguf", "Model file (GGUF)", "A model file runs on this machine: slower than the built-in model, and better."),
    (
        "openai",
        "OpenAI or a server like it",
        "OpenAI, or Ollama, LM Studio, OpenRouter, llama-server and others.",
    ),
    ("gemini", "Google Gemini", "Google's service."),
    ("voyage", "Voyage AI", "Voyage's service."),
    (
        "auto",
        "Automatic",
        "A model file if there is one, else a service with a key that you allow below, else the built-in model.",
    ),
    ("none", "None", "Only words are searched."),
)
"""Name in the settings, name for a person, and a sentence."""
NAMES = {name: title for name, title, _ in PROVIDERS}
OWNERS = {"openai": "OpenAI", "gemini": "Google", "voyage": "Voyage AI"}
SENTENCES = {name: sentence for name, _, sentence in PROVIDERS}
_HOSTS = {"openai": "api.openai.com", "gemini": "generativelanguage.googleapis.com", "voyage": "api.voyageai.com"}


def where_texts_go(provider: str, base_url: str) -> str:
    """One sentence on what leaves the machine."""
    if provider == "none" or provider in ("embedded", "gguf"):
        return "Nothing leaves this machine."
    if provider == "auto":
        return "Without a tick below nothing leaves this machine."
    host = host_of(base_url) if base_url else _HOSTS[provider]
    if host in ("localhost", "127.0.0.1", "::1"):
        return "The texts go to a server on this machine; nothing leaves it."
    return (
        f"The texts of your notes and of the sessions that you chose, and your questions, are sent to "
        f"{host or 'this server'}. Secrets in sessions are masked before."
    )


def sent_words(settings: Settings) -> str:
    """What leaves the machine under these settings, to the provider and to what stands in for it."""
    fallback = OWNERS.get(settings.fallback, "")
    stands_in = f" Where the provider fails, texts are sent to {fallback}." if fallback else ""
    if settings.provider != "auto":
        return where_texts_go(settings.provider, settings.remote.base_url) + stands_in
    owners = " or ".join(OWNERS[name] for name in settings.remote.agreed)
    if not owners:
        return f"Nothing leaves this machine.{stands_in}"
    return f"Texts and questions may be sent to {owners}. Secrets in sessions are masked before.{stands_in}"


def host_of(base_url: str) -> str:
    """The host's name in an address; empty where there is none."""
    try:
        return urlsplit(base_url.strip()).hostname or ""
    except ValueError:
        return ""


def key_words(state: KeyState | None) -> str:
    """Where the API key is."""
    if state is None:
        return "Looking for a key…"
    if state.problem:
        return state.problem
    if state.origin == "environment":
        return f"A key was found in {state.place}, which goes before any other: remove it there to enter one here."
    return f"A key was found in {state.place}." if state.present else "No key was found."


def probe_words(probe: ProviderProbe) -> str:
    """What came of a test."""
    if not probe.ok:
        return probe.error
    return f"{probe.model} answered in {probe.milliseconds:,.0f} ms, with {probe.dims:,} dimensions."


def list_price_words(facts: ModelFacts | None) -> str:
    """What stands in the price's field while nothing was entered there."""
    if facts is None or facts.price is None:
        return "US dollars for a million tokens"
    return f"{facts.price:g} (list price of {day_words(facts.checked)})"


def stored_words(model: StoredModelInfo) -> str:
    active = " · in use" if model.active else ""
    return f"{counted(model.vectors, 'vector')} of {model.dims:,} dimensions · {size_text(model.bytes)}{active}"


def accept_words(estimate: EmbeddingEstimate | None) -> str:
    """The button that saves: with the price where there is one."""
    if estimate is None or not estimate.chunks or estimate.cost == 0:
        return "Save"
    words = embed_words(estimate)
    return f"Save and {words[0].lower()}{words[1:]}"
