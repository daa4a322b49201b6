"""Decides whether the user's texts may be sent to a provider, and with which settings; the only place that does.

The registry checks this before it creates a provider, so none exists without consent. A key in the environment or in
the keychain is not consent.
"""

import msgspec

from engine.base.errors import ProviderError
from engine.base.language import marked, tr
from engine.providers.registry import host_of, is_loopback, own_host, owner_of, remote_names
from engine.settings import Settings
from engine.settings.options import RemoteSettings

REMOTE = remote_names()
"""Remote providers, in the order in which `auto` tries them."""


def consent_of(settings: Settings, provider: str) -> str | None:
    """Return the setting that permits sending texts to `provider`, marked for `tr`; None if there is none."""
    if provider == settings.provider:
        return marked("named as provider")
    if provider == settings.fallback:
        return marked("named as fallback")
    return marked("agreed to") if provider in settings.remote.approved else None


def require_consent(settings: Settings, provider: str) -> None:
    """Raise `ProviderError` if texts would leave the machine without the user's consent to this provider."""
    if provider in REMOTE and consent_of(settings, provider) is None:
        raise ProviderError(
            tr(
                'Nothing is sent to {provider} before you agree: choose it in the settings, or add "{provider}" to '
                "remote.approved.",
                provider=provider,
            )
        )


def chat_settings(settings: Settings) -> Settings | None:
    """Return the settings of the chat model that names notes; None without one, since naming it is the consent.

    They share nothing with the embedding provider's settings: neither URL nor key nor headers.
    """
    slug = settings.remember.slug
    if not slug.model:
        return None
    remote = RemoteSettings(base_url=slug.base_url, api_key_env=slug.api_key_env, allow_http=settings.remote.allow_http)
    return msgspec.structs.replace(settings, provider="openai", model=slug.model, dimensions=None, remote=remote)


def configured_provider(settings: Settings) -> str:
    """Return the provider that `model`, `dimensions` and `[remote]` are for; with `auto`, the owner of the base URL."""
    if settings.provider != "auto":
        return settings.provider
    return (owner_of(settings.remote.base_url) if settings.remote.base_url else None) or REMOTE[0]


def settings_of(settings: Settings, provider: str) -> Settings:
    """Return the settings for `provider`: without the configured model and URL if those are for another provider.

    A fallback must neither use another provider's model nor send its key and texts to that provider's server. Raises
    `ProviderError` for an invalid base URL.
    """
    if provider == configured_provider(settings):
        return settings
    remote = settings.remote
    plain = RemoteSettings(approved=remote.approved, allow_http=remote.allow_http, batch=remote.batch)
    return msgspec.structs.replace(settings, model="", dimensions=None, remote=plain)


def server_of(settings: Settings, provider: str) -> str | None:
    """Return the host of a remote provider, if the settings name one. Raises `ProviderError`."""
    base_url = settings_of(settings, provider).remote.base_url if provider in REMOTE else ""
    return host_of(base_url) if base_url else None


def remote_fallback(settings: Settings, provider: str = "") -> tuple[str, str] | None:
    """Return the provider and the host that receive texts if the provider fails; None if they stay on this machine.

    `provider`: the one in use, if the settings leave the choice to the program. Raises `ProviderError` for an invalid
    base URL.
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
