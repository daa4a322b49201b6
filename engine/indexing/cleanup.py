"""After a sync: the vectors brought in step, what nobody needs any more dropped, its room given back to the disk."""

from engine.base.cancellation import CancelToken
from engine.indexing.sync_parts import SyncParts
from engine.store.index import WORDS_TO_FORGET, IndexStore
from engine.store.snapshot import MOST_FREE
from engine.store.vector_encoding import StoredModel


def tidy(parts: SyncParts, model: StoredModel | None, token: CancelToken) -> None:
    """Raises `Cancelled` between steps; the next sync does the rest."""
    if model is not None:
        parts.vectors.settle(model, token)
    store, cache = parts.store, parts.settings.cache
    keep = cache.max_entries if cache.enabled else 0
    with store.read() as snapshot:
        # Vectors in use may be more than are to be kept: no need to look for others again before anything changes.
        surplus = snapshot.cache_entries() > keep and snapshot.meta("evicted") != f"{snapshot.stamp}, {keep}"
        old = len(snapshot.generations()) > 1
        holes = snapshot.free_share() > MOST_FREE
        words = snapshot.meta(WORDS_TO_FORGET) is not None
    if old:
        with store.write() as writer:
            writer.discard_other_generations()
    parts.vectors.discard_unused(model)
    with store.read() as snapshot:
        dropped = snapshot.discarded()
    if dropped:
        store.empty_discarded(token)
    if words:
        store.forget_words(token)
    if surplus:
        _evict(store, keep, token)
    if dropped or surplus or holes:
        store.vacuum(token)


def _evict(store: IndexStore, keep: int, token: CancelToken) -> None:
    evicted = 1
    while evicted:
        token.checkpoint()
        with store.write() as writer:
            evicted = writer.evict(keep)
            if not evicted:
                writer.set_meta("evicted", f"{writer.stamp}, {keep}")
