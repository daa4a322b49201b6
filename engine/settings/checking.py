"""Checks one layer of the settings file against the options, and says what is wrong in a sentence."""

import functools
import math
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

import msgspec

from engine.errors import SettingsError
from engine.settings.lines import find_lines, line_of
from engine.settings.options import Settings
from engine.settings.rules import SECRET_PROBLEM, looks_secret, other_name, problem_of
from engine.settings.section import Section

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text in quotes"}


Refuse = Callable[[tuple[str, ...], str], NoReturn]
"""Raises `SettingsError` about the key at a path; the second argument completes the sentence."""


def refuse_at(text: str, path: Path, where: tuple[str, ...], problem: str) -> NoReturn:
    """Raise `SettingsError` about the key at `where` in the file at `path`, whose text is `text`."""
    line = line_of(find_lines(text), where)
    raise SettingsError(f'{path}, line {line}: "{_shown(where)}" {problem}{"" if problem.endswith("?") else "."}')


def _shown(where: tuple[str, ...]) -> str:
    """A key as a person knows it."""
    return ".".join(_within_layer(where) or where)


def _within_layer(path: tuple[str, ...]) -> tuple[str, ...]:
    """A key's path without the name of its layer."""
    return path[1:] if path[0] == "defaults" else path[2:] if path[0] == "workspace" else path


@functools.cache
def options_of(section: type[Section]) -> dict[str, Any]:
    """The keys of a section, as they stand in the file, with their types, without help texts."""
    hints = get_type_hints(section)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(section)}


def is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


def check_layer(values: Any, where: tuple[str, ...], refuse: Refuse) -> None:
    """Check the table found at `where` (`("defaults",)` or `("workspace", folder)`)."""
    if isinstance(values, dict) and where[0] == "workspace" and "workspace" in values:
        refuse((*where, "workspace"), "can only stand in [defaults]")
    _check_section(values, Settings, where, refuse)


def refuse_unknown(path: tuple[str, ...], known: Mapping[str, Any], refuse: Refuse) -> NoReturn:
    """Refuse a key that is none of `known`, naming the nearest; a secret is told where it belongs."""
    key = path[-1]
    if looks_secret(key):
        refuse(path, SECRET_PROBLEM)
    import difflib

    nearest = difflib.get_close_matches(key, known, n=1)
    refuse(path, f'is not known; did you mean "{nearest[0]}"?' if nearest else "is not known")


def _check_section(values: Any, section: type[Section], path: tuple[str, ...], refuse: Refuse) -> None:
    if not isinstance(values, dict):
        refuse(path, "must be a table of options")
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
        refuse(path, other_name(within, value) or f"must be {_describe(kind)}")
    if problem := problem_of(within, value):
        where, what = problem
        refuse((*path[: len(path) - len(within)], *where), what)


def _describe(kind: Any) -> str:
    """What a value of this type looks like in the file."""
    if get_origin(kind) is Literal:
        names = [f'"{name}"' for name in get_args(kind)]
        return f"{', '.join(names[:-1])} or {names[-1]}"
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        return "a list of texts in quotes" if item is str else f"a list of {_describe(item)}"
    if get_origin(kind) is dict:
        item = get_args(kind)[1]
        return f"a table of names, each with {_describe(item)}"
    if get_origin(kind) in (Union, types.UnionType):
        return _describe(get_args(kind)[0])
    return _KINDS[kind]
