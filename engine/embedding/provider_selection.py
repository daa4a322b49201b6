"""Selects the provider requested in the settings, and explains why a different one or none is used.

Providers are created only here, and remote ones only if `consent` allows it.
"""

import importlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding.consent import (
    REMOTE,
    chat_settings,
    configured_provider,
    consent_of,
    require_consent,
    settings_of,
)
from engine.providers.registry import PROVIDERS
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.embedding.api_keys import Key
    from engine.embedding.openai_compatible import ChatModel
    from engine.embedding.provider_interface import EmbeddingProvider
    from engine.records import ProviderProbe

log = lazy_logger(__name__)

Factory = Callable[[Settings, str | None], "EmbeddingProvider"]
"""Creates a provider cheaply: models and packages are loaded on first use. The second argument is its API key, None
if there is none. Raises `ProviderError`."""


class Selection(msgspec.Struct, frozen=True):
    """The provider in use, and how it was selected."""

    provider: "EmbeddingProvider | None"
    """None: keyword search only."""
    requested: str
    """The name in the settings."""
    fallback_from: str | None = None
    """The provider that failed, if a fallback is used."""
    fallback_reason: str | None = None
    """Why it failed, as one sentence."""
    unavailable_reason: str | None = None
    """Why there is no provider, as one sentence; None if none was requested."""
    key_origin: str | None = None
    """Origin of its API key, as in `Key.described`; None for a provider without one."""
    skipped_providers: tuple[str, ...] = ()
    """Why `auto` skipped the providers before this one, a sentence each."""


class _NotAvailable(ProviderError):
    """Makes `auto` continue with the next provider; all other failures are reported to the user."""


def select_provider(settings: Settings, *, key: str | None = None, cancel: CancelToken | None = None) -> Selection:
    """Return the provider of the settings, else their fallback, else none.

    Loads nothing large and sends nothing, but may wait some seconds for the keychain. `key` replaces the stored key.
    Only raises `Cancelled`.
    """
    requested = settings.provider
    if requested == "none" or not settings.store.vector.enabled:
        return Selection(None, requested)
    if requested == "auto":
        return _first_available(settings, key, cancel)
    try:
        return _chosen(settings, requested, key, cancel)
    except ProviderError as error:
        return use_fallback(settings, requested, str(error), cancel=cancel)


def use_fallback(settings: Settings, failed: str, reason: str, *, cancel: CancelToken | None = None) -> Selection:
    """Return the fallback of the settings for the provider `failed`; without one, a selection without a provider.

    `reason`: why it failed, one sentence. Only raises `Cancelled`.
    """
    requested, second = settings.provider, settings.fallback
    if second in {"none", failed}:
        return Selection(None, requested, unavailable_reason=reason)
    try:
        chosen = _chosen(settings, second, None, cancel)
    except ProviderError as error:
        return Selection(None, requested, unavailable_reason=f"{reason} {error}")
    return Selection(
        chosen.provider, requested, fallback_from=failed, fallback_reason=reason, key_origin=chosen.key_origin
    )


def open_chat(settings: Settings, *, cancel: CancelToken | None = None) -> "ChatModel | None":
    """Open the chat model that names notes; None if the settings name none. The caller must close it.

    Sends nothing, but may wait some seconds for the keychain. Raises `ProviderError`, `Cancelled`.
    """
    own = chat_settings(settings)
    if own is None:
        return None
    from engine.embedding.api_keys import find_key
    from engine.embedding.openai_compatible import ChatModel

    key = find_key("openai", own, cancel=cancel)
    return ChatModel(own, None if key is None else key.value)


def _chosen(settings: Settings, name: str, typed: str | None, cancel: CancelToken | None) -> Selection:
    """Return the provider of this name. Raises `ProviderError`, `Cancelled`."""
    from engine.embedding.api_keys import find_key

    require_consent(settings, name)
    return _make_provider(settings, name, find_key(name, settings, cancel=cancel) if typed is None else typed)


def _first_available(settings: Settings, typed: str | None, cancel: CancelToken | None) -> Selection:
    """Resolve `auto`: the first provider that works without further input, with the built-in one last."""
    skipped_providers: list[str] = []
    for name in ("gguf", *REMOTE, "embedded"):
        try:
            # An entered key is for the configured server only.
            key = typed if typed and name == configured_provider(settings) else _available_key(settings, name, cancel)
            chosen = _make_provider(settings, name, key)
        except _NotAvailable as error:
            skipped_providers.append(str(error))
        except ProviderError as error:
            return use_fallback(settings, name, str(error), cancel=cancel)
        else:
            return msgspec.structs.replace(chosen, skipped_providers=tuple(skipped_providers))
    raise AssertionError("A built-in provider is always found")


def _available_key(settings: Settings, name: str, cancel: CancelToken | None) -> "Key | None":
    """Return the key for the provider, None if it needs none. Raises `_NotAvailable`, `ProviderError`."""
    if name == "gguf":
        from engine.embedding.gguf_file import model_on_disk

        if not model_on_disk(settings):
            raise _NotAvailable(tr("gguf: no model file was found on this machine."))
    if name not in REMOTE:
        return None
    from engine.embedding.api_keys import find_key
    from engine.providers.registry import is_loopback

    if consent_of(settings, name) is None:
        raise _NotAvailable(tr("{name}: you have not agreed to send texts there.", name=name))
    key = find_key(name, settings, cancel=cancel)
    base_url = settings_of(settings, name).remote.base_url
    if key is None and not (base_url and is_loopback(base_url)):
        raise _NotAvailable(tr("{name}: there is no API key.", name=name))
    return key


def _make_provider(settings: Settings, name: str, key: "Key | str | None") -> Selection:
    """Create the provider. `key`: a stored key, or one entered by the user."""
    require_consent(settings, name)
    value, origin = (key, None) if key is None or isinstance(key, str) else (key.value, key.described)
    provider = FACTORIES[name](settings_of(settings, name), value)
    if provider.remote:  # a message loads the patterns of secrets: a tenth of a search with the built-in model
        log.info("Embedding with %s, %s", name, provider.model)
    return Selection(provider, settings.provider, key_origin=origin)


def _loaded_from(module: str) -> Factory:
    """Return a factory whose module is imported on first use."""

    def make(settings: Settings, key: str | None) -> "EmbeddingProvider":
        try:
            maker: Factory = importlib.import_module(f"engine.embedding.{module}").make
            return maker(settings, key)
        except ModuleNotFoundError as error:
            problem = tr(
                "This provider needs the package {name}, which is missing: reinstall Mnemoscope.", name=error.name
            )
            raise ProviderError(problem) from error

    return make


FACTORIES: dict[str, Factory] = {provider.name: _loaded_from(provider.module) for provider in PROVIDERS}
"""Functions that create each provider from settings and key, by its name."""


# --- Tests settings before they are saved: sends a single word, never the user's texts ------------------------------

WORD = "ping"


def probe_provider(
    settings: Settings, key: str | None = None, *, fallback: bool = False, cancel: CancelToken | None = None
) -> "ProviderProbe":
    """Test the provider of these settings without its fallback; returns success, response time and model.

    `key`: an API key as entered by the user, None to look it up. `fallback`: test the fallback instead. Never call this
    on the GUI thread. Only raises `Cancelled`.
    """
    from engine.embedding.api_keys import checked_key
    from engine.records import ProviderProbe

    try:
        if fallback:
            name = settings.fallback
            settings = msgspec.structs.replace(settings_of(settings, name), provider=name)
        typed = None if key is None else checked_key(key, tr("The entered text"))
    except ProviderError as error:
        return _failed(str(error))
    alone = msgspec.structs.replace(settings, fallback="none")
    selection = select_provider(alone, key=typed, cancel=cancel)
    provider = selection.provider
    if provider is None:
        return _failed(selection.unavailable_reason or tr("There is no provider to test, so no search by meaning."))
    started = time.perf_counter()
    try:
        vector = provider.embed_query(WORD, cancel=cancel)
    except ProviderError as error:
        return _failed(str(error), provider.model)
    finally:
        provider.close()
    milliseconds = (time.perf_counter() - started) * 1000
    return ProviderProbe(ok=True, error="", milliseconds=milliseconds, dims=len(vector), model=provider.model)


def _failed(error: str, model: str = "") -> "ProviderProbe":
    from engine.records import ProviderProbe

    return ProviderProbe(ok=False, error=error, milliseconds=0.0, dims=None, model=model)
