"""Parts of the built-in memory that are created at first use, and its status.

A search on the command line is mostly imports, and imports none of these.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from engine.base.language import marked, tr
from engine.embedding.registry import Selection
from engine.indexing.service import BackgroundSync
from engine.memory.index_updates import IndexUpdates
from engine.memory.memory_context import MemoryContext
from engine.records import MemoryProviderStatus, SyncReason, SyncReport, WatcherStatus
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.memory.facts import Facts
    from engine.memory.files import WorkspaceFiles
    from engine.memory.index_override import Questions
    from engine.memory.insight import IndexInsight
    from engine.memory.model_library import ModelLibrary
    from engine.memory.path_states import PathStates
    from engine.memory.session_files import SessionFiles
    from engine.memory.session_library import SessionLibrary
    from engine.memory.status import IndexCounts
    from engine.store.saved_searches import SavedSearches
    from engine.store.unseen_notes import UnseenNotes

_CHOICE_SECONDS = 0.5
_CHOOSING = marked("The keychain is being asked for the API key: unlock it if it asks for its password.")


class BuiltinParts:
    """Parts of one open workspace. Two threads may create the same part twice, which is harmless."""

    def __init__(
        self,
        context: MemoryContext,
        updates: IndexUpdates,
        questions: "Questions",
        select: Callable[..., Selection],
    ) -> None:
        """`select` chooses a provider."""
        self._context = context
        self._workspace = context.workspace
        self._settings = context.settings
        self._store = context.store
        self._vectors = context.vectors
        self._user = context.user_data
        self._slot = context.provider
        self._guard = context.guard
        self._listeners = context.listeners
        self._indexing = context.indexing
        self._threads = context.threads
        self._updates = updates
        self._questions = questions
        self._select = select

    @cached_property
    def sessions(self) -> "SessionLibrary":
        from engine.memory.session_library import SessionLibrary

        return SessionLibrary(self._store, self._vectors)

    @cached_property
    def session_files(self) -> "SessionFiles":
        from engine.memory.session_files import SessionFiles

        return SessionFiles(self._settings, self.sessions.known)

    @cached_property
    def files(self) -> "WorkspaceFiles":
        from engine.memory.files import WorkspaceFiles

        return WorkspaceFiles(self._guard, self.session_files)

    @property
    def path_states(self) -> "PathStates":
        from engine.memory.path_states import PathStates

        return PathStates(self._workspace, self._settings, self._store)

    @cached_property
    def models(self) -> "ModelLibrary":
        from engine.memory.model_library import ModelLibrary

        return ModelLibrary(self._context, self._updates.approvals, self._select)

    @cached_property
    def kept_searches(self) -> "SavedSearches":
        from engine.store.saved_searches import SavedSearches

        return SavedSearches(self._user)

    @cached_property
    def facts(self) -> "Facts":
        from engine.memory.facts import Facts

        return Facts(self._user, self._slot.provider, self._slot.note)

    @cached_property
    def unseen_notes(self) -> "UnseenNotes":
        from engine.store.unseen_notes import UnseenNotes

        return UnseenNotes(self._user)

    @cached_property
    def insight(self) -> "IndexInsight":
        from engine.memory.insight import IndexInsight

        return IndexInsight(self._context, self._updates, self.selection_to_show, self._questions.known_vector)

    def start_background(self, sync: Callable[[SyncReason], SyncReport]) -> None:
        """Keep the index up to date from now on. `sync` does one sync."""
        from engine.indexing.folder_watch import FolderWatch

        watch = FolderWatch(self._workspace, self._settings, self.sessions.indexed_sizes, self._threads.start)
        self._indexing.start_background(
            BackgroundSync(sync, self._settings.sync, self._threads, self._index_state, watch)
        )
        if self._updates.batch_jobs.usable and self._updates.batch_jobs.open():
            self._indexing.poll_batch_jobs()

    def _index_state(self) -> object:
        with self._store.read() as snapshot:
            state = snapshot.generation, snapshot.stamp, snapshot.meta("issues"), snapshot.meta("awaiting")
        elsewhere = self._indexing.current() is None and self._store.locked_elsewhere()
        return state, elsewhere, self._user.problem

    # --- announcements --------------------------------------------------------------------------------------------

    @cached_property
    def _counts(self) -> "IndexCounts":
        from engine.memory.status import IndexCounts

        return IndexCounts(self._store, self._vectors)

    def selection_to_show(self) -> Selection:
        """A program that stays shows its state while a locked keychain waits for its password; a verb waits, too."""
        if self._indexing.watcher_status() is None:
            return self._slot.selection
        soon = self._slot.soon(_CHOICE_SECONDS, self._listeners.tell)
        return soon or Selection(None, self._settings.provider, unavailable_reason=tr(_CHOOSING))

    def status(self, settings: Settings) -> MemoryProviderStatus:
        """See `MemorySearchManager.status`. `settings`: those by which queries are answered now."""
        from engine.memory import status
        from engine.memory.batch_status import batch_status
        from engine.memory.degraded import with_degraded

        selection = self.selection_to_show()
        counts, error = self._counts.now(selection)
        token = self._indexing.current()
        live = status.LiveState(
            dirty=self._indexing.dirty,
            syncing=self._indexing.progress(),
            paused=token is not None and token.paused,
            watcher=self._indexing.watcher_status() or WatcherStatus(),
            recent=self._indexing.recent,
            vectors=self._vectors,
            provider_error=self._slot.error,
            awaiting=self.models.awaiting(counts.awaiting),
            batch=batch_status(
                self._settings.remote.batch,
                selection.provider,
                self._updates.batch_policy,
                self._updates.batch_jobs,
            ),
            user_data=self._user.status(),
        )
        return with_degraded(status.make_status(self._workspace, settings, self._store, selection, counts, live, error))
