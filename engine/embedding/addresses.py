"""Determines the host of a base URL, and its owner."""

import ipaddress
from urllib.parse import urlsplit

from engine.base.errors import ProviderError
from engine.base.language import tr

_OWN_HOSTS = {
    "openai": ("api.openai.com", "eu.api.openai.com", "us.api.openai.com"),
    "gemini": ("generativelanguage.googleapis.com",),
    "voyage": ("api.voyageai.com", "ai.mongodb.com"),
}
_USUAL_PORTS = {"http": 80, "https": 443}


def checked_url(base_url: str, *, allow_http: bool) -> str:
    """The address without a slash at its end. Raises `ProviderError` unless texts may be sent there."""
    host = host_of(base_url)
    parts = urlsplit(base_url.strip())
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ProviderError(tr("Only host and path belong in remote.base_url: no password, nothing after ? or #."))
    if parts.scheme == "http" and not (allow_http or is_loopback(base_url)):
        raise ProviderError(
            tr(
                "{host} would be asked by http, which anyone on the way can read: use https, or set "
                "remote.allow_http = true.",
                host=host,
            )
        )
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def host_of(base_url: str) -> str:
    """Return `host` or `host:port` in lower case; without the scheme's default port.

    Raises `ProviderError` if it isn't an http(s) address; the message doesn't repeat the address, which may contain a
    password.
    """
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in _USUAL_PORTS or not parts.hostname:
        raise ProviderError(tr("remote.base_url is no address: write one such as https://host/v1 into the settings."))
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return name if port in {None, _USUAL_PORTS[parts.scheme]} else f"{name}:{port}"


def is_loopback(base_url: str) -> bool:
    """Whether texts sent there stay on this machine. Raises `ProviderError` for an invalid address."""
    host_of(base_url)
    name = urlsplit(base_url.strip()).hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def own_host(provider: str) -> str:
    """The provider's own server."""
    return _OWN_HOSTS[provider][0]


def owner_of(base_url: str) -> str | None:
    """The provider whose own server this is; None for any other server."""
    host = host_of(base_url)
    return next((provider for provider, hosts in _OWN_HOSTS.items() if host in hosts), None)
