"""Client of the process that runs a GGUF model: starts it on demand and sends it one request at a time."""

import itertools
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, ProviderError
from engine.base.language import tr
from engine.base.private_files import temporary_folder
from engine.embedding.gguf_file import GgufFile
from engine.embedding.gguf_worker import Answer, Model, Request, Want, serve

_POLL = 0.05
"""Seconds between checks of the cancel token while the model works."""
_LONGEST_FOLDER = 55
"""Maximum length in bytes of the temporary folder: a socket's path is limited to 104."""
_LAST_BREATH = 5.0
"""Seconds to wait for a process to exit after it has closed its pipe."""
_MOST_FAILURES = 3
"""Number of consecutive crashes or failed loads after which the process is not restarted."""


@dataclass(frozen=True)
class Timeouts:
    """Timeout, priority and cancel token of a request."""

    seconds: float
    urgent: bool
    """Urgent requests go first."""
    cancel: CancelToken | None


class ModelProcess:
    """The model's process, started by the first request and restarted after a crash. Thread-safe.

    Raises `ProviderError` if the model can't be loaded, fails, crashes or exceeds the timeout; `Cancelled`, `Closed`.
    """

    def __init__(self, file: GgufFile, tokens: int) -> None:
        """`tokens`: maximum of one text."""
        self._file = file
        self._tokens = tokens
        self._turns = _Turns()
        self._worker: _Worker | None = None
        self._failures = 0
        self._last_failure = ""
        self._closed = False

    def vectors(self, texts: list[str], timeouts: Timeouts) -> bytes:
        """Concatenated float32 vectors. Each text must be within the token limit."""
        return self._ask("vectors", texts, timeouts).vectors

    def tokens(self, text: str, timeouts: Timeouts) -> int:
        """Token count by the model's own tokenizer, including special tokens."""
        (tokens,) = self._ask("tokens", [text], timeouts).tokens
        return tokens

    def close(self) -> None:
        """Stop the process, which frees its memory; running calls raise `Closed` shortly after."""
        self._closed = True
        with self._turns.take(lambda: None, urgent=True):
            self._end()

    def _ask(self, want: Want, texts: list[str], timeouts: Timeouts) -> Answer:
        deadline = time.monotonic() + timeouts.seconds

        def go_on() -> None:
            if self._closed:
                raise Closed
            if timeouts.cancel is not None and timeouts.cancel.cancelled:
                raise Cancelled
            if time.monotonic() > deadline:
                raise _TooSlow

        name = os.path.basename(self._file.path)
        try:
            with self._turns.take(go_on, urgent=timeouts.urgent):
                answer = self._answer(want, texts, go_on)
        except _TooSlow:
            raise ProviderError(
                tr(
                    "The model {name} took longer than {seconds:.0f} s: choose a smaller one.",
                    name=name,
                    seconds=timeouts.seconds,
                )
            ) from None
        if answer.error:
            raise ProviderError(tr("The model {name} failed: {error}.", name=name, error=tr(answer.error)))
        return answer

    def _answer(self, want: Want, texts: list[str], go_on: Callable[[], None]) -> Answer:
        go_on()
        if self._failures >= _MOST_FAILURES:
            raise ProviderError(self._last_failure)
        if self._worker is None:
            self._worker = _Worker(self._file, self._tokens)
        try:
            answer = self._worker.ask(want, texts, go_on)
        except _TooSlow:
            self._end()  # the next request must not wait for this one
            raise
        except _Failed as failure:
            self._end()
            self._failures += 1
            self._last_failure = str(failure)
            raise ProviderError(str(failure)) from None
        self._failures = 0
        return answer

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()


class _Failed(Exception):
    """The process failed to load the model, or crashed; the message is a sentence."""


class _TooSlow(Exception):
    """The timeout was exceeded."""


class _Worker:
    """One process; handles one call at a time."""

    def __init__(self, file: GgufFile, tokens: int) -> None:
        self._name = os.path.basename(file.path)
        # A socket file in a private folder, rather than a port that other users can reach.
        named = sys.platform != "win32" and len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_FOLDER
        self._folder = temporary_folder("gguf") if named else ""
        # The threads busy-wait for each other, so one without a free processor delays all: on two busy processors, a
        # short text took .42 s with two threads and .007 s with one.
        threads = max(1, (os.cpu_count() or 1) // 2)
        model = Model(file.path, file.pooling, tokens, threads, self._folder)
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(
            target=serve, args=(other, msgspec.msgpack.encode(model)), name="mnemoscope-gguf", daemon=True
        )
        self._process.start()
        other.close()
        self._loaded = False
        self._numbers = itertools.count(1)

    def ask(self, want: Want, texts: list[str], go_on: Callable[[], None]) -> Answer:
        """Send a request and wait for the response.

        Raises `_Failed`, and any error that `go_on` raises while waiting.
        """
        try:
            if not self._loaded:
                answer = self._wait(0, go_on)
                if answer.error:
                    raise _Failed(
                        tr("The model {name} cannot be loaded: {error}.", name=self._name, error=tr(answer.error))
                    )
                self._loaded = True
            number = next(self._numbers)
            self._pipe.send_bytes(msgspec.msgpack.encode(Request(number, want, texts)))
            return self._wait(number, go_on)
        except (EOFError, OSError, msgspec.MsgspecError):
            raise _Failed(self._death()) from None

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._process.close()
        self._pipe.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _wait(self, number: int, go_on: Callable[[], None]) -> Answer:
        """Wait for the response to this request, skipping those of abandoned requests."""
        while True:
            while not self._pipe.poll(_POLL):
                go_on()
            answer = msgspec.msgpack.decode(self._pipe.recv_bytes(), type=Answer)
            if answer.number == number:
                return answer

    def _death(self) -> str:
        self._process.join(_LAST_BREATH)
        code = self._process.exitcode
        if code == -signal.SIGTERM or (sys.platform != "win32" and code == -signal.SIGKILL):
            return tr(
                "The system ended the model {name}, perhaps because memory ran out: choose a smaller one.",
                name=self._name,
            )
        return tr(
            "The model {name} broke off while it worked (code {code}): fetch it again or choose another one.",
            name=self._name,
            code=code,
        )


class _Turns:
    """A lock that urgent callers get first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = False
        self._urgent = 0

    @contextmanager
    def take(self, go_on: Callable[[], None], *, urgent: bool) -> Iterator[None]:
        """Wait for the lock and hold it; `go_on` is called while waiting, and may raise."""
        with self._changed:
            self._urgent += urgent
            try:
                while self._taken or (self._urgent and not urgent):
                    go_on()
                    self._changed.wait(_POLL)
                self._taken = True
            finally:
                self._urgent -= urgent
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()
