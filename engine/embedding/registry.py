"""Chooses the provider that the settings ask for, and says why there is another one or none."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from engine.embedding.base import EmbeddingProvider
from engine.errors import ProviderError
from engine.settings import Settings

Factory = Callable[[Settings], EmbeddingProvider]
"""Makes a provider, cheaply: models are loaded when they are first used. Raises `ProviderError`."""


@dataclass(frozen=True)
class Selection:
    """The provider in use, and how it came to that."""

    provider: EmbeddingProvider | None
    """None: only words are searched."""
    requested: str
    """The name in the settings."""
    fallback_from: str | None = None
    """The provider that should have been used, where another one stands in for it."""
    fallback_reason: str | None = None
    """Why it could not, as one sentence."""
    unavailable_reason: str | None = None
    """Why there is no provider, as one sentence; None where none was asked for."""


def _embedded(settings: Settings) -> EmbeddingProvider:
    from engine.embedding.embedded import MODEL, EmbeddedProvider

    if settings.model not in {"", MODEL}:
        raise ProviderError(
            f'The built-in provider has the model "{MODEL}" only: remove "model = {settings.model}" from the settings.'
        )
    return EmbeddedProvider()


_FACTORIES: dict[str, Factory] = {"embedded": _embedded}
_AUTO = "embedded"


def select_provider(settings: Settings) -> Selection:
    """The provider of the settings, else their fallback, else none. Never raises, loads nothing big."""
    requested = settings.provider
    if requested == "none" or not settings.store.vector.enabled:
        return Selection(None, requested)
    first = _AUTO if requested == "auto" else requested
    try:
        return Selection(_FACTORIES[first](settings), requested)
    except ProviderError as error:
        reason = str(error)
    second = settings.fallback
    if second in {"none", first}:
        return Selection(None, requested, unavailable_reason=reason)
    try:
        provider = _FACTORIES[second](msgspec.structs.replace(settings, model=""))
    except ProviderError as error:
        return Selection(None, requested, unavailable_reason=f"{reason} {error}")
    return Selection(provider, requested, fallback_from=first, fallback_reason=reason)
