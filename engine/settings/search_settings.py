"""Options of queries: comparing vectors, combining them with keywords, ordering, and caching."""

import math
from typing import Annotated, Literal

import msgspec

from engine.settings.settings_section import Group, Section, option

VectorEngine = Literal["auto", "numpy", "sqlite-vec"]

_VECTOR_WEIGHT = 0.7
_TEXT_WEIGHT = 0.3


class VectorSettings(Section, frozen=True):
    GROUP = Group.VECTORS

    enabled: Annotated[
        bool, option("Search by meaning", "Search by meaning as well as by words.", also="semantic, embeddings")
    ] = True
    engine: Annotated[
        VectorEngine,
        option(
            "Vector search method",
            "Method that compares vectors: sqlite-vec in the index file, numpy in memory, or auto: "
            "sqlite-vec while the index is small enough for a search within 5 ms, then numpy.",
        ),
    ] = "auto"
    extension_path: Annotated[
        str,
        option(
            "sqlite-vec file",
            "File of the sqlite-vec extension. If empty, the one that was installed with the program is used.",
        ),
    ] = ""


class MmrSettings(Section, frozen=True):
    GROUP = Group.ORDER

    enabled: Annotated[
        bool, option("More variety", "Move similar results down.", also="diversity, duplicates, MMR")
    ] = False
    lambda_: Annotated[
        float,
        option(
            "Balance of score and variety",
            "1 orders results by score alone. The smaller the value, the further similar results move down.",
            0,
            1,
        ),
    ] = msgspec.field(name="lambda", default=0.7)


class TemporalDecaySettings(Section, frozen=True):
    GROUP = Group.ORDER

    enabled: Annotated[
        bool,
        option("Prefer newer results", "Let results lose score with their age.", also="recency, newer, date, decay"),
    ] = False
    half_life_days: Annotated[
        float, option("Half-life", "Days after which a result has lost half of its score; whole days.", 1)
    ] = 30
    evergreen: Annotated[
        tuple[str, ...],
        option("Files that never age", "Patterns of files and folders that never age.", also="pinned, recency, decay"),
    ] = ()
    half_life_by_path: Annotated[
        dict[str, float],
        option(
            "Half-life of scores by path",
            "Half-lives in days by pattern, the first match counts; 0 to never age. Undated files age, too.",
        ),
    ] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("half_life_days", float(math.floor(self.half_life_days)))
        days = {path: float(max(1, math.floor(n))) if n else 0.0 for path, n in self.half_life_by_path.items()}
        self._put("half_life_by_path", days)

    @property
    def effective_days(self) -> float:
        """Half-life in days of results without a specific one; 0 if ageing is off."""
        return self.half_life_days if self.enabled else 0.0


class HybridSettings(Section, frozen=True):
    GROUP = Group.WEIGHTS

    enabled: Annotated[
        bool,
        option(
            "Include keyword search",
            "Combine the scores of words and meaning; off searches by meaning alone.",
            also="hybrid search, keywords",
        ),
    ] = True
    vector_weight: Annotated[
        float | None,
        option(
            "Weight of meaning",
            "Share of meaning in the score. If not set, it depends on the model.",
            0,
            1,
            also="weight, semantic, balance",
        ),
    ] = None
    text_weight: Annotated[
        float | None,
        option(
            "Weight of keywords",
            "Share of words in the score. If not set, it depends on the model.",
            0,
            1,
            also="weight, keywords, balance",
        ),
    ] = None
    candidate_multiplier: Annotated[
        int,
        option(
            "Search candidates per result",
            "Number of candidates from each kind of search, as a multiple of the number of results.",
            1,
            20,
        ),
    ] = 4
    mmr: MmrSettings = MmrSettings()
    temporal_decay: TemporalDecaySettings = TemporalDecaySettings()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.vector_weight is None and self.text_weight is None:
            return
        vector = _VECTOR_WEIGHT if self.vector_weight is None else self.vector_weight
        text = _TEXT_WEIGHT if self.text_weight is None else self.text_weight
        if vector + text == 0:
            vector, text = _VECTOR_WEIGHT, _TEXT_WEIGHT
        self._put("vector_weight", vector / (vector + text))
        self._put("text_weight", text / (vector + text))


class ResultCacheSettings(Section, frozen=True):
    GROUP = Group.RESULT_CACHE

    enabled: Annotated[
        bool,
        option("Cache results", "Answer the same query from the cache while the index is unchanged.", also="cache"),
    ] = True
    ttl_seconds: Annotated[
        float, option("Maximum age of cached answers", "Seconds for which an answer is cached; 0 for none.", 0)
    ] = 60
    max_entries: Annotated[
        int, option("Maximum number of cached answers", "Maximum number of cached answers.", 1, 1000)
    ] = 64


class QuerySettings(Section, frozen=True):
    GROUP = Group.RESULTS
    APPLIES = "answering"

    max_results: Annotated[
        int,
        option("Number of results", "Default number of results for agents and the command line.", 1, also="limit, top"),
    ] = 6
    min_score: Annotated[
        float,
        option(
            "Minimum score", "Lowest score of a result, from 0 to 1.", 0, 1, also="threshold, weak matches, relevance"
        ),
    ] = 0.35
    hybrid: HybridSettings = HybridSettings()
    cache: ResultCacheSettings = ResultCacheSettings()
