"""Process that runs a GGUF model, so that a file that makes llama.cpp abort does not end the whole program.

It handles requests on a pipe until the pipe closes, which also happens when the program dies. Messages are msgpack, not
pickles, because they come from a process that has parsed a third-party file.
"""

import base64
import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from multiprocessing.connection import Connection
from typing import Any, Literal

import msgspec

from engine.base.language import marked

_THREADS_HTTP = 2
_ERRORS_ONLY = 1
"""Verbosity level of llama.cpp."""
_LOAD_ERROR = "error loading model: "
_POOLINGS = {1: "MEAN", 2: "CLS", 3: "LAST"}
RequestKind = Literal["vectors", "tokens"]


class Model(msgspec.Struct, frozen=True):
    """Parameters for loading a model."""

    path: str
    pooling: int
    tokens: int
    """Maximum tokens of a text."""
    threads: int
    folder: str
    """An empty private folder for the socket of llama.cpp's server; "" if such sockets are not supported."""


class Request(msgspec.Struct, frozen=True):
    """One job for the worker process; its answer has the same number."""

    number: int
    kind: RequestKind
    texts: list[str]


class Answer(msgspec.Struct, frozen=True):
    """Response to the request with the same number; number 0 reports that the model was loaded, or an error."""

    number: int
    vectors: bytes = b""
    """Concatenated vectors, float32, little-endian."""
    tokens: tuple[int, ...] = ()
    error: str = ""


def serve(pipe: Connection, model: bytes) -> None:
    """Load the model (`Model` as msgpack) and handle requests until the pipe closes."""
    encode = msgspec.msgpack.encode
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the program, which then closes the pipe
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    log = _redirect_output()
    try:
        server = _Server(msgspec.msgpack.decode(model, type=Model))
    except Exception as error:
        pipe.send_bytes(encode(Answer(0, error=_error_message(error, log))))
        return
    try:
        pipe.send_bytes(encode(Answer(0)))
        while True:
            request = msgspec.msgpack.decode(pipe.recv_bytes(), type=Request)
            try:
                answer = server.answer(request)
            except Exception as error:
                answer = Answer(request.number, error=str(error) or type(error).__name__)
            pipe.send_bytes(encode(answer))
    except (EOFError, OSError):
        pass
    finally:
        server.clean_up()
        os._exit(0)  # nothing is left to save, and llama.cpp's threads need no shutdown


def _redirect_output() -> int:
    """Redirect llama.cpp's output to an unnamed file, which is returned, and disable core dumps."""
    with tempfile.TemporaryFile() as file:
        log = os.dup(file.fileno())
    for stream in (1, 2):
        os.dup2(log, stream)
    os.environ["GGML_NO_BACKTRACE"] = "1"
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would contain texts
    return log


def _error_message(error: Exception, log: int) -> str:
    """Return the error that llama.cpp printed, or else the exception's message."""
    os.lseek(log, 0, os.SEEK_SET)
    for line in os.read(log, 65536).decode("utf-8", "replace").splitlines():
        if _LOAD_ERROR in line:
            return line.partition(_LOAD_ERROR)[2].strip()
    return str(error) or type(error).__name__


class _Server:
    """llama.cpp's server in this process: vectors by direct calls, token counts over its own socket."""

    def __init__(self, model: Model) -> None:
        import xllamacpp

        self._folder = model.folder
        self._socket = os.path.join(model.folder, "llama.sock") if model.folder else ""
        self._key = secrets.token_hex(16)  # keeps other processes out, especially with TCP
        settings = xllamacpp.CommonParams()
        settings.model.path = model.path
        settings.embedding = True
        settings.pooling_type = getattr(xllamacpp.llama_pooling_type, f"LLAMA_POOLING_TYPE_{_POOLINGS[model.pooling]}")
        # A text is processed in a single batch, so all three are the maximum number of tokens.
        settings.n_ctx = settings.n_batch = settings.n_ubatch = model.tokens
        settings.n_parallel = 1
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = model.threads
        settings.n_threads_http = _THREADS_HTTP
        settings.api_keys = [self._key]
        settings.cache_ram_mib = 0
        settings.ui = False
        settings.warmup = False
        settings.verbosity = _ERRORS_ONLY
        settings.hostnames = [self._socket or "127.0.0.1"]
        self._server = xllamacpp.Server(settings)
        self._address = self._server.listening_address.removeprefix("http://")

    def answer(self, request: Request) -> Answer:
        if request.kind == "tokens":
            return Answer(request.number, tokens=tuple(self._tokens(text) for text in request.texts))
        return Answer(request.number, vectors=self._vectors(request.texts))

    def clean_up(self) -> None:
        """Remove the socket."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _vectors(self, texts: list[str]) -> bytes:
        """Raises `RuntimeError` with llama.cpp's error message."""
        answer = self._server.handle_embeddings({"input": texts, "encoding_format": "base64"})
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        rows = sorted(answer["data"], key=lambda row: int(row["index"]))
        if [row["index"] for row in rows] != list(range(len(texts))):
            raise RuntimeError(marked("it returned vectors for other texts than it was given"))
        return b"".join(base64.b64decode(row["embedding"]) for row in rows)

    def _tokens(self, text: str) -> int:
        connection = _UnixConnection(self._socket) if self._socket else http.client.HTTPConnection(self._address)
        try:
            body = json.dumps({"content": text, "add_special": True})
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
            connection.request("POST", "/tokenize", body, headers)
            answer: Any = json.load(connection.getresponse())
        finally:
            connection.close()
        return len(answer["tokens"])


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)
