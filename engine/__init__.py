"""Public API of the engine: everything that a front end may import.

In: a workspace folder and its settings (`open_memory`).
Out: a `MemorySearchManager` and its records. Names load on first use: `import engine` takes less than 100 ms.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.agent.fact_capture import category_of
    from engine.agent.memory_access import AgentAccess
    from engine.agent.memory_tools import memory_context, memory_get, memory_prompt_section, memory_search
    from engine.agent.note_file import locate_untouched
    from engine.agent.session_export import export_session, session_context
    from engine.agent.session_note import draft_note, save_note, suggest_slug, to_slug
    from engine.agent.tool_definitions import agent_tools
    from engine.agent.tool_interface import AgentTool
    from engine.backends.opening import open_memory, try_backend
    from engine.backends.qmd.status import BUILT_IN_CAN
    from engine.base.bounded_json import decode_json
    from engine.base.cancellation import CancelToken, run_blocking_calls_on
    from engine.base.errors import *  # noqa: F403
    from engine.base.formatting import (
        all_of,
        any_of,
        floored,
        folder_name,
        in_quotes,
        printable,
        program_version,
        without_escapes,
    )
    from engine.base.language import (
        LANGUAGES,
        TRIAL_LANGUAGES,
        current_language,
        marked,
        number,
        set_language,
        system_language,
        tr,
        tr_count,
    )
    from engine.base.private_files import (
        cache_folder,
        create_private,
        exporting,
        make_folder,
        read_file,
        replace_file,
        temporary_prefix,
    )
    from engine.base.skip_reasons import files_covered, tr_reason
    from engine.cli.arguments import VERBS
    from engine.corpus.chunk_boundaries import markdown_outline
    from engine.corpus.discovery import READABLE_EXTENSIONS
    from engine.corpus.documents import has_pages, is_document, page_of
    from engine.corpus.globs import literal_glob
    from engine.corpus.json_notes import is_json_note
    from engine.corpus.line_reader import NumberedText
    from engine.corpus.link_parsing import without_links, written_links
    from engine.corpus.markdown_line_types import CODE_SPAN, HEADING_ATTRIBUTES
    from engine.corpus.note_metadata import HASHTAG, markdown_of, note_title, structure_of
    from engine.corpus.source_detection import find_sources, measure_sessions, sessions_workspace, store_names
    from engine.corpus.transcripts.json_values import IMAGE_LINE
    from engine.corpus.transcripts.registry import agent_label, agent_labels, growing_part, usual_folders
    from engine.corpus.transcripts.session_stores import is_in_store, may_name_session
    from engine.corpus.transcripts.tool_uses import ToolText, readable_tool_text, subject_of
    from engine.corpus.transcripts.transcript_files import last_change
    from engine.embedding.api_keys import forget_key, key_state, store_key
    from engine.embedding.consent import remote_fallback
    from engine.embedding.gguf_file import missing_model
    from engine.embedding.model_catalog import metadata_of, models_of
    from engine.embedding.model_download import fetch_model
    from engine.embedding.provider_selection import probe_provider
    from engine.indexing.session_workspace_assignment import preview_workspace
    from engine.insight.session_stats import prices_or_default, session_stats
    from engine.logs import configure_logging, redact
    from engine.memory.facts import Facts
    from engine.memory.index_inspection import IndexInsight
    from engine.memory.memory_interface import MemorySearchManager
    from engine.memory.search_requests import SearchOptions
    from engine.memory.settings_impact import consequences_of, options_of_index
    from engine.providers import ModelMetadata
    from engine.providers.openai import PRESETS, preset_of
    from engine.providers.registry import PROVIDERS, provider_named, remote_names
    from engine.records import *  # noqa: F403
    from engine.redaction.secret_masking import beginning_of, holds_secret
    from engine.search.result_export import outcome_values, result_quote, results_markdown
    from engine.search.result_reasons import reasons_of
    from engine.search.snippets import EXCERPT_LENGTH, richest_match
    from engine.settings import Settings, load_settings, settings_path
    from engine.settings.catalog import Option, all_options, option_problem, value_at
    from engine.settings.saving import (
        SavedIn,
        SettingChange,
        SettingLayers,
        add_extra_path,
        change_settings,
        read_layers,
        save_setting,
        save_settings,
        set_settings_aside,
    )
    from engine.settings.settings_section import Group, OptionPage, with_query_settings
    from engine.store.index_paths import index_files
    from engine.store.saved_searches import SavedSearches, contains_secret
    from engine.store.workspace_record import adopt_renamed
    from engine.text.highlight import highlight_ranges
    from engine.text.languages import detect_language, language_of_note
    from engine.text.operators import QUERY_HELP
    from engine.text.query_parser import parse_query
    from engine.text.writing_systems import has_one_character_word, shortened
    from engine.workspaces.known_workspaces import forget_workspace, known_workspaces, workspace_state
    from engine.workspaces.memory_pool import MemoryPool
    from engine.workspaces.multi_workspace_memory import MultiWorkspaceMemory

_NAMES = {
    "agent.fact_capture": "category_of",
    "agent.memory_access": "AgentAccess",
    "agent.memory_tools": "memory_context memory_get memory_prompt_section memory_search",
    "agent.note_file": "locate_untouched",
    "agent.session_export": "export_session session_context",
    "agent.session_note": "draft_note save_note suggest_slug to_slug",
    "agent.tool_definitions": "agent_tools",
    "agent.tool_interface": "AgentTool",
    "backends.opening": "open_memory try_backend",
    "backends.qmd.status": "BUILT_IN_CAN",
    "base.bounded_json": "decode_json",
    "base.cancellation": "CancelToken run_blocking_calls_on",
    "base.formatting": "all_of any_of floored folder_name in_quotes printable program_version without_escapes",
    "base.language": "LANGUAGES TRIAL_LANGUAGES current_language marked number set_language system_language tr "
    "tr_count",
    "base.private_files": "cache_folder create_private exporting make_folder read_file replace_file temporary_prefix",
    "base.skip_reasons": "files_covered tr_reason",
    "cli.arguments": "VERBS",
    "corpus.chunk_boundaries": "markdown_outline",
    "corpus.discovery": "READABLE_EXTENSIONS",
    "corpus.documents": "has_pages is_document page_of",
    "corpus.globs": "literal_glob",
    "corpus.json_notes": "is_json_note",
    "corpus.line_reader": "NumberedText",
    "corpus.link_parsing": "without_links written_links",
    "corpus.markdown_line_types": "CODE_SPAN HEADING_ATTRIBUTES",
    "corpus.note_metadata": "HASHTAG markdown_of note_title structure_of",
    "corpus.source_detection": "find_sources measure_sessions sessions_workspace store_names",
    "corpus.transcripts.json_values": "IMAGE_LINE",
    "corpus.transcripts.registry": "agent_label agent_labels growing_part usual_folders",
    "corpus.transcripts.session_stores": "is_in_store may_name_session",
    "corpus.transcripts.tool_uses": "ToolText readable_tool_text subject_of",
    "corpus.transcripts.transcript_files": "last_change",
    "embedding.api_keys": "forget_key key_state store_key",
    "embedding.consent": "remote_fallback",
    "embedding.gguf_file": "missing_model",
    "embedding.model_catalog": "metadata_of models_of",
    "embedding.model_download": "fetch_model",
    "embedding.provider_selection": "probe_provider",
    "indexing.session_workspace_assignment": "preview_workspace",
    "insight.session_stats": "prices_or_default session_stats",
    "logs": "configure_logging redact",
    "memory.facts": "Facts",
    "memory.index_inspection": "IndexInsight",
    "memory.memory_interface": "MemorySearchManager",
    "memory.search_requests": "SearchOptions",
    "memory.settings_impact": "consequences_of options_of_index",
    "providers": "ModelMetadata",
    "providers.openai": "PRESETS preset_of",
    "providers.registry": "PROVIDERS provider_named remote_names",
    "redaction.secret_masking": "beginning_of holds_secret",
    "search.result_export": "outcome_values result_quote results_markdown",
    "search.result_reasons": "reasons_of",
    "search.snippets": "EXCERPT_LENGTH richest_match",
    "settings": "Settings load_settings settings_path",
    "settings.catalog": "Option all_options option_problem value_at",
    "settings.saving": "SavedIn SettingChange SettingLayers add_extra_path change_settings "
    "read_layers save_setting save_settings set_settings_aside",
    "settings.settings_section": "Group OptionPage with_query_settings",
    "store.index_paths": "index_files",
    "store.saved_searches": "SavedSearches contains_secret",
    "store.workspace_record": "adopt_renamed",
    "text.highlight": "highlight_ranges",
    "text.languages": "detect_language language_of_note",
    "text.operators": "QUERY_HELP",
    "text.query_parser": "parse_query",
    "text.writing_systems": "has_one_character_word shortened",
    "workspaces.known_workspaces": "forget_workspace known_workspaces workspace_state",
    "workspaces.memory_pool": "MemoryPool",
    "workspaces.multi_workspace_memory": "MultiWorkspaceMemory",
}
"""The public names by module, as above."""
_HOME = {name: f"engine.{module}" for module, names in _NAMES.items() for name in names.split()}
_SHARED = ("engine.base.errors", "engine.records")

if not TYPE_CHECKING:  # else mypy would accept any name

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            return getattr(importlib.import_module(_HOME[name]), name)
        if not name.startswith("_"):
            for module in map(importlib.import_module, _SHARED):
                found = getattr(module, name, None)
                if found is not None and not isinstance(found, ModuleType):
                    return found
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
