"""The options as data, for forms, lists and searches over them."""

import functools
import types
from collections.abc import Iterator
from typing import Any, Literal, NoReturn, Union, get_args, get_origin

import msgspec

from engine.base.errors import SettingsError
from engine.base.language import tr
from engine.settings.checking import check_layer, is_section, names_of
from engine.settings.options import Settings
from engine.settings.settings_section import Applies, Group, Problem, Section, hints_of

OptionKind = Literal["switch", "choice", "choices", "whole", "number", "text", "list", "texts", "numbers", "lists"]
"""`choices`: some of the named values; `list`: any texts; `texts`, `numbers` and `lists`: such values by name."""


class Option(msgspec.Struct, frozen=True):
    """One option of the settings file."""

    key: str
    """Key, such as `query.min_score`."""
    kind: OptionKind
    help: str
    default: Any
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    """Ends of a number's range, inclusive; None if it has none."""
    optional: bool = False
    """Whether it may be unset, which is then the default (None)."""
    label: str = ""
    """English label, empty for none; the help is English too."""
    group: Group = Group.MORE
    also: str = ""
    """English synonyms for the search over options."""
    applies: Applies = "reopening"
    for_all: bool = False
    """Whether it can only be set for all workspaces."""


@functools.cache
def all_options() -> tuple[Option, ...]:
    """Every option of `Settings`, in the order of their declaration."""
    return tuple(_options(Settings, "", "reopening"))


def value_at(settings: Settings, key: str) -> Any:
    """The value of the option `key` in these settings."""
    value: Any = settings
    for part in key.split("."):
        section: type[Section] = type(value)
        value = getattr(value, _field_name(section, part))
    return value


def option_problem(key: str, value: Any) -> str:
    """Return why a value is invalid for the option `key`, as a sentence; empty if it is valid. None unsets the
    option."""
    if value is None:
        return ""
    if problem := _problem(key, list(value) if isinstance(value, tuple) else value, ("defaults",)):
        return problem
    option = next(option for option in all_options() if option.key == key)
    return _range_problem(option, value) if option.kind in ("whole", "number") else ""


def _problem(key: str, value: Any, layer: tuple[str, ...]) -> str:
    """The reason why a layer can't have this value; empty if it can."""
    entry: Any = value
    for part in reversed(key.split(".")):
        entry = {part: entry}
    try:
        check_layer(entry, layer, _refuse)
    except SettingsError as error:
        return str(error)
    return ""


def _refuse(key_path: tuple[str, ...], problem: Problem) -> NoReturn:
    raise SettingsError(problem.about(tr("It")))


def _range_problem(option: Option, value: float) -> str:
    low, high = option.low, option.high
    if (low is None or value >= low) and (high is None or value <= high):
        return ""
    if low is not None and high is not None:
        return tr("It must be from {low:g} to {high:,g}.", low=low, high=high)
    if low is not None:
        return tr("It must be {low:g} or more.", low=low)
    return tr("It must be {high:,g} or less.", high=high)


def _options(section: type[Section], above: str, inherited: Applies) -> Iterator[Option]:
    applies = inherited if section.APPLIES == "reopening" else section.APPLIES
    hints = hints_of(section)
    defaults = section()
    for written, name in names_of(section):
        key, hint = above + written, hints[name]
        if is_section(hint):
            yield from _options(hint, key + ".", applies)
        else:
            option = _option(key, hint, getattr(defaults, name))
            meta = get_args(hint)[1].extra
            yield msgspec.structs.replace(
                option, group=meta["group"] or section.GROUP, applies=meta["applies"] or applies
            )


def _option(key: str, hint: Any, default: Any) -> Option:
    kind, meta = get_args(hint)
    optional = get_origin(kind) in (Union, types.UnionType)
    if optional:
        kind = get_args(kind)[0]
    name, choices = _kind(kind)
    return Option(
        key=key,
        kind=name,
        help=meta.description,
        label=meta.extra["label"],
        also=meta.extra["also"],
        default=default,
        choices=choices,
        low=meta.extra["low"],
        high=meta.extra["high"],
        optional=optional,
        for_all=bool(_problem(key, list(default) if isinstance(default, tuple) else default, ("workspace", ""))),
    )


def _kind(kind: Any) -> tuple[OptionKind, tuple[str, ...]]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "choice", arguments
    if origin is tuple:
        return ("list", ()) if arguments[0] is str else ("choices", get_args(arguments[0]))
    if origin is dict:
        by_name: dict[Any, OptionKind] = {str: "texts", float: "numbers", tuple: "lists"}
        return by_name[get_origin(arguments[1]) or arguments[1]], ()
    simple: dict[Any, OptionKind] = {bool: "switch", int: "whole", float: "number", str: "text"}
    return simple[kind], ()


@functools.cache
def _field_name(section: type[Section], part: str) -> str:
    """Return the attribute for the name `part` in the file."""
    return dict(names_of(section))[part]
