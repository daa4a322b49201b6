"""The page, group and label of each option in the settings.

An option that isn't listed here still has a row: on the page `general` for a window option, else on `advanced`, with a
name made from its key.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from PySide6.QtGui import QAction

from engine import Option, all_options, marked, tr
from gui.commands.commands import Commands

SettingsPage = Literal[
    "general",
    "appearance",
    "keyboard",
    "sources",
    "embedding",
    "stored",
    "engine",
    "search",
    "sync",
    "agents",
    "privacy",
    "advanced",
]

PAGES: dict[SettingsPage, str] = {
    "general": marked("General"),
    "appearance": marked("Appearance"),
    "keyboard": marked("Keyboard"),
    "sources": marked("Sources"),
    "embedding": marked("Embedding"),
    "stored": marked("Cached embeddings"),
    "engine": marked("Engine"),
    "search": marked("Search"),
    "sync": marked("Updates"),
    "agents": marked("Agents"),
    "privacy": marked("Privacy"),
    "advanced": marked("Advanced"),
}
"""In the order of the list, with their titles in English."""

GUIDE: dict[SettingsPage, str] = {
    "general": "first-steps",
    "appearance": "keyboard",
    "keyboard": "keyboard",
    "sources": "not-found",
    "embedding": "engines",
    "stored": "engines",
    "engine": "engines",
    "search": "searching",
    "sync": "index-view",
    "agents": "agents",
    "privacy": "privacy",
    "advanced": "trouble",
}
"""The guide page for each page."""

_NAMED: dict[SettingsPage, dict[str, dict[str, str]]] = {
    "general": {
        "": {
            "workspace": marked("Folder to open at start"),
            "window.editor": marked("Editor"),
        },
        marked("While the window is closed"): {
            "window.tray": marked("Icon in the tray"),
            "window.close_to_tray": marked("Stay in the tray"),
            "window.notify": marked("Notify when an update finishes"),
        },
    },
    "appearance": {
        "": {
            "window.theme": marked("Theme"),
            "window.font_scale": marked("Text size"),
            "window.language": marked("Language"),
        },
    },
    "keyboard": {
        "": {
            "window.keys": marked("Custom shortcuts"),
        },
    },
    "sources": {
        marked("Notes"): {
            "extra_paths": marked("Extra folders and files"),
        },
        marked("Which files"): {
            "extensions": marked("File extensions"),
            "include": marked("Include only"),
            "exclude": marked("Exclude"),
            "max_file_bytes": marked("Maximum file size"),
        },
        marked("Sessions of AI agents"): {
            "sessions.folders": marked("Session folders"),
            "sessions.thinking": marked("Index agents' thinking"),
            "sessions.tools": marked("Index tool calls and results"),
            "sources": marked("Search in"),
        },
    },
    "embedding": {
        "": {
            "provider": marked("Provider"),
            "model": marked("Model"),
            "dimensions": marked("Dimensions"),
            "fallback": marked("Fallback"),
            "prices": marked("Prices"),
            "remote.base_url": marked("Address of the service"),
            "remote.agreed": marked("Approved services"),
            "remote.batch.enabled": marked("Batch jobs"),
            "local.model_path": marked("Model file"),
        },
    },
    "engine": {
        "": {
            "backend": marked("Engine"),
            "qmd.command": marked("qmd command"),
            "qmd.search_mode": marked("qmd search mode"),
            "lancedb.uri": marked("Table location"),
            "lancedb.table": marked("Table name"),
            "lancedb.machine": marked("Machine name"),
        },
    },
    "search": {
        marked("Results"): {
            "query.max_results": marked("Number of results"),
            "query.min_score": marked("Minimum score"),
        },
        marked("Words and meaning"): {
            "query.hybrid.enabled": marked("Include keyword search"),
            "query.hybrid.vector_weight": marked("Weight of meaning"),
            "query.hybrid.text_weight": marked("Weight of keywords"),
            "query.hybrid.candidate_multiplier": marked("Candidates per result"),
        },
        marked("Order"): {
            "query.hybrid.mmr.enabled": marked("More variety"),
            "query.hybrid.mmr.lambda": marked("Balance of score and variety"),
            "query.hybrid.temporal_decay.enabled": marked("Prefer newer results"),
            "query.hybrid.temporal_decay.half_life_days": marked("Half-life"),
            "query.hybrid.temporal_decay.evergreen": marked("Files that never age"),
            "query.hybrid.temporal_decay.half_life_by_path": marked("Half-life by path"),
        },
        marked("Result cache"): {
            "query.cache.enabled": marked("Cache results"),
            "query.cache.ttl_seconds": marked("Maximum age"),
            "query.cache.max_entries": marked("Maximum number"),
        },
    },
    "sync": {
        marked("When"): {
            "sync.watch": marked("Watch the folders"),
            "sync.watch_debounce_ms": marked("Delay after a change"),
            "sync.on_session_start": marked("At the start"),
            "sync.on_search": marked("After a search"),
            "sync.interval_minutes": marked("At intervals"),
        },
        marked("Running sessions"): {
            "sync.sessions.delta_bytes": marked("Growth in bytes"),
            "sync.sessions.delta_messages": marked("Growth in lines"),
        },
    },
    "agents": {
        marked("Facts for agents"): {
            "citations": marked("Citations"),
            "max_injected_chars": marked("Maximum answer length"),
        },
        marked("Facts"): {
            "facts.agent_writes": marked("Agents may save facts"),
            "facts.auto_recall": marked("Send matching facts to agents"),
            "facts.recall_results": marked("Facts per message"),
            "facts.recall_max_chars": marked("Maximum length of sent facts"),
            "facts.auto_capture": marked("Capture facts from messages"),
            "facts.capture_max_chars": marked("Maximum captured fact length"),
            "facts.capture_triggers": marked("Extra trigger words"),
        },
        marked("Session notes"): {
            "remember.messages": marked("Messages in a note"),
            "remember.longest_message": marked("Maximum message length"),
            "remember.tool": marked("Agents may write session notes"),
        },
    },
    "privacy": {
        marked("On this computer"): {
            "window.keep_searches": marked("Save search history"),
        },
        marked("What is sent to services"): {
            "remote.allow_http": marked("Allow unencrypted services"),
            "remote.api_key_env": marked("API key variable"),
            "remote.headers": marked("Extra headers"),
            "lancedb.allow_http": marked("Allow unencrypted tables"),
            "lancedb.storage_options": marked("Storage options"),
        },
        marked("Names of session notes"): {
            "remember.slug.model": marked("Chat model"),
            "remember.slug.base_url": marked("Address of the chat model"),
            "remember.slug.api_key_env": marked("Chat model key variable"),
            "remember.slug.timeout_seconds": marked("Chat model timeout"),
        },
    },
    "advanced": {
        marked("Index"): {
            "store.path": marked("Index folder"),
            "chunking.tokens": marked("Passage length"),
            "chunking.overlap": marked("Passage overlap"),
        },
        marked("Vectors"): {
            "store.vector.enabled": marked("Search by meaning"),
            "store.vector.engine": marked("Vector search method"),
            "store.vector.extension_path": marked("sqlite-vec file"),
            "cache.enabled": marked("Keep vectors of removed text"),
            "cache.max_entries": marked("Maximum cached vectors"),
            "local.model_cache_dir": marked("Folder for downloaded models"),
        },
        marked("Batch jobs"): {
            "remote.batch.wait": marked("Wait for batch jobs"),
            "remote.batch.concurrency": marked("Parallel batch jobs"),
            "remote.batch.poll_interval_ms": marked("Polling interval"),
            "remote.batch.timeout_minutes": marked("Batch job timeout"),
        },
        "qmd": {
            "qmd.include_default_memory": marked("Let qmd search the notes"),
            "qmd.paths": marked("Extra folders for qmd"),
            "qmd.min_score": marked("Minimum qmd score"),
            "qmd.update_minutes": marked("qmd update interval"),
            "qmd.embed_minutes": marked("qmd embedding interval"),
            "qmd.command_timeout_seconds": marked("qmd command timeout"),
            "qmd.update_timeout_seconds": marked("qmd update timeout"),
            "qmd.embed_timeout_seconds": marked("qmd embedding timeout"),
            "qmd.models.embed": marked("qmd embedding model"),
            "qmd.models.generate": marked("qmd query expansion model"),
            "qmd.models.rerank": marked("qmd reranking model"),
            "qmd.sessions.enabled": marked("Let qmd search sessions"),
            "qmd.sessions.retention_days": marked("Maximum session age for qmd"),
            "qmd.limits.max_results": marked("Maximum qmd results"),
            "qmd.limits.max_snippet_chars": marked("Maximum qmd passage length"),
            "qmd.limits.max_injected_chars": marked("Maximum qmd answer length"),
            "qmd.limits.timeout_ms": marked("qmd search timeout"),
            "qmd.scope.default": marked("Sessions without a rule"),
            "qmd.scope.rules": marked("qmd access rules"),
        },
        "LanceDB": {
            "lancedb.timeout_seconds": marked("Table timeout"),
        },
    },
}

FORMS: tuple[SettingsPage, ...] = ("embedding", "engine")
"""Pages with a form, which is tried out and saved as a whole."""
WITHOUT_ROWS: tuple[SettingsPage, ...] = (*FORMS, "keyboard")
"""Pages that show their options in another way than a row for each."""


@dataclass(frozen=True)
class OptionPlacement:
    """An option in its place."""

    option: Option
    page: SettingsPage
    group: str
    """Empty where the page needs no groups."""
    name: str
    """In English, like the group's; `title` is translated."""

    @property
    def key(self) -> str:
        return self.option.key

    @property
    def title(self) -> str:
        return tr(self.name)

    @property
    def help(self) -> str:
        return tr(self.option.help)


@functools.cache
def placed_options() -> dict[str, OptionPlacement]:
    """Every option once, by its key, in the order in which pages show them."""
    options = {option.key: option for option in all_options()}
    placed = {
        key: OptionPlacement(options.pop(key), page, group, name)
        for page, groups in _NAMED.items()
        for group, names in groups.items()
        for key, name in names.items()
    }
    for key, option in options.items():
        page: SettingsPage = "general" if key.startswith("window.") else "advanced"
        placed[key] = OptionPlacement(option, page, "" if page == "general" else marked("More"), name_of(key))
    return placed


def name_of(key: str) -> str:
    """A name for an option that has none: `window.close_to_tray` is "Close to tray"."""
    words = key.rpartition(".")[2].replace("_", " ")
    return words[:1].upper() + words[1:]


def options_on(page: SettingsPage) -> tuple[OptionPlacement, ...]:
    return tuple(placed for placed in placed_options().values() if placed.page == page)


# --- A command for each page of the settings: the palette opens it directly, and a page can have its own keys.

_WORDS: dict[SettingsPage, str] = {
    "general": marked("Settings: General"),
    "appearance": marked("Settings: Appearance"),
    "keyboard": marked("Settings: Keyboard"),
    "sources": marked("Settings: Sources"),
    "embedding": marked("Settings: Embedding"),
    "stored": marked("Settings: Cached embeddings"),
    "engine": marked("Settings: Engine"),
    "search": marked("Settings: Search"),
    "sync": marked("Settings: Updates"),
    "agents": marked("Settings: Agents"),
    "privacy": marked("Settings: Privacy"),
    "advanced": marked("Settings: Advanced"),
}


def add_page_commands(commands: Commands, show_page: Callable[[SettingsPage], None]) -> tuple[QAction, ...]:
    """`settings.page.privacy` and so on, in no menu."""
    return tuple(
        commands.add_hidden(f"settings.page.{page}", english, partial(show_page, page))
        for page, english in _WORDS.items()
    )
