"""The frozen records that cross rooms and leave the engine.

Python names are snake_case; JSON (`to_json`) uses the reference's camelCase keys. Times are seconds since the epoch
(UTC), durations are seconds unless the name says otherwise, lines count from 1 and ranges are half-open offsets in
code points.
"""

from typing import Any, Literal

import msgspec

Source = Literal["memory", "sessions"]
SearchMode = Literal["hybrid", "vector", "keyword"]
SyncReason = Literal["session-start", "search", "watch", "session-delta", "interval", "cli", "manual", "fallback"]
SyncPhase = Literal["discovering", "indexing", "embedding", "publishing", "done"]
FileRange = tuple[int, int]
DateOrigin = Literal["name", "folder", "front-matter", "session", "modified", "evergreen"]


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """Base of all records."""


def to_builtins(record: Any) -> Any:
    """The record as dicts, lists and scalars with camelCase keys."""
    return msgspec.to_builtins(record)


def to_json(record: Any, *, indent: int = 0) -> str:
    """The record as JSON text with camelCase keys; `indent` 0 gives one line."""
    encoded = msgspec.json.encode(record)
    return (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()


# --- search -------------------------------------------------------------------------------------------------------


class MemorySearchResult(Record, frozen=True):
    """One chunk that answers the query."""

    path: str
    start_line: int
    end_line: int
    score: float
    """0 to 1, independent of the other results."""
    snippet: str
    """The matching lines, at most 700 characters."""
    source: Source
    citation: str
    """`path#L5-L9`, or `path#L5` for one line."""
    title: str
    """The document's title: front matter, first heading, or the file's name."""
    heading: tuple[str, ...]
    """Heading path of the chunk, outermost first; the title's own heading included."""
    modified: float
    snippet_line: int
    """Line of the file on which the snippet starts."""
    match_ranges: tuple[FileRange, ...]
    """Matched words in `snippet`."""
    text_score: float
    """Keyword score, 0 to 1; 0 when no word matched."""
    vector_score: float | None
    """Calibrated meaning score, 0 to 1; None when this chunk has no vector yet or no vector leg ran."""
    text_share: float
    """How much of `score` the words gave, 0 to 1; the meaning gave the rest."""
    message: "MessagePlace | None" = None
    """The message of the session that the snippet's first match is in; None for a note."""


class MessagePlace(Record, frozen=True):
    """One message of a session, and whose session it is."""

    ordinal: int
    """From 1."""
    id: str
    """As the transcript has it; empty where it has none."""
    role: str
    """`user`, `assistant` or `tool`."""
    agent: str = ""
    """As in `SessionSummary`."""
    project: str = ""


class SearchStage(Record, frozen=True):
    """What one stage of a search took in, let through and why the rest was removed."""

    name: str
    entered: int
    left: int
    note: str
    """One plain sentence."""


class ResultExplanation(Record, frozen=True):
    """Where one result's score came from."""

    citation: str
    text_score: float
    vector_score: float | None
    cosine: float | None
    vector_weight: float
    terms: tuple[tuple[str, float], ...]
    """Each matched term with its contribution to the keyword score."""
    rank: int = 0
    """Place among the results, from 1."""
    decay: float = 1.0
    """What the score was multiplied with for its age; 1 for what does not age, and where temporal decay is off."""
    half_life_days: float | None = None
    """Days in which it loses half of its score; None where it does not age."""
    date: float | None = None
    """Since when it ages; None where it does not."""
    date_origin: DateOrigin | None = None
    """Where the date is from, or that it never ages; None where temporal decay is off."""
    score_rank: int = 0
    """Place by score alone: another one than `rank` where diversity moved it."""
    mmr_penalty: float = 0.0
    """What likeness to results above took off its relevance; 0 where diversity is off."""
    mmr_like: str = ""
    """Citation of the result above that it is most like; empty where it is like none, or diversity is off."""


class SearchExplanation(Record, frozen=True):
    stages: tuple[SearchStage, ...]
    results: tuple[ResultExplanation, ...]


class SearchTimings(Record, frozen=True):
    """Milliseconds spent in each leg; a leg that did not run has 0."""

    analysis: float
    keyword: float
    embed: float
    vector: float
    merge: float
    total: float


class QuerySuggestion(Record, frozen=True):
    """Another question, in which words that occur nowhere are replaced by the nearest ones that do."""

    query: str
    """The whole question."""
    words: tuple[tuple[str, str], ...]
    """Each word of the question with what stands in its place."""
    chunks: int
    """How many chunks hold the rarest of the new words."""


class SearchOutcome(Record, frozen=True):
    results: tuple[MemorySearchResult, ...]
    """Best first."""
    total: int
    """How many chunks passed `min_score`; `total - len(results)` are not shown."""
    provider: str
    model: str
    mode: SearchMode
    """What really ran: `keyword` also when the provider failed or has no vectors yet."""
    timings: SearchTimings
    notice: str
    """Empty, or one sentence: why the answer lacks its vector half, or that nothing is indexed yet."""
    explanation: SearchExplanation | None
    total_is_least: bool = False
    """True when more chunks than `total` may match: asking for more results looks further."""
    remote: bool = False
    """Whether a search by meaning sends its question to another machine, as far as is known yet."""
    suggestions: tuple[QuerySuggestion, ...] = ()
    """Other questions to offer where words of this one occur nowhere, the likeliest first; none was asked."""
    understood: str = ""
    """How a question with operators was read, and which of them nothing satisfies; empty for one of plain words."""


class FileText(Record, frozen=True):
    """Text of one indexed file, whole or a slice of lines."""

    path: str
    text: str
    from_line: int = msgspec.field(name="from")
    lines: int
    """How many lines `text` holds; 0 for a file that vanished or a slice beyond its end."""
    truncated: bool
    next_from: int | None


# --- sessions -----------------------------------------------------------------------------------------------------


class SessionSummary(Record, frozen=True):
    """What is known of one session without reading it."""

    path: str
    """Stable name, `sessions/<store>/…`."""
    agent: str
    """Short name of the program that wrote it: `openclaw`, `claude-code`, `codex`, `chatgpt`, `claude`, `gemini` …"""
    id: str
    title: str
    """As given, else the first real sentence of the person; empty where neither is there."""
    project: str
    """Folder that the agent worked in; empty where it is not known."""
    branch: str
    started: float | None
    ended: float | None
    messages: int
    """What the person and the agent said, without tool calls and thinking."""
    bytes: int
    """Size of its transcript; in an export that holds many sessions, of its text."""
    parent: str
    """Id of the session that it is a part of, such as a sub-agent's; empty for one of its own."""
    resume_command: str
    """Shell command that takes it up again in its agent; empty where there is none."""


class SessionMessage(Record, frozen=True, gc=False):
    """One part of a session that someone said, thought, called or got back.

    The collector need not look at it: it holds texts and numbers only, and a session has many thousands.
    """

    role: Literal["user", "assistant", "tool", "system"]
    kind: Literal["text", "thinking", "tool-call", "tool-result"]
    text: str
    """Secrets masked, unless the session was read with `reveal`."""
    line: int
    """Line of the transcript, as results cite it; in an export the message's ordinal."""
    ordinal: int
    """Number of the message, from 1; the parts of one message share it."""
    id: str
    time: float | None
    tool: str
    """Name of the tool of a call or a result."""
    side: bool
    """Part of a side conversation, such as a sub-agent's."""


class SessionText(Record, frozen=True):
    """One session, read from its transcript."""

    summary: SessionSummary
    messages: tuple[SessionMessage, ...]
    """In the order of the transcript."""
    masked: int
    """How many messages hold secrets that are masked; with `reveal`, would be."""
    unknown: tuple[tuple[str, int], ...]
    """Types of lines that were not understood, with their counts."""


# --- sync ---------------------------------------------------------------------------------------------------------


NOT_EMBEDDED = "not-embedded"
"""Rule of a file that is in the index, but of which a passage is found by words only."""


class FileIssue(Record, frozen=True):
    """A file that is not in the index, or not wholly, and why."""

    path: str
    """The file's stable name, or its path where it cannot have one."""
    rule: str
    """Short name of the rule or failure: `symlink`, `ignored-folder`, `exclude`, `secret`, `too-large`, `not-utf8` …"""
    detail: str
    """One sentence with the specifics, such as the pattern, the size or the byte."""


class EmbeddingEstimate(Record, frozen=True):
    """What it would take to give every chunk of the index a vector of one model."""

    provider: str
    model: str
    remote: bool
    """Whether the texts would leave this machine."""
    chunks: int
    """Chunks that lack a vector of this model."""
    cached: int
    """Chunks that have one."""
    tokens: int
    """Of the texts to embed; estimated, from a sample where there are many."""
    price: float | None
    """US dollars for a million tokens; 0 where nothing is charged, None where the price is not known."""
    cost: float | None
    """US dollars; None where the price is not known."""
    price_checked: str
    """Day of the price as `YYYY-MM-DD`; empty where it is the person's own, or there is none."""
    seconds: float
    """At the speed at which this model has worked here, else at a usual one; by batch jobs, at most."""
    batch: bool = False
    """Whether batch jobs would do it; `price` is then theirs."""
    most_cost: float | None = None
    """US dollars should the jobs fail, since their texts are then asked for directly; None without jobs or a price."""


class MemorySyncProgressUpdate(Record, frozen=True):
    """One step of a running sync; sent at most about 20 times a second, and once per change of phase."""

    phase: SyncPhase
    completed: int
    total: int
    """Files while indexing, chunks while embedding; 0 while it is not known."""
    label: str
    current_file: str
    rate: float
    """Units a second over the last seconds; 0 while unknown."""
    seconds_left: float | None
    reused: int
    """Chunks whose vector was in the cache."""
    embedded: int
    """Chunks embedded in this run."""
    reason: SyncReason
    tokens: int = 0
    """Sent to a provider that charges for them, in this run."""
    cost: float | None = 0.0
    """US dollars for them; None where the price is not known."""
    waiting: int = 0
    """Batch jobs that are waited for: nothing moves before their provider has done them."""


class SyncReport(Record, frozen=True):
    reason: SyncReason
    started: float
    seconds: float
    cancelled: bool
    error: str
    """Empty, or why the sync stopped early, as one sentence."""
    files_seen: int
    files_indexed: int
    files_unchanged: int
    files_removed: int
    chunks_indexed: int
    chunks_removed: int
    vectors_reused: int
    vectors_embedded: int
    vectors_pending: int
    full: bool
    """True when a new generation was built."""
    failed: tuple[FileIssue, ...]
    skipped: tuple[FileIssue, ...]
    tokens: int = 0
    """Sent to a provider that charges for them."""
    cost: float | None = 0.0
    """US dollars for them; None where the price is not known."""
    awaiting: EmbeddingEstimate | None = None
    """Embedding that was not begun because it first has to be agreed to; all else was done."""
    provider_failed: bool = False
    """True when it was the provider that failed: words were indexed, and the settings may have to be changed."""
    batch_jobs: int = 0
    """Batch jobs that go on at the provider, also after a cancel; a later sync takes in what they bring."""


class PreviewFolder(Record, frozen=True):
    path: str
    files: int
    bytes: int


class WorkspacePreview(Record, frozen=True):
    """What a first sync would index; made by reading directory entries only."""

    workspace: str
    layout: Literal["openclaw", "folder"]
    """`openclaw`: MEMORY.md, memory.md, memory/**; `folder`: a plain folder of notes, indexed whole."""
    files: int
    bytes: int
    folders: tuple[PreviewFolder, ...]
    """Top-level folders with files, most files first; the workspace's own files under `.`."""
    skipped: tuple[FileIssue, ...]
    session_files: int
    """In the session folders that the settings list."""
    session_bytes: int


PlaceKind = Literal["openclaw-workspace", "obsidian-vault", "sessions"]


class FoundPlace(Record, frozen=True):
    """A folder on this machine, or an export, that could be indexed; known by directory entries only."""

    kind: PlaceKind
    agent: str
    """Short name of the program that writes there; empty where it is not known without reading."""
    name: str
    """The agent's own id, the vault's name; empty where there is none."""
    path: str
    """Absolute and without links."""
    files: int
    """That would be indexed: notes, or what may be transcripts by their names."""
    bytes: int
    newest: float | None
    """Newest change of these files; None without one."""
    whole: bool
    """False where counting stopped at its limit: there are more files than these."""


class FoundPlaces(Record, frozen=True):
    places: tuple[FoundPlace, ...]
    issues: tuple[FileIssue, ...]
    """Places, and lists of places, that could not be read."""


# --- status -------------------------------------------------------------------------------------------------------


class SourceCount(Record, frozen=True):
    source: Source
    files: int
    chunks: int


class StoredModelInfo(Record, frozen=True):
    """A model whose vectors the index keeps."""

    provider: str
    model: str
    key: str
    """What else its vectors depend on, as the provider names it."""
    dims: int
    vectors: int
    bytes: int
    """Of the vectors themselves."""
    active: bool
    """Whether it is the one that is searched with now."""


class CacheStatus(Record, frozen=True):
    enabled: bool
    entries: int
    """Vectors of all models, those of indexed texts included."""
    max_entries: int | None
    bytes: int = 0
    models: tuple[StoredModelInfo, ...] = ()
    """Most vectors first."""


class FtsStatus(Record, frozen=True):
    enabled: bool
    available: bool
    error: str | None


class FallbackStatus(Record, frozen=True):
    from_: str = msgspec.field(name="from")
    reason: str


class VectorStatus(Record, frozen=True):
    enabled: bool
    available: bool | None
    """Whether sqlite-vec is loaded; None before it was tried (it is loaded lazily)."""
    extension_path: str | None
    load_error: str | None
    dims: int | None
    engine: Literal["numpy", "sqlite-vec"]
    """The engine that answers now."""
    rows: int
    """Vectors searchable now."""


class BatchJobStatus(Record, frozen=True):
    """One batch job whose results are not all taken in."""

    provider: str
    model: str
    id: str
    """The provider's; empty where it is not known yet whether it was created."""
    state: str
    """In the provider's own word, as last seen."""
    texts: int
    """That it was to embed."""
    created: float
    attempt: int
    """2 for the retry of a job that took too long."""


class BatchStatus(Record, frozen=True):
    enabled: bool
    """Whether jobs are used: wanted, offered by the provider, and not given up after failures."""
    failures: int
    limit: int
    wait: bool
    concurrency: int
    poll_interval_ms: int
    timeout_ms: int
    last_error: str | None
    last_provider: str | None
    jobs: tuple[BatchJobStatus, ...] = ()
    """Open ones of all models, oldest first."""


class WatcherStatus(Record, frozen=True):
    enabled: bool
    mode: Literal["native", "polling", "off"]
    roots: tuple[str, ...]
    last_change: float | None
    error: str | None
    """Why it is off or polling, one sentence."""


class SyncSummary(Record, frozen=True):
    """One finished sync, as kept in the history."""

    started: float
    seconds: float
    reason: SyncReason
    files_indexed: int
    files_removed: int
    chunks_indexed: int
    vectors_embedded: int
    cancelled: bool
    error: str
    tokens: int = 0
    """As in `SyncReport`, as is the next."""
    cost: float | None = 0.0


class IndexSizes(Record, frozen=True):
    """Bytes on disk."""

    database: int
    wal: int
    matrix: int
    user: int


class MemoryProviderStatus(Record, frozen=True):
    backend: str
    provider: str
    """The provider in use, `none` in keyword mode."""
    model: str
    requested_provider: str
    files: int
    chunks: int
    dirty: bool
    workspace_dir: str
    db_path: str
    extra_paths: tuple[str, ...]
    sources: tuple[Source, ...]
    source_counts: tuple[SourceCount, ...]
    cache: CacheStatus
    fts: FtsStatus
    fallback: FallbackStatus | None
    vector: VectorStatus
    batch: BatchStatus
    custom: dict[str, Any]
    """searchMode, providerUnavailableReason, readonlyRecovery … as in the reference."""
    pending_vectors: int
    failed_files: tuple[FileIssue, ...]
    skipped_files: tuple[FileIssue, ...]
    last_sync: SyncSummary | None
    recent_syncs: tuple[SyncSummary, ...]
    """Newest last, at most 30."""
    sizes: IndexSizes
    generation: int
    watcher: WatcherStatus
    syncing: MemorySyncProgressUpdate | None
    """The last progress of the sync that runs now in this process."""
    paused: bool
    writer_elsewhere: bool
    """Another process holds the writer lock."""
    index_error: str | None
    """Why the index could not be opened or had to be set aside, one sentence."""
    awaiting: EmbeddingEstimate | None = None
    """Embedding that does not begin before it is agreed to (`approve_embedding`); words are searched meanwhile."""


class Probe(Record, frozen=True):
    ok: bool
    error: str


# --- one path -----------------------------------------------------------------------------------------------------


PathStanding = Literal[
    "indexed",
    "pending",
    "failed",
    "excluded",
    "outside",
    "too-large",
    "not-text",
    "gone",
    "missing",
    "folder",
]
PathRemedy = Literal["sync", "settings", "add", "open"]


class RuleOrigin(Record, frozen=True):
    """Where the rule is set that keeps a path out of the index."""

    key: str
    """Of the settings, such as `exclude`; empty for a rule that is built in."""
    value: str
    """Which of its patterns, or its value; empty for a rule that is built in."""
    layer: Literal["built-in", "defaults", "workspace"]
    """Whose layer of the settings has it; `built-in` also for an option that nobody has set."""
    file: str
    """The settings file; empty for what is built in."""
    line: int
    """In that file, from 1; 0 for what is built in."""


class FolderContents(Record, frozen=True):
    """The files of a folder and all below it."""

    indexed: int
    waiting: int
    """New or changed: for the next sync."""
    failed: int
    gone: int
    """From the disk; indexed until the next sync."""
    passed: tuple[FileIssue, ...]
    """Files and folders that a rule keeps out, as `skipped_files` of the status; the first ones."""
    passed_total: int
    whole: bool
    """False where the folder is so large that not all of it was looked at."""


class PathState(Record, frozen=True):
    """Why a path is found, or not."""

    asked: str
    state: PathStanding
    sentence: str
    """The state in one or two plain sentences, with what to do about it."""
    remedy: PathRemedy | None
    """What to offer: a sync, the settings file, an extra path, the file itself."""
    path: str
    """Stable name; empty outside of all that is indexed, and for the workspace itself."""
    file: str
    """Absolute path, as far as it could be found out."""
    source: Source | None
    rule: str = ""
    """As in `FileIssue`; empty where none keeps it out."""
    rule_path: str = ""
    """Stable name of what the rule is about: the path, or a folder above it."""
    origin: RuleOrigin | None = None
    title: str = ""
    sessions: int = 0
    """That were read from a transcript."""
    chunks: int = 0
    vectors: int | None = None
    """How many of the chunks have a vector; None where no model is in use."""
    size: int = 0
    """Bytes, as indexed, as is the next."""
    modified: float | None = None
    changed: bool = False
    """Whether it is another now than when it was indexed."""
    contents: FolderContents | None = None
    """Of a folder that is indexed."""


# --- providers ----------------------------------------------------------------------------------------------------


class ProviderProbe(Record, frozen=True):
    """What came of one word sent to a provider."""

    ok: bool
    error: str
    """Why not, one sentence that says what to do; empty if it is ok."""
    milliseconds: float
    """From the request to its answer; 0 where none was sent."""
    dims: int | None
    """Length of the vector that came."""
    model: str
    """The model that was asked; empty where there is no provider."""


class ModelFetchProgress(Record, frozen=True):
    """How much of a model has come from the hub."""

    model: str
    """hf:owner/repository/file.gguf"""
    received: int
    total: int
    """Bytes, what an earlier fetch left included."""


class KeyState(Record, frozen=True):
    """Whether a provider has an API key, and where it was found; never the key itself."""

    present: bool
    origin: Literal["environment", "keychain"] | None
    place: str
    """For a sentence: `the environment variable OPENAI_API_KEY`, `the keychain`; empty where there is none."""
    problem: str
    """Why one could not be looked for, or cannot be used; one sentence, or empty."""
