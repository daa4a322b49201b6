"""Analyses text into the tokens and stems of the keyword index, and finds phrases (consecutive words) in text."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

import msgspec

from engine.base import lazy_pattern
from engine.text.stems import (
    JOINED,
    Stems,
    clear_stem_caches,
    ending_key,
    has_compounds,
    joined_keys,
    numbered_keys,
    rules_of,
    stems_of,
)
from engine.text.tokens import (
    RUN,
    cluster_spans,
    cluster_token,
    clusters,
    groups,
    pairs,
    pieces,
    without_terminal_sequences,
)
from engine.text.writing_systems import HANGUL, SYMBOL, UNSPACED, shape

PIECE_LENGTH = 1 << 16
"""Maximum number of code points (256 KB) passed to one C call, which holds the interpreter lock."""
_MAX_CACHED = 1 << 15
_LONGEST_CACHED = 40
_LONGEST_SIMPLE = 32
_WORD_AND_PART = 2
_AFTER_ALL = 1 << 40
"""Position of the first part of a camelCase word: behind all other tokens."""
_BREAK = "/"
"""Token before the parts of a camelCase word, so that they form no phrase with others; no query has it."""
_ALPHANUMERIC = lazy_pattern(r"[^\W_]+(?:\.\d+)*")
_BORDER = lazy_pattern(r"(?<=[^\W\d_]{2})(?=\d)|(?<=\d)(?=[^\W\d_]{2})")
"""Matches between letters and digits. A single letter belongs to its number, as in `v2` and `3d`."""


class Analysis(msgspec.Struct, frozen=True):
    """Two streams of tokens, words and stems, each in reading order and joined by single spaces.

    `words` contains every word folded; an identifier (`os.replace`) as a whole, then its parts; unspaced scripts and
    Korean as overlapping pairs, then the last character of the stretch alone; pictographs individually. Adjacent parts
    of a text are adjacent here, so a phrase is found by its own stream. The exception is a phrase that ends within an
    unspaced stretch: its last character is not alone in the text. The parts of camelCase words come after all other
    words, each word's after a break, so that "github actions" is a phrase in "GitHub Actions".

    `stems` contains the stem of each word and each identifier part, and of a camelCase word as a whole, in the same
    order. Wholes with connectors, pairs and pictographs are not in it; a Korean word is, without its particles. So the
    stems of `os.replace` are also found as a phrase in `os_replace` and in "os replace". After the last stem come the
    keys of looser forms (`engine.text.stems`), once each.
    """

    words: str
    stems: str


def analyse(text: str, language: str) -> Analysis:
    """Return the tokens and stems of `text`, stemmed in `language` (a Snowball name, or "" for no stemming).

    Never raises on any text.
    """
    lookup = streams_of(language).__getitem__
    entries = [entry for _, piece in text_pieces(text) for entry in map(lookup, RUN.findall(piece))]
    inner = [f"{_BREAK} {entry[3]}" for entry in entries if entry[3]]
    words = " ".join([entry[0] for entry in entries if entry[0]] + inner)
    stems = [entry[1] for entry in entries if entry[1]]
    keys = dict.fromkeys([entry[2] for entry in entries])
    if len(keys) > 1 or "" not in keys:
        stems += dict.fromkeys(" ".join(keys).split())
    return Analysis(words, " ".join(stems))


def analyse_both(text: str, language: str) -> str:
    """Return words, then stems, as one stream, for titles, headings and names, which are searched by both.

    Phrases are found within each. After them come the letters and the digits of words such as `invoice2024`, so
    that "invoice" and "invoice 2024" find a note of this name.
    """
    streams = analyse(text, language)
    both = streams.words if streams.stems == streams.words else f"{streams.words} {streams.stems}"
    if not (apart := letters_and_digits(text)):
        return both
    known = set(both.split())
    streams = analyse(" ".join(apart), language)
    parts = f"{streams.words} {streams.stems}".split()
    return " ".join([both, *(part for part in dict.fromkeys(parts) if part not in known)])


def letters_and_digits(text: str) -> list[str]:
    """Return the words with letters and digits, such as `invoice2024`, with a space between both."""
    if text.isalpha() or not _BORDER.search(text):
        return []
    return [_BORDER.sub(" ", word) for word in _ALPHANUMERIC.findall(text) if _BORDER.search(word)]


def clear_word_caches() -> None:
    """Free the caches of words, about 9 MB after 10,000 notes: they save little for a few more notes."""
    streams_of.cache_clear()
    cluster_token.cache_clear()
    clear_stem_caches()


def text_pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield `text` in parts of at most `PIECE_LENGTH`, each with its offset, cut at a space if there is one.

    Colours of a terminal are blank in it.
    """
    start = 0
    while len(text) - start > PIECE_LENGTH:
        end = start + PIECE_LENGTH
        cut = max(text.rfind(" ", start + PIECE_LENGTH // 2, end), text.rfind("\n", start + PIECE_LENGTH // 2, end)) + 1
        yield start, without_terminal_sequences(text[start : cut or end])
        start = cut or end
    yield start, without_terminal_sequences(text[start:])


def simple_word(run: str) -> str | None:
    """Return the text if it is a single ASCII word after removing punctuation; None otherwise."""
    word = run.strip(".-/:'")
    if len(word) > _LONGEST_SIMPLE or not (word.isascii() and word.isalnum()):
        return None
    if word.islower() or word.isupper() or word.isdigit() or (word.istitle() and word.isalpha()):
        return word
    return None


_Entry = tuple[str, str, str, str]
"""The words, stems, looser forms and parts of camelCase words of a run."""


class Streams(dict[str, _Entry]):
    """Cache of text analysis in one language, by run of letters or digits.

    Words repeat, so most runs of a text cost one lookup. Threads may compute the same run at the same time, with the
    same result.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        first, *likelier = rules_of(language)
        self._stems = stems_of(first)
        self._likelier = [stems_of(other) for other in likelier]
        self._compounds = has_compounds(language)

    def __missing__(self, run: str) -> _Entry:
        entry = self._simple_entry(run) or self._entry_of_groups(run)
        if len(run) <= _LONGEST_CACHED and shape(run[0]) != UNSPACED:  # other runs rarely repeat
            if len(self) >= _MAX_CACHED:
                for rare in list(self)[_MAX_CACHED // 2 :]:  # the later half: common words were added early
                    self.pop(rare, None)
            self[run] = entry
        return entry

    def _simple_entry(self, run: str) -> _Entry | None:
        """Return the entry of a simple word; None for any other run."""
        word = simple_word(run)
        if word is None:
            return None
        if len(word) < len(run):
            return self[word]
        token = word.lower()
        if token != word and not word.isupper():
            return self[token]
        stem = self._stems[token]
        plain = token.isalpha() and not (self._compounds or self._likelier)
        return token, stem, "" if plain else " ".join(self._keys(token, stem)), ""

    def _keys(self, root: str, stem: str) -> Iterator[str]:
        """Yield the keys of a word with a number, of other stems of the word, which may be its stems, and of a
        possible compound. They are weaker evidence.
        """
        yield from numbered_keys(root)
        others = [
            other_stem for other_stem in dict.fromkeys(stems[root] for stems in self._likelier) if other_stem != stem
        ]
        yield from (JOINED + other_stem for other_stem in others)
        if self._compounds:
            yield from filter(None, (ending_key(root, other_stem) for other_stem in (stem, *others)))

    def _entry_of_groups(self, run: str) -> _Entry:
        words: list[str] = []
        stems: list[str] = []
        keys: list[str] = []
        inner: list[str] = []
        for group in groups(run):
            kind, start, end = group.kind, group.start, group.end
            if kind:
                characters = clusters(run[start:end])
                words += pairs(characters)
                if kind == HANGUL and characters:
                    stems.append(self._stems["".join(characters)])
                continue
            word_pieces = pieces(run[start:end])
            for piece in word_pieces:
                (inner if piece.inner else words).append(piece.token)
                if piece.root:
                    stem = self._stems[piece.root]
                    stems.append(stem)
                    keys += self._keys(piece.root, stem)
            if len(word_pieces) > _WORD_AND_PART:
                keys += [key for _, _, key in joined_keys(run[start:end], word_pieces)]
        return " ".join(words), " ".join(stems), " ".join(keys), " ".join(inner)


@cache
def streams_of(language: str) -> Streams:
    return Streams(language)


class PhraseTokens(msgspec.Struct, frozen=True):
    """The tokens of a phrase, which must be adjacent in the `words` stream."""

    tokens: tuple[str, ...]
    open: bool
    """Whether the last token is a prefix: one character of a script whose tokens are pairs, or the first parts of an
    identifier, after which a sign follows."""


class _Token(msgspec.Struct, frozen=True):
    text: str
    start: int
    end: int
    """End of the token within the run."""
    tail: bool = False
    """Whether the token is the repeated last character of a stretch whose tokens are pairs."""
    single: bool = False
    """Whether the token is the only character of a stretch whose tokens are pairs."""
    inner: bool = False
    """Whether the token is a part of a camelCase word; these come after all other tokens of a text."""
    root: str = ""
    """Form from which a stem is made; "" if none is made of this token."""


def words_and_stems(run: str, languages: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a run, and the words with their stems in all languages; without looser forms."""
    found = _tokens(run)
    words = frozenset([token.text for token in found])
    roots = {token.root for token in found if token.root}
    return words, words.union(*([of[root] for of in _stems_in(languages)] for root in roots))


@lru_cache(8)
def _stems_in(languages: tuple[str, ...]) -> list[Stems]:
    """Return the stems by the rules of these languages; undecided ones have the rules of others."""
    return list(map(stems_of, dict.fromkeys(rules_of(language)[0] for language in languages)))


def phrase_tokens(text: str) -> PhraseTokens:
    """Return the tokens of a phrase; empty if it has neither letters nor digits."""
    tokens = [token for run in RUN.findall(text) for token in _tokens(run) if not token.inner]
    # In a text, more characters may follow the last one, and it is then not a separate token.
    complete = tokens[:-1] if tokens and tokens[-1].tail else tokens
    return PhraseTokens(tuple(token.text for token in complete), open=bool(tokens) and tokens[-1].single)


def phrase_forms(text: str) -> list[PhraseTokens]:
    """Return the tokens of a phrase, and its tokens if it begins or ends within a longer identifier.

    Such phrases are `engine/search` and "see src/engine" in "see src/engine/search.py". Their tokens may also be words
    in a text.
    """
    typed = phrase_tokens(text)
    if not typed.tokens:
        return []
    runs = [tokens for run in RUN.findall(text) if (tokens := _tokens(run))]
    first, last = runs[0], runs[-1]
    parts = [token for token in first[1:] if token.start < first[0].end]
    if len(typed.tokens) == 1 and parts:  # a name in camelCase
        return [typed, PhraseTokens(tuple(token.text for token in parts), open=False)]
    forms = [typed]
    if len(runs) > 1 and not (typed.open or any(token.tail for token in last)):
        after = sum(not token.inner for token in last[1:])
        forms.append(PhraseTokens(typed.tokens[: len(typed.tokens) - after], open=True))
    if any(not token.inner for token in parts):
        forms += [msgspec.structs.replace(form, tokens=form.tokens[1:]) for form in forms]
    return forms


def phrase_ranges(text: str, phrases: Sequence[PhraseTokens]) -> Iterator[tuple[int, int]]:
    """Yield the code-point ranges of the phrases in a text, half-open, one for each line; in no order."""
    phrase_tokens = {token for phrase in phrases for token in phrase.tokens}
    starts = tuple(phrase.tokens[-1] for phrase in phrases if phrase.open)
    ranges: dict[int, tuple[str, int, int]] = {}
    position = {False: 0, True: _AFTER_ALL}
    for offset, piece in text_pieces(text):
        for match in RUN.finditer(piece):
            at = offset + match.start()
            position[True] += 1  # the break takes a position
            for token in _tokens(match[0]):
                if token.text in phrase_tokens or token.text.startswith(starts):
                    ranges[position[token.inner]] = token.text, at + token.start, at + token.end
                position[token.inner] += 1
    for phrase in phrases:
        for first in ranges if phrase.tokens else ():
            spans = _spans(ranges, first, phrase)
            yield from spans
            gaps = ((end, start) for (_, end), (start, _) in pairwise(spans) if end < start)
            yield from (gap for gap in gaps if "\n" not in text[slice(*gap)])


def _spans(found: dict[int, tuple[str, int, int]], first: int, phrase: PhraseTokens) -> list[tuple[int, int]]:
    """Return the range of each token of a phrase that begins at the token number `first`; empty if it doesn't."""
    spans = []
    last = len(phrase.tokens) - 1
    for index, expected in enumerate(phrase.tokens):
        token, start, end = found.get(first + index, ("", 0, 0))
        if token != expected and not (phrase.open and index == last and _begins(token, expected)):
            return []
        spans.append((start, end))
    if phrase.open:
        start, end = spans[-1]
        spans[-1] = start, min(end, start + len(phrase.tokens[-1]))
    return spans


def _begins(token: str, start: str) -> bool:
    """Whether a token begins with the open end of a phrase: with a character of a pair, or with whole parts."""
    return token.startswith(start) and (len(start) == 1 or not token[len(start)].isalnum())


@lru_cache(maxsize=1 << 14)
def _tokens(run: str) -> tuple[_Token, ...]:
    """Return the tokens that a run of characters adds to the `words` stream, in the order of the text."""
    found: list[_Token] = []
    for group in groups(run):
        kind, start, end = group.kind, group.start, group.end
        text = run[start:end]
        if not kind:
            found += [
                _Token(piece.token, start + piece.start, start + piece.end, inner=piece.inner, root=piece.root)
                for piece in pieces(text)
            ]
            continue
        spans = [(a, b) for a, b in cluster_spans(text) if cluster_token(text[a:b])]
        characters = [cluster_token(text[a:b]) for a, b in spans]
        tokens = pairs(characters)
        for index, token in enumerate(tokens):
            last = min(index + 1, len(spans) - 1)
            ends = kind != SYMBOL and index == len(spans) - 1
            span = start + spans[index][0], start + spans[last][1]
            root = "".join(characters) if kind == HANGUL and not index else ""
            found.append(_Token(token, *span, ends and index > 0, ends and not index, root=root))
    return tuple(found)
