"""The embedding models of one open memory: stored vectors, estimates, and embedding that awaits approval."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.embedding.provider_selection import Selection
from engine.indexing.cost_estimate import estimate, name_of
from engine.memory.index_updates import Approvals
from engine.memory.memory_context import MemoryContext
from engine.records import EmbeddingEstimate, StoredModelInfo
from engine.settings import Settings
from engine.store import stored_models
from engine.store.stored_models import ModelName, UnapprovedEmbedding

_NO_KEY = "none"
"""Placeholder for a missing API key: estimates don't need one."""


class Select(Protocol):
    """Function that creates the provider for given settings; see `select_provider`."""

    def __call__(
        self, settings: Settings, *, key: str | None = None, cancel: CancelToken | None = None
    ) -> Selection: ...


class ModelLibrary:
    """Lists, estimates and deletes the vectors of embedding models. Thread-safe.

    See `MemorySearchManager` for the methods.
    """

    def __init__(
        self,
        context: MemoryContext,
        approvals: Approvals,
        select: Select,
    ) -> None:
        """`select` creates providers for settings other than the current ones."""
        self._settings = context.settings
        self._store = context.store
        self._vectors = context.vectors
        self._provider = context.provider
        self._indexing = context.indexing
        self._approvals = approvals
        self._select = select

    def estimate(self, settings: Settings | None, cancel: CancelToken | None) -> EmbeddingEstimate:
        """Estimate number, tokens and cost of the texts to embed, under other settings if some are given."""
        if settings is None:
            return self._estimate(self._provider.selection, self._settings, cancel)
        selection = self._as_if(settings, cancel)
        try:
            return self._estimate(selection, settings, cancel)
        finally:
            if selection.provider is not None:
                selection.provider.close()

    def _as_if(self, settings: Settings, cancel: CancelToken | None) -> Selection:
        """Return the provider that these settings select, even if its API key is missing."""
        selection = self._select(settings, cancel=cancel)
        if settings.provider == "auto" or (selection.provider is not None and selection.fallback_from is None):
            return selection
        alone = msgspec.structs.replace(settings, fallback="none")
        keyless = self._select(alone, key=_NO_KEY, cancel=cancel)
        if keyless.provider is None:
            return selection
        if selection.provider is not None:
            selection.provider.close()
        return keyless

    def _estimate(self, selection: Selection, settings: Settings, cancel: CancelToken | None) -> EmbeddingEstimate:
        if selection.provider is None:
            if selection.unavailable_reason:
                raise ProviderError(selection.unavailable_reason)
            return _NOTHING
        with self._store.read(cancel) as snapshot:
            return estimate(snapshot, selection.provider, settings, cancel).estimate

    def awaiting(self, awaiting: UnapprovedEmbedding | None) -> EmbeddingEstimate | None:
        """Return the estimate of the last sync if its embedding still awaits approval, else None."""
        provider = self._provider.selected()  # the status must not wait for the keychain
        active = None if provider is None else name_of(provider)
        return still_awaiting(awaiting, active, self._settings, self._approvals.tokens)

    def stored(self) -> tuple[StoredModelInfo, ...]:
        """Return the models whose vectors are stored, with their numbers and sizes."""
        with self._store.read() as snapshot:
            return stored_models.stored_models(snapshot, self._active())

    def purge(self, name: ModelName) -> int:
        """Delete the stored vectors of a model; returns their number. Raises `IndexBusy`."""
        purged = 0
        with self._indexing.exclusive(), self._store.locked():
            while some := self._purge_some(name):
                purged += some
            if purged:
                self._vectors.discard_copies()
                self._store.vacuum()
        return purged

    def _purge_some(self, name: ModelName) -> int:
        with self._store.write() as writer:
            purged = stored_models.purge(writer, name)
            if purged:
                writer.advance_stamp()
        return purged

    def _active(self) -> ModelName | None:
        provider = self._provider.provider()
        return None if provider is None else name_of(provider)


def still_awaiting(
    found: UnapprovedEmbedding | None, active: ModelName | None, settings: Settings, agreed: Callable[[ModelName], int]
) -> EmbeddingEstimate | None:
    """Return the estimate of the last sync, if it still applies to these settings and is not approved yet.

    `active` is the model in use; `agreed` returns the number of tokens approved for a model.
    """
    if found is None or (found.name != active and found.name.provider != settings.fallback):
        return None
    return None if agreed(found.name) >= max(1, found.estimate.tokens) else found.estimate


_NOTHING = EmbeddingEstimate(
    provider="none",
    model="",
    remote=False,
    chunks=0,
    cached=0,
    tokens=0,
    price=0.0,
    cost=0.0,
    price_checked="",
    seconds=0.0,
)
"""Estimate for settings that search keywords only."""
