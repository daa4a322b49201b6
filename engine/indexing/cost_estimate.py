"""Estimates the tokens, price and time of embedding, and whether it needs the user's approval."""

import msgspec

from engine.base import in_batches
from engine.base.cancellation import CancelToken, checkpoint
from engine.embedding.batch_jobs.batch_api import MIN_TEXTS, batches_of
from engine.embedding.model_catalog import metadata_of
from engine.embedding.provider_interface import EmbeddingProvider
from engine.records import EmbeddingEstimate
from engine.settings import Settings
from engine.store import stored_models
from engine.store.snapshot import Snapshot
from engine.store.stored_models import ModelName

_MIN_COST = 0.01
"""US dollars from which embedding needs approval."""
_MIN_SECONDS = 120.0
"""Seconds from which re-embedding with another model needs approval."""
_PRESUMED_PRICE = 0.25
"""US dollars per million tokens where the price is unknown. No less than the models of well-known providers cost, so
that saving a note never needs an approval."""
_CHARACTERS_PER_TOKEN = 4
_SAMPLE = 512
"""Number of texts whose tokens are counted, spread evenly over all: the total is then accurate within a few percent."""
_GROUP = 64

# Characters per second before anything was measured, on two cores. A small GGUF model reached 8,000; the default model
# needs about ten times the work per token.
_USUAL_SPEED = {"embedded": 200_000.0, "gguf": 1_000.0}
_USUAL_SPEED_OF_SERVERS = 60_000.0


class EmbeddingWork(msgspec.Struct, frozen=True):
    """Estimate of the embedding that is due: chunks, tokens, cost and time."""

    estimate: EmbeddingEstimate
    repeated_seconds: float
    """Part of `estimate.seconds` for texts that have vectors of another model."""
    first: bool
    """Whether the model has no vectors at all yet."""

    def needs_approval(self, *, beyond: int = 0) -> bool:
        """Return whether the user must approve the embedding.

        That is so if it costs money, or takes minutes because the model was changed. `beyond`: tokens approved already.
        """
        estimate = self.estimate
        more = estimate.tokens - beyond
        if not estimate.chunks or more <= 0:
            return False
        share = more / estimate.tokens
        if estimate.cost is not None:
            costs = estimate.cost * share >= _MIN_COST
        else:
            unconfirmed = self.first and not beyond
            costs = estimate.remote and (unconfirmed or _cost(more, _PRESUMED_PRICE) >= _MIN_COST)
        return costs or self.repeated_seconds * share >= _MIN_SECONDS


def name_of(provider: EmbeddingProvider) -> ModelName:
    """Return the key under which the vectors of a provider are stored."""
    return ModelName(provider.id, provider.model, provider.key)


def estimate(
    snapshot: Snapshot,
    provider: EmbeddingProvider,
    settings: Settings,
    cancel: CancelToken | None = None,
    *,
    by_jobs: bool = True,
) -> EmbeddingWork:
    """Estimate the tokens, cost and time of embedding all chunks without a vector. Sends nothing. Raises `Cancelled`.

    `by_jobs`: whether batch jobs may be used, where the settings enable them.
    """
    name = name_of(provider)
    missing_vectors = stored_models.missing_vectors(snapshot, name)
    tokens = _tokens(snapshot, provider, name, missing_vectors.characters, cancel) if missing_vectors.chunks else 0
    usual = _USUAL_SPEED.get(provider.id, _USUAL_SPEED_OF_SERVERS)
    speed = stored_models.speed(snapshot, name) or usual
    by_jobs = by_jobs and settings.remote.batch.enabled and missing_vectors.texts >= MIN_TEXTS
    batches = batches_of(provider) if by_jobs else None
    price = provider.price if batches is None else batches.price
    model = snapshot.stored_model(*name)
    whole = EmbeddingEstimate(
        provider=provider.id,
        model=provider.model,
        remote=provider.remote,
        chunks=missing_vectors.chunks,
        cached=snapshot.chunk_count() - missing_vectors.chunks,
        tokens=tokens,
        price=price,
        cost=None if price is None else _cost(tokens, price),
        price_checked=_checked(settings, name) if price else "",
        seconds=missing_vectors.characters / speed if batches is None else batches.limits.seconds,
        batch=batches is not None,
        most_cost=None if batches is None or provider.price is None else _cost(tokens, provider.price),
    )
    first = model is None or not snapshot.has_vectors(model.id)
    return EmbeddingWork(whole, missing_vectors.characters_elsewhere / speed, first)


def _checked(settings: Settings, name: ModelName) -> str:
    """Return the date of the built-in list price; empty if the user has set the price."""
    metadata = metadata_of(name.provider, name.model)
    return "" if metadata is None or f"{name.provider}/{name.model}" in settings.prices else metadata.checked


def _cost(tokens: int, price: float) -> float:
    return tokens * price / 1_000_000


def _tokens(
    snapshot: Snapshot, provider: EmbeddingProvider, name: ModelName, characters: int, cancel: CancelToken | None
) -> int:
    if provider.price == 0:
        # Local models are free, and counting exactly may require loading one.
        return -(-characters // _CHARACTERS_PER_TOKEN)
    ids = stored_models.ids_without_vector(snapshot, name)
    sample = ids if len(ids) <= _SAMPLE else [ids[index * len(ids) // _SAMPLE] for index in range(_SAMPLE)]
    tokens = seen = 0
    for group in in_batches(sample, _GROUP):
        checkpoint(cancel)
        texts = [found.text for found in snapshot.texts(group)]
        tokens += sum(map(provider.count_tokens, texts))
        seen += sum(map(len, texts))
    return tokens if len(sample) == len(ids) else round(tokens * characters / max(1, seen))
