"""Requests that end: cancelled at every stage of a connection, timed out, or with a response that is too large."""

import contextlib
import importlib.util
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, ProviderError
from engine.embedding.http import HttpClient
from engine.embedding.service_errors import Service, Transient
from engine.settings import Settings
from engine.settings.options import RemoteSettings
from tests.helpers.embedding_servers.server import hang_up

SERVICE = Service("The service", "ITS_KEY")


@contextlib.contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Run a server on loopback that passes one connection to `answer`; yield its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    accepted: list[socket.socket] = []

    def serve() -> None:
        with contextlib.suppress(OSError):
            connection = listener.accept()[0]
            accepted.append(connection)
            answer(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        hang_up(listener)
        for connection in accepted:
            hang_up(connection)
        thread.join()
        for each in (listener, *accepted):
            each.close()


@contextlib.contextmanager
def client_of(base_url: str) -> Iterator[HttpClient]:
    client = HttpClient(SERVICE, base_url, Settings(), {"Authorization": "Bearer key"})
    try:
        yield client
    finally:
        client.close()


def get(client: HttpClient, *, seconds: float = 3600, cancel: CancelToken | None = None) -> bytes:
    return client.request("GET", "/", seconds=seconds, cancel=cancel)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
STAGES = {
    "before it reads": b"",
    "within the headers": b"HTTP/1.1 200 OK\r\nContent-",
    "within the body": HEAD + b"Content-Length: 1000\r\n\r\n[1, 2",
    "within a body without a length": HEAD + b"\r\n[1, 2",
}


@pytest.mark.parametrize("stage", STAGES)
def test_cancel_ends_request_at_any_point(stage: str) -> None:
    reached = threading.Event()

    def answer(connection: socket.socket) -> None:
        connection.recv(1)
        connection.sendall(STAGES[stage])
        reached.set()
        connection.recv(100_000)
        connection.recv(1)  # until the client disconnects

    cancel = CancelToken()
    canceller = threading.Thread(target=lambda: (reached.wait(), cancel.cancel()))
    canceller.start()
    with answering(answer) as url, client_of(url) as client, pytest.raises(Cancelled):
        get(client, cancel=cancel)
    canceller.join()


def test_a_cancel_ends_a_tls_handshake() -> None:
    reached = threading.Event()

    def answer(connection: socket.socket) -> None:
        connection.recv(1)
        reached.set()
        connection.recv(100_000)
        connection.recv(1)

    cancel = CancelToken()
    canceller = threading.Thread(target=lambda: (reached.wait(), cancel.cancel()))
    canceller.start()
    with (
        answering(answer) as url,
        client_of(url.replace("http:", "https:")) as client,
        pytest.raises(Cancelled),
    ):
        get(client, cancel=cancel)
    canceller.join()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse connections beyond the queue")
def test_cancel_ends_unaccepted_connection(monkeypatch) -> None:
    """A listener with a full queue leaves further connections pending, like a host that drops packets."""
    with socket.socket() as listener, contextlib.ExitStack() as queued:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = queued.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        cancel = CancelToken()
        connect = socket.socket.connect

        def connecting(self, address):
            threading.Thread(target=cancel.cancel).start()
            return connect(self, address)

        monkeypatch.setattr(socket.socket, "connect", connecting)
        with client_of(f"http://127.0.0.1:{listener.getsockname()[1]}") as client, pytest.raises(Cancelled):
            get(client, cancel=cancel)


def test_slow_response_ends_at_timeout() -> None:
    """Each read returns data, so a timeout per read would never expire."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\n")
        with contextlib.suppress(OSError):
            while True:
                connection.sendall(b" ")
                threading.Event().wait(0.01)

    with answering(answer) as url, client_of(url) as client, pytest.raises(Transient, match="did not answer in time"):
        get(client, seconds=0.3)


def test_endless_response_is_abandoned() -> None:
    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\n")
        with contextlib.suppress(OSError):
            while True:
                connection.sendall(b" " * 65536)

    with (
        answering(answer) as url,
        client_of(url) as client,
        pytest.raises(ProviderError, match="larger than any valid answer"),
        client.call(60, most_bytes=1_000_000),
    ):
        client.sdk.get(url)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-",
        HEAD + b"Content-Length: 1000\r\n\r\n[1, 2",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n[1, 2",
        b"220 smtp.example.org ESMTP\r\n",
        HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n[1]\n",
    ],
    ids="nothing headers body chunk another-protocol no-gzip".split(),
)
def test_broken_response_is_transient(sent: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(100_000)
        connection.sendall(sent)
        hang_up(connection)

    with answering(answer) as url, client_of(url) as client, pytest.raises(Transient, match="The service"):
        get(client)


def test_invalid_tls_is_reported() -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(100_000)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        hang_up(connection)

    with (
        answering(answer) as url,
        client_of(url.replace("http:", "https:")) as client,
        pytest.raises(ProviderError, match="does not use TLS"),
    ):
        get(client)


def test_no_request_is_sent_to_another_host() -> None:
    with (
        client_of("http://127.0.0.1:1/v1") as client,
        pytest.raises(ProviderError, match="to localhost was blocked"),
        client.call(60),
    ):
        client.sdk.get("http://localhost:1/v1")


def test_a_closed_client_sends_nothing() -> None:
    with client_of("http://127.0.0.1:1/v1") as client:
        client.close()
        with pytest.raises(Closed):
            get(client)


@pytest.mark.parametrize(
    ("headers", "says"),
    [({"X-Team": "a\nb"}, '"X-Team"'), ({"X Team": "a"}, '"X Team"'), ({"": "a"}, '""'), ({"X-Team": "ü"}, '"X-Team"')],
)
def test_unsendable_headers_are_refused(headers, says) -> None:
    settings = Settings(remote=RemoteSettings(headers=headers))
    with pytest.raises(ProviderError, match=f"The header {says} in the settings contains characters"):
        HttpClient(SERVICE, "https://api.example.org/v1", settings, {})


def test_system_proxy_is_not_used_for_this_machine(monkeypatch) -> None:
    requests: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        requests.append(connection.recv(100_000))
        connection.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        hang_up(connection)

    with answering(answer) as proxy:
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, proxy.replace("//", "//me:secret@"))
        monkeypatch.delenv("no_proxy", raising=False)
        with (
            client_of("https://api.example.invalid/v1") as client,
            pytest.raises(ProviderError, match=r"proxy refused to connect to api\.example\.invalid") as caught,
        ):
            get(client)
    assert "secret" not in str(caught.value)
    assert requests[0].startswith(b"CONNECT api.example.invalid:443 ")
    assert b"Bearer" not in requests[0]


@pytest.mark.parametrize(
    ("proxy", "says"),
    [("ftp://proxy.example.org", "proxy is of type ftp"), ("socks5://127.0.0.1:1", "install .* socksio")],
)
def test_error_names_unusable_proxy(monkeypatch, proxy: str, says: str) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ProviderError, match=says):
        HttpClient(SERVICE, "https://api.example.org/v1", Settings(), {})


@pytest.mark.skipif(shutil.which("openssl") is None, reason="a certificate is made with openssl")
def test_untrusted_certificate_refused(tmp_path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def answer(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            context.wrap_socket(connection, server_side=True).close()

    with (
        answering(answer) as url,
        client_of(url.replace("http://127.0.0.1", "https://localhost")) as client,
        pytest.raises(ProviderError, match="doesn't trust the certificate of localhost") as caught,
    ):
        get(client)
    assert not isinstance(caught.value, Transient)
