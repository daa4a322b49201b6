"""A memory that searches an external index, and answers from the built-in one while that fails."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, Unpack

import msgspec

from engine.backends.fallback_switch import (
    PAUSE_SECONDS,
    ActiveMemory,
    MemorySwitch,
    Opener,
    RetryPolicy,
    SearchCall,
    both,
)
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, PassageMissing, Unsupported
from engine.base.language import tr
from engine.memory.executor import BackgroundExecutor, Lifetime, Listeners, StatusListener
from engine.memory.memory_interface import MemorySearchManager
from engine.memory.search_requests import empty_outcome
from engine.memory.status_report import with_degraded
from engine.records import (
    FallbackStatus,
    Feature,
    MemoryProviderStatus,
    Passage,
    SearchOutcome,
    SyncReport,
)
from engine.settings import Settings
from engine.store.saved_searches import SavedSearches
from engine.store.user_data import UnseenNotes, UserData

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from engine.memory.facts import Facts
    from engine.memory.index_inspection import IndexInsight
    from engine.memory.search_requests import SearchOptions

_Answer = TypeVar("_Answer")
_Values = ParamSpec("_Values")
Refusal = Callable[[str | None], str]
_CALLER_ERRORS = (Unsupported, PassageMissing)
"""Errors that are passed to the caller instead of using the fallback."""


@dataclass(frozen=True)
class ChosenMemory:
    """The memory that is used while it works."""

    name: str
    """Display name of its backend."""
    open: Opener
    refusal: Refusal = lambda session_key: ""
    """Returns why it answers no session with this key, empty if it does; the fallback then refuses too."""


def _of_memory_in_use(
    method: Callable[Concatenate[MemorySearchManager, _Values], _Answer],
) -> "Callable[Concatenate[FallbackMemoryManager, _Values], _Answer]":
    """Return a method that calls this one of the memory in use."""

    def call(manager: "FallbackMemoryManager", /, *values: _Values.args, **options: _Values.kwargs) -> _Answer:
        def act(memory: MemorySearchManager) -> _Answer:
            answer: _Answer = getattr(memory, method.__name__)(*values, **options)
            return answer

        return manager._call(act)

    return call


class FallbackMemoryManager:
    """A `MemorySearchManager` that asks a chosen memory, and the built-in index while that fails.

    The first search that fails closes the chosen memory and is answered from the built-in index, as all later ones are;
    after a pause a search tries the chosen one again. Other failures are raised to the caller: an update of a missing
    index must not look successful.
    """

    def __init__(
        self,
        chosen: ChosenMemory,
        open_builtin: Opener,
        user: UserData,
        *,
        pause_seconds: float = PAUSE_SECONDS,
        executor: "Executor | None" = None,
    ) -> None:
        """`user` is closed with this: saved searches outlive a switch."""
        self._chosen = chosen
        self.user_data = user
        self._lifetime = Lifetime()
        self._listeners = Listeners()
        self._threads = BackgroundExecutor(executor)
        self._switch = MemorySwitch(chosen.open, open_builtin, self._listeners.notify, self._threads)
        self._retry_policy = RetryPolicy(self._switch, chosen.open, self._threads, pause_seconds)
        if self._switch.failure:
            self._retry_policy.failed()
        self._settings_lock = threading.Lock()
        self._settings: Settings | None = None
        """The settings last passed to `apply_query_settings`."""
        self._configured: MemorySearchManager | None = None
        """The memory that was given the current settings."""
        self.saved_searches = SavedSearches(user)
        self.unseen_notes = UnseenNotes(user)

    @property
    def unsupported(self) -> Mapping[Feature, str]:
        memory = self._switch.peek()
        return {} if memory is None else memory.unsupported

    @cached_property
    def facts(self) -> "Facts":
        from engine.memory.facts import Facts

        # The rows belong to this object and outlive a switch; the provider is that of the memory in use.
        return Facts(
            self.user_data,
            lambda: self._call(lambda memory: memory.facts.provider()),
            lambda why: self._call(lambda memory: memory.facts.report_failure(why)),
        )

    @property
    def insight(self) -> "IndexInsight | None":
        return self._call(lambda memory: memory.insight)

    # --- queries --------------------------------------------------------------------------------------------------

    def search(
        self, query: str, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        return self._search(lambda memory, token: memory.search(query, cancel=token, **options), cancel, options)

    def search_like(
        self, passage: Passage, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        return self._search(lambda memory, token: memory.search_like(passage, cancel=token, **options), cancel, options)

    query_values = _of_memory_in_use(MemorySearchManager.query_values)
    read_file = _of_memory_in_use(MemorySearchManager.read_file)
    open_file = _of_memory_in_use(MemorySearchManager.open_file)
    locate = _of_memory_in_use(MemorySearchManager.locate)
    explain_path = _of_memory_in_use(MemorySearchManager.explain_path)
    sessions = _of_memory_in_use(MemorySearchManager.sessions)
    read_session = _of_memory_in_use(MemorySearchManager.read_session)
    raw_lines = _of_memory_in_use(MemorySearchManager.raw_lines)
    session_image = _of_memory_in_use(MemorySearchManager.session_image)
    similar_sessions = _of_memory_in_use(MemorySearchManager.similar_sessions)
    stored_models = _of_memory_in_use(MemorySearchManager.stored_models)
    probe_embedding = _of_memory_in_use(MemorySearchManager.probe_embedding)
    probe_vector = _of_memory_in_use(MemorySearchManager.probe_vector)

    def apply_query_settings(self, settings: Settings) -> None:
        self._lifetime.check()
        with self._settings_lock:
            self._settings, self._configured = settings, None

    def status(self) -> MemoryProviderStatus:
        status = self._call(lambda memory: memory.status())
        failure = self._switch.failure
        if not failure:
            return status
        custom = status.custom | {
            "fallback": {"disabled": True, "reason": failure},
            "providerFallback": None if status.fallback is None else msgspec.to_builtins(status.fallback),
        }
        fallback = FallbackStatus(from_=self._chosen.name, reason=failure)
        return with_degraded(msgspec.structs.replace(status, fallback=fallback, custom=custom))

    # --- syncing --------------------------------------------------------------------------------------------------

    def sync(self, **options: Any) -> SyncReport:
        if options.get("reason", "manual") == "manual":
            self._retry_policy.allow_retry()
        return self._call(lambda memory: memory.sync(**options))

    estimate_embedding = _of_memory_in_use(MemorySearchManager.estimate_embedding)
    purge_model = _of_memory_in_use(MemorySearchManager.purge_model)
    catch_up = _of_memory_in_use(MemorySearchManager.catch_up)

    def warm_session(self, session_key: str) -> None:
        memory = self._switch.peek()
        if memory is not None:
            memory.warm_session(session_key)

    def current_sync(self) -> CancelToken | None:
        memory = self._switch.peek()
        return None if memory is None else memory.current_sync()

    def add_status_listener(self, listener: StatusListener) -> Callable[[], None]:
        return self._listeners.add(listener)

    def close(self) -> None:
        if self._lifetime.end():
            self._retry_policy.close()
            self._switch.close()
            self._threads.close()
            self.user_data.close()

    # --- internals ------------------------------------------------------------------------------------------------

    def _call(self, act: Callable[[MemorySearchManager], _Answer]) -> _Answer:
        """Call the memory in use; after a concurrent switch, the other one."""
        while True:
            self._lifetime.check()
            memory = self._switch.in_use().memory
            try:
                return act(memory)
            except Closed:
                if memory is self._switch.peek():
                    raise

    def _search(self, call: SearchCall, cancel: CancelToken | None, options: "SearchOptions") -> SearchOutcome:
        self._lifetime.check()
        if refused := self._chosen.refusal(options.get("session_key")):
            return empty_outcome(self._chosen.name, refused)

        def attempt(memory: MemorySearchManager, token: CancelToken | None) -> SearchOutcome:
            self._apply_settings(memory)
            return call(memory, token)

        outcome = self._retry_policy.outcome(attempt, cancel) if self._switch.failure else None
        while outcome is None:
            self._lifetime.check()
            used = self._switch.in_use()
            outcome = self._answer_from(used, attempt, cancel)
        return outcome

    def _apply_settings(self, memory: MemorySearchManager) -> None:
        """Apply current settings to a memory that was opened after they changed."""
        with self._settings_lock:
            if self._settings is not None and memory is not self._configured:
                memory.apply_query_settings(self._settings)
                self._configured = memory

    def _answer_from(self, used: ActiveMemory, call: SearchCall, cancel: CancelToken | None) -> SearchOutcome | None:
        """Return the answer of this memory; None if the other one should be used."""
        try:
            if used.catching_up is None:
                return call(used.memory, cancel)
            used.catching_up.wait(cancel)
            outcome = call(used.memory, cancel)
            return msgspec.structs.replace(outcome, notice=self._notice(used, outcome.notice))
        except _CALLER_ERRORS:
            raise
        except (Cancelled, Closed):
            # Perhaps not cancelled by the caller: a switch closes the memory under its other callers.
            if (cancel is not None and cancel.cancelled) or used.memory is self._switch.peek():
                raise
        except Exception as error:  # the boundary to third-party programs: no error may escape
            if used.catching_up is not None:
                if used.memory is not self._switch.peek():
                    return None
                raise both(used.failure, error) from error
            self._switch.fail(used.memory, error)
            self._retry_policy.failed()
        return None

    def _notice(self, used: ActiveMemory, existing: str) -> str:
        state = "" if used.catching_up is None else used.catching_up.sentence()
        instead = tr("The built-in index of the same notes answers instead of {engine}.", engine=self._chosen.name)
        return " ".join(filter(None, (used.failure, instead, state, existing)))
