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
            "workspace": marked("Folder to open at the start"),
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
            "window.keys": marked("Own keys"),
        },
    },
    "sources": {
        marked("Notes"): {
            "extra_paths": marked("More folders and files"),
        },
        marked("Which files"): {
            "extensions": marked("Endings"),
            "include": marked("Only these"),
            "exclude": marked("Leave out"),
            "max_file_bytes": marked("Largest file"),
        },
        marked("Sessions of AI agents"): {
            "sessions.folders": marked("Session stores"),
            "sessions.thinking": marked("Index what agents thought"),
            "sessions.tools": marked("Index calls and results of tools"),
            "sources": marked("What is searched"),
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
            "remote.agreed": marked("Services that texts may be sent to"),
            "remote.batch.enabled": marked("Batch jobs"),
            "local.model_path": marked("Model file"),
        },
    },
    "engine": {
        "": {
            "backend": marked("Engine"),
            "qmd.command": marked("Command of qmd"),
            "qmd.search_mode": marked("How qmd searches"),
            "lancedb.uri": marked("Place of the table"),
            "lancedb.table": marked("Name of the table"),
            "lancedb.machine": marked("Name of this machine"),
        },
    },
    "search": {
        marked("Results"): {
            "query.max_results": marked("Number of results"),
            "query.min_score": marked("Lowest score"),
        },
        marked("Words and meaning"): {
            "query.hybrid.enabled": marked("Include keyword search"),
            "query.hybrid.vector_weight": marked("Share of meaning"),
            "query.hybrid.text_weight": marked("Share of words"),
            "query.hybrid.candidate_multiplier": marked("Candidates"),
        },
        marked("Order"): {
            "query.hybrid.mmr.enabled": marked("Put results that are alike apart"),
            "query.hybrid.mmr.lambda": marked("Score against variety"),
            "query.hybrid.temporal_decay.enabled": marked("Let results age"),
            "query.hybrid.temporal_decay.half_life_days": marked("Half-life"),
            "query.hybrid.temporal_decay.evergreen": marked("What never ages"),
            "query.hybrid.temporal_decay.half_life_by_path": marked("Half-lives by pattern"),
        },
        marked("Remembered answers"): {
            "query.cache.enabled": marked("Remember answers"),
            "query.cache.ttl_seconds": marked("How long"),
            "query.cache.max_entries": marked("How many"),
        },
    },
    "sync": {
        marked("When"): {
            "sync.watch": marked("Watch the folders"),
            "sync.watch_debounce_ms": marked("Quiet after a change"),
            "sync.on_session_start": marked("At the start"),
            "sync.on_search": marked("After a search"),
            "sync.interval_minutes": marked("Regularly"),
        },
        marked("Sessions that are under way"): {
            "sync.sessions.delta_bytes": marked("Growth in bytes"),
            "sync.sessions.delta_messages": marked("Growth in lines"),
        },
    },
    "agents": {
        marked("Facts for agents"): {
            "citations": marked("Citations"),
            "max_injected_chars": marked("Length of an answer"),
        },
        marked("Facts"): {
            "facts.agent_writes": marked("Agents may keep facts"),
            "facts.auto_recall": marked("Tell agents of facts that fit"),
            "facts.recall_results": marked("Facts at a time"),
            "facts.recall_max_chars": marked("Length of facts for agents"),
            "facts.auto_capture": marked("Capture facts from messages"),
            "facts.capture_max_chars": marked("Longest captured fact"),
            "facts.capture_triggers": marked("More words to capture by"),
        },
        marked("Notes of sessions"): {
            "remember.messages": marked("Messages in a note"),
            "remember.longest_message": marked("Longest message"),
            "remember.tool": marked("Agents may write notes of sessions"),
        },
    },
    "privacy": {
        marked("On this computer"): {
            "window.keep_searches": marked("Save search history"),
        },
        marked("What is sent to services"): {
            "remote.allow_http": marked("Allow services without encryption"),
            "remote.api_key_env": marked("Variable with the API key"),
            "remote.headers": marked("More headers"),
            "lancedb.allow_http": marked("Allow tables without encryption"),
            "lancedb.storage_options": marked("Storage options"),
        },
        marked("Names for notes of sessions"): {
            "remember.slug.model": marked("Chat model"),
            "remember.slug.base_url": marked("Address of the chat model"),
            "remember.slug.api_key_env": marked("Variable with the chat model's key"),
            "remember.slug.timeout_seconds": marked("Patience with the chat model"),
        },
    },
    "advanced": {
        marked("Index"): {
            "store.path": marked("Folder of the index"),
            "chunking.tokens": marked("Length of a passage"),
            "chunking.overlap": marked("Overlap of passages"),
        },
        marked("Vectors"): {
            "store.vector.enabled": marked("Search by meaning"),
            "store.vector.engine": marked("What compares vectors"),
            "store.vector.extension_path": marked("File of sqlite-vec"),
            "cache.enabled": marked("Keep vectors of removed text"),
            "cache.max_entries": marked("Vectors to keep"),
            "local.model_cache_dir": marked("Folder of fetched models"),
        },
        marked("Batch jobs"): {
            "remote.batch.wait": marked("Wait for batch jobs"),
            "remote.batch.concurrency": marked("Batch jobs at a time"),
            "remote.batch.poll_interval_ms": marked("Time between two looks"),
            "remote.batch.timeout_minutes": marked("Patience with a batch job"),
        },
        "qmd": {
            "qmd.include_default_memory": marked("Let qmd search the notes"),
            "qmd.paths": marked("More to search with qmd"),
            "qmd.min_score": marked("Lowest score of qmd"),
            "qmd.update_minutes": marked("Update qmd's index"),
            "qmd.embed_minutes": marked("Time between two runs that embed"),
            "qmd.command_timeout_seconds": marked("Patience with a command of qmd"),
            "qmd.update_timeout_seconds": marked("Patience with an update of qmd"),
            "qmd.embed_timeout_seconds": marked("Patience with a run that embeds"),
            "qmd.models.embed": marked("Model that embeds"),
            "qmd.models.generate": marked("Model that rewords"),
            "qmd.models.rerank": marked("Model that ranks"),
            "qmd.sessions.enabled": marked("Let qmd search sessions"),
            "qmd.sessions.retention_days": marked("Age of sessions for qmd"),
            "qmd.limits.max_results": marked("Results of qmd"),
            "qmd.limits.max_snippet_chars": marked("Longest passage of qmd"),
            "qmd.limits.max_injected_chars": marked("Length of an answer from qmd"),
            "qmd.limits.timeout_ms": marked("Patience with a search of qmd"),
            "qmd.scope.default": marked("Sessions without a rule"),
            "qmd.scope.rules": marked("Who may search with qmd"),
        },
        "LanceDB": {
            "lancedb.timeout_seconds": marked("Patience with the table"),
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
