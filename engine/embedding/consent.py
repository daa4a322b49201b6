"""Decides whether a user's texts may be sent to a provider, and with which of the settings.

The registry checks consent before it makes a provider, so none exists without it. A key in the environment or in the
keychain is not consent.
"""

from typing import get_args

import msgspec

from engine.base.errors import ProviderError
from engine.base.language import marked, tr
from engine.embedding.addresses import host_of, is_loopback, own_host, owner_of
from engine.settings import Settings
from engine.settings.options import RemoteProvider, RemoteSettings

REMOTE: tuple[str, ...] = get_args(RemoteProvider)
"""Providers on other machines, in the order in which `auto` tries them."""


def consent_of(settings: Settings, provider: str) -> str | None:
    """What in the settings agrees to sending texts to `provider`, marked for `tr`; None where nothing does."""
    if provider == settings.provider:
        return marked("named as provider")
    if provider == settings.fallback:
        return marked("named as fallback")
    return marked("agreed to") if provider in settings.remote.agreed else None


def require_consent(settings: Settings, provider: str) -> None:
    """Raise `ProviderError` if texts would be sent to a remote provider without consent."""
    if provider in REMOTE and consent_of(settings, provider) is None:
        raise ProviderError(
            tr(
                'Nothing is sent to {provider} before you agree: choose it in the settings, or add "{provider}" to '
                "remote.agreed.",
                provider=provider,
            )
        )


def chat_settings(settings: Settings) -> Settings | None:
    """The settings of the chat model that names notes; None if none is named: naming one is the consent.

    The settings of the embedding provider don't apply to it: neither its address nor its key nor its headers.
    """
    slug = settings.remember.slug
    if not slug.model:
        return None
    remote = RemoteSettings(base_url=slug.base_url, api_key_env=slug.api_key_env, allow_http=settings.remote.allow_http)
    return msgspec.structs.replace(settings, provider="openai", model=slug.model, dimensions=None, remote=remote)


def described(settings: Settings) -> str:
    """The provider that `model`, `dimensions` and `[remote]` speak of; with `auto` the owner of the base URL."""
    if settings.provider != "auto":
        return settings.provider
    return (owner_of(settings.remote.base_url) if settings.remote.base_url else None) or REMOTE[0]


def settings_of(settings: Settings, provider: str) -> Settings:
    """The settings under which `provider` runs: its own model and address unless they are in the settings.

    A fallback must neither request another's model nor send its key and the texts to another's server. Raises
    `ProviderError` for an invalid base URL.
    """
    if provider == described(settings):
        return settings
    remote = settings.remote
    plain = RemoteSettings(agreed=remote.agreed, allow_http=remote.allow_http, batch=remote.batch)
    return msgspec.structs.replace(settings, model="", dimensions=None, remote=plain)


def server_of(settings: Settings, provider: str) -> str | None:
    """The host of a remote provider, if the settings name one. Raises `ProviderError`."""
    base_url = settings_of(settings, provider).remote.base_url if provider in REMOTE else ""
    return host_of(base_url) if base_url else None


def remote_fallback(settings: Settings, provider: str = "") -> tuple[str, str] | None:
    """Provider and host that texts are sent to when the provider fails; None if they would stay on this machine.

    `provider`: the one in use, where the settings leave the choice to the program. Raises `ProviderError` for a base
    URL that is none.
    """
    name = settings.fallback
    if name not in REMOTE or name == (provider or settings.provider):
        return None
    if settings.provider == "none" or not settings.store.vector.enabled:
        return None
    base_url = settings_of(settings, name).remote.base_url
    if base_url and is_loopback(base_url):
        return None
    return name, host_of(base_url) if base_url else own_host(name)
