"""Selects and holds the embedding provider of one open memory, its fallback and its last error."""

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, MnemoscopeError
from engine.base.language import tr
from engine.memory.executor import BackgroundExecutor, Job

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider
    from engine.embedding.provider_selection import Selection
    from engine.records import Probe


class ActiveProvider:
    """Holds the embedding provider in use and its fallback. Thread-safe."""

    def __init__(
        self,
        select: "Callable[[CancelToken], Selection]",
        use_fallback: "Callable[[str, str, CancelToken], Selection]",
        threads: BackgroundExecutor,
    ) -> None:
        """`select` selects the provider; `use_fallback` the fallback, given the failed provider's name and the reason.

        Both may wait for the keychain; closing cancels them through their token. `threads`: runs the selection for
        `selection_within`.
        """
        self._select = select
        self._use_fallback = use_fallback
        self._threads = threads
        self._close_token = CancelToken()
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._choosing: Job | None = None
        """Selects the provider for callers that wait a limited time."""
        self._selection: Selection | None = None
        self._select_again = False
        """Whether to select the provider again on its next use."""
        self._first: Selection | None = None
        """The initial selection while its fallback is in use."""
        self._prepared: Selection | None = None
        """The fallback, once it was needed."""
        self._replaced: list[Selection] = []
        """Earlier selections that were replaced by a better one; they may still be in use."""
        self.error: str | None = None
        """Why the last embedding failed, one sentence; None if it succeeded."""

    @property
    def selection(self) -> "Selection":
        with self._lock:
            if self._selection is None:
                self._selection = self._run_selection(lambda: self._select(self._close_token))
            elif self._select_again:
                self._selection = self._better_selection(self._selection)
            self._select_again = False
            return self._selection

    def reconsider(self) -> None:
        """Select again on the next use if the provider of the settings could not be created.

        A key may have been added since, or the keychain unlocked. Call this only on user action: it may prompt for a
        password.
        """
        self._select_again = True

    def _better_selection(self, before: "Selection") -> "Selection":
        improvable = before.unavailable_reason or (before.fallback_from and not self._first)
        if not improvable:
            return before
        choice = self._run_selection(lambda: self._select(self._close_token))
        if before.provider is None or (choice.provider is not None and choice.fallback_from is None):
            self._replaced.append(before)
            return choice
        if choice.provider is not None:
            choice.provider.close()
        return before

    def selection_within(self, seconds: float, ready: Callable[[], None]) -> "Selection | None":
        """Return the selected provider if the selection ends within `seconds`, else None.

        `ready` is called on another thread when the selection started here is complete. Raises `Closed`.
        """
        if self._selection is None:
            with self._starting:
                if self._choosing is None:
                    self._choosing = self._threads.start(lambda: self._choose(ready))
            if self._choosing is not None and self._choosing.wait(seconds):
                return self.selection  # repeats the error of that thread, if any, for the caller
        return self._selection

    def _choose(self, ready: Callable[[], None]) -> None:
        with contextlib.suppress(Exception):
            self.provider()
        ready()

    def _run_selection(self, choose: "Callable[[], Selection]") -> "Selection":
        try:
            self._close_token.checkpoint()
            return choose()
        except Cancelled:
            raise Closed from None

    def selected(self) -> "EmbeddingProvider | None":
        """Return the provider in use if it is selected and need not be selected again; never waits."""
        selection = self._selection
        return None if selection is None or self._select_again else selection.provider

    def provider(self) -> "EmbeddingProvider | None":
        """Return the provider to embed with, selecting it first if necessary; None for keyword search only."""
        return self.selection.provider

    def unavailable(self) -> str:
        """Return why the provider of the settings could not be created and has no fallback; empty otherwise."""
        return self.selection.unavailable_reason or ""

    def report_failure(self, error: str | None) -> None:
        """Store the reason why an embedding failed; None after a success."""
        self.error = error

    # --- fallback -------------------------------------------------------------------------------------------------

    def prepare_fallback(self, reason: str) -> "EmbeddingProvider | None":
        """Select and return the fallback for the provider that failed for `reason`, without using it yet.

        None if there is no fallback, or if the provider already is one: fallbacks are used only once.
        """
        selection = self.selection
        if selection.provider is None or selection.fallback_from is not None:
            return None
        with self._lock:
            if self._prepared is None:
                failed = selection.provider.id
                self._prepared = self._run_selection(lambda: self._use_fallback(failed, reason, self._close_token))
            if self._prepared.provider is None:
                return None
            self._prepared = msgspec.structs.replace(self._prepared, fallback_reason=reason)
            return self._prepared.provider

    def switch_to_fallback(self) -> None:
        """Use the prepared fallback from now on."""
        with self._lock:
            self._first, self._selection = self._selection, self._prepared
            self.error = None

    def probe(self) -> "Probe":
        """Test the provider by embedding one word, and return to the first provider if it works again."""
        from engine.records import Probe

        self.reconsider()
        selection = self.selection
        first = self._first
        if first is not None and self._probe(first).ok:
            with self._lock:
                self._selection, self._first = first, None
            self.report_failure(None)
            return Probe(ok=True, error="")
        probe = self._probe(selection)
        if selection.provider is not None:
            self.report_failure(probe.error or None)
        return probe

    @staticmethod
    def _probe(selection: "Selection") -> "Probe":
        from engine.records import Probe

        if selection.provider is None:
            return Probe(ok=False, error=selection.unavailable_reason or tr("No provider, so no search by meaning."))
        try:
            selection.provider.embed_query("ping")
        except MnemoscopeError as error:
            return Probe(ok=False, error=str(error))
        return Probe(ok=True, error="")

    def stop_waiting(self) -> None:
        """Stop selecting: callers that wait for a keychain get `Closed`. An existing selection stays usable."""
        self._close_token.cancel()

    def close(self) -> None:
        self.stop_waiting()
        with self._lock:
            for selection in (self._selection, self._first, self._prepared, *self._replaced):
                if selection is not None and selection.provider is not None:
                    selection.provider.close()
