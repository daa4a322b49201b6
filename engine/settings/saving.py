"""Change the settings file, preserving the rest of it; also as two layers, global and per workspace, for the dialog."""

import errno
import itertools
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from engine.base.errors import SettingsError
from engine.base.language import tr
from engine.base.private_files import write_aside
from engine.settings.catalog import value_at
from engine.settings.checking import rename_key
from engine.settings.loading import (
    SETTINGS_VERSION,
    Layer,
    check_settings,
    load_settings,
    merge_layers,
    merge_tables,
    own_layers,
    parse_settings,
    read_settings_text,
    same_folder,
    settings_path,
)
from engine.settings.options import Settings


def save_setting(key: str, value: Any, workspace: Path | None = None, config: Path | None = None) -> None:
    """Set `key`, such as `query.min_score`, in `[defaults]` or in the layer of `workspace`; None removes it. See
    `save_settings`.
    """
    save_settings({key: value}, workspace, config)


def save_settings(
    values: Mapping[str, Any],
    workspace: Path | None = None,
    config: Path | None = None,
    *,
    seen: Settings | None = None,
) -> None:
    """Set several options together: all of them or, on an error, none.

    Comments and order stay, the file is replaced as a whole. `seen` are the settings on which the changes are based.
    Raises `SettingsError` if one of these options has changed since, for a key or value that could not be read back, or
    if the current file is invalid; OSError if it can't be written.
    """
    path = config or settings_path()
    document, text = read_document(path)
    if seen is not None:
        now = Settings() if text is None else load_settings(workspace, config=path)
        for key in values:
            if value_at(now, key) != value_at(seen, key):
                raise SettingsError(
                    tr('Another program changed "{key}" in {path} meanwhile; nothing was saved.', key=key, path=path)
                )
    layer = table_of(document, workspace)
    for key, value in values.items():
        put_option(layer, key, value)
    write_document(document, path, expected=text)


def add_extra_path(extra: str, workspace: Path, config: Path | None = None) -> None:
    """Add a path to the extra paths of this workspace. Raises the errors of `save_settings`."""
    import tomlkit

    path = config or settings_path()
    document, text = read_document(path)
    named = table_of(document, workspace).setdefault("extra_paths", tomlkit.array())
    if extra not in named:
        named.append(extra)
    write_document(document, path, expected=text)


def rename_layer(former: str, workspace: Path, config: Path | None = None) -> bool:
    """Give the options of a renamed folder its new name, unless it has options of its own; returns whether it did.

    Comments and order stay. Raises the errors of `save_settings`.
    """
    path = config or settings_path()
    document, text = read_document(path)
    layers = tuple(document.get("workspace", ()))
    names = [name for name in layers if same_folder(name, Path(former))]
    if text is None or not names or any(same_folder(name, workspace) for name in layers):
        return False
    renamed = text
    for name in names:
        renamed = rename_key(renamed, ("workspace", name), str(workspace.resolve()))
    _write(renamed, path, expected=text)
    return True


def read_document(path: Path) -> tuple[Any, str | None]:
    """The parsed settings file, to be changed and written back whole, and its text; None if it doesn't exist.

    Raises `SettingsError` if it is invalid.
    """
    import tomlkit

    if path.exists():
        load_settings(config=path)
    text = read_settings_text(path, required=False)
    return tomlkit.parse(text or f"version = {SETTINGS_VERSION}\n"), text


def table_of(document: Any, workspace: Path | None) -> Any:
    """Return the table of the layer to write to, created if missing."""
    import tomlkit

    if workspace is None:
        return document.setdefault("defaults", tomlkit.table())
    layers = document.setdefault("workspace", tomlkit.table(is_super_table=True))
    written = [name for name in layers if same_folder(name, workspace)]
    return layers.setdefault(written[-1] if written else str(workspace.resolve()), tomlkit.table())


def put_option(layer: Any, key: str, value: Any) -> None:
    """Set the option `key` in the table of a layer; None removes it, and tables left empty, without comments."""
    import tomlkit

    *sections, name = key.split(".")
    tables, inline = [layer], isinstance(layer, tomlkit.items.InlineTable)
    for section in sections:
        if value is None and section not in tables[-1]:
            return
        tables.append(tables[-1].setdefault(section, tomlkit.inline_table() if inline else tomlkit.table()))
        inline = inline or isinstance(tables[-1], tomlkit.items.InlineTable) or _is_dotted(tables[-2], section)
    if value is not None:
        tables[-1][name] = list(value) if isinstance(value, tuple) else value
        return
    tables[-1].pop(name, None)
    for section, outer in zip(reversed(sections), reversed(tables[:-1]), strict=True):
        written = getattr(outer[section], "as_string", None)
        if not outer[section] and written and not written().strip("{} \n"):
            del outer[section]


def _is_dotted(table: Any, name: str) -> bool:
    """Return whether a table is written as dotted keys: then `[query.hybrid]` can't follow `query.min_score = 0.1`."""
    body = getattr(getattr(table, "value", table), "body", ())
    return any(key is not None and key.key == name and key.is_dotted() for key, _ in body)


def write_document(document: Any, path: Path, *, expected: str | None) -> None:
    """Replace the file, unless its text is not the `expected` any more: another program has changed it.

    Raises `SettingsError`, also for values that could not be read back.
    """
    import tomlkit

    _write(tomlkit.dumps(document), path, expected=expected)


def _write(changed: str, path: Path, *, expected: str | None) -> None:
    check_settings(parse_settings(changed, path), changed, path)
    if read_settings_text(path, required=False) != expected:
        raise SettingsError(
            tr("{path} was changed by another program just now; nothing was saved: try again.", path=path)
        )
    try:
        write_aside(path, changed)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            sentence = tr("Nothing was saved: the disk of {folder} is full. Free some space.", folder=path.parent)
        else:
            sentence = tr(
                "Nothing was saved: {path} cannot be written ({reason}). Make the file and its folder writable.",
                path=path,
                reason=error.strerror,
            )
        raise SettingsError(sentence) from error


# --- Moving an unusable settings file out of the way, without losing it ---------------------------------------------


def set_settings_aside(config: Path | None = None, now: datetime | None = None) -> Path:
    """Rename the settings file to a dated name in its folder, create a new one, and return the path of the old one.

    An existing file of that name stays unchanged. Raises OSError, and then the settings are unchanged.
    """
    path = config or settings_path()
    day = f"{now or datetime.now():%Y-%m-%d}"
    for number in itertools.count(1):
        backup = path.with_name(f"{path.stem}-{day}{'' if number == 1 else f'-{number}'}{path.suffix}")
        if _moved(path, backup):
            break
    write_aside(path, f"# The previous contents are in {backup.name}.\nversion = {SETTINGS_VERSION}\n")
    return backup


def _moved(path: Path, backup: Path) -> bool:
    """Rename a file unless the new name exists; returns whether it was renamed."""
    if os.path.lexists(backup):
        return False
    # Done in one step, so that two programs that do this concurrently can't replace each other's file.
    try:
        os.close(os.open(backup, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    try:
        os.replace(path, backup)
    except OSError:
        os.unlink(backup)
        raise
    return True


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
            if isinstance(value := getattr(self, name), tuple):
                msgspec.structs.force_setattr(self, name, list(value))

    @property
    def undo(self) -> "SettingChange":
        """The change that undoes this one."""
        return SettingChange(self.key, self.layer, self.was, self.value)


class SettingLayers(msgspec.Struct, frozen=True):
    """The settings of all workspaces, and the overrides of one; as in the file, without built-in defaults."""

    defaults: dict[str, Any]
    own: dict[str, Any]

    def get(self, key: str, layer: SavedIn) -> Any:
        """Return the option's value in one layer; None if it is not set there."""
        value: Any = self.defaults if layer == "defaults" else self.own
        for part in key.split("."):
            if not isinstance(value, dict) or part not in value:
                return None
            value = value[part]
        return value

    def layer_of(self, key: str) -> Layer:
        """Return the layer that determines the option's value."""
        if self.get(key, "workspace") is not None:
            return "workspace"
        return "built-in" if self.get(key, "defaults") is None else "defaults"

    @property
    def settings(self) -> Settings:
        """The resulting settings of the workspace."""
        return merge_layers(self.defaults, [self.own])

    def effective(self, key: str) -> Any:
        return value_at(self.settings, key)

    def inherited(self, key: str) -> Any:
        """The value that would apply without the workspace's override."""
        return value_at(merge_layers(self.defaults, []), key)

    def changed(self, changes: Iterable[SettingChange]) -> "SettingLayers":
        """Return a copy with these changes; accesses no file."""
        defaults, own = self.defaults, self.own
        for change in changes:
            if change.layer == "defaults":
                defaults = _with_value(defaults, change.key.split("."), change.value)
            else:
                own = _with_value(own, change.key.split("."), change.value)
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
    """Return the folders with their own table in the settings file, as written. Raises `SettingsError`."""
    text = read_settings_text(config or settings_path(), required=False)
    data = {} if text is None else parse_settings(text, config or settings_path())
    layers = data.get("workspace", {})
    return tuple(map(Path, layers)) if isinstance(layers, dict) else ()


def change_settings(changes: Iterable[SettingChange], workspace: Path, config: Path | None = None) -> SettingLayers:
    """Write all changes to the file, or none, and return its new contents.

    Raises `SettingsError` if an option in the file has changed meanwhile, if a value names a folder or file that does
    not exist, if a value could not be read back, or if the current file is invalid; OSError if it can't be written.
    """
    path = config or settings_path()
    requested = list(changes)
    for change in requested:
        _check_exists(change.key, change.value)
    document, text = read_document(path)
    now = read_layers(workspace, path) if text else SettingLayers({}, {})
    for change in requested:
        value = now.get(change.key, change.layer)
        if value not in (change.was, change.value):
            raise SettingsError(_changed_meanwhile(change.key, path, value))
        put_option(table_of(document, workspace if change.layer == "workspace" else None), change.key, change.value)
    write_document(document, path, expected=text)
    return read_layers(workspace, path)


def _check_exists(key: str, value: Any) -> None:
    """Raise `SettingsError` if this value of the option has to be an existing folder or file, and is not."""
    if not value or key not in ("workspace", "store.vector.extension_path"):
        return
    named = Path(value).expanduser()
    if key == "workspace" and not named.is_dir():
        raise SettingsError(tr("{folder} is not a folder. Choose one that exists.", folder=value))
    if key != "workspace" and not named.is_file():
        raise SettingsError(tr("{file} is not a file. Choose one that exists.", file=value))


def _with_value(table: dict[str, Any], names: list[str], value: Any) -> dict[str, Any]:
    """Return a copy with one value set or removed; tables that become empty are removed too."""
    first, *rest = names
    copy = dict(table)
    inner = _with_value(copy.get(first, {}), rest, value) if rest else value
    if inner is None or (rest and not inner):
        copy.pop(first, None)
    else:
        copy[first] = inner
    return copy


def _changed_meanwhile(key: str, path: Path, found: Any) -> str:
    if found is None:
        return tr(
            'Another program removed "{key}" from {path} meanwhile, so your change was not saved.', key=key, path=path
        )
    return tr(
        'Another program set "{key}" to {value} in {path} meanwhile, so your change was not saved.',
        key=key,
        path=path,
        value=msgspec.json.encode(found).decode(),
    )
