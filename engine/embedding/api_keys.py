"""API keys of providers, read from an environment variable or else the keychain; never from our own files."""

import os
from dataclasses import dataclass, field
from typing import Literal

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding import keychain
from engine.embedding.consent import REMOTE, settings_of
from engine.logs import hide
from engine.providers.openai import PRESETS, preset_of
from engine.providers.registry import host_of, is_loopback, owner_of, provider_named
from engine.records import KeyState
from engine.settings import Settings

_VARIABLES_OF_HOSTS = {
    host_of(preset.base_url): (preset.key_variable,)
    for preset in PRESETS
    if preset.key_variable and owner_of(preset.base_url) is None
}
"""Hosts with their own key variable; the provider's usual key is never sent to them."""


@dataclass(frozen=True)
class Key:
    """An API key, and where it was found (environment variable or keychain)."""

    value: str = field(repr=False)
    origin: Literal["environment", "keychain"]
    name: str
    """The name of the variable, or the account in the keychain."""

    @property
    def described(self) -> str:
        """The key's origin for the status record, in English."""
        return f"the environment variable {self.name}" if self.origin == "environment" else "the keychain"

    @property
    def origin_text(self) -> str:
        """The key's origin, translated, for the end of a sentence."""
        if self.origin == "environment":
            return tr("the environment variable {name}", name=self.name)
        return tr("the keychain")


def find_key(provider: str, settings: Settings, *, cancel: CancelToken | None = None) -> Key | None:
    """Find the key for the server that `provider` uses with these settings; None if there is none or none is needed.

    The keychain is queried last and may take some seconds, so never call this on the GUI thread. Raises `ProviderError`
    for an invalid key or base URL and if the keychain does not respond, and `Cancelled`.
    """
    if provider not in REMOTE:
        return None
    own = settings_of(settings, provider)
    for variable in _variables(provider, own) if _may_get_usual_key(own) else ():
        if value := os.environ.get(variable, "").strip():
            return Key(
                checked_key(value, tr("The environment variable {name}", name=variable)), "environment", variable
            )
    account = _account(provider, own)
    try:
        secret = keychain.read(account, cancel=cancel)
    except keychain.NoKeychain:
        return None
    return Key(checked_key(secret, tr("The entry in the keychain")), "keychain", account) if secret else None


def key_missing(provider: str, settings: Settings) -> str:
    """Return the message for a missing key of `provider`, with instructions."""
    own = settings_of(settings, provider)
    variable = _variables(provider, own)[0]
    if _has_foreign_address(own, provider):
        return tr(
            "There is no API key for {provider} at {host}: enter it in the settings, or set the environment variable "
            "{variable}.",
            provider=provider,
            host=host_of(own.remote.base_url),
            variable=variable,
        )
    return tr(
        "There is no API key for {provider}: enter it in the settings, or set the environment variable {variable}.",
        provider=provider,
        variable=variable,
    )


def key_state(provider: str, settings: Settings) -> KeyState:
    """Whether there is a key and its origin, without the key itself.

    Never raises; may wait some seconds for the keychain.
    """
    try:
        key = find_key(provider, settings)
    except ProviderError as error:
        return KeyState(present=False, origin=None, origin_text="", problem=str(error))
    if key is None:
        return KeyState(present=False, origin=None, origin_text="", problem="")
    return KeyState(present=True, origin=key.origin, origin_text=key.origin_text, problem="")


def store_key(provider: str, settings: Settings, value: str) -> None:
    """Save a key in the keychain for the server that `provider` uses with these settings. Raises `ProviderError`."""
    own = settings_of(settings, provider)
    checked = checked_key(value, tr("The entered text"))
    try:
        keychain.write(_account(provider, own), checked)
    except keychain.NoKeychain as error:
        variable = _variables(provider, own)[0]
        raise ProviderError(
            tr("{error} Set the environment variable {variable} instead.", error=error, variable=variable)
        ) from None


def forget_key(provider: str, settings: Settings) -> None:
    """Remove that key from the keychain, if present. Raises `ProviderError`."""
    try:
        keychain.remove(_account(provider, settings_of(settings, provider)))
    except keychain.NoKeychain:
        return


def checked_key(text: str, subject: str) -> str:
    """Strip and validate a key; `subject` is the subject of the error message if it cannot be sent in a header.

    Raises `ProviderError`, whose message omits the key.
    """
    key = text.strip()
    if not key or not all("!" <= letter <= "~" for letter in key):
        raise ProviderError(
            tr(
                "{what} is not a valid API key: it is empty, or contains spaces or characters that API keys never "
                "contain.",
                what=subject,
            )
        )
    hide(key)
    return key


def _variables(provider: str, own: Settings) -> tuple[str, ...]:
    if own.remote.api_key_env:
        return (own.remote.api_key_env,)
    host = host_of(own.remote.base_url) if own.remote.base_url else ""
    return _VARIABLES_OF_HOSTS.get(host) or provider_named(provider).key_variables


def _may_get_usual_key(own: Settings) -> bool:
    """Whether the provider's usual environment variable, or the one in the settings, may be used for this server.

    The usual one is not for servers that need no key, nor for those that would receive it unencrypted.
    """
    base_url = own.remote.base_url
    if not base_url or own.remote.api_key_env:
        return True
    preset = preset_of(base_url)
    is_unencrypted = base_url.strip().lower().startswith("http:") and not is_loopback(base_url)
    return not is_unencrypted and (preset is None or preset.needs_key)


def _account(provider: str, own: Settings) -> str:
    """Return the keychain account of this server; a key entered for one server is not used for others."""
    return f"{provider}@{host_of(own.remote.base_url)}" if _has_foreign_address(own, provider) else provider


def _has_foreign_address(own: Settings, provider: str) -> bool:
    return bool(own.remote.base_url) and owner_of(own.remote.base_url) != provider
