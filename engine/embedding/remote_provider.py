"""Common base of remote providers: converts texts to unit vectors, and handles incomplete responses."""

import hashlib
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, ProviderError
from engine.base.formatting import any_of
from engine.base.language import tr
from engine.embedding.batch_jobs.batch_api import BatchApi
from engine.embedding.http import HttpClient
from engine.embedding.long_text_splitting import embed_whole
from engine.embedding.model_catalog import UNKNOWN, metadata_of, price_of
from engine.embedding.provider_interface import LeftOut, Limits, PartialAnswer, normalised
from engine.embedding.response_parsing import Answer
from engine.embedding.service_errors import TooLong, retrying
from engine.providers import Calibration
from engine.providers.registry import is_loopback, owner_of
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.embedding.provider_interface import Vectors

_QUERY_SECONDS = 60.0
_DOCUMENTS_SECONDS = 120.0
_LOCAL_FACTOR = 5.0
"""A local server may have to load its model first, and computes on the same processor."""
_SHORTEST_LIMIT = 64
"""Tokens; a server that rejects shorter texts has another reason."""
_ROUNDS = 3
"""Number of attempts for texts that are missing from responses."""
_LETTER = 0.28
"""Tokens per lower-case Latin letter; a word has at least one token."""
_WHITE, _UPPER, _DIGIT, _MARK, _LOWER, _SPACE = range(1, 7)
_ASCII = {_WHITE: 1.0, _UPPER: 1.3, _DIGIT: 0.95, _MARK: 0.5}
_LEADS = (
    (range(0xC2, 0xCC), 2.2),  # Latin with accents
    ((0xCE, 0xCF), 1.0),  # Greek
    (range(0xD0, 0xD4), 0.9),  # Cyrillic
    (range(0xD7, 0xDC), 1.05),  # Hebrew, Arabic
    ((0xCC, 0xCD, *range(0xD4, 0xD7), *range(0xDC, 0xE0)), 2.05),  # combining accents, Armenian, Syriac
    ((0xE0, 0xE1), 2.2),  # scripts of India and South East Asia, Georgian, Ethiopic
    ((0xE2,), 1.4),  # signs
    (range(0xE3, 0xEA), 1.4),  # Chinese
    (range(0xEA, 0xEE), 1.05),  # Korean
    ((0xEE, 0xEF), 1.8),  # full width
    (range(0xF0, 0xF5), 3.0),  # emoji, rare Chinese
)
"""First UTF-8 byte of a character, and tokens per such character."""
_SCRIPTS = (
    (("\u0e00", "\u0e40"), 1.05),  # Thai
    (("\u0900", "\u0940"), 1.05),  # Devanagari
    (("\u1e80", "\u1ec0"), 0.4),  # Vietnamese
    (("\u3040", "\u3080", "\u30c0"), 0.95),  # Japanese syllables
)
"""Blocks of 64 characters that differ from others with the same first byte, by their first character."""


def _tables() -> tuple[bytes, dict[int, float], list[tuple[bytes, float]]]:
    """Return the class of each byte, the tokens of each class beyond ASCII, and the differences of character blocks."""
    classes = bytearray(256)
    for byte in range(128):
        letter = chr(byte)
        kinds = ((letter in "\n\t\r", _WHITE), (letter.isupper(), _UPPER), (letter.isdigit(), _DIGIT))
        rest = ((letter.islower(), _LOWER), (letter == " ", _SPACE), (letter.isprintable(), _MARK))
        classes[byte] = next((kind for fits, kind in kinds + rest if fits), 0)
    weights = {}
    for number, (leads, weight) in enumerate(_LEADS, _SPACE + 1):
        weights[number] = weight
        for byte in leads:
            classes[byte] = number
    blocks = []
    for letters, weight in _SCRIPTS:
        for letter in letters:
            start = letter.encode()[:2]
            blocks.append((start, weight - weights[classes[start[0]]]))
    return bytes(classes), weights, blocks


_CLASSES, _BEYOND, _BLOCKS = _tables()


def estimate(text: str) -> int:
    """Estimate the tokens of a text, rather too many than too few."""
    raw = text.encode("utf-8", "replace")
    classes = raw.translate(_CLASSES)
    # Only the first of a run of spaces counts: it is an indentation.
    words = classes.count(_SPACE) - 1.75 * classes.count(bytes((_SPACE, _SPACE)))
    tokens = 2.0 + max(words, _LETTER * classes.count(_LOWER))
    tokens += sum(weight * classes.count(kind) for kind, weight in _ASCII.items())
    if len(raw) > len(text):
        tokens += sum(weight * classes.count(kind) for kind, weight in _BEYOND.items())
        tokens += sum(weight * raw.count(start) for start, weight in _BLOCKS)
    return int(tokens)


class Api(Protocol):
    """Embedding API of one service."""

    def embed(self, texts: Sequence[str], *, query: bool, seconds: float, cancel: CancelToken | None) -> Answer:
        """Send one request, with this timeout. Raises the same errors as `HttpClient.call`."""


@dataclass(frozen=True)
class Model:
    """The model used by a provider."""

    provider: str
    name: str
    dims: int | None
    """Length of the vectors, as requested or known; None if only the server knows it."""
    limits: Limits
    price: float | None
    calibration: Calibration
    key: str

    @classmethod
    def of(
        cls, settings: Settings, provider: str, name: str, *, base_url: str, limits: Limits, inputs: Sequence[str] = ()
    ) -> "Model":
        """Look up a model in the catalogue and the settings.

        `limits.input_tokens` is for models that are not listed. `inputs`: prefixes or types sent with texts, since
        vectors depend on them. Raises `ProviderError` for an unsupported vector length.
        """
        metadata = metadata_of(provider, name)
        dimensions = settings.dimensions
        if metadata is not None and dimensions is not None and dimensions not in metadata.dimensions:
            raise ProviderError(
                tr(
                    "{name} has no vectors of {wanted} dimensions: set dimensions to {lengths}, or leave it out.",
                    name=name,
                    wanted=dimensions,
                    lengths=_choices(metadata.dimensions),
                )
            )
        if metadata is not None:
            limits = msgspec.structs.replace(limits, input_tokens=metadata.input_tokens)
        # All of a provider's own URLs serve the same models, and so do both names of this machine.
        server = None if owner_of(base_url) == provider else base_url.replace("//localhost", "//127.0.0.1")
        identity = (server, name, dimensions, list(inputs), sorted(settings.remote.headers.items()))
        return cls(
            provider=provider,
            name=name,
            dims=dimensions or (metadata.dims if metadata is not None else None),
            limits=limits,
            price=price_of(settings, provider, name),
            calibration=metadata.calibration if metadata is not None else UNKNOWN,
            key=hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16],
        )


class RemoteProvider:
    """Implements `EmbeddingProvider` with a service behind `api`."""

    in_process = False
    unknown_scripts: tuple[str, ...] = ()

    def __init__(self, model: Model, http: HttpClient, api: Api, batches: BatchApi | None) -> None:
        """`batches`: the service's batch API, for the same vectors; None if it has none."""
        self.batches = batches
        self.id = model.provider
        self.model = model.name
        self.key = model.key
        self.limits = model.limits
        self.price = model.price
        self.calibration = model.calibration
        self.remote = not is_loopback(http.base_url)
        self.dims = model.dims
        self._http = http
        self._api = api
        self._lock = threading.Lock()
        self.tokens_used = 0
        factor = 1.0 if self.remote else _LOCAL_FACTOR
        self._query_seconds = factor * _QUERY_SECONDS
        self._documents_seconds = factor * _DOCUMENTS_SECONDS

    def pieces(self, word: str) -> int:
        return 0

    def embed_query(self, text: str, *, cancel: CancelToken | None = None) -> "Vectors":
        vectors: Vectors = self._embed([text], query=True, cancel=cancel)[0]
        return vectors

    def embed_documents(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> "Vectors":
        return self._embed(texts, query=False, cancel=cancel)

    def count_tokens(self, text: str) -> int:
        return estimate(text)

    def close(self) -> None:
        self._http.close()

    def _embed(self, texts: Sequence[str], *, query: bool, cancel: CancelToken | None) -> "Vectors":
        """Return the vectors of whole texts. After a text was too long for the server, parts are shorter."""

        def embed(parts: Sequence[str]) -> "Vectors":
            return self._embed_all(parts, query=query, cancel=cancel)

        sent = [_sendable(text) for text in texts]
        while True:
            limits = self.limits
            try:
                return embed_whole(sent, limits, estimate, embed)
            except TooLong:
                longest = min(max(map(estimate, sent)), limits.input_tokens)
                if longest <= _SHORTEST_LIMIT:
                    raise
                self.limits = msgspec.structs.replace(limits, input_tokens=max(longest // 2, _SHORTEST_LIMIT))

    def _embed_all(self, texts: Sequence[str], *, query: bool, cancel: CancelToken | None) -> "Vectors":
        """Return unit vectors (n, dims), in the order of the texts; missing ones are requested again."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dims or 0), dtype=np.float32)
        arrived: dict[int, Vectors] = {}
        doubtful: dict[int, Vectors] = {}
        missing = list(range(len(texts)))
        for _ in range(_ROUNDS):
            try:
                answer = self._request([texts[index] for index in missing], query=query, cancel=cancel)
                for index, vector in answer.vectors.items():
                    self._check_length(len(vector))
                    sure = bool(np.isfinite(vector).all() and vector.any())
                    (arrived if sure else doubtful)[missing[index]] = normalised(vector)
            except (ProviderError, Cancelled) as error:
                if arrived:  # billed vectors are saved, even after a cancel
                    raise PartialAnswer(str(error), arrived) from error
                raise
            missing = [index for index in missing if index not in arrived]
            if not missing:
                break
        # Accept imperfect vectors of a model that repeats them.
        arrived = {index: vector for index, vector in doubtful.items() if vector.any()} | arrived
        if len(arrived) < len(texts):
            raise LeftOut(
                tr(
                    "{name} has left out {missing} of {texts} vectors "
                    "{rounds} times: try again later, or choose another model.",
                    name=self._http.service.name,
                    missing=len(texts) - len(arrived),
                    texts=len(texts),
                    rounds=_ROUNDS,
                ),
                arrived,
            )
        return np.stack([arrived[index] for index in range(len(texts))])

    def _request(self, texts: list[str], *, query: bool, cancel: CancelToken | None) -> Answer:
        seconds = self._query_seconds if query else self._documents_seconds
        end = time.monotonic() + seconds

        def attempt() -> Answer:
            # The user waits for the vector of a query: the timeout is for all attempts together.
            seconds_left = end - time.monotonic() if query else seconds
            return self._api.embed(texts, query=query, seconds=seconds_left, cancel=cancel)

        answer = retrying(attempt, cancel=cancel, seconds=seconds if query else None)
        if self.price != 0:
            tokens = sum(map(estimate, texts)) if answer.tokens is None else answer.tokens
            with self._lock:
                self.tokens_used += tokens
        return answer

    def _check_length(self, length: int) -> None:
        with self._lock:
            if self.dims is None:
                self.dims = length
            expected = self.dims
        if length != expected:
            raise ProviderError(
                tr(
                    "{name} answered with vectors of {length} dimensions instead of {wanted}: set "
                    "dimensions = {length} in the settings, or another model.",
                    name=self._http.service.name,
                    length=length,
                    wanted=expected,
                )
            )


def without_vendor(model: str, vendors: Sequence[str]) -> str:
    """Return the service's own name of a model, without prefixes that other programs use: "models/…", "gemini/…"."""
    return next((model.removeprefix(vendor) for vendor in vendors if model.startswith(vendor)), model)


def _choices(dimensions: Sequence[int]) -> str:
    if isinstance(dimensions, range):
        return tr("{first} to {last}", first=dimensions[0], last=dimensions[-1])
    return any_of(map(str, dimensions))


def _sendable(text: str) -> str:
    """Return the text as valid UTF-8; services reject blank texts."""
    return text.encode("utf-8", "replace").decode() if text.strip() else "-"
