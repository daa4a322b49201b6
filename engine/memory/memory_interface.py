"""The interface of all memory backends."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Unpack

from engine.base.cancellation import CancelToken
from engine.base.errors import Unsupported
from engine.corpus.line_reader import NumberedText
from engine.memory.executor import StatusListener
from engine.memory.index_inspection import IndexInsight
from engine.memory.search_requests import SearchOptions
from engine.records import (
    EmbeddingEstimate,
    Feature,
    FileText,
    MemoryProviderStatus,
    Passage,
    PathState,
    Probe,
    SearchOutcome,
    SessionSummary,
    SessionText,
    StoredModelInfo,
    SyncReason,
    SyncReport,
)
from engine.records.sync import ProgressCallback
from engine.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from engine.memory.facts import Facts
    from engine.store.saved_searches import SavedSearches
    from engine.store.user_data import UnseenNotes, UserData


class MemorySearchManager(Protocol):
    """The interface of an open workspace. Synchronous; every method may be called from any thread at any time.

    Unsupported features raise `Unsupported` with the message listed for them (see the first property).
    """

    @property
    def unsupported(self) -> Mapping[Feature, str]:
        """Features that the backend in use doesn't support, each with the reason, as in the status.

        Only changes with a fallback.
        """

    def search(
        self, query: str, *, cancel: CancelToken | None = None, **options: Unpack[SearchOptions]
    ) -> SearchOutcome:
        """Search by keywords and vectors.

        If the provider fails, the result is based on keywords only and `notice` reports it. The same query is served
        from a cache for a minute, as long as nothing has changed. Raises `Cancelled` when `cancel` fires.
        """

    def search_like(
        self, passage: Passage, *, cancel: CancelToken | None = None, **options: Unpack[SearchOptions]
    ) -> SearchOutcome:
        """Search for passages similar to this one, by its vector and its most distinctive words.

        The passage itself is left out. If it has no vector, it is embedded like a query. Raises `PassageMissing` if its
        lines are not indexed, otherwise as `search`.
        """

    def apply_query_settings(self, settings: Settings) -> None:
        """Use these settings for all later queries; a running query is not affected.

        Only the options that apply to "answering" are used, which need no reopening or re-indexing.
        """

    @property
    def saved_searches(self) -> "SavedSearches":
        """Saved searches and search history of this workspace."""

    @property
    def user_data(self) -> "UserData":
        """The file of all data that can't be rebuilt, with its problem and its backups."""

    @property
    def facts(self) -> "Facts":
        """Facts to remember for this workspace, in addition to its notes; independent of the backend."""

    @property
    def unseen_notes(self) -> "UnseenNotes":
        """Notes on sessions that an agent has written and the user has not seen yet."""

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        """Return completions of a query operator's value, from the index; for an empty operator, the operators.

        The values start with `start` or, for paths, projects and titles, contain it; at most a dozen, most frequent
        first.
        """

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        """Return the text of the file with this stable name; empty if the file was deleted. Raises `PathRefused`."""

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> NumberedText:
        """Open the file as lazily decoded lines, for files of any size. Raises `PathRefused`, `FileNotFoundError`.

        Sessions are refused: use `read_session`, which masks secrets.
        """

    def locate(self, path: str) -> Path:
        """Return the absolute path of a file, checked as in `read_file`, for an editor, a file manager or a watcher."""

    def explain_path(self, path: str, *, config: Path | None = None, cancel: CancelToken | None = None) -> PathState:
        """Explain why a path is indexed or not. It may be a stable name, a file path, a file URL or only a file's name.

        Reads no file content, and reports no more than the existence of paths outside the workspace. `config`: settings
        file in which to look up the location of rules, instead of the user's own. Raises `WorkspaceError`, `Cancelled`.
        """

    def sessions(self) -> tuple[SessionSummary, ...]:
        """Return all indexed sessions, newest first, including those of sub-agents."""

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        """Return a session's messages, with secrets masked unless `reveal`.

        Raises `PathRefused`, `FileNotFoundError` for a deleted session, `TranscriptUnreadable`, `Cancelled`.
        """

    def raw_lines(
        self, path: str, lines: Sequence[int], *, reveal: bool = False, cancel: CancelToken | None = None
    ) -> tuple[str, ...]:
        """Return lines of a session's transcript with all fields, with secrets masked unless `reveal`.

        `lines` are numbers from 1. Raises the errors of `read_session`; `FileNotFoundError` also for a missing line, as
        in an export.
        """

    def session_image(
        self, path: str, message: int, number: int, *, cancel: CancelToken | None = None
    ) -> tuple[bytes, str] | None:
        """Return the data and the type (`png`) of an image in a session; None if its data isn't in the transcript.

        `message` is the index in the messages of `read_session`, `number` that of the image in the message, from 0.
        Raises the errors of `read_session`.
        """

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        """Return sessions similar to this one, most similar first, each with its similarity; empty without vectors.

        The similarity is the cosine of the two sessions' vectors, after removing the component common to all sessions.
        """

    def status(self) -> MemoryProviderStatus:
        """Return the complete status; never waits for a sync."""

    def sync(
        self,
        *,
        reason: SyncReason = "manual",
        force: bool = False,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
        approve: bool | EmbeddingEstimate = False,
    ) -> SyncReport:
        """Update the index. Only one sync runs at a time: a later caller joins it and gets its report.

        `progress` is called from the syncing thread. The token pauses, resumes and cancels; cancelling returns a report
        with `cancelled` set and preserves everything committed. Embedding that costs money, or that takes minutes to
        repeat another model's work, does not start: `awaiting_approval` in the report and the status describes it.
        `approve` approves it in advance: an estimate approves that amount, True any amount.
        """

    def estimate_embedding(
        self, settings: Settings | None = None, *, cancel: CancelToken | None = None
    ) -> EmbeddingEstimate:
        """Estimate what completing the index's vectors takes, with the current settings or `settings`.

        Sends nothing. Raises `ProviderError` if there is no such provider, and `Cancelled`.
        """

    @property
    def insight(self) -> IndexInsight | None:
        """Inspects the content of the index; None if the backend doesn't support that."""

    def stored_models(self) -> tuple[StoredModelInfo, ...]:
        """Return all models with vectors in the index, most vectors first. Switching back to one of them is free."""

    def purge_model(self, provider: str, model: str, key: str) -> int:
        """Delete all vectors of a model, named as in `stored_models`; returns how many.

        Raises `IndexBusy` during a sync.
        """

    def warm_session(self, session_key: str) -> None:
        """Start a background sync (reason `session-start`) on the first call with each session key."""

    def catch_up(self, seconds: float) -> None:
        """Wait at most `seconds` until searches include the changes on disk made before this call.

        Returns almost immediately if nothing changed. Has no effect on a memory that does not sync automatically or on
        search.
        """

    def add_status_listener(self, listener: StatusListener) -> Callable[[], None]:
        """Call `listener` whenever `status()` may have changed, from any thread, rarely more than 10 times a second.

        Also reports background syncs (watch, interval, search, session start). Returns a function that removes the
        listener.
        """

    def current_sync(self) -> CancelToken | None:
        """Return the cancel token of the running sync, whatever started it; None if none is running."""

    def probe_embedding(self) -> Probe:
        """Test the provider by embedding one word."""

    def probe_vector(self) -> Probe:
        """Test whether sqlite-vec can be loaded."""

    def close(self) -> None:
        """Cancel running work, wait for it (well under a second) and release all handles. Can be called twice."""


def insight_of(manager: MemorySearchManager) -> IndexInsight:
    """Return the inspection of the memory's index. Raises `Unsupported` if the backend has none."""
    insight = manager.insight
    if insight is None:
        raise Unsupported(manager.unsupported["insight"])
    return insight


class OpenBackend(Protocol):
    """Function that opens a workspace with a backend; see `open_memory`."""

    def __call__(
        self, workspace: Path, settings: Settings, *, executor: "Executor | None", background: bool
    ) -> MemorySearchManager: ...
