"""Checks of the embedding provider: its availability, key, consent, response, and agreement with stored vectors."""

from collections.abc import Iterator, Sequence

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.base.language import tr, tr_count
from engine.embedding.api_keys import key_state
from engine.embedding.consent import REMOTE, consent_of, remote_fallback, server_of
from engine.embedding.provider_interface import EmbeddingProvider
from engine.embedding.provider_selection import WORD, Selection
from engine.insight.health.health_check import Subject, degraded, fine
from engine.records import HealthFinding
from engine.settings import Settings
from engine.store import stored_models

_SAMPLE = 8
_MIN_COSINE = 0.99


def check_keys(settings: Settings) -> Iterator[HealthFinding]:
    """Yield a finding for each API key that the settings require; may wait for the keychain."""
    yield from (_check_key(settings, name) for name in REMOTE if _is_configured(settings, name))


def check_provider(
    settings: Settings, selection: Selection, error: str | None, cancel: CancelToken, *, probe: bool
) -> HealthFinding:
    """Check the embedding provider.

    `probe`: embed one word as a test. `error`: why the last embedding failed. Raises `Cancelled`.
    """
    id_, name = "embedding", tr("Embedding")
    provider = selection.provider
    if provider is None:
        if selection.unavailable_reason:
            only_words = tr("No search by meaning: {reason}", reason=selection.unavailable_reason)
            return degraded(id_, name, only_words)
        return fine(id_, name, tr("No search by meaning, as set in the settings."))
    if probe:
        error = None
        try:
            provider.embed_query(WORD, cancel=cancel)
        except ProviderError as problem:
            error = str(problem)
    if error:
        return degraded(id_, name, error)
    if selection.fallback_from:
        stands_in = tr(
            "{provider} is used instead of {other}: {reason}",
            provider=provider.id,
            other=selection.fallback_from,
            reason=selection.fallback_reason or "",
        )
        return degraded(id_, name, stands_in)
    privacy = f"{_sent(settings, provider)}{_sent_later(settings, provider)}"
    return fine(id_, name, f"{provider.id}, {provider.model}{privacy}")


def check_agreement(subject: Subject, provider: EmbeddingProvider) -> HealthFinding:
    """Embed a few indexed passages again, and compare their stored vectors; for free local providers only."""
    id_, name = "vector-agreement", tr("Stored vectors match the model")
    model = subject.model()
    if provider.remote or provider.id in REMOTE:
        return fine(
            id_, name, tr("Stored vectors were not compared, because texts would be sent to the provider and billed.")
        )
    if model is None:
        return fine(id_, name, tr("There are no vectors to compare."))
    with subject.store.read(subject.cancel) as snapshot:
        sample = stored_models.spread_chunks(snapshot, model, _SAMPLE)
        stored = dict(snapshot.vectors(model.id, model.dims, sample))
        texts = {id_: chunk.text for id_, chunk in snapshot.chunks(sample).items() if id_ in stored}
    if not texts:
        return fine(id_, name, tr("There are no vectors to compare."))
    subject.step(tr("Re-embedding a sample of passages"), 0, len(texts))
    try:
        cosines = _cosines(subject, provider, list(texts.values()), [stored[id_] for id_ in texts], model.dims)
    except ProviderError as error:
        return degraded(id_, name, str(error))
    wrong = sum(not cosine >= _MIN_COSINE for cosine in cosines)  # NaN counts as different
    if wrong:
        detail = tr_count(
            "{wrong:,} of {count:,} re-embedded passage differs from its stored vector.",
            "{wrong:,} of {count:,} re-embedded passages differ from their stored vectors.",
            len(cosines),
            wrong=wrong,
        )
        advice = tr(
            "In the settings, delete the vectors of {model}. Then update to embed the passages again.",
            model=provider.model,
        )
        return degraded(id_, name, detail, advice=advice, count=wrong)
    detail = tr_count(
        "{count:,} re-embedded passage matches its stored vector.",
        "{count:,} re-embedded passages match their stored vectors.",
        len(cosines),
    )
    return fine(id_, name, detail)


def _cosines(
    subject: Subject, provider: EmbeddingProvider, texts: Sequence[str], stored: Sequence[bytes], dims: int
) -> list[float]:

    from engine.store.vector_encoding import decode

    made = provider.embed_documents(texts, cancel=subject.cancel)
    if made.shape[1] != dims:
        return [0.0] * len(texts)
    cosines: list[float] = (made * decode(stored, dims)).sum(axis=1).tolist()
    return cosines


def _is_configured(settings: Settings, name: str) -> bool:
    return name in {settings.provider, settings.fallback} or (
        settings.provider == "auto" and name in settings.remote.approved
    )


def _check_key(settings: Settings, name: str) -> HealthFinding:
    state = key_state(name, settings)
    id_, title = f"key:{name}", tr("API key of {provider}", provider=name)
    if state.problem:
        return degraded(id_, title, state.problem)
    if state.present:
        return fine(id_, title, tr("The API key is in {place}.", place=state.origin_text))
    return fine(id_, title, tr("There is no API key."))  # not all servers need one; the next finding covers it


def _sent_later(settings: Settings, provider: EmbeddingProvider) -> str:
    fallback = remote_fallback(settings, provider.id)
    if fallback is None:
        return ""
    sent = tr("if it fails, texts are sent to {provider} at {server}", provider=fallback[0], server=fallback[1])
    return f"; {sent}"


def _sent(settings: Settings, provider: EmbeddingProvider) -> str:
    if provider.id not in REMOTE:
        return ""
    server = server_of(settings, provider.id)
    agreed = consent_of(settings, provider.id)
    fields = {"server": server, "consent": agreed and tr(agreed)}
    if provider.remote:
        sent = tr("texts are sent to this provider ({consent})", **fields)
        if server:
            sent = tr("texts are sent to this provider at {server} ({consent})", **fields)
    else:
        sent = (
            tr("the model runs on this machine, on the server {server}", server=server)
            if server
            else tr("the model runs on this machine")
        )
    if provider.price is None:
        return "; ".join(("", sent, tr("the price of the provider is unknown")))
    if not provider.price:
        return f"; {sent}"
    return "; ".join(("", sent, tr("${price:g} per million tokens", price=provider.price)))
