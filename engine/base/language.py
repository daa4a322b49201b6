"""Translation of the user interface: the English source text or a gettext catalogue.

Only the window calls `set_language`; the command line and the output for agents stay English. Numbers in a translated
sentence use the format of its language. Text in a file or an index is stored in English and translated when it is
shown.
"""

import os
import sys
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import msgspec

from engine.base import lazy_pattern

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""Available languages by tag, each with its native name."""
TRIAL_LANGUAGES = ("en-XA", "ar-XB")
"""Pseudo-locales for developers: accented and longer text, and the same from right to left. Text without accents is not
translatable; truncated text leaves too little space for other languages."""
_RIGHT_TO_LEFT = "ar-XB"
"""Trial language that mirrors the window, since no translation is into a right-to-left language."""
_RIGHT_TO_LEFT_MARK, _ISOLATE, _END_OF_ISOLATE = "\u200f", "\u2068", "\u2069"

_PLAIN, _ACCENTED = "acdeinosuyzACDEINOSUYZ", "áçďéíñóšúýžÁÇĎÉÍÑÓŠÚÝŽ"
_ACCENTS = str.maketrans(_PLAIN, _ACCENTED)
_FIELD_OR_TEXT = lazy_pattern(r"\{[^{}]*\}|[^{}]+")


class _Translations(msgspec.Struct, frozen=True):
    tag: str = "en"
    one: Callable[[str], str] = str
    """Translates a sentence."""
    many: Callable[[str, str, int], str] = lambda one, many, count: one if count == 1 else many
    marks: dict[int, int] | None = None
    """Table of thousands and decimal separators for `str.translate`; None for English."""
    right_to_left: bool = False


_translations = _Translations()


def set_language(tag: str) -> None:
    """Set the language by its tag in LANGUAGES or TRIAL_LANGUAGES; `system` selects that of the desktop.

    Text that is already shown does not change.

    Raises:
        ValueError: no such language.
    """
    global _translations  # noqa: PLW0603 - the language applies to the whole program, not to a call
    tag = system_language() if tag == "system" else tag
    if tag in TRIAL_LANGUAGES:
        turned = tag == _RIGHT_TO_LEFT
        translate = _pseudo_right_to_left if turned else _pseudo_localized
        _translations = _Translations(
            tag, translate, lambda one, many, count: translate(one if count == 1 else many), right_to_left=turned
        )
    elif tag == "en":
        _translations = _Translations()
    elif tag in LANGUAGES:
        # Imported here to keep the start of the command line fast: it is always English.
        from gettext import GNUTranslations
        from importlib.resources import files

        with files("resources").joinpath("translations", f"{tag}.mo").open("rb") as file:
            catalogue = GNUTranslations(file)
        _translations = _Translations(tag, catalogue.gettext, catalogue.ngettext, str.maketrans(",.", ".,"))
    else:
        raise ValueError(f"Unknown language {tag}: choose one of {', '.join(LANGUAGES)}")


def current_language() -> str:
    """Return the language tag in which the window is shown, such as `en` or `de`."""
    return _translations.tag


def system_language() -> str:
    """Return the first desktop language that is available, else English."""
    if sys.platform == "win32":
        import ctypes
        import locale

        requested = [locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")]
    else:
        settings = (os.environ.get(name, "") for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))
        requested = next((value for value in settings if value), "").split(":")
    return next((tag for tag in (language_name[:2].lower() for language_name in requested) if tag in LANGUAGES), "en")


def tr(text: str, /, **values: Any) -> str:
    """Translate a sentence to the current language and fill its fields like `str.format`.

    `text` must be a literal or a constant passed through `marked`, so that it is extracted for the catalogue.
    """
    translated = _translations.one(text) if text else ""
    return translated.format(**_written(values)) if values else translated


def tr_count(one: str, many: str, count: int, /, **values: Any) -> str:
    """Like `tr`, with the plural form for `count`, which also fills `{count}`: "{count:,} file", "{count:,} files"."""
    return _translations.many(one, many, count).format(**_written({"count": count, **values}))


# Babel 2.18 and QLocale write 6,300 numbers in English and German the same; Babel takes 20 µs each instead of 1 and
# brings 32 MB of data, and the engine does not import Qt.
def number(value: float, form: str = ",") -> str:
    """Format a number outside a sentence, in a table or a chart, for the current language; `form` as in `format`."""
    return _localized(format(value, form)) if _translations.marks is not None else format(value, form)


def marked(text: str) -> str:
    """Mark a constant for translation; `tr` translates it when it is shown, after the language is set."""
    return text


class _Int(int):
    def __format__(self, form: str) -> str:
        return _localized(format(int(self), form))


class _Float(float):
    def __format__(self, form: str) -> str:
        return _localized(format(float(self), form))


def _written(values: dict[str, Any]) -> dict[str, Any]:
    """Localize numbers, and isolate strings and paths in right-to-left text.

    Without isolation, a path in an Arabic sentence would begin with its last slash."""
    if _translations.right_to_left:
        words = {name: value for name, value in values.items() if isinstance(value, str | PurePath)}
        isolated = {name: f"{_ISOLATE}{value}{_END_OF_ISOLATE}" for name, value in words.items()}
        return {**values, **isolated}
    if _translations.marks is None:
        return values
    return {name: _OWN_FORMS.get(type(value), _unchanged)(value) for name, value in values.items()}


_OWN_FORMS: dict[type, Callable[[Any], Any]] = {int: _Int, float: _Float}


def _unchanged(value: Any) -> Any:
    return value


def _localized(number: str) -> str:
    """Localize the separators; German puts a no-break space before the percent sign."""
    return number.translate(_translations.marks or {}).replace("%", "\u00a0%")


def _pseudo_right_to_left(text: str) -> str:
    """Return pseudo-localized text that starts with a right-to-left mark."""
    return _RIGHT_TO_LEFT_MARK + _pseudo_localized(text)


def _pseudo_localized(text: str) -> str:
    """Return pseudo-localized text: accented, in brackets and a third longer; fields are unchanged."""
    parts = (part if part.startswith("{") else part.translate(_ACCENTS) for part in _FIELD_OR_TEXT.findall(text))
    return f"[{''.join(parts)}{' ~' * (len(text) // 6)}]"
