"""Sizes, limits, list prices and calibrations of remote models, from the declarations of their providers.

Prices are in US dollars per million tokens and change without notice: `prices` in the settings take precedence. Sources
were read on the date of each row. Calibrations are starting points, not measurements, since no keys of these services
were available. They are based on commonly reported cosines and rather include too much than too little; keywords refine
the result. Their spread is unknown, so they are the same for any number of chunks.
"""

import re

import msgspec

from engine.embedding.consent import settings_of
from engine.providers import Calibration, ModelMetadata
from engine.providers.registry import PROVIDERS, is_loopback, owner_of
from engine.settings import Settings

UNKNOWN = Calibration(low=0.25, high=0.65, weight=0.3)
"""For models that are not listed."""


def models_of(provider: str) -> tuple[ModelMetadata, ...]:
    """Return the known models of a provider, its default first."""
    return next((known.models for known in PROVIDERS if known.name == provider), ())


def metadata_of(provider: str, model: str) -> ModelMetadata | None:
    """Return the data of a model; the name may have a vendor prefix ("openai/…") and a tag (":latest")."""
    plain = model.rpartition("/")[2].partition(":")[0].lower()
    return next((metadata for metadata in models_of(provider) if metadata.model == plain), None)


def price_of(settings: Settings, provider: str, model: str) -> float | None:
    """Return a model's price per million tokens: from the settings, else the list price; None if neither is known.

    `model` is the name in use, without a vendor. Servers on this machine are free; other compatible servers have
    unknown prices. Raises `ProviderError` for an invalid base URL.
    """
    named = settings.prices.get(f"{provider}/{model}")
    if named is not None:
        return named
    base_url = settings_of(settings, provider).remote.base_url
    if base_url and is_loopback(base_url):
        return 0.0
    metadata = metadata_of(provider, model)
    is_own = not base_url or owner_of(base_url) == provider
    return metadata.price if metadata is not None and is_own else None


def batch_price_of(settings: Settings, provider: str, model: str) -> float | None:
    """Return the price of batch jobs, with the list's discount if it is known."""
    price = price_of(settings, provider, model)
    metadata = metadata_of(provider, model)
    if not price or metadata is None or not metadata.price or metadata.batch_price is None:
        return price
    return price * metadata.batch_price / metadata.price


# --- Usage rules of open models, from their makers: neither files nor servers contain them ---------------------------


class Traits(msgspec.Struct, frozen=True):
    """How to use one embedding model: prefixes of queries and passages, and the shortest length of its vectors."""

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
