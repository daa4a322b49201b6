"""The settings file as its two layers for one workspace, and changes of single options in either."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from engine.base.errors import SettingsError
from engine.base.language import tr
from engine.settings.catalog import value_at
from engine.settings.loading import (
    Layer,
    check_settings,
    load_settings,
    merge_layers,
    merge_tables,
    own_layers,
    parse_settings,
    read_settings_text,
    settings_path,
)
from engine.settings.options import Settings
from engine.settings.saving import put_option, read_document, table_of, write_document

SavedIn = Literal["defaults", "workspace"]


class SettingChange(msgspec.Struct, frozen=True):
    """An option set in a layer, or removed from it."""

    key: str
    layer: SavedIn
    value: Any
    """New value; None removes the option."""
    was: Any = None
    """The layer's previous value; None if it had none."""

    def __post_init__(self) -> None:
        """Convert tuples to lists, as in the file."""
        for name in ("value", "was"):
            if isinstance(held := getattr(self, name), tuple):
                msgspec.structs.force_setattr(self, name, list(held))

    @property
    def back(self) -> "SettingChange":
        """Return the change that undoes this one."""
        return SettingChange(self.key, self.layer, self.was, self.value)


class SettingLayers(msgspec.Struct, frozen=True):
    """The settings of all workspaces, and the overrides of one; as in the file, without built-in defaults."""

    defaults: dict[str, Any]
    own: dict[str, Any]

    def get(self, key: str, layer: SavedIn) -> Any:
        """Return the option's value in one layer; None if it is not set there."""
        found: Any = self.defaults if layer == "defaults" else self.own
        for part in key.split("."):
            if not isinstance(found, dict) or part not in found:
                return None
            found = found[part]
        return found

    def layer_of(self, key: str) -> Layer:
        """Return the layer that determines the option's value."""
        if self.get(key, "workspace") is not None:
            return "workspace"
        return "built-in" if self.get(key, "defaults") is None else "defaults"

    @property
    def settings(self) -> Settings:
        """Return the resulting settings of the workspace."""
        return merge_layers(self.defaults, [self.own])

    def in_force(self, key: str) -> Any:
        return value_at(self.settings, key)

    def without_own(self, key: str) -> Any:
        """The value that would apply without the workspace's override."""
        return value_at(merge_layers(self.defaults, []), key)

    def changed(self, changes: Iterable[SettingChange]) -> "SettingLayers":
        """Return a copy with these changes; accesses no file."""
        defaults, own = self.defaults, self.own
        for change in changes:
            if change.layer == "defaults":
                defaults = _with(defaults, change.key.split("."), change.value)
            else:
                own = _with(own, change.key.split("."), change.value)
        return SettingLayers(defaults, own)


def read_layers(workspace: Path, config: Path | None = None) -> SettingLayers:
    """Read the current settings file; outdated names are replaced in it. Raises `SettingsError`."""
    path = config or settings_path()
    load_settings(workspace, config=config)  # which also migrates
    text = read_settings_text(path, required=False)
    if text is None:
        return SettingLayers({}, {})
    data = parse_settings(text, path)
    check_settings(data, text, path)
    own: dict[str, Any] = {}
    for layer in own_layers(data, workspace):
        own = merge_tables(own, layer)
    return SettingLayers(data.get("defaults", {}), own)


def named_workspaces(config: Path | None = None) -> tuple[Path, ...]:
    """Return the folders with a table of their own in the settings file, as written. Raises `SettingsError`."""
    text = read_settings_text(config or settings_path(), required=False)
    data = {} if text is None else parse_settings(text, config or settings_path())
    layers = data.get("workspace", {})
    return tuple(map(Path, layers)) if isinstance(layers, dict) else ()


def change_settings(changes: Iterable[SettingChange], workspace: Path, config: Path | None = None) -> SettingLayers:
    """Write all changes to the file, or none, and return its new contents.

    Raises `SettingsError` if an option in the file has changed since its change was made, for values that could not be
    read back, and if the current file is invalid; OSError if it can't be written.
    """
    path = config or settings_path()
    wanted = list(changes)
    document, text = read_document(path)
    now = read_layers(workspace, path) if text else SettingLayers({}, {})
    for change in wanted:
        found = now.get(change.key, change.layer)
        if found not in (change.was, change.value):
            raise SettingsError(_changed_meanwhile(change.key, path, found))
        put_option(table_of(document, workspace if change.layer == "workspace" else None), change.key, change.value)
    write_document(document, path, expected=text)
    return read_layers(workspace, path)


def _with(table: dict[str, Any], names: list[str], value: Any) -> dict[str, Any]:
    """Return a copy with one value set or removed; tables that become empty are removed too."""
    first, *rest = names
    copy = dict(table)
    inner = _with(copy.get(first, {}), rest, value) if rest else value
    if inner is None or (rest and not inner):
        copy.pop(first, None)
    else:
        copy[first] = inner
    return copy


def _changed_meanwhile(key: str, path: Path, found: Any) -> str:
    if found is None:
        return tr('"{key}" was changed in {path} meanwhile: it is not set there, and stays so.', key=key, path=path)
    return tr(
        '"{key}" was changed in {path} meanwhile: it is {value} there, and stays so.',
        key=key,
        path=path,
        value=msgspec.json.encode(found).decode(),
    )
