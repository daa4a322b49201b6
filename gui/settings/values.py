"""Values of options as words, and back from what was typed. Pure functions."""

import math
from collections.abc import Mapping
from typing import Any

from engine import Option
from gui.settings.engine_choice import TITLES as ENGINES
from gui.settings.wording import NAMES
from gui.theme_names import THEME_WORDS

_OR = " or "
"""Between the texts of a list on one line, where a comma may be part of one."""
NOT_READ = "It must be {what}."
_UNITS = (
    ("_ms", "milliseconds"),
    ("_seconds", "seconds"),
    ("_minutes", "minutes"),
    ("_days", "days"),
    ("_bytes", "bytes"),
    ("_chars", "characters"),
    ("tokens", "tokens"),
    ("overlap", "tokens"),
    ("font_scale", "times the desktop's"),
)
_PATHS = ("path", "_dir", "workspace")
_WORDS: dict[str, Mapping[Any, str]] = {
    "window.theme": THEME_WORDS,
    "citations": {"auto": "Not in groups", "on": "Always", "off": "Never"},
    "facts.agent_writes": {"on": "Yes", "review": "Only what you approve", "off": "Not at all"},
    "sources": {"memory": "Notes", "sessions": "Sessions"},
    "store.vector.engine": {"numpy": "numpy, in memory", "sqlite-vec": "sqlite-vec, in the index"},
    "qmd.scope.default": {"allow": "May search", "deny": "May not search"},
    "provider": NAMES,
    "fallback": NAMES,
    "remote.agreed": NAMES,
    "backend": ENGINES,
}


class Unread(ValueError):
    """What was typed is no value of the option; the message is one sentence."""


def unit_of(key: str) -> str:
    """What a number counts; empty where its name says it."""
    return next((unit for ending, unit in _UNITS if key.endswith(ending)), "")


def is_path(option: Option) -> bool:
    """Whether its text names a file or a folder."""
    return option.kind == "text" and option.key.endswith(_PATHS)


def choice_words(key: str, choice: str) -> str:
    known = _WORDS.get(key, {}).get(choice)
    return known or choice[:1].upper() + choice[1:].replace("_", " ")


def value_words(option: Option, value: Any) -> str:
    """The value in a few words, for a line beside others."""
    if value is None or value == "":
        return "not set" if option.optional else "empty"
    match option.kind:
        case "switch":
            return "on" if value else "off"
        case "choice":
            return choice_words(option.key, value)
        case "choices":
            return ", ".join(choice_words(option.key, choice) for choice in value) or "none"
        case "whole" | "number":
            unit = unit_of(option.key)
            return f"{value:,g} {unit}" if unit and abs(value) < 1e6 else f"{number_text(value)} {unit}".strip()
        case "list":
            return ", ".join(value) or "none"
        case "texts" | "numbers":
            return ", ".join(f"{name} = {number_text(held)}" for name, held in value.items()) or "none"
        case "lists":
            return ", ".join(f"{name} = {_OR.join(held) or 'none'}" for name, held in value.items()) or "none"
        case "text":
            return str(value)


def number_text(value: Any) -> str:
    """A number as it is typed; a text as it is."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def field_text(option: Option, value: Any) -> str:
    """The value as it stands in a field to type in: lists and tables have a line for each of theirs."""
    if value is None:
        return ""
    if option.kind == "list":
        return "\n".join(value)
    if option.kind == "lists":
        return "\n".join(f"{name} = {_OR.join(one)}" for name, one in value.items())
    if option.kind in ("texts", "numbers"):
        held: Mapping[str, Any] = value
        return "\n".join(f"{name} = {number_text(one)}" for name, one in held.items())
    return number_text(value)


def read_field(option: Option, text: str) -> Any:
    """What was typed as a value; None where nothing stands there and that unsets the option. Raises `Unread`."""
    match option.kind:
        case "whole":
            return _number(option, text, whole=True)
        case "number":
            return _number(option, text, whole=False)
        case "list":
            return tuple(line.strip() for line in text.splitlines() if line.strip())
        case "texts" | "numbers" | "lists":
            return _table(option, text)
        case _:
            return text.strip()


def _number(option: Option, text: str, *, whole: bool) -> float | None:
    bare = text.strip().replace("\u00a0", "").replace(" ", "")
    if not bare and option.optional:
        return None
    try:
        number = float(bare.replace(",", "") if whole else bare.replace(",", "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or (whole and not number.is_integer()):
        raise Unread(NOT_READ.format(what="a whole number" if whole else "a number"))
    return int(number) if whole or number.is_integer() else number


def _table(option: Option, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        parts = line.rpartition("=") if option.kind == "numbers" else line.partition("=")
        name, sign, held = map(str.strip, parts)
        if not (sign and name and (held or option.kind == "lists")):
            raise Unread(f'Each line must be such as "name = value": “{line.strip()}” is not.')
        found[name] = _held(option, held)
    return found


def _held(option: Option, text: str) -> Any:
    """A value of a table."""
    if option.kind == "numbers":
        return _number(option, text, whole=False)
    if option.kind == "lists":
        return tuple(part.strip() for part in text.split(_OR) if part.strip())
    return text
