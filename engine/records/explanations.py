"""How an answer came about: its stages, where each score came from, and what would help where nothing was found."""

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
    """What one stage of a search took in, let through and why the rest was removed."""

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
    """Its part of the BM25 sum, or what it would be where it does not count."""
    chunks: int
    """How many chunks of the index hold it."""
    fields: tuple[MatchField, ...] = ()
    """The fields that contain it."""


class ResultExplanation(Record, frozen=True):
    """Where one result's score came from."""

    citation: str
    text_score: float
    vector_score: float | None
    cosine: float | None
    vector_weight: float
    """Factor of the vector score."""
    terms: tuple[TermMatch, ...]
    """Those that it contains, in the order of the query."""
    rank: int = 0
    """Place among the results, from 1."""
    decay: float = 1.0
    """Factor of the score for its age; 1 without ageing."""
    half_life_days: float | None = None
    """Days in which it loses half of its score; None where it does not age."""
    date: float | None = None
    """Since when it ages; None where it does not."""
    date_origin: DateOrigin | None = None
    """Where the date is from, or that it never ages; None where temporal decay is off."""
    score_rank: int = 0
    """Rank by score alone: differs from `rank` if diversity moved it."""
    mmr_penalty: float = 0.0
    """What likeness to results above took off its relevance; 0 where diversity is off."""
    mmr_like: str = ""
    """Citation of the most similar result above; empty if there is none, or diversity is off."""
    score: float = 0.0
    """The one that it is ordered by."""
    fresh_score: float = 0.0
    """The score before it aged, and without `time_lift`."""
    time: str = ""
    """The time that the query names, with its days, if the passage is of it; else empty."""
    time_lift: float = 1.0
    """Factor of the score for that time; the minimum is compared with the score without it."""
    beside_time: bool = False
    """The passage is only of the days next to that time."""
    min_score: float = 0.0
    """What the score, or the text score alone, had to reach."""
    bm25: float = 0.0
    """Sum of its terms' contributions."""
    full_bm25: float = 0.0
    """The sum that alone gives a text score of 1; 0 where no words were looked for."""
    covered: float = 1.0
    """Share of the query's terms that it contains, weighted by rarity."""
    together: float = 1.0
    """The share in two adjacent lines; equals `covered` if the lines were not read."""
    from_coverage: float = 0.0
    """Part of the text score from `covered` and `together`."""
    text_limit: float = 1.0
    """What `covered` limits the BM25 sum's part of the text score to."""
    missing: tuple[str, ...] = ()
    """Terms of the query that it doesn't contain; no alternatives if it contains one of them."""
    cosine_low: float | None = None
    """The model's cosine at which the vector score is 0; None where no vectors were compared."""
    cosine_high: float | None = None
    """The one at which it is 1."""
    nearness: float = 0.0
    """Part of the text score from words of the query that are close together."""
    named: bool = False
    """The file's title or name equals the query: that alone is a full match, `fresh_score` 1."""
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
    """Only its words reach the minimum, so it counts as much as the minimum."""

    @property
    def lifted_score(self) -> float:
        """The score with `time_lift`, before it aged."""
        return min(1.0, self.fresh_score * self.time_lift)


class SearchRemedy(Record, frozen=True):
    """Something that would change an empty answer, as it was tried or looked up."""

    name: RemedyName
    stage: str
    """Name of the stage that it is about."""
    advice: str
    """One sentence: the situation, and the effect of the remedy."""
    finds: int = 0
    """How many results there are then; 0 where that cannot be known."""
    finds_at_least: bool = False
    """There may be more than these."""
    query: str = ""
    """Of `demand` and `words`: the query without them."""
    path: str = ""
    """Of `excluded`: the file or folder that is left out."""


class SearchExplanation(Record, frozen=True):
    stages: tuple[SearchStage, ...]
    results: tuple[ResultExplanation, ...]
    """In the order of the answer's results."""
    emptied_by: str = ""
    """Name of the stage that excluded everything; empty if there are results."""
    remedies: tuple[SearchRemedy, ...] = ()
    """The likeliest to help first."""
