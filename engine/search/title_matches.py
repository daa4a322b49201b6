"""Finds notes whose title or file name equals the query, to rank them first, and texts that define or spell a name.

Completes a query that is the beginning of such a name, or the name without its spaces and punctuation.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache, lru_cache
from itertools import compress
from math import hypot
from operator import mul

import msgspec

from engine.base import lazy_pattern
from engine.search.chunk_filter import ChunkFilter, SnapshotCache
from engine.search.keyword_scores import KeywordScores, Scored
from engine.search.pipeline_stages import Stages, Term
from engine.search.scoring import DEFINED, SPELLED
from engine.search.term_lookup import occurs, quoted
from engine.store.connection import id_array
from engine.store.index_schema import IN_TEXT_ORDER
from engine.store.snapshot import Snapshot
from engine.text import Query, QueryAnalysis, QueryTerm
from engine.text.folding import fold
from engine.text.query_parser import parse_query
from engine.text.stopwords import unsearched_words
from engine.text.tokens import RUN, to_token
from engine.text.tokens_and_stems import letters_and_digits, phrase_tokens, words_and_stems

_WORD = re.compile(r"[^\W_]+")
_NOT_IN_NAMES = {code: None for code in range(128) if not chr(code).isalnum()}
_MAX_WORDS = 12
"""Maximum number of words of a title; pasted text is longer."""
_ENDING = lazy_pattern(r"(?<=\w)\.[A-Za-z]\w{0,3}$")
_NUMBERED = lazy_pattern(r"\A(?!(?:19|20)\d\d[-_ ])(\d[\d.]{2,})[-_ ]+(?=[^\W\d])")
"""Matches the number that a name begins with, such as 0012 or 04.14; not a year."""
_MAX_NAMED, _MAX_LOOKED_UP = 50, 200
_LONGEST = 200
"""Maximum number of characters of a name to compare."""
_MAX_PARTS = 6
"""Maximum number of words of a name that a text may define, or that may spell an identifier together."""
_SHORTEST_DEFINED, _LONGEST_DEFINED = 3, 80
"""Minimum and maximum number of characters of a name that a text may define."""
_DEFINING = (
    "class const def enum fn fun func function index interface let macro module proc procedure record struct sub table"
    " trait type val var view"
)
_VERSION = lazy_pattern(r"[vV]?(\d+(?:\.\d+){2,})")
_COMMA_INSIDE = lazy_pattern(r"\w,\w")
_DEFINITION = lazy_pattern(
    rf"""[ \t]* (?:[a-z]+[ \t]+){{0,4}} (?:{"|".join(_DEFINING.split())}) [ \t]+ (?:\([^)]*\)[ \t]*)?
        _*\0_*[ \t]* (?: [(:{{<=\[;].* | $ | (?:extends|implements)\b.*)  # export const name =, func (of *Type) name(
    | [ \t]*(?:\#[ \t]*define|\.\.[ \t]+[\w:]+::)[ \t]+ \0 (?!\w).*
    | \#+[ \t]+ \0 [ \t]*  # a heading
    | [ \t>*+\-"'`]* \0 ["'`*]*[ \t]*[:=](?!=).*  # name: value
    """,
    re.VERBOSE,
)
"""Matches a line that defines a name. The line is in lower case, with a NUL instead of the name."""
_LONGEST_START = 80
"""Maximum number of characters before the name in a line that defines it."""
_JOINTS = " _.-:>"
"""Joints: characters that may be between two parts of a name."""
_HALF_TYPED = lazy_pattern(r".*\w\W*\s\W*\w+\Z", re.DOTALL)
"""Matches several words with spaces; the last one may be half-typed."""
_JOINED = lazy_pattern(r"(?=\S+\Z).*(?:[_.:>]|[a-z0-9][A-Z]|[A-Z]{2}[a-z])")
"""Matches the parts of a name spelled as one name, not as words of a sentence."""

_SHORTEST_BEGUN, _LONGEST_BEGUN = 2, 100
"""Minimum and maximum number of characters of a query that may be completed to a name."""
_MIN_TYPED = 0.6
"""Share of the letters and digits of a name that must be typed."""
_MAX_COMPLETED, _MAX_CACHED = 3, 100


class NamedChunk(msgspec.Struct, frozen=True):
    """A chunk of a file whose title, alias or name equals the query, or begins with it."""

    file: int
    """The file's id."""
    whole: bool
    """Whether the name is the whole query or its subject, with function words and fillers."""
    line: int
    """The chunk's first line."""


def _named_among(
    snapshot: Snapshot, query: Query, analysis: QueryAnalysis, ids: Collection[int]
) -> dict[int, NamedChunk]:
    """Return those of the chunks `ids` whose file has a title, alias or name equal to the query, by id.

    The query is compared with and without its introduction, function words and fillers, and without spaces and
    punctuation: "invoice 2024" equals `invoice2024`. If no name is equal, several words that no text has next to each
    other may be the beginning of one, such as "invoice from m". The chunk must then have the other words, and a match
    outside its text.
    """
    if not (names := list(map("".join, _names_in(query, analysis)))):
        return {}
    names.append(" ".join(["#", *_WORD.findall(query.text)]))  # 0,300 is no name of `0300-x`, but 04 14 of `04.14 x`
    half_typed, equal, longer = is_half_typed(query), dict[int, NamedChunk](), dict[int, NamedChunk]()
    whole = {names[-1], *("".join(_words(text)) for text in (query.text, query.free_text))}
    for id_, line, file, title, path, aliases in snapshot.titles(tuple(ids)):
        called = _names_of_file(title, path, aliases)
        if folders := query.text.strip(" /").count("/"):
            called |= _names_of_file(title, "_".join(path.split("/")[-folders - 1 :]), aliases)
        if not called.isdisjoint(names):
            equal[id_] = NamedChunk(file, not called.isdisjoint(whole), line)
        elif half_typed and any(name.startswith(names[0]) for name in called):
            longer[id_] = NamedChunk(file, True, line)
    phrase = quoted(" ".join(phrase_tokens(f"{query.text} ").tokens))
    return equal or ({} if longer and occurs(snapshot, f"- stems : {phrase}") else longer)


def is_half_typed(query: Query) -> bool:
    """Return whether a query may be the beginning of a name: several words, the last without a space after it."""
    return query.plain and len(query.text) <= _LONGEST and _HALF_TYPED.match(query.text) is not None


def scored_chunks_named(
    snapshot: Snapshot, query: Query, analysis: QueryAnalysis, words: KeywordScores
) -> dict[int, NamedChunk]:
    """Return the scored chunks whose file has a title, alias or name equal to the query; see `_named_among`.

    If a text has the whole query as a phrase, including function words, the name must also have these, unless they all
    come before it, as in "the water pump".
    """
    distinctive = [not term.filler for term in analysis.terms if not term.stop]
    if analysis.unfinished and len(distinctive) > 1:
        distinctive[-1] = False
    # A chunk is not complete if texts have the exact form, since names such as `notes-x.md` are indexed as stems.
    scored = words.around.intersection(words.contributions)
    matching = {id_ for id_ in scored if all(compress(words.contributions[id_], distinctive))}
    named = _named_among(snapshot, query, analysis, matching | (words.complete & words.around))
    if not (named and words.adjacent):
        return named
    names = list(map("".join, _names_in(query, analysis)))
    return named if names[0].endswith(names[-1]) else {id_: chunk for id_, chunk in named.items() if chunk.whole}


def first_chunks_named(
    snapshot: Snapshot, query: Query, analysis: QueryAnalysis, titled: Sequence[int] | None
) -> list[int]:
    """Return the first chunk of each file whose title, alias or name equals the query, with and without its fillers.

    If most chunks contain a word, such as the subject of a whole collection, a keyword ranking doesn't reach the note
    of that name. `titled` are chunks that include all of such files, if they are few; None to look up the names by
    which links find notes, and the titles of sessions.
    """
    ids = _candidates_named(snapshot, query, analysis) if titled is None else titled
    first: dict[int, tuple[int, int]] = {}
    for id_, named in _named_among(snapshot, query, analysis, ids).items():
        first[named.file] = min((named.line, id_), first.get(named.file, (named.line, id_)))
    return [id_ for _, id_ in first.values()][:_MAX_NAMED]


def _candidates_named(snapshot: Snapshot, query: Query, analysis: QueryAnalysis) -> set[int]:
    """Return the first chunks of files that may have the query as a name, with and without its fillers."""
    tables, ids = snapshot.tables, set[int]()
    longer = "%" if is_half_typed(query) else ""
    for words in _names_in(query, analysis):
        rows = snapshot.connection.execute(
            f"""SELECT (SELECT id FROM {tables.chunks} WHERE file_id = f.id ORDER BY {IN_TEXT_ORDER} LIMIT 1) FROM (
                    SELECT file_id AS id FROM {tables.link_names}
                    WHERE key >= ?1 AND key < ?2 AND kind <> 'block' AND (key LIKE ?3 OR key LIKE ?3 || '.%')
                    UNION SELECT id FROM {tables.files} WHERE source = 'sessions' AND title LIKE ?3
                ) f LIMIT {_MAX_LOOKED_UP}""",
            (words[0], words[0] + "\U0010ffff", "_".join(words) + longer),
        )
        ids.update(id_ for (id_,) in rows if id_ is not None)
    return ids


class NoteNames:
    """Completes queries to names; caches those of sessions by their first letter, and the last ones of notes.
    Thread-safe.
    """

    def __init__(self) -> None:
        self._known = SnapshotCache[dict[str, list[tuple[int, str, str]]]](lambda snapshot: {})

    def completing(self, snapshot: Snapshot, query: str, scope: ChunkFilter) -> list[str]:
        """Return at most three names of searched notes that the query spells, begins or abbreviates, likeliest first.

        A name is a title, an alias or a file name; only letters and digits are compared. Empty if the query is a name,
        or has operators.
        """
        typed = letters_of_name(query) if len(query) <= _LONGEST_BEGUN else ""
        if len(typed) < _SHORTEST_BEGUN or scope.chunks is not None or not parse_query(query).plain:
            return []
        best = dict[int, tuple[bool, int, str, str]]()  # by file, which has a name with and without its extension
        for file, letters, written in self._starting(snapshot, query, typed):
            if (
                ((letters.startswith(typed) and len(typed) >= _MIN_TYPED * len(letters)) or is_acronym(typed, written))
                and file not in snapshot.hidden
                and (scope.files is None or file in scope.files)
            ):
                plain = written if parse_query(written).plain else " ".join(_WORD.findall(written))
                name = letters != typed, len(letters), letters, plain
                best[file] = min(name, best.get(file, name))
        different: dict[str, str] = {}
        for _, _, letters, plain in sorted(best.values()):
            different.setdefault(letters, plain)
        names = list(different.values())[:_MAX_COMPLETED]
        return [] if query in names else names

    def _starting(self, snapshot: Snapshot, query: str, typed: str) -> list[tuple[int, str, str]]:
        """Return names that begin with the first letter, among them the shortest that begin with all."""
        known = self._known.get(snapshot)
        if len(known) > _MAX_CACHED:
            known.clear()
        if (sessions := known.get(typed[0])) is None:
            files = f"""SELECT id FROM {snapshot.tables.files} WHERE source = 'sessions'
                AND (title LIKE ? || '%' OR title GLOB '[^A-Za-z0-9]*' OR path LIKE '%/' || ? || '%')"""
            rows = snapshot.connection.execute(files, (typed[0], typed[0]))
            sessions = known[typed[0]] = _names(snapshot, typed[0], [id_ for (id_,) in rows])
        for end in range(len(typed), _SHORTEST_BEGUN - 1, -1):
            if (shorter := known.get(typed[:end])) is not None:
                return sessions + shorter
        notes = _notes_starting(snapshot, query)
        names = _names(snapshot, typed[0], notes)
        if len(notes) < _MAX_LOOKED_UP:  # all: names that begin with more letters are among them
            known[typed] = names
        return sessions + names


def _notes_starting(snapshot: Snapshot, query: str) -> list[int]:
    """Return the ids of notes whose names may begin with the letters of a query, one for each of the shortest names."""
    letters, names = letters_of_name(_ENDING.sub("", query)), snapshot.tables.link_names
    starts = "key >= ?2 AND key < ?3", "key < '0'", "key >= ':' AND key < 'a'", "key >= '{'"  # the others are signs
    keys = " UNION ALL ".join(f"SELECT rowid AS name, key FROM {names} WHERE {start}" for start in starts)
    rows = snapshot.connection.execute(
        f"""SELECT file_id
            FROM (SELECT name FROM ({keys}) WHERE key LIKE ?1 ORDER BY length(key) LIMIT {_MAX_LOOKED_UP})
            CROSS JOIN {names} n ON n.rowid = name""",
        (f"%{'%'.join(letters)}%", letters[:1], letters[:1] + "\U0010ffff"),
    )
    return [id_ for (id_,) in rows]


def _names(snapshot: Snapshot, start: str, files: Sequence[int]) -> list[tuple[int, str, str]]:
    """Return the names of files that begin with this letter, each as file id, letters alone, and whole name."""
    rows = snapshot.connection.execute(
        f"""SELECT f.id, f.title, f.path, coalesce(n.aliases, '') FROM carray(?) wanted
            CROSS JOIN {snapshot.tables.files} f ON f.id = wanted.value
            LEFT JOIN {snapshot.tables.front_matter} n ON n.file_id = f.id""",
        (id_array(files),),
    )
    names = dict[tuple[int, str], str]()
    for file, title, path, aliases in rows:
        name = path.rpartition("/")[2]
        for written in (title, name.rpartition(".")[0], name, *aliases.splitlines()):
            if len(written) <= _LONGEST_BEGUN and (letters := letters_of_name(written)).startswith(start):
                names.setdefault((file, letters), written)
    return [(file, letters, written) for (file, letters), written in names.items()]


def _names_in(query: Query, analysis: QueryAnalysis) -> list[list[str]]:
    """Return the words of a plain query as possible names: all, its subject, and without function words and fillers."""
    if not query.plain:
        return []
    text = query.searched_text
    left_out = [term for term in analysis.terms if term.stop or term.filler]
    repeated = {word for term in left_out for word in _words(term.surface)}
    for term in left_out:  # by location, since some scripts put no spaces between words
        text = text[: term.start] + " " * (term.end - term.start) + text[term.end :]
    names = [_words(query.text), _words(query.free_text)]
    if left_out:
        names.append([word for word in _words(text) if word not in repeated])
    return [words for at, words in enumerate(names) if 0 < len(words) <= _MAX_WORDS and words not in names[:at]]


def name_matches(
    snapshot: Snapshot, analysis: QueryAnalysis, searched: Sequence[Term], ids: Collection[int]
) -> dict[int, float]:
    """Return how well the title or file name of each chunk matches the query, 0 to 1, by id; without those at 0.

    The share of the query that the name contains, weighted by the idfs of its terms (`searched`), times the share of
    the name that the query contains: a note named "Advanced queries" matches "how do advanced queries work" almost
    fully. Another form of a word counts less if texts have the word itself. If no text has the last word, one that it
    begins counts by the share of it that is typed.
    """
    terms = [term for term in analysis.terms if not term.stop]
    total = sum(term.idf for term in searched)
    if not total or not ids:
        return {}
    weights = [term.idf for term in searched]
    inexact = [term.other_occurrence(len(terms)) for term in searched]
    forms = [_forms(term) for term in terms]
    last, in_texts = terms[-1], searched[-1].weak < 1.0
    begun = last.word if last.is_prefix and isinstance(last.word, str) and last.stems and not in_texts else None
    known: dict[str, float] = {}

    def fit(name: str) -> float:
        rating = known.get(name)
        if rating is None:
            words, tokens, written = _analysed_words(name, analysis.languages)
            if not words:
                return 0.0
            strengths = [
                1.0 if of_term[0] <= written else other if any(form <= tokens for form in of_term) else 0.0
                for of_term, other in zip(forms, inexact, strict=True)
            ]
            query_tokens = frozenset[str]().union(*(form for of_term in compress(forms, strengths) for form in of_term))
            if begun is not None and not strengths[-1] and (longer := _begun_by(begun, written)):
                strengths[-1] = len(begun) / len(longer)
                query_tokens |= {longer}
            share = sum(map(mul, weights, strengths)) / total
            rating = known[name] = share * sum(word.share(query_tokens) for word in words) / len(words)
        return rating

    fits = {}
    for id_, _, _, title, path, aliases in snapshot.titles(tuple(ids)):
        best = max(map(fit, (title, path.rpartition("/")[2].rpartition(".")[0], *aliases.splitlines())))
        if best:
            fits[id_] = best
    return fits


def _begun_by(start: str, words: Collection[str]) -> str:
    """Return the shortest of the words that begins with `start`; "" if none does."""
    return min((word for word in words if word.startswith(start)), key=lambda word: (len(word), word), default="")


def name_use(query: Query) -> Callable[[str], float] | None:
    """Return a function that rates how a text uses the query as a name; None if the query isn't a name.

    `DEFINED` if the text defines the name, as code, keys with a value, and headings do, or more for a name of several
    parts; `SPELLED` if the text only joins several parts to one name; 0 otherwise. The name may be in any case style.
    """
    words = _WORD.findall(query.free_text.lower())
    name = "".join(words)
    if query.plain and "." in query.free_text and (version := _VERSION.fullmatch(query.free_text.strip())):
        number = rf"(?<![\d.]){re.escape(version[1])}(?!\.?\d)"  # 2.2.1 is not spelled as (2,2) = 1
        heading, exact = re.compile(rf"^#.*{number}", re.MULTILINE), re.compile(number)
        return lambda text: DEFINED if heading.search(text) else SPELLED if exact.search(text) else 0.0
    if not query.plain or len(words) > _MAX_PARTS or not _SHORTEST_DEFINED <= len(name) <= _LONGEST_DEFINED:
        return None
    if _COMMA_INSIDE.search(query.free_text):  # 5,75 is not spelled as 5.75
        spelling = query.free_text.strip().lower()
        return lambda text: SPELLED if spelling in text.lower() else 0.0
    encoded = name.encode()
    overlapping = [(name + name[size:]).encode() for size in range(1, len(name)) if name.endswith(name[:size])]
    spelled = cache(
        lambda: re.compile(f"[{re.escape(_JOINTS)}]{{0,2}}".join(name))
    )  # making the pattern takes longer than most searches for the name

    def find(lower: str, joined: bytes) -> list[tuple[int, int]]:
        """Return where a text has the name in any spelling; `joined`: the text without `_JOINTS`."""
        spans, at = list[tuple[int, int]](), lower.find(name)
        while at >= 0:
            spans.append((at, at + len(name)))
            at = lower.find(name, at + len(name))
        if len(spans) < joined.count(encoded) or any(twice in joined for twice in overlapping):
            return [match.span() for match in spelled().finditer(lower)]
        return spans

    hyphen = "-" if "-" in query.free_text else "_"  # a hyphen alone is also found in sentences

    def use(text: str) -> float:
        lower = text.lower()
        joined = lower.encode("utf-8", "surrogatepass").translate(None, _JOINTS.encode())  # far faster than for a str
        if encoded not in joined:
            return 0.0
        spans = find(lower, joined)
        if any(_is_definition(lower, *span) for span in spans):
            return hypot(DEFINED, SPELLED) if len(words) > 1 else DEFINED
        names = (text.replace(hyphen, "_")[slice(*span)] for span in spans if _is_whole(lower, *span))
        return SPELLED if len(words) > 1 and len(lower) == len(text) and any(map(_JOINED.match, names)) else 0.0

    return use


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no longer name begins or ends where this one does, and no address contains it."""
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return not any(character.isalnum() or character in "_/" for character in around)


def _is_definition(text: str, start: int, end: int) -> bool:
    """Whether the line that contains the name at `start` to `end` defines it."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return len(before) <= _LONGEST_START and bool(
        _DEFINITION.fullmatch(f"{before}\0{text[end:].partition(chr(10))[0]}")
    )


def _forms(term: QueryTerm) -> list[frozenset[str]]:
    """Return the forms of a term as sets of tokens; a set matches if all its tokens are present."""
    word = (term.word,) if isinstance(term.word, str) else term.word
    return [frozenset(word), *(frozenset(stem.split(" ")) for stem in term.stems)]


class _NameWord(msgspec.Struct, frozen=True):
    tokens: frozenset[str]
    """The word and its stems, in all languages."""
    written: frozenset[str]
    """The word alone."""
    whole: str
    """The word as one token."""
    parts: tuple[frozenset[str], ...]
    """The tokens of each part of a word with hyphens and the like, or with letters and digits; else empty."""

    def share(self, tokens: frozenset[str]) -> float:
        """Return the share of the word, 0 to 1, that the tokens of a query contain: `x7k9` is not a name for 7."""
        if not self.parts or self.whole in tokens:
            return float(not tokens.isdisjoint(self.tokens))
        return sum(not tokens.isdisjoint(part) for part in self.parts) / len(self.parts)


@lru_cache(1024)  # while the user types, the same notes match
def _analysed_words(name: str, languages: tuple[str, ...]) -> tuple[list[_NameWord], frozenset[str], frozenset[str]]:
    """Return the words of a name, without function words if there are others, their tokens, and these as written."""
    meaningful, plain = [], []
    for run in RUN.findall(name[:_LONGEST]):
        word = _analysed_word(run, languages)
        if word.tokens:
            plain.append(word)
            if word.tokens.isdisjoint(unsearched_words(languages[0])):
                meaningful.append(word)
    words = meaningful or plain
    tokens = frozenset[str]().union(*(word.tokens for word in words))
    return words, tokens, frozenset[str]().union(*(word.written for word in words))


@lru_cache(2048)  # names share words, and an index may have twenty languages
def _analysed_word(run: str, languages: tuple[str, ...]) -> _NameWord:
    """Return a word of a name; if it has letters and digits, with both as separate words."""
    parts = [part for word in _WORD.findall(run) for part in (letters_and_digits(word) or [word])[0].split()]
    different = [run] if parts == [run] else [run, *parts]
    written, tokens = zip(*(words_and_stems(each, languages) for each in different), strict=True)
    separate = tokens[1:] if len(parts) > 1 else ()
    return _NameWord(frozenset[str]().union(*tokens), frozenset[str]().union(*written), to_token(run), separate)


def put_first(
    ranked: list[Scored], named: dict[int, NamedChunk], words: KeywordScores, count: int, stages: Stages
) -> list[Scored]:
    """Rank one chunk of each file whose name equals the query before all others, as a full match.

    `count`: number of all candidates, also of candidates that are not in `ranked`.

    It is the best chunk or, if the query is only the name, a chunk that defines the name, else the file's first one:
    the chunk in which the name is most frequent doesn't say more about it.
    """

    def order(scored: Scored) -> tuple[bool, int, int]:
        return words.used.get(scored.id, 0.0) < DEFINED, named[scored.id].line, scored.id

    first: dict[int, Scored] = {}
    for scored in ranked:
        if (named_chunk := named.get(scored.id)) is not None:
            best = first.setdefault(named_chunk.file, scored)
            if named_chunk.whole and order(scored) < order(best):
                first[named_chunk.file] = scored
    if not first:
        return ranked
    stages.add("title", count, count, len(first))
    chosen = {scored.id for scored in first.values()}
    full = []
    for scored in first.values():
        factor = 1.0 if scored.age is None else scored.age.factor
        full.append(msgspec.structs.replace(scored, score=factor, fresh=1.0, named=True, boost=None))
    # The results' scores include ageing here too; equal scores keep their order.
    return sorted(full, key=lambda scored: -scored.score) + [scored for scored in ranked if scored.id not in chosen]


@lru_cache(4096)  # all chunks of a file have the same names
def _names_of_file(title: str, path: str, aliases: str) -> frozenset[str]:
    """Return the letters and digits of a file's title, name with and without suffix, and aliases, and its number."""
    name = path.rpartition("/")[2]
    names = title, name.rpartition(".")[0], name, *aliases.splitlines()
    numbers = (" ".join(["#", *_WORD.findall(number)]) for number in _NUMBERED.findall(name))
    return frozenset(map(letters_of_name, names)).union(numbers)


def is_acronym(typed: str, name: str) -> bool:
    """Return whether letters are the first ones of a name's words: "gtd" for "Getting Things Done"."""
    return len(typed) >= _SHORTEST_DEFINED and "".join(word[0] for word in _words(name)) == typed.lower()


def letters_of_name(name: str) -> str:
    """Return the letters and digits of a name, folded: "Wi-Fi 6E" is `wifi6e`."""
    return name.lower().translate(_NOT_IN_NAMES) if name.isascii() else "".join(_words(name))


def _words(text: str) -> list[str]:
    return [folded for word in _WORD.findall(text) if (folded := fold(word))]
