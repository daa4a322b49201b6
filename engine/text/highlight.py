"""Finds the ranges of a text that match a query, with the same analysis as the index."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, pairwise

import msgspec

from engine.base import lazy_pattern
from engine.text.folding import fold
from engine.text.languages import detect_language
from engine.text.parsed_query import Query, QueryTerm
from engine.text.query_analysis import QueryAnalysis, analyse_query
from engine.text.stems import (
    JOINED,
    REVERSED,
    ending_key,
    has_compounds,
    joined_keys,
    numbered_keys,
    rules_of,
    stems_of,
)
from engine.text.tokens import (
    LONGEST_WORD,
    RUN,
    Group,
    Piece,
    cluster_spans,
    cluster_token,
    groups,
    pieces,
    without_terminal_sequences,
)
from engine.text.tokens_and_stems import PhraseTokens, phrase_ranges, phrase_tokens, streams_of, text_pieces
from engine.text.writing_systems import HANGUL, UNSPACED, shape

Range = tuple[int, int]

_MAX_CACHED = 1 << 14
_LANGUAGES_WITH_SUFFIXES = frozenset(
    " basque catalan czech danish english estonian french german greek hungarian italian lithuanian norwegian polish "
    "portuguese romanian russian spanish swedish".split(" ")
)
"""Languages whose rules keep the first two letters of words, also of words in other scripts up to Cyrillic."""
_COMMON_LETTERS = 2
_WITH_Y = {"die": "dy", "lie": "ly", "tie": "ty"}
"""Stems of dying, lying and tying, whose second letter differs from the word's."""
_OTHER_RULES = lazy_pattern("[\u0530-\u1dff]")
"""Matches scripts whose words may have prefixes, such as Arabic."""
_LAST_SPACED = "\u052f"
"""Last letter of the scripts whose words are separated and have no prefixes."""
_ANYWHERE, _ALWAYS = "\0", "\1"
"""Marks of words in which a match may begin anywhere, and of words that may match without the first letters."""
_PLAIN = f"[A-Za-z][a-z]{{0,{LONGEST_WORD - 1}}}+[.:]?"
"""Regex for a plain word before a delimiter: its only token is the word in lower case."""
_WITH_SPACES = bytes(code if code > 127 or RUN.match(chr(code)) else 32 for code in range(256))
"""For `bytes.translate`: a space in place of each ASCII delimiter."""
_CONNECTORS = "._-+#/@:"
"""Characters between the parts of one identifier."""
_ASCII_CONNECTORS = f"{_CONNECTORS}'".encode()
_WITHOUT_CONNECTORS = str.maketrans("", "", _CONNECTORS + "'\u2019\u02bc\u055a")


def highlight_ranges(text: str, query: str | Query | QueryAnalysis, languages: Sequence[str] = ()) -> list[Range]:
    """Return the ranges of `text` that match a query: half-open, in code points, sorted, with gaps between them.

    A `str` query is plain words; in a parsed query, phrases are highlighted whole, and only where they occur as a
    phrase. Files and commands of its operators are highlighted too.

    A word matches if it, or one of its stems, equals a term's; the query's last word also matches as a prefix, from
    three characters on. In an identifier, only the matching part is highlighted. Function words of the query are left
    out.
    `languages` are the text's, or the index's; without them an analysed query's count, else the text's is detected.
    Never raises on any text.
    """
    used = list(_uses(query, text)) if isinstance(query, Query) and not query.plain else []
    if not isinstance(query, QueryAnalysis):
        query = _analysed(query, tuple(languages) or (detect_language(text),))
    matcher = _matcher(query, tuple(languages) or query.languages)
    words = matcher.ranges(text) if matcher.has_terms else iter(())
    phrases = query.phrases + matcher.loose_phrases
    return _merged(chain(words, phrase_ranges(text, phrases), used) if phrases or used else words)


_ANY = r"[^\s/\\\"]{0,80}"
_WILDCARD = lazy_pattern(r"\*+|\?|\[[^\]]+\]")
_SEPARATOR = r"(?:/|\\{1,2})"
"""Separator between folders, also in Windows paths, and in such paths within JSON."""
_MAX_FOLDERS, _MAX_WILDCARDS = 8, 2
"""Maximum number of folders and wildcards of one path: more would make the search for it slow."""


def _uses(query: Query, text: str) -> Iterator[Range]:
    """Yield where a text has the files and commands of the operators `file:` and `command:`."""
    for value in query.values_of_required("file"):
        if (path := _path_regex(value)) is not None:
            yield from (match.span() for match in path.finditer(text))
    for value in query.values_of_required("command"):
        for found in command_matches(value, text):
            yield from found


def command_matches(value: str, text: str) -> Iterator[tuple[Range, ...]]:
    """Yield where a text has the command of the operator `command:`: one range, or more if line ends are in between.

    `*` stands for any text, a blank for any blanks, both with line ends. A value of wildcards alone matches once,
    without a range. Takes linear time, since each part is searched for after the one before.
    """
    parts, end = _command_parts(value), 0
    if not parts:
        yield ()
        return
    while True:
        ranges: list[Range] = []
        for part in parts:
            match = part.search(text, end)
            if match is None:
                return
            start = match.start()
            if ranges and text.find("\n", end, start) < 0:
                start = ranges.pop()[0]
            end = match.end()
            ranges.append((start, end))
        yield tuple(ranges)


def _parts_of_command(value: str) -> tuple[re.Pattern[str], ...]:
    words = filter(None, map(str.split, value.split("*")))
    return tuple(re.compile(r"\s+".join(map(re.escape, part)), re.IGNORECASE) for part in words)


def _regex_of_path(value: str) -> re.Pattern[str] | None:
    pattern = _path_pattern(value)
    return re.compile(pattern, re.IGNORECASE) if pattern else None


def _path_pattern(value: str) -> str:
    """Return a regex for a path, or for as much of its end as a text contains; empty if it has only wildcards.

    A last part without a letter, such as `*`, needs the folder before it.
    """
    path = value.strip().replace("\\", "/").removeprefix("file://")
    *folders, name = path.strip("/").split("/")
    needed = not any(map(str.isalnum, name))
    if needed and not (folders and any(map(str.isalnum, folders[-1]))):
        return ""
    before = ""
    for folder in folders[-_MAX_FOLDERS:]:
        part = f"{before}(?>{_glob_pattern(folder)}{_SEPARATOR})"  # no wildcard reaches beyond a separator
        before = f"(?:{part})?"
    if needed:
        before = part
    end = _SEPARATOR if path.endswith("/") else r"(?![\w-]|\.\w)"
    return rf"(?<![\w.-]){before}{_glob_pattern(name)}{end}"


def _glob_pattern(glob: str) -> str:
    literal = list(map(re.escape, _WILDCARD.split(glob)))
    return _ANY.join(literal if len(literal) <= _MAX_WILDCARDS + 1 else [literal[0], literal[-1]])


class _RunMatches(msgspec.Struct, frozen=True):
    """The parts of one run of characters that match a query; offsets are within the run."""

    ranges: tuple[Range, ...]
    stems: int
    """Number of stems that the run adds to the `stems` stream."""
    phrase_stems: tuple[tuple[int, Range, frozenset[str]], ...]
    """Stems that may be part of a phrase: position among the run's stems, range, and the stem in each language."""


def _words_to_match(
    terms: Sequence[QueryTerm],
) -> tuple[frozenset[str | tuple[str, ...]], tuple[str, ...], tuple[PhraseTokens, ...]]:
    """Return the tokens that match, the prefixes of tokens that match, and the forms that are phrases."""
    words = [term for term in terms if _is_word(term)]
    forms = [form for term in terms for form in term.loose]
    numbers = [term for term in words if not isinstance(term.word, str)]
    days = [term for term in numbers if shape(term.surface[-1]) in (HANGUL, UNSPACED)]  # such as 11月1日
    forms += (day.word for day in days if not isinstance(day.word, str))
    single = [form[0] for form in forms if len(form) == 1 and shape(form[0][0]) not in (HANGUL, UNSPACED)]
    tokens = frozenset([*(term.word for term in words), *(word for word in single if not word.endswith("*"))])
    prefixes = [term.word for term in words if term.is_prefix and isinstance(term.word, str)]
    prefixes += [word[:-1] for word in single if word.endswith("*")]
    phrases = [PhraseTokens(form, open=False) for form in forms if form[0] not in single]
    return tokens, tuple(prefixes), (*phrases, *(phrase_tokens(day.surface) for day in days))


def _stems_to_match(
    terms: Sequence[QueryTerm],
) -> tuple[frozenset[str], tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the stems that match, the prefixes of stems that match, and the sequences of stems that match."""
    loose = [stem for term in terms for stem in term.loose_stems if not stem.startswith((JOINED, REVERSED))]
    stems = [stem for term in terms for stem in (*term.stems, *term.irregular)]
    stems += [stem for stem in loose if not stem.endswith("*")]
    prefixes = tuple(stem[:-1] for stem in loose if stem.endswith("*"))
    phrases = tuple(tuple(stem.split(" ")) for stem in stems if " " in stem)
    return frozenset(stem for stem in stems if " " not in stem), prefixes, phrases


def _keys_to_match(terms: Sequence[QueryTerm]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the keys of joined words that match, and the beginnings of keys of word endings."""
    loose = [stem for term in terms for stem in term.loose_stems]
    endings = tuple(key.removesuffix("*") for key in loose if key.startswith(REVERSED))
    return frozenset(key for key in loose if key.startswith(JOINED)), endings


class _Matcher(dict[str, _RunMatches | None]):
    """Cache of matches by run of characters, for one query and some languages; None for a run without matches."""

    def __init__(self, query: QueryAnalysis, languages: tuple[str, ...]) -> None:
        super().__init__()
        terms = [term for term in query.terms if not (term.stop or term.phrased)]
        self.has_terms = bool(terms)
        self._tokens, self._prefixes, self.loose_phrases = _words_to_match(terms)
        self._stems, self._stem_prefixes, self._phrases = _stems_to_match(terms)
        self._joined, endings = _keys_to_match(terms)
        self._endings = endings if any(map(has_compounds, languages)) else ()
        self._unspaced_terms = tuple(_cluster_tokens(term.surface) for term in terms if not _is_word(term))
        self._phrase_stems = frozenset(stem for phrase in self._phrases for stem in phrase)
        self._stemmers = tuple(stems_of(rules) for language in languages for rules in rules_of(language))
        self._language = languages[0] if len(languages) == 1 and not self._unspaced_terms else None
        """The language whose streams show that a run doesn't match; None if more is needed."""
        self._counted_in = languages[0] if languages else ""
        """A language in which stems are counted; their number is the same in every language."""
        parts = [part for word in self._tokens if not isinstance(word, str) for part in word]
        self._possible_tokens = self._tokens.union(parts)
        self._possible_stems = self._stems | self._phrase_stems
        self._later_prefixes = tuple(f" {prefix}" for prefix in self._prefixes)
        self._later_stem_prefixes = tuple(f" {prefix}" for prefix in self._stem_prefixes)
        rules = {rules for language in languages for rules in rules_of(language)}
        self._starts = self._first_letters("german" in rules) if rules <= _LANGUAGES_WITH_SUFFIXES else None
        """First one or two letters of all matching parts of words; None if words may match without them."""
        self._letters = {*(self._starts or ()), *map("".join, self._unspaced_terms)} - {_ANYWHERE}
        """Sequences of letters; each matching word, as returned by `_letters`, contains one of them."""

    def _first_letters(self, german: bool) -> tuple[str, ...]:
        words = [token for token in self._possible_tokens if isinstance(token, str)]
        keys = [key.removeprefix(JOINED) for key in self._joined]
        begun = {*words, *self._prefixes, *self._possible_stems, *self._stem_prefixes, *keys}
        begun |= {_WITH_Y[stem] for stem in begun & _WITH_Y.keys()}
        starts = {word.translate(_WITHOUT_CONNECTORS)[:_COMMON_LETTERS] for word in begun}
        if german:  # Aerger is Ärger
            starts |= {f"{start[0]}e" for start in starts if start[:1] in ("a", "o", "u")}
        return (*starts, _ANYWHERE, _ALWAYS)

    @cached_property
    def _all_but_plain(self) -> re.Pattern[str]:
        """Skips plain words that begin unlike all matches in a text `_WITH_SPACES`; its group has the next other run.

        One regex for all plain words takes a third of the time of looking at each.
        """
        starts = "|".join(re.escape(start) for word in self._starts or () for start in {word, word.capitalize()})
        # Compiled for each query: classes of delimiters instead of spaces would take as long as three passages.
        return re.compile(rf" *+(?:(?!{starts}){_PLAIN} ++)*+([^ ]*)")

    def ranges(self, text: str) -> Iterator[Range]:
        """Yield all matching ranges of a text, unordered, with overlaps and repetitions."""
        position = after = 0
        text = without_terminal_sequences(text)
        phrase_stems: dict[int, tuple[Range, frozenset[str]]] = {}
        for offset, piece in text_pieces(text):
            end = 0
            for run in self._with_first_letters(piece):
                if (matches := self[run]) is None:
                    continue
                start = _find_run(piece, run, end)
                end = start + len(run)
                at = offset + start
                for first, last in matches.ranges:
                    yield at + first, at + last
                if matches.phrase_stems:
                    position += self._has_stem(text[after:at])
                    for index, (first, last), stems in matches.phrase_stems:
                        phrase_stems[position + index] = (at + first, at + last), stems
                    position += matches.stems
                    after = offset + end
        for phrase in self._phrases:
            yield from _phrase_ranges(phrase, phrase_stems, text)

    def _with_first_letters(self, piece: str) -> list[str]:
        """Return the runs of a text that have the first letters of a match, or may match without them."""
        if self._starts is None:
            return RUN.findall(piece)
        plain, letters, starts = not self._endings, self._letters, self._starts
        if plain:
            spaced = piece.encode("utf-8", "surrogatepass").translate(_WITH_SPACES).decode("utf-8", "surrogatepass")
            runs = self._all_but_plain.findall(spaced)
        else:
            runs = RUN.findall(piece)
        if plain and not piece.isascii():
            runs = RUN.findall("\n".join(runs))  # signs other than ASCII ones also divide them
        if not runs:
            return runs
        joined = "\n".join(runs).lower().encode("utf-8", "surrogatepass").translate(None, _ASCII_CONNECTORS)
        words = joined.decode("utf-8", "surrogatepass").split("\n")  # a tenth of the time of folding each
        return [
            run
            for run, word in zip(runs, words, strict=True)
            if (
                any(map(word.__contains__, letters))
                if run.isascii()
                else (
                    (folded := _letters(run)).startswith(starts)
                    or not (plain and run.isalpha() and (run.islower() or run.istitle()))
                )
                and any(map(folded.__contains__, letters))
            )
        ]

    def _has_stem(self, text: str) -> bool:
        """Whether a text adds to the `stems` stream, so that no phrase has a word on both sides of it."""
        streams = streams_of(self._counted_in)
        return any(streams[run[0]][1] for run in RUN.finditer(text))

    def _has_match(self, words: str, stems: str) -> bool:
        """Whether one of several words or stems, or the beginning of one after the first, may match."""
        if not self._possible_tokens.isdisjoint(words.split(" ")):
            return True
        if not self._possible_stems.isdisjoint(stems.split(" ")):
            return True
        return any(prefix in words for prefix in self._later_prefixes) or any(
            prefix in stems for prefix in self._later_stem_prefixes
        )

    def _has_key(self, keys: list[str]) -> bool:
        if not self._joined.isdisjoint(keys):
            return True
        return bool(self._endings) and any(key.startswith(self._endings) for key in keys)

    def __missing__(self, run: str) -> _RunMatches | None:
        if len(self) >= _MAX_CACHED:
            self.clear()
        matches = self[run] = self._match_run(run) if self._may_match(run) else None
        return matches

    def _may_match(self, run: str) -> bool:
        """Whether a run may match. Most don't, and their streams show that."""
        if self._language is None:
            return True
        words, stems, keys, inner = streams_of(self._language)[run]  # not stored, so that the cached words can be freed
        return (
            stems in self._possible_stems
            or words in self._possible_tokens
            or words.startswith(self._prefixes)
            or stems.startswith(self._stem_prefixes)
            or (keys != "" and self._has_key(keys.split(" ")))
            or (" " in words and self._has_match(words, stems))
            or (inner != "" and self._has_match(f"{words} {inner}", stems))
        )

    def _match_run(self, run: str) -> _RunMatches | None:
        ranges: list[Range] = []
        rooted: list[tuple[Range, frozenset[str]]] = []
        for group in groups(run):
            text = run[group.start : group.end]
            if group.kind:
                ranges += [(group.start + start, group.start + end) for start, end in self._unspaced_ranges(text)]
                if group.kind == HANGUL:
                    rooted.append(((group.start, group.end), self._all_stems("".join(_cluster_tokens(text)))))
            else:
                self._match_word(text, group, ranges, rooted)
        ranges += [span for span, stems in rooted if self._matches_stem(stems)]
        phrase_stems = [
            (index, span, stems)
            for index, (span, stems) in enumerate(rooted)
            if not stems.isdisjoint(self._phrase_stems)
        ]
        return _RunMatches(tuple(ranges), len(rooted), tuple(phrase_stems)) if ranges or phrase_stems else None

    def _match_word(
        self, text: str, group: Group, ranges: list[Range], rooted: list[tuple[Range, frozenset[str]]]
    ) -> None:
        word_pieces = _pieces(text)
        begun = [piece for piece in word_pieces if piece.token.startswith(self._prefixes)]
        for piece in word_pieces:
            span = group.start + piece.start, group.start + piece.end
            if piece.token in self._tokens or (piece in begun and (piece.root or piece == begun[-1])):  # not a path
                ranges.append(span)
            if piece.root:
                stems = self._all_stems(piece.root)
                rooted.append((span, stems))
                if not self._joined.isdisjoint(numbered_keys(piece.root)):
                    ranges.append(span)
                if self._endings:
                    ranges += ((group.start + start, span[1]) for start in self._compound_starts(piece, stems))
        if self._joined and len(word_pieces) > 1:
            for start, end, key in joined_keys(text, word_pieces):
                if key in self._joined:
                    ranges.append((group.start + start, group.start + end))
        if tuple(piece.token for piece in word_pieces if not piece.inner) in self._tokens:
            ranges.append((group.start, group.end))

    def _matches_stem(self, stems: frozenset[str]) -> bool:
        if not stems.isdisjoint(self._stems):
            return True
        return bool(self._stem_prefixes) and any(stem.startswith(self._stem_prefixes) for stem in stems)

    def _compound_starts(self, piece: Piece, stems: frozenset[str]) -> Iterator[int]:
        """Yield the offsets at which a matching last word of a compound begins.

        This is the start of the compound if folding changed the offsets.
        """
        for key in {ending_key(piece.root, stem) for stem in stems}:
            stem = key[:0:-1]
            for ending in self._endings if key.startswith(self._endings) else ():
                if key.startswith(ending):
                    at = len(key) - len(ending)
                    yield piece.start + at if piece.token[at:].startswith(stem[at:]) else piece.start

    def _all_stems(self, root: str) -> frozenset[str]:
        return frozenset([stems[root] for stems in self._stemmers])

    def _unspaced_ranges(self, text: str) -> Iterator[Range]:
        """Yield the ranges of the query's words of unspaced scripts in a text.

        Characters are compared with their combining marks.
        """
        tokens = _cluster_tokens(text)
        joined = "".join(tokens)
        present = [unspaced_term for unspaced_term in self._unspaced_terms if "".join(unspaced_term) in joined]
        if not present:
            return
        spans = cluster_spans(text)
        for unspaced_term in present:
            for first in range(len(tokens) - len(unspaced_term) + 1):
                if tokens[first : first + len(unspaced_term)] == unspaced_term:
                    yield spans[first][0], spans[first + len(unspaced_term) - 1][1]


@lru_cache(1 << 12)
def _letters(run: str) -> str:
    """Return a run folded and without connectors, after a mark if a match may begin elsewhere than at its start."""
    folded = fold(run)
    word = folded.translate(_WITHOUT_CONNECTORS)
    if _OTHER_RULES.search(word):
        return _ALWAYS
    # Modifier apostrophes divide words like other apostrophes, but `isalpha` counts them as letters.
    spaced = len(run) <= LONGEST_WORD and "\u02bc" not in folded and (word.isascii() or max(word) <= _LAST_SPACED)
    return word if spaced else _ANYWHERE + word


def _find_run(piece: str, run: str, start: int) -> int:
    """Return the first position of this run of characters from `start` on that isn't part of a longer run."""
    at = piece.find(run, start)
    while _is_in_run(piece[at - 1 : at]) or _is_in_run(piece[at + len(run) : at + len(run) + 1]):
        at = piece.find(run, at + 1)
    return at


@lru_cache(1 << 10)
def _is_in_run(character: str) -> bool:
    return RUN.match(character) is not None


def _is_word(term: QueryTerm) -> bool:
    return not next(groups(term.surface)).kind


def _cluster_tokens(text: str) -> list[str]:
    return [cluster_token(text[start:end]) for start, end in cluster_spans(text)]


def _phrase_ranges(
    phrase: tuple[str, ...], stems_at: dict[int, tuple[Range, frozenset[str]]], text: str
) -> Iterator[Range]:
    nothing: tuple[Range, frozenset[str]] = (0, 0), frozenset()
    for position, (_, first) in stems_at.items():
        if phrase[0] not in first:
            continue
        there = [stems_at.get(position + index, nothing) for index in range(len(phrase))]
        if all(stem in stems for stem, (_, stems) in zip(phrase, there, strict=True)):
            spans = [span for span, _ in there]
            yield from spans
            for (_, end), (start, _) in pairwise(spans):
                if end < start and not text[end:start].strip(_CONNECTORS):
                    yield end, start


def _merged(ranges: Iterator[Range]) -> list[Range]:
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


_matcher = lru_cache(maxsize=8)(_Matcher)
_analysed = lru_cache(maxsize=8)(analyse_query)
_command_parts = lru_cache(maxsize=8)(_parts_of_command)
_path_regex = lru_cache(maxsize=8)(_regex_of_path)
_pieces = lru_cache(maxsize=1 << 11)(pieces)
