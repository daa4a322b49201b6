"""Brings a settings file of an earlier form to the present one, keeping a copy of it.

The reference's camelCase names are the earlier form: `minScore` becomes `min_score`.
"""

import logging
from pathlib import Path
from typing import Any

from engine.base.language import marked
from engine.base.private_files import write_aside
from engine.settings.checking import is_section, options_of, refuse_at
from engine.settings.options import Settings
from engine.settings.section import Problem, Section

SETTINGS_VERSION = 1

_log = logging.getLogger(__name__)

OldName = tuple[tuple[str, ...], str]
"""Path of a key that has an old name, and its new name."""


def old_names(data: dict[str, Any]) -> list[OldName]:
    """The renames that this file needs, inner keys before the tables that hold them."""
    found = _in_section(data.get("defaults"), Settings, ("defaults",))
    layers = data.get("workspace")
    for folder, layer in layers.items() if isinstance(layers, dict) else ():
        found += _in_section(layer, Settings, ("workspace", folder))
    return found


def _in_section(values: Any, section: type[Section], path: tuple[str, ...]) -> list[OldName]:
    if not isinstance(values, dict):
        return []
    options = options_of(section)
    renamed = {_camel(name): name for name in options if "_" in name}
    found: list[OldName] = []
    key: str
    for key, value in values.items():
        name = renamed.get(key, key)
        if is_section(options.get(name)):
            found += _in_section(value, options[name], (*path, key))
        if name != key:
            found.append(((*path, key), name))
    return found


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def migrate(path: Path, text: str, names: list[OldName]) -> str:
    """Rename the keys in the file at `path` (whose text is `text`) and return the new text.

    The file is first copied to `<name>.bak`. A file that can't be written stays unchanged, and the new text is used.
    Raises `SettingsError` if a key exists under both names.
    """
    import tomlkit

    document = tomlkit.parse(text)
    for where, name in names:
        table: Any = document
        for part in where[:-1]:
            table = table[part]
        if name in table:
            twice = Problem(marked('{it} is the old name of "{name}": keep one of them.'), {"name": name})
            refuse_at(text, path, where, twice)
        _rename(table, where[-1], name)
    document["version"] = SETTINGS_VERSION
    changed = tomlkit.dumps(document)
    try:
        write_aside(path.with_name(path.name + ".bak"), text)
        write_aside(path, changed)
        _log.info("Renamed %d keys in %s", len(names), path)
    except OSError as error:
        _log.warning("The settings file %s has old names and cannot be written: %s", path, error.strerror)
    return changed


def _rename(table: Any, old: str, new: str) -> None:
    """Rename a key in place, so that comments and order stay."""
    container = getattr(table, "value", table)
    container._replace(old, new, table[old])
