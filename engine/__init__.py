"""Public API of the engine: everything that a front end may import.

In: a workspace folder and its settings (`open_memory`).
Out: a `MemorySearchManager` and its records. Names load on first use: `import engine` takes less than 100 ms.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.agent.fact_capture import category_of as category_of
    from engine.agent.memory_access import AgentAccess as AgentAccess
    from engine.agent.memory_tools import memory_context as memory_context
    from engine.agent.memory_tools import memory_get as memory_get
    from engine.agent.memory_tools import memory_prompt_section as memory_prompt_section
    from engine.agent.memory_tools import memory_search as memory_search
    from engine.agent.note_file import locate_untouched as locate_untouched
    from engine.agent.session_export import export_session as export_session
    from engine.agent.session_export import session_context as session_context
    from engine.agent.session_note import draft_note as draft_note
    from engine.agent.session_note import save_note as save_note
    from engine.agent.session_note import suggest_slug as suggest_slug
    from engine.agent.session_note import to_slug as to_slug
    from engine.agent.tool_definitions import agent_tools as agent_tools
    from engine.agent.tool_interface import AgentTool as AgentTool
    from engine.backends.opening import open_memory as open_memory
    from engine.backends.opening import try_backend as try_backend
    from engine.backends.qmd.status import BUILT_IN_CAN as BUILT_IN_CAN
    from engine.base.bounded_json import decode_json as decode_json
    from engine.base.cancellation import CancelToken as CancelToken
    from engine.base.cancellation import run_blocking_calls_on as run_blocking_calls_on
    from engine.base.errors import *  # noqa: F403
    from engine.base.formatting import all_of as all_of
    from engine.base.formatting import any_of as any_of
    from engine.base.formatting import floored as floored
    from engine.base.formatting import folder_name as folder_name
    from engine.base.formatting import in_quotes as in_quotes
    from engine.base.formatting import printable as printable
    from engine.base.formatting import program_version as program_version
    from engine.base.formatting import without_escapes as without_escapes
    from engine.base.language import LANGUAGES as LANGUAGES
    from engine.base.language import TRIAL_LANGUAGES as TRIAL_LANGUAGES
    from engine.base.language import current_language as current_language
    from engine.base.language import marked as marked
    from engine.base.language import number as number
    from engine.base.language import set_language as set_language
    from engine.base.language import system_language as system_language
    from engine.base.language import tr as tr
    from engine.base.language import tr_count as tr_count
    from engine.base.private_files import cache_folder as cache_folder
    from engine.base.private_files import create_private as create_private
    from engine.base.private_files import exporting as exporting
    from engine.base.private_files import make_folder as make_folder
    from engine.base.private_files import read_file as read_file
    from engine.base.private_files import replace_file as replace_file
    from engine.base.private_files import temporary_prefix as temporary_prefix
    from engine.base.skip_reasons import files_covered as files_covered
    from engine.base.skip_reasons import tr_reason as tr_reason
    from engine.cli.arguments import VERBS as VERBS
    from engine.corpus.chunking import markdown_outline as markdown_outline
    from engine.corpus.discovery import READABLE_EXTENSIONS as READABLE_EXTENSIONS
    from engine.corpus.documents import has_pages as has_pages
    from engine.corpus.documents import is_document as is_document
    from engine.corpus.documents import page_of as page_of
    from engine.corpus.globs import literal_glob as literal_glob
    from engine.corpus.json_notes import is_json_note as is_json_note
    from engine.corpus.line_reader import NumberedText as NumberedText
    from engine.corpus.link_parsing import without_links as without_links
    from engine.corpus.link_parsing import written_links as written_links
    from engine.corpus.markdown_line_types import CODE_SPAN as CODE_SPAN
    from engine.corpus.markdown_line_types import HEADING_ATTRIBUTES as HEADING_ATTRIBUTES
    from engine.corpus.note_metadata import HASHTAG as HASHTAG
    from engine.corpus.note_metadata import markdown_of as markdown_of
    from engine.corpus.note_metadata import note_title as note_title
    from engine.corpus.note_metadata import structure_of as structure_of
    from engine.corpus.source_detection import find_sources as find_sources
    from engine.corpus.source_detection import measure_sessions as measure_sessions
    from engine.corpus.source_detection import sessions_workspace as sessions_workspace
    from engine.corpus.transcripts.registry import agent_label as agent_label
    from engine.corpus.transcripts.registry import agent_labels as agent_labels
    from engine.corpus.transcripts.registry import growing_part as growing_part
    from engine.corpus.transcripts.registry import usual_folders as usual_folders
    from engine.corpus.transcripts.session_stores import may_name_session as may_name_session
    from engine.corpus.transcripts.tool_uses import ToolText as ToolText
    from engine.corpus.transcripts.tool_uses import readable_tool_text as readable_tool_text
    from engine.corpus.transcripts.tool_uses import subject_of as subject_of
    from engine.corpus.transcripts.transcript_files import last_change as last_change
    from engine.embedding.api_keys import forget_key as forget_key
    from engine.embedding.api_keys import key_state as key_state
    from engine.embedding.api_keys import store_key as store_key
    from engine.embedding.consent import remote_fallback as remote_fallback
    from engine.embedding.gguf_file import missing_model as missing_model
    from engine.embedding.model_catalog import facts_of as facts_of
    from engine.embedding.model_catalog import models_of as models_of
    from engine.embedding.model_download import fetch_model as fetch_model
    from engine.embedding.provider_selection import probe_provider as probe_provider
    from engine.indexing.session_workspace_assignment import preview_workspace as preview_workspace
    from engine.logs import configure_logging as configure_logging
    from engine.logs import redact as redact
    from engine.memory.facts import Facts as Facts
    from engine.memory.index_inspection import IndexInsight as IndexInsight
    from engine.memory.memory_interface import MemorySearchManager as MemorySearchManager
    from engine.memory.search_requests import SearchOptions as SearchOptions
    from engine.memory.settings_impact import consequences_of as consequences_of
    from engine.memory.settings_impact import options_of_index as options_of_index
    from engine.providers import ModelFacts as ModelFacts
    from engine.providers.openai import PRESETS as PRESETS
    from engine.providers.openai import preset_of as preset_of
    from engine.providers.registry import PROVIDERS as PROVIDERS
    from engine.providers.registry import provider_named as provider_named
    from engine.providers.registry import remote_names as remote_names
    from engine.records import *  # noqa: F403
    from engine.records.sync import ProgressCallback as ProgressCallback
    from engine.records.workspaces import name_in as name_in
    from engine.records.workspaces import split_name as split_name
    from engine.redaction.secret_masking import beginning_of as beginning_of
    from engine.redaction.secret_masking import holds_secret as holds_secret
    from engine.search.result_export import outcome_values as outcome_values
    from engine.search.result_export import result_quote as result_quote
    from engine.search.result_export import results_markdown as results_markdown
    from engine.search.result_reasons import reasons_of as reasons_of
    from engine.search.snippets import EXCERPT_LENGTH as EXCERPT_LENGTH
    from engine.search.snippets import richest_match as richest_match
    from engine.settings import Settings as Settings
    from engine.settings import load_settings as load_settings
    from engine.settings import settings_path as settings_path
    from engine.settings.catalog import Option as Option
    from engine.settings.catalog import all_options as all_options
    from engine.settings.catalog import option_problem as option_problem
    from engine.settings.catalog import value_at as value_at
    from engine.settings.saving import SavedIn as SavedIn
    from engine.settings.saving import SettingChange as SettingChange
    from engine.settings.saving import SettingLayers as SettingLayers
    from engine.settings.saving import add_extra_path as add_extra_path
    from engine.settings.saving import change_settings as change_settings
    from engine.settings.saving import read_layers as read_layers
    from engine.settings.saving import save_setting as save_setting
    from engine.settings.saving import save_settings as save_settings
    from engine.settings.saving import set_settings_aside as set_settings_aside
    from engine.settings.settings_section import Group as Group
    from engine.settings.settings_section import OptionPage as OptionPage
    from engine.settings.settings_section import with_query_settings as with_query_settings
    from engine.store.index_paths import index_files as index_files
    from engine.store.saved_searches import SavedSearches as SavedSearches
    from engine.store.saved_searches import query_holds_secret as query_holds_secret
    from engine.store.workspace_note import adopt_renamed as adopt_renamed
    from engine.text.highlight import highlight_ranges as highlight_ranges
    from engine.text.languages import detect_language as detect_language
    from engine.text.languages import language_of_note as language_of_note
    from engine.text.operators import QUERY_HELP as QUERY_HELP
    from engine.text.query_parser import parse_query as parse_query
    from engine.text.writing_systems import has_one_character_word as has_one_character_word
    from engine.text.writing_systems import shortened as shortened
    from engine.workspaces.known_workspaces import forget_workspace as forget_workspace
    from engine.workspaces.known_workspaces import known_workspaces as known_workspaces
    from engine.workspaces.known_workspaces import workspace_state as workspace_state
    from engine.workspaces.memory_pool import MemoryPool as MemoryPool
    from engine.workspaces.multi_workspace_memory import MultiWorkspaceMemory as MultiWorkspaceMemory

_HOME = {
    "locate_untouched": "engine.agent.note_file",
    "session_context": "engine.agent.session_export",
    "export_session": "engine.agent.session_export",
    "draft_note": "engine.agent.session_note",
    "save_note": "engine.agent.session_note",
    "suggest_slug": "engine.agent.session_note",
    "to_slug": "engine.agent.session_note",
    "AgentAccess": "engine.agent.memory_access",
    "category_of": "engine.agent.fact_capture",
    "AgentTool": "engine.agent.tool_interface",
    "agent_tools": "engine.agent.tool_definitions",
    "memory_context": "engine.agent.memory_tools",
    "memory_get": "engine.agent.memory_tools",
    "memory_prompt_section": "engine.agent.memory_tools",
    "memory_search": "engine.agent.memory_tools",
    "adopt_renamed": "engine.store.workspace_note",
    "open_memory": "engine.backends.opening",
    "MemorySearchManager": "engine.memory.memory_interface",
    "ProgressCallback": "engine.memory.memory_interface",
    "SearchOptions": "engine.memory.memory_interface",
    "consequences_of": "engine.memory.settings_impact",
    "options_of_index": "engine.memory.settings_impact",
    "Facts": "engine.memory.facts",
    "IndexInsight": "engine.memory.index_inspection",
    "BUILT_IN_CAN": "engine.backends.qmd.status",
    "MemoryPool": "engine.workspaces.memory_pool",
    "MultiWorkspaceMemory": "engine.workspaces.multi_workspace_memory",
    "forget_workspace": "engine.workspaces.known_workspaces",
    "known_workspaces": "engine.workspaces.known_workspaces",
    "preview_workspace": "engine.indexing.session_workspace_assignment",
    "workspace_state": "engine.workspaces.known_workspaces",
    "name_in": "engine.records.workspaces",
    "split_name": "engine.records.workspaces",
    "try_backend": "engine.backends.opening",
    "VERBS": "engine.cli.arguments",
    "CancelToken": "engine.base.cancellation",
    "markdown_outline": "engine.corpus.chunking",
    "note_title": "engine.corpus.note_metadata",
    "has_pages": "engine.corpus.documents",
    "is_document": "engine.corpus.documents",
    "page_of": "engine.corpus.documents",
    "literal_glob": "engine.corpus.globs",
    "READABLE_EXTENSIONS": "engine.corpus.discovery",
    "is_json_note": "engine.corpus.json_notes",
    "NumberedText": "engine.corpus.line_reader",
    "find_sources": "engine.corpus.source_detection",
    "sessions_workspace": "engine.corpus.source_detection",
    "measure_sessions": "engine.corpus.source_detection",
    "HASHTAG": "engine.corpus.note_metadata",
    "markdown_of": "engine.corpus.note_metadata",
    "structure_of": "engine.corpus.note_metadata",
    "agent_label": "engine.corpus.transcripts.registry",
    "agent_labels": "engine.corpus.transcripts.registry",
    "growing_part": "engine.corpus.transcripts.registry",
    "usual_folders": "engine.corpus.transcripts.registry",
    "may_name_session": "engine.corpus.transcripts.session_stores",
    "ToolText": "engine.corpus.transcripts.tool_uses",
    "readable_tool_text": "engine.corpus.transcripts.tool_uses",
    "subject_of": "engine.corpus.transcripts.tool_uses",
    "last_change": "engine.corpus.transcripts.transcript_files",
    "PROVIDERS": "engine.providers.registry",
    "ModelFacts": "engine.providers",
    "facts_of": "engine.embedding.model_catalog",
    "models_of": "engine.embedding.model_catalog",
    "provider_named": "engine.providers.registry",
    "remote_names": "engine.providers.registry",
    "PRESETS": "engine.providers.openai",
    "preset_of": "engine.providers.openai",
    "fetch_model": "engine.embedding.model_download",
    "missing_model": "engine.embedding.gguf_file",
    "forget_key": "engine.embedding.api_keys",
    "key_state": "engine.embedding.api_keys",
    "remote_fallback": "engine.embedding.consent",
    "store_key": "engine.embedding.api_keys",
    "probe_provider": "engine.embedding.provider_selection",
    "run_blocking_calls_on": "engine.base.cancellation",
    "cache_folder": "engine.base.private_files",
    "create_private": "engine.base.private_files",
    "exporting": "engine.base.private_files",
    "make_folder": "engine.base.private_files",
    "read_file": "engine.base.private_files",
    "replace_file": "engine.base.private_files",
    "temporary_prefix": "engine.base.private_files",
    "files_covered": "engine.base.skip_reasons",
    "tr_reason": "engine.base.skip_reasons",
    "decode_json": "engine.base.bounded_json",
    "LANGUAGES": "engine.base.language",
    "TRIAL_LANGUAGES": "engine.base.language",
    "marked": "engine.base.language",
    "number": "engine.base.language",
    "set_language": "engine.base.language",
    "current_language": "engine.base.language",
    "system_language": "engine.base.language",
    "tr": "engine.base.language",
    "tr_count": "engine.base.language",
    "configure_logging": "engine.logs",
    "redact": "engine.logs",
    "beginning_of": "engine.redaction.secret_masking",
    "holds_secret": "engine.redaction.secret_masking",
    "outcome_values": "engine.search.result_export",
    "result_quote": "engine.search.result_export",
    "results_markdown": "engine.search.result_export",
    "reasons_of": "engine.search.result_reasons",
    "Settings": "engine.settings",
    "add_extra_path": "engine.settings.saving",
    "load_settings": "engine.settings",
    "save_setting": "engine.settings.saving",
    "save_settings": "engine.settings.saving",
    "settings_path": "engine.settings",
    "Group": "engine.settings.settings_section",
    "OptionPage": "engine.settings.settings_section",
    "with_query_settings": "engine.settings.settings_section",
    "Option": "engine.settings.catalog",
    "all_options": "engine.settings.catalog",
    "option_problem": "engine.settings.catalog",
    "value_at": "engine.settings.catalog",
    "SavedIn": "engine.settings.saving",
    "SettingChange": "engine.settings.saving",
    "SettingLayers": "engine.settings.saving",
    "change_settings": "engine.settings.saving",
    "read_layers": "engine.settings.saving",
    "set_settings_aside": "engine.settings.saving",
    "SavedSearches": "engine.store.saved_searches",
    "query_holds_secret": "engine.store.saved_searches",
    "index_files": "engine.store.index_paths",
    "EXCERPT_LENGTH": "engine.search.snippets",
    "richest_match": "engine.search.snippets",
    "highlight_ranges": "engine.text.highlight",
    "detect_language": "engine.text.languages",
    "language_of_note": "engine.text.languages",
    "QUERY_HELP": "engine.text.operators",
    "CODE_SPAN": "engine.corpus.markdown_line_types",
    "HEADING_ATTRIBUTES": "engine.corpus.markdown_line_types",
    "without_links": "engine.corpus.link_parsing",
    "written_links": "engine.corpus.link_parsing",
    "parse_query": "engine.text.query_parser",
    "has_one_character_word": "engine.text.writing_systems",
    "shortened": "engine.text.writing_systems",
    "program_version": "engine.base.formatting",
    "without_escapes": "engine.base.formatting",
    "all_of": "engine.base.formatting",
    "any_of": "engine.base.formatting",
    "floored": "engine.base.formatting",
    "folder_name": "engine.base.formatting",
    "in_quotes": "engine.base.formatting",
    "printable": "engine.base.formatting",
}
_SHARED = ("engine.base.errors", "engine.records")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if not name.startswith("_"):
        for module in map(importlib.import_module, _SHARED):
            if name in getattr(module, "__all__", vars(module)):
                return getattr(module, name)
    raise AttributeError(f"module 'engine' has no attribute {name!r}")
