"""Texts of the settings about providers, keys and stored vectors. Pure functions."""

from urllib.parse import urlsplit

import engine
from engine import (
    EmbeddingEstimate,
    KeyState,
    ModelFacts,
    ProviderError,
    ProviderProbe,
    Settings,
    StoredModelInfo,
    any_of,
    marked,
    tr,
    tr_count,
)
from gui.widgets.formatting import CENT, day_words, money, size_text

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


def where_texts_go(provider: str, base_url: str, *, remote_fallback: bool = False) -> str:
    """Return a sentence about which data leaves the computer.

    `remote_fallback`: whether `fallback_words` has something to add.
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


def sent_words(settings: Settings) -> str:
    """Describe what these settings send to the provider and to its fallback."""
    fallback = fallback_words(settings)
    if settings.provider != "auto":
        sent = where_texts_go(settings.provider, settings.remote.base_url, remote_fallback=bool(fallback))
    elif owners := any_of(OWNERS[name] for name in settings.remote.agreed):
        sent = tr("Texts and queries may be sent to {owners}. Secrets in sessions are masked first.", owners=owners)
    else:
        sent = tr(_FALLBACK_ALONE) if fallback else tr(_NOTHING_LEAVES)
    return f"{sent} {fallback}".strip()


def fallback_words(settings: Settings) -> str:
    """Describe the data that is sent, and its receiver, if the provider fails; empty if none leaves the computer."""
    fallback = _fallback(settings)
    if fallback is None:
        return ""
    return tr(
        "If the provider fails, the texts of your notes and of the sessions that you chose, and your queries, are "
        "sent to {host}. Secrets in sessions are masked first.",
        host=fallback[1],
    )


def fallback_owner(settings: Settings) -> str:
    """Return the company that receives texts if the provider fails; empty if nothing leaves the computer."""
    fallback = _fallback(settings)
    return "" if fallback is None else OWNERS[fallback[0]]


def _fallback(settings: Settings) -> tuple[str, str] | None:
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


def key_words(state: KeyState | None) -> str:
    """Describe where the API key is stored."""
    if state is None:
        return tr("Looking for an API key…")
    if state.problem:
        return state.problem
    if state.origin == "environment":
        return tr(
            "The API key in {place} takes precedence: remove it there to enter one here.",
            place=state.place,
        )
    return tr("An API key was found in {place}.", place=state.place) if state.present else tr("No API key was found.")


def probe_words(probe: ProviderProbe) -> str:
    """Return the result of testing a provider as a sentence."""
    if not probe.ok:
        return probe.error
    return tr(
        "{model} answered in {milliseconds:,.0f} ms, with {dims:,} dimensions.",
        model=probe.model,
        milliseconds=probe.milliseconds,
        dims=probe.dims,
    )


def list_price_words(facts: ModelFacts | None) -> str:
    """Return the placeholder of the price field: the list price."""
    if facts is None or facts.price is None:
        return tr("US dollars per million tokens")
    return tr("{price:g} (list price of {day})", price=facts.price, day=day_words(facts.checked))


def stored_words(model: StoredModelInfo) -> str:
    vectors = tr_count(
        "{count:,} vector of {dims:,} dimensions",
        "{count:,} vectors of {dims:,} dimensions",
        model.vectors,
        dims=model.dims,
    )
    parts = (vectors, size_text(model.bytes), tr("in use") if model.active else "")
    return " · ".join(filter(None, parts))


def accept_words(estimate: EmbeddingEstimate | None, owner: str = "") -> str:
    """Return the label of the save button: with the price if any, and the `owner` who may receive texts then."""
    if owner:
        return tr("{save}, allow sending to {owner}", save=accept_words(estimate), owner=owner)
    if estimate is None or not estimate.chunks or estimate.cost == 0:
        return tr("Save")
    if not estimate.cost:
        return tr("Save and embed")
    if estimate.cost < CENT:
        return tr("Save and embed for {price}", price=money(estimate.cost))
    return tr("Save and embed for about {price}", price=money(estimate.cost))
