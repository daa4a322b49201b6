"""Embed texts with a GGUF model file of the user, run by llama.cpp in a separate process.

The process starts on demand and gets one request at a time. No text leaves the machine, but it takes time: one core
embeds some five full passages per second with a model of 22 million parameters, and less than one with 300 million.
"""

import hashlib
import itertools
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.base import ChildProcess
from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import Cancelled, Closed, ProviderError
from engine.base.language import tr
from engine.base.private_files import temporary_prefix
from engine.embedding.gguf_file import GgufFile, llama_installed, model_path, read_gguf, traits_of
from engine.embedding.gguf_worker import Answer, Model, Request, RequestKind, serve
from engine.embedding.long_text_splitting import embed_whole
from engine.embedding.model_catalog import Traits
from engine.embedding.provider_interface import Limits, normalised, requests
from engine.providers import Calibration
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.embedding.provider_interface import Vectors

_POLL = 0.05
"""Seconds between checks of the cancel token while the model works."""
_LONGEST_FOLDER = 55
"""Maximum length in bytes of the temporary folder: a socket's path is limited to 104."""
_EXIT_SECONDS = 5.0
"""Seconds to wait for a process to exit after it has closed its pipe."""
_MAX_FAILURES = 3
"""Number of consecutive crashes or failed loads after which the process is not restarted."""


@dataclass(frozen=True)
class RequestOptions:
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
        self._priority_lock = _PriorityLock()
        self._worker: _Worker | None = None
        self._failures = 0
        self._last_failure = ""
        self._closed = False

    def vectors(self, texts: list[str], options: RequestOptions) -> bytes:
        """Return the concatenated float32 vectors. Each text must be within the token limit."""
        return self._request("vectors", texts, options).vectors

    def tokens(self, text: str, options: RequestOptions) -> int:
        """Return the number of tokens, counted by the model's own tokenizer, including special tokens."""
        (tokens,) = self._request("tokens", [text], options).tokens
        return tokens

    def close(self) -> None:
        """Stop the process, which frees its memory; running calls raise `Closed` shortly after."""
        self._closed = True
        with self._priority_lock.held(lambda: None, urgent=True):
            self._end()

    def _request(self, kind: RequestKind, texts: list[str], options: RequestOptions) -> Answer:
        deadline = time.monotonic() + options.seconds

        def check() -> None:
            if self._closed:
                raise Closed
            if options.cancel is not None and options.cancel.cancelled:
                raise Cancelled
            if time.monotonic() > deadline:
                raise _TooSlow

        name = os.path.basename(self._file.path)
        try:
            with self._priority_lock.held(check, urgent=options.urgent):
                answer = self._answer(kind, texts, check)
        except _TooSlow:
            raise ProviderError(
                tr(
                    "The model {name} took longer than {seconds:.0f} s: choose a smaller one.",
                    name=name,
                    seconds=options.seconds,
                )
            ) from None
        if answer.error:
            raise ProviderError(tr("The model {name} failed: {error}.", name=name, error=tr(answer.error)))
        return answer

    def _answer(self, kind: RequestKind, texts: list[str], check: Callable[[], None]) -> Answer:
        check()
        if self._failures >= _MAX_FAILURES:
            raise ProviderError(self._last_failure)
        if self._worker is None:
            self._worker = _Worker(self._file, self._tokens)
        try:
            answer = self._worker.request(kind, texts, check)
        except _TooSlow:
            self._end()  # the next request must not wait for this one
            raise
        except _WorkerFailed as failure:
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


class _WorkerFailed(Exception):
    """The process failed to load the model, or crashed; the message is a sentence."""


class _TooSlow(Exception):
    """The timeout was exceeded."""


class _Worker(ChildProcess):
    """One process; handles one call at a time."""

    def __init__(self, file: GgufFile, tokens: int) -> None:
        self._name = os.path.basename(file.path)
        # A socket file in a private folder, rather than a port that other users can reach.
        named = sys.platform != "win32" and len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_FOLDER
        self._folder = tempfile.mkdtemp(prefix=temporary_prefix("gguf")) if named else ""
        # The threads busy-wait for each other, so one without a free processor delays all: on two busy processors, a
        # short text took .42 s with two threads and .007 s with one.
        threads = max(1, (os.cpu_count() or 1) // 2)
        model = Model(file.path, file.pooling, tokens, threads, self._folder)
        super().__init__(serve, msgspec.msgpack.encode(model), name="mnemoscope-gguf")
        self._loaded = False
        self._numbers = itertools.count(1)

    def request(self, kind: RequestKind, texts: list[str], check: Callable[[], None]) -> Answer:
        """Send a request and wait for the response.

        Raises `_WorkerFailed`, and any error that `check` raises while waiting.
        """
        try:
            if not self._loaded:
                answer = self._wait_for_response(0, check)
                if answer.error:
                    raise _WorkerFailed(
                        tr("The model {name} cannot be loaded: {error}.", name=self._name, error=tr(answer.error))
                    )
                self._loaded = True
            number = next(self._numbers)
            self._pipe.send_bytes(msgspec.msgpack.encode(Request(number, kind, texts)))
            return self._wait_for_response(number, check)
        except (EOFError, OSError, msgspec.MsgspecError):
            raise _WorkerFailed(self._exit_message()) from None

    def end(self) -> None:
        super().end()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _wait_for_response(self, number: int, check: Callable[[], None]) -> Answer:
        """Wait for the response to this request, skipping responses to abandoned requests."""
        while True:
            while not self._pipe.poll(_POLL):
                check()
            answer = msgspec.msgpack.decode(self._pipe.recv_bytes(), type=Answer)
            if answer.number == number:
                return answer

    def _exit_message(self) -> str:
        self._process.join(_EXIT_SECONDS)
        code = self._process.exitcode
        if code == -signal.SIGTERM or (sys.platform != "win32" and code == -signal.SIGKILL):
            return tr(
                "The system ended the model {name}, perhaps because memory ran out: choose a smaller one.",
                name=self._name,
            )
        return tr(
            "The model {name} crashed (code {code}): download it again or choose another one.",
            name=self._name,
            code=code,
        )


class _PriorityLock:
    """A lock that urgent callers get first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_held = False
        self._urgent = 0

    @contextmanager
    def held(self, check: Callable[[], None], *, urgent: bool) -> Iterator[None]:
        """Wait for the lock and hold it; `check` is called while waiting, and may raise."""
        with self._changed:
            self._urgent += urgent
            try:
                while self._is_held or (self._urgent and not urgent):
                    check()
                    self._changed.wait(_POLL)
                self._is_held = True
            finally:
                self._urgent -= urgent
        try:
            yield
        finally:
            with self._changed:
                self._is_held = False
                self._changed.notify_all()


_MAX_TOKENS = 2048
"""Limit for one text, even if the model takes more: memory grows with it, and passages have some 400."""
_STEP = Limits(inputs=16, tokens=2048, input_tokens=_MAX_TOKENS, at_once=1)
"""Limits of one request to the process: a query that arrives meanwhile waits no longer than one takes."""
_SPECIAL_TOKENS = 8
"""Maximum number of special tokens that a model adds around a text."""
_BYTES_PER_TOKEN = 3
_USUAL = Calibration(low=0.16, high=0.48, weight=0.4, spread=0.07)
_QUERY_SECONDS = 300.0
_DOCUMENT_SECONDS = 600.0
"""Timeout of one step, including loading; the reference's value."""
QUESTIONS = (
    "Which train goes to the airport?",
    "How long do lentils have to cook?",
    "What did the doctor say about my knee?",
    "Where is the key of the garden shed?",
    "Why does the test fail on Windows?",
    "Who pays for the broken window?",
    "When does the choir rehearse?",
    "What is a good book for a child of six?",
    "How much rain fell in October?",
    "Which colour shall we paint the kitchen?",
    "How do I renew a passport?",
    "What was decided about the budget?",
    "Who fed the neighbours' dog?",
    "How is a black hole formed?",
    "Which password policy do we follow?",
    "What are the rules for parking here?",
)
PASSAGES = (
    "The harvest festival was moved to the school because of the storm.",
    "Interest on the loan falls due on the first of each quarter.",
    "He tuned the piano twice, and the low strings still buzz.",
    "The function returns early when the list is empty.",
    "Basil wants warmth; below ten degrees its leaves turn black.",
    "Our flight was delayed by three hours and landed at dawn.",
    "She wrote her thesis about medieval trade in the Baltic.",
    "The second candidate knows Rust and has led a small team.",
    "Replace the filter of the washing machine every two years.",
    "Vaccination protects most children against measles for life.",
    "The museum shows etchings and is closed on Mondays.",
    "A goal in the last minute saved the home team from defeat.",
    "Knead the dough, let it rest, and bake it for half an hour.",
    "The glacier has lost a third of its ice since the war.",
    "All contracts are kept in the blue folder on the shelf.",
    "Two of the satellites send their pictures once a day.",
)
"""None of the passages answers any of the questions."""
_LOW, _HIGH = 1.5, 5.9
"""Standard deviations above the average cosine of unrelated texts."""
_WEIGHT = 0.4
"""Weight of vectors relative to keywords. With it, all-MiniLM-L6-v2 ranks technical abstracts, conversations and a
handbook at nDCG@10 .575, .588 and .797; keywords alone at .541, .556 and .670. More gains on the handbook what it loses
on conversations."""


def calibrated(questions: "Vectors", passages: "Vectors") -> Calibration:
    """Calibrate from the model's vectors of `QUESTIONS` and `PASSAGES`, shapes (n, dims)."""
    cosines = questions @ passages.T
    mean, deviation = float(cosines.mean()), float(cosines.std())
    return Calibration(mean + _LOW * deviation, mean + _HIGH * deviation, _WEIGHT, deviation)


def make(settings: Settings, key: str | None) -> "GgufProvider":
    """Create the provider for the model of the settings; reads the file's header, loads nothing, needs no key.

    Raises `ProviderError` if the package or the file is missing, or the file is unsuitable.
    """
    if not llama_installed():
        raise ProviderError(
            tr(
                "The gguf provider needs the package xllamacpp, which this installation doesn't have: "
                'install Mnemoscope from its source with pipx install --force ".[gguf]".'
            )
        )
    if settings.model:
        raise ProviderError(
            tr(
                'The gguf provider takes its model from local.model_path: set it to "{model}" and remove model.',
                model=settings.model,
            )
        )
    location = model_path(settings)
    if location.hub is not None and not location.path.is_file():
        raise ProviderError(
            tr(
                "The model {id} is not on this machine yet: download it in the settings, or with mnemoscope "
                "index --yes.",
                id=location.hub.id,
            )
        )
    file = read_gguf(str(location.path))
    traits = traits_of(file)
    return GgufProvider(file, traits, _dims(settings.dimensions, file, traits))


def _dims(dimensions: int | None, file: GgufFile, traits: Traits) -> int:
    if dimensions is None or dimensions == file.dims:
        return file.dims
    if traits.least_dims is None:
        raise ProviderError(
            tr(
                "The model makes vectors of {dims} dimensions only: remove dimensions = {wanted}.",
                dims=file.dims,
                wanted=dimensions,
            )
        )
    if not traits.least_dims <= dimensions <= file.dims:
        raise ProviderError(
            tr(
                "The model makes vectors of {least_dims} to {dims} dimensions: change dimensions = {wanted}.",
                least_dims=traits.least_dims,
                dims=file.dims,
                wanted=dimensions,
            )
        )
    return dimensions


class GgufProvider:
    """Runs the model in a separate process, started on first use."""

    id = "gguf"
    remote = in_process = False
    price = 0.0
    tokens_used = 0
    unknown_scripts: tuple[str, ...] = ()

    def __init__(self, file: GgufFile, traits: Traits, dims: int) -> None:
        """`dims`: length of the vectors, at most that of the model."""
        self._file = file
        self._traits = traits
        self._most = min(file.context, _MAX_TOKENS)
        self._process = ModelProcess(file, self._most)
        self._calibration: Calibration | None = None
        self.dims = dims
        self.model = Path(file.path).stem
        parts = (file.fingerprint, file.pooling, traits.query, traits.document, self._most, dims)
        self.key = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
        self.limits = Limits(inputs=16, tokens=8000, input_tokens=self._most, at_once=2)

    @property
    def calibration(self) -> Calibration:
        """The scale of this model's similarities, measured at the first query; until then, that of a typical model."""
        return self._calibration or _USUAL

    def pieces(self, word: str) -> int:
        return 0

    def embed_query(self, text: str, *, cancel: CancelToken | None = None) -> "Vectors":
        options = RequestOptions(_QUERY_SECONDS, True, cancel)
        if self._calibration is None:
            unrelated = self._embed(PASSAGES, self._traits.document, options)
            self._calibration = calibrated(self._embed(QUESTIONS, self._traits.query, options), unrelated)
        vectors: Vectors = self._embed([text], self._traits.query, options)[0]
        return vectors

    def embed_documents(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> "Vectors":
        return self._embed(texts, self._traits.document, RequestOptions(_DOCUMENT_SECONDS, False, cancel))

    def count_tokens(self, text: str) -> int:
        """Return an estimate; the model counts exactly only for texts that may exceed its limit."""
        return len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 1

    def close(self) -> None:
        self._process.close()

    def _embed(self, texts: Sequence[str], prompt: str, options: RequestOptions) -> "Vectors":
        def embed(parts: Sequence[str]) -> "Vectors":
            import numpy as np

            vectors = np.empty((0, self.dims), np.float32)
            for step in requests([prompt + part for part in parts], _STEP, _bytes):
                checkpoint(options.cancel)
                decoded = self._decoded(self._process.vectors(step, options), len(step))
                vectors = np.concatenate([vectors, decoded])
            return vectors

        def count(part: str) -> int:
            return self._process.tokens(prompt + part, options)

        # llama.cpp reads a text only up to its first NUL.
        texts = [text.encode("utf-8", "replace").decode().replace("\0", " ") for text in texts]
        if all(_bytes(prompt + text) + _SPECIAL_TOKENS <= self._most for text in texts):
            return embed(texts)  # a token has at least one byte
        return embed_whole(texts, self.limits, count, embed)

    def _decoded(self, answer: bytes, count: int) -> "Vectors":
        import numpy as np

        dims = len(answer) / count / 4
        if dims != self._file.dims:
            raise ProviderError(
                tr(
                    "The model {model} makes vectors of {dims:g} dimensions, but its file says {declared}: "
                    "choose another one.",
                    model=self.model,
                    dims=dims,
                    declared=self._file.dims,
                )
            )
        return normalised(np.frombuffer(answer, "<f4").reshape(count, -1)[:, : self.dims])


def _bytes(text: str) -> int:
    return len(text.encode())
