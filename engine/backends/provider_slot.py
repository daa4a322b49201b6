"""The provider of one open memory: chosen when it is first needed, with the last thing that went wrong with it."""

import threading
from collections.abc import Callable

from engine.embedding.base import EmbeddingProvider
from engine.embedding.registry import Selection
from engine.errors import MnemoscopeError
from engine.records import Probe


class ProviderSlot:
    """Thread-safe. `select` chooses the provider."""

    def __init__(self, select: Callable[[], Selection]) -> None:
        self._select = select
        self._lock = threading.Lock()
        self._selection: Selection | None = None
        self.error: str | None = None
        """Why the last embedding failed, one sentence; None after one that did not."""

    @property
    def selection(self) -> Selection:
        with self._lock:
            if self._selection is None:
                self._selection = self._select()
            return self._selection

    def provider(self) -> EmbeddingProvider | None:
        """The provider to embed with; None where words alone are searched."""
        return self.selection.provider

    def note(self, error: str | None) -> None:
        """Remember why an embedding failed, or with None that one did not."""
        self.error = error

    def probe(self) -> Probe:
        """Embed one word."""
        selection = self.selection
        if selection.provider is None:
            return Probe(ok=False, error=selection.unavailable_reason or "No provider: only words are searched.")
        try:
            selection.provider.embed_query("ping")
        except MnemoscopeError as error:
            self.note(str(error))
            return Probe(ok=False, error=str(error))
        self.note(None)
        return Probe(ok=True, error="")

    def close(self) -> None:
        with self._lock:
            if self._selection is not None and self._selection.provider is not None:
                self._selection.provider.close()
