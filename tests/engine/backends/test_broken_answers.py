"""Responses of an embedding server that are not valid HTTP, gzip or JSON: one sentence in the sync's report."""

import contextlib
import gzip
import json
import queue
import socket
import struct
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.backends.builtin import BuiltinMemory
from engine.base.errors import ProviderError
from engine.embedding import openai_compatible, service_errors
from engine.settings import Settings
from engine.settings.options import RemoteSettings
from tests.helpers.embedding_servers.server import hang_up

RESET = b"RESET"
"""A server that closes the connection in the middle of a response without a closing handshake."""
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_GZIP = _OK + b"Content-Encoding: gzip\r\n"
_GOOD = json.dumps({"data": [{"index": 0, "embedding": [0.5] * 8}]}).encode()
_PACKED = gzip.compress(_GOOD * 50)


def _bomb() -> bytes:
    """Return 200 MB of spaces as gzip: one packed megabyte, repeated. Its checksum is wrong, and after the limit."""
    packing = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    first, second = (packing.compress(b" " * 1_000_000) + packing.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + second * 199 + packing.flush()


_BOMB = _bomb()


def _sized(head: bytes, body: bytes) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


BROKEN = {
    "gzip garbage": _sized(_GZIP, b"this is no gzip"),
    "gzip cut off": _sized(_GZIP, _PACKED[:-20]),
    "gzip checksum": _sized(_GZIP, _PACKED[:-8] + bytes(8)),
    "deflate": _sized(_OK + b"Content-Encoding: deflate\r\n", b"abcde"),
    "brotli": _sized(_OK + b"Content-Encoding: br\r\n", b"abcde"),
    "unknown encoding": _sized(_OK + b"Content-Encoding: \xff\xfe\r\n", b"abcde"),
    "chunk cut off": _OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%s" % (len(_GOOD), _GOOD[:20]),
    "chunk size": _OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n123\r\n",
    "huge chunk size": _OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n123\r\n",
    "length too short": _OK + b"Content-Length: 10\r\n\r\n" + _GOOD,
    "length too long": _OK + b"Content-Length: 9999\r\n\r\n" + _GOOD,
    "negative length": _OK + b"Content-Length: -5\r\n\r\n" + _GOOD,
    "length of 5,000 digits": _OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + _GOOD,
    "two lengths": _OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n" + _GOOD,
    "UTF-16": _sized(_OK.replace(b"json", b"json; charset=utf-16"), _GOOD.decode().encode("utf-16")),
    "HTML": _sized(_OK.replace(b"application/json", b"text/html; charset=latin1"), b"<html>\xe9: log in</html>"),
    "no HTTP": b"\x16\x03\x01 this is no http\r\n\r\n",
    "status is no number": b"HTTP/1.1 abc nope\r\n\r\n",
    "status 999": _sized(b"HTTP/1.1 999 nope\r\n", b""),
    "HTTP/0.9": b"<html></html>",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "NUL in a header": b"HTTP/1.1 200 OK\r\nX-A: \x00\r\n\r\n{}",
    "endless 100": b"HTTP/1.1 100 Continue\r\n\r\n" * 2000,
    "101": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "long header": _OK + b"X-A: " + b"a" * 300_000 + b"\r\n\r\n{}",
    "empty": b"",
    "reset": RESET,
    "error with broken gzip": _sized(b"HTTP/1.1 500 Oops\r\nContent-Encoding: gzip\r\n", b"garbage"),
    "error with gzip bomb": _sized(b"HTTP/1.1 500 Oops\r\nContent-Encoding: gzip\r\n", _BOMB),
    "error cut off": b"HTTP/1.1 500 Oops\r\nContent-Length: 700\r\n\r\ngarbage",
    "deep JSON": _sized(_OK, b"[" * 1_000_000),
}
"""Faults that are retried."""
FINAL = {
    "gzip bomb": _sized(_GZIP, _BOMB),
    "redirect to itself": b"HTTP/1.1 302 Found\r\nLocation: /v1/embeddings\r\nContent-Length: 0\r\n\r\n",
    "broken redirect": b"HTTP/1.1 301 Moved\r\nLocation: http://[::bad\xff\r\nContent-Length: 0\r\n\r\n",
    "number of 5,000 digits": _sized(b"HTTP/1.1 400 No\r\n", b'{"error": {"message": ' + b"9" * 5000 + b"}}"),
}
"""Faults that are not retried."""


class RawServer:
    """A server that sends these bytes in response to every request."""

    def __init__(self, answer: bytes = b"") -> None:
        self.answer = answer
        self.requests = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._accepted: queue.Queue[socket.socket | None] = queue.Queue()
        self._threads = [threading.Thread(target=self._accept), *(threading.Thread(target=self._serve) for _ in "1234")]
        for thread in self._threads:
            thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        hang_up(self._listener)
        for _ in self._threads:
            self._accepted.put(None)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._accepted.put(self._listener.accept()[0])

    def _serve(self) -> None:
        while (connection := self._accepted.get()) is not None:
            with connection, contextlib.suppress(OSError):
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        request = connection.recv(65536)
        while b"\r\n\r\n" not in request and request[:1] == b"P":
            request += connection.recv(65536)
        if not request:
            return
        self.requests += 1
        if self.answer == RESET:
            connection.sendall(_OK + b"Content-Length: 5000\r\n\r\n[1")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        connection.sendall(self.answer)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    running = RawServer()
    yield running
    running.close()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_errors, "pause", lambda seconds, cancel: None)


def settings_for(address: str, **options: object) -> Settings:
    return Settings(provider="openai", model="m", remote=RemoteSettings(base_url=f"{address}/v1"), **options)


@pytest.mark.parametrize("case", [*BROKEN, *FINAL])
def test_sync_broken_answer_keeps_report_and_keywords(server: RawServer, tmp_path: Path, case: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pump.md").write_text("# Pump\n\nThe pump leaks.\n")
    (notes / "binary.md").write_bytes(bytes(99))
    server.answer, server.requests = {**BROKEN, **FINAL}[case], 0
    store = msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"))
    memory = BuiltinMemory(
        notes, settings_for(f"http://{server.address}", store=store), executor=None, background=False
    )
    try:
        report = memory.sync(approve=True)
        assert report.error.endswith(".")
        assert "\n" not in report.error
        assert not any(word in report.error for word in ("Error", "Unexpected", "Traceback"))
        assert (report.files_indexed, report.vectors_pending, report.provider_failed) == (1, 1, True)
        assert [issue.path for issue in report.failed] == ["binary.md"]
        # A retry on a connection that the server is closing is never seen by the server.
        assert server.requests in (range(2, service_errors.ATTEMPTS + 1) if case in BROKEN else [1])
        assert [result.path for result in memory.search("pump").results] == ["pump.md"]
    finally:
        memory.close()


def test_error_explains_https_at_http_port(server: RawServer) -> None:
    server.answer = b"HTTP/1.1 400 Plain\r\n\r\n"
    provider = openai_compatible.make(settings_for(f"https://{server.address}"), None)
    try:
        with pytest.raises(ProviderError, match="does not use TLS"):
            provider.embed_documents(["hello"])
    finally:
        provider.close()


@settings(max_examples=100)
@given(
    head=st.sampled_from([b"", _OK, _GZIP, _OK + b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1 302 Found\r\n"]),
    rest=st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=60).map(lambda body: b"\r\n" + body),
        st.binary(max_size=60).map(lambda body: b"\r\n" + gzip.compress(body)),
        st.binary(max_size=30).map(lambda value: b"Location: " + value + b"\r\n\r\n"),
        st.binary(max_size=30).map(lambda value: b"Set-Cookie: " + value + b"\r\n\r\n"),
    ),
)
def test_any_bytes_are_a_provider_error(server: RawServer, head: bytes, rest: bytes) -> None:
    server.answer = head + rest
    provider = openai_compatible.make(settings_for(f"http://{server.address}"), None)
    try:
        with pytest.raises(ProviderError):
            provider.embed_documents(["hello"])
    finally:
        provider.close()
