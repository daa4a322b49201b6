"""Loads the settings file: parses, migrates and checks it, and merges its layers.

A file with former names, or with the reference's (`minScore` for `min_score`), is migrated after a copy was made.
"""

import os
import re
import threading
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec

from engine.base import lazy_logger, lazy_pattern
from engine.base.bounded_json import long_key
from engine.base.errors import SettingsError
from engine.base.language import marked, tr
from engine.base.private_files import read_file, user_folder, write_aside
from engine.settings.checking import (
    check_layer,
    find_lines,
    is_section,
    line_of,
    names_of,
    options_of,
    refuse_at,
    refuse_unknown,
    refuse_unusable,
    rename_key,
)
from engine.settings.options import Settings
from engine.settings.settings_section import Problem, Section, SectionT

SETTINGS_VERSION = 1

_log = lazy_logger(__name__)

OldName = tuple[tuple[str, ...], str]
"""Path of a key that has an old name, and its new name."""
Layer = Literal["built-in", "defaults", "workspace"]


_FORMER_NAMES = {
    "agreed": "approved",
    "context_characters": "context_max_chars",
    "longest_message": "max_message_chars",
    "keep_searches": "search_history",
    "go.next-part": "go.next-pane",
    "go.previous-part": "go.previous-pane",
    "index.turn": "index.toggle-table",
    "place.copy-link": "link.copy",
    "reading.next-hit": "reading.next-match",
    "reading.previous-hit": "reading.previous-match",
    "search.clear-recent": "search.clear-history",
    "search.everywhere": "search.all-workspaces",
    "search.keep-recent": "search.record-history",
    "sessions.figures": "sessions.statistics",
}
"""Former names of keys, and of commands in `window.keys` -> their names."""


def old_names(data: dict[str, Any]) -> list[OldName]:
    """Return the renames that this file needs, inner keys before their tables."""
    names = _in_section(data.get("defaults"), Settings, ("defaults",))
    layers = data.get("workspace")
    for folder, layer in layers.items() if isinstance(layers, dict) else ():
        names += _in_section(layer, Settings, ("workspace", folder))
    return names


def _in_section(values: Any, section: type[Section], path: tuple[str, ...]) -> list[OldName]:
    if not isinstance(values, dict):
        return []
    options = options_of(section)
    renamed = {_camel(name): name for name in options if "_" in name}
    renamed |= {old: name for old, name in _FORMER_NAMES.items() if name in options}
    names: list[OldName] = []
    key: str
    for key, value in values.items():
        name = renamed.get(key, key)
        if is_section(options.get(name)):
            names += _in_section(value, options[name], (*path, key))
        elif name == "keys" and isinstance(value, dict):
            names += [((*path, key, inner), _FORMER_NAMES[inner]) for inner in value if inner in _FORMER_NAMES]
        if name != key:
            names.append(((*path, key), name))
    return names


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def migrate(path: Path, text: str, names: list[OldName]) -> str:
    """Rename the keys in the file at `path` (whose text is `text`) and return the new text.

    The file is first copied to `<name>.bak`. A file that can't be written stays unchanged, and the new text is used.
    Raises `SettingsError` if a key exists under both names.
    """
    import tomlkit

    data = tomllib.loads(text)
    renamed = text
    for where, name in names:
        if name in _value(data, where[:-1]):
            old_and_new_name = Problem(marked('{it} is the old name of "{name}": keep one of them.'), {"name": name})
            refuse_at(text, path, where, old_and_new_name)
        renamed = rename_key(renamed, where, name)
    document = tomlkit.parse(renamed)
    document["version"] = SETTINGS_VERSION
    changed = tomlkit.dumps(document)
    try:
        write_aside(path.with_name(path.name + ".bak"), text)
        write_aside(path, changed)
        _log.info("Renamed %d keys in %s", len(names), path)
    except OSError as error:
        _log.warning("The settings file %s has old names and cannot be written: %s", path, error.strerror)
    return changed


_MAX_BYTES = 4_000_000
_ENDLESS = lazy_pattern(r"[0-9a-fA-F_]{1000}")
_TOP_KEYS = {"version": None, "defaults": None, "workspace": None}


def settings_path() -> Path:
    """Return the path of the user's own settings file."""
    return user_folder("config") / "settings.toml"


def load_settings(workspace: Path | None = None, *, config: Path | None = None) -> Settings:
    """Load the settings of `workspace`, or only the defaults for None.

    Without `config`, the user's own file is read, and need not exist. Outdated names are replaced in the file, after it
    was copied. Raises `SettingsError`.
    """
    path = config or settings_path()
    text = read_settings_text(path, required=config is not None)
    if text is None:
        return Settings()
    data = parse_settings(text, path)
    if names := old_names(data):
        text = migrate(path, text, names)
        data = parse_settings(text, path)
    check_settings(data, text, path)
    return merge_layers(data.get("defaults", {}), own_layers(data, workspace))


def read_settings_text(path: Path, *, required: bool) -> str | None:
    """Return the file's text with its line ends; None for a missing file unless `required`."""
    try:
        raw = read_file(path, _MAX_BYTES).removeprefix(BOM_UTF8)
    except FileNotFoundError:
        if required:
            raise SettingsError(tr("The settings file {path} does not exist: check the path.", path=path)) from None
        return None
    except ValueError:  # a zero byte in the name
        raise SettingsError(tr("The settings file cannot be named {path}.", path=repr(str(path)))) from None
    except OSError as error:
        sentence = tr("The settings file {path} cannot be read: {reason}.", path=path, reason=error.strerror)
        raise SettingsError(sentence) from None
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        sentence = tr("{path}, line {line}: the settings must be UTF-8 text.", path=path, line=line)
        raise SettingsError(sentence) from None


def parse_settings(text: str, path: Path) -> dict[str, Any]:
    """Parse the file's tables, of a version that this program knows. Raises `SettingsError`."""
    if match := long_key(text):
        line = text.count("\n", 0, match.start()) + 1
        raise SettingsError(_unreadable(path, line, tr("a key has too many parts")))
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(_syntax_message(str(error), text, path)) from None
    except ValueError:  # Python can't read a number with that many digits
        line = next((number for number, line in enumerate(text.splitlines(), 1) if _ENDLESS.search(line)), 1)
        sentence = tr("{path}, line {line}: the settings cannot be read: a number is too long.", path=path, line=line)
        raise SettingsError(sentence) from None
    except RecursionError:
        sentence = tr("{path}: the settings cannot be read: brackets are nested too deeply.", path=path)
        raise SettingsError(sentence) from None
    version = data.get("version", SETTINGS_VERSION)
    if type(version) is not int or version < 1:
        refuse_at(text, path, ("version",), Problem(marked("{it} must be a whole number from 1.")))
    if version > SETTINGS_VERSION:
        newer = marked("{it} is {version}: a newer version of the program wrote this file; this one knows {known}.")
        refuse_at(text, path, ("version",), Problem(newer, {"version": version, "known": SETTINGS_VERSION}))
    return data


def check_settings(data: dict[str, Any], text: str, path: Path) -> None:
    """Check every layer, including the layers of other workspaces. Raises `SettingsError`."""

    def refuse(key_path: tuple[str, ...], problem: Problem) -> NoReturn:
        refuse_at(text, path, key_path, problem)

    refuse_unusable(data, (), refuse)
    for key in data:
        if key not in _TOP_KEYS:
            refuse_unknown((key,), _TOP_KEYS, refuse)
    if "defaults" in data:
        check_layer(data["defaults"], ("defaults",), refuse)
    layers = data.get("workspace", {})
    if not isinstance(layers, dict):
        refuse(("workspace",), Problem(marked('{it} must consist of tables such as [workspace."/path/to/notes"].')))
    for folder, layer in layers.items():
        check_layer(layer, ("workspace", folder), refuse)


def same_folder(name: str, workspace: Path) -> bool:
    """Whether `name`, as written in the file, is the folder `workspace`."""
    return _real_path(name) == _real_path(str(workspace))


def _real_path(name: str) -> str:
    return os.path.normcase(os.path.realpath(os.path.expanduser(name)))


def own_layers(data: dict[str, Any], workspace: Path | None) -> list[dict[str, Any]]:
    """The layers of one workspace, which may occur in the file under several names; the last has priority."""
    layers = data.get("workspace", {}).items()
    return [layer for folder, layer in layers if workspace is not None and same_folder(folder, workspace)]


def merge_layers(defaults: dict[str, Any], own: Iterable[dict[str, Any]]) -> Settings:
    """Merge checked layers to settings; `extra_paths` of all layers are joined."""
    merged = defaults
    for layer in own:
        extra = [*merged.get("extra_paths", ()), *layer.get("extra_paths", ())]
        merged = merge_tables(merged, layer)
        if extra:
            merged["extra_paths"] = list(dict.fromkeys(extra))
    return _made(Settings, merged)


def _made(section: type[SectionT], values: dict[str, Any]) -> SectionT:
    """Return a section with the values of a checked layer; `msgspec.convert` would read the types of all sections."""
    kinds, names = options_of(section), dict(names_of(section))
    return section(
        **{
            names[key]: _made(kinds[key], value) if is_section(kinds[key]) else msgspec.convert(value, kinds[key])
            for key, value in values.items()
        }
    )


def merge_tables(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Merge tables recursively; values in `above` have priority."""
    result = dict(below)
    for key, value in above.items():
        result[key] = merge_tables(result.get(key, {}), value) if isinstance(value, dict) else value
    return result


def _syntax_message(problem: str, text: str, path: Path) -> str:
    """Turn the parser's "… (at line 3, column 5)" into our form; at the end of the document it names no line."""
    match = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", problem)
    reason = problem[: match.start()] if match else problem
    line = (match and match[1]) or text.rstrip("\n").count("\n") + 1
    return _unreadable(path, line, reason[:1].lower() + reason[1:])


def _unreadable(path: Path, line: object, reason: str) -> str:
    return tr(
        "{path}, line {line}: the settings cannot be read: {reason}. Correct this line.",
        path=path,
        line=line,
        reason=reason,
    )


class RereadSettings:
    """Settings that are read again when the file has changed. Thread-safe."""

    def __init__(self, path: Path, load: Callable[[], Settings]) -> None:
        """`load` reads the file at `path`, which need not exist. Raises the errors of `load`."""
        self._path = path
        self._load = load
        self._lock = threading.Lock()
        self._state = self._file_state()
        self._settings = load()

    def current(self) -> Settings:
        """Return the current settings. Raises `SettingsError` as long as the file can't be used."""
        with self._lock:
            state = self._file_state()
            if state != self._state:
                self._settings = self._load()
                self._state = state
            return self._settings

    def _file_state(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


class SettingOrigin(msgspec.Struct, frozen=True):
    """The layer and line that set the current value of an option."""

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
