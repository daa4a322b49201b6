"""Finds the ranges of a text that match a query, with the same analysis as the index."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

import msgspec

from engine.base import lazy_pattern
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
from engine.text.tokens import DELIMITERS, RUN, Group, Piece, cluster_spans, groups, pieces, to_token
from engine.text.tokens_and_stems import PhraseTokens, phrase_ranges, streams_of, text_pieces
from engine.text.writing_systems import HANGUL, UNSPACED, shape

Range = tuple[int, int]

_MOST_REMEMBERED = 1 << 14
_PREFIX_LANGUAGES = frozenset({"", "english", "french", "german", "italian", "portuguese", "spanish"})
"""Languages in which a stem begins with the first two letters of its word; in others Snowball removes
prefixes."""
_COMMON_LETTERS = 2
_WITH_Y = {"die": "dy", "lie": "ly", "tie": "ty"}
"""Stems of dying, lying and tying, whose second letter differs from that of the word."""
_PLAIN = "[A-Za-z][a-z]{0,31}+[.:]?"
"""Regex for a plain word before a delimiter: its only token is the word in lower case."""
_CONNECTORS = "._-+#/@:"
"""Characters between the parts of one identifier."""
_WITHOUT_CONNECTORS = str.maketrans("", "", _CONNECTORS + "'")


def highlight_ranges(text: str, query: str | Query | QueryAnalysis, languages: Sequence[str] = ()) -> list[Range]:
    """Return the ranges of `text` that match a query: half-open, in code points, sorted, with gaps between them.

    A `str` query is plain words; in a parsed query, phrases are highlighted whole, and only where they occur as a
    phrase. Files and commands of its operators are highlighted too.

    A word matches if it, or a stem of it, equals a term's; the last word of a query, from three characters on, also as
    a prefix. Of an identifier only the matching part is in the range. Function words of the query are left out.
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
"""Separator between folders, also in a Windows path, and in one within JSON."""
_MOST_FOLDERS, _MOST_WILDCARDS = 8, 2
"""Most folders and wildcards of one path: more would make the search for it slow."""


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
    for folder in folders[-_MOST_FOLDERS:]:
        part = f"{before}(?>{_glob_pattern(folder)}{_SEPARATOR})"  # no wildcard reaches beyond a separator
        before = f"(?:{part})?"
    if needed:
        before = part
    end = _SEPARATOR if path.endswith("/") else r"(?![\w-]|\.\w)"
    return rf"(?<![\w.-]){before}{_glob_pattern(name)}{end}"


def _glob_pattern(glob: str) -> str:
    literal = list(map(re.escape, _WILDCARD.split(glob)))
    return _ANY.join(literal if len(literal) <= _MOST_WILDCARDS + 1 else [literal[0], literal[-1]])


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
    """Return the tokens that match, the beginnings of tokens that match, and the forms that are phrases."""
    words = [term for term in terms if _is_word(term)]
    forms = [form for term in terms for form in term.loose]
    single = [form[0] for form in forms if len(form) == 1 and shape(form[0][0]) not in (HANGUL, UNSPACED)]
    tokens = frozenset([*(term.word for term in words), *(word for word in single if not word.endswith("*"))])
    prefixes = [term.word for term in words if term.prefix_ok and isinstance(term.word, str)]
    prefixes += [word[:-1] for word in single if word.endswith("*")]
    return tokens, tuple(prefixes), tuple(PhraseTokens(form, open=False) for form in forms if form[0] not in single)


def _stems_to_match(
    terms: Sequence[QueryTerm],
) -> tuple[frozenset[str], tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the stems that match, the beginnings of stems that match, and the stems that match in a row."""
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
        self._stretches = tuple(_cluster_tokens(term.surface) for term in terms if not _is_word(term))
        self._phrase_stems = frozenset(stem for phrase in self._phrases for stem in phrase)
        self._stemmers = tuple(stems_of(rules) for language in languages for rules in rules_of(language))
        alone = len(languages) == 1 and not self._stretches
        self._language = languages[0] if alone else None
        """The language whose streams suffice to tell that a run doesn't match."""
        parts = [part for word in self._tokens if not isinstance(word, str) for part in word]
        self._possible_tokens = self._tokens.union(parts)
        self._possible_stems = self._stems | self._phrase_stems
        self._later_prefixes = tuple(f" {prefix}" for prefix in self._prefixes)
        self._later_stem_prefixes = tuple(f" {prefix}" for prefix in self._stem_prefixes)
        counted = bool(self._phrases)  # the parts of a phrase need their position
        plain = alone and not counted and languages[0] in _PREFIX_LANGUAGES
        beginnings = self._beginnings_of_matches() if plain else None
        self._may_match = None if beginnings is None else _all_but_plain(beginnings)
        """Skips most words of a text: the plain ones that begin unlike all matches. None where this is not known.

        One regex for all plain words takes a third of the time of looking at each.
        """
        self._beginnings = () if beginnings is None else self._beginnings_of_parts(beginnings)
        """First two letters of all parts of identifiers that match; only used with `_may_match`."""

    def _beginnings_of_matches(self) -> frozenset[str] | None:
        """Return the first two letters of all plain words that match; None if they are not known."""
        whole = [token for token in self._tokens if isinstance(token, str)]
        begun = [*self._prefixes, *self._stems, *self._stem_prefixes]
        if self._endings or any(len(beginning) < _COMMON_LETTERS for beginning in begun):
            return None
        beginnings = {token[:_COMMON_LETTERS] for token in (*whole, *begun)}
        beginnings |= {_WITH_Y[stem] for stem in self._stems & _WITH_Y.keys()}
        if self._language == "german":
            beginnings |= {f"{beginning[0]}e" for beginning in beginnings if beginning[0] in "aou"}  # Aerger is Ärger
        return frozenset(beginnings | {beginning.capitalize() for beginning in beginnings})

    def _beginnings_of_parts(self, beginnings: frozenset[str]) -> tuple[str, ...]:
        """Return `beginnings`, those of plain words, and those of parts of identifiers, without connectors."""
        keys = [key[len(JOINED) :] for key in self._joined]
        words = [token for token in self._possible_tokens if isinstance(token, str)]
        tokens = [*words, *self._prefixes, *self._stem_prefixes, *self._stems, *keys]
        others = {token.translate(_WITHOUT_CONNECTORS)[:_COMMON_LETTERS] for token in tokens}
        return tuple(others.union(beginning.lower() for beginning in beginnings))

    def ranges(self, text: str) -> Iterator[Range]:
        """Yield all matching ranges of a text, unordered, with overlaps and repetitions."""
        position = 0
        phrase_stems: dict[int, tuple[Range, frozenset[str]]] = {}
        for offset, piece in text_pieces(text):
            end = 0
            for run in self._possible(piece):
                matches = self[run]
                if matches is None:
                    continue
                if matches.ranges or matches.phrase_stems:
                    start = _find_run(piece, run, end)
                    end = start + len(run)
                    at = offset + start
                    for first, last in matches.ranges:
                        yield at + first, at + last
                    for index, (first, last), stems in matches.phrase_stems:
                        phrase_stems[position + index] = (at + first, at + last), stems
                position += matches.stems
        for phrase in self._phrases:
            yield from _phrase_ranges(phrase, phrase_stems, text)

    def _possible(self, text: str) -> list[str]:
        """Return the runs of a text that may match, or that count for the positions in a phrase."""
        if self._language is None or self._phrases:
            return RUN.findall(text)
        runs = RUN.findall(text if self._may_match is None else self._without_impossible(self._may_match.findall(text)))
        streams = streams_of(self._language)  # not stored, so that the cached words can be freed
        return [run for run in runs if self._may_be(*streams[run])]

    def _without_impossible(self, stretches: list[str]) -> str:
        """Return the stretches that contain the first letters of a match, joined: to analyse one takes far longer.

        Those with other characters than ASCII are all returned.
        """
        letters = " ".join(stretches).lower().translate(_WITHOUT_CONNECTORS).split(" ")
        # There are few beginnings and many stretches: `any` for each stretch takes several times as long.
        possible = {at for beginning in self._beginnings for at, of in enumerate(letters) if beginning in of}
        possible.update(at for at, stretch in enumerate(stretches) if not stretch.isascii())
        return " ".join([stretches[at] for at in sorted(possible)])

    def _may_be(self, words: str, stems: str, keys: str, inner: str) -> bool:
        """Whether a run with these streams may match; most don't."""
        return (
            stems in self._possible_stems
            or words in self._possible_tokens
            or words.startswith(self._prefixes)
            or stems.startswith(self._stem_prefixes)
            or (keys != "" and self._has_key(keys.split(" ")))
            or (" " in words and self._has_match(words, stems))
            or (inner != "" and self._has_match(f"{words} {inner}", stems))
        )

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
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        if self._language is not None and self._phrases:
            entry = streams_of(self._language)[run]
            if not self._may_be(*entry):
                stems = entry[1]
                matches = self[run] = _RunMatches((), stems.count(" ") + 1, ()) if stems else None
                return matches
        matches = self[run] = self._match_run(run)
        return matches

    def _match_run(self, run: str) -> _RunMatches | None:
        ranges: list[Range] = []
        rooted: list[tuple[Range, frozenset[str]]] = []
        for group in groups(run):
            text = run[group.start : group.end]
            if group.kind:
                ranges += _shifted(self._stretch_ranges(text), group.start)
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
        counts = ranges or (self._phrases and rooted)
        return _RunMatches(tuple(ranges), len(rooted), tuple(phrase_stems)) if counts else None

    def _match_word(
        self, text: str, group: Group, ranges: list[Range], rooted: list[tuple[Range, frozenset[str]]]
    ) -> None:
        word_pieces = pieces(text)
        for piece in word_pieces:
            span = group.start + piece.start, group.start + piece.end
            if piece.token in self._tokens or piece.token.startswith(self._prefixes):
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

    def _stretch_ranges(self, text: str) -> Iterator[Range]:
        """Yield the ranges of the query's words of unspaced scripts in a text.

        Characters are compared with their combining marks.
        """
        tokens = _cluster_tokens(text)
        joined = "".join(tokens)
        present = [stretch for stretch in self._stretches if "".join(stretch) in joined]
        if not present:
            return
        spans = cluster_spans(text)
        for stretch in present:
            for first in range(len(tokens) - len(stretch) + 1):
                if tokens[first : first + len(stretch)] == stretch:
                    yield spans[first][0], spans[first + len(stretch) - 1][1]


def _all_but_plain(beginnings: frozenset[str]) -> re.Pattern[str]:
    """Return a regex that skips plain words with none of these beginnings; its group holds the next other stretch.

    `beginnings`: two letters each, or a whole word of one letter. Each match starts where the last one ended.
    """
    starts = "|".join(re.escape(start) if len(start) > 1 else rf"{re.escape(start)}\b" for start in sorted(beginnings))
    plain = rf"(?!{starts}){_PLAIN}[{DELIMITERS}]++"  # few such classes: compiling one takes a tenth of a millisecond
    return re.compile(rf"[{DELIMITERS}]*+(?:{plain})*+(?:([^{DELIMITERS}]+)|\Z)")


def _find_run(piece: str, run: str, start: int) -> int:
    """Return the first position of this run of characters from `start` on that isn't part of a longer run."""
    at = piece.find(run, start)
    while _in_run(piece, at - 1) or _in_run(piece, at + len(run)):
        at = piece.find(run, at + 1)
    return at


def _in_run(piece: str, at: int) -> bool:
    return at >= 0 and RUN.match(piece, at, at + 1) is not None


def _is_word(term: QueryTerm) -> bool:
    return not next(groups(term.surface)).kind


def _cluster_tokens(text: str) -> list[str]:
    return [to_token(text[start:end]) for start, end in cluster_spans(text)]


def _shifted(ranges: Iterator[Range], by: int) -> list[Range]:
    return [(start + by, end + by) for start, end in ranges]


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
