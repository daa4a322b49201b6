"""A loopback server that fakes an embedding service, produces faults on request and counts its answers."""

import contextlib
import json
import math
import socket
import sys
import threading
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from engine.settings import Settings
from engine.settings.options import RemoteSettings


@dataclass
class Request:
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]
    """Headers by lower-case name."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """A response. `counts` lists inputs with valid vectors, counted once the response is sent completely."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    counts: Sequence[str] = ()
    halfway: Callable[[], None] | None = None
    """Called after half of the body is sent; may block."""


class Refusal(Exception):
    """A request that the real service would refuse."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status)
        self.reply = Reply(status, body, dict(headers or {}))


Route = Callable[[Request], Reply]


class Fault:
    """A fault of one request. Each is used for one request only."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        """Set once its request is received."""


class Say(Fault):
    """Send this response without reading the request."""

    def __init__(self, status: int, body: Any = b"", headers: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.reply = Reply(status, body, dict(headers or {}))


class Hang(Fault):
    """Never answer; the connection stays open until either side closes it."""


class Drop(Fault):
    """Close the connection without a response."""


class Truncate(Fault):
    """Send the first half of a correct response: with its full length announced, or as if complete."""

    def __init__(self, *, announced: bool) -> None:
        super().__init__()
        self.announced = announced


class Change(Fault):
    """Send a response modified in place by `edit`; `usable`: a client can still rely on parts of it."""

    def __init__(self, edit: Callable[[Any], None], *, usable: bool = True) -> None:
        super().__init__()
        self.edit = edit
        self.usable = usable


class FakeServer:
    """Base of the fakes: a context manager; `routes` of a subclass defines the responses.

    Each request takes the next fault of `faults`; without one, the request is answered as by the service.
    """

    provider: str
    """Name in the settings."""
    model: str
    """Model in `settings`."""

    def __init__(self, *, dims: int, key: str | None) -> None:
        """`dims`: length of the vectors of `model`; `key`: the only valid key, None if none is required."""
        self.dims = dims
        self.key = key
        self.faults: deque[Fault] = deque()
        self.requests: list[Request] = []
        self.answered: Counter[str] = Counter()
        """Number of valid vectors sent for each input."""
        self.takes_fault: Callable[[Request], bool] = lambda request: True
        """Return whether a request takes a fault; others are answered as by the service."""
        self.before: Callable[[Request], None] = lambda request: None
        """Called before each request is answered, outside of all locks; may block."""
        self.after: Callable[[Request], None] = lambda request: None
        """Called when a request has taken effect, before its response is sent; may block."""
        self.bugs: list[BaseException | None] = []
        """Exceptions in the fake itself; raised when the context ends."""
        self.lock = threading.Lock()
        self.connections: set[socket.socket] = set()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.fake = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    def settings(self, **options: Any) -> Settings:
        """Return settings for this server, with a price, since a local server has none."""
        remote = RemoteSettings(base_url=self.base_url)
        prices = {f"{self.provider}/{self.model}": 0.02}
        return Settings(
            **{"provider": self.provider, "model": self.model, "remote": remote, "prices": prices} | options
        )

    def limited(self, headers: Mapping[str, str] | None = None) -> Say:
        """Return the response to too many requests."""
        raise NotImplementedError

    def out_of_quota(self) -> Say:
        """Return the response to a used-up budget or daily limit."""
        raise NotImplementedError

    def unauthorized(self) -> Say:
        """Return the response to a wrong key, which repeats the key."""
        raise NotImplementedError

    def trouble(self) -> Say:
        """Return an internal error of the service."""
        raise NotImplementedError

    def items(self, body: Any) -> list[Any]:
        """Return the list of a response's vectors, which can be modified in place."""
        raise NotImplementedError

    def put(self, item: Any, vector: Any) -> None:
        """Replace the vector of one of the items."""
        raise NotImplementedError

    def fewer(self, *indexes: int) -> Change:
        """Return a fault that removes these vectors from the response."""

        def edit(body: Any) -> None:
            for index in sorted(indexes, reverse=True):
                del self.items(body)[index]

        return Change(edit)

    def shuffled(self) -> Change:
        return Change(lambda body: self.items(body).reverse())

    def replaced(self, index: int, vector: list[float]) -> Change:
        """Return a fault that replaces the vector at this position."""
        return Change(lambda body: self.put(self.items(body)[index], vector))

    def garbled(self, index: int) -> Change:
        """Return a fault that replaces a vector by something else."""
        return Change(lambda body: self.put(self.items(body)[index], 3), usable=False)

    def resized(self, dims: int) -> Change:
        """Return a fault that changes the length of all vectors."""

        def edit(body: Any) -> None:
            for item in self.items(body):
                self.put(item, [0.5] * dims)

        return Change(edit, usable=False)

    def routes(self) -> Mapping[tuple[str, str], Route]:
        """Return the handlers by (method, path)."""
        raise NotImplementedError

    def not_found(self, request: Request, methods: Iterable[str]) -> Reply:
        """Return the response for unknown routes; `methods` are those that the path supports."""
        return Reply(405 if list(methods) else 404, {"error": {"message": f"no {request.method} {request.path}"}})

    def reliable(self, request: Request, body: Any) -> Sequence[str]:
        """Return the inputs with valid vectors in a modified response."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            hang_up(connection)
        self._http.server_close()
        self._thread.join()
        if self.bugs:
            raise AssertionError("The fake itself failed") from self.bugs[0]

    def vector(self, text: str, dims: int | None = None) -> list[float]:
        """Return the unit vector of a text: texts that share words get similar vectors."""
        row = [0.0] * (dims or self.dims)
        for word in text.lower().split():
            row[zlib.crc32(word.strip(".,:;!?#").encode()) % len(row)] += 1.0
        length = math.sqrt(sum(x * x for x in row))
        if not length:
            row[0] = length = 1.0
        return [x / length for x in row]

    def good(self, vector: Sequence[float]) -> bool:
        """Return whether a client can use this vector."""
        return len(vector) == self.dims and any(vector) and all(map(math.isfinite, vector))

    def next_fault(self, request: Request) -> Fault | None:
        with self.lock:
            return self.faults.popleft() if self.faults and self.takes_fault(request) else None

    def noted(self, request: Request) -> None:
        with self.lock:
            self.requests.append(request)

    def count(self, inputs: Sequence[str], times: int) -> None:
        with self.lock:
            for text in inputs:
                self.answered[text] += times


def hang_up(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed already
        connection.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 64
    fake: FakeServer

    def handle_error(self, request, client_address):
        error = sys.exception()
        if not isinstance(error, OSError):  # OSError means that a client disconnected, as tests do on purpose
            self.fake.bugs.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.server.fake.lock:
            self.server.fake.connections.add(self.connection)

    def finish(self) -> None:
        with self.server.fake.lock:
            self.server.fake.connections.discard(self.connection)
        super().finish()

    def log_message(self, format, *args):
        pass

    def _handle(self) -> None:
        fake = self.server.fake
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionResetError
        request = Request(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        fake.noted(request)
        fault = fake.next_fault(request)
        if fault is not None:
            fault.reached.set()
        if isinstance(fault, Say):
            self._send(fault.reply)
        elif isinstance(fault, Drop):
            self.close_connection = True
        elif isinstance(fault, Hang):
            self.rfile.read(1)  # returns when either side closes
            self.close_connection = True
        else:
            fake.before(request)
            self._answer(request, fault)

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def do_PUT(self) -> None:
        self._handle()

    def do_DELETE(self) -> None:
        self._handle()

    def _answer(self, request: Request, fault: Fault | None) -> None:
        reply = self._reply(request)
        self.server.fake.after(request)
        if isinstance(fault, Change) and reply.status == 200:
            fault.edit(reply.body)
            reply.counts = self.server.fake.reliable(request, reply.body) if fault.usable else ()
        if isinstance(fault, Truncate):
            whole = _encoded(reply.body)
            half = whole[: len(whole) // 2]
            self._send(Reply(reply.status, half, reply.headers), length=len(whole) if fault.announced else None)
            self.close_connection = True
            return
        # Count before sending: a test may check as soon as the client has the response.
        self.server.fake.count(reply.counts, 1)
        try:
            self._send(reply)
        except OSError:
            self.server.fake.count(reply.counts, -1)
            raise

    def _reply(self, request: Request) -> Reply:
        fake = self.server.fake
        routes = fake.routes()
        path = request.path.partition("?")[0]
        route = routes.get((request.method, path))
        try:
            if route is None:
                return fake.not_found(request, [method for method, known in routes if known == path])
            return route(request)
        except Refusal as refusal:
            return refusal.reply

    def _send(self, reply: Reply, *, length: int | None = None) -> None:
        body = _encoded(reply.body)
        self.send_response(reply.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(length or len(body)), **reply.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        half = len(body) // 2 if reply.halfway is not None else 0
        self.wfile.write(body[:half])
        self.wfile.flush()
        if reply.halfway is not None:
            reply.halfway()
        self.wfile.write(body[half:])
        self.wfile.flush()


def _encoded(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()
