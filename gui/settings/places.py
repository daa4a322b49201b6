"""On which page of the settings each option stands, in which group, and what it is called there.

An option that is not named here has its row all the same: on the page `general` if it is one of the window, else on
`advanced`, under a name made from its key.
"""

import functools
from dataclasses import dataclass
from typing import Literal

from engine import Option, all_options

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
    "general": "General",
    "appearance": "Appearance",
    "keyboard": "Keyboard",
    "sources": "Sources",
    "embedding": "Embedding",
    "stored": "Kept vectors",
    "engine": "Engine",
    "search": "Search",
    "sync": "Updates",
    "agents": "Agents",
    "privacy": "Privacy",
    "advanced": "Advanced",
}
"""In the order of the list, with their titles."""

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
"""Where the guide tells of each page."""

_NAMED: dict[SettingsPage, dict[str, dict[str, str]]] = {
    "general": {
        "": {
            "workspace": "Folder to open at the start",
            "window.editor": "Editor",
        },
        "While the window is closed": {
            "window.tray": "Icon in the tray",
            "window.close_to_tray": "Stay in the tray",
            "window.notify": "Tell when an index is ready",
        },
    },
    "appearance": {
        "": {
            "window.theme": "Theme",
            "window.font_scale": "Text size",
        },
    },
    "keyboard": {
        "": {
            "window.keys": "Own keys",
        },
    },
    "sources": {
        "Notes": {
            "extra_paths": "More folders and files",
        },
        "Which files": {
            "extensions": "Endings",
            "include": "Only these",
            "exclude": "Leave out",
            "max_file_bytes": "Largest file",
        },
        "Sessions of AI agents": {
            "sessions.folders": "Session stores",
            "sessions.thinking": "Index what agents thought",
            "sessions.tools": "Index calls and results of tools",
            "sources": "What is searched",
        },
    },
    "embedding": {
        "": {
            "provider": "Provider",
            "model": "Model",
            "dimensions": "Dimensions",
            "fallback": "Fallback",
            "prices": "Prices",
            "remote.base_url": "Address of the service",
            "remote.agreed": "Services that texts may be sent to",
            "remote.batch.enabled": "Batch jobs",
            "local.model_path": "Model file",
        },
    },
    "engine": {
        "": {
            "backend": "Engine",
            "qmd.command": "Command of qmd",
            "qmd.search_mode": "How qmd searches",
            "lancedb.uri": "Place of the table",
            "lancedb.table": "Name of the table",
            "lancedb.machine": "Name of this machine",
        },
    },
    "search": {
        "Results": {
            "query.max_results": "Number of results",
            "query.min_score": "Lowest score",
        },
        "Words and meaning": {
            "query.hybrid.enabled": "Search by words, too",
            "query.hybrid.vector_weight": "Share of meaning",
            "query.hybrid.text_weight": "Share of words",
            "query.hybrid.candidate_multiplier": "Candidates",
        },
        "Order": {
            "query.hybrid.mmr.enabled": "Put results that are alike apart",
            "query.hybrid.mmr.lambda": "Score against variety",
            "query.hybrid.temporal_decay.enabled": "Let results age",
            "query.hybrid.temporal_decay.half_life_days": "Half-life",
            "query.hybrid.temporal_decay.evergreen": "What never ages",
            "query.hybrid.temporal_decay.half_life_by_path": "Half-lives by pattern",
        },
        "Remembered answers": {
            "query.cache.enabled": "Remember answers",
            "query.cache.ttl_seconds": "How long",
            "query.cache.max_entries": "How many",
        },
    },
    "sync": {
        "When": {
            "sync.watch": "Watch the folders",
            "sync.watch_debounce_ms": "Quiet after a change",
            "sync.on_session_start": "At the start",
            "sync.on_search": "After a search",
            "sync.interval_minutes": "Regularly",
        },
        "Sessions that are under way": {
            "sync.sessions.delta_bytes": "Growth in bytes",
            "sync.sessions.delta_messages": "Growth in lines",
        },
    },
    "agents": {
        "What agents are told": {
            "citations": "Citations",
            "max_injected_chars": "Length of an answer",
        },
        "Facts": {
            "facts.agent_writes": "Agents may keep facts",
            "facts.auto_recall": "Tell agents of facts that fit",
            "facts.recall_results": "Facts at a time",
            "facts.recall_max_chars": "Length of all facts told",
            "facts.auto_capture": "Capture facts from messages",
            "facts.capture_max_chars": "Longest captured fact",
            "facts.capture_triggers": "More words to capture by",
        },
        "Notes of sessions": {
            "remember.messages": "Messages in a note",
            "remember.longest_message": "Longest message",
            "remember.tool": "Agents may write notes of sessions",
        },
    },
    "privacy": {
        "On this computer": {
            "window.keep_searches": "Keep what was searched for",
        },
        "What is sent to services": {
            "remote.allow_http": "Allow services without encryption",
            "remote.api_key_env": "Variable with the API key",
            "remote.headers": "More headers",
            "lancedb.allow_http": "Allow tables without encryption",
            "lancedb.storage_options": "What the table's storage needs",
        },
        "Names for notes of sessions": {
            "remember.slug.model": "Chat model",
            "remember.slug.base_url": "Address of the chat model",
            "remember.slug.api_key_env": "Variable with the chat model's key",
            "remember.slug.timeout_seconds": "Patience with the chat model",
        },
    },
    "advanced": {
        "Index": {
            "store.path": "Folder of the index",
            "chunking.tokens": "Length of a passage",
            "chunking.overlap": "Overlap of passages",
        },
        "Vectors": {
            "store.vector.enabled": "Search by meaning",
            "store.vector.engine": "What compares vectors",
            "store.vector.extension_path": "File of sqlite-vec",
            "cache.enabled": "Keep vectors of what has left the index",
            "cache.max_entries": "Vectors to keep",
            "local.model_cache_dir": "Folder of fetched models",
        },
        "Batch jobs": {
            "remote.batch.wait": "Wait for batch jobs",
            "remote.batch.concurrency": "Batch jobs at a time",
            "remote.batch.poll_interval_ms": "Time between two looks",
            "remote.batch.timeout_minutes": "Patience with a batch job",
        },
        "qmd": {
            "qmd.include_default_memory": "Let qmd search the notes",
            "qmd.paths": "More to search with qmd",
            "qmd.min_score": "Lowest score of qmd",
            "qmd.update_minutes": "Update qmd's index",
            "qmd.embed_minutes": "Time between two runs that embed",
            "qmd.command_timeout_seconds": "Patience with a command of qmd",
            "qmd.update_timeout_seconds": "Patience with an update of qmd",
            "qmd.embed_timeout_seconds": "Patience with a run that embeds",
            "qmd.models.embed": "Model that embeds",
            "qmd.models.generate": "Model that rewords",
            "qmd.models.rerank": "Model that ranks",
            "qmd.sessions.enabled": "Let qmd search sessions",
            "qmd.sessions.retention_days": "Age of sessions for qmd",
            "qmd.limits.max_results": "Results of qmd",
            "qmd.limits.max_snippet_chars": "Longest passage of qmd",
            "qmd.limits.max_injected_chars": "Length of an answer from qmd",
            "qmd.limits.timeout_ms": "Patience with a search of qmd",
            "qmd.scope.default": "Sessions without a rule",
            "qmd.scope.rules": "Who may search with qmd",
        },
        "LanceDB": {
            "lancedb.timeout_seconds": "Patience with the table",
        },
    },
}

FORMS: tuple[SettingsPage, ...] = ("embedding", "engine")
"""Pages with a form, which is tried out and saved as a whole."""
WITHOUT_ROWS: tuple[SettingsPage, ...] = (*FORMS, "keyboard")
"""Pages that show their options in another way than a row for each."""


@dataclass(frozen=True)
class Placed:
    """An option in its place."""

    option: Option
    page: SettingsPage
    group: str
    """Empty where the page needs no groups."""
    title: str

    @property
    def key(self) -> str:
        return self.option.key


@functools.cache
def placed_options() -> dict[str, Placed]:
    """Every option once, by its key, in the order in which pages show them."""
    options = {option.key: option for option in all_options()}
    placed = {
        key: Placed(options.pop(key), page, group, title)
        for page, groups in _NAMED.items()
        for group, titles in groups.items()
        for key, title in titles.items()
    }
    for key, option in options.items():
        page: SettingsPage = "general" if key.startswith("window.") else "advanced"
        placed[key] = Placed(option, page, "" if page == "general" else "More", title_of(key))
    return placed


def title_of(key: str) -> str:
    """A name for an option that has none: `window.close_to_tray` is "Close to tray"."""
    words = key.rpartition(".")[2].replace("_", " ")
    return words[:1].upper() + words[1:]


def options_on(page: SettingsPage) -> tuple[Placed, ...]:
    return tuple(placed for placed in placed_options().values() if placed.page == page)
