"""Where an option got the value that is in force."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from engine.base.errors import SettingsError
from engine.settings.checking import find_lines, line_of
from engine.settings.loading import parse_settings, read_settings_text, same_folder, settings_path

Layer = Literal["built-in", "defaults", "workspace"]


class SettingOrigin(msgspec.Struct, frozen=True):
    layer: Layer
    file: str = ""
    """Path of the settings file; empty for a built-in default."""
    line: int = 0
    """Line of the key in the settings file, from 1; 0 for a built-in default."""


BUILT_IN = SettingOrigin("built-in")


def origin_of(key: str, workspace: Path, config: Path | None, item: str | None = None) -> SettingOrigin:
    """Return where `key`, such as `query.min_score`, is set for this workspace; for a list, where it contains `item`.

    Built-in if no layer has it, or the file can't be read any more.
    """
    path = config or settings_path()
    try:
        text = read_settings_text(path, required=False)
        data = {} if text is None else parse_settings(text, path)
    except SettingsError:
        return BUILT_IN
    if text is None:
        return BUILT_IN
    own = [folder for folder in data.get("workspace", {}) if same_folder(folder, workspace)]
    names = tuple(key.split("."))
    layers: list[tuple[Layer, tuple[str, ...]]] = [("workspace", ("workspace", folder)) for folder in reversed(own)]
    for layer, above in (*layers, ("defaults", ("defaults",))):
        value = _value(data, (*above, *names))
        if value is not None and (item is None or not isinstance(value, list) or item in map(str.strip, value)):
            return SettingOrigin(layer, str(path), line_of(find_lines(text), (*above, *names)))
    return BUILT_IN


def _value(data: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        if not isinstance(data, dict) or part not in data:
            return None
        data = data[part]
    return data
