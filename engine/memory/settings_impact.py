"""Predicts how changed settings affect the index."""

import functools
from pathlib import Path
from typing import Any

from engine.corpus.path_guard import PathGuard
from engine.indexing.stage_data import fingerprint
from engine.records import SettingsConsequences
from engine.settings import Settings
from engine.settings.catalog import Option, all_options
from engine.settings.saving import SettingChange, SettingLayers
from engine.store.index_paths import index_files


def consequences_of(workspace: Path, before: Settings, after: Settings) -> SettingsConsequences:
    """Return how this change of settings affects the next sync. Accesses no files."""
    return SettingsConsequences(
        full_rebuild=fingerprint(before) != fingerprint(after),
        other_files=_indexed_by(workspace, before) != _indexed_by(workspace, after),
        other_index=_index_location(workspace, before) != _index_location(workspace, after),
    )


@functools.cache
def options_of_index() -> dict[str, SettingsConsequences]:
    """Return the options that affect the index, with their effects, independent of their current values."""
    before = Settings()
    options = {option.key: consequences_of(Path(), before, _with_other_value(option)) for option in all_options()}
    return {key: follows for key, follows in options.items() if follows.any}


def _indexed_by(workspace: Path, settings: Settings) -> tuple[Any, ...]:
    """Return the settings that determine which files are indexed."""
    return PathGuard(workspace, settings).rules, settings.max_file_bytes, frozenset(settings.sources)


def _index_location(workspace: Path, settings: Settings) -> tuple[Any, ...]:
    """Return the settings that determine where the index is."""
    return settings.backend, index_files(workspace, settings.store.path)


def _with_other_value(option: Option) -> Settings:
    """Return settings in which this option has a value other than its default."""
    value = _other_value(option)
    return SettingLayers({}, {}).changed([SettingChange(option.key, "defaults", value)]).settings


def _other_value(option: Option) -> Any:
    match option.kind:
        case "switch":
            return not option.default
        case "choice":
            return next(choice for choice in option.choices if choice != option.default)
        case "choices":
            return [choice for choice in option.choices if choice not in option.default]
        case "whole" | "number":
            return _other_number(option)
        case "list":
            return [*option.default, "x"]
        case "lists":
            return {"x": ("x",)}
        case "texts":
            return {"x": "x"}
        case "numbers":
            return {"x": 1.0}
        case "text":
            return f"{option.default}x"


def _other_number(option: Option) -> float:
    """Return a number in the option's range that differs from its default."""
    at: float | None = option.default
    if at is None:
        return 1 if option.high is None else option.high
    step = 1 if option.kind == "whole" or option.high is None else (option.high - (option.low or 0)) / 10
    return at + step if option.high is None or at + step <= option.high else at - step
