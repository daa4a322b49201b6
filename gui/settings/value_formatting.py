"""Texts of the settings: values of options, and sentences about providers, keys and stored vectors. Pure functions.

Typed text is parsed here, too.
"""

import math
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import engine
from engine import (
    LANGUAGES,
    EmbeddingEstimate,
    KeyState,
    ModelMetadata,
    Option,
    ProviderError,
    ProviderProbe,
    Settings,
    StoredModelInfo,
    any_of,
    in_quotes,
    marked,
    number,
    tr,
    tr_count,
)
from gui.settings.engine_and_model_choice import TITLES as ENGINES
from gui.style import THEME_WORDS
from gui.text.formatting import CENT, day_text, money, size_text

PROVIDERS = (
    *((provider.name, provider.label, provider.sentence) for provider in engine.PROVIDERS),
    (
        "auto",
        marked("Automatic"),
        marked(
            "A model file if there is one, else a service with a key that you allow below, else the built-in model."
        ),
    ),
    ("none", marked("None"), marked("No search by meaning.")),
)
"""Name in the settings, display name, and a sentence; the latter two in English."""
NAMES = {name: title for name, title, _ in PROVIDERS}
OWNERS = {provider.name: provider.owner for provider in engine.PROVIDERS if provider.owner}
SENTENCES = {name: sentence for name, _, sentence in PROVIDERS}
_NOTHING_LEAVES = marked("Nothing leaves this machine.")
_FALLBACK_ALONE = marked("Nothing leaves this machine unless the fallback takes over.")


def destination_sentence(provider: str, base_url: str, *, remote_fallback: bool = False) -> str:
    """Return a sentence about which data leaves the machine.

    `remote_fallback`: whether `fallback_text` has something to add.
    """
    if provider not in ("auto", *engine.remote_names()):
        return tr(_FALLBACK_ALONE) if remote_fallback else tr(_NOTHING_LEAVES)
    if provider == "auto" and remote_fallback:
        return tr("Unless you choose a service below or the fallback takes over, no text leaves this machine.")
    if provider == "auto":
        return tr("Unless you tick a service below, no text leaves this machine.")
    host = host_of(base_url) if base_url else engine.provider_named(provider).hosts[0]
    if host in ("localhost", "127.0.0.1", "::1"):
        if remote_fallback:
            return tr("The texts go to a server on this machine; nothing leaves it unless the fallback takes over.")
        return tr("The texts go to a server on this machine; nothing leaves it.")
    if not host:
        return tr(
            "The texts of your notes and of the sessions that you chose, and your queries, are sent to this "
            "server. Secrets in sessions are masked first."
        )
    return tr(
        "The texts of your notes and of the sessions that you chose, and your queries, are sent to {host}. Secrets "
        "in sessions are masked first.",
        host=host,
    )


def sent_text(settings: Settings) -> str:
    """Describe what these settings send to the provider and to its fallback."""
    fallback = fallback_text(settings)
    if settings.provider != "auto":
        sent = destination_sentence(settings.provider, settings.remote.base_url, remote_fallback=bool(fallback))
    elif owners := any_of(OWNERS[name] for name in settings.remote.approved):
        sent = tr("Texts and queries may be sent to {owners}. Secrets in sessions are masked first.", owners=owners)
    else:
        sent = tr(_FALLBACK_ALONE) if fallback else tr(_NOTHING_LEAVES)
    return f"{sent} {fallback}".strip()


def fallback_text(settings: Settings) -> str:
    """Describe the data that is sent, and its receiver, if the provider fails; empty if none leaves the machine."""
    fallback = fallback_receiver(settings)
    if fallback is None:
        return ""
    return tr(
        "If the provider fails, the texts of your notes and of the sessions that you chose, and your queries, are "
        "sent to {host}. Secrets in sessions are masked first.",
        host=fallback[1],
    )


def fallback_owner(settings: Settings) -> str:
    """Return the company that receives texts if the provider fails; empty if nothing leaves the machine."""
    fallback = fallback_receiver(settings)
    return "" if fallback is None else OWNERS[fallback[0]]


def fallback_receiver(settings: Settings) -> tuple[str, str] | None:
    """Return provider and host that get texts if the provider fails; None if nothing leaves the machine."""
    try:
        return engine.remote_fallback(settings)
    except ProviderError:
        return None  # an incomplete address, which can't be saved


def host_of(base_url: str) -> str:
    """Return the host name in a URL; empty if there is none."""
    try:
        return urlsplit(base_url.strip()).hostname or ""
    except ValueError:
        return ""


def key_source_text(state: KeyState | None) -> str:
    """Describe where the API key is stored."""
    if state is None:
        return tr("Looking for an API key…")
    if state.problem:
        return state.problem
    if state.origin == "environment":
        return tr(
            "The API key in {place} takes precedence: remove it there to enter one here.",
            place=state.origin_text,
        )
    return (
        tr("An API key was found in {place}.", place=state.origin_text)
        if state.present
        else tr("No API key was found.")
    )


def probe_text(probe: ProviderProbe) -> str:
    """Return the result of testing a provider as a sentence."""
    if not probe.ok:
        return probe.error
    return tr(
        "{model} answered in {milliseconds:,.0f} ms, with {dims:,} dimensions.",
        model=probe.model,
        milliseconds=probe.milliseconds,
        dims=probe.dims,
    )


def list_price_text(metadata: ModelMetadata | None) -> str:
    """Return the placeholder of the price field: the list price."""
    if metadata is None or metadata.price is None:
        return tr("US dollars per million tokens")
    return tr("{price:g} (list price of {day})", price=metadata.price, day=day_text(metadata.checked))


def stored_text(model: StoredModelInfo) -> str:
    vectors = tr_count(
        "{count:,} vector of {dims:,} dimensions",
        "{count:,} vectors of {dims:,} dimensions",
        model.vectors,
        dims=model.dims,
    )
    parts = (vectors, size_text(model.bytes), tr("in use") if model.active else "")
    return " · ".join(filter(None, parts))


def save_label(estimate: EmbeddingEstimate | None, owner: str = "") -> str:
    """Return the label of the save button: with the price if any, and the `owner` who may receive texts then."""
    if owner:
        return tr("{save}, allow sending to {owner}", save=save_label(estimate), owner=owner)
    if estimate is None or not estimate.chunks or estimate.cost == 0:
        return tr("Save")
    if not estimate.cost:
        return tr("Save and embed")
    if estimate.cost < CENT:
        return tr("Save and embed for {price}", price=money(estimate.cost))
    return tr("Save and embed for about {price}", price=money(estimate.cost))


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
    "remote.approved": NAMES,
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


def choice_text(key: str, choice: str) -> str:
    """Return the label of a choice; languages have their own names in every language."""
    words = _WORDS.get(key, {}).get(choice) or choice[:1].upper() + choice[1:].replace("_", " ")
    return words if key == "window.language" and choice in LANGUAGES else tr(words)


def value_text(option: Option, value: Any) -> str:
    """Describe an option's value in a few words."""
    if value is None or value == "":
        return tr("not set") if option.optional else tr("empty")
    match option.kind:
        case "switch":
            return tr("on") if value else tr("off")
        case "choice":
            return choice_text(option.key, value)
        case "choices":
            return ", ".join(choice_text(option.key, choice) for choice in value) or tr("none")
        case "whole" | "number":
            unit = unit_of(option.key)
            number_words = number(value, ",g") if unit and abs(value) < 1e6 else number_text(value)
            return f"{number_words} {unit}".strip()
        case "list":
            return ", ".join(value) or tr("none")
        case "texts" | "numbers":
            return ", ".join(f"{name} = {number_text(entry)}" for name, entry in value.items()) or tr("none")
        case "lists":
            return ", ".join(f"{name} = {any_of(entry) or tr('none')}" for name, entry in value.items()) or tr("none")
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
        return "\n".join(f"{name} = {_OR.join(words)}" for name, words in value.items())
    if option.kind in ("texts", "numbers"):
        table: Mapping[str, Any] = value
        return "\n".join(f"{name} = {number_text(number)}" for name, number in table.items())
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
    parsed = read_number(text)
    if parsed is None or (whole and not parsed.is_integer()):
        raise UnreadableValue(tr("It must be a whole number.") if whole else tr("It must be a number."))
    return int(parsed) if whole or parsed.is_integer() else parsed


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
        value = float(compact.replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _table(option: Option, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        parts = line.rpartition("=") if option.kind == "numbers" else line.partition("=")
        name, sign, entry = map(str.strip, parts)
        if not (sign and name and (entry or option.kind == "lists")):
            raise UnreadableValue(
                tr('Write each line as "name = value": {line} is not in this form.', line=in_quotes(line.strip()))
            )
        found[name] = _parse_item(option, entry)
    return found


def _parse_item(option: Option, text: str) -> Any:
    """Parse one value of a table option."""
    if option.kind == "numbers":
        return _number(option, text, whole=False)
    if option.kind == "lists":
        return tuple(part.strip() for part in text.split(_OR) if part.strip())
    return text
