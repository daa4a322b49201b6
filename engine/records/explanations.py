"""Explanation of an answer: its stages, the parts of each score, and remedies if nothing was found."""

from typing import Literal

from engine.records.base import Record

DateOrigin = Literal["name", "folder", "front-matter", "session", "modified", "evergreen"]
StageUnit = Literal["chunks", "files", "words", "questions"]
MatchField = Literal["title", "alias", "heading", "name", "body"]
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
]
"""The control that would change an empty answer.

Of the request: `weak` the threshold, `sources`, `period` (since, until) and `scope` (the path) one of its limits,
`within` the earlier query, `limits` all of these, `age` ageing of results, `demand` one of the query's own conditions,
`words` all of both. Of the index: `excluded` the rules that exclude a file, `add-sessions` the folders of sessions,
`sync` an update, `embed` the approval for it, `settings` the provider's, `folder` another folder.
"""


class SearchStage(Record, frozen=True):
    """Inputs and outputs of one stage of a search, with a note on what it did."""

    name: str
    entered: int
    left: int
    note: str
    """One plain sentence, or several."""
    milliseconds: float = 0.0
    """From the end of the stage before to the end of this one: all stages together are the whole search."""
    unit: StageUnit = "chunks"
    """What `entered` and `left` count."""


class TermMatch(Record, frozen=True):
    """One term of the query in one result."""

    term: str
    score: float
    """Its part of the text score: these, `nearness`, `from_coverage` and `from_name` add up to it, or to more if
    `text_limit` cuts it.

    0 for one of several alternatives if another of them contributes more: that one alone counts.
    """
    bm25: float
    """Part of the BM25 sum, or what it would be if it does not count."""
    chunks: int
    """Number of chunks that contain it."""
    fields: tuple[MatchField, ...] = ()
    """The fields that contain it."""


class ResultExplanation(Record, frozen=True):
    """The parts of one result's score."""

    citation: str
    text_score: float
    vector_score: float | None
    cosine: float | None
    vector_weight: float
    """Factor of the vector score."""
    terms: tuple[TermMatch, ...]
    """Terms that it contains, in the order of the query."""
    rank: int = 0
    """Rank among the results, from 1."""
    decay: float = 1.0
    """Factor of the score for its age; 1 without ageing."""
    half_life_days: float | None = None
    """Days in which it loses half of its score; None if it does not age."""
    date: float | None = None
    """Date from which it ages; None if it does not."""
    date_origin: DateOrigin | None = None
    """Source of the date, or that it never ages; None if temporal decay is off."""
    score_rank: int = 0
    """Rank by score alone: differs from `rank` if diversity moved it."""
    mmr_penalty: float = 0.0
    """Relevance lost by similarity to results above; 0 if diversity is off."""
    mmr_like: str = ""
    """Citation of the most similar result above; empty if there is none, or diversity is off."""
    score: float = 0.0
    """Final score, by which results are ordered."""
    fresh_score: float = 0.0
    """Score before ageing, without `time_lift`."""
    time: str = ""
    """The time that the query names, with its days, if the passage is of it; else empty."""
    time_lift: float = 1.0
    """Factor of the score for that time; the minimum is compared with the score without it."""
    beside_time: bool = False
    """Whether the passage is only dated next to that time."""
    min_score: float = 0.0
    """Minimum for the score, or for the text score alone."""
    bm25: float = 0.0
    """Sum of its terms' contributions."""
    full_bm25: float = 0.0
    """BM25 sum that alone gives a text score of 1; 0 if no words were searched."""
    covered: float = 1.0
    """Share of the query's terms that it contains, weighted by rarity."""
    together: float = 1.0
    """The share in two adjacent lines; equals `covered` if the lines were not read."""
    from_coverage: float = 0.0
    """Part of the text score from `covered` and `together`."""
    text_limit: float = 1.0
    """Upper limit, by `covered`, of the BM25 sum's part of the text score."""
    missing: tuple[str, ...] = ()
    """Terms of the query that it doesn't contain; no alternatives if it contains one of them."""
    cosine_low: float | None = None
    """Cosine at which the vector score is 0; None if no vectors were compared."""
    cosine_high: float | None = None
    """Cosine at which the vector score is 1."""
    nearness: float = 0.0
    """Part of the text score from words of the query that are close together."""
    named: bool = False
    """Whether the file's title or name equals the query, which alone is a full match with `fresh_score` 1."""
    from_name: float = 0.0
    """Part of the text score from a title, a file name or a definition that matches the query."""
    defines: bool = False
    """Whether that is from a definition."""
    text_evidence: float = 0.0
    """The text score without its upper limit of 1: orders full matches. 0 if it equals the text score."""
    text_weight: float = 1.0
    """Factor of the text score."""
    agreement: float = 1.0
    """Share of the text score that counts: below 1 where the meaning disagrees and terms are missing."""
    vector_evidence: float | None = None
    """The vector score without its limits of 0 and 1."""
    language_known: bool = True
    """Whether the model knows the query's language; otherwise meaning does not count."""
    by_words: bool = False
    """Whether only its text score reaches the minimum, which is then its score."""

    @property
    def lifted_score(self) -> float:
        """Score with `time_lift`, before ageing."""
        return min(1.0, self.fresh_score * self.time_lift)


class SearchRemedy(Record, frozen=True):
    """A change that would help with an empty answer, already tried or looked up."""

    name: RemedyName
    stage: str
    """Name of the stage that it concerns."""
    advice: str
    """One sentence: the situation, and the effect of the remedy."""
    finds: int = 0
    """Number of results with the change; 0 if unknown."""
    finds_at_least: bool = False
    """There may be more than these."""
    query: str = ""
    """For `demand` and `words`: the query without the conditions."""
    path: str = ""
    """For `excluded`: the excluded file or folder."""


class SearchExplanation(Record, frozen=True):
    stages: tuple[SearchStage, ...]
    results: tuple[ResultExplanation, ...]
    """One for each result, in the same order."""
    emptied_by: str = ""
    """Name of the stage that excluded everything; empty if there are results."""
    remedies: tuple[SearchRemedy, ...] = ()
    """The likeliest to help first."""
