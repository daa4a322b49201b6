"""HTTP transport with immediate cancel, a time limit per call, and responses of limited size.

The HTTP client uses plain blocking sockets. Its sockets are wrapped here and know the `Call` of their thread: they wait
no longer than that call may last, and a cancel from any thread shuts them down. Only name resolution can't be
interrupted; it takes as long as the system lets it.
"""

import contextlib
import importlib.util
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import httpcore2
import httpx2

from engine.base.cancellation import CancelToken, on_cancel
from engine.base.errors import Cancelled, ProviderError
from engine.base.language import tr
from engine.embedding.service_errors import AnswerTooLarge

_CONNECT_SECONDS = 10.0
_NO_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"}
"""OpenSSL's reasons for a response that is not TLS."""
_IDLE_SECONDS = 30.0
"""Lifetime in seconds of idle connections."""


class Untrusted(ProviderError):
    """The server's TLS certificate could not be verified."""

    def __init__(self, host: str | None, problem: str) -> None:
        super().__init__(
            tr(
                "This machine doesn't trust the certificate of {host} ({problem}): check base_url.",
                host=host,
                problem=problem,
            )
        )


class Call:
    """One request and its whole response, on one thread."""

    def __init__(
        self, seconds: float, most_bytes: int, cancel: CancelToken | None, private: Sequence[str] = ()
    ) -> None:
        """`private`: texts in the request, which error messages must not quote."""
        self.private = private
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._open: socket.socket | None = None
        self._stopped = False
        self.most_bytes = most_bytes
        self._cancel = cancel

    @contextlib.contextmanager
    def on_this_thread(self) -> Iterator[None]:
        """Make this thread's requests part of this call. Raises `Cancelled` for the error that a cancel causes."""
        token = _current.set(self)
        try:
            with on_cancel(self._stop, self._cancel):
                self.checkpoint()
                yield
        except Exception:
            self.checkpoint()
            raise
        finally:
            _current.reset(token)

    def seconds_left(self, most: float | None) -> float:
        """Return the remaining seconds for a step, at most `most`. Raises TimeoutError after the call's time limit."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds if most is None else min(seconds, most)

    @contextlib.contextmanager
    def using(self, handle: socket.socket) -> Iterator[None]:
        """Make a cancel shut down this connection. Raises `Cancelled` if it came before."""
        with self._lock:
            if self._stopped:
                raise Cancelled
            self._open = handle
        try:
            yield
        finally:
            with self._lock:
                self._open = None

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._open is not None:
                with contextlib.suppress(OSError):  # not connected yet, or already closed
                    self._open.shutdown(socket.SHUT_RDWR)

    def checkpoint(self) -> None:
        """Raise `Cancelled` once cancelled."""
        if self._stopped:
            raise Cancelled


_current: ContextVar[Call | None] = ContextVar("call", default=None)


def current_call() -> Call:
    """Return the HTTP call that is in progress on this thread."""
    call = _current.get()
    if call is None:
        raise RuntimeError("a request outside of a call")
    return call


class _Stream(httpcore2.NetworkStream):
    """A connected socket.

    `_handle` is a duplicate of the connection, so that shutting it down needs neither the socket's Python object, which
    a TLS handshake replaces, nor its locks.
    """

    def __init__(self, connected: socket.socket, handle: socket.socket) -> None:
        self._socket = connected
        self._handle = handle

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _mapped(httpcore2.ReadTimeout, httpcore2.ReadError), current_call().using(self._handle):
            self._socket.settimeout(current_call().seconds_left(timeout))
            received = self._socket.recv(max_bytes)
        if not received:  # an end caused by a cancel must not count as the end of a response
            current_call().checkpoint()
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        view = memoryview(buffer)
        with _mapped(httpcore2.WriteTimeout, httpcore2.WriteError), current_call().using(self._handle):
            while view:
                self._socket.settimeout(current_call().seconds_left(timeout))
                view = view[self._socket.send(view) :]

    def close(self) -> None:
        self._socket.close()
        self._handle.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        try:
            if isinstance(self._socket, ssl.SSLSocket):
                raise httpcore2.ConnectError("TLS within TLS: a proxy must be reached by http")
            with _mapped(httpcore2.ConnectTimeout, httpcore2.ConnectError), current_call().using(self._handle):
                self._socket.settimeout(current_call().seconds_left(timeout))
                wrapped = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except ssl.SSLCertVerificationError as error:
            self.close()
            raise Untrusted(server_hostname, error.verify_message) from None
        except httpcore2.ConnectError as error:
            self.close()
            if getattr(error.__cause__, "reason", None) not in _NO_TLS:
                raise
            raise ProviderError(
                tr("{host} does not use TLS at this port: check https and the port in base_url.", host=server_hostname)
            ) from None
        except BaseException:
            self.close()
            raise
        return _Stream(wrapped, self._handle)

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return _is_readable(self._socket)
        if info == "ssl_object":
            return self._socket if isinstance(self._socket, ssl.SSLSocket) else None
        return None


class _Backend(httpcore2.NetworkBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        with _mapped(httpcore2.ConnectTimeout, httpcore2.ConnectError):
            error: OSError = OSError(f"{host} has no address")
            for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
                try:
                    return _connect(socket.socket(family, kind, protocol), address)
                except OSError as failed:
                    error = failed
            raise error


def _connect(new: socket.socket, address: Any) -> _Stream:
    handle: socket.socket | None = None
    try:
        handle = new.dup()
        with current_call().using(handle):
            new.settimeout(current_call().seconds_left(_CONNECT_SECONDS))
            new.connect(address)
            new.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        new.close()
        if handle is not None:
            handle.close()
        raise
    return _Stream(new, handle)


def _is_readable(connected: socket.socket) -> bool:
    """Whether there is data to read; on an idle connection, this means that the server has closed it."""
    if hasattr(select, "poll"):  # select() fails for descriptors above 1023
        poll = select.poll()
        poll.register(connected, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([connected], [], [], 0)[0])


@contextlib.contextmanager
def _mapped(timeout: type[Exception], failure: type[Exception]) -> Iterator[None]:
    """Convert socket errors to the HTTP client's errors."""
    try:
        yield
    except ssl.SSLCertVerificationError:
        raise
    except TimeoutError as error:
        raise timeout("timed out") from error
    except OSError as error:
        raise failure(str(error)) from error


class Transport(httpx2.BaseTransport):
    """One connection pool; raises httpcore2's errors."""

    def __init__(self, proxy: str | None, *, tls: bool = True) -> None:
        """`proxy`: URL of an http or socks proxy, including credentials. `tls`: whether requests use https.

        Raises `ProviderError` if the proxy is invalid.
        """
        options: dict[str, Any] = {
            "ssl_context": httpx2.create_ssl_context() if tls else None,
            "max_connections": None,  # limited by the embedding stage
            "keepalive_expiry": _IDLE_SECONDS,
            "network_backend": _Backend(),
        }
        if proxy is None:
            self._pool = httpcore2.ConnectionPool(**options)
            return
        url = httpx2.URL(proxy)
        address = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        login = (url.username, url.password) if url.username or url.password else None
        if url.scheme == "http":
            self._pool = httpcore2.HTTPProxy(address, login, **options)
        elif url.scheme in {"socks5", "socks5h"}:
            if importlib.util.find_spec("socksio") is None:
                raise ProviderError(tr("The system's proxy is a socks5 proxy: install the package socksio for it."))
            self._pool = httpcore2.SOCKSProxy(address, login, **options)
        else:
            raise ProviderError(
                tr(
                    "The system's proxy is of type {kind}, but only http and socks5 proxies are supported.",
                    kind=url.scheme or tr("unnamed"),
                )
            )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        assert isinstance(request.stream, httpx2.SyncByteStream)
        response = self._pool.handle_request(
            httpcore2.Request(
                request.method,
                httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
            )
        )
        return httpx2.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    """The body of a response, limited to its call's maximum size."""

    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        bytes_left = current_call().most_bytes
        for part in self._response.iter_stream():
            bytes_left -= len(part)
            if bytes_left < 0:
                raise AnswerTooLarge
            yield part

    def close(self) -> None:
        self._response.close()
