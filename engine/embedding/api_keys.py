"""Where a provider's API key comes from: an environment variable, else the keychain; never a file of ours."""

import os
from dataclasses import dataclass, field
from typing import Literal

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding import keychain
from engine.embedding.addresses import host_of, is_loopback, owner_of
from engine.embedding.consent import REMOTE, settings_of
from engine.embedding.presets import preset_of
from engine.logs import hide
from engine.records import KeyState
from engine.settings import Settings

_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "voyage": ("VOYAGE_API_KEY",),
}
_VARIABLES_OF_HOSTS = {"openrouter.ai": ("OPENROUTER_API_KEY",)}
"""Hosts whose keys have their own variable: the key of the provider is never sent there."""


@dataclass(frozen=True)
class Key:
    """An API key and where it was found."""

    value: str = field(repr=False)
    origin: Literal["environment", "keychain"]
    place: str
    """The variable, or the account in the keychain."""

    @property
    def described(self) -> str:
        """Where it was found, as the record of the status has it, in English."""
        return f"the environment variable {self.place}" if self.origin == "environment" else "the keychain"

    @property
    def told(self) -> str:
        """The source of the key, as the end of a sentence."""
        if self.origin == "environment":
            return tr("the environment variable {name}", name=self.place)
        return tr("the keychain")


def find_key(provider: str, settings: Settings, *, cancel: CancelToken | None = None) -> Key | None:
    """Return the key for the server of `provider` under these settings; None if there is none, or none is needed.

    The keychain is queried last and for a few seconds at most, so never call this on the GUI thread. Raises
    `ProviderError` for an invalid key or base URL and a keychain that doesn't answer; `Cancelled`.
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
        kept = keychain.read(account, cancel=cancel)
    except keychain.NoKeychain:
        return None
    return Key(checked_key(kept, tr("The entry in the keychain")), "keychain", account) if kept else None


def key_missing(provider: str, settings: Settings) -> str:
    """The message that `provider` has no key, and what to do."""
    own = settings_of(settings, provider)
    variable = _variables(provider, own)[0]
    if _elsewhere(own, provider):
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
    """Whether there is a key and where, without the key. Never raises; may wait some seconds for the keychain."""
    try:
        key = find_key(provider, settings)
    except ProviderError as error:
        return KeyState(present=False, origin=None, place="", problem=str(error))
    if key is None:
        return KeyState(present=False, origin=None, place="", problem="")
    return KeyState(present=True, origin=key.origin, place=key.told, problem="")


def store_key(provider: str, settings: Settings, value: str) -> None:
    """Keep a key in the keychain for the server that `provider` has under these settings. Raises `ProviderError`."""
    own = settings_of(settings, provider)
    checked = checked_key(value, tr("What was entered"))
    try:
        keychain.write(_account(provider, own), checked)
    except keychain.NoKeychain as error:
        variable = _variables(provider, own)[0]
        raise ProviderError(
            tr("{error} Set the environment variable {variable} instead.", error=error, variable=variable)
        ) from None


def forget_key(provider: str, settings: Settings) -> None:
    """Delete that key from the keychain, if it exists. Raises `ProviderError`."""
    try:
        keychain.remove(_account(provider, settings_of(settings, provider)))
    except keychain.NoKeychain:
        return


def checked_key(text: str, what: str) -> str:
    """Return a key without surrounding space; `what` begins the message for one that is invalid in a header.

    Raises `ProviderError`, which doesn't repeat the key.
    """
    key = text.strip()
    if not key or not all("!" <= letter <= "~" for letter in key):
        raise ProviderError(
            tr("{what} is no API key: it is empty, or holds spaces or letters that no key has.", what=what)
        )
    hide(key)
    return key


def _variables(provider: str, own: Settings) -> tuple[str, ...]:
    if own.remote.api_key_env:
        return (own.remote.api_key_env,)
    host = host_of(own.remote.base_url) if own.remote.base_url else ""
    return _VARIABLES_OF_HOSTS.get(host) or _VARIABLES[provider]


def _may_get_usual_key(own: Settings) -> bool:
    """Whether a variable that is meant for the provider is read for the server in use: one that the settings name is.

    Not for a server that needs no key, and not for one that would get it in the clear.
    """
    base_url = own.remote.base_url
    if not base_url or own.remote.api_key_env:
        return True
    preset = preset_of(base_url)
    in_the_clear = base_url.strip().lower().startswith("http:") and not is_loopback(base_url)
    return not in_the_clear and (preset is None or preset.needs_key)


def _account(provider: str, own: Settings) -> str:
    """A key that was entered for one server is found for no other."""
    return f"{provider}@{host_of(own.remote.base_url)}" if _elsewhere(own, provider) else provider


def _elsewhere(own: Settings, provider: str) -> bool:
    return bool(own.remote.base_url) and owner_of(own.remote.base_url) != provider
