"""The embedding provider: is there one, whose key, who agreed, does it answer, and does it still answer the same."""

from collections.abc import Iterator, Sequence

from engine.control import CancelToken
from engine.embedding.base import EmbeddingProvider
from engine.embedding.consent import REMOTE, consent_of, server_of
from engine.embedding.keys import key_state
from engine.embedding.probing import WORD
from engine.embedding.registry import Selection
from engine.errors import ProviderError
from engine.insight.health.findings import degraded, fine
from engine.insight.health.subject import Subject
from engine.records import HealthFinding
from engine.settings import Settings
from engine.wording import plural

_SAMPLE = 8
_LEAST_COSINE = 0.99


def look_at_keys(settings: Settings) -> Iterator[HealthFinding]:
    """One finding for each key that the settings call for; may wait for the keychain."""
    yield from (_look_at_key(settings, name) for name in REMOTE if _is_wanted(settings, name))


def look_at_provider(
    settings: Settings, selection: Selection, error: str | None, cancel: CancelToken, *, ask: bool
) -> HealthFinding:
    """`ask`: embed one word. `error`: why the last embedding failed. Raises `Cancelled`."""
    provider = selection.provider
    if provider is None:
        if selection.unavailable_reason:
            return degraded("embedding", "Embedding", f"Only words are searched: {selection.unavailable_reason}")
        return fine("embedding", "Embedding", "Only words are searched, as the settings say.")
    if ask:
        error = None
        try:
            provider.embed_query(WORD, cancel=cancel)
        except ProviderError as problem:
            error = str(problem)
    if error:
        return degraded("embedding", "Embedding", error)
    if selection.fallback_from:
        reason = selection.fallback_reason or ""
        stands_in = f"{provider.id} stands in for {selection.fallback_from}: {reason}"
        return degraded("embedding", "Embedding", stands_in)
    return fine("embedding", "Embedding", f"{provider.id}, {provider.model}{_dealings(settings, provider)}")


def look_at_agreement(subject: Subject, provider: EmbeddingProvider) -> HealthFinding:
    """Embed a few passages anew and compare: only for a provider on this machine, where that costs nothing."""
    id_, name = "vector-agreement", "Same vectors"
    model = subject.model()
    if provider.remote or provider.id in REMOTE:
        return fine(id_, name, "Not compared: texts would be sent and paid for.")
    if model is None:
        return fine(id_, name, "There are no vectors to compare.")
    with subject.store.read(subject.cancel) as snapshot:
        ids = snapshot.vector_chunk_ids(model.id)
        sample = ids[:: max(1, len(ids) // _SAMPLE)][:_SAMPLE]
        stored = dict(snapshot.vectors(model.id, sample))
        texts = {id_: chunk.text for id_, chunk in snapshot.chunks(sample).items() if id_ in stored}
    if not texts:
        return fine(id_, name, "There are no vectors to compare.")
    subject.step("Embedding a sample anew", 0, len(texts))
    try:
        cosines = _cosines(subject, provider, list(texts.values()), [stored[id_] for id_ in texts], model.dims)
    except ProviderError as error:
        return degraded(id_, name, str(error))
    wrong = sum(not cosine >= _LEAST_COSINE for cosine in cosines)  # what is no number is no likeness
    if wrong:
        detail = f"Of {plural(len(cosines), 'passage')} embedded anew, {wrong:,} got another vector than is stored."
        advice = f"Delete the vectors of {provider.model} in the settings, and update: they will be made anew."
        return degraded(id_, name, detail, advice=advice, count=wrong)
    return fine(id_, name, f"{plural(len(cosines), 'passage')} embedded anew got the vectors that are stored.")


def _cosines(
    subject: Subject, provider: EmbeddingProvider, texts: Sequence[str], stored: Sequence[bytes], dims: int
) -> list[float]:
    import numpy as np

    from engine.store.coding import decode

    made = provider.embed_documents(texts, cancel=subject.cancel)
    whole = [vector if len(vector) == 2 * dims else bytes(2 * dims) for vector in stored]
    if made.shape[1] != dims:
        return [0.0] * len(texts)
    cosines: list[float] = (made * decode(whole, dims).astype(np.float32)).sum(axis=1).tolist()
    return cosines


def _is_wanted(settings: Settings, name: str) -> bool:
    return name in {settings.provider, settings.fallback} or (
        settings.provider == "auto" and name in settings.remote.agreed
    )


def _look_at_key(settings: Settings, name: str) -> HealthFinding:
    state = key_state(name, settings)
    id_, title = f"key:{name}", f"Key: {name}"
    if state.problem:
        return degraded(id_, title, state.problem)
    if state.present:
        return fine(id_, title, f"It is in {state.place}.")
    return fine(id_, title, "There is none.")  # not every server needs one; the next finding says what follows


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
