"""The language of what the window says: English as it stands in the code, or a catalogue that translates it.

Only the window calls `speak`: the command line, and what agents read, stay English. Numbers within a translated
sentence are written as its language writes them. What is kept in a file or an index is English, and translated when it
is shown.
"""

import os
import re
import sys
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, NamedTuple

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""What the program speaks, by tag, each by its own name."""
TRIAL_LANGUAGES = ("en-XA", "ar-XB")
"""For those who build the program: accented and longer, and the same from right to left. What stays plain in it is not
translatable, what is cut off leaves no room for other languages."""
_RIGHT_TO_LEFT = "ar-XB"
"""No language that the program has is written so."""
_RIGHT_TO_LEFT_MARK, _ISOLATE, _END_OF_ISOLATE = "\u200f", "\u2068", "\u2069"

_PLAIN, _ACCENTED = "acdeinosuyzACDEINOSUYZ", "áçďéíñóšúýžÁÇĎÉÍÑÓŠÚÝŽ"
_ACCENTS = str.maketrans(_PLAIN, _ACCENTED)
_FIELD_OR_TEXT = re.compile(r"\{[^{}]*\}|[^{}]+")


class _Speech(NamedTuple):
    tag: str = "en"
    one: Callable[[str], str] = str
    """A sentence to that of the language."""
    many: Callable[[str, str, int], str] = lambda one, many, count: one if count == 1 else many
    marks: dict[int, int] | None = None
    """Thousands and decimals as `str.translate` takes them; None where they are English."""
    right_to_left: bool = False


_speech = _Speech()


def speak(tag: str) -> None:
    """Say everything from now on in the language of LANGUAGES or TRIAL_LANGUAGES with this tag, `system` that of the
    desktop; what is shown already stays as it is.

    Raises:
        ValueError: no such language.
    """
    global _speech  # noqa: PLW0603 - one person reads one window: the language is the program's, not a call's
    tag = system_language() if tag == "system" else tag
    if tag in TRIAL_LANGUAGES:
        turned = tag == _RIGHT_TO_LEFT
        said = _turned if turned else _tried
        _speech = _Speech(tag, said, lambda one, many, count: said(one if count == 1 else many), right_to_left=turned)
    elif tag == "en":
        _speech = _Speech()
    elif tag in LANGUAGES:
        # Imported here: the command line never speaks another language, and starts without them.
        from gettext import GNUTranslations
        from importlib.resources import files

        with files("resources").joinpath("translations", f"{tag}.mo").open("rb") as file:
            catalogue = GNUTranslations(file)
        _speech = _Speech(tag, catalogue.gettext, catalogue.ngettext, str.maketrans(",.", ".,"))
    else:
        raise ValueError(f"Mnemoscope speaks {', '.join(LANGUAGES)}, not {tag}")


def spoken() -> str:
    """The tag of the language that is spoken."""
    return _speech.tag


def system_language() -> str:
    """The first language of the desktop's that the program has, else English."""
    if sys.platform == "win32":
        import ctypes
        import locale

        wished = [locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")]
    else:
        asked = (os.environ.get(name, "") for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))
        wished = next((value for value in asked if value), "").split(":")
    return next((tag for tag in (wish[:2].lower() for wish in wished) if tag in LANGUAGES), "en")


def tr(text: str, /, **values: Any) -> str:
    """A sentence in the language that is spoken, its fields filled as `str.format` does.

    `text` stands here as a literal, or is a constant that stood in `marked`, so that it is found for the catalogue.
    """
    said = _speech.one(text) if text else ""
    return said.format(**_written(values)) if values else said


def tr_count(one: str, many: str, count: int, /, **values: Any) -> str:
    """As `tr`, with the form for `count`, which is the field `{count}` too: "{count:,} file", "{count:,} files"."""
    return _speech.many(one, many, count).format(**_written({"count": count, **values}))


def number(value: float, form: str = ",") -> str:
    """A number that stands alone, in a table or a drawing, as the language writes it; `form` as `format` takes it."""
    return _as_spoken(format(value, form)) if _speech.marks is not None else format(value, form)


def marked(text: str) -> str:
    """A constant that `tr` translates where it is shown: it is made before anyone has chosen a language."""
    return text


class _Int(int):
    def __format__(self, form: str) -> str:
        return _as_spoken(format(int(self), form))


class _Float(float):
    def __format__(self, form: str) -> str:
        return _as_spoken(format(float(self), form))


def _written(values: dict[str, Any]) -> dict[str, Any]:
    """With numbers that are written as the language does, and words that keep their order among those of another
    direction: a path that stands in an Arabic sentence would begin with its last slash."""
    if _speech.right_to_left:
        words = {name: value for name, value in values.items() if isinstance(value, str | PurePath)}
        isolated = {name: f"{_ISOLATE}{value}{_END_OF_ISOLATE}" for name, value in words.items()}
        return {**values, **isolated}
    if _speech.marks is None:
        return values
    return {name: _OWN_FORMS.get(type(value), _same)(value) for name, value in values.items()}


_OWN_FORMS: dict[type, Callable[[Any], Any]] = {int: _Int, float: _Float}


def _same(value: Any) -> Any:
    return value


def _as_spoken(number: str) -> str:
    """German has a thin line between a number and its percent sign where English has nothing."""
    return number.translate(_speech.marks or {}).replace("%", "\u00a0%")


def _turned(text: str) -> str:
    """As if its letters were those of a language from right to left, which its sentences begin with."""
    return _RIGHT_TO_LEFT_MARK + _tried(text)


def _tried(text: str) -> str:
    """A third longer, in brackets, with an accent wherever there is one; fields stay as they are."""
    parts = (part if part.startswith("{") else part.translate(_ACCENTS) for part in _FIELD_OR_TEXT.findall(text))
    return f"[{''.join(parts)}{' ~' * (len(text) // 6)}]"
