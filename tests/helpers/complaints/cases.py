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
    "usual": "in the state after the first start",
    "words": "without a model",
    "ageing": "with temporal decay, half of the score in 30 days",
    "pending": "while the vectors are being computed",
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
        "The index is complete, but every search returns nothing.",
        "Rock RMS mobile app",
        first="projects/rock-rms.md",
        says=("The words score ",),
    ),
    Case("#41911", "A word of three letters returns nothing.", "MES", first="ops/mes-rollout.md", says=("“MES”",)),
    Case(
        "#46671", "A single rare word returns nothing.", "browserless", first="ops/scraping.md", says=("“browserless”",)
    ),
    Case(
        "#29112",
        "A newly saved passphrase is not found.",
        "qzv91-lime-orbit",
        first="canary.md",
        says=("“qzv91-lime-orbit”",),
    ),
    Case(
        "#39484",
        "Several words return nothing if no passage has all of them.",
        "Rocky Point bagging",
        first="retail/season.md",
        also=("retail/customers.md",),
        says=("The words score ",),
    ),
    Case(
        "#46570",
        "Sessions take all the places of notes in the results.",
        "Test Entry",
        also=("entry.md",),
        says=("“Test”",),
    ),
    Case(
        "#48800",
        "A note is not found by its file name.",
        "2026-03-16.md",
        first="meetings/2026-03-16.md",
        says=("file name",),
    ),
    Case(
        "#56862",
        "The answer is empty, and no message names the filter that caused it.",
        "irrigation timer skipped",
        says=("In all sources, this query finds",),
        remedy="sources",
        asked={"sources": ("sessions",)},
    ),
    Case(
        "#11727",
        "A date filter that is too narrow empties the answer without a message.",
        "vendor offers the flow meter",
        says=("Without a date limit, this query finds",),
        remedy="period",
        asked={"until": 400},
    ),
    Case(
        "#46671",
        "The folder filter excludes the right folder without a message.",
        "irrigation timer skipped",
        says=("In all files, this query finds",),
        remedy="scope",
        asked={"path_glob": "people/**"},
    ),
    Case(
        "#56862",
        "An excluded word removes the intended results without a message.",
        "MES -pallets",
        says=("Without “-pallets”, the query finds",),
        remedy="condition",
        situation="words",
    ),
    Case(
        "#147349",
        "A nonsense query returns unrelated passages instead of nothing.",
        "ZXQ unrelated quagga xylophone",
        says=("Not found in the index",),
    ),
    Case(
        "#117706",
        "A misspelt word returns nothing, without a suggestion.",
        "brwoserless",
        first="ops/scraping.md",
        says=("“browserless”",),
    ),
    # --- keyword-only hits below the threshold, identical scores -----------------------------------------------------
    Case(
        "#25183",
        "An exact ticket number scores 0.30 and is dropped at 0.35.",
        "PROJ-4821",
        first="ops/incidents.md",
        says=("“PROJ-4821”", "reaches the minimum score, 0.35"),
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
        "With one result, the best result differs from the first of many.",
        "Rocky Point bagging",
        first="retail/season.md",
        asked={"max_results": 1},
    ),
    Case(
        "#92337",
        "A name with a hyphen and an accent returns other people.",
        "anne-marie lefebvre",
        first="people/anne-marie.md",
        says=("The words score 2.",),
    ),
    Case(
        "#92524",
        "A whole question returns fewer results than its most distinctive word.",
        "how long does the dough have to rest in the fridge?",
        first="home/bread.md",
        says=("“dough”",),
    ),
    Case(
        "#25183",
        "A result just below the minimum score is dropped without a message.",
        "irrigation timer skipped",
        says=("Best match", "scored below 0.999"),
        remedy="weak",
        asked={"min_score": 0.999, "path_glob": "retail/**"},
    ),
    # --- CJK and short tokens -----------------------------------------------------------------------------------------
    Case("#20730", "Chinese words are not found inside a sentence.", "成语接龙", first="zh/game.md", says=("“成语”",)),
    Case("#20730", "Japanese words are not found inside a sentence.", "しりとり", first="ja/nikki.md"),
    Case("#20730", "Korean words are not found inside a sentence.", "끝말잇기", first="ko/ilgi.md"),
    Case(
        "#92728",
        "A word of two characters returns nothing.",
        "龙井",
        first="zh/game.md",
        says=("“龙井”",),
        situation="words",
    ),
    Case("#41810", "Another word of two characters returns nothing.", "优先", first="zh/backup.md", situation="words"),
    Case(
        "#110500",
        "A word of Latin letters and Chinese characters returns nothing.",
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
    Case(
        "#56707", "Thai words are not found inside a sentence.", "เรือนกระจก", first="th/banthuek.md", situation="words"
    ),
    Case(
        "#56707",
        "A query in one language does not find the note in another.",
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
        "Permanent notes lose score with age like the others.",
        "vaccination card",
        first="MEMORY.md",
        says=("The passage keeps its full score at any age.",),
        situation="ageing",
    ),
    Case(
        "#151914",
        "The date that a note ages by is not shown.",
        "lease of the allotment",
        first="memory/front.md",
        says=("according to its front matter", "half of its score in 30 days"),
        situation="ageing",
    ),
    # --- the index is incomplete --------------------------------------------------------------------------------------
    Case(
        "#46671",
        "Vectors are still being computed, without a message.",
        "quagga xylophone",
        says=("of the passages have a vector",),
        remedy="sync",
        situation="pending",
    ),
    Case(
        "#11727",
        "The provider fails, and the answer is empty without a message.",
        "quagga xylophone",
        says=("Searched by words only: The service does not answer.",),
        remedy="settings",
        situation="failing",
    ),
    Case(
        "#11727",
        "The provider fails, and passages with the words are not found either.",
        "irrigation timer",
        first="greenhouse.md",
        says=("Searched by words only: The service does not answer.", "The meaning was not compared."),
        situation="failing",
    ),
    Case(
        "#56862",
        "A paid provider waits for an approval that was never requested.",
        "quagga xylophone",
        says=("the embedding has not been approved yet",),
        remedy="embed",
        situation="unasked",
    ),
    Case(
        "#41911",
        "Text is indexed without vectors, and a search by meaning returns nothing.",
        "quagga xylophone",
        says=("nothing has been embedded yet",),
        remedy="sync",
        situation="unembedded",
    ),
    Case(
        "#117706",
        "The index is empty, without a message.",
        "irrigation timer",
        says=("Nothing is indexed yet.",),
        remedy="folder",
        situation="empty",
    ),
    Case(
        "#10734",
        "A tag returns nothing until a rebuild, without a message.",
        "tag:garden",
        says=("Tags can be searched after the next update has read all notes again.",),
        remedy="sync",
        situation="upgraded",
    ),
    Case(
        "#46570",
        "A rule excludes a folder, without a message.",
        "winter plan of the drafts",
        says=("drafts/plan.md is not indexed: Excluded by the pattern",),
        remedy="excluded",
        situation="excluded",
    ),
    Case(
        "#46570",
        "Sessions are searched, but none are indexed.",
        "source:sessions irrigation",
        says=("No sessions are indexed",),
        remedy="add-sessions",
        situation="excluded",
    ),
)
