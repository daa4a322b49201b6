"""All providers of embeddings, and lookups by name and by URL.

To add a remote provider, add a module next to this one and list its `Provider` in `PROVIDERS`. The local providers,
which send nothing, are declared here.
"""

from engine import base
from engine.base import urlsplit
from engine.base.errors import ProviderError
from engine.base.language import marked, tr
from engine.providers import Provider
from engine.providers.gemini import GEMINI
from engine.providers.openai import OPENAI
from engine.providers.voyage import VOYAGE

EMBEDDED = Provider(
    name="embedded",
    label=marked("Built-in model"),
    sentence=marked("Works immediately, on this machine, in 16 languages. No key, no cost."),
    module="embedded_model",
)
GGUF = Provider(
    name="gguf",
    label=marked("Model file (GGUF)"),
    sentence=marked("A model file runs on this machine: slower than the built-in model, and better."),
    aliases=("local", "llama-cpp", "node-llama-cpp"),
    module="gguf",
)


PROVIDERS: tuple[Provider, ...] = (EMBEDDED, GGUF, OPENAI, GEMINI, VOYAGE)
"""All providers in the order of the settings; `auto` tries the remote ones in this order."""


def provider_names() -> tuple[str, ...]:
    """Return the names of all embedding providers."""
    return tuple(provider.name for provider in PROVIDERS)


def remote_names() -> tuple[str, ...]:
    """The names of the providers that send texts to a server."""
    return tuple(provider.name for provider in PROVIDERS if provider.hosts)


def provider_named(name: str) -> Provider:
    """The provider with this name. Raises LookupError."""
    return {provider.name: provider for provider in PROVIDERS}[name]


# --- Base URLs: validation, host names, and the owner of a server ----------------------------------------------------

_USUAL_PORTS = {"http": 80, "https": 443}


def checked_url(base_url: str, *, allow_http: bool) -> str:
    """Return the URL without a trailing slash. Raises `ProviderError` if texts must not be sent there."""
    host = host_of(base_url)
    parts = urlsplit(base_url.strip())
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ProviderError(tr("Only host and path belong in remote.base_url: no password, nothing after ? or #."))
    if parts.scheme == "http" and not (allow_http or is_loopback(base_url)):
        raise ProviderError(
            tr(
                "The connection to {host} would be unencrypted (http): use https, or set remote.allow_http = true.",
                host=host,
            )
        )
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def host_of(base_url: str) -> str:
    """Return `host` or `host:port` in lower case, without the scheme's default port.

    Raises `ProviderError` for an invalid http(s) URL; the message omits the URL, which may contain a password.
    """
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in _USUAL_PORTS or not parts.hostname:
        raise ProviderError(tr("remote.base_url is not a URL: enter one such as https://host/v1 in the settings."))
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return name if port in {None, _USUAL_PORTS[parts.scheme]} else f"{name}:{port}"


def is_loopback(base_url: str) -> bool:
    """Whether texts sent to this URL stay on this machine. Raises `ProviderError` for an invalid URL."""
    host_of(base_url)
    return base.is_loopback(urlsplit(base_url.strip()).hostname or "")


def own_host(provider: str) -> str:
    """Host of the provider's own server."""
    return provider_named(provider).hosts[0]


def owner_of(base_url: str) -> str | None:
    """The provider that operates this server; None for third-party servers."""
    host = host_of(base_url)
    return next((provider.name for provider in PROVIDERS if host in provider.hosts), None)
