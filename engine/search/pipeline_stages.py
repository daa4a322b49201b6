"""The stages of a search and the terms of its query."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from engine.text import Query
from engine.text.parsed_query import Clause
from engine.text.time_expressions import TimeExpression

if TYPE_CHECKING:
    from engine.records import RemedyName, StageUnit

OTHER_FORM = 0.4
"""Share of a one-word query that another form of the word does not cover if the index has the form in the query:
a search for "accord" shows the one note with that word above any number of notes with "according". In a query of more
words, the form of each matters less."""


class Term(msgspec.Struct, frozen=True, eq=False):
    """One term of a query, as alternative FTS5 phrases, with the number of its matches and its weight."""

    surface: str
    stemmed: tuple[str, ...]
    """Stems, one per language, searched in every column but `words`; empty for a term without a stem."""
    plain: tuple[str, ...]
    """The word itself, if it is in the index, a requested prefix, or a run of character pairs, searched in every column
    but `stems`; may be empty.
    """
    chunks: int
    """Number of chunks that contain the term: its exact form if the index has it, else its weaker forms. 0 for a term
    that occurs nowhere, although similar words are searched.
    """
    matches: int
    """Approximate number of chunks with one of the `forms`: fewer if some words represent a prefix."""
    idf: float
    """Idf of the exact form if the index has it. Fillers weigh less than their rarity."""
    weak_stems: tuple[str, ...] = ()
    """Looser forms of the term that are searched among the stems."""
    weak_words: tuple[str, ...] = ()
    """Looser forms that are searched among the words, and longer words that begin with the one being typed."""
    weak: float = 1.0
    """Weight of a match by weaker forms alone."""
    typed: int = 0
    """Number of the `chunks` that contain the word as typed; all for the beginning of longer words."""
    loose: int = 0
    """About how many chunks hold a looser form, or a word similar to a term that occurs nowhere."""
    irregular: tuple[str, ...] = ()
    """Irregular forms, if the index also has the form of the query."""
    irregular_idf: float = 0.0
    """Idf of the irregular forms together."""
    only_exact: bool = False
    """Whether its looser forms were not searched, since so many chunks of a large index contain the word."""

    @property
    def searched(self) -> bool:
        """Whether the index has a form of the term or a similar word."""
        return bool(self.chunks or self.loose)

    @property
    def in_texts(self) -> bool:
        """Whether the index has the word as typed."""
        return bool(self.chunks and self.typed) and self.weak < 1.0

    def other_form(self, count: int) -> float:
        """Return the strength of another form of the word, 0 to 1, in a query of `count` terms.

        It is 1 unless texts have both the word itself and other forms, or other spellings of a name.
        """
        if not self.plain or not self.stemmed:
            return 1.0
        # "set up" is another word than "set-up"; `getUserName` is the name `user_name` in code.
        another = " " not in self.stemmed[0] or "-" in self.surface
        return 1 - OTHER_FORM / count if another else 1.0

    def other_occurrence(self, count: int) -> float:
        """Return the weight of another form of the word in a title, or in a text that also has the word itself."""
        return self.other_form(count) ** 2

    @property
    def forms(self) -> tuple[str, ...]:
        """FTS5 phrases of all forms of the term, twice for a word that is its own stem."""
        return self.stemmed + self.plain + self.weak_stems + self.weak_words + self.irregular

    @property
    def kinds(self) -> str:
        """A letter for each of the `forms`.

        s for a stem, p for a plain word, the capital letter for a weaker form of either, i for an irregular form.
        """
        exact = "s" * len(self.stemmed) + "p" * len(self.plain)
        return exact + "S" * len(self.weak_stems) + "P" * len(self.weak_words) + "i" * len(self.irregular)


class Best(msgspec.Struct, frozen=True):
    """The minimum score and the highest score; the highest is missing if a result reached the minimum."""

    least: float
    best: float | None


def short_of(best: float, least: float) -> float:
    """Return a score in hundredths for display; a score below the minimum `least` stays below it."""
    rounded = round(best, 2)
    return rounded - 0.01 if best < least and rounded >= round(least, 2) else rounded


class RaisedMinimum(msgspec.Struct, frozen=True):
    """The minimum for words and meaning together, raised if words of the query occur nowhere (`unknown`), or the one
    for passages in another language that don't translate the query (`untranslated`), and the best match if none
    reached it.
    """

    least: float
    best: float | None
    unknown: Sequence[str]
    untranslated: bool = False


class Moved(msgspec.Struct, frozen=True):
    """Number of the `first` results that changed position."""

    moved: int
    first: int


class EmbeddedQuery(msgspec.Struct, frozen=True):
    """The model that embedded the query, and the length of the vector."""

    model: str
    dims: int


class Scope(msgspec.Struct, frozen=True):
    """The earlier query that a search is limited to: the best `passages` of its `total` results."""

    query: str
    passages: int
    total: int


class Terms(msgspec.Struct, frozen=True):
    """Terms of the query: numbers of chunks with each, terms too common to search, and words searched instead.

    Instead of a word that occurs nowhere, similar ones are searched.
    """

    chunks: dict[str, int]
    dropped: Sequence[str]
    similar: Sequence[str]
    unfinished: str = ""
    """The last word, if it is too short to be searched as the beginning of longer ones."""
    typed: dict[str, int] = {}
    """Numbers of chunks with each term as typed, not in another form."""


class TimesNamed(msgspec.Struct, frozen=True):
    """The times that the query names, and the number of candidates dated within them."""

    times: Sequence[TimeExpression]
    boosted: int


class SessionsNamed(msgspec.Struct, frozen=True):
    """Names of agents, projects and files of sessions in the query, and the number of candidates that have one."""

    names: Sequence[str]
    boosted: int


class VectorsReady(msgspec.Struct, frozen=True):
    """Number of chunks of the index that have a vector."""

    ready: int
    total: int


class KeywordsOnly(msgspec.Struct, frozen=True):
    """Why no vectors are compared: the cause, and the names and numbers for its sentence."""

    cause: Literal["not approved", "no vectors", "no vectors after failure", "failure", "other dimensions"]
    message: str = ""
    """The provider's error message after a failure; it ends with a full stop."""
    model: str = ""
    dims: int = 0
    """Length of the vectors that the model returns now, if it differs from the stored ones."""
    stored_dims: int = 0

    @property
    def remedy(self) -> "RemedyName":
        """The remedy that enables comparing vectors."""
        remedies: dict[str, RemedyName] = {"not approved": "embed", "no vectors": "sync"}
        return remedies.get(self.cause, "settings")


class UnknownWords(msgspec.Struct, frozen=True):
    """The words of a query that the model doesn't know, so that their vector has no meaning."""

    words: Sequence[str]


class CommonWords(msgspec.Struct, frozen=True):
    """What the keyword leg left out, since too many chunks contain the words of the query."""

    limited: bool
    """Whether only the newest matches and those with a word in a title were compared."""
    only_exact: Sequence[str]
    """Words whose looser forms were not searched."""


class EmptyIndex(msgspec.Struct, frozen=True):
    """An index without chunks. `recovered`: why it had to be rebuilt, or empty."""

    recovered: str = ""


class UnderstoodQuery(msgspec.Struct, frozen=True):
    """How a query was parsed, and which of its conditions no passage satisfies."""

    query: Query
    satisfied: bool = True
    """Whether some passage satisfies the conditions together."""
    unmet: Sequence[Clause] = ()
    """Conditions that no passage satisfies even alone."""
    filtered: bool = False
    """Whether only the files that pass the filters were searched."""
    tags_wait: bool = False
    """Whether it uses tags, which the index doesn't have before its next update."""
    wordless: bool = False
    """Whether it has only punctuation and symbols."""


Details = (
    int
    | frozenset[str]
    | Best
    | RaisedMinimum
    | Moved
    | EmbeddedQuery
    | Scope
    | Terms
    | TimesNamed
    | SessionsNamed
    | VectorsReady
    | KeywordsOnly
    | UnknownWords
    | CommonWords
    | EmptyIndex
    | UnderstoodQuery
    | None
)
"""Details of a stage in addition to its counts; the type depends on the stage."""


class Stage(msgspec.Struct, frozen=True):
    """One stage of a search: its counts and its duration; `stage_notes.py` describes it in a sentence."""

    name: str
    before: int
    after: int
    details: Details
    unit: "StageUnit"
    milliseconds: float
    """Duration from the end of the previous stage to the end of this one: together they are the whole search."""


class Stages(msgspec.Struct, eq=False):
    """Records the stages of one search, in order."""

    found: list[Stage] = msgspec.field(default_factory=list)
    _ended: float = msgspec.field(default_factory=time.perf_counter)

    def add(self, name: str, before: int, after: int, details: Details = None, unit: "StageUnit" = "chunks") -> None:
        """Record a stage that has just ended: `before` and `after` are the numbers of its input and
        output, in `unit`.
        """
        now = time.perf_counter()
        self.found.append(Stage(name, before, after, details, unit, round((now - self._ended) * 1000, 3)))
        self._ended = now

    def add_query_vector(self, *, embedded: bool, details: Details = None) -> None:
        """Record whether the query has a vector; this stage is shown first although other stages ran before it."""
        self.add("embedding", 1, int(embedded), details, "queries")
        self.found.insert(0, self.found.pop())

    def add_terms(self, terms: Sequence[Term], dropped: Sequence[str], unfinished: str) -> None:
        """Record how many chunks contain each term of the query, and which terms were dropped as too common."""
        chunks = {term.surface: term.chunks for term in terms}
        known = sum(map(bool, chunks.values()))
        similar = [word.strip('"') for term in terms if not term.chunks for word in term.weak_words]
        typed = {term.surface: term.typed for term in terms}
        self.add("words", len(terms) + len(dropped), known, Terms(chunks, dropped, similar, unfinished, typed), "words")
