"""The options: type, default, range and help, each declared once.

Numbers outside their range are moved to its nearest end, like in the reference; this applies to every way to create a
`Settings`, so the rest of the engine may rely on the ranges.
"""

import math
from typing import Annotated, Literal

import msgspec

from engine.records import Source
from engine.settings.lancedb_options import LanceDbSettings
from engine.settings.qmd_options import QmdSettings
from engine.settings.section import Section, option

RemoteProvider = Literal["openai", "gemini", "voyage"]
Provider = Literal["auto", "embedded", "gguf", "openai", "gemini", "voyage", "none"]
Fallback = Literal["none", "embedded", "gguf", "openai", "gemini", "voyage"]
VectorEngine = Literal["auto", "numpy", "sqlite-vec"]
Backend = Literal["builtin", "qmd", "lancedb"]
Citations = Literal["auto", "on", "off"]

_VECTOR_WEIGHT = 0.7
_TEXT_WEIGHT = 0.3
AgentWrites = Literal["on", "review", "off"]
_MOST_TRIGGERS = 50
Theme = Literal["system", "light", "dark", "high-contrast-light", "high-contrast-dark"]
Language = Literal["system", "en", "de"]


class WindowSettings(Section, frozen=True):
    keep_searches: Annotated[bool, option("Save the search history, on this computer only.")] = True
    theme: Annotated[Theme, option("Colours of the window; system follows the desktop, in contrast too.")] = "system"
    font_scale: Annotated[float, option("Size of the text, as a multiple of the desktop's.", 0.8, 2)] = 1.0
    editor: Annotated[
        str,
        option("Command that opens a file in an editor, with {path} and {line}; empty takes one that is installed."),
    ] = ""
    language: Annotated[
        Language, option("Language of the window; system follows the desktop. It changes with the next start.")
    ] = "system"
    keys: Annotated[
        dict[str, tuple[str, ...]],
        option("Keys in place of the program's own, by the name of a command; an empty list takes them away."),
    ] = msgspec.field(default_factory=dict)
    tray: Annotated[bool, option("Keep an icon in the desktop's tray, where the desktop has one.")] = True
    close_to_tray: Annotated[
        bool,
        option(
            "Closing the window leaves the program in the tray, where it continues indexing and answers immediately."
        ),
    ] = False
    notify: Annotated[bool, option("Notify me when a long update finishes in the background.")] = True


class SlugSettings(Section, frozen=True):
    model: Annotated[
        str,
        option(
            "Chat model that names notes of sessions; naming one agrees to sending it the beginning of the note, with "
            "secrets masked. Empty takes the session's own words."
        ),
    ] = ""
    base_url: Annotated[
        str, option("Address of that model's server, as OpenAI and servers like it have it; empty takes OpenAI's.")
    ] = ""
    api_key_env: Annotated[
        str, option("Environment variable that holds the API key of that server; empty takes its usual one.")
    ] = ""
    timeout_seconds: Annotated[
        float, option("Seconds after which the session's own words are taken instead.", 1, 120)
    ] = 15


class RememberSettings(Section, frozen=True):
    messages: Annotated[int, option("Last messages of a session that go into its note.", 1, 1000)] = 15
    longest_message: Annotated[
        int, option("Characters of a message that go into the note; the rest is left out with a mark.", 100)
    ] = 4000
    tool: Annotated[
        bool, option("Let agents write notes of sessions themselves: the tool remember_session of the MCP server.")
    ] = False
    slug: SlugSettings = SlugSettings()


class FactsSettings(Section, frozen=True):
    agent_writes: Annotated[
        AgentWrites,
        option(
            "Whether agents may keep and forget facts: yes (on), only what you approve then (review), or not at all "
            "(off)."
        ),
    ] = "on"
    auto_recall: Annotated[bool, option("Tell agents, before they answer, of facts that fit the message.")] = True
    recall_results: Annotated[int, option("Most facts that an agent gets before it answers.", 1, 20)] = 3
    recall_max_chars: Annotated[
        int, option("Characters of a message that are used to find facts, and of all facts together.", 100, 10_000)
    ] = 1000
    auto_capture: Annotated[
        bool, option("Keep what sounds worth remembering in messages to agents, for you to approve.")
    ] = False
    capture_max_chars: Annotated[int, option("Longest message that is saved as a fact.", 100, 10_000)] = 500
    capture_triggers: Annotated[
        tuple[str, ...], option("More words or phrases by which a message sounds worth keeping; at most 50.")
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("capture_triggers", self.capture_triggers[:_MOST_TRIGGERS])


class VectorSettings(Section, frozen=True):
    enabled: Annotated[bool, option("Search by meaning as well as by words.")] = True
    engine: Annotated[
        VectorEngine,
        option(
            "What compares vectors: sqlite-vec in the index file, numpy in memory, or auto: sqlite-vec while the index "
            "is small enough for a search within 5 ms, then numpy."
        ),
    ] = "auto"
    extension_path: Annotated[
        str, option("File of the sqlite-vec extension; empty uses the one that was installed with the program.")
    ] = ""


class StoreSettings(Section, frozen=True):
    path: Annotated[
        str, option("Folder for the index; empty puts it under the user's data folder. Never a network drive.")
    ] = ""
    vector: VectorSettings = VectorSettings()


class ChunkingSettings(Section, frozen=True):
    tokens: Annotated[int, option("Length of one indexed passage, in tokens of four characters.", 1)] = 400
    overlap: Annotated[
        int, option("Tokens that a passage repeats from the one before it; less than the length of a passage.", 0)
    ] = 80

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("overlap", min(self.overlap, self.tokens - 1))


class SessionDeltaSettings(Section, frozen=True):
    delta_bytes: Annotated[
        int, option("Bytes by which a session must grow before it is indexed immediately; 0 for any growth.", 0)
    ] = 100_000
    delta_messages: Annotated[
        int, option("Lines by which a session must grow before it is indexed immediately; 0 for any growth.", 0)
    ] = 50


class SyncSettings(Section, frozen=True):
    on_session_start: Annotated[bool, option("Bring the index up to date once when a session starts.")] = True
    on_search: Annotated[bool, option("Update an outdated index: after a search, and before an agent's.")] = True
    watch: Annotated[bool, option("Watch the folders and index what changes.")] = True
    watch_debounce_ms: Annotated[int, option("Milliseconds of quiet to wait for after a change.", 0)] = 1500
    interval_minutes: Annotated[int, option("Minutes between regular updates; 0 for none.", 0)] = 0
    sessions: SessionDeltaSettings = SessionDeltaSettings()


class SessionSettings(Section, frozen=True):
    folders: Annotated[
        tuple[str, ...],
        option("Folders, or exported files, with sessions of AI agents; listing one is what switches sessions on."),
    ] = ()
    thinking: Annotated[bool, option("Index what agents thought, not only what they said.")] = False
    tools: Annotated[bool, option("Index the calls and results of tools, not only messages.")] = False


class MmrSettings(Section, frozen=True):
    enabled: Annotated[bool, option("Put results that say the same behind others.")] = False
    lambda_: Annotated[
        float, option("1 orders by score alone; the smaller, the more results that are alike give way.", 0, 1)
    ] = msgspec.field(name="lambda", default=0.7)


class TemporalDecaySettings(Section, frozen=True):
    enabled: Annotated[bool, option("Let results lose score with their age.")] = False
    half_life_days: Annotated[float, option("Days after which half of the score is left; whole days.", 1)] = 30
    evergreen: Annotated[tuple[str, ...], option("Patterns of files and folders that never age.")] = ()
    half_life_by_path: Annotated[
        dict[str, float],
        option("Half-lives in days by pattern, the first match counts; 0 to never age. Undated files age, too."),
    ] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("half_life_days", float(math.floor(self.half_life_days)))
        days = {path: float(max(1, math.floor(n))) if n else 0.0 for path, n in self.half_life_by_path.items()}
        self._put("half_life_by_path", days)

    @property
    def days_in_force(self) -> float:
        """Half-life of results without a specific one; 0 without ageing."""
        return self.half_life_days if self.enabled else 0.0


class HybridSettings(Section, frozen=True):
    enabled: Annotated[bool, option("Join the scores of words and meaning; off searches by meaning alone.")] = True
    vector_weight: Annotated[
        float | None, option("Share of meaning in the score; unset takes what suits the model.", 0, 1)
    ] = None
    text_weight: Annotated[
        float | None, option("Share of words in the score; unset takes what suits the model.", 0, 1)
    ] = None
    candidate_multiplier: Annotated[
        int, option("Candidates that each kind of search brings, as a multiple of the results wanted.", 1, 20)
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
    enabled: Annotated[bool, option("Answer the same query from the cache while the index is unchanged.")] = True
    ttl_seconds: Annotated[float, option("Seconds for which an answer is cached; 0 for none.", 0)] = 60
    max_entries: Annotated[int, option("Most answers to keep.", 1, 1000)] = 64


class QuerySettings(Section, frozen=True):
    max_results: Annotated[int, option("Default number of results for agents and the command line.", 1)] = 6
    min_score: Annotated[float, option("Lowest score of a result, from 0 to 1.", 0, 1)] = 0.35
    hybrid: HybridSettings = HybridSettings()
    cache: ResultCacheSettings = ResultCacheSettings()


class BatchSettings(Section, frozen=True):
    enabled: Annotated[
        bool,
        option(
            "Embed many texts through the provider's batch jobs: cheaper, but they may take a day. Few go directly."
        ),
    ] = False
    wait: Annotated[bool, option("Wait for batch jobs; off leaves them to a later update.")] = True
    concurrency: Annotated[int, option("Batch jobs under way at the same time.", 1, 16)] = 2
    poll_interval_ms: Annotated[int, option("Milliseconds between two looks at a batch job.", 10)] = 2000
    timeout_minutes: Annotated[float, option("Minutes after which a batch job is given up.", 0.001)] = 60


class RemoteSettings(Section, frozen=True):
    base_url: Annotated[
        str,
        option("Address of the provider's API; empty takes its own. For openai also that of a compatible server."),
    ] = ""
    api_key_env: Annotated[
        str, option("Environment variable that holds the API key; empty takes the provider's usual one.")
    ] = ""
    headers: Annotated[dict[str, str], option("More headers to send; keys and tokens do not belong here.")] = (
        msgspec.field(default_factory=dict)
    )
    allow_http: Annotated[bool, option("Allow http without encryption to other machines than this one.")] = False
    agreed: Annotated[
        tuple[RemoteProvider, ...],
        option(
            "Providers that texts may be sent to when provider is auto; naming one as provider or fallback agrees, too."
        ),
    ] = ()
    batch: BatchSettings = BatchSettings()


class LocalSettings(Section, frozen=True):
    model_path: Annotated[
        str, option("GGUF file of the gguf provider, or its hub id such as hf:owner/repository/file.gguf.")
    ] = ""
    model_cache_dir: Annotated[
        str, option("Folder for models fetched from the hub; empty puts them under the user's data folder.")
    ] = ""


class CacheSettings(Section, frozen=True):
    enabled: Annotated[bool, option("Keep vectors of texts that left the index, in case they come back.")] = True
    max_entries: Annotated[int, option("Most vectors to keep; those of indexed texts always stay.", 1)] = 50_000


class Settings(Section, frozen=True):
    """All options of one workspace. `Settings()` has every default."""

    workspace: Annotated[
        str, option("Folder of notes to open when none is named; the window remembers the last one here.")
    ] = ""
    backend: Annotated[
        Backend,
        option(
            "What keeps the index: the program itself (builtin), the command qmd, or a LanceDB table (lancedb). When "
            "another one fails, the built-in index answers."
        ),
    ] = "builtin"
    citations: Annotated[
        Citations,
        option("Whether agents see the location of a passage: always (on), never (off), or not in groups (auto)."),
    ] = "auto"
    max_injected_chars: Annotated[
        int | None,
        option("Most characters of passages in one answer to an agent; unset: qmd's own limit, else all.", 1),
    ] = None
    provider: Annotated[
        Provider,
        option(
            "Model for searching by meaning: the built-in model (embedded), a model file (gguf), a service (openai, "
            "gemini, voyage), the first of these that is at hand and agreed to (auto), or only words (none)."
        ),
    ] = "embedded"
    model: Annotated[str, option("Name of the model; empty takes the provider's own.")] = ""
    dimensions: Annotated[
        int | None, option("Length of the vectors, for models that offer several; unset takes the model's own.", 1)
    ] = None
    fallback: Annotated[Fallback, option("Provider to use when the first one cannot start or fails.")] = "none"
    remote: RemoteSettings = RemoteSettings()
    local: LocalSettings = LocalSettings()
    prices: Annotated[
        dict[str, float],
        option('US dollars for a million tokens by "provider/model", where the built-in list prices are out of date.'),
    ] = msgspec.field(default_factory=dict)
    sources: Annotated[tuple[Source, ...], option("What to search; an empty list means the notes.")] = ("memory",)
    extra_paths: Annotated[
        tuple[str, ...],
        option("More folders or files to index. Added to the global list."),
    ] = ()
    include: Annotated[tuple[str, ...], option("Patterns of files to index; empty means all.")] = ()
    exclude: Annotated[tuple[str, ...], option("Patterns of files and folders to leave out.")] = ()
    extensions: Annotated[tuple[str, ...], option("Endings of the files to index, such as .md or .txt.")] = (".md",)
    max_file_bytes: Annotated[int, option("Largest file to index, in bytes.", 1)] = 10_000_000
    sessions: SessionSettings = SessionSettings()
    store: StoreSettings = StoreSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    sync: SyncSettings = SyncSettings()
    query: QuerySettings = QuerySettings()
    cache: CacheSettings = CacheSettings()
    facts: FactsSettings = FactsSettings()
    qmd: QmdSettings = QmdSettings()
    lancedb: LanceDbSettings = LanceDbSettings()
    window: WindowSettings = WindowSettings()
    remember: RememberSettings = RememberSettings()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sources:
            self._put("sources", ("memory",))
        if self.sessions.folders and "sessions" not in self.sources:
            # The reference needs a second switch, so its users wonder why they have 0 of 49 sessions.
            self._put("sources", (*self.sources, "sessions"))

    @property
    def injection_budget(self) -> int | None:
        """Characters of passages that one answer may put before an agent; None for as many as there are."""
        if self.max_injected_chars is None and self.backend == "qmd":
            return self.qmd.limits.max_injected_chars
        return self.max_injected_chars
