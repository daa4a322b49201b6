"""HTTP access to remote services: https, keys sent only to their own host, and failures as error messages.

Only the request headers listed below, the key and the user's own headers are sent; the environment supplies nothing but
the system proxy.
"""

import contextlib
import re
import threading
import urllib.request
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import httpcore2
import httpx2

from engine.base.cancellation import CancelToken
from engine.base.errors import Closed, MnemoscopeError, ProviderError
from engine.base.language import marked, tr
from engine.embedding.service_errors import AnswerTooLarge, Service, Transient, response_error
from engine.embedding.transport import Call, Transport, current_call
from engine.providers.registry import checked_url, is_loopback
from engine.settings import Settings

_SENT = {"accept", "connection", "content-length", "content-type", "host", "transfer-encoding"}
_FIXED = {"User-Agent": "Mnemoscope", "Accept-Encoding": "gzip"}
_MAX_BYTES = 64 * 1024 * 1024
_MAX_ERROR_BYTES = 64 * 1024
_STEP = 1 << 16
_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


class HttpClient:
    """Requests to one service from several threads, with a shared connection pool."""

    def __init__(self, service: Service, base_url: str, settings: Settings, auth: Mapping[str, str]) -> None:
        """`auth`: headers with the key. Raises `ProviderError` if the URL or a header is invalid."""
        self.service = service
        self.base_url = checked_url(base_url, allow_http=settings.remote.allow_http)
        self._secrets = [value.removeprefix("Bearer ").encode("utf-8", "replace") for value in auth.values()]
        headers = httpx2.Headers(_FIXED)
        for name, value in (*settings.remote.headers.items(), *auth.items()):
            if not (_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)):
                raise ProviderError(
                    tr("The API key contains characters that can't be sent: enter it again.")
                    if name in auth
                    else tr(
                        'The header "{name}" in the settings contains characters that can\'t be sent: enter it again.',
                        name=name,
                    )
                )
            headers[name] = value
        guard = _Guard(self, headers)
        self.sdk = httpx2.Client(transport=guard, follow_redirects=False, timeout=None, trust_env=False)
        """For the SDK; only valid within `call`."""
        self._lock = threading.Lock()
        self._under_way = 0
        self._closed = False

    @contextlib.contextmanager
    def call(
        self,
        seconds: float,
        *,
        cancel: CancelToken | None = None,
        private: Sequence[str] = (),
        most_bytes: int = _MAX_BYTES,
    ) -> Iterator[None]:
        """Context for one request and its response, limited to `seconds`; a cancel closes the connection.

        `private`: texts in the request, which error messages must not quote.

        Raises `Cancelled` and `Closed`, and `Transient` or another `ProviderError` for failures.
        """
        with self._lock:
            if self._closed:
                raise Closed
            self._under_way += 1
        try:
            with Call(seconds, most_bytes, cancel, private).on_this_thread():
                yield
        except Exception as error:
            raise self._understood(error) from None
        finally:
            with self._lock:
                self._under_way -= 1
                last = self._closed and not self._under_way
            if last:
                self.sdk.close()

    def _understood(self, error: Exception) -> Exception:
        """Return the original cause of an error: SDKs wrap errors of the HTTP client in their own."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, MnemoscopeError):
                return cause
            if isinstance(cause, httpx2.HTTPError | httpx2.InvalidURL | httpx2.StreamError):
                return self.broken_answer()
            cause = cause.__cause__
        return error

    def broken_answer(self) -> Transient:
        return Transient(tr("{name} sent a broken answer.", name=self.service.name))

    def request(
        self,
        method: str,
        url: str,
        *,
        seconds: float,
        cancel: CancelToken | None = None,
        private: Sequence[str] = (),
        **content: Any,
    ) -> bytes:
        """Return the body of a 2xx response.

        `url` is relative to the base URL; `content`: json, content, files, headers as in httpx. `private` and errors as
        in `call`.
        """
        with self.call(seconds, cancel=cancel, private=private):
            return self.sdk.request(method, f"{self.base_url}{url}", **content).content

    def close(self) -> None:
        """Close the client. Running calls finish; later ones raise `Closed`."""
        with self._lock:
            first, self._closed = not self._closed, True
            idle = not self._under_way
        if first and idle:
            self.sdk.close()

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Return the error for a response that is not 2xx, with keys removed."""
        for secret in self._secrets:
            body = body.replace(secret, b"***")
        return response_error(self.service, status, headers, body, current_call().private)


class _Guard(httpx2.BaseTransport):
    """Filters outgoing headers, and raises our errors for every unsuccessful response."""

    def __init__(self, client: HttpClient, headers: httpx2.Headers) -> None:
        """`headers`: sent with every request, including the key."""
        self._client = client
        self._headers = headers
        url = httpx2.URL(client.base_url)
        self._origin = (url.scheme, url.host, url.port)
        self._transport = Transport(system_proxy(url), tls=url.scheme == "https")

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if (request.url.scheme, request.url.host, request.url.port) != self._origin:
            raise ProviderError(
                tr(
                    "A request to {host} was blocked, because {host} is not a server of {name}.",
                    name=self._client.service.name,
                    host=request.url.host,
                )
            )
        sent = httpx2.Headers({name: value for name, value in request.headers.items() if name in _SENT})
        sent.update(self._headers)
        with self._sentences():
            response = self._transport.handle_request(
                httpx2.Request(request.method, request.url, headers=sent, stream=request.stream)
            )
            response.request = request
            assert isinstance(response.stream, httpx2.SyncByteStream)
            encoding = response.headers.pop("content-encoding", "identity").strip().lower()
            response.headers.pop("content-length", None)
            response.headers.pop("set-cookie", None)  # a broken cookie would fail all later requests
            response.stream = _Checked(response.stream, self, encoding)
            if response.is_success:
                return response
            with contextlib.closing(response):
                raise self._client.failure(response.status_code, response.headers, _start_of(response))

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        name, host = self._client.service.name, self._origin[1]
        try:
            yield
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            raise Transient(
                tr(
                    _unreachable_message(here=is_loopback(self._client.base_url), named=host in name),
                    name=name,
                    host=host,
                    reason=_reason(error),
                )
            ) from None
        except httpcore2.TimeoutException:
            raise Transient(tr("{name} did not answer in time.", name=name)) from None
        except httpcore2.ProxyError as error:
            raise ProviderError(
                tr("The system's proxy refused to connect to {host} ({reason}).", host=host, reason=_reason(error))
            ) from None
        except zlib.error:
            raise self._client.broken_answer() from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError):
            raise Transient(tr("{name} stopped in the middle of its answer.", name=name)) from None

    def close(self) -> None:
        self._transport.close()


class _Checked(httpx2.SyncByteStream):
    """A decompressed response stream that translates connection errors. Raises `ProviderError`."""

    def __init__(self, stream: httpx2.SyncByteStream, guard: _Guard, encoding: str) -> None:
        """`encoding`: Content-Encoding of the response; only gzip was requested."""
        self._stream = stream
        self._guard = guard
        self._encoding = encoding

    def __iter__(self) -> Iterator[bytes]:
        with self._guard._sentences():
            if self._encoding == "identity":
                yield from self._stream
            elif self._encoding in {"gzip", "x-gzip"}:
                yield from _unpacked(self._stream, current_call().most_bytes)
            else:
                raise zlib.error

    def close(self) -> None:
        self._stream.close()


def _unpacked(packed: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Decompress gzip data in steps, up to `most` bytes: a thousandth of that may expand to the whole.

    Raises `AnswerTooLarge`, and `zlib.error` for damaged or truncated data.
    """
    unpacking = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    for part in packed:
        rest = part
        while rest:
            found = unpacking.decompress(rest, _STEP)
            most -= len(found)
            if most < 0:
                raise AnswerTooLarge
            if found:
                yield found
            rest = b"" if unpacking.eof else unpacking.unconsumed_tail
    if not unpacking.eof:
        raise zlib.error


def system_proxy(url: httpx2.URL) -> str | None:
    """Return the system's proxy for this URL; never for this machine."""
    if is_loopback(str(url)) or urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


def _unreachable_message(*, here: bool, named: bool) -> str:
    """`here`: the host is this machine. `named`: the service's name contains the host."""
    if named:
        return (
            marked("{name} cannot be reached ({reason}): is it running?")
            if here
            else marked("{name} cannot be reached ({reason}): check the network.")
        )
    return (
        marked("{name} cannot be reached at {host} ({reason}): is it running?")
        if here
        else marked("{name} cannot be reached at {host} ({reason}): check the network.")
    )


def _start_of(response: httpx2.Response) -> bytes:
    """Return the first bytes of an error response's body."""
    start = b""
    with contextlib.suppress(ProviderError):
        for part in response.iter_bytes():
            start += part
            if len(start) >= _MAX_ERROR_BYTES:
                break
    return start[:_MAX_ERROR_BYTES]


def _reason(error: Exception) -> str:
    """Return the system's error message without its number."""
    return re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
