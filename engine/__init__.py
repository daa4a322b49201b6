"""The engine's door: everything that a front end may use.

Importing it stays cheap (under 100 ms): what a name needs is imported when the name is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.agent.access import AgentAccess as AgentAccess
    from engine.agent.capturing import category_of as category_of
    from engine.agent.context import memory_context as memory_context
    from engine.agent.getting import memory_get as memory_get
    from engine.agent.note_file import locate_untouched as locate_untouched
    from engine.agent.prompt import memory_prompt_section as memory_prompt_section
    from engine.agent.searching import memory_search as memory_search
    from engine.agent.session_note import draft_note as draft_note
    from engine.agent.session_note import save_note as save_note
    from engine.agent.session_note import suggest_slug as suggest_slug
    from engine.agent.slug import to_slug as to_slug
    from engine.agent.tool import AgentTool as AgentTool
    from engine.agent.tools import agent_tools as agent_tools
    from engine.backends.base import MemorySearchManager as MemorySearchManager
    from engine.backends.base import ProgressCallback as ProgressCallback
    from engine.backends.base import SearchOptions as SearchOptions
    from engine.backends.consequences import consequences_of as consequences_of
    from engine.backends.consequences import options_of_index as options_of_index
    from engine.backends.facts import Facts as Facts
    from engine.backends.insight import IndexInsight as IndexInsight
    from engine.backends.opening import open_memory as open_memory
    from engine.backends.qmd.lacking import BUILT_IN_CAN as BUILT_IN_CAN
    from engine.backends.spaces.everywhere import Everywhere as Everywhere
    from engine.backends.spaces.known import forget_workspace as forget_workspace
    from engine.backends.spaces.known import known_workspaces as known_workspaces
    from engine.backends.spaces.known import workspace_state as workspace_state
    from engine.backends.spaces.names import name_in as name_in
    from engine.backends.spaces.names import split_name as split_name
    from engine.backends.trying import try_backend as try_backend
    from engine.cli.arguments import VERBS as VERBS
    from engine.control import CancelToken as CancelToken
    from engine.corpus.document import note_title as note_title
    from engine.corpus.globs import literal_glob as literal_glob
    from engine.corpus.numbered import NumberedText as NumberedText
    from engine.corpus.places.finding import find_places as find_places
    from engine.corpus.places.finding import measure_sessions as measure_sessions
    from engine.corpus.preview import preview_workspace as preview_workspace
    from engine.corpus.transcripts.stores import may_name_session as may_name_session
    from engine.embedding.catalogue import ModelFacts as ModelFacts
    from engine.embedding.catalogue import facts_of as facts_of
    from engine.embedding.catalogue import models_of as models_of
    from engine.embedding.consent import remote_fallback as remote_fallback
    from engine.embedding.gguf_models import missing_model as missing_model
    from engine.embedding.hub import fetch_model as fetch_model
    from engine.embedding.keys import forget_key as forget_key
    from engine.embedding.keys import key_state as key_state
    from engine.embedding.keys import store_key as store_key
    from engine.embedding.presets import PRESETS as PRESETS
    from engine.embedding.presets import preset_of as preset_of
    from engine.embedding.probing import probe_provider as probe_provider
    from engine.errors import *  # noqa: F403
    from engine.json_events import decode_json as decode_json
    from engine.language import LANGUAGES as LANGUAGES
    from engine.language import TRIAL_LANGUAGES as TRIAL_LANGUAGES
    from engine.language import marked as marked
    from engine.language import number as number
    from engine.language import speak as speak
    from engine.language import spoken as spoken
    from engine.language import system_language as system_language
    from engine.language import tr as tr
    from engine.language import tr_count as tr_count
    from engine.logs import configure_logging as configure_logging
    from engine.logs import redact as redact
    from engine.private_files import create_private as create_private
    from engine.private_files import exporting as exporting
    from engine.private_files import make_folder as make_folder
    from engine.private_files import read_file as read_file
    from engine.private_files import replace_file as replace_file
    from engine.private_files import temporary_prefix as temporary_prefix
    from engine.reasons import files_told as files_told
    from engine.reasons import tr_reason as tr_reason
    from engine.records import *  # noqa: F403
    from engine.redaction.masks import beginning_of as beginning_of
    from engine.redaction.masks import holds_secret as holds_secret
    from engine.search.exporting import outcome_values as outcome_values
    from engine.search.exporting import result_quote as result_quote
    from engine.search.exporting import results_markdown as results_markdown
    from engine.search.reasons import reasons_of as reasons_of
    from engine.settings import Settings as Settings
    from engine.settings import add_extra_path as add_extra_path
    from engine.settings import load_settings as load_settings
    from engine.settings import save_setting as save_setting
    from engine.settings import save_settings as save_settings
    from engine.settings import settings_path as settings_path
    from engine.settings.answering import ANSWERING as ANSWERING
    from engine.settings.answering import answering_as as answering_as
    from engine.settings.catalogue import Option as Option
    from engine.settings.catalogue import all_options as all_options
    from engine.settings.catalogue import option_problem as option_problem
    from engine.settings.catalogue import value_at as value_at
    from engine.settings.layers import SavedIn as SavedIn
    from engine.settings.layers import SettingChange as SettingChange
    from engine.settings.layers import SettingLayers as SettingLayers
    from engine.settings.layers import change_settings as change_settings
    from engine.settings.layers import read_layers as read_layers
    from engine.settings.setting_aside import set_settings_aside as set_settings_aside
    from engine.store.kept_searches import KeptSearches as KeptSearches
    from engine.store.location import index_files as index_files
    from engine.text.highlight import highlight_ranges as highlight_ranges
    from engine.text.languages import detect_language as detect_language
    from engine.text.operators import QUERY_HELP as QUERY_HELP
    from engine.text.query_language import parse_query as parse_query
    from engine.versions import program_version as program_version
    from engine.wording import all_of as all_of
    from engine.wording import any_of as any_of
    from engine.wording import in_quotes as in_quotes
    from engine.wording import printable as printable

_HOME = {
    "locate_untouched": "engine.agent.note_file",
    "draft_note": "engine.agent.session_note",
    "save_note": "engine.agent.session_note",
    "suggest_slug": "engine.agent.session_note",
    "to_slug": "engine.agent.slug",
    "AgentAccess": "engine.agent.access",
    "category_of": "engine.agent.capturing",
    "AgentTool": "engine.agent.tool",
    "agent_tools": "engine.agent.tools",
    "memory_context": "engine.agent.context",
    "memory_get": "engine.agent.getting",
    "memory_prompt_section": "engine.agent.prompt",
    "memory_search": "engine.agent.searching",
    "open_memory": "engine.backends.opening",
    "MemorySearchManager": "engine.backends.base",
    "ProgressCallback": "engine.backends.base",
    "SearchOptions": "engine.backends.base",
    "consequences_of": "engine.backends.consequences",
    "options_of_index": "engine.backends.consequences",
    "Facts": "engine.backends.facts",
    "IndexInsight": "engine.backends.insight",
    "BUILT_IN_CAN": "engine.backends.qmd.lacking",
    "Everywhere": "engine.backends.spaces.everywhere",
    "forget_workspace": "engine.backends.spaces.known",
    "known_workspaces": "engine.backends.spaces.known",
    "workspace_state": "engine.backends.spaces.known",
    "name_in": "engine.backends.spaces.names",
    "split_name": "engine.backends.spaces.names",
    "try_backend": "engine.backends.trying",
    "VERBS": "engine.cli.arguments",
    "CancelToken": "engine.control",
    "note_title": "engine.corpus.document",
    "literal_glob": "engine.corpus.globs",
    "NumberedText": "engine.corpus.numbered",
    "find_places": "engine.corpus.places.finding",
    "measure_sessions": "engine.corpus.places.finding",
    "preview_workspace": "engine.corpus.preview",
    "may_name_session": "engine.corpus.transcripts.stores",
    "ModelFacts": "engine.embedding.catalogue",
    "facts_of": "engine.embedding.catalogue",
    "models_of": "engine.embedding.catalogue",
    "PRESETS": "engine.embedding.presets",
    "preset_of": "engine.embedding.presets",
    "fetch_model": "engine.embedding.hub",
    "missing_model": "engine.embedding.gguf_models",
    "forget_key": "engine.embedding.keys",
    "key_state": "engine.embedding.keys",
    "remote_fallback": "engine.embedding.consent",
    "store_key": "engine.embedding.keys",
    "probe_provider": "engine.embedding.probing",
    "create_private": "engine.private_files",
    "exporting": "engine.private_files",
    "make_folder": "engine.private_files",
    "read_file": "engine.private_files",
    "replace_file": "engine.private_files",
    "temporary_prefix": "engine.private_files",
    "files_told": "engine.reasons",
    "tr_reason": "engine.reasons",
    "decode_json": "engine.json_events",
    "LANGUAGES": "engine.language",
    "TRIAL_LANGUAGES": "engine.language",
    "marked": "engine.language",
    "number": "engine.language",
    "speak": "engine.language",
    "spoken": "engine.language",
    "system_language": "engine.language",
    "tr": "engine.language",
    "tr_count": "engine.language",
    "configure_logging": "engine.logs",
    "redact": "engine.logs",
    "beginning_of": "engine.redaction.masks",
    "holds_secret": "engine.redaction.masks",
    "outcome_values": "engine.search.exporting",
    "result_quote": "engine.search.exporting",
    "results_markdown": "engine.search.exporting",
    "reasons_of": "engine.search.reasons",
    "Settings": "engine.settings",
    "add_extra_path": "engine.settings",
    "load_settings": "engine.settings",
    "save_setting": "engine.settings",
    "save_settings": "engine.settings",
    "settings_path": "engine.settings",
    "ANSWERING": "engine.settings.answering",
    "answering_as": "engine.settings.answering",
    "Option": "engine.settings.catalogue",
    "all_options": "engine.settings.catalogue",
    "option_problem": "engine.settings.catalogue",
    "value_at": "engine.settings.catalogue",
    "SavedIn": "engine.settings.layers",
    "SettingChange": "engine.settings.layers",
    "SettingLayers": "engine.settings.layers",
    "change_settings": "engine.settings.layers",
    "read_layers": "engine.settings.layers",
    "set_settings_aside": "engine.settings.setting_aside",
    "KeptSearches": "engine.store.kept_searches",
    "index_files": "engine.store.location",
    "highlight_ranges": "engine.text.highlight",
    "detect_language": "engine.text.languages",
    "QUERY_HELP": "engine.text.operators",
    "parse_query": "engine.text.query_language",
    "program_version": "engine.versions",
    "all_of": "engine.wording",
    "any_of": "engine.wording",
    "in_quotes": "engine.wording",
    "printable": "engine.wording",
}
_SHARED = ("engine.errors", "engine.records")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if not name.startswith("_"):
        for module in map(importlib.import_module, _SHARED):
            if name in getattr(module, "__all__", vars(module)):
                return getattr(module, name)
    raise AttributeError(f"module 'engine' has no attribute {name!r}")
