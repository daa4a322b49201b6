"""User complaints about OpenClaw's memory search, with one query and the expected result for each.

The threads are those of github.com/openclaw/openclaw. Each query runs against a real index over the notes and sessions
of `notes.py`; the test and the page `tests/benchmarks/COMPLAINTS.md` are generated from this table.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from engine import RemedyName

Situation = Literal[
    "usual", "words", "ageing", "pending", "failing", "unasked", "unembedded", "empty", "upgraded", "excluded"
]
SITUATIONS: dict[Situation, str] = {
    "usual": "as it is after the first start",
    "words": "without a model",
    "ageing": "with temporal decay, half of the score in 30 days",
    "pending": "while the vectors are being made",
    "failing": "with a provider that does not answer",
    "unasked": "with an unapproved provider",
    "unembedded": "before anything was embedded",
    "empty": "before anything was indexed",
    "upgraded": "after an upgrade, before its one rebuild",
    "excluded": "with a folder left out by the settings",
}
"""State of the index for each query."""


@dataclass(frozen=True)
class Case:
    """One complaint."""

    threads: str
    complaint: str
    query: str
    first: str = ""
    """Path of the expected first result. If neither this nor `also` has a path, the answer must be empty."""
    also: tuple[str, ...] = ()
    """Paths of other required results."""
    never: tuple[str, ...] = ()
    """Paths that must not be in the results."""
    says: tuple[str, ...] = ()
    """Expected parts of the explanation: of the first result, or of the stage that removed all results."""
    remedy: RemedyName | None = None
    """Expected remedy for an empty answer."""
    situation: Situation = "usual"
    asked: dict[str, Any] = field(default_factory=dict)
    """Further arguments of `search`."""


CASES: tuple[Case, ...] = (
    # --- an empty answer though the index is full, without a reason --------------------------------------------------
    Case(
        "#10734",
        "The index is healthy and every search comes back empty.",
        "Rock RMS mobile app",
        first="projects/rock-rms.md",
        says=("The words score 1.00",),
    ),
    Case("#41911", "A word of three letters finds nothing.", "MES", first="ops/mes-rollout.md", says=("“MES”",)),
    Case(
        "#46671", "A single rare word finds nothing.", "browserless", first="ops/scraping.md", says=("“browserless”",)
    ),
    Case(
        "#29112",
        "A passphrase that was just written down is not found.",
        "qzv91-lime-orbit",
        first="canary.md",
        says=("“qzv91-lime-orbit”",),
    ),
    Case(
        "#39484",
        "Several words find nothing where no passage has all of them.",
        "Rocky Point bagging",
        first="retail/season.md",
        also=("retail/customers.md",),
        says=("The words score 1.00",),
    ),
    Case(
        "#46570",
        "Sessions crowd out the notes.",
        "Test Entry",
        also=("entry.md",),
        says=("“Test”",),
    ),
    Case(
        "#48800",
        "A note is not found by its own name.",
        "2026-03-16.md",
        first="meetings/2026-03-16.md",
        says=("file name",),
    ),
    Case(
        "#56862",
        "Nothing is found and nothing says which limit is to blame.",
        "irrigation timer skipped",
        says=("In all sources, this query finds",),
        remedy="sources",
        asked={"sources": ("sessions",)},
    ),
    Case(
        "#11727",
        "A period that is too short empties the answer in silence.",
        "vendor offers the flow meter",
        says=("Without a date limit, this query finds",),
        remedy="period",
        asked={"until": 400},
    ),
    Case(
        "#46671",
        "The wrong folder is searched.",
        "irrigation timer skipped",
        says=("In all files, this query finds",),
        remedy="scope",
        asked={"path_glob": "people/**"},
    ),
    Case(
        "#56862",
        "A demand of the query excludes what is meant.",
        "MES -pallets",
        says=("every result excludes pallets. Without this condition, the query finds",),
        remedy="demand",
        situation="words",
    ),
    Case(
        "#147349",
        "A nonsense question finds the least bad passage instead of nothing.",
        "ZXQ unrelated quagga xylophone",
        says=("Not found in the index",),
    ),
    Case(
        "#117706",
        "A word with a slip finds nothing and nobody says so.",
        "brwoserless",
        first="ops/scraping.md",
        says=("“browserless”",),
    ),
    # --- keyword-only hits below the threshold, scores that are all alike ---------------------------------------------
    Case(
        "#25183",
        "An exact ticket number scores 0.30 and is dropped at 0.35.",
        "PROJ-4821",
        first="ops/incidents.md",
        says=("“PROJ-4821”", "reaches the minimum of 0.35"),
    ),
    Case("#25183", "An error code is not found.", "0x80070005", first="ops/incidents.md", says=("“0x80070005”",)),
    Case(
        "#48112",
        "An identifier is not found by one of its parts.",
        "foo_bar-baz",
        first="ops/incidents.md",
        says=("“foo_bar-baz”",),
    ),
    Case(
        "#5767, #33757",
        "Every keyword hit has the same score.",
        "kettle",
        first="home/kettle.md",
        also=("home/kitchen.md",),
        says=("“kettle”", "title"),
        situation="words",
    ),
    Case(
        "#20994",
        "Without vectors hybrid search drops every hit.",
        "guest network Fledermaus",
        first="home/router.md",
        says=("The meaning was not compared.",),
        situation="words",
    ),
    Case(
        "#134604",
        "The one best result is another than the first of many.",
        "Rocky Point bagging",
        first="retail/season.md",
        asked={"max_results": 1},
    ),
    Case(
        "#92337",
        "A name with a hyphen and an accent finds everybody else.",
        "anne-marie lefebvre",
        first="people/anne-marie.md",
        says=("The words score 1.00",),
    ),
    Case(
        "#92524",
        "A whole question finds less than its one telling word.",
        "how long does the dough have to rest in the fridge?",
        first="home/bread.md",
        says=("“dough”",),
    ),
    Case(
        "#25183",
        "What nearly matches is dropped, and nothing says how near it was.",
        "irrigation timer skipped",
        says=("Best match", "scored below 0.999"),
        remedy="weak",
        asked={"min_score": 0.999, "path_glob": "retail/**"},
    ),
    # --- CJK and short tokens -----------------------------------------------------------------------------------------
    Case("#20730", "Chinese words are not found inside a sentence.", "成语接龙", first="zh/game.md", says=("“成语”",)),
    Case("#20730", "Japanese words are not found inside a sentence.", "しりとり", first="ja/nikki.md"),
    Case("#20730", "Korean words are not found inside a sentence.", "끝말잇기", first="ko/ilgi.md"),
    Case("#92728", "Two characters find nothing.", "龙井", first="zh/game.md", says=("“龙井”",), situation="words"),
    Case("#41810", "Another word of two characters finds nothing.", "优先", first="zh/backup.md", situation="words"),
    Case(
        "#110500",
        "Letters and characters in one word become one token that matches nothing.",
        "GitHub备份",
        first="zh/backup.md",
        says=("The words score",),
        situation="words",
    ),
    Case(
        "#140736",
        "Sessions in Chinese are not found at all.",
        "评审会议",
        first="sessions/main/zh-review.jsonl",
        situation="words",
    ),
    Case("#56707", "Thai has no spaces either.", "เรือนกระจก", first="th/banthuek.md", situation="words"),
    Case(
        "#56707",
        "A question in one language does not find the note in another.",
        "heating bill too high",
        first="de/heizung.md",
        says=("The meaning scores",),
    ),
    # --- ageing -------------------------------------------------------------------------------------------------------
    Case(
        "#121103, #67594",
        "A dated note with a slug never ages.",
        "soil sensor vendor",
        first="memory/topics/soil.md",
        also=("memory/{60}-1530-vendor-pitch.md",),
        says=("The passage keeps its full score at any age.",),
        situation="ageing",
    ),
    Case(
        "#121046",
        "Old generated reports in sub-folders outrank the note.",
        "portfolio positions",
        first="memory/finance/portfolio.md",
        says=("The passage keeps its full score at any age.",),
        situation="ageing",
    ),
    Case(
        "#139094",
        "Sessions never age.",
        "vendor offers the flow meter",
        first="sessions/main/vendor-new.jsonl",
        says=("according to the session's end",),
        situation="ageing",
    ),
    Case(
        "#79852",
        "What is written down for good fades with the rest.",
        "vaccination card",
        first="MEMORY.md",
        says=("The passage keeps its full score at any age.",),
        situation="ageing",
    ),
    Case(
        "#151914",
        "Nobody can see which date a note ages by.",
        "lease of the allotment",
        first="memory/front.md",
        says=("according to its front matter", "half of its score in 30 days"),
        situation="ageing",
    ),
    # --- the index is not whole ---------------------------------------------------------------------------------------
    Case(
        "#46671",
        "Vectors are still being made, and nothing says so.",
        "quagga xylophone",
        says=("of the passages have a vector",),
        remedy="sync",
        situation="pending",
    ),
    Case(
        "#11727",
        "The provider fails, and the answer is simply empty.",
        "quagga xylophone",
        says=("Searched by words only: The service does not answer.",),
        remedy="settings",
        situation="failing",
    ),
    Case(
        "#11727",
        "The provider fails, and what has the words is not found either.",
        "irrigation timer",
        first="greenhouse.md",
        says=("Searched by words only: The service does not answer.", "The meaning was not compared."),
        situation="failing",
    ),
    Case(
        "#56862",
        "A provider that costs money waits for a yes that nobody was asked for.",
        "quagga xylophone",
        says=("the embedding has not been approved yet",),
        remedy="embed",
        situation="unasked",
    ),
    Case(
        "#41911",
        "Text is indexed, vectors are not, and a search by meaning finds nothing.",
        "quagga xylophone",
        says=("nothing has been embedded yet",),
        remedy="sync",
        situation="unembedded",
    ),
    Case(
        "#117706",
        "Nothing is indexed, and an empty answer looks like any other.",
        "irrigation timer",
        says=("Nothing is indexed yet.",),
        remedy="folder",
        situation="empty",
    ),
    Case(
        "#10734",
        "A tag finds nothing until a rebuild that nobody knows of is done.",
        "tag:garden",
        says=("Tags can be searched after the next update has read all notes again.",),
        remedy="sync",
        situation="upgraded",
    ),
    Case(
        "#46570",
        "A folder is left out by a rule, and the search does not tell.",
        "winter plan of the drafts",
        says=("drafts/plan.md is not indexed: Excluded by the pattern",),
        remedy="excluded",
        situation="excluded",
    ),
    Case(
        "#46570",
        "Sessions are asked for, and none are indexed.",
        "source:sessions irrigation",
        says=("No sessions are indexed",),
        remedy="add-sessions",
        situation="excluded",
    ),
)
