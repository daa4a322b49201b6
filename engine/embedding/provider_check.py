"""Tests provider settings before they are saved: sends a single word, never the user's texts."""

import time

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding.api_keys import checked_key
from engine.embedding.registry import select_provider
from engine.records import ProviderProbe
from engine.settings import Settings

WORD = "ping"


def probe_provider(settings: Settings, key: str | None = None, *, cancel: CancelToken | None = None) -> ProviderProbe:
    """Test the provider of these settings without its fallback; returns success, response time and model.

    `key`: an API key as entered by the user, None to look it up. Never call this on the GUI thread. Only raises
    `Cancelled`.
    """
    alone = msgspec.structs.replace(settings, fallback="none")
    try:
        typed = None if key is None else checked_key(key, tr("What was entered"))
    except ProviderError as error:
        return _failed(str(error))
    selection = select_provider(alone, key=typed, cancel=cancel)
    provider = selection.provider
    if provider is None:
        return _failed(selection.unavailable_reason or tr("There is no provider to test: only words are searched."))
    started = time.perf_counter()
    try:
        vector = provider.embed_query(WORD, cancel=cancel)
    except ProviderError as error:
        return _failed(str(error), provider.model)
    finally:
        provider.close()
    milliseconds = (time.perf_counter() - started) * 1000
    return ProviderProbe(ok=True, error="", milliseconds=milliseconds, dims=len(vector), model=provider.model)


def _failed(error: str, model: str = "") -> ProviderProbe:
    return ProviderProbe(ok=False, error=error, milliseconds=0.0, dims=None, model=model)
