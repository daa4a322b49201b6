"""Results of a search, the text of a file, and stored queries: the search history and saved searches."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import msgspec

from engine.base.formatting import in_quotes
from engine.base.language import tr
from engine.records.base import FileRange, Record, Source

if TYPE_CHECKING:
    from engine.records.explanations import SearchExplanation, SearchRemedy

SearchMode = Literal["hybrid", "vector", "keyword"]
LONGEST_QUERY = 10_000
"""Maximum number of characters of a query; longer ones are refused."""


class ResultText(Record, frozen=True):
    """The displayed text of a result: its snippet and headings, with the matched words."""

    snippet: str
    """The matching lines, at most 700 characters."""
    snippet_line: int
    """Line of the file on which the snippet starts."""
    match_ranges: tuple[FileRange, ...]
    """Matched words in `snippet`."""
    heading: tuple[str, ...]
    """Headings above the chunk, outermost first; the title's own heading included."""
    message: "FoundMessage | None" = None
    """The message of the session that the snippet's first match is in; None for a note."""
    title_ranges: tuple[FileRange, ...] = ()
    """Matched words in the result's title."""
    heading_ranges: tuple[tuple[FileRange, ...], ...] = ()
    """Matched words in each part of `heading`."""
    path_ranges: tuple[FileRange, ...] = ()
    """Matched words in the path of a note, as named in its own workspace."""
    context: "MessageContext | None" = None
    """For a session: the question before a short answer, or the answer after a short question; else None."""


class MemorySearchResult(Record, frozen=True):
    """One chunk that answers the query. JSON has the fields of `text` next to the others."""

    path: str
    start_line: int
    end_line: int
    score: float
    """Score from 0 to 1, independent of the other results."""
    source: Source
    citation: str
    """`path#L5-L9`, or `path#L5` for one line."""
    title: str
    """Title of the document: from its front matter, else its leading H1, else the file's name."""
    modified: float
    text: ResultText | Callable[[], ResultText]
    """The displayed text. A function makes it when it is first read, since most results of a long list are never shown.
    """
    text_score: float
    """Keyword score, 0 to 1; 0 if no word matches."""
    vector_score: float | None
    """Calibrated vector score, 0 to 1; None if the chunk has no vector yet or vectors were not searched."""
    text_share: float
    """Share of `score` from keywords, 0 to 1; the rest is from the vector. Without meaning if not `is_scored`."""
    workspace: str = ""
    """Folder of the result's workspace if several were searched; else empty."""
    more_in_file: int = 0
    """On the last result shown of a file: how many more of its chunks reached `min_score`."""
    dates: tuple[str, ...] = ()
    """If the query is limited to a period: the note's own dates in it, as `2024-08-04`, ascending."""
    copies: "tuple[PassageCopy, ...]" = ()
    """Other files that contain the same text and reached `min_score` with it, best first."""

    @property
    def shown(self) -> ResultText:
        """The displayed text."""
        return self.text if isinstance(self.text, ResultText) else self.text()

    @property
    def snippet(self) -> str:
        return self.shown.snippet

    @property
    def snippet_line(self) -> int:
        return self.shown.snippet_line

    @property
    def match_ranges(self) -> tuple[FileRange, ...]:
        return self.shown.match_ranges

    @property
    def heading(self) -> tuple[str, ...]:
        return self.shown.heading

    @property
    def message(self) -> "FoundMessage | None":
        return self.shown.message

    @property
    def title_ranges(self) -> tuple[FileRange, ...]:
        return self.shown.title_ranges

    @property
    def heading_ranges(self) -> tuple[tuple[FileRange, ...], ...]:
        return self.shown.heading_ranges

    @property
    def path_ranges(self) -> tuple[FileRange, ...]:
        return self.shown.path_ranges

    @property
    def context(self) -> "MessageContext | None":
        return self.shown.context

    @property
    def is_scored(self) -> bool:
        """Whether words or vectors scored the result; otherwise it is listed for the query's filters alone."""
        return self.text_score > 0 or self.vector_score is not None

    def in_copy(self, copy: "PassageCopy") -> "MemorySearchResult":
        """Return this result as found in another file with the same text."""
        return msgspec.structs.replace(
            self,
            path=copy.path,
            start_line=copy.start_line,
            end_line=copy.end_line,
            citation=copy.citation,
            title=copy.title,
            modified=copy.modified,
            text=copy.text,
            more_in_file=0,
            copies=(),
        )


class PassageCopy(Record, frozen=True):
    """The same text as that of a result in another file."""

    path: str
    start_line: int
    end_line: int
    citation: str
    title: str
    modified: float
    text: ResultText | Callable[[], ResultText]
    """The result's text, with the line of this file on which the snippet starts, and with the message of a session."""


class FoundMessage(Record, frozen=True):
    """A message of a session, with the session's agent and project."""

    ordinal: int
    """Number of the message, from 1."""
    id: str
    """Id in the transcript; empty if the message has none."""
    role: str
    """`user`, `assistant` or `tool`."""
    agent: str = ""
    """Short name of the agent, as in `SessionSummary`."""
    project: str = ""
    machine: str = ""
    """Name of the machine that the session was synchronised from; empty for this machine."""
    rewound: bool = False
    """Whether the user abandoned the message by going back."""


class MessageContext(Record, frozen=True):
    """The beginning of the question or answer next to the message that was found."""

    role: str
    """`user` or `assistant`."""
    text: str
    """At most 160 characters, on one line."""
    line: int
    ordinal: int


class Passage(Record, frozen=True):
    """A part of a file: cited by a result, or selected by the user."""

    path: str
    start_line: int
    end_line: int
    """Last line; `LAST_LINE` for the rest of the file."""
    text: str = ""
    """The selected text; empty for everything on these lines."""
    message: int | None = None
    """For a session: number of the message, since messages of an export may share a line."""


class EarlierQuery(Record, frozen=True):
    """A query whose results another search is limited to: the arguments of `search` or `search_like`."""

    query: str = ""
    """Empty if `like` is set."""
    like: Passage | None = None
    min_score: float | None = None
    """None, here and below, means the same as in `search`."""
    half_life_days: float | None = None
    sources: tuple[Source, ...] | None = None
    path_glob: str | None = None
    since: float | None = None
    until: float | None = None


class EarlierResultCount(Record, frozen=True):
    """The number of results of an earlier query that a search is limited to."""

    passages: int
    """Number of results that the next query searches: the best 1,000, or all."""
    total: int
    """Total number of results."""
    total_is_least: bool
    """Whether there may be more results than `total`."""


class SearchTimings(Record, frozen=True):
    """Milliseconds spent in each part of a search; 0 for a part that did not run."""

    analysis: float
    keyword: float
    embed: float
    vector: float
    merge: float
    total: float


class QuerySuggestion(Record, frozen=True):
    """A corrected query: words replaced by similar ones, one word left out, or a quotation without its marks."""

    query: str
    """The whole corrected query."""
    words: tuple[tuple[str, str], ...]
    """Each word of the query with its replacement: "" for a word that is left out, and its words for a quotation."""
    chunks: int
    """Number of chunks that contain the rarest of the new words, or of the remaining ones."""

    @property
    def is_shorter(self) -> bool:
        """Whether a word or the marks of a quotation are left out because no result has all words."""
        return any(word == f'"{replacement}"' or not replacement for word, replacement in self.words)


_GOOD_SCORE = 0.6
"""An answer whose best score is lower is weak."""


class SearchOutcome(Record, frozen=True):
    """The answer to a query: its results, how they were found, and notices."""

    results: tuple[MemorySearchResult, ...]
    """Best first."""
    total: int
    """Number of chunks that reached `min_score`; `total - len(results)` are not shown."""
    provider: str
    model: str
    mode: SearchMode
    """Search mode used: `keyword` also if the provider failed or has no vectors yet."""
    timings: SearchTimings
    notice: str
    """Empty, or one sentence: why only keywords were searched, or that nothing is indexed yet."""
    explanation: "SearchExplanation | None"
    total_is_least: bool = False
    """Whether more chunks than `total` may match; requesting more results searches further."""
    remote: bool = False
    """Whether a semantic search sends its query to another machine, as far as known."""
    suggestions: tuple[QuerySuggestion, ...] = ()
    """Corrected queries if words of this query occur nowhere, the likeliest first; none of them was searched."""
    corrected: QuerySuggestion | None = None
    """The corrected query that was searched because words of the given one occur nowhere, or not in one chunk; None if
    the given one was searched.
    """
    within: tuple[EarlierResultCount, ...] = ()
    """Numbers of results of the earlier queries that limit this one, in order; empty without any."""
    passage_words: tuple[str, ...] = ()
    """For a search by passage: the words of the passage that were searched, most distinctive first."""
    all_words: bool = False
    """Whether a chunk contains every searched word."""
    age: float | None = None
    """Seconds since a cached answer was computed; None for a new one."""
    unknown_words: tuple[str, ...] = ()
    """Words of the query that occur nowhere, without those that name a time, or the session of a result."""
    similar_only: bool = False
    """Whether there are results, but none contains a word of the query, as `notice` explains."""
    closest_only: bool = False
    """Whether there are results, but none is clearly on the subject of the query, as `notice` explains."""
    vector_weight: float | None = None
    """Weight of the vector scores, higher if the keywords match little; None if that didn't decide it, or if results
    are in another language than the query, so that they can't have its words.
    """
    understood: str = ""
    """How a query with operators was parsed, and which operators match nothing; empty for plain words."""
    remedies: "tuple[SearchRemedy, ...]" = ()
    """If no passage has all words: why files with such names, or texts with these words, are not indexed."""

    @property
    def full_notice(self) -> str:
        """`notice`, which words of the query no passage contains if others were found, and why."""
        words = ""
        if self.results and self.unknown_words and not self.similar_only:
            quoted = ", ".join(map(in_quotes, self.unknown_words))
            words = tr("Not found in the index: {words}.", words=quoted)
        return " ".join(filter(None, (self.notice, words, *(remedy.advice for remedy in self.remedies))))

    @property
    def offered(self) -> tuple[QuerySuggestion, ...]:
        """The suggestions to show: all without results, else those found in more than one passage.

        A word in one passage is often a typo. Empty if a result has a good score by meaning alone, or for all words.
        """
        if not self.results:
            return self.suggestions
        good = max(result.score for result in self.results) >= _GOOD_SCORE
        if good and (self.all_words or self.similar_only):
            return ()
        return tuple(suggestion for suggestion in self.suggestions if suggestion.chunks > 1)


class FileText(Record, frozen=True):
    """Text of one indexed file, whole or a slice of lines."""

    path: str
    text: str
    from_line: int = msgspec.field(name="from")
    lines: int
    """Number of lines in `text`; 0 for a deleted file or a slice beyond the end."""
    truncated: bool
    next_from: int | None
    total_lines: int | None
    """Number of lines of the file; None if it is missing."""


class QueryRecord(Record, frozen=True):
    """A query with everything that limits or orders its answer.

    Stored as JSON for years: every field has a default, which for a new field is the former behaviour, and none is
    renamed or redefined without a migration.
    """

    text: str = ""
    """The query as typed; empty if `like` is set."""
    sources: tuple[Source, ...] | None = None
    """Searched sources; None for all."""
    days: int | None = None
    """Only files that changed within this number of days before the search; None for any time."""
    path: str = ""
    """The only file or session to search; empty for all."""
    path_name: str = ""
    """Name of `path` for display."""
    like: Passage | None = None
    """Passage to find similar passages for, instead of a text."""
    within: "QueryRecord | None" = None
    """Earlier query whose results this one is limited to."""
    half_life_days: float | None = None
    """As in `search`; None, also in `diverse`, for the settings' value at the time of the search."""
    diverse: bool | None = None
    order: Literal["relevance", "date"] = "relevance"
    all_workspaces: bool = False
    """Whether to search all workspaces."""


class RecentSearch(Record, frozen=True):
    """A query in the search history."""

    query: QueryRecord
    searched: float
    """Time of the last search for it."""


class SavedSearch(Record, frozen=True):
    """A query saved under a name."""

    name: str
    query: QueryRecord
    last_used: float
    """Time of the last run, or of saving if it was not run yet."""
