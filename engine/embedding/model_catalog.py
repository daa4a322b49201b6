"""Catalogue of remote models: sizes, limits, list prices and calibrations.

Prices are in US dollars per million tokens and change without notice: `prices` in the settings take precedence. Sources
were read on the date of each row. Calibrations are starting points, not measurements, since no keys of these services
were available. They are based on commonly reported cosines and rather include too much than too little; keywords refine
the result. Their spread is unknown, so they are the same for any number of chunks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.embedding.addresses import is_loopback, owner_of
from engine.embedding.base import Calibration
from engine.embedding.consent import settings_of
from engine.settings import Settings

_OPENAI = "https://developers.openai.com/api/docs/pricing"
_GOOGLE = "https://ai.google.dev/gemini-api/docs/pricing"
_VOYAGE = "https://docs.voyageai.com/docs/pricing"
_CHECKED = "2026-11-22"

UNKNOWN = Calibration(low=0.25, high=0.65, weight=0.5)
"""For models that are not listed."""
_OPENAI_3 = Calibration(low=0.15, high=0.60, weight=0.7)
_ADA = Calibration(low=0.72, high=0.87, weight=0.7)
_GEMINI_1 = Calibration(low=0.50, high=0.75, weight=0.7)
_GEMINI_2 = Calibration(low=0.35, high=0.70, weight=0.7)
_VOYAGE_3 = Calibration(low=0.20, high=0.60, weight=0.7)
_NOMIC = Calibration(low=0.45, high=0.75, weight=0.5)
_SMALL = Calibration(low=0.30, high=0.70, weight=0.5)
_MINILM = Calibration(low=0.16, high=0.48, weight=0.5, spread=0.07)
"""The only measured calibration, from a GGUF file (`self_calibration.py`)."""


@dataclass(frozen=True)
class ModelFacts:
    """Data of one model of one provider."""

    provider: str
    model: str
    dims: int
    """Default length of the vectors."""
    dimensions: Sequence[int]
    """Supported lengths."""
    input_tokens: int
    """Maximum tokens of one text."""
    price: float | None
    """US dollars per million tokens; None if it depends on the server."""
    batch_price: float | None
    """Price for batch jobs."""
    calibration: Calibration
    source: str
    """Source of price and sizes."""
    checked: str
    """Date of reading, YYYY-MM-DD."""


def _openai(
    model: str, dims: int, price: float, batch: float, calibration: Calibration, *, shorter: bool
) -> ModelFacts:
    # The API reference says 8192 tokens per text, lists of limits say 8191.
    dimensions = range(1, dims + 1) if shorter else (dims,)
    return ModelFacts("openai", model, dims, dimensions, 8191, price, batch, calibration, _OPENAI, _CHECKED)


def _gemini(model: str, input_tokens: int, price: float, batch: float, calibration: Calibration) -> ModelFacts:
    dimensions = range(128, 3073)
    return ModelFacts("gemini", model, 3072, dimensions, input_tokens, price, batch, calibration, _GOOGLE, _CHECKED)


def _voyage(model: str, price: float, batch: float) -> ModelFacts:
    sizes = (256, 512, 1024, 2048)
    return ModelFacts("voyage", model, 1024, sizes, 32_000, price, batch, _VOYAGE_3, _VOYAGE, _CHECKED)


def _open(
    model: str, dims: int, input_tokens: int, calibration: Calibration, *, shorter: tuple[int, ...] = ()
) -> ModelFacts:
    """A model with open weights, under its name on local servers. `shorter`: other supported lengths."""
    source = f"https://ollama.com/library/{model}"
    sizes = (*shorter, dims)
    return ModelFacts("openai", model, dims, sizes, input_tokens, None, None, calibration, source, _CHECKED)


FACTS = (
    _openai("text-embedding-3-small", 1536, 0.02, 0.01, _OPENAI_3, shorter=True),
    _openai("text-embedding-3-large", 3072, 0.13, 0.065, _OPENAI_3, shorter=True),
    _openai("text-embedding-ada-002", 1536, 0.10, 0.05, _ADA, shorter=False),
    _gemini("gemini-embedding-001", 2048, 0.15, 0.075, _GEMINI_1),
    _gemini("gemini-embedding-2", 8192, 0.20, 0.10, _GEMINI_2),
    _gemini("gemini-embedding-2-preview", 8192, 0.20, 0.10, _GEMINI_2),
    _voyage("voyage-4-large", 0.12, 0.08),
    _voyage("voyage-4", 0.06, 0.04),
    _voyage("voyage-4-lite", 0.02, 0.0134),
    _voyage("voyage-code-4", 0.12, 0.08),
    _voyage("voyage-3-large", 0.18, 0.12),
    _voyage("voyage-3.5", 0.06, 0.04),
    _voyage("voyage-3.5-lite", 0.02, 0.0134),
    _voyage("voyage-code-3", 0.18, 0.12),
    ModelFacts("voyage", "voyage-finance-2", 1024, (1024,), 32_000, 0.12, 0.08, _VOYAGE_3, _VOYAGE, _CHECKED),
    ModelFacts("voyage", "voyage-law-2", 1024, (1024,), 16_000, 0.12, 0.08, _VOYAGE_3, _VOYAGE, _CHECKED),
    *(
        _open(name, 768, 2048, _NOMIC, shorter=(64, 128, 256, 512))
        for name in ("nomic-embed-text", "nomic-embed-text-v1.5", "text-embedding-nomic-embed-text-v1.5")
    ),
    _open("mxbai-embed-large", 1024, 512, _SMALL),
    _open("all-minilm", 384, 256, _MINILM),
    _open("bge-m3", 1024, 8192, _SMALL),
    _open("snowflake-arctic-embed2", 1024, 8192, _SMALL),
    _open("embeddinggemma", 768, 2048, _SMALL, shorter=(128, 256, 512)),
)
_BY_NAME = {(facts.provider, facts.model): facts for facts in FACTS}


def models_of(provider: str) -> tuple[ModelFacts, ...]:
    """The known models of a provider, its default first."""
    return tuple(facts for facts in FACTS if facts.provider == provider)


def facts_of(provider: str, model: str) -> ModelFacts | None:
    """Data of a model; the name may have a vendor prefix ("openai/…") and a tag (":latest")."""
    return _BY_NAME.get((provider, model.rpartition("/")[2].partition(":")[0].lower()))


def price_of(settings: Settings, provider: str, model: str) -> float | None:
    """US dollars per million tokens: from the settings, else the list price; None if neither is known.

    `model` is the name in use, without a vendor. Servers on this machine are free; other compatible servers have
    unknown prices of their own. Raises `ProviderError` for an invalid base URL.
    """
    named = settings.prices.get(f"{provider}/{model}")
    if named is not None:
        return named
    base_url = settings_of(settings, provider).remote.base_url
    if base_url and is_loopback(base_url):
        return 0.0
    facts = facts_of(provider, model)
    is_own = not base_url or owner_of(base_url) == provider
    return facts.price if facts is not None and is_own else None


def batch_price_of(settings: Settings, provider: str, model: str) -> float | None:
    """Price for batch jobs, with the list's discount if it is known."""
    price = price_of(settings, provider, model)
    facts = facts_of(provider, model)
    if not price or facts is None or not facts.price or facts.batch_price is None:
        return price
    return price * facts.batch_price / facts.price


# --- Usage rules of open models, from their makers: neither files nor servers contain them ---------------------------


@dataclass(frozen=True)
class Traits:
    """Usage rules of one model."""

    query: str = ""
    """Prefix of every query."""
    document: str = ""
    """Prefix of every passage."""
    least_dims: int | None = None
    """Minimum length to which vectors may be cut; None if they must not be cut."""


_RETRIEVAL = "Represent this sentence for searching relevant passages: "
_WEB_SEARCH = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_KNOWN = (
    # From the models' cards on the hub; the first match counts.
    (r"embedding-?gemma|gemma-embedding", Traits("task: search result | query: ", "title: none | text: ", 128)),
    (r"nomic-embed-text", Traits("search_query: ", "search_document: ")),  # cutting needs a layer norm first
    (r"qwen3-embedding", Traits(_WEB_SEARCH, "", 32)),
    (r"snowflake-arctic-embed(?:2|-[lm]-v2)", Traits("query: ")),
    (r"snowflake-arctic-embed|mxbai-embed-large|bge-(?:small|base|large)-en", Traits(_RETRIEVAL)),
    (r"\be5-(?:small|base|large)(?!.*instruct)", Traits("query: ", "passage: ")),
)


def traits_named(names: str) -> Traits:
    """Find the traits by all names of a model; unknown models get plain text."""
    plain = re.sub(r"[\s_]+", "-", names.lower())
    return next((traits for pattern, traits in _KNOWN if re.search(pattern, plain)), Traits())
