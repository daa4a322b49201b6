"""Formats the values of options, and parses typed text. Pure functions."""

import math
import re
from collections.abc import Mapping
from typing import Any

from engine import LANGUAGES, Option, any_of, in_quotes, marked, number, tr
from gui.settings.engine_and_model_choice import TITLES as ENGINES
from gui.settings.wording import NAMES
from gui.style import THEME_WORDS

_OR = " or "
"""Separator of texts on one line that may contain commas."""
_UNITS = (
    ("_ms", marked("milliseconds")),
    ("_seconds", marked("seconds")),
    ("_minutes", marked("minutes")),
    ("_days", marked("days")),
    ("_bytes", marked("bytes")),
    ("_chars", marked("characters")),
    ("tokens", marked("tokens")),
    ("overlap", marked("tokens")),
    ("font_scale", marked("times the desktop's")),
)
_PATHS = ("path", "_dir", "workspace")
_WORDS: dict[str, Mapping[Any, str]] = {
    "window.theme": THEME_WORDS,
    "window.language": {"system": marked("System"), **LANGUAGES},
    "citations": {"auto": marked("Not in groups"), "on": marked("Always"), "off": marked("Never")},
    "facts.agent_writes": {
        "on": marked("Yes"),
        "review": marked("Only facts that you approve"),
        "off": marked("Not at all"),
    },
    "sources": {"memory": marked("Notes"), "sessions": marked("Sessions")},
    "store.vector.engine": {
        "auto": marked("Automatic, by size of the index"),
        "numpy": marked("numpy, in memory"),
        "sqlite-vec": marked("sqlite-vec, in the index"),
    },
    "qmd.scope.default": {"allow": marked("May search"), "deny": marked("May not search")},
    "provider": NAMES,
    "fallback": NAMES,
    "remote.agreed": NAMES,
    "backend": ENGINES,
}


class UnreadableValue(ValueError):
    """Raised for typed text that is not a valid value; the message is one sentence."""


def unit_of(key: str) -> str:
    """Return the unit of a number option; empty if the option's name includes it."""
    return next((tr(unit) for ending, unit in _UNITS if key.endswith(ending)), "")


def is_path(option: Option) -> bool:
    """Whether the value of the option is a path."""
    return option.kind == "text" and option.key.endswith(_PATHS)


def choice_words(key: str, choice: str) -> str:
    """Return the label of a choice; languages have their own names in every language."""
    words = plain_choice_words(key, choice)
    return words if key == "window.language" and choice in LANGUAGES else tr(words)


def plain_choice_words(key: str, choice: str) -> str:
    """Return the English label of a choice."""
    known = _WORDS.get(key, {}).get(choice)
    return known or choice[:1].upper() + choice[1:].replace("_", " ")


def value_words(option: Option, value: Any) -> str:
    """Describe an option's value in a few words."""
    if value is None or value == "":
        return tr("not set") if option.optional else tr("empty")
    match option.kind:
        case "switch":
            return tr("on") if value else tr("off")
        case "choice":
            return choice_words(option.key, value)
        case "choices":
            return ", ".join(choice_words(option.key, choice) for choice in value) or tr("none")
        case "whole" | "number":
            unit = unit_of(option.key)
            number_words = number(value, ",g") if unit and abs(value) < 1e6 else number_text(value)
            return f"{number_words} {unit}".strip()
        case "list":
            return ", ".join(value) or tr("none")
        case "texts" | "numbers":
            return ", ".join(f"{name} = {number_text(held)}" for name, held in value.items()) or tr("none")
        case "lists":
            return ", ".join(f"{name} = {any_of(held) or tr('none')}" for name, held in value.items()) or tr("none")
        case "text":
            return str(value)


def number_text(value: Any) -> str:
    """Return a number as a user types it, with the decimal separator of the window's language; a text unchanged."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else number(value, "")
    return str(value)


def field_text(option: Option, value: Any) -> str:
    """Return an option's value as text to edit; lists and tables have one line per item."""
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
    """Parse typed text; None for an empty field, which unsets the option. Raises `UnreadableValue`."""
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
    if not text.strip() and option.optional:
        return None
    found = read_number(text)
    if found is None or (whole and not found.is_integer()):
        raise UnreadableValue(tr("It must be a whole number.") if whole else tr("It must be a number."))
    return int(found) if whole or found.is_integer() else found


def read_number(text: str) -> float | None:
    """Parse a number typed in the language of the window; None if it isn't one.

    The language's thousands separator is ignored before three digits; elsewhere comma and point are both decimal
    separators, so that 0.5 and 0,5 are the same.
    """
    compact = re.sub(r"[\s\u00a0\u202f]", "", text)
    thousands = number(1000)[1]
    if re.fullmatch(rf"[-+]?[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+(?:[.,]\d*)?", compact):
        compact = compact.replace(thousands, "")
    try:
        found = float(compact.replace(",", "."))
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _table(option: Option, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        parts = line.rpartition("=") if option.kind == "numbers" else line.partition("=")
        name, sign, held = map(str.strip, parts)
        if not (sign and name and (held or option.kind == "lists")):
            raise UnreadableValue(
                tr('Write each line as "name = value": {line} is not in this form.', line=in_quotes(line.strip()))
            )
        found[name] = _held(option, held)
    return found


def _held(option: Option, text: str) -> Any:
    """Parse one value of a table option."""
    if option.kind == "numbers":
        return _number(option, text, whole=False)
    if option.kind == "lists":
        return tuple(part.strip() for part in text.split(_OR) if part.strip())
    return text
