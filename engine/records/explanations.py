"""Explains an answer: the stages of the search, the parts of each score, and remedies if nothing was found."""

from typing import Literal

from engine.records.base import Record

DateOrigin = Literal["name", "folder", "front-matter", "session", "modified", "evergreen"]
StageUnit = Literal["chunks", "files", "words", "queries"]
MatchField = Literal["title", "alias", "heading", "name", "body"]
IncreaseKind = Literal["coverage", "file", "project", "title", "definition", "spelling", "signs"]
RemedyName = Literal[
    "weak",
    "sources",
    "period",
    "scope",
    "limits",
    "within",
    "age",
    "demand",
    "words",
    "excluded",
    "add-sessions",
    "sync",
    "embed",
    "settings",
    "folder",
    "left-out",
    "tools",
]
"""Names of changes after which an empty answer may have results.

Limits of the request: `weak` the minimum score, `sources`, `period` (since, until), `scope` (the path), `within` the
earlier query, `limits` all of these, `age` ageing of results, `demand` one of the query's own conditions or its words
that occur nowhere, `words` all limits and conditions. The index: `excluded` the rules that exclude a file,
`add-sessions` the folders of sessions, `sync` an update, `embed` the approval of embedding, `settings` those of the
provider, `folder` another folder, `left-out` a look at the files that failed or were skipped, `tools` the calls and
results of tools in sessions.
"""


class SearchStage(Record, frozen=True):
    """One stage of a search: the numbers of its input and output, and a note on what it did."""

    name: str
    before: int
    after: int
    note: str
    """One plain sentence, or several."""
    milliseconds: float = 0.0
    """Duration from the end of the previous stage to the end of this one: together they are the whole search."""
    unit: StageUnit = "chunks"
    """Unit of `before` and `after`."""


class TermMatch(Record, frozen=True):
    """One term of the query in one result, with its part of the score."""

    term: str
    score: float
    """Part of the BM25 sum, as a share of a full match; `from_bm25` is what these and `proximity` add to the text
    score. 0 for an alternative if another one contributes more, since only the best one counts.
    """
    bm25: float
    """Part of the BM25 sum; for an alternative that doesn't count, what it would contribute."""
    chunks: int
    """Number of chunks that contain the term."""
    fields: tuple[MatchField, ...] = ()
    """Fields of the result that contain the term."""


class Increase(Record, frozen=True):
    """A part of the text score that is added to the one from the BM25 sum."""

    kind: IncreaseKind
    """`coverage` is for the share of the query in the passage, `file` and `project` for the rest of it near the passage
    and in other passages of the session's project. Of the others, there is one: for a title or file name that matches
    the query, a definition of it, its words spelled as one name, or its words with their signs.
    """
    score: float
    words: tuple[str, ...] = ()
    """For `project`: the terms that other passages contain."""


class ResultExplanation(Record, frozen=True):
    """The parts of one result's score."""

    citation: str
    text_score: float
    vector_score: float | None
    cosine: float | None
    vector_weight: float
    """Factor of the vector score."""
    terms: tuple[TermMatch, ...]
    """Terms that the result contains, in the order of the query."""
    rank: int = 0
    """Rank among the results, from 1."""
    decay: float = 1.0
    """Factor of the score for the result's age; 1 without ageing."""
    half_life_days: float | None = None
    """Days in which the result loses half of its score; None if it does not age."""
    date: float | None = None
    """Date from which the result ages; None if it does not."""
    date_origin: DateOrigin | None = None
    """Source of the date, or `evergreen` if the result never ages; None if ageing is off."""
    score_rank: int = 0
    """Rank by score alone: differs from `rank` if diversity moved it."""
    vector_share: float = 1.0
    """Share of the vector score that counts in the order of several workspaces: below 1 if the keywords match better in
    another one.
    """
    mmr_penalty: float = 0.0
    """Relevance lost by similarity to results above; 0 if diversity is off."""
    mmr_similar_to: str = ""
    """Citation of the most similar result above; empty if there is none, or diversity is off."""
    score: float = 0.0
    """Final score, by which results are ordered."""
    fresh_score: float = 0.0
    """Score before ageing and without `time_factor` and `session_factor`."""
    time: str = ""
    """The time that the query names, with its dates, if the passage is dated within it; else empty."""
    time_factor: float = 1.0
    """Factor of the score for that time; the score without it is compared with the minimum."""
    adjacent_time: bool = False
    """Whether the passage is dated next to that time, not within it."""
    session_names: tuple[str, ...] = ()
    """The agent, the project and the files of the result's session that the query names, as typed."""
    session_factor: float = 1.0
    """Factor of the score for these names; the score without it is compared with the minimum."""
    min_score: float = 0.0
    """Minimum that the score, or the text score alone, must reach."""
    bm25: float = 0.0
    """Sum of the BM25 contributions of the terms."""
    full_bm25: float = 0.0
    """BM25 sum that alone gives a text score of 1; 0 if no words were searched."""
    coverage: float = 1.0
    """Share of the query's terms that the result contains, weighted by rarity."""
    increases: tuple[Increase, ...] = ()
    """The other parts of the text score."""
    from_bm25: float = 0.0
    """Part of the text score from the BM25 sum and `proximity`: less than their share of a full match if the passage
    contains only some of the query, and more if it is long and contains most of the query."""
    missing: tuple[str, ...] = ()
    """Terms of the query that the result doesn't contain; of alternatives, one is enough."""
    cosine_low: float | None = None
    """Cosine at which the vector score is 0; None if no vectors were compared."""
    cosine_high: float | None = None
    """Cosine at which the vector score is 1."""
    proximity: float = 0.0
    """Part of the text score from words of the query that are close together."""
    named: bool = False
    """Whether the file's title or name equals the query or begins with it: a full match with `fresh_score` 1."""
    text_evidence: float = 0.0
    """Text score without its upper limit of 1, by which full matches are ordered. 0 if it equals the text score."""
    text_weight: float = 1.0
    """Factor of the text score."""
    agreement: float = 1.0
    """Share of the text score that counts: below 1 if terms are missing and the vector score is low."""
    vector_evidence: float | None = None
    """Vector score without its limits of 0 and 1."""
    language_known: bool = True
    """Whether the model knows the query's language; otherwise vectors don't count."""
    raised_weight: bool = False
    """Whether `vector_weight` is higher because the result is in another language than the query."""
    word_similarity: float | None = None
    """Average cosine of the query's words to the result's most similar ones, 0 to 1, which changes the order of results
    in another language or of a query with few matches; None if words were not compared."""
    similarity_in_lines: bool = False
    """Whether these words are in the result's best two adjacent lines, because few words of the query match."""
    best_similarity: float | None = None
    """Similarity to the best results of a long query, by vectors and shared words, without limits of 0 and 1, which
    changes the order; None if they were not compared."""
    text_score_only: bool = False
    """Whether only the text score reaches the minimum, which is then shown as the score."""

    @property
    def wordless(self) -> bool:
        """Whether the passage has none of the words, and is a result for the query's other conditions alone."""
        return not self.terms and self.cosine is None and bool(self.missing)

    @property
    def boosted_score(self) -> float:
        """The score with `time_factor` and `session_factor`, before ageing."""
        return min(1.0, self.fresh_score * self.time_factor * self.session_factor)

    @property
    def mixed(self) -> bool:
        """Whether `fresh_score` is a weighted sum of `shown_text_score` and `shown_vector_score`."""
        return not self.named and self.language_known and self.vector_score is not None and 0 < self.vector_weight < 1

    @property
    def shown_text_score(self) -> float:
        """The text score to show: the sum of its parts, which may exceed 1."""
        return self.text_evidence or self.text_score

    @property
    def shown_vector_score(self) -> float | None:
        """The vector score to show: in a weighted sum, the one that is added up there, which may exceed 0 and 1."""
        return self.vector_score if not self.mixed or self.vector_evidence is None else self.vector_evidence


class SearchRemedy(Record, frozen=True):
    """A change that gives results where a search found nothing, already tried or looked up."""

    name: RemedyName
    stage: str
    """Name of the search stage that the remedy is about."""
    advice: str
    """One sentence: the situation, and the effect of the remedy."""
    finds: int = 0
    """Number of results with the change; 0 if unknown."""
    finds_at_least: bool = False
    """Whether there may be more results than `finds`."""
    query: str = ""
    """For `demand` and `words`: the query without these conditions."""
    path: str = ""
    """For `excluded`: the excluded file or folder."""
    extension: str = ""
    """For `excluded`: the extension, such as ".txt", that has to be included; empty if another rule excludes it."""


UNMATCHED = ("words", "keywords", "vectors", "threshold", "unknown", "unrelated")
"""Names of the stages that remove all results if no passage matches the query's words or meaning well enough."""


class SearchExplanation(Record, frozen=True):
    """How a query was answered: the stages of the search, and the parts of each score or the reasons for no result."""

    stages: tuple[SearchStage, ...]
    results: tuple[ResultExplanation, ...]
    """One for each result, in the same order."""
    emptied_by: str = ""
    """Name of the stage that removed all results; empty if there are results."""
    remedies: tuple[SearchRemedy, ...] = ()
    """Remedies, the likeliest to help first."""

    @property
    def reason(self) -> str:
        """Why there are no results: the note of the stage that removed them all; empty if there are results.

        Where the words of the query are says more than that the scores of all passages are low.
        """
        notes = {stage.name: stage.note for stage in self.stages}
        return (self.emptied_by in UNMATCHED and notes.get("words", "")) or notes.get(self.emptied_by, "")
