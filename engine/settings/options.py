"""The options: type, default, range and help, each declared once.

Numbers outside their range are moved to its nearest end, like in the reference; this applies to every way to create a
`Settings`, so the rest of the engine may rely on the ranges.
"""

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from engine.providers.registry import provider_names, remote_names
from engine.records import Source
from engine.settings.agent_settings import FactsSettings, RememberSettings
from engine.settings.backend_settings import LanceDbSettings, QmdSettings
from engine.settings.search_settings import QuerySettings, VectorSettings
from engine.settings.settings_section import Group, Section, option

if TYPE_CHECKING:
    RemoteProvider = str
    Provider = str
    Fallback = str
else:
    # The choices are the declared providers, which mypy cannot know.
    RemoteProvider = Literal[remote_names()]
    Provider = Literal["auto", *provider_names(), "none"]
    Fallback = Literal["none", *provider_names()]
Backend = Literal["builtin", "qmd", "lancedb"]
Citations = Literal["auto", "on", "off"]

Theme = Literal["system", "light", "dark", "high-contrast-light", "high-contrast-dark"]
Language = Literal["system", "en", "de"]


class WindowSettings(Section, frozen=True):
    GROUP = Group.APPEARANCE
    APPLIES = "immediately"

    search_history: Annotated[
        bool,
        option(
            "Save search history",
            "Save the search history, on this machine only.",
            group=Group.THIS_MACHINE,
            also="history, recent searches",
        ),
    ] = True
    theme: Annotated[
        Theme,
        option(
            "Theme",
            "Colours of the window; the default follows the desktop, its contrast included.",
            also="colour scheme, color scheme, dark mode, night",
        ),
    ] = "system"
    font_scale: Annotated[
        float,
        option(
            "Text size",
            "Size of the text, as a multiple of the desktop's.",
            0.8,
            2,
            also="zoom, font size, larger, smaller",
        ),
    ] = 1.0
    editor: Annotated[
        str,
        option(
            "Editor",
            "Command that opens a file in an editor, with {path} and {line}. If empty, an installed editor is used.",
            group=Group.GENERAL,
            also="open with, program, application",
        ),
    ] = ""
    language: Annotated[
        Language,
        option(
            "Language",
            "Language of the window; the default is the desktop's.",
            also="locale, translation",
        ),
    ] = "system"
    keys: Annotated[
        dict[str, tuple[str, ...]],
        option(
            "Custom shortcuts",
            "Your own shortcuts, by the name of a command; an empty list removes the shortcuts of the command.",
            group=Group.KEYBOARD,
            also="shortcuts, hotkeys, key bindings, quick search",
        ),
    ] = msgspec.field(default_factory=dict)
    tray: Annotated[
        bool,
        option(
            "Icon in the tray",
            "Keep an icon in the desktop's tray, where the desktop has one.",
            group=Group.WINDOW_CLOSED,
            also="notification area, status icon, system tray",
        ),
    ] = True
    close_to_tray: Annotated[
        bool,
        option(
            "Stay in the tray",
            "Closing the window leaves the program in the tray, where it continues indexing and answers immediately.",
            group=Group.WINDOW_CLOSED,
            also="minimise, minimize, background, hide, notification area",
        ),
    ] = False
    notify: Annotated[
        bool,
        option(
            "Notify when an update finishes",
            "Notify me when a long update finishes in the background.",
            group=Group.WINDOW_CLOSED,
            also="notification, message, popup",
        ),
    ] = True


class StoreSettings(Section, frozen=True):
    GROUP = Group.INDEX

    path: Annotated[
        str,
        option(
            "Index folder",
            "Folder for the index. If empty, it is in your data folder. Never a network drive.",
            also="database, location, storage",
        ),
    ] = ""
    vector: VectorSettings = VectorSettings()


class ChunkingSettings(Section, frozen=True):
    GROUP = Group.INDEX

    tokens: Annotated[
        int,
        option(
            "Passage length", "Length of one indexed passage, in tokens of four characters.", 1, also="chunks, pieces"
        ),
    ] = 400
    overlap: Annotated[
        int,
        option(
            "Overlap of passages",
            "Tokens that a passage repeats from the one before it; less than the length of a passage.",
            0,
        ),
    ] = 80

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("overlap", min(self.overlap, self.tokens - 1))


class SessionDeltaSettings(Section, frozen=True):
    GROUP = Group.RUNNING_SESSIONS

    delta_bytes: Annotated[
        int,
        option(
            "Session growth in bytes",
            "Bytes by which a session must grow before it is indexed immediately; 0 for any growth.",
            0,
        ),
    ] = 100_000
    delta_messages: Annotated[
        int,
        option(
            "Session growth in lines",
            "Lines by which a session must grow before it is indexed immediately; 0 for any growth.",
            0,
        ),
    ] = 50


class SyncSettings(Section, frozen=True):
    GROUP = Group.UPDATES

    watch: Annotated[
        bool, option("Watch folders for changes", "Index files when they change.", also="automatic, live, refresh")
    ] = True
    watch_debounce_ms: Annotated[
        int, option("Delay before indexing", "Milliseconds without another change before a file is indexed.", 0)
    ] = 1500
    on_session_start: Annotated[
        bool, option("Update at session start", "Update the index once when a session starts.", applies="immediately")
    ] = True
    on_search: Annotated[
        bool, option("Update after a search", "Update an outdated index after a search, and before an agent's search.")
    ] = True
    interval_minutes: Annotated[
        int,
        option("Regular updates", "Minutes between regular updates; 0 for none.", 0, also="automatic, schedule, timer"),
    ] = 0
    sessions: SessionDeltaSettings = SessionDeltaSettings()


MIN_CONTEXT = 500
"""Characters; less has no room for all sections."""


class SessionSettings(Section, frozen=True):
    GROUP = Group.SESSIONS

    folders: Annotated[
        tuple[str, ...],
        option(
            "Session folders",
            "Folders, or exported files, with sessions of AI agents. Only sessions listed here are indexed.",
            also="history, transcripts, chats",
        ),
    ] = ()
    machines: Annotated[
        tuple[str, ...],
        option(
            "Names of other machines",
            "Names for session folders that are synchronised from other machines, such as laptop=~/Sync/laptop.",
            also="computer, host, label, synchronised, Syncthing",
        ),
    ] = ()
    thinking: Annotated[bool, option("Index agents' thinking", "Index agents' thinking, not only their messages.")] = (
        False
    )
    tools: Annotated[
        bool, option("Index tool calls and results", "Index the calls and results of tools, not only messages.")
    ] = False
    prices: Annotated[
        str,
        option(
            "Price list",
            "TOML file with prices of models that override the built-in prices. If empty, only those are used.",
            also="cost, dollars, tokens",
        ),
    ] = ""
    context_max_chars: Annotated[
        int,
        option(
            "Length of a session for another agent",
            "Maximum number of characters of the text with which another agent continues a session.",
            MIN_CONTEXT,
            200_000,
            also="continue, handover, copy",
            applies="immediately",
        ),
    ] = 8000


class BatchSettings(Section, frozen=True):
    GROUP = Group.BATCH_JOBS

    enabled: Annotated[
        bool,
        option(
            "Batch jobs",
            "Embed many texts through the provider's batch jobs: cheaper, but they may take a day. A few texts are "
            "sent directly.",
            group=Group.EMBEDDING,
            also="discount",
        ),
    ] = False
    wait: Annotated[bool, option("Wait for batch jobs", "Wait for batch jobs; off leaves them to a later update.")] = (
        True
    )
    concurrency: Annotated[int, option("Parallel batch jobs", "Maximum number of simultaneous batch jobs.", 1, 16)] = 2
    poll_interval_ms: Annotated[
        int, option("Interval between checks of batch jobs", "Milliseconds between two checks of a batch job.", 10)
    ] = 2000
    timeout_minutes: Annotated[
        float, option("Batch job timeout", "Minutes to wait for a batch job before it is given up.", 0.001)
    ] = 60


class RemoteSettings(Section, frozen=True):
    GROUP = Group.SERVICES

    allow_http: Annotated[
        bool, option("Unencrypted embedding services", "Allow http without encryption, also to other machines.")
    ] = False
    base_url: Annotated[
        str,
        option(
            "Address of the embedding service",
            "Address of the provider's API. If empty, the usual one is used. For openai, any compatible server works.",
            group=Group.EMBEDDING,
            also="server, endpoint, URL, Ollama",
        ),
    ] = ""
    api_key_env: Annotated[
        str,
        option(
            "API key variable",
            "Environment variable that holds the API key. If empty, the provider's usual one is used.",
            also="password, token, secret",
        ),
    ] = ""
    headers: Annotated[
        dict[str, str], option("Extra HTTP headers", "More headers to send; keys and tokens do not belong here.")
    ] = msgspec.field(default_factory=dict)
    approved: Annotated[
        tuple[RemoteProvider, ...],
        option(
            "Approved services",
            "Providers that texts may be sent to when provider is auto; setting a service as provider or "
            "fallback also allows it.",
            group=Group.EMBEDDING,
        ),
    ] = ()
    batch: BatchSettings = BatchSettings()


class LocalSettings(Section, frozen=True):
    GROUP = Group.EMBEDDING

    model_path: Annotated[
        str,
        option("Model file", "GGUF file for gguf, or its name on the model hub such as hf:owner/repository/file.gguf."),
    ] = ""
    model_cache_dir: Annotated[
        str,
        option(
            "Folder for downloaded models",
            "Folder for models downloaded from the model hub. If empty, they are in your data folder.",
            group=Group.VECTORS,
        ),
    ] = ""


class CacheSettings(Section, frozen=True):
    GROUP = Group.VECTORS

    enabled: Annotated[
        bool,
        option("Keep vectors of removed text", "Keep vectors of texts that left the index, in case they come back."),
    ] = True
    max_entries: Annotated[
        int, option("Maximum cached vectors", "Maximum number of vectors; those of indexed texts are always kept.", 1)
    ] = 50_000


class Settings(Section, frozen=True):
    """All options of one workspace. `Settings()` has every default."""

    workspace: Annotated[
        str,
        option(
            "Folder to open at start",
            "Folder of notes to open if you don't choose one; the window stores the last opened folder here.",
            group=Group.GENERAL,
            also="startup, directory",
            applies="immediately",
        ),
    ] = ""
    backend: Annotated[
        Backend,
        option(
            "Search engine",
            "Search engine that stores and searches the index: Mnemoscope itself (builtin), the command qmd, "
            "or a LanceDB table (lancedb). When qmd or LanceDB fails, the built-in index answers.",
            group=Group.ENGINE,
            also="database, search engine",
        ),
    ] = "builtin"
    citations: Annotated[
        Citations,
        option(
            "Citations",
            "Whether agents see the location of a passage: always (on), never (off), or not in groups (auto).",
            group=Group.ANSWERS,
            applies="immediately",
        ),
    ] = "auto"
    max_injected_chars: Annotated[
        int | None,
        option(
            "Maximum length of an answer to agents",
            "Maximum length of the passages in one answer to an agent, in characters. If not set, qmd's limit, if any.",
            1,
            group=Group.ANSWERS,
            applies="immediately",
        ),
    ] = None
    provider: Annotated[
        Provider,
        option(
            "Provider",
            "Model for searching by meaning: the built-in model (embedded), a model file (gguf), a service by its "
            "name, the first of these that is available and agreed to (auto), or only words (none).",
            group=Group.EMBEDDING,
            also="embeddings, semantic, AI",
        ),
    ] = "embedded"
    model: Annotated[
        str, option("Model", "Name of the model. If empty, the provider's own is used.", group=Group.EMBEDDING)
    ] = ""
    dimensions: Annotated[
        int | None,
        option(
            "Vector dimensions",
            "Length of the vectors, for models that offer several. If not set, the model's own is used.",
            1,
            group=Group.EMBEDDING,
        ),
    ] = None
    fallback: Annotated[
        Fallback, option("Fallback", "Provider to use when the first one cannot start or fails.", group=Group.EMBEDDING)
    ] = "none"
    prices: Annotated[
        dict[str, float],
        option(
            "Embedding prices",
            'US dollars for a million tokens by "provider/model", where the built-in list prices are out of date.',
            group=Group.EMBEDDING,
        ),
    ] = msgspec.field(default_factory=dict)
    remote: RemoteSettings = RemoteSettings()
    extra_paths: Annotated[
        tuple[str, ...],
        option(
            "Extra folders and files",
            "More folders or files to index. Added to the global list.",
            group=Group.NOTES,
            also="directory, vault, add folder, second folder",
        ),
    ] = ()
    extensions: Annotated[
        tuple[str, ...],
        option(
            "File extensions",
            "Extensions of the files to index, such as .md or .txt.",
            group=Group.FILES,
            also="file types, suffix",
        ),
    ] = (".md", ".markdown", ".mdx", ".txt", ".org", ".rst", ".adoc")
    include: Annotated[
        tuple[str, ...],
        option(
            "Included files",
            "Patterns of files to index. If empty, all are indexed.",
            group=Group.FILES,
            also="filter, glob",
        ),
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        option("Excluded files", "Patterns of files to skip.", group=Group.FILES, also="ignore, skip, hide"),
    ] = ()
    max_file_bytes: Annotated[
        int, option("Maximum file size", "Largest file to index, in bytes.", 1, group=Group.FILES, also="size limit")
    ] = 10_000_000
    sessions: SessionSettings = SessionSettings()
    sources: Annotated[
        tuple[Source, ...],
        option(
            "Search in",
            "Sources to index and search; sessions are added once their folders are listed.",
            group=Group.SESSIONS,
        ),
    ] = ("memory",)
    store: StoreSettings = StoreSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    sync: SyncSettings = SyncSettings()
    query: QuerySettings = QuerySettings()
    cache: CacheSettings = CacheSettings()
    local: LocalSettings = LocalSettings()
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
        """Maximum number of characters of all passages in one answer to an agent; None for no limit."""
        if self.max_injected_chars is None and self.backend == "qmd":
            return self.qmd.limits.max_injected_chars
        return self.max_injected_chars
