"""The options themselves: type, default, range and help, each declared once.

Numbers outside their range are moved to its nearest end, as the reference does; every way to build a `Settings` goes
through that, so the rest of the engine may rely on the ranges.
"""

import functools
import math
from typing import Annotated, Any, Literal, get_type_hints

import msgspec

from engine.records import Source

RemoteProvider = Literal["openai", "gemini", "voyage"]
Provider = Literal["auto", "embedded", "gguf", "openai", "gemini", "voyage", "none"]
Fallback = Literal["none", "embedded", "gguf", "openai", "gemini", "voyage"]
VectorEngine = Literal["numpy", "sqlite-vec"]
Theme = Literal["system", "light", "dark"]
Backend = Literal["builtin", "qmd", "lancedb"]
Citations = Literal["auto", "on", "off"]

_VECTOR_WEIGHT = 0.7
_TEXT_WEIGHT = 0.3


def _option(text: str, low: float | None = None, high: float | None = None) -> msgspec.Meta:
    """Help for one option, and the ends of its range (inclusive)."""
    return msgspec.Meta(description=text, extra={"low": low, "high": high})


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all groups of options; keeps their numbers in range."""

    def __post_init__(self) -> None:
        for name, (low, high) in _ranges(type(self)).items():
            value = getattr(self, name)
            if value is not None:
                self._put(name, _clamp(value, low, high))

    def _put(self, name: str, value: Any) -> None:
        msgspec.structs.force_setattr(self, name, value)


@functools.cache
def _ranges(section: type[Section]) -> dict[str, tuple[float | None, float | None]]:
    found: dict[str, tuple[float | None, float | None]] = {}
    for name, hint in get_type_hints(section, include_extras=True).items():
        for meta in getattr(hint, "__metadata__", ()):
            low, high = meta.extra["low"], meta.extra["high"]
            if low is not None or high is not None:
                found[name] = low, high
    return found


def _clamp(value: float, low: float | None, high: float | None) -> float:
    if low is not None and value < low:
        return low
    if high is not None and value > high:
        return high
    return value


class VectorSettings(Section, frozen=True):
    enabled: Annotated[bool, _option("Search by meaning as well as by words.")] = True
    engine: Annotated[
        VectorEngine,
        _option("What compares vectors: numpy in memory, or sqlite-vec in the index, for little memory."),
    ] = "numpy"
    extension_path: Annotated[
        str, _option("File of the sqlite-vec extension; empty uses the one that was installed with the program.")
    ] = ""


class StoreSettings(Section, frozen=True):
    path: Annotated[
        str, _option("Folder for the index; empty puts it under the user's data folder. Never a network drive.")
    ] = ""
    vector: VectorSettings = VectorSettings()


class ChunkingSettings(Section, frozen=True):
    tokens: Annotated[int, _option("Length of one indexed passage, in tokens of four characters.", 1)] = 400
    overlap: Annotated[
        int, _option("Tokens that a passage repeats from the one before it; less than the length of a passage.", 0)
    ] = 80

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("overlap", min(self.overlap, self.tokens - 1))


class SessionDeltaSettings(Section, frozen=True):
    delta_bytes: Annotated[
        int, _option("Bytes by which a session must grow before it is indexed at once; 0 for any growth.", 0)
    ] = 100_000
    delta_messages: Annotated[
        int, _option("Lines by which a session must grow before it is indexed at once; 0 for any growth.", 0)
    ] = 50


class SyncSettings(Section, frozen=True):
    on_session_start: Annotated[bool, _option("Bring the index up to date once when a session starts.")] = True
    on_search: Annotated[bool, _option("Bring the index up to date after a search that found it out of date.")] = True
    watch: Annotated[bool, _option("Watch the folders and index what changes.")] = True
    watch_debounce_ms: Annotated[int, _option("Milliseconds of quiet to wait for after a change.", 0)] = 1500
    interval_minutes: Annotated[int, _option("Minutes between regular updates; 0 for none.", 0)] = 0
    sessions: SessionDeltaSettings = SessionDeltaSettings()


class SessionSettings(Section, frozen=True):
    folders: Annotated[
        tuple[str, ...],
        _option("Folders, or exported files, with sessions of AI agents; listing one is what switches sessions on."),
    ] = ()
    thinking: Annotated[bool, _option("Index what agents thought, not only what they said.")] = False
    tools: Annotated[bool, _option("Index the calls and results of tools, not only what was said.")] = False


class MmrSettings(Section, frozen=True):
    enabled: Annotated[bool, _option("Put results that say the same behind others.")] = False
    lambda_: Annotated[
        float, _option("1 orders by score alone; the smaller, the more results that are alike give way.", 0, 1)
    ] = msgspec.field(name="lambda", default=0.7)


class TemporalDecaySettings(Section, frozen=True):
    enabled: Annotated[bool, _option("Let results lose score with their age.")] = False
    half_life_days: Annotated[float, _option("Days after which half of the score is left; whole days.", 1)] = 30
    evergreen: Annotated[tuple[str, ...], _option("Patterns of files and folders that never age.")] = ()
    half_life_by_path: Annotated[
        dict[str, float],
        _option("Half-lives in days by pattern, the first that fits; 0 for what never ages. Undated files age, too."),
    ] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("half_life_days", float(math.floor(self.half_life_days)))
        days = {path: float(max(1, math.floor(n))) if n else 0.0 for path, n in self.half_life_by_path.items()}
        self._put("half_life_by_path", days)

    @property
    def days_in_force(self) -> float:
        """Half-life of what has none of its own; 0 where nothing ages."""
        return self.half_life_days if self.enabled else 0.0


class HybridSettings(Section, frozen=True):
    enabled: Annotated[bool, _option("Join the scores of words and meaning; off searches by meaning alone.")] = True
    vector_weight: Annotated[
        float | None, _option("Share of meaning in the score; unset takes what suits the model.", 0, 1)
    ] = None
    text_weight: Annotated[
        float | None, _option("Share of words in the score; unset takes what suits the model.", 0, 1)
    ] = None
    candidate_multiplier: Annotated[
        int, _option("Candidates that each kind of search brings, as a multiple of the results wanted.", 1, 20)
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
    enabled: Annotated[bool, _option("Answer the same question from memory while the index stays as it is.")] = True
    ttl_seconds: Annotated[float, _option("Seconds for which an answer is kept; 0 for none.", 0)] = 60
    max_entries: Annotated[int, _option("Most answers to keep.", 1, 1000)] = 64


class QuerySettings(Section, frozen=True):
    max_results: Annotated[int, _option("Results to show at first.", 1)] = 6
    min_score: Annotated[float, _option("Lowest score of a result, from 0 to 1.", 0, 1)] = 0.35
    hybrid: HybridSettings = HybridSettings()
    cache: ResultCacheSettings = ResultCacheSettings()


class BatchSettings(Section, frozen=True):
    enabled: Annotated[
        bool,
        _option(
            "Embed many texts through the provider's batch jobs: cheaper, but they may take a day. Few go directly."
        ),
    ] = False
    wait: Annotated[bool, _option("Wait for batch jobs; off leaves them to a later update.")] = True
    concurrency: Annotated[int, _option("Batch jobs under way at the same time.", 1, 16)] = 2
    poll_interval_ms: Annotated[int, _option("Milliseconds between two looks at a batch job.", 10)] = 2000
    timeout_minutes: Annotated[float, _option("Minutes after which a batch job is given up.", 0.001)] = 60


class RemoteSettings(Section, frozen=True):
    base_url: Annotated[
        str,
        _option("Address of the provider's API; empty takes its own. For openai also that of a compatible server."),
    ] = ""
    api_key_env: Annotated[
        str, _option("Environment variable that holds the API key; empty takes the provider's usual one.")
    ] = ""
    headers: Annotated[dict[str, str], _option("More headers to send; keys and tokens do not belong here.")] = {}
    allow_http: Annotated[bool, _option("Allow http without encryption to other machines than this one.")] = False
    agreed: Annotated[
        tuple[RemoteProvider, ...],
        _option(
            "Providers that texts may be sent to when provider is auto; naming one as provider or fallback agrees, too."
        ),
    ] = ()
    batch: BatchSettings = BatchSettings()


class LocalSettings(Section, frozen=True):
    model_path: Annotated[
        str, _option("GGUF file of the gguf provider, or its hub id such as hf:owner/repository/file.gguf.")
    ] = ""
    model_cache_dir: Annotated[
        str, _option("Folder for models fetched from the hub; empty puts them under the user's data folder.")
    ] = ""


class CacheSettings(Section, frozen=True):
    enabled: Annotated[bool, _option("Keep vectors of texts that left the index, in case they come back.")] = True
    max_entries: Annotated[int, _option("Most vectors to keep; those of indexed texts always stay.", 1)] = 50_000


class WindowSettings(Section, frozen=True):
    keep_searches: Annotated[bool, _option("Keep what was searched for, on this computer, to come back to it.")] = True
    theme: Annotated[Theme, _option("Colours of the window; system follows the desktop.")] = "system"
    font_scale: Annotated[float, _option("Size of the text, as a multiple of the desktop's.", 0.5, 3)] = 1.0
    editor: Annotated[
        str,
        _option("Command that opens a file in an editor, with {path} and {line}; empty takes one that is installed."),
    ] = ""


class Settings(Section, frozen=True):
    """All options of one workspace. `Settings()` has every default."""

    workspace: Annotated[
        str, _option("Folder of notes to open when none is named; the window remembers the last one here.")
    ] = ""
    backend: Annotated[
        Backend,
        _option(
            "What keeps the index: the program itself (builtin), the command qmd, or a LanceDB table (lancedb). When "
            "another one fails, the built-in index answers."
        ),
    ] = "builtin"
    citations: Annotated[
        Citations,
        _option("Whether agents are told where a passage stands: always (on), never (off), or not in groups (auto)."),
    ] = "auto"
    provider: Annotated[
        Provider,
        _option(
            "What turns text into meaning: the built-in model (embedded), a model file (gguf), a service (openai, "
            "gemini, voyage), the first of these that is at hand and agreed to (auto), or only words (none)."
        ),
    ] = "embedded"
    model: Annotated[str, _option("Name of the model; empty takes the provider's own.")] = ""
    dimensions: Annotated[
        int | None, _option("Length of the vectors, for models that offer several; unset takes the model's own.", 1)
    ] = None
    fallback: Annotated[Fallback, _option("Provider to use when the first one cannot start or fails.")] = "none"
    remote: RemoteSettings = RemoteSettings()
    local: LocalSettings = LocalSettings()
    prices: Annotated[
        dict[str, float],
        _option('US dollars for a million tokens by "provider/model", where the built-in list prices are out of date.'),
    ] = {}
    sources: Annotated[tuple[Source, ...], _option("What to search; an empty list means the notes.")] = ("memory",)
    extra_paths: Annotated[
        tuple[str, ...],
        _option("More folders or files to index; those of the defaults and of the workspace are joined."),
    ] = ()
    include: Annotated[tuple[str, ...], _option("Patterns of files to index; empty means all.")] = ()
    exclude: Annotated[tuple[str, ...], _option("Patterns of files and folders to leave out.")] = ()
    extensions: Annotated[tuple[str, ...], _option("Endings of the files to index, such as .md or .txt.")] = (".md",)
    max_file_bytes: Annotated[int, _option("Largest file to index, in bytes.", 1)] = 10_000_000
    sessions: SessionSettings = SessionSettings()
    store: StoreSettings = StoreSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    sync: SyncSettings = SyncSettings()
    query: QuerySettings = QuerySettings()
    cache: CacheSettings = CacheSettings()
    window: WindowSettings = WindowSettings()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sources:
            self._put("sources", ("memory",))
        if self.sessions.folders and "sessions" not in self.sources:
            # The reference wants a second switch, and its users wonder for months why they have 0 of 49 sessions.
            self._put("sources", (*self.sources, "sessions"))
