"""Checks one layer of the settings file against the options, and says what is wrong in a sentence."""

import functools
import math
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

import msgspec

from engine.base.errors import SettingsError
from engine.base.language import marked, tr
from engine.settings.options import Settings
from engine.settings.problem import SECRET, Problem
from engine.settings.rules import looks_secret, other_name, problem_of
from engine.settings.section import Section
from engine.settings.toml_lines import find_lines, line_of

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

_LARGEST = 2**53
"""Every smaller whole number survives databases, JSON and numbers with a point."""

Refuse = Callable[[tuple[str, ...], Problem], NoReturn]
"""Raises `SettingsError` about the key at a path."""


def refuse_at(text: str, path: Path, where: tuple[str, ...], problem: Problem) -> NoReturn:
    """Raise `SettingsError` about the key at `where` in the file at `path`, whose text is `text`."""
    line = line_of(find_lines(text), where)
    said = problem.about(tr('"{key}"', key=_shown(where)))
    raise SettingsError(tr("{path}, line {line}: {problem}", path=path, line=line, problem=said))


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
        refuse((*where, "workspace"), Problem(marked("{it} can only stand in [defaults].")))
    _check_section(values, Settings, where, refuse)


def refuse_unusable(value: Any, where: tuple[str, ...], refuse: Refuse) -> None:
    """Refuse what no option can have, wherever it is: a NUL in a text or a name, a number that is too large."""
    if isinstance(value, dict):
        for key, inside in value.items():
            if "\0" in key:
                refuse(where or (key,), Problem(marked("{it} holds a NUL character, which no name and no path has.")))
            refuse_unusable(inside, (*where, key), refuse)
    elif isinstance(value, list):
        for inside in value:
            refuse_unusable(inside, where, refuse)
    elif isinstance(value, str) and "\0" in value:
        refuse(where, Problem(marked("{it} holds a NUL character, which no name and no path has.")))
    elif isinstance(value, int) and abs(value) > _LARGEST:
        refuse(where, Problem(marked("{it} is too large.")))


def refuse_unknown(path: tuple[str, ...], known: Mapping[str, Any], refuse: Refuse) -> NoReturn:
    """Refuse a key that is none of `known`, naming the nearest; a secret is told where it belongs."""
    key = path[-1]
    if looks_secret(key):
        refuse(path, SECRET)
    import difflib

    nearest = difflib.get_close_matches(key, known, n=1)
    if nearest:
        refuse(path, Problem(marked('{it} is not known; did you mean "{nearest}"?'), {"nearest": nearest[0]}))
    refuse(path, Problem(marked("{it} is not known.")))


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
        refuse(path, other_name(within, value) or _other_type(kind))
    if problem := problem_of(within, value):
        where, what = problem
        refuse((*path[: len(path) - len(within)], *where), what)


def _other_type(kind: Any) -> Problem:
    """Of a value that is none of this type: what such a value looks like in the file."""
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
    """As they stand in the file: all but the last one, and that."""
    *names, last = [f'"{name}"' for name in choices]
    return {"names": ", ".join(names), "last": last}
