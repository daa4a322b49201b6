"""What `mnemoscope doctor` looks at of the embedding provider: is there one, whose key, who agreed, does it answer."""

from collections.abc import Iterator

from engine.cli.checks import Check, degraded, fine
from engine.control import CancelToken
from engine.embedding.base import EmbeddingProvider
from engine.embedding.consent import REMOTE, consent_of, server_of
from engine.embedding.keys import key_state
from engine.embedding.probing import WORD
from engine.embedding.registry import Selection, select_provider
from engine.errors import ProviderError
from engine.settings import Settings


def check_provider(settings: Settings, cancel: CancelToken) -> Iterator[Check]:
    """Try the provider with one word. Raises `Cancelled`."""
    yield from (_check_key(settings, name) for name in REMOTE if _is_wanted(settings, name))
    selection = select_provider(settings, cancel=cancel)
    provider = selection.provider
    if provider is None:
        if selection.unavailable_reason:
            yield degraded("Embedding", f"Only words are searched: {selection.unavailable_reason}", "")
        else:
            yield fine("Embedding", "Only words are searched, as the settings say.")
        return
    try:
        yield _check_answer(settings, selection, provider, cancel)
    finally:
        provider.close()


def _is_wanted(settings: Settings, name: str) -> bool:
    return name in {settings.provider, settings.fallback} or (
        settings.provider == "auto" and name in settings.remote.agreed
    )


def _check_key(settings: Settings, name: str) -> Check:
    state = key_state(name, settings)
    title = f"Key: {name}"
    if state.problem:
        return degraded(title, state.problem, "")
    if state.present:
        return fine(title, f"It is in {state.place}.")
    return fine(title, "There is none.")  # not every server needs one; the next check says what follows


def _check_answer(settings: Settings, selection: Selection, provider: EmbeddingProvider, cancel: CancelToken) -> Check:
    try:
        provider.embed_query(WORD, cancel=cancel)
    except ProviderError as error:
        return degraded("Embedding", str(error), "")
    if selection.fallback_from:
        reason = selection.fallback_reason or ""
        return degraded("Embedding", f"{provider.id} stands in for {selection.fallback_from}: {reason}", "")
    return fine("Embedding", f"{provider.id}, {provider.model}{_dealings(settings, provider)}")


def _dealings(settings: Settings, provider: EmbeddingProvider) -> str:
    """Where the texts go and at what price, for a provider on another machine."""
    if provider.id not in REMOTE:
        return ""
    server = server_of(settings, provider.id)
    where = f" at {server}" if server else ""
    sent = f"texts are sent to it{where} ({consent_of(settings, provider.id)})" if provider.remote else f"here{where}"
    if provider.price is None:
        return f"; {sent}; its price is not known here"
    return f"; {sent}; ${provider.price:g} for a million tokens" if provider.price else f"; {sent}"
