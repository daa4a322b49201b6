"""Checks one layer of the settings file against the options, and describes errors in a sentence."""

import functools
import math
import os
import re
import tomllib
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin

import msgspec

from engine.base import lazy_pattern, urlsplit
from engine.base.errors import SettingsError
from engine.base.language import marked, tr
from engine.logs import redact
from engine.providers.openai import OPENAI, PRESETS
from engine.providers.registry import PROVIDERS
from engine.settings.backend_settings import MACHINE_NAME, SCOPE_RULE, TABLE_NAME, uri_problem
from engine.settings.options import Settings
from engine.settings.settings_section import LOGIN, SECRET, Problem, Section, hints_of

_SIMPLE = {
    bool: marked("{it} must be true or false."),
    int: marked("{it} must be a whole number."),
    float: marked("{it} must be a number."),
    str: marked("{it} must be text in quotes."),
}
_TABLES = {
    str: marked("{it} must be a table of names, each with text in quotes."),
    float: marked("{it} must be a table of names, each with a number."),
    tuple: marked("{it} must be a table of names, each with a list of texts in quotes."),
}

_ALMOST = 0.85
"""Similarity of a misspelt key to the correct one, from 0 to 1, from which other tables are not considered."""
_MAX_TABLES = 3
"""Maximum number of tables that are named for an option in the wrong one."""
_LARGEST = 2**53
"""Largest whole number that databases, JSON and floats represent exactly."""

Refuse = Callable[[tuple[str, ...], Problem], NoReturn]
"""Function that raises `SettingsError` about the key at a path."""
_SECRET_ENDINGS = ("apikey", "accesskey", "secretkey", "token", "secret", "password", "passwd", "authorization")
_SECRET_NAMES = {"key", "auth", "bearer", "cookie", "xgoogapikey"}
_SECRET_HEADERS = lazy_pattern(r"auth(?!ors?$)|cookie|key|token|secret|passw|credential", re.IGNORECASE)
_SECRET_OPTIONS = lazy_pattern(r"access_?key|secret|token|passw|credential|api_?key|sas|authorization", re.IGNORECASE)
_SECRET_VALUES = lazy_pattern(r"(?:bearer|basic|token)\s+\S", re.IGNORECASE)
_PLAIN_KEY = lazy_pattern(r"[A-Za-z0-9_-]+")
_VARIABLE = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
COMPATIBLE = {preset.id: preset.base_url for preset in PRESETS if preset.id != OPENAI.name} | {
    "mistral": "https://api.mistral.ai/v1"
}
"""Services that the reference or users name as a provider -> URL of their OpenAI-compatible API."""


def looks_secret(name: str) -> bool:
    """Return whether the name suggests that the key holds a secret."""
    bare = _simplified(name)
    return bare in _SECRET_NAMES or bare.endswith(_SECRET_ENDINGS)


def problem_of(path: tuple[str, ...], value: Any) -> tuple[tuple[str, ...], Problem] | None:
    """Return the problem of the value at `path` (inside its layer), and its key; None if there is none.

    The value has the right type. The problem never repeats a secret.
    """
    rule = _RULES.get(path)
    problem = rule(value) if rule is not None else None
    return None if problem is None else ((*path, *problem[0]), problem[1])


def suggestion_for(path: tuple[str, ...], value: Any) -> Problem | None:
    """Return a suggestion for an invalid value, such as the correct name of a provider; None without one."""
    if path == ("sessions", "machines"):
        return Problem(marked('{it} must be a list of names with folders, such as ["laptop=~/Sync/laptop"].'))
    if path not in {("provider",), ("fallback",)} or not isinstance(value, str):
        return None
    name = value.strip().lower()
    if known := next((provider.name for provider in PROVIDERS if name in provider.aliases), None):
        return Problem(marked('{it} is called "{name}" in Mnemoscope.'), {"name": known})
    if name.startswith("hf:") or name.endswith(".gguf"):
        if redact(value) != value:
            return Problem(marked('{it} must be "gguf".'))
        return Problem(marked('{it} must be "gguf", with local.model_path = "{path}".'), {"path": value})
    if address := COMPATIBLE.get("lm-studio" if name == "lmstudio" else name.replace("_", "-")):
        return Problem(marked('{it} is set as "openai" with remote.base_url = "{address}".'), {"address": address})
    return None


Found = tuple[tuple[str, ...], Problem] | None


def _base_url(value: str) -> Found:
    if not value:
        return None
    try:
        parts = urlsplit(value.strip())
        parts.port  # noqa: B018 - raises if it is not a number
    except ValueError:
        parts = urlsplit("")
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        return (), LOGIN
    if parts.query or parts.fragment:
        return (), Problem(marked("{it} must end before the ? or #: an address such as https://host/v1."))
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return (), Problem(marked("{it} must be an address such as https://host/v1 or http://localhost:11434/v1."))
    return ((), SECRET) if _is_secret(value) else None


def _headers(value: Mapping[str, str]) -> Found:
    for name, content in value.items():
        if _SECRET_HEADERS.search(name) or _SECRET_VALUES.match(content) or _is_secret(content):
            return (name,), SECRET
    return None


def _full_path(value: str) -> Found:
    # Other paths would depend on the current folder, also those with `~` and an unknown user.
    if value and not os.path.isabs(os.path.expanduser(value)):
        return (), Problem(marked("{it} must be a full path."))
    return None


def _variable(value: str) -> Found:
    sentence = marked(
        "{it} must be the name of an environment variable, such as OPENAI_API_KEY, and never the key itself."
    )
    return ((), Problem(sentence)) if value and (_is_secret(value) or not _VARIABLE.fullmatch(value)) else None


def _model(value: str) -> Found:
    sentence = marked('{it} names a model file: write provider = "gguf" and local.model_path = "{path}".')
    if _is_secret(value):
        return (), SECRET
    return ((), Problem(sentence, {"path": value})) if value.lower().startswith("hf:") else None


def _chat_model(value: str) -> Found:
    return ((), SECRET) if _is_secret(value) else None


def _prices(value: Mapping[str, float]) -> Found:
    for name, price in value.items():
        if not math.isfinite(price) or price < 0:
            return (name,), Problem(marked("{it} must be a price in US dollars, 0 or more."))
        if "/" not in name.strip("/"):
            return (name,), Problem(
                marked('{it} must name provider and model, such as "openai/text-embedding-3-small".')
            )
    return None


def _half_lives(value: Mapping[str, float]) -> Found:
    wrong = (pattern for pattern, days in value.items() if not math.isfinite(days) or days < 0)
    problem = Problem(marked("{it} must be a number of days; 0 is for files that never age."))
    return next((((pattern,), problem) for pattern in wrong), None)


def _scope(value: Sequence[str]) -> Found:
    wrong = next((rule for rule in value if not SCOPE_RULE.fullmatch(rule.strip().lower())), None)
    if wrong is None:
        return None
    return (), Problem(
        marked('{it} contains "{rule}": write rules like "allow direct", "deny group" or "allow discord/channel".'),
        {"rule": wrong},
    )


def _storage_options(value: Mapping[str, str]) -> Found:
    for name, content in value.items():
        if _SECRET_OPTIONS.search(name) or _is_secret(content) or "@" in urlsplit(content).netloc:
            return (name,), SECRET
    return None


def _table_uri(value: str) -> Found:
    if "@" in urlsplit(value).netloc or _is_secret(value):
        return (), LOGIN
    problem = uri_problem(value)
    return None if problem is None else ((), problem)


def _table_name(value: str) -> Found:
    if not value or TABLE_NAME.fullmatch(value):
        return None
    return (), Problem(marked("{it} must be a name of letters, digits, dots, hyphens and underscores."))


def _machine_name(value: str) -> Found:
    if not value or MACHINE_NAME.fullmatch(value):
        return None
    return (), Problem(marked("{it} must be a name of letters, digits, dots and hyphens."))


def _machines(value: Sequence[str]) -> Found:
    named = all(all(map(str.strip, entry.partition("="))) for entry in value)
    return None if named else ((), Problem(marked("{it} must have entries such as laptop=~/Sync/laptop.")))


def _is_secret(value: str) -> bool:
    return bool(value) and redact(value) != value  # the patterns are loaded only if needed


_RULES: dict[tuple[str, ...], Callable[[Any], Found]] = {
    ("lancedb", "machine"): _machine_name,
    ("lancedb", "storage_options"): _storage_options,
    ("lancedb", "table"): _table_name,
    ("lancedb", "uri"): _table_uri,
    ("model",): _model,
    ("prices",): _prices,
    ("qmd", "scope", "rules"): _scope,
    ("query", "hybrid", "temporal_decay", "half_life_by_path"): _half_lives,
    ("remember", "slug", "model"): _chat_model,
    ("remember", "slug", "base_url"): _base_url,
    ("remember", "slug", "api_key_env"): _variable,
    ("local", "model_cache_dir"): _full_path,
    ("remote", "base_url"): _base_url,
    ("remote", "headers"): _headers,
    ("remote", "api_key_env"): _variable,
    ("sessions", "machines"): _machines,
    ("store", "path"): _full_path,
}


def refuse_at(text: str, path: Path, key_path: tuple[str, ...], problem: Problem) -> NoReturn:
    """Raise `SettingsError` about the key at `key_path` in the file at `path`, whose text is `text`."""
    line = line_of(find_lines(text), key_path)
    about = problem.about(tr('"{key}"', key=_shown(key_path)))
    raise SettingsError(tr("{path}, line {line}: {problem}", path=path, line=line, problem=about))


def _shown(key_path: tuple[str, ...]) -> str:
    """A key as shown to users."""
    return ".".join(_within_layer(key_path) or key_path)


def _within_layer(path: tuple[str, ...]) -> tuple[str, ...]:
    """A key's path without the name of its layer."""
    return path[1:] if path[0] == "defaults" else path[2:] if path[0] == "workspace" else path


@functools.cache
def options_of(section: type[Section]) -> dict[str, Any]:
    """The keys of a section, as in the file, with their types, without help texts."""
    hints = hints_of(section)
    kinds = {name: get_args(hint)[0] if get_origin(hint) is Annotated else hint for name, hint in hints.items()}
    return {key: kinds[name] for key, name in names_of(section)}


def names_of(section: type[Section]) -> Iterator[tuple[str, str]]:
    """Yield the key in the file and the attribute of each option; `msgspec.structs.fields` would read all types."""
    return zip(section.__struct_encode_fields__, section.__struct_fields__, strict=True)


def is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


def check_layer(values: Any, key_path: tuple[str, ...], refuse: Refuse) -> None:
    """Check the table found at `key_path` (`("defaults",)` or `("workspace", folder)`)."""
    if isinstance(values, dict) and key_path[0] == "workspace" and "workspace" in values:
        refuse((*key_path, "workspace"), Problem(marked("{it} can only be set in [defaults].")))
    if key_path[0] == "workspace" and key_path[1] in options_of(Settings):  # instead of the path of a folder
        refuse(key_path, Problem(marked('{it} must be in a table such as [defaults] or [workspace."/path/to/notes"].')))
    _check_section(values, Settings, key_path, refuse)


def refuse_unusable(value: Any, key_path: tuple[str, ...], refuse: Refuse) -> None:
    """Refuse values that no option can have: a NUL in a text or a name, a number that is too large."""
    if isinstance(value, dict):
        for key, inside in value.items():
            if "\0" in key:
                refuse(
                    key_path or (key,),
                    Problem(marked("{it} contains a NUL character, which names and paths can't contain.")),
                )
            refuse_unusable(inside, (*key_path, key), refuse)
    elif isinstance(value, list):
        for inside in value:
            refuse_unusable(inside, key_path, refuse)
    elif isinstance(value, str) and "\0" in value:
        refuse(key_path, Problem(marked("{it} contains a NUL character, which names and paths can't contain.")))
    elif isinstance(value, int) and abs(value) > _LARGEST:
        refuse(key_path, Problem(marked("{it} is too large.")))


def refuse_unknown(path: tuple[str, ...], known: Mapping[str, Any], refuse: Refuse) -> NoReturn:
    """Refuse a key that is not in `known`, naming the nearest key or the tables of an option.

    For a secret, say where it belongs.
    """
    key = path[-1]
    if looks_secret(key):
        refuse(path, SECRET)
    import difflib

    nearest = difflib.get_close_matches(key, known, n=1)
    if not difflib.get_close_matches(key, nearest, cutoff=_ALMOST):
        _refuse_misplaced(path, refuse)
    if nearest:
        refuse(path, Problem(marked('{it} is not known; did you mean "{nearest}"?'), {"nearest": nearest[0]}))
    refuse(path, Problem(marked("{it} is not known.")))


def _refuse_misplaced(path: tuple[str, ...], refuse: Refuse) -> None:
    """Refuse an option or a section of other tables, if these are few enough to be named."""
    layer = path[: len(path) - len(_within_layer(path))] or ("defaults",)
    tables = [(*layer, *table) for table in _tables_by_name().get(_simplified(path[-1]), ())]
    lines = [header_of(table) for table in tables]
    if len(tables) == 1 and _simplified(tables[0][-1]) == _simplified(path[-1]):
        refuse(path, Problem(marked("{it} is a table of its own: write {line}."), {"line": lines[0]}))
    if len(tables) == 1:
        refuse(path, Problem(marked("{it} belongs below the line {line}."), {"line": lines[0]}))
    if 1 < len(tables) <= _MAX_TABLES:
        refuse(path, Problem(marked("{it} belongs below one of the lines {lines}."), {"lines": ", ".join(lines)}))


def header_of(path: tuple[str, ...]) -> str:
    """Return the line that begins the table at a path."""
    return f"[{'.'.join(map(_written, path))}]"


def _written(part: str) -> str:
    """Return a part of a key as in the file."""
    return part if _PLAIN_KEY.fullmatch(part) else msgspec.json.encode(part).decode()


def _simplified(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


@functools.cache
def _tables_by_name() -> dict[str, list[tuple[str, ...]]]:
    """Return the tables that an option or a section can be in, by its name without separators.

    An option is written below the line of the section that has it, a section below its own.
    """
    tables: dict[str, list[tuple[str, ...]]] = {}

    def add(section: type[Section], table: tuple[str, ...]) -> None:
        for key, kind in options_of(section).items():
            within = (*table, key) if is_section(kind) else table
            tables.setdefault(_simplified(key), []).append(within)
            if is_section(kind):
                add(kind, within)

    add(Settings, ())
    return tables


def _check_section(values: Any, section: type[Section], path: tuple[str, ...], refuse: Refuse) -> None:
    if not isinstance(values, dict):
        refuse(path, Problem(marked("{it} must be a table of options.")))
    options = options_of(section)
    for key, value in values.items():
        if key not in options:
            refuse_unknown((*path, key), options, refuse)
        elif is_section(options[key]):
            _check_section(value, options[key], (*path, key), refuse)
        else:
            _check_value(value, options[key], (*path, key), refuse)


def _check_value(value: Any, kind: Any, path: tuple[str, ...], refuse: Refuse) -> None:
    finite = not isinstance(value, float) or math.isfinite(value)
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        finite = False
    within = _within_layer(path)
    if not finite:
        refuse(path, suggestion_for(within, value) or _other_type(kind))
    if problem := problem_of(within, value):
        location, message = problem
        refuse((*path[: len(path) - len(within)], *location), message)


def _other_type(kind: Any) -> Problem:
    """Return an example of a value of this type in the file, for a message about a value of another type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _other_type(arguments[0])
    if origin is Literal:
        return Problem(marked("{it} must be {names} or {last}."), _named(arguments))
    if origin is dict:
        return Problem(_TABLES[get_origin(arguments[1]) or arguments[1]])
    if origin is tuple and arguments[0] is str:
        return Problem(marked("{it} must be a list of texts in quotes."))
    if origin is tuple:
        return Problem(marked("{it} must be a list of {names} or {last}."), _named(get_args(arguments[0])))
    return Problem(_SIMPLE[kind])


def _named(choices: tuple[str, ...]) -> dict[str, str]:
    """Return the names as in the file: all but the last, and the last one."""
    *names, last = [f'"{name}"' for name in choices]
    return {"names": ", ".join(names), "last": last}


# --- The line of a key in a TOML text, which the standard parser doesn't report --------------------------------------

_ONE_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
_PART = lazy_pattern(_ONE_PART)
_NAME = rf"{_ONE_PART}(?:[ \t]*\.[ \t]*{_ONE_PART})*"
_TABLE = lazy_pattern(rf"[ \t]*\[\[?[ \t]*({_NAME})[ \t]*\]")
_KEY = lazy_pattern(rf"[ \t]*({_NAME})[ \t]*=")
_TOKEN = lazy_pattern(r'''"""|\'\'\'|"(?:[^"\\]|\\.)*"|'[^']*'|#.*''')
_CLOSING = {'"""': lazy_pattern(r'(?:[^"\\]|\\.|"(?!""))*"""'), "'''": lazy_pattern(r"(?:[^']|'(?!''))*'''")}

KeyPath = tuple[str, ...]


def find_lines(text: str) -> dict[KeyPath, int]:
    """Line (from 1) of every table header and key of a valid TOML text, by its full path."""
    keys = [(path, number) for number, (path, _, _) in _keys(text.split("\n"))]
    return dict(reversed(keys))  # the first line of each


def rename_key(text: str, key_path: KeyPath, new: str) -> str:
    """Rename the last part of a key's path in a valid TOML text, in all headers and keys; the rest is unchanged."""
    lines = text.split("\n")
    renamed = False
    for number, (path, key, above) in list(_keys(lines)):
        at = len(key_path) - 1 - above
        if at >= 0 and path[: len(key_path)] == key_path:
            start, end = [part.span() for part in _PART.finditer(lines[number - 1], *key.span(1))][at]
            lines[number - 1] = lines[number - 1][:start] + _written(new) + lines[number - 1][end:]
            renamed = True
    return "\n".join(lines) if renamed else _rename_inline(text, key_path, new)


def _rename_inline(text: str, key_path: KeyPath, new: str) -> str:
    """Rename a key in an inline table."""
    import tomlkit

    document = tomlkit.parse(text)
    table: Any = document
    for part in key_path[:-1]:
        table = table[part]
    getattr(table, "value", table)._replace(key_path[-1], new, table[key_path[-1]])
    return tomlkit.dumps(document)


def _keys(lines: Sequence[str]) -> Iterator[tuple[int, tuple[KeyPath, re.Match[str], int]]]:
    """Yield every line (from 1) with a header or a key: its full path, the match, and the parts of the header above."""
    table: KeyPath = ()
    quote = ""
    for number, line in enumerate(lines, start=1):
        if not quote:
            if header := _TABLE.match(line):
                table = _path(header[1])
                yield number, (table, header, 0)
            elif key := _KEY.match(line):
                yield number, (table + _path(key[1]), key, len(table))
        quote = _open_quote(line, quote)


def line_of(lines: dict[KeyPath, int], path: Sequence[str]) -> int:
    """Line of `path`, else of its first child (a table without a header), else of its parent (an inline table).

    1 if nothing of it was found.
    """
    for length in range(len(path), 0, -1):
        start = tuple(path[:length])
        children = (number for key, number in lines.items() if key[:length] == start)
        if number := lines.get(start) or min(children, default=0):
            return number
    return 1


def _path(name: str) -> KeyPath:
    """Return the parts of a dotted name, unquoted by the TOML parser."""
    level = tomllib.loads(f"{name} = 0")
    parts = []
    while isinstance(level, dict):
        part, level = next(iter(level.items()))
        parts.append(part)
    return tuple(parts)


def _open_quote(line: str, quote: str) -> str:
    """Return the triple quote open after `line`, given the one open before it."""
    position = 0
    while True:
        if quote:
            end = _CLOSING[quote].match(line, position)
            if not end:
                return quote
            position, quote = end.end(), ""
        else:
            token = _TOKEN.search(line, position)
            if not token:
                return ""
            position = token.end()
            quote = token[0] if token[0] in _CLOSING else ""
